"""Generated graphs have as many operators as asked for, and edges that go forward."""

import unittest

import generate_graph


class GraphsTest(unittest.TestCase):
    def test_shapes(self):
        for shape in generate_graph.SHAPES:
            for count in (28, 60):
                graph = generate_graph.generate(shape, count, 4, seed=1)
                number = {op["id"]: index for index, op in enumerate(graph["ops"])}
                self.assertEqual(len(number), count, shape)
                for edge in graph["edges"]:
                    self.assertLess(number[edge["from"]], number[edge["to"]], shape)

    def test_branches_meet(self):
        """Every operator but the first has one before it, and all but the last one behind."""
        for shape in ("inception", "hybrid"):
            graph = generate_graph.generate(shape, 60, 4, seed=1)
            self.assertEqual(len({edge["to"] for edge in graph["edges"]}), 59, shape)
            self.assertEqual(len({edge["from"] for edge in graph["edges"]}), 59, shape)


if __name__ == "__main__":
    unittest.main()
