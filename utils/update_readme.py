#!/usr/bin/env python3
"""Writes what the first command prints and the accuracy of docs/Fidelity.md into
README.md, and what `./dev demo` prints into docs/Demo.md, or with --check compares.

Each stands between two markers. Lines that tell how long something took differ
from run to run and are compared without their numbers; whether there is a page
depends on a library that is not Debian's, so that its line is not compared.

A plan is only written or compared where laws hold that no text on a page is
asked for (`broken_laws`).
"""

import argparse
import difflib
import json
import math
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

DURATION = re.compile(r"\d+(\.\d+)? ?(s|ms)\b")
TIMED = re.compile(r"\b(wall|searched in|took)\b")
PAGE = re.compile(r"\bplan\.html\b")

FIRST = (
    "shardopt plan llama-3.1-70b"
    " --machine h100_sxm --devices 8 --isl 4096 --osl 512 --tpot 30@p90 --ttft 2000@p90 --engine vllm"
)


def timeless(text):
    """The lines of `text` that are compared, without durations where they are timed."""
    return [
        DURATION.sub("<time>", line) if TIMED.search(line) else line
        for line in text.splitlines()
        if not PAGE.search(line)
    ]


def printed(command, build, folder):
    """What a command prints, with the build folder under its usual name."""
    result = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder
    )
    if result.returncode != 0:
        sys.exit(result.stdout)
    lines = result.stdout.replace(str(build), "build").splitlines()
    return "".join(line.rstrip() + "\n" for line in lines)


def broken_laws(plan):
    """What cannot be of a service: its GPUs, its rate, its SLOs and its weights."""
    roles, metrics = plan["roles"].values(), plan["metrics"]
    gpus = sum(role["workers"] * role["gpus_each"] for role in roles)
    if gpus != metrics["gpus"] or gpus > plan["problem"]["devices"]:
        yield f"its roles have {gpus} GPUs of {metrics['gpus']}"
    tokens = metrics["requests_per_s"] * plan["problem"]["osl"] / gpus
    if not math.isclose(tokens, metrics["tokens_per_s_per_gpu"], rel_tol=1e-9):
        yield f"requests of {plan['problem']['osl']} tokens make {tokens} tokens/s per GPU"
    for name in ("tpot_ms", "ttft_ms"):
        found = metrics[f"{name}_p{plan['problem'][name.replace('_ms', '_percentile')]}"]
        if found > plan["problem"][name]:
            yield f"{name} is {found}"
    for role in roles:
        memory = role["memory_gb"]
        if memory["weights"] + memory["kv_cache"] > memory["capacity"]:
            yield f"a device of {role['gpus_each']} holds {memory}"
    # Little's law: each waits for its first token, then for all others.
    seconds = (metrics["ttft_ms"] + metrics["tpot_ms"] * plan["problem"]["osl"]) / 1e3
    inside = metrics["requests_per_s"] * seconds
    if not math.isclose(inside, metrics["in_flight"], rel_tol=1e-6):
        yield f"{metrics['in_flight']} requests are in flight, {inside} by Little's law"


def lawful(file):
    """Ends this program where the service in a file breaks a law."""
    for broken in broken_laws(json.loads(file.read_text())):
        sys.exit(f"{file}: {broken}")


def first(build):
    """The table that the first command prints, without what is next."""
    program, *arguments = shlex.split(FIRST)
    program = build.resolve() / "bin" / program
    with tempfile.TemporaryDirectory() as folder:
        printed([program, *arguments, "--output-dir", folder], build, ROOT)
        lawful(pathlib.Path(folder, "service.json"))
    text = printed([program, *arguments], build, ROOT)
    return f"```console\n$ {FIRST}\n```\n\n```text\n{text.split(chr(10) + '  next ')[0].rstrip()}\n```"


def demo(build):
    """All that the demo prints."""
    text = printed([ROOT / "utils/demo.sh", build], build, None)
    lawful(build / "demo/service.json")
    return f"```text\n{text}```"


def accuracy(build):
    """The sentences on errors, from the tables of the page of them."""
    rows = {}
    for line in (ROOT / "docs/Fidelity.md").read_text().splitlines():
        name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows.setdefault(name, cells)
    whole = lambda cell: int(float(cell) + 0.5)
    tpot, ttft, unseen = rows["all"], rows["TTFT, all"], rows["TPOT, all"]
    tpot_apart, ttft_apart = rows["TPOT, disaggregated"], rows["TTFT, disaggregated"]
    return (
        f"The cost model was fitted to {tpot[0]} measured runs of vLLM, SGLang and TensorRT-LLM on H100,\n"
        f"H200 and B200. Its mean error on them is {tpot[1]} % for TPOT and {whole(ttft[1])} % for TTFT. For a model\n"
        f"that it was not fitted to, the mean TPOT error is {unseen[4]} to {unseen[7]} %. All these runs are aggregated.\n"
        f"Disaggregated plans, as above, are `extrapolated`: on {tpot_apart[0]} public runs, their error is\n"
        f"{whole(tpot_apart[1])} % for TPOT and {whole(ttft_apart[1])} % for TTFT. [Accuracy](docs/Fidelity.md) has every group of runs.\n"
        "Each plan has a prediction interval."
    )


#: The page of each block, and what makes it.
BLOCKS = {
    "first": ("README.md", first),
    "accuracy": ("README.md", accuracy),
    "demo": ("docs/Demo.md", demo),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--check", action="store_true", help="fail on a difference")
    args = parser.parse_args()

    differs = False
    for name, (page, make) in BLOCKS.items():
        begin = f"<!-- {name}: begin, written by ./dev docs -->"
        end = f"<!-- {name}: end -->"
        head, rest = (ROOT / page).read_text().split(begin)
        shown, tail = rest.split(end)
        block = f"\n\n{make(args.build)}\n\n"
        if timeless(shown) == timeless(block):
            continue
        differs = True
        if not args.check and "(no report," in block:
            print(f"{page} is not written: its report needs vl-convert-python "
                  "(utils/requirements.txt)", file=sys.stderr)
            continue
        if not args.check:
            (ROOT / page).write_text(head + begin + block + end + tail)
            continue
        diff = difflib.unified_diff(timeless(shown), timeless(block), page, name, lineterm="")
        print("\n".join(diff), file=sys.stderr)
        print(f"{page} shows another {name}: run ./dev docs", file=sys.stderr)
    return int(args.check and differs)


if __name__ == "__main__":
    sys.exit(main())
