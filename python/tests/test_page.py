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
from shardopt import pages

ROOT = Path(__file__).resolve().parents[2]
MOE = ROOT / "examples/models/small-moe.json"
HAS_CONVERTER = importlib.util.find_spec("vl_convert") is not None


def planned(**others):
    model = so.load_model(MOE, so.Decode(context=24))
    return so.plan(so.Problem(model, **{"max_devices": 4, **others}))


def beside():
    """A plan, its front, what changes of its problem buy, and a search."""
    plan = planned(devices=2, max_devices=None, tpot_ms=20)
    return plan, so.pareto(plan.problem, step=0.5), so.sweep(plan.problem), so.searched(plan)


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
        self.assertEqual(list(found), ["front", "memory", "layer", "sharding", "devices"])
        parts = found["memory"]["layer"][0]["data"]["values"]
        ours = [row["GB"] for row in parts if row["plan"] == "this plan"]
        self.assertAlmostEqual(sum(ours), plan.metrics.memory_gb)
        grid = found["sharding"]["data"]["values"]
        self.assertEqual(
            [row["op"] for row in grid if row["plan"] == "this plan"],
            list(plan.problem.model.ops),
        )
        cells = found["devices"]["data"]["values"]
        self.assertEqual(
            [cell["device"] for cell in cells], list(range(plan.strategy.devices))
        )
        with self.assertRaisesRegex(so.ShardoptError, "known: memory"):
            so.chart(plan, "memoy")

    def test_a_grid_of_devices_has_their_nodes(self):
        model = so.load_model(ROOT / "examples/configs/llama-3.1-70b.json", so.Decode(context=64))
        pins = {"tp": 4, "pp": 2, "dp": 2, "ep": 2}
        grid = so.chart(so.plan(so.Problem(model, max_devices=16, pins=pins)), "devices")
        cells = grid["data"]["values"]
        self.assertEqual(len(cells), 16)
        self.assertEqual(
            {cell["stage"]: cell["node"] for cell in cells}, {0: 0, 1: 1}
        )
        self.assertEqual(grid["encoding"]["column"]["field"], "stage")

    def test_a_search_comes_up_to_the_bound(self):
        plan = planned()
        search = so.searched(plan)
        rows, found, bound = so.chart(plan, "convergence", search=search)["layer"]
        best = [row["best"] for row in rows["data"]["values"]]
        self.assertEqual(best, sorted(best))
        self.assertEqual(best[-1], search.best[1].throughput)
        self.assertEqual(found["data"]["values"][0]["best"], plan.metrics.throughput)
        self.assertLessEqual(best[-1], bound["data"]["values"][0]["bound"] * (1 + 1e-9))
        # The searcher that made a plan, as it made it.
        other = planned(searcher="random", budget=40, seed=3)
        again = so.searched(other)
        self.assertEqual((again.searcher, len(again.history)), ("random", 40))
        self.assertEqual(again.best[1].throughput, other.metrics.throughput)

    def test_what_changes_buy(self):
        plan = planned(tpot_ms=20)
        changes = so.sweep(plan.problem)
        bars = so.chart(plan, "sensitivity", changes=changes)["data"]["values"]
        self.assertEqual(
            [bar["change"] for bar in bars], [change.what for change in changes[1:]]
        )
        gains = {bar["change"]: bar["gain"] for bar in bars}
        self.assertGreater(gains["context 12"], 0)
        self.assertLess(gains["context 48"], 0)

    def test_a_timeline_has_the_layer(self):
        plan = planned()
        events = [each for each in so.timeline(plan)["traceEvents"] if each["ph"] == "X"]
        values = so.chart(plan, "layer")["data"]["values"]
        self.assertEqual([event["dur"] for event in events], [value["us"] for value in values])
        end = 0.0
        for event in events:
            self.assertEqual(event["ts"], end)
            self.assertEqual(event["tid"], int(event["cat"] == "collective"))
            end += event["dur"]

    def test_notebooks_draw_charts(self):
        chart = so.chart(planned(), "memory")
        (kind, spec), = chart._repr_mimebundle_().items()
        self.assertEqual((kind, spec), ("application/vnd.vegalite.v6+json", dict(chart)))

    @unittest.skipUnless(HAS_CONVERTER, "vl-convert-python is not installed")
    def test_every_chart_has_marks(self):
        import vl_convert

        for name, spec in so.charts(*beside()).items():
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

    def test_page_of_a_phase_begins_with_its_numbers(self):
        plan = planned()
        with mock.patch("shardopt.pages._bundle", return_value=""):
            head = pages.page(plan).split("<figure")[0]
        self.assertLess(head.index("tokens/s per GPU"), head.index("<dt>machine"))
        self.assertIn(f"{plan.metrics.tpot_ms:.4g} ms", head)

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
        text = so.page(*beside())
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

    @unittest.skipUnless(
        HAS_CONVERTER and shutil.which("chromium"),
        "vl-convert-python or chromium is not installed",
    )
    def test_a_browser_draws_a_service(self):
        model = so.load_model(MOE)
        asked = so.Problem(model, devices=2, isl=16, osl=8, mode="disaggregated")
        service = so.plan(asked)
        front = so.pareto(asked.replace(tpot_ms=1), step=0.9)
        changes = so.sweep(asked.replace(concurrency=8))
        drawn = self.drawn(service, front, changes)
        figures = re.findall(r'<figure id="(.*?)".*?</figure>', drawn, re.S)
        self.assertEqual(figures, ["front", "steps", "memory", "sensitivity"])
        self.assertEqual(drawn.count('class="marks"'), len(figures))
        head = drawn[: drawn.index("<figure")]
        for word in ("tokens/s per GPU", "prefill", "decode", "shardopt export"):
            self.assertIn(word, head)

    def drawn(self, *shown, is_dark=False):
        """What a browser makes of a page, on whose console is nothing."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            so.report(shown[0], path, *shown[1:])
            done = subprocess.run(
                ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
                 *(["--force-dark-mode"] if is_dark else []),
                 f"--user-data-dir={folder}/profile", "--enable-logging=stderr",
                 "--virtual-time-budget=20000", "--dump-dom", path.as_uri()],
                capture_output=True, text=True, timeout=240,
            )
        self.assertNotIn("CONSOLE", done.stderr)
        return done.stdout

    def check_in_browser(self, is_dark):
        page = self.drawn(*beside(), is_dark=is_dark)
        drawn = page[page.index("<figure") :]
        self.assertEqual('fill="#f4f4f4"' in drawn, is_dark)
        figures = re.findall(r'<figure id="(.*?)".*?</figure>', page, re.S)
        names = ["front", "memory", "layer", "sharding", "devices", "convergence"]
        self.assertEqual(figures, [*names, "sensitivity"])
        self.assertEqual(page.count('class="marks"'), len(figures))

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
