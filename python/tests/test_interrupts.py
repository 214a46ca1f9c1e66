"""What ends a search of the planner: callbacks and signal handlers that raise."""

import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import shardopt as so

ROOT = Path(__file__).resolve().parents[2]


def small(**others):
    model = so.load_model(ROOT / "examples/models/small-moe.json", so.Decode(context=24))
    return so.Problem(model, simulator="roofline", **others)


class Wrong(Exception):
    pass


#: Python loses what a handler raises while it compiles a module that is imported. So it is
#: raised again after that many seconds, which no search takes to end.
AGAIN = 10


class InterruptTest(unittest.TestCase):
    """A search of hours, which an exception ends."""

    def long(self):
        problem = small(max_devices=64, searcher="random", budget=2**31)
        return so.plan(problem, progress=self.progress)

    def progress(self, *told):
        pass

    def test_what_a_callback_raises_ends_the_search(self):
        for kind in (Wrong, ValueError, RuntimeError):
            self.progress = mock.Mock(side_effect=kind("mine"))
            with self.assertRaisesRegex(kind, "^mine$") as caught:
                self.long()
            self.assertIs(type(caught.exception), kind)
            self.progress.assert_called_once()

    def raise_after(self, seconds):
        """Raises `Wrong` in a signal handler."""

        def raises(*_):
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
            raise Wrong

        before = signal.signal(signal.SIGALRM, raises)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def test_what_a_signal_handler_raises_ends_the_search(self):
        self.raise_after(0.3)
        with self.assertRaises(Wrong):
            self.long()

    def test_a_signal_handler_that_raises_ends_the_search_for_a_service(self):
        model = so.load_model(
            ROOT / "examples/configs/qwen3-235b-a22b.json", so.Decode(context=9000)
        )
        problem = so.Problem(model, "h200_sxm", max_devices=64, isl=1000, osl=8000)
        self.raise_after(0.05)
        with self.assertRaises(Wrong):
            so.plan(problem)

    def test_a_search_for_a_service_tells_how_far_it_is(self):
        model = so.load_model(ROOT / "examples/configs/qwen3-235b-a22b.json")
        problem = so.Problem(model, "h200_sxm", devices=64, isl=1000, osl=8000, tpot_ms=30)
        told = []
        service = so.plan(problem, progress=lambda *each: told.append(each))
        self.assertTrue(told)
        counts = [count for count, *_ in told]
        self.assertEqual(counts, sorted(counts))
        for _, throughput, tpot in told:
            self.assertEqual(throughput is None, tpot is None)
            if throughput is not None:
                self.assertLessEqual(throughput, service.metrics.tokens_per_s_per_gpu)
        for kind in (Wrong, KeyboardInterrupt):
            with self.assertRaises(kind):
                so.plan(problem, progress=mock.Mock(side_effect=kind))

    def test_other_threads_go_on_while_it_ends(self):
        beats, is_over = [], threading.Event()

        def beat():
            while not is_over.is_set():
                beats.append(time.monotonic())
                time.sleep(0.001)

        thread = threading.Thread(target=beat)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(is_over.set)
        self.progress = mock.Mock(side_effect=Wrong)
        began = time.monotonic()
        with self.assertRaises(Wrong):
            self.long()
        during = [each for each in beats if each >= began]
        self.assertGreater(len(during), 3)


#: A simulator that notes each strategy in a file, and thinks for a twentieth of a second.
COUNTING = """
import json, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        print('{"protocol": 1, "name": "counting"}', flush=True)
        continue
    with open(sys.argv[1], "ab") as file:
        file.write(b".")
    time.sleep(0.05)
    good = {"throughput": 1.0, "tpot_ms": 1.0, "memory_gb": 1.0, "reason": ""}
    print(json.dumps({"id": asked["id"], "valid": True, **good}), flush=True)
"""


