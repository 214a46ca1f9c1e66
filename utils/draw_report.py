#!/usr/bin/env python3
"""Takes the README's picture of a report: the page of its plan, down to the frontier.

Needs vl-convert-python (utils/requirements.txt) and chromium. Browsers differ in the
last pixels, so that no test compares the picture.
"""

import argparse
import pathlib
import shlex
import subprocess
import sys
import tempfile

from update_readme import FIRST

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/figures/report.png"
SIZE = (1000, 1240)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    args = parser.parse_args()
    command, *words = shlex.split(FIRST)
    command = args.build.resolve() / "bin" / command
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "page.html")
        subprocess.run([command, *words, "--output-dir", "plans"], check=True, cwd=folder)
        subprocess.run(
            [command, "report", "plans/service.json", "-o", page, "--no-sweep"], check=True,
            cwd=folder,
        )
        subprocess.run(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             f"--window-size={SIZE[0]},{SIZE[1]}", f"--user-data-dir={folder}/profile",
             "--virtual-time-budget=20000", f"--screenshot={PICTURE}", page.as_uri()],
            check=True, stderr=subprocess.DEVNULL,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
