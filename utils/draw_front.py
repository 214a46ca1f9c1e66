#!/usr/bin/env python3
"""Draws the front of the README: a chart of `shardopt report`, as a picture.

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


def draw():
    """The text of the picture."""
    import vl_convert

    from shardopt import Decode, Problem, load_model, pareto, plan
    from shardopt.figures import compared, front

    model = load_model(CONFIG, Decode(context=16384))
    problem = Problem(
        model,
        machine="a100_sxm",
        max_devices=512,
        space="uniform",
        simulator="roofline",
        tpot_ms=50,
    )
    found = plan(problem)
    spec = front(found, pareto(problem), compared(found))
    spec["width"] = 640
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
