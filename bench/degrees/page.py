"""The part of docs/DegreesMeasured.md that is made of the results."""

import math
import statistics
import sys

from dims.cells import MODELS, ROOT
from marked import with_part
from search.markdown import NONE, table

from . import prompts, two_dims
from .cells import CONTEXTS, KNOWN_MODELS, MACHINES
from .measure import ENGINES, read

PAGE = ROOT / "docs/DegreesMeasured.md"
BEGIN = "<!-- degrees: begin, written by ./dev bench degrees -->"
END = "<!-- degrees: end -->"


def gain_text(gain):
    return NONE if gain is None else "new" if gain == math.inf else f"{gain:.2f}"


def tokens(value):
    return f"{value:.4g}" if value else NONE


def span(values):
    """The least and the largest, where they do not read alike; 0 is none."""
    low, high = (f"{value:.2f}" if value else NONE for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def worth(rows):
    """A table for each context."""
    header = ["model, machine", "uniform", "serving", "gain", *ENGINES, "optimum"]
    for context in CONTEXTS:
        lines = []
        for model in MODELS:
            for machine in MACHINES:
                (row,) = [
                    row
                    for row in rows
                    if row.cell.is_in_table
                    and (row.cell.model, row.cell.machine, row.cell.context)
                    == (model, machine, context)
                ]
                of = row.throughput
                shares = [gain_text(row.gain(engine, over="serving")) for engine in ENGINES]
                lines.append(
                    [
                        f"{model}, {machine}",
                        tokens(of["uniform"]),
                        tokens(of["serving"]),
                        gain_text(row.gain()),
                        *shares,
                        row.degrees or NONE,
                    ]
                )
        yield f"A context of {context:,}:".replace(",", " ")
        yield table(header, lines)


def known(rows):
    """What is gained by model, over the workloads with either SLO."""
    lines = []
    for model in KNOWN_MODELS:
        own = [row for row in rows if row.cell.is_known and row.cell.model == model]
        gains = [row.gain() for row in own]
        finite = [gain for gain in gains if gain and gain < math.inf]
        lines.append(
            [
                model,
                len(own),
                f"{statistics.mean(finite):.2f}",
                f"{max(finite):.2f}",
                sum(gain == math.inf for gain in gains),
                sum(gain is None for gain in gains),
            ]
        )
    header = ["model", "workloads", "mean gain", "best", "new plans", "no plan"]
    return table(header, lines)


def positions(rows):
    """The best plan with cp above 1 beside the optimum, over machines."""
    lines = []
    for model in MODELS:
        line = [model]
        for context in CONTEXTS:
            own = [
                row
                for row in rows
                if row.cell.is_in_table and (row.cell.model, row.cell.context) == (model, context)
            ]
            shares = [
                row.gain("shared", "serving") or 0 for row in own if row.throughput["serving"]
            ]
            line.append(span(shares) if any(shares) else NONE)
        lines.append(line)
    return table(["model", *(f"{context:,}".replace(",", " ") for context in CONTEXTS)], lines)


def both_dims(found):
    lines = []
    for machine in two_dims.SHOWN_MACHINES:
        for n in two_dims.DEVICES:
            line = [f"{machine}, tp {n}"]
            line += (span(two_dims.ratios(found, machine, n, rows)) for rows in two_dims.ROWS)
            lines.append(line)
    return table(["", *(f"{rows} rows" for rows in two_dims.ROWS)], lines)


def both_dims_optima(found):
    """The optima that have them, and how many were searched."""
    optima = [line for line in found if line["kind"] != "exchange" and line["with"]]
    lines = []
    for line in optima:
        if "tp2" not in line["degrees"]:
            continue
        gain = line["with"] / line["without"]
        gain = gain if line["kind"] == "throughput" else 1 / gain
        workload = f"{line['model']}, {line['machine']}, {line['phase']} of {line['size']}"
        lines.append([workload, line["kind"], f"{gain:.3f}", line["degrees"]])
    header = ["model, machine, workload", "objective", "gain", "optimum"]
    return len(optima), len(lines), table(header, lines)


TEXT = """
Tokens/s per device of proved optima, decode at an SLO of 50 ms, at most 64 devices. *Gain* is serving over uniform, and *new* means
that the uniform space has no plan. The column of an engine is its best plan over the serving optimum. A part of each gain comes from
the batch that fits: all of it for most dense models at short contexts.

{worth}

Gains over two SLOs, 20 and 50 ms, two machines, H100 and H200, and the three contexts:

{known}

## Context parallelism

The best plan with `cp` above 1 over the optimum, from the worst to the best of the three machines; – means no plan:

{positions}

## Context parallelism in prefill

The lowest time to the first token of one prompt on H100, where attention may share the positions of the prompt (`cp` = `tp`), over
the lowest with `cp` 1:

{prompts}

## Weights sharded on two dims

With [`tp2`](Degrees.md#weights-sharded-on-both-dims) a matrix is sharded over tp1 · tp2 devices. An FFN then gathers h / tp2 columns
over tp1, scatters 2 ff / tp1 over tp2, gathers ff / tp1 over tp2 and scatters h / tp2 over tp1. Sharding on one dim needs an
all-reduce of h, or a gather and a scatter. The table has the time of the exchanges over the better of those two, with the best tp2,
for Llama-3.1-70B and 405B. Above 1, two dims lose.

{both_dims}

Of {searched} proved optima on at most {largest} devices, {taken} have both dims where `tp2` is open. *Gain* is over the optimum without
it: of throughput within the SLO, or of the least latency.

{optima}
"""


def text(rows):
    found = two_dims.read()
    searched, taken, optima = both_dims_optima(found)
    made = TEXT.format(
        worth="\n\n".join(worth(rows)),
        known=known(rows),
        positions=positions(rows),
        prompts=prompts.lines(prompts.read()),
        both_dims=both_dims(found),
        searched=searched,
        largest=two_dims.LARGEST,
        taken=taken,
        optima=optima,
    )
    return made.strip("\n")


def update(check):
    """Writes the part, or exits with 1 if it is another."""
    page = PAGE.read_text()
    new = with_part(page, BEGIN, END, text(read()))
    if not check:
        PAGE.write_text(new)
    elif new != page:
        sys.exit(f"{PAGE} is not what the results give: ./dev bench degrees --page writes it")
