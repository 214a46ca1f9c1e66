"""The arithmetic of runs, summaries and comparisons."""

import dataclasses
import math
import unittest

from search import intervals, markdown, scores
from search.measured import Run
from search.summary import Comparison, Summary
from search.workloads import GROUPS

WORKLOAD = GROUPS["moe-50"].workloads[0]


def run(seed, steps, reference=100.0, budget=1000):
    return Run(WORKLOAD, seed, steps, steps[-1][1], reference, 1.0, 1.0, budget)


class Steps(unittest.TestCase):
    def test_keeps_improvements_only(self):
        entries = [(1, None), (2, 5.0), (3, 5.0), (4, 4.0), (6, 7.0)]
        self.assertEqual(scores.steps_of(entries), [(2, 5.0), (6, 7.0)])

    def test_best_changes_at_its_step(self):
        steps = [(2, 5.0), (6, 7.0)]
        self.assertEqual([scores.best_at(steps, n) for n in (1, 2, 5, 6)], [0, 5, 5, 7])

    def test_calls_to_a_value(self):
        steps = [(2, 5.0), (6, 7.0)]
        self.assertEqual(scores.calls_to(steps, 5.0), 2)
        self.assertEqual(scores.calls_to(steps, 5.1), 6)
        self.assertEqual(scores.calls_to(steps, 7.1), math.inf)

    def test_survive_the_file(self):
        steps = [(2, 5.25), (4000, 1234.5678)]
        self.assertEqual(scores.read_steps(scores.write_steps(steps)), steps)
        self.assertEqual(scores.read_steps(""), [])

    def test_grid_has_both_ends(self):
        grid = scores.log_grid(4000)
        self.assertEqual((grid[0], grid[-1]), (1, 4000))


class Quantiles(unittest.TestCase):
    def test_interpolate(self):
        self.assertEqual(intervals.quantile([4, 1, 2, 3], 0.5), 2.5)
        self.assertEqual(intervals.quantile([1, 2, 3], 1.0), 3)

    def test_never_is_infinite(self):
        never = math.inf
        self.assertEqual(intervals.quantile([1, 2, never], 0.5), 2)
        self.assertEqual(intervals.quantile([1, 2, never, never], 0.5), never)
        self.assertEqual(intervals.quantile([never, never], 0.5), never)


class Intervals(unittest.TestCase):
    def test_few_seeds_say_nothing(self):
        by_seed = {seed: [float(seed)] for seed in range(4)}
        self.assertIsNone(intervals.of_mean(by_seed))
        self.assertIsNone(intervals.bca(by_seed, intervals.mean))

    def test_equal_seeds_leave_no_doubt(self):
        # Within a seed, runs vary; between seeds nothing does.
        by_seed = {seed: [1.0, 3.0] for seed in range(5)}
        self.assertEqual(intervals.of_mean(by_seed), (2.0, 2.0))
        self.assertEqual(intervals.bca(by_seed, intervals.mean), (2.0, 2.0))

    def test_quantiles_of_student(self):
        for freedom, level, value in ((4, 0.05, 2.776), (9, 0.05, 2.262), (9, 0.001, 4.781)):
            self.assertAlmostEqual(intervals.student(level, freedom), value, delta=2e-3)

    def test_mean_of_five_has_the_interval_of_student(self):
        # The deviation is 1.5811, so that of the mean 0.7071.
        low, high = intervals.of_mean({seed: [float(seed)] for seed in range(5)})
        self.assertAlmostEqual((high + low) / 2, 2)
        self.assertAlmostEqual(high - 2, 2.776 * 0.7071, delta=2e-3)

    def test_both_agree_where_seeds_are_many(self):
        by_seed = {seed: [float(seed)] for seed in range(100)}
        for low, high in (intervals.of_mean(by_seed), intervals.bca(by_seed, intervals.mean)):
            # standard error of the mean: 29.0 / 10
            self.assertAlmostEqual(low, 49.5 - 1.98 * 2.9, delta=0.5)
            self.assertAlmostEqual(high, 49.5 + 1.98 * 2.9, delta=0.5)

    def test_a_median_that_is_never_reached(self):
        by_seed = {seed: [math.inf] for seed in range(6)}
        self.assertEqual(intervals.bca(by_seed, intervals.median), (math.inf, math.inf))


class Summaries(unittest.TestCase):
    def test_of_runs(self):
        runs = [
            run(0, [(1, 50.0), (10, 100.0)]),
            run(1, [(1, 50.0), (30, 99.0)]),
            run(2, [(1, 98.0)]),
        ]
        s = Summary.of(runs)
        self.assertAlmostEqual(s.mean, 0.99)
        self.assertEqual((s.median, s.min), (0.99, 0.98))
        self.assertAlmostEqual(s.near, 2 / 3)
        self.assertEqual((s.calls, s.calls_q75), (30, math.inf))

    def test_a_better_optimum_changes_calls(self):
        self.assertEqual(run(0, [(1, 99.0), (9, 100.0)], reference=100.0).calls, 1)
        self.assertEqual(run(0, [(1, 99.0), (9, 100.0)], reference=101.0).calls, 9)


class Comparisons(unittest.TestCase):
    def test_pairs_by_seed(self):
        first = [run(seed, [(10 + seed, 100.0)]) for seed in range(10)]
        second = [run(seed, [(20 + seed, 100.0)]) for seed in range(5)]
        comparison = Comparison.of(first, second)
        self.assertEqual(comparison.pairs, 5)
        self.assertEqual(comparison.mean.sign, 0)
        self.assertEqual(comparison.calls.value, -10)

    def test_noise_is_no_victory(self):
        first = [run(seed, [(10, 90.0 + (seed % 2) * 10)]) for seed in range(10)]
        second = [run(seed, [(10, 100.0 - (seed % 2) * 10)]) for seed in range(10)]
        comparison = Comparison.of(first, second)
        self.assertEqual((comparison.mean.sign, comparison.calls.sign), (0, 0))

    def test_many_comparisons_need_more(self):
        # t = 3.2: past 2.3, which one comparison needs, and short of 4.3.
        first = [run(seed, [(10, 99.0 + seed % 2)]) for seed in range(10)]
        second = [run(seed, [(10, 99.0)]) for seed in range(10)]
        self.assertEqual(Comparison.of(first, second).mean.sign, 1)
        self.assertEqual(Comparison.of(first, second, 50).mean.sign, 0)

    def test_never_counts_as_above_the_budget(self):
        first = [run(seed, [(10, 50.0)]) for seed in range(4)]
        second = [run(seed, [(10, 100.0)]) for seed in range(4)]
        self.assertEqual(Comparison.of(first, second).calls.value, 1001 - 10)

    def test_none_in_common(self):
        other = dataclasses.replace(run(0, [(1, 1.0)]), workload=GROUPS["fixed"].workloads[0])
        self.assertIsNone(Comparison.of([run(0, [(1, 1.0)])], [other]))


class Numbers(unittest.TestCase):
    def test_a_ratio_never_reads_as_more(self):
        self.assertEqual(markdown.ratio(0.98999), "0.9899")
        self.assertEqual(markdown.ratio(1.0), "1.0000")


if __name__ == "__main__":
    unittest.main()
