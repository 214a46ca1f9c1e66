#!/usr/bin/env python3
"""Predictions against public runs that no constant was chosen with, and decisions.

Scores public InferenceX results of DeepSeek-R1 and MLPerf 5.1 of Llama-3.1 with
`shard-cost --e2e`: TPOT, TTFT, throughput and bands by engine, role, GPU and
precision, and which of two runs at equal load is the faster one. --write puts
the tables into docs/Yardsticks.md.
"""

import argparse
import collections
import csv
import datetime
import gzip
import itertools
import math
import os
import pathlib
import sys
import tempfile

import numpy as np

import fidelity as sample
import serving_bands
import serving_fidelity as fidelity
from arrivals import poisson
from marked import with_part

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/Yardsticks.md"
MARKERS = ("<!-- yardstick -->", "<!-- end of yardstick -->")

# Versions by date, of the images that rows name; most rows name none.
VERSIONS = {
    "sglang": [("2026-01-15", "0.5.5"), ("2026-02-20", "0.5.8"), ("2026-05-01", "0.5.9"), ("9999", "0.5.12")],
    "trtllm": [("2026-01-20", "1.1.0"), ("2026-04-15", "1.2.0"), ("9999", "1.3.0")],
}
ENGINES = {"sglang": "sglang", "trt": "trtllm", "dynamo-sglang": "sglang", "dynamo-trt": "trtllm"}
MACHINES = {"b200": "b200_sxm", "gb200": "gb200", "mi300x": "mi300x"}
# Runs that decode speculatively do not say how: DeepSeek's own head, and the
# share of its tokens that its report has (85 to 90 %).
DRAFTS = {"draft_tokens": "1", "accepted_tokens": "0.85", "draft_layers": "1"}
LENGTHS = 0.9  # of requests, over what rows say: drawn from 0.8 to 1
MODEL = "deepseek-ai/DeepSeek-V3"
# Days between two runs that may be compared; shares that decide.
DAYS, DIFFERENCE = 14, 1.05

# Of MLPerf's data sets: tokens of a prompt (mean, as MLCommons publishes them),
# and of an answer as the logs have it.
MLPERF = {
    "llama3.1-405b": ("meta-llama/Meta-Llama-3.1-405B", 9400, 655),
    "llama3.1-8b": ("meta-llama/Meta-Llama-3.1-8B", 780, 128),
}
ACCELERATORS = {
    "NVIDIA B200-SXM-180GB": "b200_sxm", "NVIDIA H200-SXM-141GB": "h200_sxm", "NVIDIA H100-SXM-80GB": "h100_sxm",
    "NVIDIA GB200": "gb200", "NVIDIA GB300": "gb300", "NVIDIA L40S": "l40s",
}


def read(path):
    with gzip.open(path, "rt") as file:
        return list(csv.DictReader(file))


