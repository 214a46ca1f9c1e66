"""Searches on a Ray cluster whose nodes and workers come and go."""

import importlib.util
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import shardopt as so

ROOT = Path(__file__).resolve().parents[2]
MOE = ROOT / "examples/models/small-moe.json"
TOY = f"{sys.executable} {ROOT / 'examples/simulators/toy_simulator.py'}"


def small(**others):
    model = so.load_model(MOE, so.Decode(context=24))
    return so.Problem(model, **{"max_devices": 4, "pins": {"batch": [1, 2, 4, 8]}, **others})


def told(search):
    return [(trial.number, metrics) for trial, metrics in search.history]


# What a killed driver was: argv is the address and the log.
DRIVER = """
import sys, time
import shardopt as so, shardopt.ray
sys.path.insert(0, {tests!r})
from test_ray import small
problem = small()
def simulator(strategy):
    time.sleep(0.1)
    return so.evaluate(problem, [strategy])[0]
search = so.Search(problem, "genetic", budget=24, checkpoint=sys.argv[2])
executor = shardopt.ray.Executor(address=sys.argv[1], num_workers=2, resources={{"CPU": 0}})
search.run(simulator, executor=executor, parallel=4)
"""


class WithoutRayTest(unittest.TestCase):
    def test_wrong_options(self):
        import shardopt.ray

        for options, message in [
            ({"num_workers": 0}, "'num_workers' is 0"),
            ({"resources": {"CPU": -1}}, "'resources' has 'CPU': -1"),
            ({"resources": {"CPU": float("nan")}}, "'resources' has 'CPU': nan"),
            ({"resources": 2}, "'resources' is 2, expected amounts by resource"),
            ({"resources": 10**5000}, "'resources' is a number of 16610 bits"),
            ({"resources": {"CPU": 10**400}}, "'resources' has 'CPU': a number of"),
            ({"device_resources": []}, r"'device_resources' is \[\]"),
            ({"timeout_s": 0}, "'timeout_s' is 0, expected a finite number of seconds"),
            ({"retries": -1}, "'retries' is -1"),
            ({"devices_per_node": 0}, "'devices_per_node' is 0"),
            ({"batch_s": -1}, "'batch_s' is -1, expected a finite number of seconds"),
        ]:
            with self.subTest(options), self.assertRaisesRegex(so.ShardoptError, message):
                shardopt.ray.Executor(**options)


