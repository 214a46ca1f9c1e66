#!/usr/bin/env python3
"""Runs shard-schedule on pipelines with known bounds, and prints Markdown tables.

`bubble` is the idle time of the device that works the most; `glued` is DualPipe
as published, `re-timed` its order of single operators; a dash is an order that
does not fit into the memory. A star is a schedule that
is proved to be the best. `cpu s` are the seconds of one core.

With --rounds, steps of search end each row before time does, so that rows do not
depend on what else a machine does. --page writes the tables into docs/ScheduleResults.md;
--gantt draws DualPipe and ours. --what=orders has orders made by hand, --what=suite many
small pipelines, graphs and rings.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

import generate_graph
from marked import with_part
from pipeline_orders import CHUNKS, ORDERS

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/ScheduleResults.md"
MARKS = {
    "tables": ("<!-- made by ./dev bench schedule -->", "<!-- end -->"),
    "orders": (
        "<!-- made by ./dev bench schedule --what=orders -->",
        "<!-- end of orders -->",
    ),
    "suite": ("<!-- made by ./dev bench schedule --what=suite -->", "<!-- end of suite -->"),
}

DUAL = ["--pattern=train", "--placement=bidirectional"]
EIGHT = [*DUAL, "--stages=8", "--microbatches=20"]


def dual(stages, microbatches):
    return [
        *DUAL,
        f"--stages={stages}",
        f"--microbatches={microbatches}",
        f"--memory={stages + 1}",
    ]


# Table: rows of (what, arguments).
SUITE = {
    "Bidirectional, F = Bi = W = 1, memory P + 1": [
        (f"P={p}, M={m}", dual(p, m))
        for p, m in ((4, 8), (4, 12), (8, 16), (8, 20), (8, 40), (16, 40))
    ],
    "Less memory, P=8, M=20": [
        (f"memory {memory}", [*EIGHT, f"--memory={memory}"])
        for memory in (9, 8, 7, 6, 5, 4)
    ],
    "Unequal times F,Bi,W, P=8, M=20, memory 9": [
        (times, [*EIGHT, "--memory=9", f"--times={times}"])
        for times in (
            "10,10,8",
            "10,12,10",
            "1,2,1",
            "297,294,199",
            "185,181,93",
            "104,102,77",
        )
    ],
    "Other placements, M=20": [
        (
            "linear, P=8, memory 8",
            ["--pattern=train", "--stages=8", "--microbatches=20", "--memory=8"],
        ),
        (
            "linear, P=8, memory 8, CaDiCaL alone",
            ["--pattern=train", "--stages=8", "--microbatches=20", "--memory=8"]
            + ["--backend=sat"],
        ),
        (
            "v, P=8, 16 half chunks",
            ["--pattern=train", "--stages=8", "--microbatches=20", "--memory=16"]
            + ["--placement=v"],
        ),
        (
            "v, P=4, M=10, memory 9",
            ["--pattern=train", "--stages=4", "--microbatches=10", "--memory=9"]
            + ["--placement=v"],
        ),
    ],
    "Single operators A,D,E,C, P=8, M=20, memory 9": [
        (
            times,
            ["--pattern=experts", "--placement=bidirectional", "--stages=8"]
            + ["--microbatches=20", "--memory=9", f"--times={times}"],
        )
        for times in ("2,2,2,2", "3,2,2,3", "2,1,2,1", "3,1,3,1")
    ],
    "Formulations, P=4, M=8, memory 5": [
        (
            f"{placement}, {backend}",
            ["--pattern=train", "--stages=4", "--microbatches=8", "--memory=5"]
            + [f"--placement={placement}", f"--backend={backend}"],
        )
        for placement in ("linear", "bidirectional")
        for backend in ("sat", "mip")
    ],
}
# Two batches that share a device: the makespan is what counts.
OVERLAP = ("3,2,2,3", "4,2,4,2", "2,3,2,3", "6,2,3,3")
# Graphs without a placement: shape, operators, devices, the longest transfer.
FREE = [
    ("towers", 28, 4, 5),
    ("unet", 28, 4, 5),
    ("experts", 28, 4, 5),
    ("random", 28, 4, 5),
    ("random", 60, 4, 5),
    ("random", 1000, 8, 5),
    ("random", 1000, 8, 100),
    ("random", 10_000, 8, 200),
    ("random", 100_000, 8, 200),
]


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(tool, arguments, limits):
    """The report of a run and its CPU seconds; None where the build lacks a part.

    `limits`: the options that end it."""
    with tempfile.TemporaryDirectory(prefix="shardopt-bench-") as scratch:
        report = f"{scratch}/report.json"
        command = [tool, *arguments, f"--report={report}", *limits]
        before = cpu_seconds()
        done = subprocess.run(command, capture_output=True, text=True)
        spent = cpu_seconds() - before
        if done.returncode:
            print(" ".join(command), done.stderr, sep="\n", file=sys.stderr)
            return None
        found = json.loads(pathlib.Path(report).read_text())
        return {**found, "printed": done.stdout}, spent


def measure_free(tool, graph, limits):
    """As `measure`, of a graph that is generated: shape, ops, devices, transfer."""
    shape, ops, devices, transfer = graph
    with tempfile.TemporaryDirectory(prefix="shardopt-bench-") as scratch:
        path = pathlib.Path(scratch) / "graph.json"
        generated = generate_graph.generate(shape, ops, devices, 1, transfer)
        path.write_text(json.dumps(generated))
        return measure(tool, [str(path)], limits)


def memory_of(arguments):
    """The `--memory` among them, or infinity."""
    given = [word.partition("=")[2] for word in arguments if word.startswith("--memory=")]
    return float(given[-1]) if given else float("inf")


def bubble_of(report, name, memory):
    """That of an expert's order, where it is one that fits; of a v, that of DualPipeV."""
    folded = name.replace("dualpipe", "dualpipev")
    baseline = report["baselines"].get(folded, report["baselines"].get(name))
    return str(baseline["bubble"]) if baseline and baseline["peak"] <= memory else "-"


