#!/usr/bin/python3
"""Programs of serving degrees, with one thing wrong: execution has to tell.

    check_mutations.py --shard-opt=build/bin/shard-opt \\
        --shard-translate=build/bin/shard-translate --shard-run=build/bin/shard-run

Each mutation changes the text of a lowered program as a mistake in the lowering
would: hidden columns of experts taken in another order than the exchange has,
results that all return to the devices of q = 0, sinks that count on every device
that shares positions. What the program computes is compared with the logits of a
checkpoint, as it is and as it was changed.
"""

import argparse
import math
import pathlib
import re
import sys
import tempfile

import tools
from tools import DATA, imported, last_line, run


def replace_once(text, pattern, new):
    changed, count = re.subn(pattern, new, text, flags=re.MULTILINE)
    if count != 1:
        sys.exit(f"{count} places of {pattern} in the program, not one")
    return changed


def contiguous_columns(text):
    """Hidden columns of ffn_up's experts, block after block instead of every c-th."""

    def spread(match):
        start, size, _, count, _ = map(int, match.group(1).split(","))
        first = start // size * size * count  # coordinate start / size
        return f"array<i64: {first}, {size * count}, 1>"

    runs = re.search(r'"etp", runs = (#runs\d*)}, {}\], name = "ffn_up.weight"', text)
    line = re.search(rf"^{runs.group(1)} = .*$", text, re.MULTILINE).group()
    changed = re.sub(r"array<i64: (\d+, \d+, \d+, \d+, \d+)>", spread, line)
    if changed == line:
        sys.exit(f"the hidden columns are in order already: {line}")
    return text.replace(line, changed)


def results_to_first(text):
    """Of what experts made, every device takes the part of the first along q."""
    return replace_once(
        text,
        r"^( *)%reduce_scatter = shard.reduce_scatter %ffn_down (.*) scatter_axis = 0 "
        r"(.*) : (tensor<\?x\d+xf32>) -> .*$",
        r"\1%parts = shard.all_reduce %ffn_down \2 \3 : \4 -> \4\n"
        r"\1%c0_first = arith.constant 0 : index\n"
        r"\1%c2_first = arith.constant 2 : index\n"
        r"\1%both = tensor.dim %parts, %c0_first : \4\n"
        r"\1%half = arith.divui %both, %c2_first : index\n"
        r"\1%reduce_scatter = tensor.extract_slice %parts[0, 0] [%half, 32] [1, 1] : \4 to \4",
    )


def sinks_of_all(text):
    """Sinks that count twice: the logarithm of two more."""
    made = r"^( *)(%attention.sinks) = (llm.param .*) : (tensor<(\d+)xf32>)( from.*)?$"
    text, count = re.subn(
        made,
        rf"\1%one_sink = \3 : \4\6\n"
        r"\1%two_sinks = tensor.empty() : \4\n"
        r"\1\2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], "
        r'iterator_types = ["parallel"]} ins(%one_sink : \4) outs(%two_sinks : \4) {\n'
        r"\1^bb0(%sink: f32, %two: f32):\n"
        rf"\1  %more = arith.constant {math.log(2)} : f32\n"
        r"\1  %sum_of_sinks = arith.addf %sink, %more : f32\n"
        r"\1  linalg.yield %sum_of_sinks : f32\n"
        r"\1} -> \4",
        text,
        flags=re.MULTILINE,
    )
    if not count:
        sys.exit("the program has no sinks")
    return text


# What is wrong: (model, strategy, change).
MUTATIONS = {
    "columns in another order": (
        "mixtral",
        "tp=4 dp=1 ep=2 pp=1 batch=4 dims=2,2,1,0,0,2,2,1,0,2,1,2",
        contiguous_columns,
    ),
    "results to q = 0": (
        "mixtral",
        "tp=1 dp=4 ep=2 pp=1 batch=4 dims=2,2,2,2,2,2,2,2,1,0,2,2",
        results_to_first,
    ),
    "sinks on all": (
        "gpt_oss",
        "tp=4 ep=1 pp=1 cp=2 batch=4 dims=2,2,1,0,0,2,2,2,1,0,2,2",
        sinks_of_all,
    ),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for what, (model, strategy, change) in MUTATIONS.items():
            data = DATA / "hf-tiny" / model
            program = imported(
                args, data / "config.json", "decode", 16, folder / "model.mlir", "--logits"
            )
            right, wrong = folder / "right.mlir", folder / "wrong.mlir"
            passes = (f"--llm-apply-strategy={strategy}", "--llm-insert-collectives")
            run(args.shard_opt, program, *passes, "-o", right)
            wrong.write_text(change(right.read_text()))
            io = data / "io.safetensors"
            against = [f"--weights={data}/model.safetensors", f"--tokens={io}", f"--expect={io}"]
            for title, module in (("as it is", right), ("changed", wrong)):
                status, line = last_line(args.shard_run, module, *against)
                print(f"{what}, {title}: {status} {line}", flush=True)


if __name__ == "__main__":
    main()
