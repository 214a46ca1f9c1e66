"""How near predicted serving runs are to measured ones: figures and plots."""

import collections
import csv
import gzip
import io
import itertools
import json
import pathlib
import subprocess
import tempfile

import numpy as np

SYSTEMS = ("h100_sxm", "h200_sxm", "b200_sxm")
OTHERS = ("gb200", "b300_sxm", "gb300")
# What runs call a model, where the config that the data has is of another name.
SAME_CONFIG = {
    "deepseek-ai/DeepSeek-R1": "deepseek-ai/DeepSeek-V3",
    "meta-llama/Llama-3.1-70B": "meta-llama/Meta-Llama-3.1-70B",
    "meta-llama/Llama-3.1-8B-Instruct": "meta-llama/Meta-Llama-3.1-8B",
    "Qwen/Qwen3-235B-A22B-FP8": "Qwen/Qwen3-235B-A22B",
}
# Models with runs that no constant and no switch was chosen with.
NEVER_FITTED = ("Qwen/Qwen3.5-397B-A17B",)
ENGINES = ("trtllm", "vllm", "sglang")
COLORS = {"trtllm": "#2a7f3e", "vllm": "#2559a8", "sglang": "#b3541e"}
# TensorRT-LLM in the images of Dynamo's releases, by its support matrix.
DYNAMO = {"0.6": "1.1.0rc5", "0.7": "1.2.0rc3", "0.8": "1.2.0rc6", "0.9": "1.3.0rc1"}
LIMITS = (8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100)


def config_name(model):
    return model.replace("/", "--") + "_config.json"


def is_clean(row, mode="agg", systems=SYSTEMS):
    """Not overloaded, and of what the columns say: runs that read drafts or
    cached prefixes, without saying so, are left out."""
    if row["flags"] or row["mode"] != mode or row["system"] not in systems:
        return False
    total = float(row["ttft_ms"]) + float(row["osl"]) * float(row["tpot_ms"])
    if float(row["ttft_ms"]) / total > 0.5:
        return False
    image = row["image"] + " " + row["backend_version"]
    drafts = row["backend"] == "trtllm" and any(v in image for v in ("1.2.0rc6.post3", "1.1.0rc2.post2"))
    if "DeepSeek" in row["model"] and drafts:
        return False
    if row["model"] == "nvidia/Llama-3.1-8B-Instruct-FP8":
        return False
    return not ("Qwen3-235B" in row["model"] and row["system"] == "h200_sxm" and row["backend"] == "vllm")


def read_runs(data, mode="agg", systems=SYSTEMS, is_fitted=True):
    with gzip.open(data / "silicon/e2e.csv.gz", "rt") as file:
        rows = [row for row in csv.DictReader(file) if is_clean(row, mode, systems)]
    rows = [row for row in rows if (row["model"] not in NEVER_FITTED) == is_fitted]
    return [row | flags_of(row) | {"backend_version": version_of(row)} for row in rows]


def version_of(row):
    """That of the engine, where a row has the one of Dynamo's image."""
    version = row["backend_version"]
    if "tensorrtllm-runtime:" not in row["image"] or version not in row["image"]:
        return version
    return DYNAMO.get(version[:3], "1.3.0")


def flags_of(row):
    """What the published scripts of TensorRT-LLM's runs set beside the layout: the steps that
    prompts wait for others, for Llama-3.1-70B at 1024 tokens on fewer than 8 GPUs
    (batch_wait_timeout_iters), and with attention data parallel (attention_dp_config), where
    experts of fp4 run CUTLASS (moe_config.backend)."""
    flags = {"wait_steps": "", "balance_steps": "", "cutlass_experts": ""}
    if row["backend"] != "trtllm" or row["source_kind"] == "gap_analysis":
        return flags
    if "Llama-3.1-70B" in row["model"] and row["isl"] == row["osl"] == "1024" and degree(row, "tp") < 8:
        flags["wait_steps"] = "20"
    if degree(row, "attn_dp") > 1:
        flags["balance_steps"] = "60"
        flags["cutlass_experts"] = "1"
    return flags


def link_configs(data, extra, folder, models):
    """Puts the configs of `models` into `folder`; those of no config are missing."""
    for model in models:
        for source in filter(None, (extra, data / "configs")):
            for name in (model, SAME_CONFIG.get(model, model)):
                path = source / config_name(name)
                target = folder / config_name(model)
                if path.exists() and not target.exists():
                    target.symlink_to(path.resolve())


