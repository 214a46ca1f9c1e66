"""Graphs of other compilers: what is chosen, what is refused, and that JAX executes it."""

import contextlib
import io
import json
import operator
import re
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

from shardopt import graphs
from shardopt.cli import main
from shardopt.errors import ShardoptError
from shardopt.torch_graphs.aten import RULES
from shardopt.torch_graphs.exported import _Walker
from test_shardings import HERE, JAX, NEEDS_JAX, NEEDS_TORCH, PYTHON, run

ROOT = HERE.parents[1]
SOME = '%0 = "stablehlo.tan"(%x) : (tensor<8xf32>) -> tensor<8xf32>'
MLP = ROOT / "examples/graphs/mlp.stablehlo.mlir"


def slow_machine(path):
    """A machine on which small graphs are worth sharding."""
    machine = json.loads((ROOT / "machines/h100_sxm.json").read_text())
    machine["compute"]["bf16_flops_per_s"] /= 1e5
    machine["memory"]["bandwidth_bytes_per_s"] /= 1e5
    path.write_text(json.dumps(machine))
    return str(path)


class GraphTest(unittest.TestCase):
    def test_costs_add_up(self):
        """The cost is that of the ops and their reshards, and no less than its bound."""
        graph = graphs.import_graph(MLP, mesh="data=2,model=4")
        spent = sum(
            node["us"] + sum(each["us"] for each in node["reshards"]) for node in graph.nodes if node["op"] != "argument"
        )
        self.assertAlmostEqual(graph.us, spent, delta=1e-3)
        self.assertTrue(graph.proved)
        self.assertEqual(graph.bound_us, graph.us)
        self.assertLess(graph.us, graph.replicated_us)
        self.assertAlmostEqual(sum(row["us"] for row in graph.rows()), graph.us, delta=1e-3)
        self.assertIn("sdy.sharding", graph.annotated)

    def test_pins_are_kept(self):
        """What is pinned has that sharding, and the cost is no less than without."""
        free = graphs.import_graph(MLP, mesh="data=2,model=4")
        pins = {"arg1": [["model"], "data"], "result*": ["data", None]}
        pinned = graphs.import_graph(MLP, mesh="data=2,model=4", pins=pins)
        self.assertEqual(pinned.placements()["arg1"], ["Shard(1)", "Shard(0)"])
        self.assertGreater(pinned.us, free.us)
        for name, sharding in pins.items():
            self.assertGreaterEqual(pinned.us, graphs.import_graph(MLP, mesh="data=2,model=4", pins={name: sharding}).us)

    def test_measured_kernels(self):
        """On a machine with constants, times are those of measured kernels, as plans have them."""
        measured, roofline = (graphs.import_graph(MLP, simulator=each) for each in ("calibrated", "roofline"))
        self.assertEqual(graphs.import_graph(MLP), measured)
        self.assertGreater(measured.us, roofline.us)

    def test_no_hand_plan_is_faster(self):
        for mesh in ("8", "data=2,model=4"):
            graph = graphs.import_graph(MLP, mesh=mesh)
            self.assertEqual([plan["plan"] for plan in graph.plans], ["chosen", "replicated", "data parallel", "Megatron"])
            for plan in graph.plans:
                self.assertGreaterEqual(plan["us"], graph.us - 1e-3, plan)
        megatron = graphs.import_graph(MLP, mesh="8").plans[3]
        self.assertEqual((megatron["all_reduces"], megatron["reshards"]), (1, 0))
        self.assertEqual(megatron["collective_bytes"], 16 * 4096 * 4)

    def test_memory_is_a_limit(self):
        """What was held is enough, and a small part of it is not."""
        free = graphs.import_graph(MLP, mesh="2x4")
        tight = graphs.import_graph(MLP, mesh="2x4", memory_gb=free.memory_bytes / 1e9)
        self.assertEqual(tight.us, free.us)
        with self.assertRaisesRegex(ShardoptError, "does not fit: every sharding takes at least [0-9]+ bytes"):
            graphs.import_graph(MLP, mesh="2x4", memory_gb=0.01)


class Node(SimpleNamespace):
    """A node of an exported graph."""


class Tensor(SimpleNamespace):
    pass


def exported(*nodes, mutated=()):
    """What a walker reads of a program of torch.export."""
    inputs = [SimpleNamespace(arg=SimpleNamespace(name=node.name), target=None) for node in nodes if node.op == "placeholder"]
    outputs = [SimpleNamespace(kind="USER_OUTPUT", target=None)]
    outputs += [SimpleNamespace(kind="BUFFER_MUTATION", target=name) for name in mutated]
    return SimpleNamespace(
        graph=SimpleNamespace(nodes=nodes), graph_signature=SimpleNamespace(input_specs=inputs, output_specs=outputs)
    )


