#!/usr/bin/env python3
"""Graphs of published sizes: the chosen sharding beside hand plans and XLA's propagation.

Plans JAX's graphs of bench/graph_models.py over eight H100, and compiles them with all
annotations, and with those of arguments alone, which Shardy and GSPMD propagate. Prints the
table of docs/GraphPlans.md; --page writes it there. Needs JAX in the build's environment.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from marked import printed, with_part

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/GraphPlans.md"
MARKERS = ("<!-- graphs -->", "<!-- end of graphs -->")
SCRIPT = ROOT / "bench/graph_models.py"
DEVICES, MACHINE = 8, "h100_sxm"
# Published sizes, and the model of python/tests/jax_graphs.py that is alike and small enough to run.
CASES = {
    "llama_8b": ("Llama-3.1-8B, 8 prompts of 1024", "llama"),
    "llama_8b_tight": ("the same in 12 GB a device", "llama"),
    "llama_8b_one": ("Llama-3.1-8B, 1 prompt of 2048", "llama"),
    "gpt2_medium": ("GPT-2 medium, 8 texts of 1024", "gpt2"),
    "vit_l16": ("ViT-L/16, 32 images of 224", "vit"),
    "unet": ("U-Net, 8 images of 256", "unet"),
    "resnet_50": ("ResNet-50, 64 images of 224", "resnet"),
}
MEMORY_GB = {"llama_8b_tight": 12}
SHORT = {"collective-permute": "permute"}
HEAD = (
    "| graph | sharding | ms | GB | collectives | MB | off by | seconds |\n"
    "|---|---|--:|--:|---|--:|--:|--:|"
)


def run(python, option, folder):
    """The rows that the script prints, by graph."""
    done = subprocess.run([python, SCRIPT, option, folder], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{SCRIPT} {option}: {done.stderr[-2000:]}")
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {row["place"]: row for row in rows}


def planned(graphs, folder, **options):
    """The graph of each file, whose annotated module is written beside it."""
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*.mlir")):
        if "." not in path.stem:
            found[path.stem] = graphs.import_graph(path, mesh=str(DEVICES), memory_gb=MEMORY_GB.get(path.stem), **options)
            path.with_suffix(".annotated.mlir").write_text(found[path.stem].annotated)
    return found


def seconds_of(collectives):
    """What the cost model says that they take, each kind as so many of one size."""
    sys.path.insert(0, str(ROOT / "test/Reference"))
    from cost.machines import MACHINES
    from cost.network import Network

    network = Network(MACHINES[MACHINE])
    times = {
        "all-reduce": network.all_reduce, "all-gather": network.all_gather,
        "reduce-scatter": lambda size, n: network.reduce_scatter(size * n, n),
        "all-to-all": network.all_to_all, "collective-permute": network.all_to_all,
    }
    return sum(count * times[kind](size / count, DEVICES) for kind, (count, size) in collectives.items())


def lines(graphs, python):
    with tempfile.TemporaryDirectory() as large, tempfile.TemporaryDirectory() as small:
        run(python, "--write", large)
        found = planned(graphs, large, machine=MACHINE)
        compiled = run(python, "--compile", large)
        run(python, "--write-small", small)
        planned(graphs, small, machine=slow_machine(small), simulator="roofline")
        errors = run(python, "--run", small)
    yield HEAD
    for name, (title, twin) in CASES.items():
        graph = found[name]
        kernels = sum(node["us"] for node in graph.nodes if node["op"] != "argument") - sum(
            one["us"] for node in graph.nodes for one in node.get("reductions", ())
        )
        rows = []
        for kind, label in (("annotated", "chosen"), ("shardy", "Shardy"), ("gspmd", "GSPMD")):
            moved = compiled[name][kind]["collectives"]
            spent = graph.us if kind == "annotated" else kernels + seconds_of(moved) * 1e6
            counts = ", ".join(f"{count} {SHORT.get(each, each)}" for each, (count, _) in sorted(moved.items()))
            size = sum(size for _, size in moved.values()) / 1e6
            seconds = graph.wall_s if kind == "annotated" else compiled[name][kind]["wall_s"]
            error = errors[twin]["error" if kind == "annotated" else kind]
            least = "" if kind == "annotated" else "≥ "
            held = f"{graph.memory_bytes / 1e9:.2g}" if kind == "annotated" else ""
            bound = "" if graph.proved or least else f" (bound {(graph.bound_us or 0) / 1e3:.2f})"
            rows.append([label, f"{least}{spent / 1e3:.2f}{bound}", held, counts or "none", f"{size:.0f}", f"{error:.0e}", f"{seconds:.1f}"])
        for plan in graph.plans[1:]:
            counts = f"{plan['all_reduces']} all-reduce, {plan['reshards']} reshard"
            held = plan["memory_bytes"] / 1e9
            excess = ", does not fit" if held > MEMORY_GB.get(name, held) else ""
            rows.insert(-2, [plan["plan"], f"{plan['us'] / 1e3:.2f}", f"{held:.2g}{excess}", counts, f"{plan['collective_bytes'] / 1e6:.0f}", "", ""])
        for index, row in enumerate(rows):
            yield "| " + " | ".join([title if not index else "", *row]) + " |"


def slow_machine(folder):
    """A machine on which small graphs are worth sharding."""
    path = pathlib.Path(folder, "machine.json")
    values = json.loads((ROOT / f"machines/{MACHINE}.json").read_text())
    values["compute"]["bf16_flops_per_s"] /= 1e5
    values["memory"]["bandwidth_bytes_per_s"] /= 1e5
    path.write_text(json.dumps(values))
    return str(path)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench graphs", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--page", action="store_true", help="write the table of docs/GraphPlans.md")
    args = parser.parse_args()
    python = args.build / "jax-venv/bin/python"
    if not python.exists():
        sys.exit(f"{python}: no JAX here; ./dev bench graphs installs it")
    sys.path.insert(0, str(args.build.resolve() / "python"))
    from shardopt import graphs

    table = printed(lines(graphs, python))
    if args.page:
        PAGE.write_text(with_part(PAGE.read_text(), *MARKERS, table))


if __name__ == "__main__":
    main()
