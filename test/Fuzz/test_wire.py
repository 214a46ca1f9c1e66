"""Wirings replace operands by values of their types."""

import random
import unittest

from fuzz import wire

MODULE = """\
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> ()}> ({
  ^bb0(%arg0: tensor<4xf32>, %arg1: tensor<?xi32>):
    %0 = "t.a"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %1:2 = "t.b"(%0, %arg1) : (tensor<4xf32>, tensor<?xi32>) -> (tensor<4xf32>, tensor<2x3xf32, #e<1, 2>>)
    %2 = "t.loop"(%1#0) <{count = 2 : i64}> ({
    ^bb0(%arg2: tensor<4xf32>):
      "t.yield"(%arg2) : (tensor<4xf32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    "t.use"(%2) {x = "y"} : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
"""


class Wire(unittest.TestCase):
    def test_values_and_operands(self):
        wiring = wire.Wiring(MODULE)
        kinds = {name: kind for _, name, kind in wiring.values}
        self.assertEqual(kinds["%1#1"], "tensor<2x3xf32, #e<1, 2>>")
        self.assertEqual(kinds["%2"], kinds["%arg2"])
        self.assertEqual(len(wiring.operands), 6)
        for number, begin, end, kind in wiring.operands:
            self.assertEqual(kinds[wiring.lines[number][begin:end]], kind)

    def test_one_operand_is_another_value_of_its_type(self):
        before = MODULE.splitlines()
        for seed in range(50):
            after = wire.Wiring(MODULE).rewired(random.Random(seed), 1).splitlines()
            changed = [i for i, lines in enumerate(zip(before, after)) if lines[0] != lines[1]]
            self.assertEqual(len(changed), 1)
            (line,) = changed
            words = set(after[line].split()) - set(before[line].split())
            self.assertNotIn("%arg1", words)

    def test_nothing_to_wire(self):
        self.assertEqual(wire.Wiring("module {\n}").rewired(random.Random(1), 3), "module {\n}\n")


if __name__ == "__main__":
    unittest.main()
