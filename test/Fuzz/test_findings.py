"""Findings are kept once, and made smaller."""

import pathlib
import sys
import tempfile
import unittest

from fuzz import findings, process
from fuzz.cases import Command

CRASHES_ON_BAD = "import os, sys; 'bad' in open(sys.argv[1]).read() and os.abort()"


class Keep(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)

    def add(self, kept, text):
        case = self.folder / "case"
        case.mkdir(exist_ok=True)
        (case / "in.txt").write_text(text)
        limits = process.Limits(address_bytes=0)
        command = Command([sys.executable, "-c", CRASHES_ON_BAD, "in.txt"], "in.txt")
        outcome = process.run(command.words, case, limits)
        what = process.blame(command.words, outcome, limits)
        return kept.add(what, command, case, "text 1/1", limits, outcome)

    def test_a_text_is_reduced_to_what_matters(self):
        kept = findings.Findings(self.folder / "kept", {}, reduces=True)
        folder = self.add(kept, "".join(f"line {i}\n" for i in range(20)) + "bad\nend\n")
        self.assertEqual((folder / "files/in.txt").read_text(), "bad\n")
        self.assertTrue(findings.still_wrong(folder, folder / "files/in.txt"))

    def test_the_same_is_kept_once(self):
        kept = findings.Findings(self.folder / "kept", {}, reduces=False)
        self.assertIsNotNone(self.add(kept, "bad"))
        self.assertIsNone(self.add(kept, "very bad"))
        self.assertEqual(len(kept.seen), 1)


if __name__ == "__main__":
    unittest.main()
