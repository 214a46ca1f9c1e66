"""What every command line does: help, pipes, terminals, places that cannot be written."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from shardopt.tables import fitted, rows_as_table
from shardopt.arguments import make_parser
from shardopt.setting_help import TEXTS
from shardopt.settings import KEYS

ROOT = Path(__file__).resolve().parents[2]
MOE = str(ROOT / "examples/models/small-moe.json")
PLAN = ["plan", MOE, "--max-devices", "4", "--context", "24"]
SERVICE = ["plan", str(ROOT / "examples/configs/llama-3.1-70b.json"), "--devices", "8",
           "--isl", "2000", "--osl", "300", "--tpot", "25"]


def run(*words, **given):
    """The process of a command line, at its end."""
    given.setdefault("env", dict(os.environ))
    return subprocess.run(
        [sys.executable, "-m", "shardopt", *map(str, words)],
        capture_output=True, text=True, encoding="utf-8", **given,
    )


class HelpTest(unittest.TestCase):
    def test_every_setting_is_described_in_one_line(self):
        self.assertEqual(set(TEXTS), set(KEYS))
        done = run("plan", "--help-all")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        for name in KEYS:
            self.assertTrue([line for line in lines if line.split()[:1] == [name]], name)
        self.assertLessEqual(max(map(len, lines)), 110)

    def test_help_names_the_manual_page_and_the_completion(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        last = done.stdout.splitlines()[-2:]
        self.assertEqual([line.split(":")[0] for line in last], ["manual page", "completion"])
        for kind in ("man", "bash"):
            made = subprocess.run([sys.executable, "-m", "shardopt.manual", kind], text=True,
                                  capture_output=True)
            self.assertIn("shardopt", made.stdout)

    def test_every_option_says_what_it_is(self):
        for name, verb in make_parser()[1].items():
            for action in verb._actions:
                with self.subTest(f"{name} {action.dest}"):
                    if action.option_strings:
                        self.assertTrue(action.help)
                        self.assertLessEqual(len(action.help), 72)

    def test_unknown_settings_list_all_in_order_of_nearness(self):
        done = run(*PLAN, "--set", "tpot=30")
        self.assertEqual(done.returncode, 2)
        known = done.stderr.split("known: ")[1].partition(";")[0].split(", ")
        self.assertEqual(set(known), set(KEYS))
        self.assertIn("tpot_ms", known[:3])


class OutputTest(unittest.TestCase):
    def test_json_is_a_format_of_every_verb(self):
        for words in (PLAN, SERVICE):
            with self.subTest(words):
                short, long = run(*words, "--json"), run(*words, "--format", "json")
                self.assertEqual((short.returncode, short.stderr), (0, ""))
                self.assertEqual(json.loads(short.stdout).keys(), json.loads(long.stdout).keys())
        for name, verb in make_parser()[1].items():
            options = {option for action in verb._actions for option in action.option_strings}
            self.assertLessEqual({"--json", "--quiet"}, options, name)

    def test_tables_fit_100_columns(self):
        moe = ["plan", ROOT / "examples/configs/qwen3-235b-a22b.json", "--machine", "h200_sxm"]
        requests = ["--isl", "2000", "--osl", "300"]
        for words in (
            [*SERVICE, "--ops"],
            [*moe, *requests, "--devices", "16", "--prefill-machine", "h100_sxm",
             "--prefill-devices", "8", "--ops"],
            [*moe, "--devices", "16", "--context", "8192"],
            [*PLAN, "--engine", "vllm"],
        ):
            with self.subTest(words):
                done = run(*words)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                # A phase's sentences are those of the pass, which breaks none.
                table = re.sub(r"(?m)^  (interval|batches|engines|search) .*$", "", done.stdout)
                self.assertLessEqual(max(map(len, table.splitlines())), 100)

    def test_a_broken_line_continues_below_its_first_word(self):
        value = " ".join(["word"] * 40)
        for name in ("bound by    ", "decode step ", "search    ", "simulator "):
            lines = fitted(f"  {name}{value}").splitlines()
            self.assertEqual(" ".join(line.strip() for line in lines), f"{name}{value}")
            self.assertEqual({line.index("word") for line in lines}, {2 + len(name)})
        for line in (f"  {'word' * 40}", f"    {'ab ' * 60}|"):
            self.assertEqual(fitted(line), line)

    def test_prose_fits_a_narrow_terminal_and_rows_of_numbers_stay_whole(self):
        row = "  prefill        2   2   1   1   1     4          1         70.6  0.671      72"
        prose = "  why         " + "word " * 30 + "end"
        terminal = mock.Mock(isatty=lambda: True)
        for columns in (48, 60, 100, 300):
            with mock.patch.dict(os.environ, {"COLUMNS": str(columns)}), mock.patch("sys.stdout", terminal):
                self.assertEqual(fitted(row), row)
                lines = fitted(prose).splitlines()
                table = rows_as_table([{"gpus": 8, "why": "word " * 30}]).splitlines()
            self.assertEqual(" ".join(" ".join(lines).split()), " ".join(prose.split()))
            self.assertLessEqual(max(map(len, lines + table)), min(columns, 100))

    def test_a_plain_locale_and_a_narrow_terminal_change_nothing(self):
        usual = run(*SERVICE)
        self.assertNotIn("\x1b", usual.stdout + usual.stderr)  # no terminal, no colours
        for changes in ({"LANG": "C", "LC_ALL": "C"}, {"COLUMNS": "60"}, {"TERM": "dumb"}):
            with self.subTest(changes):
                found = run(*SERVICE, env={**os.environ, **changes})
                self.assertEqual((found.returncode, found.stderr), (0, ""))
                self.assertEqual(found.stdout, usual.stdout)

    def test_a_locale_without_unicode_prints_all(self):
        plain = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
        for words in (["plan", "--help-all"], ["--help"], PLAN):
            usual, found = run(*words), run(*words, env=plain)
            self.assertEqual((found.returncode, found.stderr), (0, ""), words)
            told = usual.stdout.encode("ascii", "backslashreplace").decode()
            self.assertEqual(found.stdout, told)

    def test_a_pipe_that_closes_ends_a_command_without_a_traceback(self):
        with subprocess.Popen(
            [sys.executable, "-m", "shardopt", *SERVICE],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as process:
            process.stdout.close()
            self.assertNotIn("Traceback", process.stderr.read())

    @unittest.skipUnless(Path("/dev/full").exists(), "the system has no full device")
    def test_a_full_disk_is_one_line(self):
        for words in (["--help"], PLAN):
            with open("/dev/full", "w") as full:
                done = subprocess.run([sys.executable, "-m", "shardopt", *map(str, words)], stdout=full,
                                      stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(
                done.stderr, "error: the output cannot be written: No space left on device\n")

    def test_places_that_cannot_be_written_are_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            taken = Path(folder, "file")
            taken.write_text("")
            done = run(*PLAN, "--output-dir", taken / "plans")
            self.assertIn(done.returncode, (1, 2))
            self.assertEqual(done.stderr, f"error: '{taken}/plans': Not a directory\n")
            home = {**os.environ, "HOME": str(taken / "none"), "XDG_CACHE_HOME": str(taken / "none")}
            self.assertEqual(run(*PLAN, env=home).returncode, 0)


if __name__ == "__main__":
    unittest.main()
