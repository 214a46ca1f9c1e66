#!/usr/bin/env python3
"""TPOT and TTFT that AIConfigurator estimates for rows of serving runs.

Run by a Python that has its package (`pip install aiconfigurator` into an
environment of its own). Reads runs as `shard-cost --e2e` does, from the standard
input, and writes those that it can estimate, as they come, with `other_tpot_ms`
and `other_ttft_ms`; a run takes it seconds.
"""

import csv
import logging
import sys

logging.disable(logging.WARNING)

from aiconfigurator.cli.api import cli_estimate  # noqa: E402

# What it calls a model that runs call otherwise.
NAMES = {
    "meta-llama/Llama-3.1-70B": "meta-llama/Meta-Llama-3.1-70B",
    "meta-llama/Llama-3.1-8B-Instruct": "meta-llama/Meta-Llama-3.1-8B",
    "zhipuai/GLM-5": "zai-org/GLM-5",
}


def estimate(row):
    degree = lambda name: int(float(row[name] or 1)) or 1
    bfloat16 = not row["gemm_quant"] and not row["precision"] and "FP8" not in row["model"]
    return cli_estimate(
        NAMES.get(row["model"], row["model"]),
        row["system"],
        backend_name=row["backend"],
        isl=int(float(row["isl"])),
        osl=int(float(row["osl"])),
        batch_size=max(1, round(float(row["concurrency"]) / degree("attn_dp"))),
        tp_size=degree("tp"),
        attention_dp_size=degree("attn_dp"),
        moe_tp_size=degree("moe_tp"),
        moe_ep_size=degree("moe_ep"),
        gemm_quant_mode="bfloat16" if bfloat16 else row["gemm_quant"] or None,
        moe_quant_mode="bfloat16" if bfloat16 else row["moe_quant"] or None,
    )


def main():
    rows = list(csv.DictReader(sys.stdin))
    writer = csv.DictWriter(sys.stdout, [*rows[0], "other_tpot_ms", "other_ttft_ms"], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        try:
            found = estimate(row)
        except Exception as error:  # its own, of many kinds
            print(f"{row['id']}: {type(error).__name__}: {str(error)[:120]}", file=sys.stderr, flush=True)
            continue
        writer.writerow({**row, "other_tpot_ms": f"{found.tpot:.3f}", "other_ttft_ms": f"{found.ttft:.3f}"})
        sys.stdout.flush()


if __name__ == "__main__":
    main()
