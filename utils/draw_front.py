#!/usr/bin/env python3
"""Draws the figure of the README: throughput against TPOT of the planned layouts and of usual
ones, on the same GPUs, requests, SLO and cost model.

Needs vl-convert-python, which utils/requirements.txt pins, and says so where it is
missing. The same versions give the same bytes; with --check they are compared.
"""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURE = ROOT / "docs/figures/front.svg"
CONFIG = ROOT / "examples/configs/qwen3-235b-a22b.json"
VEGA_LITE = "6.1"
#: What each curve may choose, besides the number of requests in flight.
CURVES = {
    "shardopt: any layout, any workers": {},
    "2 workers, TP 8 with EP 8": {"tp": 8, "pp": 1, "dp": 1, "ep": 8},
    "2 workers, TP 8": {"tp": 8, "pp": 1, "dp": 1, "ep": 1},
    "1 worker, TP 16 with EP 16": {"tp": 16, "pp": 1, "dp": 1, "ep": 16},
}


def draw():
    """The text of the picture."""
    import vl_convert

    from shardopt import Problem, load_model, pareto
    from shardopt.figures import SCHEMA

    asked = Problem(
        load_model(CONFIG), machine="h100_sxm", devices=16, isl=4096, osl=512,
        tpot_ms=80, ttft_ms=2000,
    )
    values = [
        {"curve": name, "tpot": one.metrics.tpot_ms, "throughput": one.metrics.tokens_per_s_per_gpu}
        for name, pins in CURVES.items()
        for one in pareto(asked.replace(pins=pins), step=0.1)
    ]
    spec = {
        "$schema": SCHEMA,
        "title": {
            "text": "Qwen3-235B-A22B on 16 H100, bf16, measured kernels",
            "subtitle": "4096 prompt and 512 output tokens per request, mean TTFT of at most 2 s",
            "anchor": "start",
        },
        "data": {"values": values},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "tpot", "type": "quantitative", "title": "mean TPOT, ms"},
            "y": {"field": "throughput", "type": "quantitative", "title": "tokens/s per GPU"},
            "color": {"field": "curve", "type": "nominal", "title": None, "sort": list(CURVES)},
        },
        "width": 480,
        "height": 280,
    }
    return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--check", action="store_true", help="fail on a difference")
    args = parser.parse_args()
    sys.path.insert(0, str(args.build.resolve() / "python"))
    try:
        svg = draw()
    except ImportError as error:
        print(f"{FIGURE.name} is not drawn: {error}", file=sys.stderr)
        return 0
    if FIGURE.exists() and FIGURE.read_text() == svg:
        return 0
    if args.check:
        print(f"{FIGURE} is another picture: run ./dev docs", file=sys.stderr)
        return 1
    FIGURE.write_text(svg)
    return 0


if __name__ == "__main__":
    sys.exit(main())
