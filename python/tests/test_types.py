"""The package is typed, and its stub says what the planner has."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import shardopt as so

PACKAGE = Path(so.__file__).parents[1]


@unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
class TypesTest(unittest.TestCase):
    def checked(self, *words, known=()):
        with tempfile.TemporaryDirectory() as folder:
            if known:
                listed = Path(folder) / "known.txt"
                listed.write_text("\n".join(known) + "\n")
                words += ("--allowlist", str(listed))
            done = subprocess.run(
                [sys.executable, "-m", *words],
                cwd=PACKAGE,
                env={**os.environ, "MYPY_CACHE_DIR": folder},
                capture_output=True,
                text=True,
            )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_package(self):
        self.checked("mypy", "-p", "shardopt")

    def test_stub_of_the_planner(self):
        # pybind11's classes have a metaclass of their own, and one that is not
        # made from Python takes any arguments.
        module = "shardopt._shardopt"
        classes = [f"{module}.{name}" for name in ("Model", "Problem", "Search")]
        self.checked("mypy.stubtest", module, known=[*classes, f"{module}.Model.__init__"])


if __name__ == "__main__":
    unittest.main()
