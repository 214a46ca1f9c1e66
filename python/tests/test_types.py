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
    def checked(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-m", *words],
                cwd=PACKAGE,
                env={**os.environ, "MYPY_CACHE_DIR": folder},
                capture_output=True,
                text=True,
            )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_package(self):
        self.checked("mypy", "--strict-optional", "-p", "shardopt")

    def test_stub_of_the_planner(self):
        self.checked("mypy.stubtest", "--ignore-disjoint-bases", "shardopt._shardopt")


if __name__ == "__main__":
    unittest.main()