def predict(tool, folder, rows, options=""):
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    run = subprocess.run(
        [tool, "--e2e", f"--configs={folder}", f"--engine-options={options}"],
        input=text.getvalue(),
        capture_output=True,
        text=True,
        check=True,
    )
    return list(csv.DictReader(io.StringIO(run.stdout)))


def degree(row, name):
    return float(row[name] or 1)


def naive_tpot(row, machine, config):
    """Milliseconds to read weights and caches once, or to multiply, whichever
    takes longer; nothing else."""
    at = lambda *names: next((config[n] for n in names if config.get(n)), 0)
    hidden, layers, heads = at("hidden_size"), at("num_hidden_layers"), at("num_attention_heads")
    size = 2 if not row["precision"] else {"fp8": 1, "fp4": 0.5625, "int4": 0.53}.get(row["precision"], 2)
    batch = float(row["concurrency"]) / degree(row, "attn_dp")
    devices = degree(row, "tp") * degree(row, "attn_dp")
    if at("kv_lora_rank"):
        cache = at("kv_lora_rank") + at("qk_rope_head_dim")
        attention = hidden * (at("q_lora_rank") + cache) + heads * 192 * at("q_lora_rank")
        attention += heads * (256 * at("kv_lora_rank") + 128 * hidden)
    else:
        dim, kv = at("head_dim") or hidden / heads, at("num_key_value_heads")
        cache = 2 * kv * dim
        attention = 2 * hidden * (heads + kv) * dim
    experts, topk = at("num_experts", "n_routed_experts"), at("num_experts_per_tok")
    network = 3 * hidden * (at("moe_intermediate_size") or at("intermediate_size"))
    read = network * experts * (1 - (1 - topk / experts) ** float(row["concurrency"])) if experts else network
    used = network * topk if experts else network
    numbers = layers * (attention / degree(row, "tp") + read / devices)
    context = float(row["isl"]) + float(row["osl"]) / 2
    moved = size * numbers + layers * batch * context * cache * min(size, 1) * 2 / max(1, degree(row, "tp"))
    flops = 2 * batch * layers * (attention / degree(row, "tp") + used * degree(row, "attn_dp") / devices)
    rate = machine["compute"]["bf16_flops_per_s"] * (2 if size < 2 else 1)
    return 1e3 * max(moved / machine["memory"]["bandwidth_bytes_per_s"], flops / rate)


def case_of(row):
    names = ("model", "system", "backend", "backend_version", "gemm_quant", "moe_quant", "isl", "osl", "source_kind")
    return tuple(row[name] for name in names)


def ratio_errors(rows):
    """Errors, in %, of the ratio of two configurations of a case."""
    cases = collections.defaultdict(list)
    for row in rows:
        cases[case_of(row)].append(np.log([float(row["predicted_tpot_ms"]), float(row["tpot_ms"])]))
    errors = []
    for points in cases.values():
        for one, other in itertools.combinations(points, 2):
            predicted, measured = one - other
            errors.append(100 * abs(predicted - measured))
    return errors


def choices(rows):
    """For the most tokens/s a device under a limit of TPOT: whether the pick
    holds it within 10 %, and the share of throughput that it loses."""
    cases = collections.defaultdict(list)
    for row in rows:
        devices = degree(row, "tp") * degree(row, "attn_dp")
        osl = float(row["osl"])
        speeds = [
            float(row["concurrency"]) * osl / (float(row[ttft]) + osl * float(row[tpot])) / devices
            for ttft, tpot in (("ttft_ms", "tpot_ms"), ("predicted_ttft_ms", "predicted_tpot_ms"))
        ]
        cases[case_of(row)].append((float(row["tpot_ms"]), float(row["predicted_tpot_ms"]), *speeds))
    holds, regrets = [], []
    for points in cases.values():
        for limit in LIMITS if len(points) > 1 else ():
            allowed = [point for point in points if point[1] <= limit]
            best = max((point[2] for point in points if point[0] <= limit), default=0)
            if not allowed or not best:
                continue
            pick = max(allowed, key=lambda point: point[3])
            holds.append(pick[0] <= 1.1 * limit)
            if holds[-1]:
                regrets.append(max(0, 1 - pick[2] / best))
    return 100 * np.mean(holds), 100 * np.mean(regrets)


