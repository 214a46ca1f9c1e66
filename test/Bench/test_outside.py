"""Optimisers from outside: the pipe, the losses, and what they are charged."""

import itertools
import math
import pathlib
import sys
import unittest

from search import runs
from search.accounts import Account, Limits, loss
from search.outside import Space, search
from search.server import Server

SIMULATOR = pathlib.Path(__file__).parent / "Inputs/simulator.py"
LIMITS = Limits(slo_ms=10, memory_gb=10)


def valid(throughput):
    return {"valid": True, "throughput": throughput}


def enumerating(losses):
    """An optimiser that proposes every point in order, again and again."""

    def optimizer(sizes):
        for point in itertools.cycle(itertools.product(*map(range, sizes))):
            losses.append((yield point))

    return optimizer


class Losses(unittest.TestCase):
    def test_every_valid_strategy_is_better_than_every_invalid_one(self):
        slow = loss(valid(1e-9), LIMITS)
        near = loss(
            {"valid": False, "reason": "slo", "tpot_ms": 10.1, "memory_gb": 1}, LIMITS
        )
        self.assertLess(loss(valid(100), LIMITS), slow)
        self.assertLess(slow, near)

    def test_violations_add_up(self):
        answer = {"valid": False, "reason": "memory", "tpot_ms": 20, "memory_gb": 20}
        both = loss(answer, LIMITS)
        one = loss({**answer, "tpot_ms": 5}, LIMITS)
        self.assertAlmostEqual(both - one, math.log(2))

    def test_structural_is_worst(self):
        worst = loss({"valid": False, "reason": "structural"}, LIMITS)
        answer = {"valid": False, "reason": "memory", "tpot_ms": 1e9, "memory_gb": 1e9}
        self.assertLess(loss(answer, LIMITS), worst)


class Accounts(unittest.TestCase):
    def test_repeats_and_masked_degrees_are_free_under_new(self):
        account = Account(budget=10, max_asked=50)
        account.record((0,), valid(1))
        account.record((0,), valid(1))
        line = account.record((1,), {"valid": False, "masked": True})
        self.assertEqual(line, {"asked": 3, "new": 1, "best": 1})

    def test_ends_where_nothing_new_comes(self):
        account = Account(budget=2, max_asked=50)
        while not account.is_spent:
            account.record((0,), valid(1))
        self.assertEqual((account.asked, account.new), (50, 1))

    def test_one_run_gives_both_accountings(self):
        account = Account(budget=3, max_asked=50)
        points = ["a", "a", "b", "b", "c"]
        entries = [account.record(p, valid(i)) for i, p in enumerate(points, 1)]
        free = runs.replayed(entries, "new", 3)
        charged = runs.replayed(entries, "asked", 3)
        self.assertEqual((free.charged, free.evaluations, free.steps[-1]), (3, 5, (3, 5)))
        self.assertEqual((charged.charged, charged.steps[-1]), (3, (3, 3)))


class Pipe(unittest.TestCase):
    def setUp(self):
        self.server = Server([sys.executable, str(SIMULATOR)])
        self.addCleanup(self.server.close)

    def test_space_is_that_of_the_greeting(self):
        space = Space(self.server.hello["space"])
        self.assertEqual(space.sizes, [3, 2, 1, 2, 2, 1])
        self.assertEqual(
            space.strategy((2, 0, 0, 1, 1, 0)),
            {"tp": 4, "ep": 1, "pp": 1, "batch": 8, "dims": {"up": 1, "down": 2}},
        )

    def test_a_search_finds_the_best_and_is_told_every_loss(self):
        losses = []
        account = Account(budget=12, max_asked=50)  # as many as are not masked
        lines = list(search(self.server, enumerating(losses), account, LIMITS))
        self.assertEqual(lines[-1]["new"], 12)
        self.assertEqual(lines[-1]["best"], 4)
        self.assertEqual(len(losses), len(lines))
        self.assertEqual(min(losses), -math.log(4))


if __name__ == "__main__":
    unittest.main()
