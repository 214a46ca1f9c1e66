#!/usr/bin/env python3
"""Takes the README's picture of a report: the upper part of the page of a planned service.

Needs vl-convert-python (utils/requirements.txt) and chromium. Browsers differ in the
last pixels, so that no test compares the picture.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/figures/report.png"
CONFIG = ROOT / "examples/configs/llama-3.1-70b.json"
SIZE = (1000, 1075)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    args = parser.parse_args()
    sys.path.insert(0, str(args.build.resolve() / "python"))
    from shardopt import Problem, load_model, pareto, plan, report

    asked = Problem(load_model(CONFIG), devices=8, isl=4096, osl=512, tpot_ms=30)
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "page.html")
        report(plan(asked), page, pareto(asked, step=0.1))
        subprocess.run(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             f"--window-size={SIZE[0]},{SIZE[1]}", f"--user-data-dir={folder}/profile",
             "--virtual-time-budget=20000", f"--screenshot={PICTURE}", page.as_uri()],
            check=True, stderr=subprocess.DEVNULL,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
