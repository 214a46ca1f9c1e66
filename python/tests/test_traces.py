"""Traces of searches: improvements and plots."""

import contextlib
import importlib.util
import io
import json
import tempfile
import unittest
from pathlib import Path

import shardopt as so
from shardopt.cli import main
from shardopt.traces import improvements, read_trace, trace_chart, write_chart
from test_page import planned

ROOT = Path(__file__).resolve().parents[2]
HAS_CONVERTER = importlib.util.find_spec("vl_convert") is not None


def searched(checkpoint):
    problem = planned().problem
    with so.Search(problem, "random", seed=3, budget=30, checkpoint=checkpoint) as search:
        while not search.done:
            for trial in search.ask(1):
                search.tell(trial, so.evaluate(problem, [trial.strategy])[0])
    return search


class TraceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_rows_of_a_search_have_dims_and_the_best_so_far(self):
        search = searched(None)
        rows = search.rows()
        best = [row["best"] for row in rows if row["best"] is not None]
        self.assertEqual(best, sorted(best))
        self.assertEqual(best[-1], search.best[1].throughput)
        for row, (trial, metrics) in zip(rows, search.history):
            self.assertEqual({op: row[op] for op in search.problem.model.ops},
                             dict(trial.strategy.dims))
            if metrics.valid:
                self.assertGreaterEqual(row["best"], row["throughput"])

    def test_a_log_is_a_trace(self):
        path = str(self.folder / "log.jsonl")
        search = searched(path)
        rows = read_trace(path)
        self.assertEqual([row["throughput"] for row in rows],
                         [metrics.throughput for _, metrics in search.history])
        found = improvements(rows, "throughput")
        wanted = dict.fromkeys(row["best"] for row in search.rows() if row["best"] is not None)
        self.assertEqual([row["best"] for row in found], list(wanted))
        fastest = improvements(rows, "latency")[-1]["best"]
        self.assertEqual(fastest, min(m.latency_ms for _, m in search.history if m.valid))
        values = trace_chart(rows)["data"]["values"]
        self.assertEqual(values[-1], {"evaluations": 30, "best": found[-1]["best"]})
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.assertEqual(main(["trace", path, "--json"]), 0)
        self.assertEqual(json.loads(printed.getvalue())["improvements"], found)

    def test_a_plot_is_written_as_its_name_ends(self):
        path = str(self.folder / "log.jsonl")
        searched(path)
        spec = trace_chart(read_trace(path))
        write_chart(spec, str(self.folder / "plot.json"))
        self.assertEqual(json.loads((self.folder / "plot.json").read_text()), dict(spec))
        if HAS_CONVERTER:
            for ending, first in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".html", b"<!DOCTYPE")):
                write_chart(spec, str(self.folder / f"plot{ending}"))
                self.assertTrue((self.folder / f"plot{ending}").read_bytes().startswith(first))
        with self.assertRaisesRegex(so.ShardoptError, "ends in '.pdf', expected one of .html"):
            write_chart(spec, str(self.folder / "plot.pdf"))

    def test_what_is_no_trace_is_an_error_with_its_place(self):
        path = self.folder / "trace.jsonl"
        good = '{"valid": true, "throughput": 1.0, "tpot_ms": 2}\n'
        for text, message in (
            ("", "is no trace"), ("[1]\n", ":1: is"), (good + "{}\n", ":2: no evaluation"),
            (good + '{"valid": true, "throughput": "x"}', ":2: 'throughput'"),
            (good + '{"valid": true, "tpot_ms": 2}', ":2: no 'throughput'"),
            (good + '{"valid"', "trace.jsonl:2"), ('{"valid": true}\n', "no 'throughput'"),
        ):
            with self.subTest(text):
                path.write_text(text)
                with self.assertRaisesRegex(so.ShardoptError, message):
                    read_trace(path)
        path.write_text(good)
        self.assertEqual(main(["trace", str(path), "-o", str(path)]), 2)
        self.assertEqual(path.read_text(), good)


if __name__ == "__main__":
    unittest.main()
