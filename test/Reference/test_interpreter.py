#!/usr/bin/python3
"""The interpreter on small programs: one device against many."""

import unittest

import numpy as np

from execution.interpreter import Interpreter
from execution.numerics import rotate
from execution.slices import MICRO, block_of, cut, degrees_of

RANDOM = np.random.default_rng(5)


def program(body, arguments, result, grid=None):
    """A module with one function; arguments: {name: type}."""
    head = f'"shard.grid"() <{{shape = array<i64: {grid}>, sym_name = "g"}}> : () -> ()' if grid else ""
    listed = ", ".join(f"%{name}: {type_}" for name, type_ in arguments.items())
    return f"""
"builtin.module"() ({{
  {head}
  "func.func"() <{{sym_name = "f"}}> ({{
  ^bb0({listed}):
    {body}
    "func.return"(%y) : ({result}) -> ()
  }}) : () -> ()
}}) : () -> ()"""


def run(text, *arguments):
    """Results of the function; every argument is a list by device."""
    return Interpreter(text, None).run("f", list(arguments))


X = "tensor<?x8xf32>"


class Collectives(unittest.TestCase):
    def gather(self, op, attributes, values, result=X):
        body = f'%y = "shard.{op}"(%x) <{{grid = @g, {attributes}}}> : ({X}) -> {result}'
        (results,) = run(program(body, {"x": X}, result, "2, 2"), values)
        return results

    def test_groups_follow_the_axes(self):
        values = [np.full((1, 8), float(i)) for i in range(4)]
        rows = self.gather("all_gather", "grid_axes = array<i16: 1>, gather_axis = 0 : i64", values)
        self.assertEqual([list(r[:, 0]) for r in rows], [[0, 1], [0, 1], [2, 3], [2, 3]])
        rows = self.gather("all_gather", "grid_axes = array<i16: 0>, gather_axis = 0 : i64", values)
        self.assertEqual([list(r[:, 0]) for r in rows], [[0, 2], [1, 3], [0, 2], [1, 3]])

    def test_reduce_scatter_is_all_reduce_and_slice(self):
        values = list(RANDOM.normal(size=(4, 4, 8)))
        axes = "grid_axes = array<i16: 0, 1>"
        reduced = self.gather("all_reduce", axes, values)
        scattered = self.gather("reduce_scatter", f"{axes}, scatter_axis = 0 : i64", values)
        for i, part in enumerate(scattered):
            np.testing.assert_allclose(part, reduced[0][i : i + 1])

    def test_all_to_all_moves_rows_to_columns(self):
        whole = RANDOM.normal(size=(4, 8))
        rows = [whole[2 * i : 2 * i + 2] for i in (0, 1)] * 2
        attributes = "grid_axes = array<i16: 1>, split_axis = 1 : i64, concat_axis = 0 : i64"
        columns = self.gather("all_to_all", attributes, rows, "tensor<?x4xf32>")
        for device, part in enumerate(columns):
            begin = 4 * (device % 2)
            np.testing.assert_array_equal(part, whole[:, begin : begin + 4])


class Stages(unittest.TestCase):
    def setUp(self):
        sent = f'%y = "shard.send"(%x) <{{grid = @g, grid_axes = array<i16: 0>, destination = array<i64: 1>}}> : ({X}) -> {X}'
        self.interpreter = Interpreter(program(sent, {"x": X}, X, "2, 2"), None)
        got = sent.replace("send", "recv").replace("destination = array<i64: 1>", "source = array<i64: 0>")
        receiver = Interpreter(program(got, {"x": X}, X, "2, 2"), None)
        self.interpreter.functions["g"] = receiver.functions["f"]
        self.values = [RANDOM.normal(size=(3, 8)) for _ in range(2)]

    def test_what_is_sent_arrives_in_order(self):
        for values in (self.values, self.values[::-1]):
            self.interpreter.run("f", [values], devices=(0, 1))
        likes = [np.zeros((3, 8))] * 2
        for expected in (self.values, self.values[::-1]):
            (found,) = self.interpreter.run("g", [likes], devices=(2, 3))
            np.testing.assert_array_equal(found, expected)

    def test_wrong_shapes_and_missing_messages_are_errors(self):
        likes = [np.zeros((2, 8))] * 2
        with self.assertRaisesRegex(AssertionError, "nothing was sent to device 2"):
            self.interpreter.run("g", [likes], devices=(2, 3))
        self.interpreter.run("f", [self.values], devices=(0, 1))
        with self.assertRaisesRegex(AssertionError, "device 2 got"):
            self.interpreter.run("g", [likes], devices=(2, 3))

    def test_a_part_of_a_group_cannot_gather(self):
        body = f'%y = "shard.all_gather"(%x) <{{grid = @g, grid_axes = array<i16: 0>, gather_axis = 0 : i64}}> : ({X}) -> {X}'
        interpreter = Interpreter(program(body, {"x": X}, X, "2, 2"), None)
        with self.assertRaisesRegex(AssertionError, "a part of a group"):
            interpreter.run("f", [self.values], devices=(0, 1))