def worker(row, role):
    """GPUs of a worker, how many there are, and its layout as columns."""
    number = lambda name: int(float(row[name] or 0))
    is_apart = row["disagg"] == "True"
    workers = max(1, number(f"{role}_num_workers")) if is_apart else 1
    gpus = number(f"num_{role}_gpu") // workers if is_apart else number(f"{role}_tp")
    ep = max(1, number(f"{role}_ep"))
    if is_apart and number(f"{role}_tp") == 1 and "sglang" in row["framework"]:
        ep = gpus  # neither degree is recorded: DeepEP has the ranks of the worker
    groups = gpus if row[f"{role}_dp_attention"] == "True" else 1
    if not gpus or gpus % ep:
        return None
    layout = {"tp": gpus // groups, "attn_dp": groups, "moe_tp": gpus // ep, "moe_ep": ep}
    return gpus, workers, layout


def inference_runs(folder):
    """The rows of `shard-cost --e2e`, with what was measured, and why others are
    left out."""
    runs, left = [], collections.Counter()
    for row in read(folder / "inferencex_dsr1.csv.gz"):
        roles = ("prefill", "decode") if row["disagg"] == "True" else ("decode",)
        workers = [worker(row, role) for role in roles]
        if row["hardware"] not in MACHINES:
            left["no machine: " + row["hardware"]] += 1
        elif row["disagg"] == "True" and "0" in (row["prefill_num_workers"], row["decode_num_workers"]):
            left["numbers of workers are not said"] += 1
        elif None in workers:
            left["GPUs and layout that disagree"] += 1
        elif float(row["median_ttft"]) > 0.5 * float(row["median_e2el"]):
            left["overload"] += 1
        else:
            runs.append(inference_run(row, dict(zip(roles, workers))))
    return runs, left


def inference_run(row, workers):
    engine = ENGINES[row["framework"]]
    run = {
        "system": MACHINES[row["hardware"]], "backend": engine, "model": MODEL, "isl": row["isl"], "osl": row["osl"],
        "concurrency": row["conc"], "mode": "disagg" if "prefill" in workers else "agg", "precision": row["precision"],
        "backend_version": next(version for until, version in VERSIONS[engine] if row["date"] < until),
        **{prefix + name: "" for prefix in ("", "p_", "d_") for name in ("tp", "attn_dp", "moe_tp", "moe_ep")},
        "p_workers": "", "d_workers": "", "draft_tokens": "", "accepted_tokens": "", "draft_layers": "",
        "source_kind": "",
    }
    if row["precision"] == "fp4":
        run |= {"gemm_quant": "nvfp4", "moe_quant": "nvfp4"}
    else:
        run |= {"gemm_quant": "", "moe_quant": ""}
    if row["spec_method"] == "mtp":
        run |= DRAFTS
    for role, (_, count, layout) in workers.items():
        prefix = {"prefill": "p_", "decode": "d_"}[role] if run["mode"] == "disagg" else ""
        run |= {prefix + name: str(value) for name, value in layout.items()}
        if prefix:
            run[prefix + "workers"] = str(count)
    run |= fidelity.flags_of(run)
    run["gpus"] = str(sum(gpus * count for gpus, count, _ in workers.values()))
    run["date"], run["spec"] = row["date"], row["spec_method"]
    run["tpot_ms"], run["ttft_ms"] = 1e3 * float(row["median_tpot"]), 1e3 * float(row["median_ttft"])
    run["tput"] = float(row["tput_per_gpu"])
    return run


def mlperf_runs(folder):
    """Server and interactive runs. Requests in flight follow from the rate that is
    asked for and the measured times."""
    runs, left = [], collections.Counter()
    for row in read(folder / "mlperf51.csv.gz"):
        machine = ACCELERATORS.get(row["Accelerator"])
        if row["Scenario"] == "Offline":
            left["offline"] += 1
        elif not row["tpot_mean_ms"] or not row["tensor_parallelism"] or not row["target_qps"]:
            left["times, layout or rate are not said"] += 1
        elif not machine:
            left["no machine: " + row["Accelerator"]] += 1
        elif row["pipeline_parallelism"] != "1":
            left["stages"] += 1
        else:
            model, isl, osl = MLPERF[row["Model"]]
            gpus = int(row["a#"]) * int(row["Nodes"])
            tp = int(row["tensor_parallelism"])
            seconds = (float(row["ttft_mean_ms"]) + osl * float(row["tpot_mean_ms"])) / 1e3
            flying = float(row["target_qps"]) * seconds * tp / gpus
            quant = {"fp4": "nvfp4", "fp8": "fp8"}[row["precision"]]
            runs.append({
                "system": machine, "backend": "trtllm", "model": model, "isl": str(isl), "osl": str(osl), "tp": str(tp),
                "concurrency": str(max(1, round(flying))), "gemm_quant": quant, "moe_quant": quant,
                "precision": row["precision"], "backend_version": "1.0.0", "mode": "agg",
                "tpot_ms": float(row["tpot_mean_ms"]), "ttft_ms": float(row["ttft_mean_ms"]), "scenario": row["Scenario"],
                "rate": float(row["target_qps"]), "gpus": gpus, "chunk": max(512, int(float(row["max_num_tokens"] or 8192))),
                **{f"{what}_{at}": float(row[f"{what}_{at}_ms"]) for what in ("tpot", "ttft") for at in ("p50", "p99")},
            })
    return runs, left


def predict(tool, configs, runs):
    """Those that are predicted, each with its answer's columns."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        fidelity.link_configs(configs, None, folder, sorted({run["model"] for run in runs}))
        answers = fidelity.predict(tool, folder, runs)
    return [{**answer, **run} for run, answer in zip(runs, answers) if answer["predicted_tpot_ms"]]


def throughput(row):
    """Predicted tokens/s per GPU, of prompts and answers, as the set counts them."""
    answer = LENGTHS * float(row["osl"])
    seconds = (float(row["predicted_ttft_ms"]) + (answer - 1) * float(row["predicted_tpot_ms"])) / 1e3
    return float(row["concurrency"]) / seconds * LENGTHS * (float(row["isl"]) + float(row["osl"])) / float(row["gpus"])


def scores(rows, what, middle):
    ratios = np.array([float(row[middle]) / float(row[f"{what}_ms"]) for row in rows])
    inside = np.mean([serving_bands.is_inside(row, what, middle) for row in rows])
    errors = 100 * np.abs(ratios - 1)
    return [f"{np.median(errors):.1f}", f"{errors.mean():.1f}", f"{100 * (np.median(ratios) - 1):+.0f}", f"{100 * inside:.0f}"]


def table(rows, middle="_p50_ms", has_throughput=True):
    """By role, engine, GPU and precision; groups of fewer than five count in the sums."""
    groups = collections.defaultdict(list)
    for row in rows:
        role = "disaggregated" if row["mode"] == "disagg" else "aggregated"
        groups[f"{role}, {row['backend']}"].append(row)
        groups[f"{role}, {row['backend']} {row['system']} {row['precision']}"].append(row)
    yield "| runs | n | TPOT: median | mean | bias | inside | TTFT: median | mean | bias | inside | tokens/s per GPU: median |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for name, members in sorted(groups.items()):
        if len(members) < 5:
            continue
        cells = [name, str(len(members))]
        for what in ("tpot", "ttft"):
            cells += scores(members, what, f"{what}_p50_ms" if middle else f"predicted_{what}_ms")
        errors = [abs(throughput(row) / row["tput"] - 1) for row in members] if has_throughput else []
        cells.append(f"{100 * np.median(errors):.1f}" if errors else "–")
        yield "| " + " | ".join(cells) + " |"


def layout_of(row):
    return tuple(row[prefix + name] for prefix in ("", "p_", "d_") for name in ("tp", "attn_dp", "moe_tp", "moe_ep"))


def load_of(row):
    """Requests in flight on so many GPUs."""
    return row["system"], row["isl"], row["osl"], row["concurrency"], row["gpus"]


def load_of_gpu(row):
    """The same of a GPU: services of two roles take other numbers of them."""
    return row["system"], row["isl"], row["osl"], float(row["concurrency"]) / float(row["gpus"])


# What two runs that are compared share beside their load, and its meaning.
DECISIONS = {
    "layout": (load_of, ("backend", "precision", "spec", "mode")),
    "role": (load_of_gpu, ("precision", "spec")),
    "precision": (load_of, ("backend", "spec", "mode")),
    "MTP or none": (load_of, ("backend", "precision", "mode")),
}
DIFFERS = {
    "layout": layout_of,
    "role": lambda row: row["mode"],
    "precision": lambda row: row["precision"],
    "MTP or none": lambda row: row["spec"],
}


def days(row):
    return datetime.date.fromisoformat(row["date"][:10]).toordinal()


def windows(members):
    """`members` in runs of time of at most `DAYS` days."""
    left = sorted(members, key=days)
    while left:
        near = [row for row in left if days(row) <= days(left[0]) + DAYS]
        yield near
        left = left[len(near) :]


def decisions(rows):
    """Pairs of equal load, and what the predicted pick of each case loses."""
    yield "| decision | pairs | differ by more than 5 % | ordered right | cases | throughput lost by the pick, mean | worst |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for name, (load, shared) in DECISIONS.items():
        cases = collections.defaultdict(list)
        for row in rows:
            cases[load(row), tuple(row[key] for key in shared)].append(row)
        pairs = right = all_pairs = 0
        lost = []
        for members in cases.values():
            for a, b in itertools.combinations(members, 2):
                if DIFFERS[name](a) == DIFFERS[name](b) or abs(days(a) - days(b)) > DAYS:
                    continue
                all_pairs += 1
                if max(a["tput"], b["tput"]) / min(a["tput"], b["tput"]) <= DIFFERENCE:
                    continue
                pairs += 1
                right += (a["tput"] > b["tput"]) == (throughput(a) > throughput(b))
            for near in windows(members):
                if len({DIFFERS[name](row) for row in near}) > 1:
                    pick = max(near, key=throughput)
                    lost.append(1 - pick["tput"] / max(row["tput"] for row in near))
        share = f"{right} ({100 * right / pairs:.0f} %)" if pairs else "–"
        regret = [f"{100 * np.mean(lost):.1f}", f"{100 * max(lost):.0f}"] if lost else ["–", "–"]
        yield "| " + " | ".join([name, str(all_pairs), str(pairs), share, str(len(lost)), *regret]) + " |"


def signs(rows):
    """Pairs with and without MTP of one layout and load, whatever their dates."""
    load, shared = DECISIONS["MTP or none"]
    cases = collections.defaultdict(list)
    for row in rows:
        cases[load(row), layout_of(row), tuple(row[key] for key in shared)].append(row)
    pairs, wrong = 0, collections.Counter()
    for members in cases.values():
        for a, b in itertools.combinations(members, 2):
            if a["spec"] == b["spec"]:
                continue
            pairs += 1
            if (a["tput"] > b["tput"]) != (throughput(a) > throughput(b)):
                case = f"{a['backend']} {a['system']} {a['precision']}, {a['concurrency']} in flight"
                wrong[f"{case}, {a['isl']} + {a['osl']} tokens"] += 1
    right = pairs - sum(wrong.values())
    said = "; ".join(f"{case} ({count} pairs)" for case, count in sorted(wrong.items())) or "none"
    return (
        f"MTP gains throughput or loses it, as predicted, in {right} of {pairs} pairs of one layout and load at any "
        f"dates ({100 * right / pairs:.0f} %). Wrong: {said}."
    )


def replayed(run, configs):
    """Percentiles of a run, of its service's plan and of a replay of its arrivals; None where
    the planner finds that the rate is not served."""
    import shardopt as so

    config = next(configs.glob(f"*{run['model'].split('/')[1]}_config.json"))
    isl, osl, tp = (int(run[name]) for name in ("isl", "osl", "tp"))
    problem = so.Problem(
        so.load_model(config), machine=run["system"], devices=run["gpus"], engine="trtllm", isl=isl, osl=osl,
        tpot_ms=math.inf, ttft_ms=1e9, ttft_percentile=99, rate=run["rate"], weight_types=[run["gemm_quant"]], kv_types=["fp8"],
        mode="aggregated", pins={"tp": tp, "dp": 1, "pp": 1, "workers": run["gpus"] // tp}, chunk=[run["chunk"]],
    )
    try:
        service = so.plan(problem)
    except so.Infeasible:
        return None
    count = int(min(max(600, 60 * run["rate"]), 20000))  # a minute of arrivals, or so
    found = so.replay(service, [so.Request(at, isl, osl) for at in poisson(run["rate"], count)])
    times = {"tpot": (service.metrics.tpot, found.tpot), "ttft": (service.metrics.ttft, found.ttft)}
    return {
        f"{what} {at}": (run[f"{what}_{at}"], *(getattr(each, at) for each in times[what]))
        for what in times
        for at in ("p50", "p99")
    }


def percentiles(runs, configs):
    """Errors of percentiles: of the formulas of a plan, and of the replay."""
    answers = [(run, replayed(run, configs)) for run in runs]
    yield (
        f"Percentiles of {sum(found is not None for _, found in answers)} of these runs, in the workers and at the rate "
        f"of the run; {sum(found is None for _, found in answers)} are planned at a lower rate than was measured."
    )
    yield ""
    yield "| runs | n | percentile | formulas: median | bias | replay: median | bias |"
    yield "|---|--:|---|--:|--:|--:|--:|"
    for model in sorted({run["model"] for run in runs}):
        rows = [found for run, found in answers if found and run["model"] == model]
        for name in rows[0] if rows else ():
            ratios = [np.array([row[name][i] / row[name][0] for row in rows]) for i in (1, 2)]
            cells = [f"{np.median(100 * np.abs(r - 1)):.0f} | {100 * (np.median(r) - 1):+.0f}" for r in ratios]
            yield f"| {model.split('/')[1]} | {len(rows)} | {name.upper()[:4]}{name[4:]} | " + " | ".join(cells) + " |"


def left_out(left):
    return "Left out: " + ", ".join(f"{count} ({why})" for why, count in sorted(left.items()) if count) + "."


def bands(tool, folder, found):
    """Prediction intervals, and how many runs of each set are inside."""
    known, _, _ = fidelity.measure(tool, folder, ROOT / "machines", sample.CONFIGS)
    for rows in fidelity.disaggregated(tool, folder, sample.CONFIGS).values():
        known += rows
    yield from serving_bands.table(known, found)


def lines(tool, folder):
    runs, left = inference_runs(folder / "silicon")
    rows = inference = predict(tool, folder, runs)
    left["layouts that are not predicted"] = len(runs) - len(rows)
    plain = [row for row in rows if row["spec"] == "none"]
    yield f"InferenceX, DeepSeek-R1, {len(plain)} runs without MTP and {len(rows) - len(plain)} with it. {left_out(left)}"
    yield ""
    yield from table(plain)
    yield ""
    yield "With MTP, one speculative token with an acceptance of 0.85, and the cost of its layer:"
    yield ""
    yield from table([row for row in rows if row["spec"] != "none"])
    yield ""
    yield from decisions(rows)
    yield ""
    yield signs(rows)
    yield ""
    runs, left = mlperf_runs(folder / "silicon")
    rows = predict(tool, folder, runs)
    left["layouts that are not predicted"] = len(runs) - len(rows)
    yield f"MLPerf 5.1, Llama-3.1-8B and 405B under Poisson arrivals, unverified, {len(rows)} runs. {left_out(left)}"
    yield ""
    yield from table(rows, middle="", has_throughput=False)
    yield ""
    yield from percentiles(runs, folder / "configs")
    yield ""
    yield "Prediction intervals, as multiples of predictions, which promise to hold 80 % of runs. Shares inside are in %."
    yield ""
    measured = [row for row in inference if row["system"] != "mi300x"]
    found = {
        "InferenceX": [row for row in measured if row["spec"] == "none"],
        "with MTP": [row for row in measured if row["spec"] != "none"],
        "on MI300X": [row for row in inference if row["system"] == "mi300x"],
        "MLPerf": rows,
    }
    yield from bands(tool, folder, found)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench yardstick", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--write", action="store_true", help="the tables of docs")
    args = parser.parse_args()
    folder = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT / "../shared/data"))
    if not (folder / "silicon").is_dir():
        sys.exit(f"{folder}: no such folder; SHARDOPT_DATA says where it is")
    sys.path.insert(0, str(args.build.resolve() / "python"))
    text = list(lines(args.build.resolve() / "bin/shard-cost", folder))
    print("\n".join(text))
    if args.write:
        PAGE.write_text(with_part(PAGE.read_text(), *MARKERS, "\n".join(text)))


if __name__ == "__main__":
    main()
