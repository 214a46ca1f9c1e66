"""How many evaluations workers are given at a time."""

import time
import unittest

import shardopt as so
from shardopt.batches import MOST, Batches, evaluate_in_turn


class BatchesTest(unittest.TestCase):
    def test_nothing_is_ahead_of_what_is_measured(self):
        batches = Batches(64, None)
        self.assertEqual(batches.under_way(64, 10000), 64)
        self.assertEqual((batches.size, batches.is_ahead), (1, False))

    def test_short_evaluations_go_together(self):
        batches = Batches(64, None)
        for _ in range(10):
            batches.learn(0.05)
        self.assertEqual(batches.under_way(64, 10000), 2 * 7 * 64)
        self.assertEqual((batches.size, batches.is_ahead), (7, True))

    def test_long_ones_do_not(self):
        batches = Batches(64, None)
        batches.learn(1.0)
        self.assertEqual(batches.under_way(64, 10000), 64)
        self.assertEqual((batches.size, batches.is_ahead), (1, False))

    def test_few_workers_only_have_one_ahead(self):
        batches = Batches(8, None)
        batches.learn(0.05)
        self.assertEqual(batches.under_way(8, 10000), 16)
        self.assertEqual((batches.size, batches.is_ahead), (1, True))

    def test_instant_ones_have_a_bound(self):
        batches = Batches(4, 10.0)
        batches.learn(0.0)
        self.assertEqual(batches.under_way(4, 100000), 2 * MOST * 4)
        self.assertEqual(batches.size, MOST)

    def test_the_end_is_evaluated_side_by_side(self):
        batches = Batches(4, 1.0)
        batches.learn(0.1)
        sizes = []
        for left in (1000, 100, 50, 8, 1, 0):
            wanted = batches.under_way(4, left)
            self.assertEqual(wanted, max(4, min(80, left // 2)))
            sizes.append((batches.size, batches.is_ahead))
        self.assertEqual(
            sizes, [(10, True), (6, True), (3, True), (1, False), (1, False), (1, False)]
        )

    def test_neither_is_more_than_was_asked_for(self):
        for batches, parallel in [(Batches(4, 0), 4), (Batches(4, 1.0), 2)]:
            batches.learn(0.01)
            self.assertEqual(batches.under_way(parallel, 1000), parallel)
            self.assertEqual((batches.size, batches.is_ahead), (1, False))

    def test_a_mean_follows(self):
        batches = Batches(64, None)
        batches.learn(1.0)
        for _ in range(500):
            batches.learn(0.05)
        batches.under_way(64, 10000)
        self.assertIn(batches.size, (6, 7))


    def adjusted(self, batches, busy, seconds):
        """After so many seconds in which 64 workers were busy for that share."""
        for tick in range(int(10 * seconds)):
            batches.under_way(64, 100000)
            for _ in range(int(64 * 0.1 * busy / 0.05)):
                batches.learn(0.05)
            batches.adjust(tick / 10, 64)
        return batches.seconds

    def test_calls_grow_while_workers_wait_for_them(self):
        first = Batches(64, None).seconds
        self.assertEqual(self.adjusted(Batches(64, None), 0.98, 60), first)
        self.assertGreater(self.adjusted(Batches(64, None), 0.5, 10), first)
        self.assertEqual(self.adjusted(Batches(64, None), 0.5, 200), 8 * first)
        self.assertEqual(self.adjusted(Batches(64, 0.5), 0.5, 200), 0.5)

    def test_calls_do_not_grow_for_want_of_evaluations(self):
        batches = Batches(64, None)
        batches.learn(0.05)
        for tick in range(600):
            batches.under_way(64, 100)
            batches.adjust(tick / 10, 64)
        self.assertEqual(batches.seconds, Batches(64, None).seconds)


class InTurnTest(unittest.TestCase):
    def test_all_in_order(self):
        found = evaluate_in_turn(lambda strategy: 2 * strategy, [1, 2, 3], 60.0)
        self.assertEqual([value for value, _ in found], [2, 4, 6])

    def test_what_raises_is_one_of_them(self):
        found = evaluate_in_turn(lambda strategy: 1 // strategy, [1, 0, 1], 60.0)
        self.assertEqual([value for value, _ in found][::2], [1, 1])
        self.assertRegex(found[1][0].why, "^ZeroDivisionError: ")

    def test_those_that_come_too_late_are_left_out(self):
        def simulator(strategy):
            time.sleep(0.01)
            return strategy

        found = evaluate_in_turn(simulator, [1, 2, 3], 0.0)
        self.assertEqual([value for value, _ in found], [1])

    def test_a_simulator_that_is_lost(self):
        def simulator(strategy):
            if strategy == 2:
                raise so.SimulatorLost("no more")
            return strategy

        found = evaluate_in_turn(simulator, [1, 2, 3], 60.0)
        self.assertEqual([value for value, _ in found], [1])
        with self.assertRaisesRegex(so.SimulatorLost, "no more"):
            evaluate_in_turn(simulator, [2, 3], 60.0)


if __name__ == "__main__":
    unittest.main()
