#!/usr/bin/python3
"""The reader of generic assembly, on what MLIR prints."""

import math
import unittest

import numpy as np

from execution.mlir_generic import Keyword, ParseError, Symbol, parse

PROGRAM = """
"builtin.module"() ({
  "shard.grid"() <{shape = array<i64: 2, 4>, sym_name = "g"}> : () -> ()
  "func.func"() <{arg_attrs = [{llm.role = "tokens"}, {}], sym_name = "f"}> ({
  ^bb0(%arg0: tensor<?x8xf32>, %arg1: tensor<4x8xbf16>):
    %0 = "arith.constant"() <{value = dense<[[1.0, 2.0]]> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
    %1 = "arith.constant"() <{value = 0xFF800000 : f32}> : () -> f32
    %5:2 = "shard.process_multi_index"() <{axes = array<i16>, grid = @g}> : () -> (index, index)
    %6 = "scf.for"(%5#0, %5#1, %5#1, %arg0) ({
    ^bb0(%arg4: index, %arg5: tensor<?x8xf32>):
      "scf.yield"(%arg5) : (tensor<?x8xf32>) -> ()
    }) : (index, index, index, tensor<?x8xf32>) -> tensor<?x8xf32>
    "func.return"(%6) : (tensor<?x8xf32>) -> ()
  }) {t = () -> i32} : () -> ()
  "func.func"() <{sym_name = "ext", sym_visibility = "private"}> ({
  }) : () -> ()
}) {x = {a = 1 : i32, "b c" = [1.5, 2.0e-3 : f32], d = true, e,
    f = #llm.rope<theta = 5.0e+05, kind = yarn, table = [0, -1, 2], part = <16, "x{layer}">>}} : () -> ()
"""


class Parse(unittest.TestCase):
    def setUp(self):
        (self.module,) = parse(PROGRAM)

    def test_attributes(self):
        x = self.module["x"]
        self.assertEqual((x["a"], x["b c"], x["d"], x["e"]), (1, [1.5, 2.0e-3], True, True))
        rope = x["f"]
        self.assertEqual(rope.name, "llm.rope")
        self.assertEqual((rope["theta"], rope["kind"]), (5e5, Keyword("yarn")))
        self.assertEqual(rope["table"], [0, -1, 2])
        self.assertEqual(rope["part"].values, [16, "x{layer}"])

    def test_values_are_connected(self):
        grid, function, external = self.module.body
        self.assertEqual(grid["shape"], [2, 4])
        self.assertEqual(function["arg_attrs"], [{"llm.role": "tokens"}, {}])
        self.assertEqual(external.regions, [[]])
        (block,) = function.regions[0]
        constant, infinity, index, loop, end = block.ops
        self.assertEqual(constant["value"].tolist(), [[1, 2]])
        self.assertTrue(math.isinf(infinity["value"]) and infinity["value"] < 0)
        self.assertEqual(index["grid"], Symbol("g"))
        self.assertIs(loop.operands[0], index.results[0])
        self.assertIs(loop.operands[3], block.arguments[0])
        self.assertIs(end.operands[0], loop.results[0])
        self.assertEqual(loop.regions[0][0].ops[0].name, "scf.yield")

    def test_types(self):
        (block,) = self.module.body[1].regions[0]
        dynamic, static = (argument.type for argument in block.arguments)
        self.assertEqual((dynamic.shape, dynamic.element), ((None, 8), "f32"))
        self.assertEqual((static.shape, static.element), ((4, 8), "bf16"))

    def test_splat(self):
        text = '%0 = "a.b"() {v = dense<0.5> : tensor<2x3xf32>} : () -> i1'
        np.testing.assert_array_equal(parse(text)[0]["v"], np.full((2, 3), 0.5))

    def test_errors_have_a_line(self):
        with self.assertRaisesRegex(ParseError, "line 2: expected a definition of %1"):
            parse('"a.b"() : () -> ()\n"a.c"(%1) : (i32) -> ()')
        with self.assertRaisesRegex(ParseError, "line 1: expected"):
            parse("a.b : i32")


if __name__ == "__main__":
    unittest.main()