class Slices(unittest.TestCase):
    def test_micro_batches_come_between_ep_and_tp(self):
        grid = {"ep": 2, "tp": 2, MICRO: 2}
        blocks = [
            list(block_of(7, ["ep", "tp"], {"ep": ep, "tp": tp, MICRO: micro}, grid))
            for ep in range(2)
            for micro in range(2)
            for tp in range(2)
        ]
        self.assertEqual(blocks, [[0], [1], [2], [3], [4], [5], [6], []])

    def test_rows_alike_are_cut_by_the_largest_part(self):
        grid = {"dp": 3, "tp": 2}
        axes = ["dp", "tp"]
        places = [{"dp": dp, "tp": tp} for dp in range(3) for tp in range(2)]
        own = [list(block_of(7, axes, place, grid)) for place in places]
        self.assertEqual(own, [[0, 1], [2], [3, 4], [5], [6], []])
        alike = [list(block_of(10, axes, place, grid, alike=True)) for place in places]
        self.assertEqual(alike, [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], []])
        held = {"dims": [{"rows": axes, "alike": None}]}
        part = cut(np.arange(10), held, {"dp": 2, "tp": 0}, grid, 10)
        self.assertEqual(list(part), [8, 9])

    def test_strides_are_as_long_on_every_device(self):
        held = {"dims": [{}, {"stride": "cp"}]}
        value = np.arange(1, 8)[None]
        parts = [cut(value, held, {"cp": cp}, {"cp": 3}, 1).tolist() for cp in range(3)]
        self.assertEqual(parts, [[[1, 4, 7]], [[2, 5, 0]], [[3, 6, 0]]])

    def test_degrees_are_runs_of_axes(self):
        # tp 8, dp 4, ep 16, cp 2: etp 2.
        axes = {"tp": [2, 3], "dp": [1], "ep": [1, 2], "etp": [3], "cp": [3]}
        place, grid = degrees_of((0, 3, 2, 1), (1, 4, 4, 2), axes)
        self.assertEqual(grid, {"pp": 1, "tp": 8, "dp": 4, "ep": 16, "etp": 2, "cp": 2})
        self.assertEqual(place, {"pp": 0, "tp": 5, "dp": 3, "ep": 14, "etp": 1, "cp": 1})
        place, grid = degrees_of((1, 0, 2), (2, 1, 3))
        self.assertEqual((place, grid), ({"pp": 1, "ep": 0, "tp": 2}, {"pp": 2, "ep": 1, "tp": 3}))


DISPATCHED = """
%rows, %counts, %origins = "llm.dispatch"(%t, %i) <{name = "dispatch", experts = 6 : i64}>
  : (tensor<?x8xf32>, tensor<?x2xi32>) -> (tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?xi32>)
%u = "llm.ffn_up"(%rows, %w, %counts) <{name = "ffn_up", operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>,
    activation = #llm.activation<kind = silu, gated = true>}>
  : (tensor<?x8xf32>, tensor<6x8x8xf32>, tensor<1x1x6xi32>) -> tensor<?x4xf32>
%d = "llm.ffn_down"(%u, %v, %counts) <{name = "ffn_down", operandSegmentSizes = array<i32: 1, 1, 0, 1>}>
  : (tensor<?x4xf32>, tensor<6x4x8xf32>, tensor<1x1x6xi32>) -> tensor<?x8xf32>
%y = "llm.combine"(%d, %counts, %origins, %p) <{name = "combine"}>
  : (tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?xi32>, tensor<?x2xf32>) -> tensor<?x8xf32>"""

