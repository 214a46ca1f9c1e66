#!/usr/bin/env python3
"""What redundant experts gain under uneven loads of experts, against published runs.

Plans services of DeepSeek-V3 under Zipf loads, with EPLB and without, and prints
the tables of docs/DegreesMeasured.md; --write puts them there, --check fails where they
differ. The published runs: DeepSeek-V4-Pro on 8 x MI355X (ROCm/ATOM#1210), and
DeepSeek's own service (open-infra-index, day 6).
"""

import argparse
import math
import os
import pathlib
import sys

from marked import printed, with_part

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/DegreesMeasured.md"
MARKERS = ("<!-- expert loads -->", "<!-- end of expert loads -->")
CONFIG = "deepseek-ai--DeepSeek-V3_config.json"

#: Measured requests per second of prefill, by layout of the experts.
ONE_NODE = {
    "experts sharded (ep 1)": ({"ep": 1}, 6.97),
    "EP 8, EPLB off": ({"ep": 8, "eplb": "off"}, 6.48),
    "EP 8, EPLB, no replicas": ({"ep": 8, "eplb": "0"}, 6.48 * 1.167),
    "EP 8, EPLB, 64 replicas": ({"ep": 8, "eplb": "8"}, 8.68),
}
EXPONENTS = (0.2, 0.4, 0.6, 0.8)

#: Of DeepSeek's requests: prompts and answers whose cache has 4 989 tokens in the
#: mean with 3.62 tokens of prompt for one of answer, and 56.3 % of prompts cached.
REQUESTS = {"isl": 4383, "osl": 1211, "prefix_cache_hit_rate": 0.563}
DECODE_NODES, TOKENS_PER_NODE = 18, 14800


def one_node(so, model):
    """Prefill on eight GPUs, as shares of that with EP and without EPLB."""
    yield "| layout of the experts | measured | " + " | ".join(f"zipf:{a}" for a in EXPONENTS) + " |"
    yield "|---|--:|" + "--:|" * len(EXPONENTS)

    def rate(pins, exponent):
        found = so.plan(so.Problem(
            model, machine="b200_sxm", devices=8, engine="vllm", isl=8192, osl=1, mode="aggregated",
            ttft_ms=math.inf, tpot_ms=math.inf, expert_load=f"zipf:{exponent}",
            pins={"workers": 1, **pins, **({} if pins.get("eplb", "off") == "off" else {"eplb": ["off", 0]})},
        ))
        roles = {"serve": {**so.services.given_role(found.roles[0]), "eplb": pins.get("eplb", "off")}}
        report, _ = so.services.evaluate_roles(found, roles)
        return report["aggregated"]["requests_per_s"]

    base, rates = "EP 8, EPLB off", {}
    for name, (pins, _) in ONE_NODE.items():
        rates[name] = [rate(pins, exponent) for exponent in EXPONENTS]
    for name, (_, measured) in ONE_NODE.items():
        shares = [f"{one / other:.2f}" for one, other in zip(rates[name], rates[base])]
        yield f"| {name} | {measured / ONE_NODE[base][1]:.2f} | " + " | ".join(shares) + " |"


def large(so, model):
    """DeepSeek's layout, and the best of as many GPUs."""
    yield "| load | layout | tokens/s per decode node | tokens/s per GPU | TPOT, ms | TTFT, ms |"
    yield "|---|---|--:|--:|--:|--:|"
    wide = {
        "prefill.workers": 3, "prefill.tp": 1, "prefill.dp": 32, "prefill.ep": 32, "prefill.pp": 1,
        "decode.workers": 1, "decode.tp": 1, "decode.dp": 144, "decode.ep": 144, "decode.pp": 1,
        "exchange": "all_to_all",
    }
    their = {**wide, "prefill.eplb": "1", "decode.eplb": "0"}

    def plan(load, pins):
        return so.plan(so.Problem(
            model, machine="h100_sxm", devices=240, engine="sglang", mode="disaggregated", tpot_ms=50,
            ttft_ms=10000, expert_load=load, pins=pins, **REQUESTS,
        ))

    yield f"| measured | prefill EP32, decode EP144, 32 replicas each | {TOKENS_PER_NODE} | | 45 - 50 | |"
    for exponent in (0.4, 0.8):
        for name, pins in [("DeepSeek's", their), ("best", {})]:
            found = plan(f"zipf:{exponent}", pins)
            metrics = found.metrics
            decode = found.roles[-1]
            nodes = decode.gpus / 8
            layout = name if pins else "best: " + ", ".join(
                f"{role.name} {role.workers} x {so.service_parts.layout_of(role.strategy)}" for role in found.roles
            )
            yield (
                f"| zipf:{exponent} | {layout} | {metrics.requests_per_s * REQUESTS['osl'] / nodes:.0f} |"
                f" {metrics.tokens_per_s_per_gpu:.0f} | {metrics.tpot.mean:.1f} | {metrics.ttft.mean:.0f} |"
            )


def main():
    parser = argparse.ArgumentParser(prog="bench/expert_loads.py", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--write", action="store_true", help="the tables of docs")
    parser.add_argument("--check", action="store_true", help="fail where the tables of docs differ")
    args = parser.parse_args()
    config = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT / "../shared/data")) / "configs" / CONFIG
    if not config.is_file():
        sys.exit(f"{config}: no such file; SHARDOPT_DATA says where its folder's parent is")
    sys.path.insert(0, str(args.build.resolve() / "python"))
    import shardopt as so

    model, parts = so.load_model(config), []
    for table in (one_node, large):
        parts.append(printed(table(so, model)))
        print()
    now = with_part(PAGE.read_text(), *MARKERS, "\n\n".join(parts))
    if args.check and now != PAGE.read_text():
        sys.exit(f"{PAGE}: not what is computed now; bench/expert_loads.py --write")
    if args.write:
        PAGE.write_text(now)


if __name__ == "__main__":
    main()
