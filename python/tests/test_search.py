"""Searches that are asked and told."""

import concurrent.futures
import io
import itertools
import json
import math
import pickle
import random
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import shardopt as so
from shardopt.bars import bar, searching

ROOT = Path(__file__).resolve().parents[2]
MOE = ROOT / "examples/models/small-moe.json"


def small(**others):
    model = so.load_model(MOE, so.Decode(context=24))
    return so.Problem(model, **{"max_devices": 4, "pins": {"batch": [1, 2, 4, 8]}, **others})


class Simulator:
    """The cost model as a black box."""

    def __init__(self, problem):
        self.problem = problem

    def __call__(self, strategy):
        return so.evaluate(self.problem, [strategy])[0]


def told(search):
    return [(trial.number, metrics) for trial, metrics in search.history]


class AskTellTest(unittest.TestCase):
    def test_finds_the_optimum_of_a_small_space(self):
        problem = small(pins={"batch": 8, "tp": 2, "ep": 2, "pp": 1, "dp": 2, "cp": 1})
        best = so.plan(problem)
        search = so.Search(problem, "surrogate", budget=200)
        result = search.run(Simulator(problem))
        self.assertLessEqual(result.evaluations, 200)
        self.assertEqual(result.best[1].throughput, best.metrics.throughput)
        self.assertEqual(len(search.rows()), result.evaluations)

    def test_any_subset_is_told_in_any_order(self):
        problem = small()
        search = so.Search(problem, "genetic", seed=1, budget=60)
        simulator, waiting, draw = Simulator(problem), [], random.Random(0)
        while not search.done:
            asked = search.ask(4)
            waiting += asked
            draw.shuffle(waiting)
            kept = 2 if asked else 0  # a generation may want to be told first
            for trial in waiting[kept:]:
                search.tell(trial, simulator(trial.strategy))
            waiting = waiting[:kept]
        self.assertEqual(len(search.history) + len(waiting), 60)
        self.assertEqual({t.number for t in waiting}, {t.number for t in search.pending})

    def test_failures_are_values(self):
        search = so.Search(small(), "random", budget=4)
        first, second, third = search.ask(3)
        search.tell(first, so.Failed("timeout"))
        self.assertEqual(search.failures, {"timeout": 1})
        search.tell(second, {"throughput": 5.0, "tpot_ms": 1.0, "memory_gb": 1e6})
        self.assertEqual(search.history[-1][1].reason, "memory")
        self.assertIsNone(search.best)
        search.tell(third, {"throughput": 5.0, "tpot_ms": 1.0, "memory_gb": 1.0})
        self.assertEqual(search.best[0], third)

    def test_wrong_costs(self):
        search = so.Search(small(), "random", budget=4)
        (trial,) = search.ask(1)
        good = {"throughput": 1.0, "tpot_ms": 1.0, "memory_gb": 1.0}
        for cost in (math.nan, math.inf, -1, "1", None, True):
            with self.subTest(cost), self.assertRaisesRegex(so.WrongValue, "'device_seconds' is"):
                search.tell(trial, good, cost)
        search.tell(trial, good, 2)
        self.assertEqual(search.device_seconds, 2)

    def test_wrong_tells(self):
        search = so.Search(small(), "random", budget=4)
        (trial,) = search.ask()
        for wrong, message in [
            ({"throughput": float("nan"), "tpot_ms": 1, "memory_gb": 1}, "'throughput' is nan"),
            ({"throughput": 1, "tpot_ms": -1, "memory_gb": 1}, "'tpot_ms' is -1"),
            ({"throughput": 1, "tpot_ms": 1}, "'memory_gb' is None"),
            ({"throughputs": 1}, "metrics have 'throughputs'; known: throughput"),
            (3, "the metrics are 3"),
            ({"throughput": 0, "tpot_ms": 1, "memory_gb": 1}, "valid, but"),
        ]:
            with self.subTest(message), self.assertRaisesRegex(so.ShardoptError, message):
                search.tell(trial, wrong)
        search.tell(trial, so.Failed())
        for other in (trial, so.Trial(7, trial.strategy), None):
            with self.assertRaises(so.UnknownTrial):
                search.tell(other, so.Failed())
        for options, message in [
            ({"searcher": "surogate"}, "surrogate"),
            ({"searcher": "exact"}, "exact"),
            ({"budget": 0}, "'budget' is 0"),
        ]:
            with self.subTest(options), self.assertRaisesRegex(so.ShardoptError, message):
                so.Search(small(), **options)


