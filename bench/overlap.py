"""From which batch on steps on two micro-batches pay, beside published measurements.

Prints a table of DeepSeek-V3 on H100 as SGLang's authors ran it: decode on 9 nodes, prefill
on 4. --page writes it into docs/ServingRuns.md.
"""

import json
import math
import pathlib
import sys

from marked import write_part

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/ServingRuns.md"
BEGIN, END = "<!-- made by ./dev bench overlap -->", "<!-- end of overlap -->"
# lmsys.org/blog/2025-05-05-large-scale-ep, "Ablation Study: Two-batch Overlap".
MEASURED = {
    ("decode", 32): "-27 %", ("decode", 64): "no gain", ("decode", 128): "first gains",
    ("decode", 256): "+25.5 %", ("prefill", 8192): "+27 to +35 %",
}
DECODE, PREFILL = {"tp": 1, "dp": 72, "ep": 72}, {"tp": 1, "dp": 32, "ep": 32}
ENOUGH = 200  # prefill workers that never keep decode workers waiting
DECODED, READ = (16, 32, 64, 128, 256, 512), (1024, 4096, 8192)


def step(so, problem, role, overlap, **others):
    """Milliseconds of a step of a role, and the row of the role."""
    said = {name: {**layout, "workers": count} for name, layout, count in
            (("prefill", PREFILL, ENOUGH), ("decode", DECODE, 1))}
    if overlap:
        said[role]["overlap"] = "on"
    settings = {**so.services.asked_of_service(problem), "engine": problem.engine, "roles": said,
                "prefill_elsewhere": False, **others}
    _, text, why = problem.handle.evaluate_service(settings)
    report = json.loads(text)
    if report["disaggregated"] is None:
        sys.exit(f"no such service: {why}")
    row = report["disaggregated"][role]
    return sum(row["step_us"].values()) / 1e3, row


def lines(so):
    yield "| engine | step | tokens of a GPU | one batch, ms | two micro-batches, ms | gain | measured (SGLang) |"
    yield "|---|---|--:|--:|--:|--:|---|"
    model = so.load_model("deepseek-v3")
    for engine in ("sglang", "vllm"):
        problem = so.Problem(
            model, machine="h100_sxm", devices=100, engine=engine, isl=1000, osl=2000, tpot_ms=math.inf,
            ttft_ms=math.inf, kv_types=["fp8"], mode="disaggregated",
        ).variants()[0]
        for role, sizes in (("decode", DECODED), ("prefill", READ)):
            for tokens in sizes:
                def taken(overlap):
                    if role == "prefill":
                        longer = problem.replace(isl=tokens, chunk=tokens)
                        return step(so, longer, role, overlap, concurrency=64.0)[0]
                    return step(so, problem, role, overlap, concurrency=float(found(so, problem, tokens)))[0]
                whole, halves = taken(False), taken(True)
                measured = MEASURED.get((role, tokens), "") if engine == "sglang" else ""
                yield (f"| {engine} | {role} | {tokens} | {whole:.3g} | {halves:.3g} | "
                       f"{100 * (whole / halves - 1):+.0f} % | {measured} |")


def found(so, problem, tokens):
    """Requests in flight of which so many decode on a GPU."""
    low, high = 1, 1 << 20
    while low < high:
        middle = (low + high) // 2
        row = step(so, problem, "decode", False, concurrency=float(middle))[1]
        if row["sequences_each"] / DECODE["dp"] >= tokens:
            high = middle
        else:
            low = middle + 1
    return low


if __name__ == "__main__":
    write_part("overlap", __doc__, PAGE, BEGIN, END, lines)