@unittest.skipUnless(importlib.util.find_spec("ray"), "ray is not installed")
class RayTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["RAY_AUTH_MODE"] = "disabled"  # or it writes into the home folder
        os.environ["RAY_worker_niceness"] = "0"
        # Where a machine is busy; one that is installed and does not start fails.
        os.environ.setdefault("RAY_raylet_start_wait_time_s", "150")
        import ray
        from ray.cluster_utils import Cluster

        cls.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        cls.addClassCleanup(cls.cluster.shutdown)
        cls.node = cls.add_node()
        ray.init(address=cls.cluster.address, log_to_driver=False)
        cls.addClassCleanup(ray.shutdown)

    @classmethod
    def add_node(cls):
        return cls.cluster.add_node(num_cpus=2, resources={"chip": 8})

    def executor(self, **others):
        import shardopt.ray

        return shardopt.ray.Executor(
            **{"num_workers": 2, "resources": {"chip": 1}, "patience_s": 600, **others}
        )

    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Path(folder.name)

    def test_the_result_of_threads(self):
        problem = small()

        def simulator(strategy):
            return so.evaluate(problem, [strategy])[0]

        here, there = (so.Search(problem, "genetic", budget=16) for _ in range(2))
        here.run(simulator, parallel=4)
        result = there.run(simulator, executor=self.executor(), parallel=4)
        self.assertEqual(told(there), told(here))
        self.assertEqual((result.stopped, result.requeued), ("done", 0))

    def test_nodes_that_come_and_go(self):
        problem = small()

        def simulator(strategy):
            time.sleep(0.1)
            return so.evaluate(problem, [strategy])[0]

        def change(search, *_):
            if len(search.history) == 6:
                self.other = self.add_node()
            elif len(search.history) == 12:
                self.cluster.remove_node(self.node)

        search = so.Search(problem, "random", budget=30)
        result = search.run(
            simulator, executor=self.executor(), parallel=2, order="async", callbacks=[change]
        )
        type(self).node = self.other
        self.assertEqual((result.evaluations, result.stopped), (30, "done"))
        self.assertEqual((result.failures, search.pending), ({}, []))
        self.assertGreater(result.requeued, 0)

    def test_workers_that_die(self):
        problem, folder = small(), self.folder()

        def simulator(strategy):
            """Takes its worker along, the first time for each strategy."""
            mark = folder / str(strategy.numbers())
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return so.evaluate(problem, [strategy])[0]

        search = so.Search(problem, "random", budget=4)
        result = search.run(simulator, executor=self.executor(), parallel=2, order="async")
        self.assertEqual((result.evaluations, result.failures), (4, {}))
        self.assertEqual(result.requeued, len(list(folder.iterdir())))

    def in_batches(self, simulator, **others):
        """What came of a run whose calls have several evaluations, and its search."""
        hosts, search = [], so.Search(small(), "random", budget=120)
        executor = self.executor(batch_s=0.5, **others)

        class Hosts:
            def host(self, simulator, parallel):
                hosts.append(executor.host(simulator, parallel))
                return hosts[0]

        result = search.run(simulator, executor=Hosts(), parallel=2, order="async")
        numbers = [trial.number for trial, _ in search.history]
        self.assertEqual((sorted(numbers), search.pending), (list(range(120)), []))
        # How many evaluations a call takes depends on the clock; alone, each would
        # be a call of its own, and those that were lost one more.
        self.assertLess(hosts[0].calls, 120)
        return result, search

    def test_a_worker_that_dies_amid_a_call(self):
        mark = self.folder() / "mark"
        fatal = so.Search(small(), "random", budget=120).ask(120)[50].strategy

        def simulator(strategy):
            """Takes its worker along once."""
            if strategy == fatal and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return {"throughput": float(strategy.batch), "tpot_ms": 1.0, "memory_gb": 1.0}

        result, search = self.in_batches(simulator)
        self.assertEqual((result.failures, result.stopped), ({}, "done"))
        self.assertGreater(result.requeued, 1)
        for trial, metrics in search.history:
            self.assertEqual(metrics.throughput, trial.strategy.batch)

    def test_what_is_beside_a_fatal_one_is_not_lost(self):
        trials = so.Search(small(), "random", budget=120).ask(120)
        fatal = [trials[at].strategy for at in (40, 41, 48)]

        def simulator(strategy):
            """Answers at once, so that answers go down with the next evaluation."""
            if strategy in fatal:
                os.kill(os.getpid(), signal.SIGKILL)
            return {"throughput": 1.0, "tpot_ms": 1.0, "memory_gb": 1.0}

        result, search = self.in_batches(simulator, retries=1)
        self.assertEqual(result.failures, {"lost": 3})
        for trial, metrics in search.history:
            self.assertEqual(metrics.valid, trial.strategy not in fatal)

    def test_what_fails_amid_a_call_fails_alone(self):
        trials = so.Search(small(), "random", budget=120).ask(120)
        raises, hangs, unsent, fatal = (trials[at].strategy for at in (40, 50, 60, 70))

        def simulator(strategy):
            if strategy == raises:
                raise ValueError("no such tile")
            if strategy == hangs:
                time.sleep(3600)
            if strategy == unsent:
                return threading.Lock()
            if strategy == fatal:
                os.kill(os.getpid(), signal.SIGKILL)
            return {"throughput": 1.0, "tpot_ms": 1.0, "memory_gb": 1.0}

        result, _ = self.in_batches(simulator, timeout_s=3.0, retries=2)
        self.assertEqual(
            result.failures,
            {
                "ValueError: no such tile": 1,
                "timeout": 1,
                "TypeError: cannot pickle '_thread.lock' object": 1,
                "lost": 1,
            },
        )

    def test_a_strategy_that_kills_every_worker(self):
        def simulator(strategy):
            os.kill(os.getpid(), signal.SIGKILL)

        search = so.Search(small(), "random", budget=1)
        result = search.run(simulator, executor=self.executor(num_workers=1, retries=1))
        self.assertEqual((result.failures, result.requeued), ({"lost": 1}, 1))

    def test_a_worker_that_hangs(self):
        def simulator(strategy):
            time.sleep(3600)

        search = so.Search(small(), "random", budget=1)
        result = search.run(simulator, executor=self.executor(num_workers=1, timeout_s=0.5))
        self.assertEqual(result.failures, {"timeout": 1})

    def test_programs_on_workers(self):
        problem = small(space="uniform")
        local, there = (so.Search(problem, "random", budget=6) for _ in range(2))
        simulator = so.Process(problem, f"exec:{TOY}")
        local.run(simulator)
        there.run(simulator, executor=self.executor(), parallel=2)
        self.assertEqual([m for _, m in told(there)], [m for _, m in told(local)])
        with self.assertRaisesRegex(so.SimulatorLost, "before it greeted"):
            so.Search(problem, "random", budget=2).run(
                so.Process(problem, "exec:exit 1"), executor=self.executor(num_workers=1)
            )

    def test_a_placement_group_for_each_strategy(self):
        import ray

        def simulator(strategy):
            group = ray.util.get_current_placement_group()
            held = sum(bundle.get("chip", 0) for bundle in group.bundle_specs)
            return {"throughput": held, "tpot_ms": 1.0, "memory_gb": 1.0}

        search = so.Search(small(), "random", budget=4)
        search.run(simulator, executor=self.executor(device_resources={"chip": 1}), parallel=2)
        for trial, metrics in search.history:
            self.assertEqual(metrics.throughput, trial.strategy.devices)
        options = {"device_resources": {"chip": 100}, "patience_s": 1.0}
        search = so.Search(small(), "random", budget=1)
        result = search.run(simulator, executor=self.executor(**options))
        self.assertEqual(result.failures, {"no room": 1})

    def test_a_driver_that_is_killed(self):
        log = self.folder() / "run.jsonl"
        tests = str(Path(__file__).parent)
        driver = subprocess.Popen(
            [sys.executable, "-c", DRIVER.format(tests=tests), self.cluster.address, str(log)]
        )
        self.addCleanup(driver.wait)
        while not log.exists() or log.read_text().count('"tell"') < 6:
            self.assertIsNone(driver.poll(), "the driver ended by itself")
            time.sleep(0.05)
        driver.kill()
        driver.wait()
        problem = small()

        def simulator(strategy):
            return so.evaluate(problem, [strategy])[0]

        whole = so.Search(problem, "genetic", budget=24)
        whole.run(simulator, parallel=4)
        with so.Search(problem, "genetic", budget=24, checkpoint=str(log)) as search:
            self.assertLess(len(search.history), 24)
            self.assertGreater(search.device_seconds, 0)
            search.run(simulator, executor=self.executor(), parallel=4)
            self.assertEqual(told(search), told(whole))

    def test_the_example_of_the_docs(self):
        page = (ROOT / "docs/PythonSearch.md").read_text()
        (text,) = re.findall(r"^```py\n(.*?)^```", page, re.M | re.S)
        exec(text.replace('"examples/', f'"{ROOT}/examples/'), {"__name__": "docs"})

    def test_no_cluster_and_no_room(self):
        problem = small()

        def broken(strategy):
            raise RuntimeError("no such engine")

        search = so.Search(problem, "random", budget=2)
        wanted = self.executor(resources={"chips": 1}, patience_s=1.0)
        with self.assertRaisesRegex(so.ClusterLost, "no node has 'chips'; known: chip"):
            search.run(broken, executor=wanted)
        result = search.run(broken, executor=self.executor())
        self.assertEqual(result.failures, {"RuntimeError: no such engine": 2})
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "import shardopt as so, shardopt.ray\n"
                "try: shardopt.ray.Executor(address='localhost:1').host(None, 1)\n"
                "except so.ClusterLost as error: print(error)",
            ],
            capture_output=True,
            text=True,
        )
        self.assertIn("no Ray cluster at 'localhost:1'", done.stdout, done.stderr)