class RunTest(unittest.TestCase):
    def test_the_same_result_at_any_number_of_workers(self):
        problem = small()
        results = []
        for workers in (1, 3):
            search = so.Search(problem, "surrogate", budget=40)
            with concurrent.futures.ThreadPoolExecutor(workers) as executor:
                search.run(Simulator(problem), executor=executor, parallel=4)
            results.append(told(search))
        self.assertEqual(*results)

    def test_async_keeps_workers_busy(self):
        problem, draw = small(), random.Random(0)
        simulator = Simulator(problem)

        def slow(strategy):
            time.sleep(0.05 * draw.uniform(0.5, 1.5))
            return simulator(strategy)

        search = so.Search(problem, "random", budget=64)
        result = search.run(slow, parallel=8, order="async")
        self.assertEqual((result.evaluations, result.stopped), (64, "done"))
        self.assertEqual(search.pending, [])

    def test_a_simulator_that_raises_is_a_failure(self):
        def broken(strategy):
            if strategy.tp > 1:
                raise RuntimeError("no such engine")
            return {"throughput": -1}

        search = so.Search(small(), "random", budget=12)
        result = search.run(broken, parallel=3, order="async")
        self.assertEqual(result.evaluations, 12)
        self.assertEqual(sum(result.failures.values()), 12)
        self.assertIn("RuntimeError: no such engine", result.failures)
        self.assertIsNone(result.best)

    def test_what_ends_a_run(self):
        problem = small()
        search = so.Search(problem, "random", budget=50)
        result = search.run(
            Simulator(problem), callbacks=[lambda search, *_: len(search.history) < 5]
        )
        self.assertEqual((result.evaluations, result.stopped), (5, "callback"))
        search = so.Search(problem, "random", budget=50)
        result = search.run(Simulator(problem), device_seconds=1e-9)
        self.assertEqual((result.evaluations, result.stopped), (1, "device_seconds"))
        result = search.run(Simulator(problem), device_seconds=1e-9)
        self.assertEqual((result.evaluations, result.stopped), (0, "device_seconds"))
        with self.assertRaisesRegex(so.ShardoptError, "unknown order 'asynch'; known: async"):
            search.run(Simulator(problem), order="asynch")
        with self.assertRaisesRegex(so.ShardoptError, "'parallel' is 0"):
            search.run(Simulator(problem), parallel=0)


    def test_an_interrupt_leaves_what_was_told(self):
        simulator, calls = Simulator(small()), []

        def interrupted(strategy):
            calls.append(strategy)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return simulator(strategy)

        search = so.Search(small(), "random", budget=10)
        result = search.run(interrupted)
        self.assertEqual((result.evaluations, result.stopped), (2, "interrupted"))
        self.assertIn("ended early: interrupted", str(result))
        self.assertIn("to go on: run the search again; 1 evaluation comes first", str(result))
        self.assertEqual([trial.strategy for trial in search.pending], calls[2:])