def row(what, report, spent, memory):
    work = report["makespan"] - report["bubble"]
    cells = [what]
    orders = ("1f1b", "zb1p", "dualpipe", "dualpipe_retimed")
    cells += [bubble_of(report, name, memory) for name in orders]
    cells += [str(report["bubble"]) + (" *" if report["proved"] else "")]
    cells += [str(max(0, report["lower_bound"] - work))]
    cells += [str(max(report["peak_memory"])), report["found_by"], f"{spent:.2f}"]
    return "| " + " | ".join(cells) + " |"


def header(cells):
    return ["| " + " | ".join(cells) + " |", "|" + "---|" * len(cells)]


def tables(tool, limits):
    lines = []

    def add(*more):
        for line in more:
            print(line, flush=True)
            lines.append(line)

    columns = ["", "1F1B", "ZB-H1", "glued", "re-timed", "bubble", "bound"]
    columns += ["peak", "found by", "cpu s"]
    for title, rows in SUITE.items():
        add(f"**{title}**", "", *header(columns))
        for what, arguments in rows:
            found = measure(tool, arguments, limits)
            if found:
                add(row(what, *found, memory_of(arguments)))
        add("")
    add("**Steady states, bidirectional, P=8, F = Bi = W = 1**", "")
    add(*header(["", "period", "bound", "latency", "peak", "bubble of M=20", "cpu s"]))
    for memory in (9, 6, 5, 4, 3):
        arguments = [*EIGHT, f"--memory={memory}", "--backend=modulo"]
        found = measure(tool, arguments, limits)
        if found:
            report, spent = found
            steady = report["steady_state"]
            star = " *" if steady["period"] == steady["least_period"] else ""
            add(
                f"| memory {memory} | {steady['period']}{star} | "
                f"{steady['least_period']} | {steady['latency']} | "
                f"{max(steady['peak_memory'])} | {report['bubble']} | {spent:.2f} |"
            )
    add("")
    add("**Graphs without a placement** (`bench/generate_graph.py`)", "")
    columns = ["", "ops", "devices", "transfers up to", "HEFT", "makespan"]
    add(*header([*columns, "bound", "gap", "found by", "cpu s"]))
    for shape, ops, devices, transfer in FREE:
        found = measure_free(tool, (shape, ops, devices, transfer), limits)
        if found:
            report, spent = found
            star = " *" if report["proved"] else ""
            add(
                f"| {shape} | {ops} | {devices} | {transfer} | "
                f"{report['baselines']['heft']['makespan']} | "
                f"{report['makespan']}{star} | {report['lower_bound']} | "
                f"{100 * report['gap']:.1f} % | {report['found_by']} | {spent:.2f} |"
            )
    add("")
    add("**Two batches of eight layers A,D,E,C on one device**", "")
    add(*header(["", "one after the other", "makespan", "bound", "cpu s"]))
    for times in OVERLAP:
        arguments = ["--pattern=overlap", "--stages=8", f"--times={times}"]
        found = measure(tool, arguments, limits)
        if found:
            report, spent = found
            serial = 16 * sum(int(time) for time in times.split(","))
            star = " *" if report["proved"] else ""
            add(
                f"| {times} | {serial} | {report['makespan']}{star} | "
                f"{report['lower_bound']} | {spent:.2f} |"
            )
    return lines


