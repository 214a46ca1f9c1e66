"""Measurements: how they are read, what contradicts, and what they leave of a distribution."""

import tempfile
import unittest
from pathlib import Path

import shardopt as so
from shardopt import gaussians
from shardopt.measurements import FILE, contradictions, read_measurements, text_of


class GaussianTest(unittest.TestCase):
    def test_a_measurement_leaves_what_bayes_says(self):
        left = gaussians.after(gaussians.diagonal([2.0, 1.0]), [1.0, 0.0], 1.0)
        self.assertAlmostEqual(left[0][0], 1 / (1 / 4 + 1))
        self.assertEqual(left[1], [0.0, 1.0])
        both = gaussians.after(left, [1.0, 1.0], 0.5)
        # The same as both at once: the inverse of the sum of informations.
        a, b, c = 1 / 4 + 1 + 4, 1 + 4, 4
        wanted = [b / (a * b - c * c), a / (a * b - c * c)]
        for i in (0, 1):
            self.assertAlmostEqual(both[i][i], wanted[i])
        low = gaussians.root(both)
        self.assertAlmostEqual(gaussians.dot(low[1], low[1]), both[1][1])
        for i, value in enumerate(gaussians.solved(both, gaussians.times(both, [3.0, -1.0]))):
            self.assertAlmostEqual(value, [3.0, -1.0][i])


class ReadingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def read(self, text, answers=()):
        (self.folder / FILE).write_text(text)
        (self.folder / "results").mkdir(exist_ok=True)
        for name, value in dict(answers).items():
            (self.folder / "results" / f"{name}.json").write_text(value)
        try:
            return read_measurements(self.folder, 100, 10)
        except so.ShardoptError as error:
            raise so.ShardoptError(str(error).replace(str(self.folder), "node")) from None

    def test_answers_of_benchmarks(self):
        table = "name,tp,concurrency,tpot_ms,ttft_ms\nm01,4,8,,\nm02,4,16,,\nm03,8,1,7,\nm04,8,1,,\nm05,8,2,,\n"
        answers = {
            "m01": '{"mean_tpot_ms": 20.5, "mean_ttft_ms": 300, "completed": 8}',
            "m02": '{"mean_tpot_ms": 1}\n{"mean_tpot_ms": 25, "mean_ttft_ms": 400}\n',
            "m05": '{"streaming_metrics": {"avg_tpot_ms": 9, "avg_ttft_ms": 50}}',
        }
        found = {each.name: each for each in self.read(table, answers)}
        self.assertEqual(
            {name: each.times for name, each in found.items()},
            {"m01": {"tpot_ms": 20.5, "ttft_ms": 300}, "m02": {"tpot_ms": 25, "ttft_ms": 400},
             "m03": {"tpot_ms": 7}, "m05": {"tpot_ms": 9, "ttft_ms": 50}},
        )
        self.assertEqual((found["m03"].isl, found["m03"].osl, dict(found["m03"].layout)["dp"]), (100, 10, 1))
        again = self.folder / "again.csv"
        again.write_text(text_of(found.values()))
        self.assertEqual(read_measurements(again, 1, 1), [*found.values()])

    def test_errors_have_a_place(self):
        head = "name,tp,concurrency,tpot_ms\n"
        for text, answers, why in [
            ("", {}, "node/measurements.csv:1: the columns are '', expected tp"),
            ("tp,concurrency\n", {}, "the columns are 'tp, concurrency', expected tpot_ms or ttft_ms"),
            (head + "a,x,1,2\n", {}, "measurements.csv:2: 'tp' is 'x', expected a whole number"),
            (head + "a,1,,2\n", {}, "measurements.csv:2: 'concurrency' is '', expected requests"),
            (head + "a,1,1,-2\n", {}, "measurements.csv:2: 'tpot_ms' is '-2', expected milliseconds"),
            (head + "a,1,1,inf\n", {}, "'tpot_ms' is 'inf', expected milliseconds"),
            (head + "a,1,1,2\na,1,2,2\n", {}, "two measurements are called 'a'"),
            (head + "a,1,1,\n", {"b": "{}"}, "results/b.json: no measurement 'b' is in"),
            (head + "a,1,1,\n", {"b": None, "a": "[]"}, "results/a.json: no mean times, expected mean_tpot_ms"),
            (head + "a,1,1,\n", {"a": "{"}, "results/a.json: "),
            (head + "a,1,1,\n", {"a": '{"mean_tpot_ms": NaN}'}, "results/a.json: /mean_tpot_ms: nan"),
        ]:
            with self.subTest(text + str(answers)):
                for old in (self.folder / "results").glob("*.json"):
                    old.unlink()
                said = {name: value for name, value in answers.items() if value is not None}
                with self.assertRaisesRegex(so.ShardoptError, why.replace("[", "\\[")):
                    self.read(text, said)

    def test_what_contradicts_is_left_out(self):
        self.assertEqual(contradictions([1.0, 1.2, 0.9]), [])
        (worst, off), = contradictions([1.1, 1.0, 12.5, 0.9])
        self.assertEqual((worst, round(off, 1)), (2, 12.5))
        self.assertEqual([i for i, _ in contradictions([0.05, 1.0])], [0])  # the prediction decides
        self.assertEqual([i for i, _ in contradictions([30.0, 31.0, 29.0])], [])  # a slow node
        self.assertEqual(sorted(i for i, _ in contradictions([1, 20, 1, 0.01])), [1, 3])


if __name__ == "__main__":
    unittest.main()
