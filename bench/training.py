"""Training steps of published models: orders made by hand, and what shard-schedule finds.

Models have Megatron's dims with sequence parallelism. `shard-schedule --training` cuts the
layers into the chunks of each placement, times forward passes and both gradients by the
ops' own costs, and orders them. Prints tables; --page writes them into
docs/TrainingSteps.md. An order that does not fit the memory of a device has a dash.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from marked import with_part
from pipeline_orders import ORDERS

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/TrainingSteps.md"
BEGIN, END = "<!-- made by ./dev bench training -->", "<!-- end of training -->"
STAGES, MICROBATCHES, TOKENS = 8, 20, 4096
# Name, config, degrees of a stage, replicas.
MODELS = [
    ("Llama-3.1-70B", "llama-3.1-70b", "tp=8 ep=1", 1),
    ("Qwen3-235B-A22B", "qwen3-235b-a22b", "tp=4 ep=16", 16),
]
PLACEMENTS = ("linear", "v", "wave", "bidirectional")


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")


def planned(build, folder, config, degrees, replicas):
    """The program with Megatron's dims."""
    module, strategy = folder / "model.mlir", folder / "planned.mlir"
    path = ROOT / f"examples/configs/{config}.json"
    importer = [build / "bin/shard-translate", "--import-hf", path]
    run(*importer, "--phase=prefill", f"--context={TOKENS}", "-o", module)
    options = f"machine=h100_sxm simulator=roofline {degrees} pp={STAGES}"
    options += f" batch={STAGES * replicas} slo-ttft-ms=inf searcher=megatron-sp"
    run(build / "bin/shard-opt", module, f"--llm-search-sharding={options}", "-o", strategy)
    return strategy


def scheduled(build, folder, module, placement, memory, rounds):
    """The report; None, with a word on why, where nothing fits."""
    report = folder / "report.json"
    options = [f"--placement={placement}", f"--microbatches={MICROBATCHES}", f"--rounds={rounds}"]
    options += ["--simulator=roofline", f"--memory={memory}", f"--report={report}"]
    command = [build / "bin/shard-schedule", module, "--training", *options]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        print(f"{placement}, {memory}: {done.stderr}", file=sys.stderr)
        return None
    return json.loads(report.read_text())


def spell(report):
    """The milliseconds of what was found."""
    if not report:
        return "-"
    star = " *" if report["proved"] else f" ({100 * report['gap']:.1f} %)"
    return f"{report['makespan'] / 1e6:.1f}{star}"


def row(label, placement, order, memory, found):
    step = idle = "-"
    if order["peak"] <= memory:
        step = f"{order['makespan'] / 1e6:.1f}"
        idle = f"{100 * order['bubble'] / order['makespan']:.1f} %"
    gigabytes = f"{order['peak'] / 1e9:.1f}"
    return f"| {label} | {placement} | {gigabytes} | {step} | {idle} | {spell(found)} |"


def table(build, folder, model, rounds, memory):
    name, config, degrees, replicas = model
    module = planned(build, folder, config, degrees, replicas)
    lines = [f"**{name}, {degrees.replace(' ', ', ').replace('=', ' ')}**", ""]
    lines += ["| order | placement | memory, GB | step, ms | idle | found in its memory, ms |"]
    lines += ["|---|---|--:|--:|--:|--:|"]
    whole = {
        placement: scheduled(build, folder, module, placement, memory, rounds)
        for placement in PLACEMENTS
    }
    orders = {}
    for report in filter(None, whole.values()):
        orders |= report["baselines"]
    for key, (label, placement) in ORDERS.items():
        if key in orders:
            most = min(memory, orders[key]["peak"])
            found = scheduled(build, folder, module, placement, most, rounds)
            lines.append(row(label, placement, orders[key], memory, found))
    for placement, report in whole.items():
        if report:
            found = {**report, "peak": max(report["peak_memory"])}
            lines.append(row("found", placement, found, memory, report))
    return [*lines, ""]


def main():
    parser = argparse.ArgumentParser(prog="./dev bench training", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=2000, help="of search, for each row")
    parser.add_argument("--memory", type=float, default=72, help="of a device, GB")
    parser.add_argument("--only", default="", help="models with this in their name")
    parser.add_argument("--page", action="store_true", help="write docs/TrainingSteps.md")
    args = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory(prefix="shardopt-training-") as folder:
        for model in MODELS:
            if args.only in model[0]:
                memory = int(args.memory * 1e9)
                scratch = pathlib.Path(folder)
                lines += table(args.build.resolve(), scratch, model, args.rounds, memory)
                print("\n".join(lines), flush=True)
    if args.page:
        PAGE.write_text(with_part(PAGE.read_text(), BEGIN, END, "\n".join(lines).strip()))


if __name__ == "__main__":
    main()