@unittest.skipUnless(
    importlib.util.find_spec("ray") and importlib.util.find_spec("pyarrow"),
    "ray[tune] is not installed",
)
class TuneTest(unittest.TestCase):
    def test_a_searcher_of_tune(self):
        from shardopt.ray_tune import Searcher

        problem = small()
        with tempfile.TemporaryDirectory() as folder:
            log, saved = f"{folder}/run.jsonl", f"{folder}/saved"
            searcher = Searcher(problem, "random", budget=6, checkpoint=log)
            for number in range(4):
                config = searcher.suggest(str(number))
                strategy = so.Strategy.from_dict(config, problem.model.ops)
                metrics = so.evaluate(problem, [strategy])[0].to_dict()
                if number < 2:
                    searcher.on_trial_complete(str(number), {**metrics, "config": config})
            searcher.on_trial_complete("2", None, error=True)
            searcher.save(saved)
            searcher.search.close()
            searcher = Searcher(problem, "random", budget=6, checkpoint=log)
            searcher.restore(saved)
            self.assertEqual(len(searcher.search.history), 3)
            self.assertEqual(searcher.search.failures, {"error": 1})
            searcher.on_trial_complete("3", {"throughput": float("nan")})
            self.assertEqual(searcher.search.failures, {"error": 1, "no result": 1})
            for number in (4, 5):
                self.assertIn("dims", searcher.suggest(str(number)))
                searcher.on_trial_complete(str(number), {"throughput": 3.0})
            self.assertEqual(searcher.suggest("6"), Searcher.FINISHED)
            self.assertEqual(len(searcher.search.history), 6)
            self.assertEqual(len(Path(log).read_text().splitlines()), 1 + 6 + 6)
            searcher.search.close()


if __name__ == "__main__":
    unittest.main()
