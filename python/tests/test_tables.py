"""Tables of every verb fit a page, and lose nothing that a reader compares."""

import contextlib
import io
import json
import os
import random
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import shardopt as so
from shardopt.cli import main
from shardopt.tables import WIDTH, counted, kept, rows_as_table

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = ROOT / "examples/configs"
MODELS = ROOT / "examples/models"


def printed(*words):
    """Exit code and output of a command line at a terminal of 60 columns."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        with mock.patch.dict(os.environ, {"COLUMNS": "60"}):
            code = main([str(word) for word in words])
    return code, out.getvalue(), err.getvalue()


class RowsTest(unittest.TestCase):
    def test_a_table_is_no_wider_than_a_page_and_has_all_values(self):
        generator = random.Random(31)
        words = ["tp", "dispatch", "1 x tp 8", "x" * 30, "the fullest expert", "-"]
        for _ in range(200):
            names = generator.sample(["throughput", "tpot_ms", "gpus", "batch", "role"], 3)
            rows = [
                {**{name: generator.choice([3, 0.5, 1234.5678, True, "none"]) for name in names},
                 "why": " ".join(generator.choices(words, k=generator.randint(1, 40)))}
                for _ in range(generator.randint(1, 5))
            ]
            text = rows_as_table(rows)
            self.assertLessEqual(max(map(len, text.splitlines())), WIDTH)
            found = "".join(text.split())
            for row in rows:
                whole = row["why"].split()
                self.assertTrue(all(word in found for word in whole), row)

    def test_columns_are_aligned_and_missing_values_marked(self):
        text = rows_as_table([{"change": "tp", "tpot_ms": 1.5}, {"change": "more", "gpus": 8}])
        self.assertEqual(text.splitlines(), [
            "          TPOT,", "  change     ms  GPUs", "  tp        1.5     -",
            "  more        -     8",
        ])
        self.assertEqual(rows_as_table([]), "")

    def test_kept_words_break_only_where_they_do_not_fit(self):
        roles = " ".join(kept(f"{n} x tp 2 dp 16 ep 32 +") for n in range(1, 9))
        for line in rows_as_table([{"gpus": 8, "workers": roles}]).splitlines()[1:]:
            self.assertTrue(line.endswith("+"), line)
        self.assertIn("x" * 90, rows_as_table([{"why": "x" * 300}]))

    def test_one_of_a_thing_is_singular(self):
        self.assertEqual(counted(1, "GPU"), "1 GPU")
        self.assertEqual(counted("1", "pair of roles", "pairs of roles"), "1 pair of roles")
        for count in (0, 2, 0.5, "1.5"):
            self.assertEqual(counted(count, "GPU"), f"{count} GPUs")


class VerbsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def fits(self, *words, codes=(0,)):
        code, out, err = printed(*words)
        self.assertIn(code, codes, err)
        self.assertNotIn("Traceback", err)
        self.assertLessEqual(max(map(len, out.splitlines())), WIDTH, out)
        self.assertIsNone(re.search(r"\b1 (GPUs|pairs|layouts|plans|requests|loads|intervals)\b", out))
        return out

    def test_frontiers_and_changes(self):
        requests, context = ["--isl", 2000, "--osl", 300], ["--context", 4000]
        qwen, llama = CONFIGS / "qwen3-235b-a22b.json", CONFIGS / "llama-3.1-70b.json"
        small = MODELS / "small-mla.json"
        for model, gpus, load in (
            (qwen, 16, requests), (llama, 8, context), (small, 4, ["--context", 24]),
            (small, 4, ["--isl", 20, "--osl", 4, "--concurrency", 64]),
        ):
            with self.subTest(f"{model.stem} {load}"):
                asked = [model, "--machine", "h200_sxm", "--devices", gpus, *load]
                rows = json.loads(printed("pareto", *asked, "--step", 0.8, "--json")[1])
                out = self.fits("pareto", *asked, "--step", 0.8)
                for row in rows:
                    self.assertRegex(out, rf"(?m) {row['tpot_ms']:.3g} ")
                if model != qwen:
                    rows = json.loads(printed("sweep", *asked, "--json")[1])
                    out = self.fits("sweep", *asked)
                    for row in rows[1:]:
                        self.assertRegex(out, rf"(?m)^  {row['change']} ")

    def test_choices_of_lists_are_said(self):
        asked = [CONFIGS / "qwen3-235b-a22b.json", "--machine", "h200_sxm", "--devices", 16,
                 "--isl", 2000, "--osl", 300, "--weight-type", "bf16,fp8", "--engine", "any"]
        rows = json.loads(printed("pareto", *asked, "--step", 0.6, "--json")[1])
        self.assertLessEqual({"engine", "weight_type", "mode"}, rows[0].keys())
        out = self.fits("pareto", *asked, "--step", 0.6)
        for row in rows:
            self.assertIn(row["engine"], out)
            self.assertIn(row["weight_type"], out)

    def test_offers_and_services_without_a_plan(self):
        asked = [CONFIGS / "llama-3.1-70b.json", "--isl", 2000, "--osl", 300]
        out = self.fits("size", *asked, "--requests-per-s", 5, "--price", "h100_sxm=2",
                        "--price", "h200_sxm=3")
        self.assertIn("$ per", out)
        self.fits("plan", *asked, "--devices", 1, codes=(1, 3))

    def test_verbs_of_plans(self):
        asked = [CONFIGS / "qwen3-235b-a22b.json", "--machine", "h200_sxm", "--devices", 16,
                 "--isl", 2000, "--osl", 300]
        self.fits("plan", *asked, "--output-dir", self.folder)
        service = self.folder / "service.json"
        phase = so.plan(so.Problem(so.load_model(MODELS / "small-moe.json", so.Decode(24)),
                                   max_devices=4))
        other = self.folder / "decode.json"
        phase.to_json(other)
        strategies = self.folder / "strategies.jsonl"
        wrong = {**phase.strategy.to_dict(), "batch": 10**6}
        strategies.write_text(f"{json.dumps(phase.strategy.to_dict())}\n{json.dumps(wrong)}\n")
        for words in (["evaluate", service], ["explain", service], ["diff", service, service],
                      ["explain", service, "qkv_proj"], ["explain", other], ["diff", other, other],
                      ["evaluate", other], ["evaluate", other, "--strategies", strategies],
                      ["export", service, "--target", "shell", "-o", self.folder / "launch"],
                      ["check", self.folder / "launch"]):
            with self.subTest(words[0]):
                out = self.fits(*words)
                self.assertNotRegex(out, r"\bproducts\b")


if __name__ == "__main__":
    unittest.main()
