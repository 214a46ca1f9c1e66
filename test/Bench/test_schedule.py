"""What a table of schedules says of experts' orders."""

import unittest

import schedule


class BubblesTest(unittest.TestCase):
    REPORT = {"baselines": {"1f1b": {"bubble": 21, "peak": 8}, "dualpipe": {"bubble": 6, "peak": 9}}}

    def test_an_order_that_does_not_fit_has_none(self):
        for memory, wanted in ((9, ["21", "6"]), (8, ["21", "-"]), (7, ["-", "-"])):
            found = [schedule.bubble_of(self.REPORT, name, memory) for name in ("1f1b", "dualpipe")]
            self.assertEqual(found, wanted, memory)

    def test_without_a_limit_all_fit(self):
        self.assertEqual(schedule.memory_of(["--pattern=train"]), float("inf"))
        self.assertEqual(schedule.memory_of(["--memory=9", "--memory=7"]), 7)


if __name__ == "__main__":
    unittest.main()
