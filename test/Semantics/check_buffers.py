#!/usr/bin/python3
"""No buffer of a compiled program has the size of a cache, nor of contexts squared.

    check_buffers.py --shard-opt=build/bin/shard-opt \\
        --shard-translate=build/bin/shard-translate --shard-run=build/bin/shard-run

Buffers of the small models, unsharded and with random strategies, have one size at
most that is known at run time only, and so has what is copied: rows, or the
positions that a head sees. A cache has two, sequences and positions, so that none
is copied; scores of all rows would have two as well.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import tools
from tools import ROOT, imported, run

STRATEGIES = pathlib.Path(__file__).with_name("strategies.py")


def big_buffers(args, program, heads):
    """Allocations and copies in a program of more than one dynamic size.

    But for scores of cut heads, complete before the softmax: [rows, heads, positions].
    """
    printing = ("--mlir-disable-threading", "--mlir-print-ir-after-all")
    command = [args.shard_opt, program, "--llm-to-llvm", *printing, "-o", os.devnull]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    _, after = text.split("After ConvertBufferizationToMemRefPass")
    lines = re.findall(r"memref\.(?:alloc|copy)\b.*", after.split("// -----//")[0])
    assert lines, "there are buffers"
    for line in lines:
        sizes = re.findall(r"memref<([0-9x?]*)x[a-z]", line)
        if any(s.count("?") > 1 and s != f"?x{heads}x?" for s in sizes):
            yield line


def strategies(args, program):
    """Random strategies of a program, and none."""
    yield None
    command = [sys.executable, STRATEGIES, "random", program, f"--shard-opt={args.shard_opt}"]
    for line in run(*command, f"--count={args.count}", f"--seed={args.seed}").splitlines():
        yield json.loads(line)


def check_buffers(args, folder):
    """Words on buffers of the small models that are too big."""
    for name in ("dense", "moe", "mla"):
        config = ROOT / "examples" / "models" / f"small-{name}.json"
        heads = json.loads(config.read_text())["num_attention_heads"]
        for phase in ("decode", "prefill"):
            plain = imported(args, config, phase, 512, folder / "plain.mlir")
            for strategy in strategies(args, plain):
                program = plain
                if strategy:
                    words = [f"{key}={strategy[key]}" for key in ("tp", "ep", "pp", "batch")]
                    words.append("dims=" + ",".join(map(str, strategy["dims"].values())))
                    passes = [f"--llm-apply-strategy={' '.join(words)}", "--llm-insert-collectives"]
                    program = folder / "partitioned.mlir"
                    run(args.shard_opt, plain, *passes, "-o", program)
                for line in big_buffers(args, program, heads):
                    yield f"small-{name} {phase} {json.dumps(strategy)}: {line}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    parser.add_argument("--count", type=int, default=2, help="strategies a model and phase")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        words = list(check_buffers(args, pathlib.Path(folder)))
    print("\n".join(words))
    sys.exit(1 if words else 0)


if __name__ == "__main__":
    main()