class CountTest(unittest.TestCase):
    """What goes on after an exception is counted in evaluations, not in seconds."""

    #: A moment of a busy machine, in evaluations, and those that were under way.
    FEW = 20

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.noted = Path(scratch.name, "noted")
        self.noted.touch()
        worker = Path(scratch.name, "worker.py")
        worker.write_text(COUNTING)
        words = [sys.executable, str(worker), str(self.noted)]
        self.simulator = "exec:" + shlex.join(words)
        self.before = None

    def count(self):
        return self.noted.stat().st_size

    def raises(self, *_):
        if self.count() >= 3:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.before = self.count()
            raise Wrong

    def check_few(self):
        self.assertIsNotNone(self.before)
        after = self.count()
        self.assertLessEqual(after - self.before, self.FEW)
        time.sleep(0.2)
        self.assertEqual(self.count(), after)  # nothing goes on behind

    def test_after_a_callback_of_a_plan(self):
        problem = small(max_devices=64, searcher="random", budget=2**31)
        problem = problem.replace(simulator=self.simulator)
        with self.assertRaises(Wrong):
            so.plan(problem, progress=self.raises)
        self.check_few()

    def test_after_a_signal_handler_of_a_plan(self):
        problem = small(max_devices=64, searcher="random", budget=2**31)
        problem = problem.replace(simulator=self.simulator)
        before = signal.signal(signal.SIGALRM, self.raises)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
        with self.assertRaises(Wrong):
            so.plan(problem)
        self.check_few()

    def test_after_a_callback_of_a_run(self):
        for order in ("deterministic", "async"):
            search = so.Search(small(max_devices=64), "random", budget=2**20)
            called = []

            def simulate(strategy):
                called.append(strategy)
                return {"throughput": 1.0, "tpot_ms": 1.0, "memory_gb": 1.0}

            def stops(search, trial, metrics):
                if len(search.history) == 5:
                    raise Wrong

            with self.assertRaises(Wrong):
                search.run(simulate, parallel=2, order=order, callbacks=[stops])
            # Those told, and as many as were under way with them.
            self.assertLessEqual(len(called), 5 + 2 * 2)
            self.assertEqual(len(search.history), 5)


#: Plans with networks in a process that has not opened them yet, and says how many seconds of
#: the processor go by between what a signal handler raises and its arrival. Networks take some
#: tenths of a second to open, so that the handler is called for while they do.
FIRST = f"""
import signal, sys, time
import shardopt as so

def raises(*_):
    global began
    signal.setitimer(signal.ITIMER_PROF, {AGAIN})
    began = time.process_time()
    raise KeyError("mine")

model = so.load_model(sys.argv[1], so.Decode(context=24))
problem = so.Problem(model, max_devices=64, simulator="roofline", searcher="ppo", budget=2**31)
so.plan(problem.replace(searcher="exact"))  # loads all but networks
signal.signal(signal.SIGPROF, raises)
signal.setitimer(signal.ITIMER_PROF, 0.05)
try:
    so.plan(problem)
except KeyError as error:
    signal.setitimer(signal.ITIMER_PROF, 0)
    print(error, time.process_time() - began)
"""


class NetworksTest(unittest.TestCase):
    def setUp(self):
        home = Path(so.__file__).absolute().parents[2]
        if not (home / "lib/libShardOptAgentTorch.so").exists():
            self.skipTest("this build has no networks")

    def test_an_exception_does_not_wait_for_them(self):
        words = [sys.executable, "-c", FIRST, str(ROOT / "examples/models/small-moe.json")]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        what, seconds = done.stdout.split()
        self.assertEqual(what, "'mine'")
        self.assertLess(float(seconds), 0.2)

    def test_searchers_with_networks_of_a_build_tree(self):
        good = {"throughput": 1.0, "tpot_ms": 1.0, "memory_gb": 1.0}
        search = so.Search(small(max_devices=4), "ppo", budget=4)
        self.assertEqual(search.run(lambda strategy: good).evaluations, 4)


if __name__ == "__main__":
    unittest.main()