def is_expert_model(row):
    return any(name in row["model"] for name in ("DeepSeek", "-A22B", "Kimi", "GLM"))


def ratio(row, what):
    return float(row[f"predicted_{what}_ms"]) / float(row[f"{what}_ms"])


def error_line(name, rows, what="tpot", bounds=None):
    errors = 100 * np.abs(np.array([ratio(row, what) for row in rows]) - 1)
    cells = [name, str(len(rows)), *(f"{v:.1f}" for v in (errors.mean(), np.median(errors), np.quantile(errors, 0.9)))]
    low, high = f"{what}_low_ms", f"{what}_high_ms"
    inside = np.mean([float(r[low]) <= float(r[f"{what}_ms"]) <= float(r[high]) for r in rows])
    cells.append(f"{100 * inside:.0f}")
    if bounds is not None:
        cells.append(f"{100 * np.mean(np.abs(np.array(bounds) - 1)):.1f}")
    return "| " + " | ".join(cells) + " |"


def table(rows, naive):
    """The lines of the page."""
    yield "| TPOT | runs | mean | median | p90 | inside band | naive roofline |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    groups = [("all", lambda row: True), ("dense", lambda row: not is_expert_model(row)), ("experts", is_expert_model)]
    groups += [(f"tp {tp}", lambda row, tp=tp: degree(row, "tp") == tp) for tp in (1, 2, 4, 8)]
    groups += [(engine, lambda row, e=engine: row["backend"] == e) for engine in ENGINES]
    names = sorted({(r["model"].split("/")[1], r["system"], r["backend"]) for r in rows})
    groups += [
        (" ".join(n), lambda r, n=n: (r["model"].split("/")[1], r["system"], r["backend"]) == n) for n in names
    ]
    for name, chosen in groups:
        picked = [i for i, row in enumerate(rows) if chosen(row)]
        if len(picked) >= 15:
            yield error_line(name, [rows[i] for i in picked], "tpot", [naive[i] for i in picked])
    yield ""
    yield "| TTFT | runs | mean | median | p90 | inside band |"
    yield "|---|---:|---:|---:|---:|---:|"
    for name, chosen in groups[:3] + groups[7:10]:
        yield error_line(name, [row for row in rows if chosen(row)], "ttft")
    yield ""
    yield "| choices | % |"
    yield "|---|---:|"
    dense = [row for row in rows if not is_expert_model(row)]
    experts = [row for row in rows if is_expert_model(row)]
    yield f"| ratio of two configurations of a case, dense, median error | {np.median(ratio_errors(dense)):.1f} |"
    yield f"| the same with experts | {np.median(ratio_errors(experts)):.1f} |"
    holds, regret = choices(rows)
    yield f"| misses of a TPOT limit by more than 10 % by the pick of most throughput | {100 - holds:.1f} |"
    yield f"| throughput that the pick loses to the best | {regret:.1f} |"


def scatter(rows, what, path):
    """Predicted against measured milliseconds, on logarithmic axes."""
    ends = np.log10([2, 200] if what == "tpot" else [20, 20000])
    place = lambda ms: (np.log10(ms) - ends[0]) / (ends[1] - ends[0]) * 400
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="-60 -20 500 490" font-family="sans-serif" font-size="13">']
    out.append('<rect x="-60" y="-20" width="500" height="490" fill="white"/>')
    out.append('<path d="M0 0H400V400H0Z M0 400L400 0" fill="none" stroke="#888"/>')
    decades = range(int(np.ceil(ends[0])), int(np.floor(ends[1])) + 1)
    for ms in sorted({m * 10**d for d in range(0, 5) for m in (1, 2, 5)} | {10**d for d in decades}):
        at = place(ms)
        if 0 <= at <= 400:
            out.append(f'<text x="{at:.0f}" y="417" text-anchor="middle">{ms}</text>')
            out.append(f'<text x="-6" y="{404 - at:.0f}" text-anchor="end">{ms}</text>')
    for engine in ENGINES:
        marks = sorted(
            {
                (round(place(float(row[f"{what}_ms"]))), 400 - round(place(float(row[f"predicted_{what}_ms"]))))
                for row in rows
                if row["backend"] == engine
            }
        )
        path_data = "".join(f"M{x} {y}h0" for x, y in marks if 0 <= x <= 400 and 0 <= y <= 400)
        out.append(
            f'<path d="{path_data}" stroke="{COLORS[engine]}" stroke-width="5" stroke-linecap="round" opacity="0.6"/>'
        )
    for i, engine in enumerate(ENGINES):
        out.append(f'<text x="12" y="{22 + 17 * i}" fill="{COLORS[engine]}">{engine}</text>')
    out.append(f'<text x="200" y="445" text-anchor="middle">measured {what.upper()}, ms</text>')
    out.append(f'<text transform="translate(-44 200) rotate(-90)" text-anchor="middle">predicted, ms</text></svg>')
    path.write_text("\n".join(out) + "\n")