# What the suite has beside the tables.
PLACEMENTS = {"linear": 1, "bidirectional": 1, "v": 2}  # chunks of a device
SUITE_GRAPHS = [
    ("towers", 60, 4, 5),
    ("experts", 112, 4, 5),
    ("random", 30, 4, 5),
    ("random", 200, 8, 5),
    ("inception", 60, 4, 5),
    ("hybrid", 60, 4, 5),
]


def chain(layers, devices):
    """A decoder whose head takes as long as two and a half layers, on devices of kinds
    a and b, of which b takes twice as long."""
    times = [("embed", 2)] + [(f"layer{k}", 10) for k in range(layers)] + [("head", 25)]
    slower = {kind: "ab".index(kind) + 1 for kind in devices}
    ops = [
        {"id": name, "time": {kind: by * t for kind, by in slower.items()}} for name, t in times
    ]
    edges = [{"from": a["id"], "to": b["id"]} for a, b in zip(ops, ops[1:])]
    return {"devices": [{"kind": kind} for kind in devices], "ops": ops, "edges": edges}


def spell_bubble(found):
    """The bubble, with a star where it is proved, else with its bound."""
    if not found:
        return "-"
    report, _ = found
    if report["proved"]:
        return f"{report['bubble']} *"
    work = report["makespan"] - report["bubble"]
    return f"{report['bubble']} ({max(0, report['lower_bound'] - work)})"


def printed(report, word):
    """What stands behind `word` in the first line of the answer."""
    lines = (line.split(None, 1) for line in report["printed"].splitlines())
    return next((line[1] for line in lines if line and line[0] == word), "-")


class Lines(list):
    """Of a page; they are printed as they come."""

    def add(self, *more):
        for line in more:
            print(line, flush=True)
            self.append(line)

    def row(self, *cells):
        self.add("| " + " | ".join(map(str, cells)) + " |")


