#!/usr/bin/env python3
"""Memory, TPOT and throughput of quantized models beside bf16.

Plans services of published checkpoints, and of the same models in bf16 on the
fewest GPUs that hold them, and prints the table of docs/Quantization.md; --write
puts it there, --check fails where it differs.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile

from marked import printed, with_part

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/Quantization.md"
MARKERS = ("<!-- quantization -->", "<!-- end of quantization -->")

AWQ = {
    "quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm",
    "zero_point": True, "modules_to_not_convert": None,
}
NVFP4 = {
    "quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"],
    "kv_cache_scheme": {"dynamic": False, "num_bits": 8, "type": "float"},
}
# Of DeepSeek-R1 in NVFP4 attention stays as it is.
NVFP4_EXPERTS = {**NVFP4, "ignore": ["lm_head", "model.layers.*.self_attn*"]}

LLAMA, DEEPSEEK = "meta-llama--Meta-Llama-3.1-70B", "deepseek-ai--DeepSeek-V3"
GPT_OSS = "openai--gpt-oss-120b"
# Name, config, its quantization, machine, GPUs, and the published bytes with
# where they are from: None where the config says the quantization itself.
CASES = [
    ("Llama-3.1-70B, AWQ int4", LLAMA, AWQ, "h100_sxm", 1, (35 * 2**30, "card of AWQ-INT4: about 35 GiB")),
    ("Llama-3.1-70B, NVFP4", LLAMA, NVFP4, "b200_sxm", 1, (141.1e9 / 3.3, "card of FP4: 3.3 times less than bf16")),
    ("DeepSeek-V3, NVFP4", DEEPSEEK, NVFP4_EXPERTS, "b200_sxm", 8, (671e9 / 1.6, "card of R1-FP4: 1.6 times less than fp8")),
    ("DeepSeek-V3, fp8 in blocks", DEEPSEEK, None, "h200_sxm", 8, (671e9, "weights' README: 671e9, of a byte each")),
    ("gpt-oss-120b, mxfp4", GPT_OSS, None, "h100_sxm", 1, (60.8 * 2**30, "model card: 60.8 GiB")),
    ("gpt-oss-120b, mxfp4", GPT_OSS, None, "b200_sxm", 1, (60.8 * 2**30, "model card: 60.8 GiB")),
]
LOAD = {"isl": 1000, "osl": 1000}
TPOT_MS, IN_FLIGHT = 30, 16
HEAD = (
    "| model | machine | GPUs | weights, GB | published, GB | TPOT, ms | tokens/s per GPU | bf16: GPUs | weights, GB | TPOT, ms"
    " | tokens/s per GPU |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
)


def weight_bytes(so, model):
    """Of all weights, on one device that has room for any."""
    with tempfile.TemporaryDirectory() as folder:
        machine = pathlib.Path(folder, "large.json")
        machine.write_text(json.dumps({"name": "large", "like": "b200_sxm", "memory": {"capacity_bytes": 1e14}}))
        problem = so.Problem(
            model, machine=str(machine), max_devices=1, tpot_ms=float("inf"), pins={"tp": 1, "batch": 1}
        )
        return so.plan(problem).report["best"]["memory_parts_gb"]["weights"] * 1e9


def best(so, model, machine, devices):
    """TPOT with few requests in flight, and the most tokens/s per GPU within the
    limit; None where the model does not fit."""
    asked = dict(machine=machine, devices=devices, engine="vllm", **LOAD)
    ask = lambda **others: so.plan(so.Problem(model, **asked, **others)).metrics
    try:
        few = ask(concurrency=IN_FLIGHT, tpot_ms=1e4, ttft_ms=1e6)
        many = ask(tpot_ms=TPOT_MS, ttft_ms=2000)
    except so.Infeasible:
        return None
    return few.tpot_ms, many.tokens_per_s_per_gpu


def fitting(so, model, machine, devices):
    """The fewest GPUs from `devices` on that hold the model, doubled each time."""
    while devices <= 64:
        if found := best(so, model, machine, devices):
            return devices, *found
        devices *= 2
    return None


def lines(so, configs):
    yield HEAD
    for name, config, method, machine, devices, (published, source) in CASES:
        values = json.loads((configs / f"{config}_config.json").read_text())
        if method:
            values["quantization_config"] = method
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "config.json")
            path.write_text(json.dumps(values))
            load = lambda **types: so.load_model(path, so.Decode(LOAD["isl"] + LOAD["osl"]), **types)
            small, plain = load(), load(weight_type="bf16", kv_type="bf16")
            found = fitting(so, small, machine, devices)
            other = fitting(so, plain, machine, devices)
            cells = [name, machine, str(found[0]), f"{weight_bytes(so, small) / 1e9:.1f}", f"{published / 1e9:.1f} ({source})"]
            cells += [f"{found[1]:.1f}", f"{found[2]:.0f}"]
            cells += [str(other[0]), f"{weight_bytes(so, plain) / 1e9:.1f}", f"{other[1]:.1f}", f"{other[2]:.0f}"]
        yield "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(prog="./dev bench quantization", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--write", action="store_true", help="the table of docs")
    parser.add_argument("--check", action="store_true", help="fail where the table of docs differs")
    args = parser.parse_args()
    folder = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT / "../shared/data")) / "configs"
    if not folder.is_dir():
        sys.exit(f"{folder}: no such folder; SHARDOPT_DATA says where its parent is")
    sys.path.insert(0, str(args.build.resolve() / "python"))
    import shardopt as so

    table = printed(lines(so, folder))
    text = PAGE.read_text()
    now = with_part(text, *MARKERS, table)
    if args.check and now != text:
        sys.exit(f"{PAGE}: not what is measured now; ./dev bench quantization --write")
    if args.write:
        PAGE.write_text(now)


if __name__ == "__main__":
    main()
