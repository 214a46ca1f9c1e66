#!/usr/bin/env python3
"""Whether a finding shows with another file in its place: exit status 0, else 1.

usage: still_wrong.py <folder of the finding> <file>
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from fuzz.findings import still_wrong  # noqa: E402  (found through the line above)

sys.exit(0 if still_wrong(pathlib.Path(sys.argv[1]), sys.argv[2]) else 1)