# Three groups of experts (ep), two homes of rows (tp): dims 0 of dispatch and
# combine, with the experts' products on gathered rows.
EXCHANGED = """
%zero = "arith.constant"() <{value = 0 : index}> : () -> index
%send, %o = "llm.exchange_plan"(%i, %zero) : (tensor<?x2xi32>, index) -> (tensor<3x1x2xi32>, tensor<?xi32>)
%wire = "llm.permute"(%t, %o) <{top_k = 2 : i64}> : (tensor<?x8xf32>, tensor<?xi32>) -> tensor<?x8xf32>
%recv = "shard.all_to_all"(%send) <{grid = @g, grid_axes = array<i16: 0>, split_axis = 0 : i64, concat_axis = 0 : i64}>
  : (tensor<3x1x2xi32>) -> tensor<3x1x2xi32>
%in = "llm.all_to_all_v"(%wire, %send, %recv) <{grid = @g, grid_axes = array<i16: 0>}>
  : (tensor<?x8xf32>, tensor<3x1x2xi32>, tensor<3x1x2xi32>) -> tensor<?x8xf32>
%own = "llm.block_size"(%recv) : (tensor<3x1x2xi32>) -> tensor<1xi32>
%block = "shard.all_reduce"(%own) <{grid = @g, grid_axes = array<i16: 1>, reduction = #shard.partial<max>}>
  : (tensor<1xi32>) -> tensor<1xi32>
%packed, %homes = "llm.pack_homes"(%in, %recv, %block)
  : (tensor<?x8xf32>, tensor<3x1x2xi32>, tensor<1xi32>) -> (tensor<?x8xf32>, tensor<1x3x2xi32>)
%all = "shard.all_gather"(%packed) <{grid = @g, grid_axes = array<i16: 1>, gather_axis = 0 : i64}>
  : (tensor<?x8xf32>) -> tensor<?x8xf32>
%allhomes = "shard.all_gather"(%homes) <{grid = @g, grid_axes = array<i16: 1>, gather_axis = 0 : i64}>
  : (tensor<1x3x2xi32>) -> tensor<2x3x2xi32>
%u = "llm.ffn_up"(%all, %w, %allhomes) <{name = "ffn_up", operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>,
    activation = #llm.activation<kind = silu, gated = true>}>
  : (tensor<?x8xf32>, tensor<2x8x8xf32>, tensor<2x3x2xi32>) -> tensor<?x4xf32>
%d = "llm.ffn_down"(%u, %v, %allhomes) <{name = "ffn_down", operandSegmentSizes = array<i32: 1, 1, 0, 1>}>
  : (tensor<?x4xf32>, tensor<2x4x8xf32>, tensor<2x3x2xi32>) -> tensor<?x8xf32>
%mine = "shard.all_slice"(%d) <{grid = @g, grid_axes = array<i16: 1>, slice_axis = 0 : i64}>
  : (tensor<?x8xf32>) -> tensor<?x8xf32>
%out = "llm.unpack_homes"(%mine, %recv) : (tensor<?x8xf32>, tensor<3x1x2xi32>) -> tensor<?x8xf32>
%back = "llm.all_to_all_v"(%out, %recv, %send) <{grid = @g, grid_axes = array<i16: 0>}>
  : (tensor<?x8xf32>, tensor<3x1x2xi32>, tensor<3x1x2xi32>) -> tensor<?x8xf32>
%y = "llm.unpermute"(%back, %o, %p) : (tensor<?x8xf32>, tensor<?xi32>, tensor<?x2xf32>) -> tensor<?x8xf32>"""


