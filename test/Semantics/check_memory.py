#!/usr/bin/python3
"""Memory of executed programs does not grow from step to step.

    check_memory.py --shard-opt=build/bin/shard-opt \\
        --shard-translate=build/bin/shard-translate --shard-run=build/bin/shard-run

Over 1000 steps of decode, unsharded and on a grid of experts and stages, resident
memory peaks in the last quarter of the work where it did in the one before.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import tools
from tools import imported, run

STEPS = 1000

# Rows of activations take 4 to 8 KB on a rank: kept by each step, that is more than
# 1 MB a rank in a quarter of the work. What a step returns is kept, some hundred
# bytes.
ROWS, MOST_GROWTH_OF_RANK = 8, 1 << 19
SIZES = {
    "hidden_act": "silu",
    "hidden_size": 256,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 2,
    "rms_norm_eps": 1e-5,
    "rope_theta": 1e4,
    "max_position_embeddings": 2 * STEPS,
    "tie_word_embeddings": False,
    "torch_dtype": "float32",
    "vocab_size": 16,
    "num_local_experts": 2,
    "num_experts_per_tok": 1,
}
DENSE = {**SIZES, "architectures": ["LlamaForCausalLM"], "model_type": "llama"}
MOE = {**SIZES, "architectures": ["MixtralForCausalLM"], "model_type": "mixtral"}

GRID = "tp=2 ep=2 pp=2 batch=32 dims=0,0,1,0,0,0,2,0,1,0,0,1"


class Sample:
    """What a process has used: seconds of all cores, and resident bytes."""

    def __init__(self, process):
        folder = pathlib.Path("/proc", str(process.pid))
        fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        self.seconds = int(fields[11]) / os.sysconf("SC_CLK_TCK")
        pages = int((folder / "statm").read_text().split()[1])
        self.bytes = pages * os.sysconf("SC_PAGE_SIZE")


def samples(command):
    """Samples of a command while it runs; ends this program where it fails."""
    # Buffers of a page or more come from the system and go back to it, so that what
    # a compiler has freed does not hide what the program keeps; all others from one
    # place, so that threads do not keep theirs.
    options = {"MALLOC_MMAP_THRESHOLD_": "4096", "MALLOC_ARENA_MAX": "1"}
    environment = {**os.environ, **options}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        taken = []
        while process.poll() is None:
            sample = Sample(process)
            if sample.bytes:  # not a process that has ended
                taken.append(sample)
            time.sleep(0.01)
    if process.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return taken


def growth(command):
    """Bytes by which the peak of resident memory grows from the third quarter of a
    command's work to the last. Ranks hold more or less as their steps interleave, so
    that single samples say little."""
    taken = samples(command)
    quarters = [int(4 * sample.seconds / taken[-1].seconds) for sample in taken]
    peaks = [
        max(sample.bytes for sample, its in zip(taken, quarters) if first <= its <= last)
        for first, last in ((2, 2), (3, 4))
    ]
    return peaks[1] - peaks[0]


def check_steps(args, folder):
    """Words on programs that keep memory from step to step."""
    path = folder / "config.json"
    for name, config, ranks, batch in (("dense", DENSE, 1, ROWS), ("experts", MOE, 8, 4 * ROWS)):
        path.write_text(json.dumps(config))
        program = imported(args, path, "decode", 8, folder / "plain.mlir")
        if ranks > 1:
            program, plain = folder / "partitioned.mlir", program
            passes = [f"--llm-apply-strategy={GRID}", "--llm-insert-collectives"]
            run(args.shard_opt, plain, *passes, "-o", program)
        steps = [f"--steps={STEPS}", "--context=8", f"--batch={batch}"]
        more = growth([args.shard_run, program, *steps])
        most = ranks * MOST_GROWTH_OF_RANK
        print(f"{name}: {more} bytes more in the last quarter of {STEPS} steps", flush=True)
        if more > most:
            yield f"{name}: expected at most {most}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        words = list(check_steps(args, pathlib.Path(folder)))
    print("\n".join(words))
    sys.exit(1 if words else 0)


if __name__ == "__main__":
    main()
