"""Pages and their charts."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import shardopt as so

ROOT = Path(__file__).resolve().parents[2]
MOE = ROOT / "examples/models/small-moe.json"
HAS_CONVERTER = importlib.util.find_spec("vl_convert") is not None


def planned(**others):
    model = so.load_model(MOE, so.Decode(context=24))
    return so.plan(so.Problem(model, **{"max_devices": 4, **others}))


class ReadmeTest(unittest.TestCase):
    @unittest.skipUnless(HAS_CONVERTER, "vl-convert-python is not installed")
    def test_shows_the_front_of_today(self):
        command = [sys.executable, "utils/draw_front.py", "--check"]
        build = os.environ.get("SHARDOPT_BUILD", ROOT / "build")
        drawn = subprocess.run(
            [*command, f"--build={build}"], cwd=ROOT, capture_output=True, text=True
        )
        self.assertEqual(drawn.returncode, 0, drawn.stderr)


class ChartTest(unittest.TestCase):
    def test_specifications_hold_the_plan(self):
        plan = planned()
        found = so.charts(plan, so.pareto(plan.problem, step=0.5))
        self.assertEqual(list(found), ["front", "memory", "layer", "sharding"])
        parts = found["memory"]["layer"][0]["data"]["values"]
        ours = [row["GB"] for row in parts if row["plan"] == "this plan"]
        self.assertAlmostEqual(sum(ours), plan.metrics.memory_gb)
        grid = found["sharding"]["data"]["values"]
        self.assertEqual(
            [row["op"] for row in grid if row["plan"] == "this plan"],
            list(plan.problem.model.ops),
        )
        with self.assertRaisesRegex(so.ShardoptError, "known: memory"):
            so.chart(plan, "memoy")

    @unittest.skipUnless(HAS_CONVERTER, "vl-convert-python is not installed")
    def test_every_chart_has_marks(self):
        import vl_convert

        plan = planned(devices=2, max_devices=None)
        for name, spec in so.charts(plan, so.pareto(plan.problem, step=0.5)).items():
            with self.subTest(name):
                svg = vl_convert.vegalite_to_svg(spec)
                self.assertIn('aria-roledescription="', svg)
                self.assertGreater(svg.count("<path"), 3)


class PageTest(unittest.TestCase):
    def written(self, plan, path):
        with mock.patch("shardopt.pages._bundle", return_value="/* charts */"):
            so.report(plan, path)
        return path.read_text()

    def test_page_is_a_plan_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            plan = planned()
            text = self.written(plan, path)
            again = so.Plan.from_json(path)
            self.assertEqual(again.strategy, plan.strategy)
            self.assertEqual(again.report, plan.report)
            self.assertEqual(again.table, plan.table)
            self.assertFalse(re.findall(r'(?:src|href)\s*=', text))
            path.write_text("<html></html>")
            with self.assertRaisesRegex(so.ShardoptError, "a page without a plan"):
                so.Plan.from_json(path)

    def test_texts_of_others_end_nothing(self):
        plan = planned()
        odd = so.Plan(plan.problem, plan.strategy, plan.report, "</pre><b>", False,
                      ("</script><script>alert(1)",))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            text = self.written(odd, path)
            self.assertNotIn("<script>alert", text)
            self.assertNotIn("</pre><b>", text)
            self.assertEqual(so.Plan.from_json(path).command, odd.command)

    @unittest.skipUnless(HAS_CONVERTER, "vl-convert-python is not installed")
    def test_size_and_self_containment(self):
        text = so.page(planned())
        self.assertLess(len(text.encode()), 1.5e6)
        head = text[: text.index("<script>")]
        self.assertNotIn("http", head)

    @unittest.skipUnless(
        HAS_CONVERTER and shutil.which("chromium"),
        "vl-convert-python or chromium is not installed",
    )
    def test_a_browser_draws_every_chart(self):
        for is_dark in (False, True):
            with self.subTest(is_dark=is_dark):
                self.check_in_browser(is_dark)

    def check_in_browser(self, is_dark):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            so.report(planned(devices=2, max_devices=None), path)
            done = subprocess.run(
                ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
                 *(["--force-dark-mode"] if is_dark else []),
                 f"--user-data-dir={folder}/profile", "--enable-logging=stderr",
                 "--virtual-time-budget=20000", "--dump-dom", path.as_uri()],
                capture_output=True, text=True, timeout=240,
            )
        self.assertNotIn("CONSOLE", done.stderr)
        drawn = done.stdout[done.stdout.index("<figure") :]
        self.assertEqual('fill="#f4f4f4"' in drawn, is_dark)
        figures = re.findall(r'<figure id="(.*?)".*?</figure>', done.stdout, re.S)
        self.assertEqual(figures, ["front", "memory", "layer", "sharding"])
        self.assertEqual(done.stdout.count('class="marks"'), 4)

    @unittest.skipIf(HAS_CONVERTER, "vl-convert-python is installed")
    def test_missing_library_is_named(self):
        with self.assertRaisesRegex(so.ShardoptError, "pip install vl-convert-python"):
            so.page(planned())


class KeptReportTest(unittest.TestCase):
    def test_certificate_goes_with_an_edited_strategy(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.json"
            plan = planned()
            plan.to_json(path)
            self.assertEqual(so.Plan.from_json(path).bound, plan.bound)
            self.assertEqual(so.Plan.from_json(path).baselines, plan.baselines)
            values = json.loads(path.read_text())
            values["strategy"]["batch"] = 1
            path.write_text(json.dumps(values))
            again = so.Plan.from_json(path)
            self.assertEqual(again.strategy.batch, 1)
            self.assertEqual(again.report["best"]["strategy"]["batch"], 1)


if __name__ == "__main__":
    unittest.main()