def node(name, op, target="", args=(), shape=(8, 8), dtype="torch.float32", **kwargs):
    stack = f'File "/model.py", line 7, in forward\n    y = {name}'
    return Node(
        name=name, op=op, target=target, args=args, kwargs=kwargs, meta={"val": Tensor(shape=shape, dtype=dtype), "stack_trace": stack}
    )


class WalkerTest(unittest.TestCase):
    """The walker over graphs of torch.export, which needs no PyTorch."""

    def walked(self, *nodes, **options):
        return _Walker(exported(*nodes, **options)).module()

    def test_a_graph(self):
        x, w = node("x", "placeholder"), node("w", "placeholder")
        y = node("y", "call_function", "aten.mm.default", (x, w))
        z = node("z", "call_function", "aten.add.Tensor", (y, 1.5))
        text = self.walked(x, w, y, z, node("output", "output", args=((z,),)))
        with tempfile.TemporaryDirectory() as place:
            path = Path(place, "graph.mlir")
            path.write_text(text)
            graph = graphs.import_graph(path, mesh="2")
        self.assertEqual([each["op"] for each in graph.nodes], ["argument", "argument", "stablehlo.dot_general", "stablehlo.add", "func.return"])
        self.assertEqual(list(graph.placements()), ["x", "w"])

    def test_what_is_refused(self):
        x = node("x", "placeholder")
        most = node("m", "call_function", "aten.max.dim", (x, 1), shape=(8,))
        for nodes, options, wanted in [
            ([node("y", "call_function", "aten.svd.default", (x,))], {}, "node 'y' at model.py:7: 'aten.svd.default' is not known, expected an op of ATen with a rule; known: "),
            ([node("y", "call_function", "aten.mm.default", (x, x), shape=("s0", 8))], {}, "has sizes ['s0', '8'], expected static sizes"),
            ([node("y", "call_function", "aten.mm.default", (x, x), dtype="torch.complex64")], {}, "is of complex64, expected one of bool"),
            ([node("y", "call_function", "aten.mm.default", (x, x), shape=(8, 4))], {}, "makes tensor<8x4xf32>, and its rule tensor<8x8xf32>"),
            ([node("y", "call_function", "aten.mm.default", (x,))], {}, "has arguments without a rule"),
            ([node("y", "call_function", "aten.constant_pad_nd.default", (x, [-1, 0]))], {}, "padding is [-1, 0], expected sizes of at least 0"),
            ([most, node("y", "call_function", operator.getitem, (most, 5))], {}, "node 'y' at model.py:7: reads result 5 of node 'm'"),
            ([node("y", "get_attr", "child")], {}, "'child' is a graph of its own, as branches and loops of PyTorch have, expected one straight graph"),
            ([node("y", "call_function", "aten.mm.default", (x, x))], {"mutated": ["cache"]}, "'cache' is written in place, expected a model without"),
        ]:
            with self.subTest(wanted), self.assertRaises(ShardoptError) as raised:
                self.walked(x, *nodes, node("output", "output", args=((nodes[-1],),)), **options)
            self.assertIn(wanted, str(raised.exception))

    def test_rules_are_listed(self):
        """Names are ATen's, without an overload."""
        self.assertTrue(all(re.fullmatch(r"aten\.\w+", name) for name in RULES))


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def call(self, *words):
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = main(["import-graph", *map(str, words)])
        return code, out.getvalue() + errors.getvalue()

    def test_table(self):
        output = self.folder / "annotated.mlir"
        code, text = self.call(MLP, "--mesh", "model=8", "-o", output)
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"stablehlo.dot_general +16x4096xf32 +16 4096 sum 16384 +\[-, -\] +all-reduce model")
        self.assertRegex(text, r"time +[0-9.]+ us \(proved\)")
        self.assertRegex(text, r"Megatron +[0-9.]+ +0.0678 +1 +0")
        self.assertIn("sdy.mesh", output.read_text())
        code, text = self.call(MLP, "--json")
        found = json.loads(text)
        self.assertEqual((code, found["mesh"], found["placements"]["arg1"]), (0, {"x": 8}, ["Shard(1)"]))

    def test_axes_that_shard_nothing(self):
        """A mesh larger than any dim is no error: everything is replicated, and a note says so."""
        source = self.folder / "graph.mlir"
        source.write_text(f"func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {{\n  {SOME}\n  return %0 : tensor<8xf32>\n}}\n")
        code, text = self.call(source, "--mesh", "data=16,model=1024")
        self.assertEqual(code, 0, text)
        for axis, size in (("data", 16), ("model", 1024)):
            self.assertIn(f"axis {axis} shards nothing: no dim that {size} divides is worth it", text)

    def test_what_is_refused(self):
        source = self.folder / "graph.mlir"
        body = "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {{\n  {}\n  return %0 : tensor<8xf32>\n}}\n"
        for line, words, wanted in [
            ('%0 = "stablehlo.tan"(%x) : (tensor<8xf32>) -> tensor<8xf32>', ["--mesh", "2 y"], "'mesh' is '2 y', expected 1 to 3 axes"),
            ('%0 = "stablehlo.tan"(%x) : (tensor<8xf32>) -> tensor<8xf32>', ["--mesh", "0"], "'mesh' is '0', expected 1 to 3 axes"),
            ('%0 = "stablehlo.tan"(%x) : (tensor<8xf32>) -> tensor<8xf32>', ["--machine", "h1"], "unknown machine 'h1'"),
            ('%0 = "stablehlo.odd"(%x) : (tensor<8xf32>) -> tensor<8xf32>', [], "graph.mlir', line 2: 'stablehlo.odd' op is not known"),
            ("%0 = stablehlo.tan %x : tensor<8xf32>", [], "line 2: the module is in pretty form, expected the generic form"),
            (SOME, ["--pin", "arg1=[-]"], "'arg1' is no argument or result, known: arg0, result0"),
            (SOME, ["--pin", "arg0=[-, x]"], "expected 1 dims, each null, an axis or an array of axes, found 2"),
            (SOME, ["--pin", "arg0=[y]"], "'y' is no axis of the mesh, expected x"),
            (SOME, ["--pin", "arg0=[x]", "--pin", "a*=[-]"], "pins 'arg0' unlike 'arg0', expected one sharding of it"),
            (SOME, ["--pin", "arg0=[x]", "--mesh", "16"], "'shardopt.sharded' is 0, whose size 8 is not divided by 16 devices"),
            (SOME, ["--pin", "arg0"], "'pin' is 'arg0', expected NAME=[-, model]"),
            (SOME, ["--simulator", "slow"], "unknown simulator 'slow'"),
            (f"{SOME} return %0 : tensor<8xf32> }} func.func @g(%x: tensor<8xf32>) -> tensor<8xf32> {{ {SOME}", [], "line 2: the module has 2 functions, expected 1 for its 'report'"),
            ("%0 = ", [], "graph.mlir', line 2: cannot name an operation with no results"),
        ]:
            with self.subTest(wanted):
                source.write_text(body.format(line))
                code, text = self.call(source, *words)
                self.assertEqual(code, 2, text)
                self.assertIn(wanted, text)


