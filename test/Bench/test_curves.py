"""The curves of bench/solve.py: what holds at a time, and where it is drawn."""

import pathlib
import re
import tempfile
import unittest
import xml.dom.minidom

import solve
import solve_plot

TRACE = [
    {"seconds": 0.5, "iteration": 0, "cost": None, "bound": 0},
    {"seconds": 2.0, "iteration": 1, "cost": "200", "bound": None},
    {"seconds": 4.0, "iteration": 2, "cost": "101", "bound": "90"},
]


class Curves(unittest.TestCase):
    def test_the_last_that_is_known(self):
        self.assertEqual(solve.at(TRACE, "seconds", 1), (float("inf"), 0))
        self.assertEqual(solve.at(TRACE, "seconds", 3), (200, 0))
        self.assertEqual(solve.at(TRACE, "iteration", 2), (101, 90))

    def test_places_are_logarithmic(self):
        self.assertEqual(solve_plot.place(10.0**solve_plot.HIGHEST), 0)
        self.assertEqual(solve_plot.place(0), solve_plot.HEIGHT)
        third = solve_plot.place(0.01) - solve_plot.place(0.1)
        self.assertAlmostEqual(third, solve_plot.place(0.001) - solve_plot.place(0.01))

    def test_bands_go_from_the_least_to_the_largest(self):
        points = [[(200, 50), (300, 60)], [(100, 80), (110, 90), (120, 95)]]
        lines = list(solve_plot.panel("K", [5, 10], points))
        areas = [re.findall(r"[\d.]+ [\d.]+", line) for line in lines if "fill-opacity" in line]
        ends = [float(area[1].split()[1]) for area in areas]
        others = [float(area[2].split()[1]) for area in areas]
        # Cost: 0 and 20 % above the least; bound: 5 and 20 % below it.
        self.assertEqual([ends[0], others[0]], [solve_plot.HEIGHT, round(solve_plot.place(0.2), 1)])
        self.assertEqual([ends[1], others[1]], [round(solve_plot.place(d), 1) for d in (0.05, 0.2)])

    def test_a_plot_is_well_formed_and_needs_no_cost(self):
        points = [[(float("inf"), 0)], [(100, 90)]]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "plot.svg")
            solve_plot.plot({"K": ([1, 2], points), "L": ([1, 2], points)}, "rounds", path)
            text = path.read_text()
        xml.dom.minidom.parseString(text)
        self.assertEqual(text.count("<g "), 2)
        self.assertNotIn("nan", text)


if __name__ == "__main__":
    unittest.main()
