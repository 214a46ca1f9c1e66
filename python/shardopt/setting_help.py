"""What `--help-all` says of every setting."""

from __future__ import annotations

import argparse
from typing import Any

#: By name, in the order in which they are listed: what `--set NAME=VALUE` changes.
TEXTS = {
    "model": "config.json, a folder with one, a Hub id, a name, a module (.mlir), or a plan file",
    "machine": "machine name or JSON file (default: h100_sxm)",
    "devices": "available GPUs; throughput is per available GPU",
    "max_devices": "maximum GPUs per plan",
    "isl": "prompt tokens of a request (plans a service, with osl)",
    "osl": "output tokens of a request (plans a service, with isl)",
    "lengths": "of requests that differ: a list of [isl, osl, share]",
    "dims": "of a phase: shared (default), per-window or per-layer",
    "context": "context in tokens (plans one phase)",
    "phase": "decode (default) or prefill, with context",
    "tpot_ms": "TPOT SLO in ms (default: 50; inf: none)",
    "ttft_ms": "TTFT SLO in ms (default: 2000; inf: none)",
    "tpot_percentile": "percentile of the TPOT SLO: 50, 90 or 99 (default: the mean)",
    "ttft_percentile": "percentile of the TTFT SLO: 50, 90 or 99 (default: the mean)",
    "concurrency": "requests in flight (default: as many as pay)",
    "rate": "request rate in req/s",
    "draft_tokens": "speculative tokens per step, a number or a list",
    "accepted_tokens": "mean accepted speculative tokens per step, a number or a list",
    "acceptance": "instead: share of steps that accept the first, second, … draft, or one chance",
    "draft_layers": "MTP layers that draft (default: those of the model's config)",
    "draft_parameters": "parameters of another draft head, in 1e9",
    "prefix_cache_hit_rate": "prefix-cache hit rate, from 0 to 0.999",
    "expert_imbalance": "expert imbalance: load of the fullest EP rank over the mean, minus 1",
    "expert_load": "expert load: zipf:A, or a file of shares (default: even)",
    "mode": "best (default), aggregated or disaggregated",
    "prefill_machine": "machine of prefill workers, name or JSON file",
    "prefill_devices": "GPUs of the prefill machine, in addition to devices",
    "decode_machine": "machine of decode workers, with prefill_machine",
    "chunk": "prompt tokens per step, a number or a list (default: 8192)",
    "weight_type": "weight type: bf16, f16, f32, fp8, fp8_block, int8, int4, nvfp4, mxfp4",
    "kv_type": "KV-cache type: bf16, f16, f32 or fp8",
    "weight_types": "weight types to choose from",
    "kv_types": "KV-cache types to choose from",
    "price": "price of a GPU in $ per hour",
    "prefill_price": "price of a GPU of the prefill machine per hour",
    "objective": "throughput (default), of a phase latency, of a service goodput",
    "space": "of a phase: serving (default) or uniform",
    "engine": "vllm (default of a service), sglang, trtllm, any; of a phase transformers, none",
    "simulator": "auto, roofline, calibrated, procedural:<setting>, exec:<command>, plugin:<file>",
    "simulator_timeout_s": "timeout of an exec: or plugin: simulator per strategy, in s",
    "partition": "division of layers over stages: even (default) or balanced",
    "pins": "fixed values: pins.tp=8, pins.decode.tp=8, pins.qkv_*=heads",
    "searcher": "of a phase: exact (default), surrogate, ppo, random, …",
    "budget": "maximum evaluations of a searcher (default: 4000)",
    "seed": "random seed of a searcher (default: 0)",
}


def settings_help() -> str:
    """One line for each setting."""
    width = max(map(len, TEXTS))
    lines = [f"  {name:<{width}}  {text}" for name, text in TEXTS.items()]
    return "\n".join(["settings of --set NAME=VALUE and of --config:", *lines, ""])


class HelpAll(argparse.Action):
    """`--help-all`: the help of a verb, and every setting."""

    def __init__(self, option_strings: Any, dest: str, **given: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, **given)

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        print(parser.format_help())
        print(settings_help(), end="")
        parser.exit()