@NEEDS_JAX
class ExecutedTest(unittest.TestCase):
    """Models, sharded by XLA over eight devices as chosen, compute what they did."""

    def test_files_have_the_names_of_the_user(self):
        """Tools run on copies, whose names nobody gave."""
        empty, machine = self.folder / "empty.mlir", self.folder / "broken.json"
        empty.write_text("")
        machine.write_text("{")
        with self.assertRaisesRegex(ShardoptError, f"^'{empty}' is empty, expected a module"):
            graphs.import_graph(empty)
        with self.assertRaisesRegex(ShardoptError, f"{machine}:1:2: syntax error"):
            graphs.import_graph(MLP, machine=str(machine))

    def check(self, python, script, count, write="--write"):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            machine = slow_machine(folder / "machine.json")
            run([python, HERE / script], write, folder)
            names = sorted(path.stem for path in folder.glob("*.mlir") if "single" not in path.name)
            self.assertEqual(len(names), count)
            for mesh in ("8", "data=2,model=4"):
                for name in names:
                    graph = graphs.import_graph(folder / f"{name}.mlir", machine, mesh, simulator="roofline", time_limit=600)
                    self.assertTrue(graph.proved, name)
                    for plan in graph.plans:
                        self.assertGreaterEqual(plan["us"], graph.us - 1e-3, (name, plan))
                    (folder / f"{name}.annotated.mlir").write_text(graph.annotated)
                rows = run([JAX, HERE / "jax_graphs.py"], "--run", folder)
                self.assertEqual(sorted(rows), names)
                for row in rows.values():
                    self.assertLess(row["error"], 1e-5, row)

    def test_jax(self):
        """The results are those of JAX on one device; one model is a loop over its layers."""
        self.check(JAX, "jax_graphs.py", 12)

    @NEEDS_TORCH
    def test_torch(self):
        """The results are those of PyTorch."""
        self.check(PYTHON, "torch_graphs.py", 9)

    @NEEDS_TORCH
    def test_ops_of_torch(self):
        """So are those of small networks, which have an op or an idiom each."""
        self.check(PYTHON, "torch_graphs.py", 38, "--write-ops")


if __name__ == "__main__":
    unittest.main()
