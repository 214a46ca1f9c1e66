"""The manual page and the completion name what the command has."""

import shutil
import subprocess
import unittest

from shardopt import manual
from shardopt.cli import _VERBS


class ManualTest(unittest.TestCase):
    def test_page_has_every_verb_and_no_error(self):
        page = manual.man()
        for verb in _VERBS:
            self.assertIn(f".SH {verb.upper()}", page)
        self.assertIn("\\fB\\-\\-tpot\\fR \\fIMS[@p90]\\fR", page)
        if shutil.which("man"):
            done = subprocess.run(
                ["man", "--warnings", "-l", "-"], input=page, capture_output=True, text=True
            )
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_completion_completes(self):
        ask = 'COMP_WORDS=({0}); COMP_CWORD={1}; _shardopt; echo "${{COMPREPLY[@]}}"'
        for words, place, wanted in [
            ("shardopt expl", 1, "explain"),
            ("shardopt plan --tp", 2, "--tpot"),
            ("shardopt plan --format j", 3, "json"),
        ]:
            with self.subTest(words):
                done = subprocess.run(
                    ["bash", "-c", manual.bash() + ask.format(words, place)],
                    capture_output=True,
                    text=True,
                )
                self.assertEqual((done.stdout.strip(), done.stderr), (wanted, ""))


if __name__ == "__main__":
    unittest.main()