def suite_of_pipelines(tool, limits, lines):
    lines.add("**Pipelines, F = Bi = W = 1**", "")
    lines.add(*header(["", "placement", "all memory", "two thirds", "half", "cpu s"]))
    for p, m in ((4, 8), (4, 20), (8, 16), (8, 20), (8, 40), (16, 32), (16, 80)):
        for placement, chunks in PLACEMENTS.items():
            whole = p * chunks + (placement == "bidirectional")
            before, cells = cpu_seconds(), []
            for memory in (whole, whole * 2 // 3, whole // 2):
                arguments = ["--pattern=train", f"--placement={placement}", f"--stages={p}"]
                arguments += [f"--microbatches={m}", f"--memory={memory}"]
                cells.append(spell_bubble(measure(tool, arguments, limits)))
            lines.row(f"P={p}, M={m}", placement, *cells, f"{cpu_seconds() - before:.2f}")


def suite_of_graphs(tool, limits, lines):
    lines.add("", "**More graphs without a placement**", "")
    lines.add(*header(["", "ops", "devices", "HEFT", "makespan", "bound", "found by", "cpu s"]))
    for graph in SUITE_GRAPHS:
        report, spent = measure_free(tool, graph, limits)
        found = str(report["makespan"]) + (" *" if report["proved"] else "")
        heft = report["baselines"]["heft"]["makespan"]
        bound, finder = report["lower_bound"], report["found_by"]
        lines.row(*graph[:3], heft, found, bound, finder, f"{spent:.2f}")


def suite_of_inference(tool, limits, lines):
    lines.add("", "**80 layers, embedding and head in stages**", "")
    lines.add(*header(["devices", "stages", "cpu s"]))
    for devices in ("aa", "aaaa", "aaaaaaaa", "aaaabbbb"):
        with tempfile.TemporaryDirectory(prefix="shardopt-bench-") as scratch:
            path = pathlib.Path(scratch) / "graph.json"
            path.write_text(json.dumps(chain(80, devices)))
            report, spent = measure(tool, [str(path), "--placement=balanced"], limits)
        lines.row(devices, printed(report, "stages"), f"{spent:.2f}")
    lines.add("", "**Decode rings**", "")
    lines.add(*header(["times of the stages", "sending", "ring", "cpu s"]))
    for times, send in (("3,5,4,4", 2), ("10,10,10,12", 1), ("4,4,4,4,4,4,4,4", 1)):
        arguments = ["--pattern=decode", f"--stages={len(times.split(','))}"]
        arguments += [f"--times={times}", f"--send={send}"]
        report, spent = measure(tool, arguments, limits)
        lines.row(times, send, printed(report, "ring"), f"{spent:.2f}")


def suite(tool, limits):
    lines = Lines()
    suite_of_pipelines(tool, limits, lines)
    suite_of_graphs(tool, limits, lines)
    suite_of_inference(tool, limits, lines)
    return lines


def orders(tool, limits):
    """Each order of 8 stages and 20 micro-batches, and what is found in its memory."""
    lines = Lines()
    lines.add(*header(["order", "placement", "bubble", "peak", "found in its memory", "cpu s"]))
    pipeline = ["--pattern=train", "--stages=8", "--microbatches=20"]
    known, _ = measure(tool, [*pipeline, "--placement=wave", "--backend=rules"], ["--rounds=1"])
    for name, (label, placement) in ORDERS.items():
        if name not in known["baselines"]:
            continue
        peak = known["baselines"][name]["peak"]
        arguments = [*pipeline, f"--placement={placement}", f"--memory={peak}"]
        found, spent = measure(tool, arguments, limits)
        chunks = CHUNKS[placement]
        star = " *" if found["proved"] else ""
        cells = [label, placement, f"{found['baselines'][name]['bubble'] / chunks:g}"]
        cells += [f"{peak / chunks:g}", f"{found['bubble'] / chunks:g}{star}", f"{spent:.2f}"]
        lines.row(*cells)
    return lines


def write_page(what, lines):
    begin, end = MARKS[what]
    PAGE.write_text(with_part(PAGE.read_text(), begin, end, "\n".join(lines)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--what", choices=MARKS, default="tables")
    parser.add_argument("--seconds", type=float, default=60, help="for each row")
    parser.add_argument("--rounds", type=int, help="steps of search for each row, beside them")
    parser.add_argument("--page", action="store_true", help="write docs/ScheduleResults.md")
    parser.add_argument("--gantt", help="draw DualPipe and ours into this file")
    args = parser.parse_args()
    tool = str(args.build.resolve() / "bin/shard-schedule")
    if args.gantt:
        command = [tool, *dual(8, 20), f"--gantt={args.gantt}"]
        return subprocess.run(command).returncode
    limits = [f"--time-limit={args.seconds}"]
    if args.rounds:
        limits.append(f"--rounds={args.rounds}")
    make = {"tables": tables, "orders": orders, "suite": suite}[args.what]
    lines = make(tool, limits)
    if args.page:
        write_page(args.what, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
