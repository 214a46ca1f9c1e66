"""What ends a search of the planner: callbacks and signal handlers that raise."""

import signal
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

    def test_what_a_signal_handler_raises_ends_the_search(self):
        def raises(*_):
            raise Wrong

        before = signal.signal(signal.SIGALRM, raises)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with self.assertRaises(Wrong):
            self.long()

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


class NetworksTest(unittest.TestCase):
    def test_searchers_with_networks_of_a_build_tree(self):
        home = Path(so.__file__).absolute().parents[2]
        if not (home / "lib/libShardOptAgentTorch.so").exists():
            self.skipTest("this build has no networks")
        good = {"throughput": 1.0, "tpot_ms": 1.0, "memory_gb": 1.0}
        search = so.Search(small(max_devices=4), "ppo", budget=4)
        self.assertEqual(search.run(lambda strategy: good).evaluations, 4)


if __name__ == "__main__":
    unittest.main()
