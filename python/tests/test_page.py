"""Pages and their charts."""

import html
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
from shardopt.service_figures import charts_of_service

ROOT = Path(__file__).resolve().parents[2]
MOE = ROOT / "examples/models/small-moe.json"
HAS_CONVERTER = importlib.util.find_spec("vl_convert") is not None


def planned(**others):
    model = so.load_model(MOE, so.Decode(context=24))
    return so.plan(so.Problem(model, **{"max_devices": 4, **others}))


def served():
    """A disaggregated service."""
    asked = so.Problem(so.load_model(MOE), devices=2, isl=16, osl=8, mode="disaggregated")
    return so.plan(asked)


def beside():
    """A plan, its front, what changes of its problem buy, and a search."""
    plan = planned(devices=2, max_devices=None, tpot_ms=20)
    return plan, so.pareto(plan.problem, step=0.5), so.sweep(plan.problem), so.searched(plan)


#: What of a page lies beyond its edges, told to the page around it once charts are drawn.
_BEYOND = """
setTimeout(() => {
  const beyond = [...document.body.querySelectorAll("*")].filter(one => {
    const box = one.getBoundingClientRect();
    if (one.ownerSVGElement && one.tagName != "text") return false;
    return box.width > 0 && (box.right > innerWidth + 1 || box.left < -1);
  });
  // Texts in cells, and names of columns that do not stand askew, too near to each other.
  const groups = document.querySelectorAll(".mark-text.role-mark, .mark-text.role-axis-label");
  const over = [...groups].flatMap(group => {
    const texts = [...group.querySelectorAll("text")].filter(
      one => /[a-z]/.test(one.textContent) && !/rotate\(-?[1-9]/.test(one.getAttribute("transform")));
    const boxes = texts.map(one => one.getBoundingClientRect());
    return texts.filter((one, i) => boxes.some((box, j) => j < i && box.width > 0 &&
      box.left < boxes[i].right + 1 && boxes[i].left < box.right + 1 &&
      box.top < boxes[i].bottom - 4 && boxes[i].top < box.bottom - 4));
  });
  parent.postMessage({width: document.documentElement.scrollWidth,
    over: over.slice(0, 4).map(one => one.textContent), beyond: beyond.slice(0, 4).map(one => `${one.tagName} ${one.textContent.slice(0, 60)}`)}, "*");
}, 8000);
"""


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

    def test_no_service_lies_above_the_frontier(self):
        """The plan is one of its points, and the best of the other mode no better than one."""
        service = so.plan(so.Problem(
            so.load_model(ROOT / "examples/configs/llama-3.1-70b.json"), machine="h100_sxm", devices=8,
            isl=4096, osl=512, tpot_ms=30, tpot_percentile=90, ttft_ms=2000, ttft_percentile=90,
            engine="vllm"))
        front = so.pareto(service.problem, step=0.3)
        line, points = (
            [(one["tokens_per_s_per_user"], one["tokens_per_s_per_gpu"]) for one in layer["data"]["values"]]
            for layer in charts_of_service(service, front)["front"]["layer"][:2]
        )
        self.assertEqual(len(points), 2)
        self.assertIn(points[0], line)
        for speed, rate in points:
            self.assertTrue(any(speed <= most[0] and rate <= most[1] for most in line), (speed, rate))
        self.assertEqual(line, sorted(line))
        self.assertEqual([speed for speed, _ in line], sorted({speed for speed, _ in line}))
        self.assertEqual([rate for _, rate in line], sorted({rate for _, rate in line}, reverse=True))

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
        found = chart._repr_mimebundle_()
        self.assertEqual(found["application/vnd.vegalite.v6+json"], dict(chart))
        self.assertEqual("image/png" in found, HAS_CONVERTER)
        fake = mock.Mock()
        fake.Chart.from_dict.return_value._repr_mimebundle_.return_value = (
            {"text/html": "<b>", "application/x": 1}, {}
        )
        with mock.patch.dict(sys.modules, altair=fake):
            self.assertEqual(chart._repr_mimebundle_()["text/html"], "<b>")
        with mock.patch.dict(sys.modules, altair=None):
            self.assertNotIn("text/html", chart._repr_mimebundle_())
            with self.assertRaisesRegex(so.ShardoptError, "pip install altair"):
                chart.altair()

    def test_notebooks_show_the_head_of_the_page(self):
        for plan in (planned(), served()):
            with mock.patch("shardopt.pages._bundle", return_value=""):
                text = pages.page(plan)
            head = plan._repr_html_().split('<div class="shardopt">')[1]
            self.assertNotIn("<pre>", head)
            self.assertIn(head.replace("plan.json", "PAGE.html"), text)
            self.assertLess(head.index("tokens/s per GPU"), head.index("shardopt export"))
            self.assertLess(head.index("shardopt export"), head.index("<dl>"))

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
        service = served()
        asked = service.problem
        front = so.pareto(asked.replace(tpot_ms=1), step=0.9)
        changes = so.sweep(asked.replace(concurrency=8))
        drawn = self.drawn(service, front, changes)
        figures = re.findall(r'<figure id="(.*?)".*?</figure>', drawn, re.S)
        self.assertEqual(figures, ["front", "steps", "layer", "memory", "sensitivity"])
        self.assertEqual(drawn.count('class="marks"'), len(figures))
        head = drawn[: drawn.index("<figure")]
        for word in ("tokens/s per GPU", "prefill", "decode", "shardopt export"):
            self.assertIn(word, head)

    @unittest.skipUnless(
        HAS_CONVERTER and shutil.which("chromium"),
        "vl-convert-python or chromium is not installed",
    )
    def test_pages_fit_a_screen_and_a_telephone(self):
        model = so.load_model(ROOT / "examples/configs/llama-3.1-70b.json")
        asked = so.Problem(model, devices=8, isl=4096, osl=512, tpot_ms=30)
        service = so.plan(asked)
        moe = ROOT / "examples/configs/qwen3-235b-a22b.json"
        phase = so.plan(so.Problem(so.load_model(moe, so.Decode(8192)), max_devices=16))
        output = Path(os.environ.get("SHARDOPT_BUILD", ROOT / "build"), "python", "Output")
        output.mkdir(parents=True, exist_ok=True)
        for name, shown in (
            ("service", (service, so.pareto(asked, step=0.2), so.sweep(asked))),
            ("phase", (phase, so.pareto(phase.problem, step=0.3), None, so.searched(phase))),
        ):
            for width in (1280, 390):
                with self.subTest(name, width=width):
                    found = self.shot(output / f"page-{name}-{width}.png", width, *shown)
                    self.assertEqual(found, {"width": width, "beyond": [], "over": []})

    def shot(self, picture, width, *shown):
        """A picture of a page in a window of `width` pixels, and what lies beyond its
        edges. The browser's own windows are not that narrow."""
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            so.report(shown[0], place / "page.html", *shown[1:])
            head, end, tail = (place / "page.html").read_text().rpartition("</body>")
            (place / "page.html").write_text(f"{head}<script>{_BEYOND}</script>{end}{tail}")
            (place / "frame.html").write_text(
                f'<body style="margin:0"><iframe src="page.html" width="{width}" height="3600" '
                'style="border:0"></iframe><script>onmessage = event => '
                "{document.body.dataset.found = JSON.stringify(event.data)}</script>"
            )
            done = subprocess.run(
                ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
                 "--hide-scrollbars", f"--window-size={max(width, 500)},3600",
                 f"--user-data-dir={folder}/profile", "--virtual-time-budget=20000",
                 f"--screenshot={picture}", "--dump-dom", (place / "frame.html").as_uri()],
                capture_output=True, text=True, timeout=240,
            )
        found = re.search('data-found="(.*?)"', done.stdout)
        self.assertTrue(found, done.stderr)
        return json.loads(html.unescape(found.group(1)))

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
        self.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [])
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