def by_degree(rows, naive, path):
    """Predicted over measured TPOT by tp: the middle 80 % and the median."""
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="-60 -20 500 300" font-family="sans-serif" font-size="13">']
    out.append('<rect x="-60" y="-20" width="500" height="300" fill="white"/>')
    place = lambda value: 220 - 220 * min(value, 1.6) / 1.6
    for value in (0, 0.5, 1, 1.5):
        out.append(f'<path d="M0 {place(value):.0f}H420" stroke="#ccc"/>')
        out.append(f'<text x="-6" y="{place(value) + 4:.0f}" text-anchor="end">{value}</text>')
    for i, tp in enumerate((1, 2, 4, 8)):
        picked = [k for k, row in enumerate(rows) if degree(row, "tp") == tp]
        for shift, color, values in (
            (-16, "#2559a8", [ratio(rows[k], "tpot") for k in picked]),
            (16, "#999", [naive[k] for k in picked]),
        ):
            low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
            x = 60 + 100 * i + shift
            out.append(f'<path d="M{x} {place(low):.1f}V{place(high):.1f}" stroke="{color}" stroke-width="12"/>')
            out.append(f'<path d="M{x - 9} {place(middle):.1f}h18" stroke="black" stroke-width="2"/>')
        out.append(f'<text x="{60 + 100 * i}" y="240" text-anchor="middle">tp {tp}</text>')
    out.append('<text x="12" y="-4" fill="#2559a8">predicted / measured TPOT</text>')
    out.append('<text x="220" y="-4" fill="#777">the same of a naive roofline</text></svg>')
    path.write_text("\n".join(out) + "\n")


def disaggregated(tool, data, extra):
    """Predicted runs with readers and decoders apart, by whether their machine
    was measured itself."""
    return {
        f"disaggregated{name}": predicted(tool, data, extra, read_runs(data, "disagg", systems))
        for name, systems in (("", SYSTEMS), (" on machines like others", OTHERS))
    }


def never_fitted(tool, data, extra):
    """The same of models of `NEVER_FITTED`, by model and type of the weights."""
    found = collections.defaultdict(list)
    for row in predicted(tool, data, extra, read_runs(data, is_fitted=False)):
        found[f"never fitted, {row['model'].split('/')[1]} in {row['precision'] or 'bf16'}"].append(row)
    return dict(sorted(found.items()))


def predicted(tool, data, extra, runs):
    """Those of `runs` that have a config, with what is predicted of them."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        link_configs(data, extra, folder, sorted({row["model"] for row in runs}))
        runs = [row for row in runs if (folder / config_name(row["model"])).exists()]
        return [row for row in predict(tool, folder, runs) if row["predicted_tpot_ms"]] if runs else []


def other_table(found):
    yield ""
    yield "| other runs | runs | mean | median | p90 | inside band |"
    yield "|---|---:|---:|---:|---:|---:|"
    for name, rows in found.items():
        for what in ("tpot", "ttft") if rows else ():
            yield error_line(f"{what.upper()}, {name}", rows, what)


def measure(tool, data, machines, extra):
    """Predicted runs, the naive roofline's shares of them, and runs that have
    no config."""
    runs = read_runs(data)
    models = sorted({row["model"] for row in runs})
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        link_configs(data, extra, folder, models)
        configs = {model: folder / config_name(model) for model in models}
        known = {model: json.loads(path.read_text()) for model, path in configs.items() if path.exists()}
        known = {model: config.get("text_config", config) for model, config in known.items()}
        rows = predict(tool, folder, [row for row in runs if row["model"] in known])
    rows = [row for row in rows if row["predicted_tpot_ms"]]
    sheets = {system: json.loads((machines / f"{system}.json").read_text()) for system in SYSTEMS}
    naive = [naive_tpot(row, sheets[row["system"]], known[row["model"]]) / float(row["tpot_ms"]) for row in rows]
    return rows, naive, len(runs) - len(rows)
