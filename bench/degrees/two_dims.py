"""Weights sharded on both dims: their exchange, and where optima have them.

The exchange is that of the breakdown of a layer of Llama: of its network with a
weight on each axis of tp, over that of Megatron's dims, which all-reduce or gather
and scatter. Optima are searched with `tp2` open and without it.
"""

import csv
import dataclasses
import pathlib

from dims import cells

RESULTS = pathlib.Path(__file__).with_name("two_dims.csv")
FIELDS = ("kind", "machine", "model", "phase", "size", "tp", "without", "with", "degrees")

MODELS = ("Llama-3.1-70B", "Llama-3.1-405B")
DEVICES = (8, 16, 32, 64)
ROWS = (64, 256, 1024, 8192)
SHOWN_MACHINES = ("h100_sxm", "gb200")
CONTEXT = 1024  # of which the exchange of a network does not depend

OPS = (
    *("embed", "attn_norm", "qkv_proj", "attention", "out_proj"),
    *("ffn_norm", "ffn_up", "ffn_down", "lm_head"),
)
# Norms of whole rows, and of sharded features, before Megatron's dims.
ONE_DIM = (
    dict(zip(OPS, (0, 2, 1, 0, 0, 2, 1, 0, 1), strict=True)),
    dict(zip(OPS, (0, 0, 1, 0, 0, 0, 1, 0, 1), strict=True)),
)
BOTH_DIMS = dict(zip(OPS, (0, 1, 1, 0, 0, 1, 3, 3, 1), strict=True))

# Optima: the most devices, and the objectives.
LARGEST = 64
PROGRAMS = (("decode", 8192), ("prefill", 8192), ("prefill", 131072))
SEARCHED = (*MODELS, "Qwen3-32B", "DeepSeek-V3")
OBJECTIVES = ("throughput", "latency")


@dataclasses.dataclass(frozen=True, order=True)
class Cell(cells.Cell):
    """A workload and what is optimized."""

    objective: str = "throughput"

    @property
    def limit(self):
        """A limit that every plan meets where the least latency is looked for."""
        name, value = super().limit
        return name, 1e9 if self.objective == "latency" else value


def exchanged(plan):
    """Microseconds of the collectives of a layer's network."""
    first = [row for row in plan["breakdown"] if row["stage"] == 0]
    own = [row for row in first if row["op"] in ("ffn_up", "ffn_down", "layer_exit")]
    return sum(row["collective_us"] / row["layers"] for row in own)


def exchange_rows(tools, model, machine):
    """Lines of the table: without and with the second axis, the best of each."""
    cell = Cell(model, "decode", CONTEXT, machine, max(DEVICES), "latency")
    module = tools.import_program(cell.program)

    def took(degrees, dims):
        strategy = {"ep": 1, "pp": 1, **degrees, "dims": dims}
        return exchanged(tools.explain(cell, module, strategy))

    for tp in DEVICES:
        splits = [n for n in range(2, tp) if tp % n == 0]
        for rows in ROWS:
            degrees = {"tp": tp, "batch": rows}
            without = min(took(degrees, dims) for dims in ONE_DIM)
            found = {n: took({**degrees, "tp2": n}, BOTH_DIMS) for n in splits}
            best = min(found, key=found.get)
            yield ("exchange", machine, model, "decode", rows, tp, without, found[best], f"tp2 {best}")


def optimum_row(tools, cell):
    """Throughput or latency of the optimum, without and with the second axis."""
    module = tools.import_program(cell.program)
    key = {"decode": "tpot_ms", "prefill": "ttft_ms"}[cell.phase]
    key = "throughput" if cell.objective == "throughput" else key

    def best(*options):
        report = tools.report(cell, module, f"objective={cell.objective}", *options)
        if not report["proved"]:
            raise RuntimeError(f"{cell}: not proved")
        return report["best"]

    without, found = best(), best("tp2=1,2,4,8,16,32")
    strategy = found["strategy"] if found else {}
    degrees = ", ".join(f"{k} {v}" for k, v in strategy.items() if k != "dims")
    values = (plan[key] if plan else 0 for plan in (without, found))
    return (
        *(cell.objective, cell.machine, cell.model, cell.phase, cell.context),
        *(strategy.get("tp", 0), *values, degrees),
    )


def record(tools, note):
    """Writes the results."""
    lines = []
    for machine in SHOWN_MACHINES:
        for model in MODELS:
            lines += exchange_rows(tools, model, machine)
            note(f"exchange of {model} on {machine}")
        for model in SEARCHED:
            for phase, context in PROGRAMS:
                for objective in OBJECTIVES:
                    cell = Cell(model, phase, context, machine, LARGEST, objective)
                    lines.append(optimum_row(tools, cell))
                    note(f"optimum of {cell}")
    with open(RESULTS, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for *words, without, found, degrees in lines:
            writer.writerow([*words, f"{without:.8g}", f"{found:.8g}", degrees])


def read():
    """The lines, with numbers in the place of text."""
    with open(RESULTS, newline="") as file:
        lines = list(csv.DictReader(file))
    for line in lines:
        for key in ("without", "with"):
            line[key] = float(line[key])
        for key in ("size", "tp"):
            line[key] = int(line[key])
    return lines


def ratios(lines, machine, tp, rows):
    """Of each model, the time of the exchange with both dims over that with one."""
    return [
        line["with"] / line["without"]
        for line in lines
        if line["kind"] == "exchange"
        and (line["machine"], line["tp"], line["size"]) == (machine, tp, rows)
    ]