class ProgressTest(unittest.TestCase):
    def test_a_bar(self):
        self.assertEqual(
            bar(30, 120, 10.0, since=10),
            "[######------------------]  25%  30 of 120, 2/s, 45s left",
        )
        self.assertTrue(bar(0, 9, 0.0).endswith("0 of 9, 0/s, ? left"))
        self.assertTrue(bar(1, 10001, 1.0).endswith("2h46m left"))

    def test_is_drawn_on_terminals_alone(self):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        for file, drawn in ((Terminal(), True), (io.StringIO(), False)):
            search = so.Search(small(), "random", budget=6)
            search.run(Simulator(search.problem), callbacks=[so.progress(file)])
            self.assertEqual("6 of 6" in file.getvalue(), drawn)
            self.assertEqual(file.getvalue().endswith("\n"), drawn)


    def test_of_a_search_of_the_planner(self):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        file = Terminal()
        problem = small(searcher="random", budget=20000)
        with mock.patch("time.monotonic", side_effect=itertools.count()), searching(
            problem, file
        ) as draw:
            draw(5000, 12.5, 3.0)
            draw(6000, None, None)
        self.assertIn("random search: [", file.getvalue())
        self.assertIn("25%  5000 of 20000, 5e+03/s, 3s left, best 12.5", file.getvalue())
        self.assertIn("6000 of 20000", file.getvalue())
        self.assertTrue(file.getvalue().endswith("\r\x1b[K"))
        told = []
        so.plan(problem, progress=lambda *row: told.append(row))
        self.assertEqual(told, sorted(told, key=lambda row: row[0]))
        for other, where in ((problem, io.StringIO()), (small(), file)):
            with searching(other, where) as draw:
                self.assertIsNone(draw)


TOY = f"{sys.executable} {ROOT / 'examples/simulators/toy_simulator.py'}"

GREET = 'read hello; echo \'{"protocol": 1, "degrees": ["dp", "cp", "exchange", "stages"]}\''


class ProcessTest(unittest.TestCase):
    def test_a_program_in_many_threads(self):
        problem = small(space="uniform")
        simulator = so.Process(problem, f"exec:{TOY}")
        search = so.Search(problem, "random", budget=12)
        result = search.run(pickle.loads(pickle.dumps(simulator)), parallel=3)
        self.assertEqual((result.evaluations, result.failures), (12, {}))
        told = so.evaluate(problem.replace(simulator=f"exec:{TOY}"), [search.history[0][0].strategy])
        self.assertEqual(told, [search.history[0][1]])

    def test_failures_by_kind(self):
        problem = small()
        for body, timeout_s, kind in [
            ("read request; exit 3", 60, "crash"),
            ("read request; read more", 0.2, "timeout"),
            ("read request; echo 12", 60, "nonsense"),
            ('read request; echo \'{"id": 0, "error": "no"}\'; read end', 60, "error"),
        ]:
            with self.subTest(kind):
                simulator = so.Process(problem, f"exec:{GREET}; {body}", timeout_s)
                search = so.Search(problem, "random", budget=1)
                self.assertEqual(search.run(simulator).failures, {kind: 1})

    def test_what_does_not_start(self):
        problem = small()
        search = so.Search(problem, "random", budget=2)
        with self.assertRaisesRegex(so.SimulatorLost, "before it greeted"):
            search.run(so.Process(problem, "exec:exit 1"))
        self.assertEqual(len(search.pending), 1)
        with self.assertRaisesRegex(so.ShardoptError, "expected exec:<command> or plugin"):
            so.Process(problem, "roofline")
        with self.assertRaisesRegex(so.ShardoptError, "'timeout_s' is nan"):
            so.Process(problem, "exec:true", float("nan"))

    def test_a_simulator_that_is_lost_in_the_middle(self):
        problem = small()
        with tempfile.TemporaryDirectory() as folder:
            # The second worker finds the file, and does not start any more.
            program = (
                f"exec:test -e {folder}/x && exit 1; touch {folder}/x; {GREET}; read request"
            )
            search = so.Search(problem, "random", budget=9)
            result = search.run(so.Process(problem, program))
        self.assertEqual((result.stopped, result.failures), ("simulator", {"crash": 1}))
        self.assertIn("could not be restarted", result.why)
        self.assertEqual(len(search.pending), 1)


class CheckpointTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(Path(folder.name) / "run.jsonl")

    def search(self, **others):
        return so.Search(small(), **{"budget": 40, "checkpoint": self.path, **others})

    def test_a_search_goes_on_where_it_was(self):
        whole = so.Search(small(), budget=40)
        whole.run(Simulator(small()), parallel=4)
        search = self.search()
        for _ in range(3):
            for trial in search.ask(4):
                search.tell(trial, Simulator(small())(trial.strategy))
        waiting = search.ask(4)
        search.close()
        with open(self.path, "a") as log:
            log.write('{"tell": 12, "met')  # killed as it wrote
        search = self.search()
        self.addCleanup(search.close)
        self.assertEqual(len(search.history), 12)
        self.assertEqual(search.pending, waiting)
        search.run(Simulator(small()), parallel=4)
        self.assertEqual(told(search), told(whole))
        self.assertEqual(search.best, whole.best)

    def test_more_budget_for_a_finished_search(self):
        simulator = Simulator(small())
        with self.search(searcher="random", budget=8) as search:
            search.run(simulator, parallel=2)
            self.assertTrue(search.done)
            search.extend(4)
            search.run(simulator, parallel=2)
            twelve = told(search)
        with self.search(searcher="random", budget=20) as search:
            self.assertEqual(told(search), twelve)
            search.run(simulator, parallel=2)
            self.assertEqual(len(search.history), 20)
        with self.assertRaisesRegex(so.ShardoptError, "with a budget of 8, and 'budget' is 7"):
            self.search(searcher="random", budget=7)

    def test_device_seconds_are_kept(self):
        with self.search() as search:
            (trial,) = search.ask()
            search.tell(trial, so.Failed("x"), device_seconds=2.5)
        with self.search() as search:
            self.assertEqual(search.device_seconds, 2.5)
            result = search.run(Simulator(small()), device_seconds=2.0)
            self.assertEqual((result.evaluations, result.stopped), (0, "device_seconds"))

    def test_logs_of_others(self):
        search = self.search()
        with self.assertRaisesRegex(so.ShardoptError, "in use by another search"):
            self.search()
        search.close()
        with self.assertRaisesRegex(so.ShardoptError, "'seed' is 0, expected 1"):
            self.search(seed=1)
        for line, message in [
            ('{"tell": 3, "metrics": {}}', "jsonl:2: trial 3 is not pending"),
            ("{]", "jsonl:2: "),
            ('{"ask": 1, "strategies": []}', "asks for other strategies"),
            ("3", "is no ask and no tell"),
        ]:
            first = Path(self.path).read_text().splitlines()[0]
            Path(self.path).write_text(first + "\n" + line + "\n")
            with self.subTest(line), self.assertRaisesRegex(so.ShardoptError, message):
                self.search()
        Path(self.path).write_text('{"ask": 1, "strategies": []}\n')
        with self.assertRaisesRegex(so.ShardoptError, "is no log of a search"):
            self.search()
        self.assertEqual(json.loads(Path(self.path).read_text())["ask"], 1)


try:
    import optuna
except ImportError:
    optuna = None


@unittest.skipUnless(optuna, "optuna is not installed")
class OptunaTest(unittest.TestCase):
    def test_it_is_there_without_being_imported(self):
        self.assertIs(so.optuna, sys.modules["shardopt.optuna"])

    def test_a_study_asks_the_searcher(self):
        import shardopt.optuna as adapter

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        problem = small()
        simulator = Simulator(problem)

        def objective(trial):
            metrics = simulator(sampler.suggest(trial))
            if not metrics.valid:
                raise optuna.TrialPruned()
            return metrics.throughput

        sampler = adapter.Sampler(problem, "surrogate", budget=30)
        study = optuna.create_study(sampler=sampler, direction="maximize")
        study.optimize(objective, n_trials=60)
        self.assertEqual(len(study.trials), 31)  # the last has nothing to ask
        self.assertEqual(len(sampler.search.history), 30)
        self.assertEqual(study.best_value, sampler.search.best[1].throughput)


if __name__ == "__main__":
    unittest.main()
