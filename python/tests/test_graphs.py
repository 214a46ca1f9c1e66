"""Graphs of other compilers: what is chosen, what is refused, and that JAX executes it."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

from shardopt import graphs
from shardopt.cli import main
from shardopt.errors import ShardoptError
from test_shardings import HERE, JAX, NEEDS_JAX, run

ROOT = HERE.parents[1]
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

    def test_memory_is_a_limit(self):
        """What was held is enough, and a small part of it is not."""
        free = graphs.import_graph(MLP, mesh="2x4")
        tight = graphs.import_graph(MLP, mesh="2x4", memory_gb=free.memory_bytes / 1e9)
        self.assertEqual(tight.us, free.us)
        with self.assertRaisesRegex(ShardoptError, "does not fit: every sharding takes at least [0-9]+ bytes"):
            graphs.import_graph(MLP, mesh="2x4", memory_gb=0.01)


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
        self.assertRegex(text, r"time +[0-9.]+ us \(proved\); replicated [0-9.]+ us")
        self.assertIn("sdy.mesh", output.read_text())
        code, text = self.call(MLP, "--json")
        self.assertEqual((code, json.loads(text)["mesh"]), (0, {"x": 8}))

    def test_what_is_refused(self):
        source = self.folder / "graph.mlir"
        body = "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {{\n  {}\n  return %0 : tensor<8xf32>\n}}\n"
        for line, words, wanted in [
            ('%0 = "stablehlo.tan"(%x) : (tensor<8xf32>) -> tensor<8xf32>', ["--mesh", "2 y"], "'mesh' is '2 y', expected 1 to 3 axes"),
            ('%0 = "stablehlo.tan"(%x) : (tensor<8xf32>) -> tensor<8xf32>', ["--mesh", "0"], "'mesh' is '0', expected 1 to 3 axes"),
            ('%0 = "stablehlo.tan"(%x) : (tensor<8xf32>) -> tensor<8xf32>', ["--machine", "h1"], "unknown machine 'h1'"),
            ('%0 = "stablehlo.odd"(%x) : (tensor<8xf32>) -> tensor<8xf32>', [], "graph.mlir', line 2: 'stablehlo.odd' op is not known"),
            ("%0 = stablehlo.tan %x : tensor<8xf32>", [], "line 2: the module is in pretty form, expected the generic form"),
            ("%0 = ", [], "graph.mlir', line 2: cannot name an operation with no results"),
        ]:
            with self.subTest(wanted):
                source.write_text(body.format(line))
                code, text = self.call(source, *words)
                self.assertEqual(code, 2, text)
                self.assertIn(wanted, text)


class ExecutedTest(unittest.TestCase):
    @NEEDS_JAX
    def test_jax(self):
        """Eight models, sharded by XLA as chosen, compute what they compute on one device."""
        for mesh in ("2", "data=2,model=2"):
            with self.subTest(mesh), tempfile.TemporaryDirectory() as place:
                folder = Path(place)
                machine = slow_machine(folder / "machine.json")
                run([JAX, HERE / "jax_graphs.py"], "--write", folder)
                names = sorted(path.name.split(".")[0] for path in folder.glob("*.single.mlir"))
                self.assertEqual(len(names), 8)
                for name in names:
                    graph = graphs.import_graph(folder / f"{name}.mlir", machine, mesh)
                    self.assertTrue(graph.proved, name)
                    self.assertLess(graph.us, graph.replicated_us, name)
                    (folder / f"{name}.annotated.mlir").write_text(graph.annotated)
                rows = run([JAX, HERE / "jax_graphs.py"], "--run", folder)
                self.assertEqual(sorted(rows), names)
                for row in rows.values():
                    self.assertLess(row["error"], 1e-5, row)


if __name__ == "__main__":
    unittest.main()