class Experts(unittest.TestCase):
    def test_exchange_equals_one_device(self):
        tokens = RANDOM.normal(size=(12, 8))
        chosen = np.array([RANDOM.permutation(6)[:2] for _ in range(12)])
        chosen[:5] = (4, 5)  # an uneven load
        weights = RANDOM.random(size=(12, 2))
        up, down = RANDOM.normal(size=(6, 8, 8)), RANDOM.normal(size=(6, 4, 8))
        types = {"t": X, "i": "tensor<?x2xi32>", "p": "tensor<?x2xf32>"}
        one = {**types, "w": "tensor<6x8x8xf32>", "v": "tensor<6x4x8xf32>"}
        ((expected,),) = run(
            program(DISPATCHED, one, X), [tokens], [chosen], [weights], [up], [down]
        )

        # Device (e, t) of a 3 x 2 grid has rows 4e + 2t and 4e + 2t + 1.
        cut = [slice(2 * device, 2 * device + 2) for device in range(6)]
        held = [slice(2 * (device // 2), 2 * (device // 2) + 2) for device in range(6)]
        many = {**types, "w": "tensor<2x8x8xf32>", "v": "tensor<2x4x8xf32>"}
        (parts,) = run(
            program(EXCHANGED, many, X, "3, 2"),
            [tokens[rows] for rows in cut],
            [chosen[rows] for rows in cut],
            [weights[rows] for rows in cut],
            [up[experts] for experts in held],
            [down[experts] for experts in held],
        )
        np.testing.assert_allclose(np.concatenate(parts), expected, rtol=1e-12)

    def test_padding_is_not_sent(self):
        plan = """%y, %o = "llm.exchange_plan"(%i, %b) : (tensor<?x2xi32>, index)
            -> (tensor<2x2x1xi32>, tensor<?xi32>)"""
        text = program(plan, {"i": "tensor<?x2xi32>", "b": "index"}, "tensor<2x2x1xi32>")
        indices = np.array([[1, 0], [-1, -1], [1, 0], [1, 0]])
        ((counts,),) = run(text, [indices], [2])
        np.testing.assert_array_equal(counts[..., 0], [[1, 2], [1, 2]])


class Attention(unittest.TestCase):
    ROPE = "rope = #llm.rope<dim = 8, theta = 1.0e4>"
    TYPES = {"x": "tensor<?x80xf32>", "p": "tensor<?xi32>"}

    def setUp(self):
        self.x = RANDOM.normal(size=(3, 80))  # 6 queries, 2 keys, 2 values of 8
        self.caches = [RANDOM.normal(size=(3, 5, 2, 8)) for _ in range(2)]
        self.positions = np.array([4, 0, 2])

    def whole(self):
        body = f"""%y, %a, %b = "llm.attention"(%x, %p, %k, %v) <{{name = "attention",
            kind = #llm<attention_kind gqa>, heads = 6 : i64, kv_heads = 2 : i64, head_dim = 8 : i64,
            group = 3 : i64, scale = 0.25 : f64, {self.ROPE},
            operandSegmentSizes = array<i32: 1, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0>}}> : (tensor<?x80xf32>, tensor<?xi32>,
            tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> (tensor<?x48xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>)"""
        cache = "tensor<?x?x2x8xf32>"
        text = program(body, {**self.TYPES, "k": cache, "v": cache}, "tensor<?x48xf32>")
        ((result,),) = run(text, [self.x], [self.positions], *([c] for c in self.caches))
        return result.reshape(3, 6, 8)

    def test_heads_over_four_devices(self):
        # Six heads in twos: device 1 reads both kv heads, device 3 has no head.
        columns = self.x.reshape(3, 10, 8)
        kv = [[0, 0], [0, 1], [1, 1], [1, 1]]
        queries = [[0, 1], [2, 3], [4, 5], [4, 5]]
        own = [columns[:, q + [6 + i for i in k] + [8 + i for i in k]] for q, k in zip(queries, kv)]
        cache = "tensor<?x?x2x8xf32>"
        body = f"""%y, %a, %b = "llm.attention"(%x, %p, %k, %v, %o) <{{name = "attention",
            kind = #llm<attention_kind gqa>, heads = 2 : i64, kv_heads = 2 : i64, head_dim = 8 : i64,
            group = 3 : i64, scale = 0.25 : f64, {self.ROPE},
            operandSegmentSizes = array<i32: 1, 0, 1, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0>}}> : (tensor<?x48xf32>, tensor<?xi32>,
            tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, index) -> (tensor<?x16xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>)"""
        types = {"x": "tensor<?x48xf32>", "p": "tensor<?xi32>", "k": cache, "v": cache, "o": "index"}
        (results,) = run(
            program(body, types, "tensor<?x16xf32>", "4"),
            [part.reshape(3, -1) for part in own],
            [self.positions] * 4,
            *([whole[:, :, heads] for heads in kv] for whole in self.caches),
            [0, 2, 4, 6],
        )
        together = np.concatenate(results, axis=1).reshape(3, 8, 8)[:, :6]
        np.testing.assert_allclose(together, self.whole(), rtol=1e-12)

    def test_pairs_over_three_devices(self):
        # Four rotary pairs in twos: the third device holds padding alone.
        def cut(x, device):
            pairs = [2 * device, 2 * device + 1]
            if pairs[0] >= 4:
                return np.zeros(x.shape[:-1] + (4,))
            return x[..., pairs + [4 + pair for pair in pairs]]

        columns = self.x.reshape(3, 10, 8)
        parts = [cut(columns, device) for device in range(3)]
        cache = "tensor<?x?x2x4xf32>"
        body = f"""
%s, %a = "llm.attention_scores"(%x, %p, %k, %o) <{{heads = 6 : i64, kv_heads = 2 : i64, head_dim = 4 : i64,
    group = 3 : i64, scale = 0.25 : f64, {self.ROPE}}}>
  : (tensor<?x32xf32>, tensor<?xi32>, {cache}, index) -> (tensor<?x6x?xf32>, {cache})
%r = "shard.all_reduce"(%s) <{{grid = @g, grid_axes = array<i16: 0>}}> : (tensor<?x6x?xf32>) -> tensor<?x6x?xf32>
%y, %b = "llm.attention_values"(%r, %z, %p, %v) <{{heads = 6 : i64, kv_heads = 2 : i64, head_dim = 4 : i64,
    group = 3 : i64}}> : (tensor<?x6x?xf32>, tensor<?x8xf32>, tensor<?xi32>, {cache}) -> (tensor<?x24xf32>, {cache})"""
        types = {"x": "tensor<?x32xf32>", "z": "tensor<?x8xf32>", "p": "tensor<?xi32>"}
        types |= {"k": cache, "v": cache, "o": "index"}
        (results,) = run(
            program(body, types, "tensor<?x24xf32>", "3"),
            [part[:, :8].reshape(3, -1) for part in parts],
            [part[:, 8:].reshape(3, -1) for part in parts],
            [self.positions] * 3,
            *([cut(whole, device) for device in range(3)] for whole in self.caches),
            [0, 2, 4],
        )
        whole = self.whole()
        for device, result in enumerate(results):
            np.testing.assert_allclose(result.reshape(3, 6, 4), cut(whole, device), rtol=1e-12)

    def test_turning_is_by_relative_position(self):
        x, y = RANDOM.normal(size=(2, 1, 1, 8))
        frequencies = 0.1 ** np.arange(4)
        at = lambda v, position: rotate(v, np.array([position]), frequencies)
        near, far = (np.sum(at(x, 3 + d) * at(y, d)) for d in (0, 100))
        self.assertAlmostEqual(near, far)


class Head(unittest.TestCase):
    def test_argmax_over_devices_prefers_the_lower_index(self):
        logits = np.array([[1.0, 7.0, 3.0, 7.0, 0.0, 9.0], [-5.0, -6.0, -5.0, -7.0, -8.0, 0.0]])
        body = """
%a = "llm.argmax"(%x, %o) <{vocabulary = 5 : i64}> : (tensor<?x2xf32>, index) -> tensor<?x2xi32>
%b = "shard.all_gather"(%a) <{grid = @g, grid_axes = array<i16: 0>, gather_axis = 1 : i64}>
  : (tensor<?x2xi32>) -> tensor<?x6xi32>
%y = "llm.argmax_merge"(%b) : (tensor<?x6xi32>) -> tensor<?xi32>"""
        types = {"x": "tensor<?x2xf32>", "o": "index"}
        (ids,) = run(
            program(body, types, "tensor<?xi32>", "3"),
            [logits[:, 2 * device : 2 * device + 2] for device in range(3)],
            [0, 2, 4],
        )
        for found in ids:
            np.testing.assert_array_equal(found, [1, 0])  # column 5 is padding


if __name__ == "__main__":
    unittest.main()
