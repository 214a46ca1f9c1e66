"""Shardings for other compilers: names and sizes are those of checkpoints that we did
not write, and JAX, PyTorch and Shardy's own parser execute or read the files."""

import contextlib
import io
import json
import math
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import shardopt as so
from shardopt import shardings
from shardopt.cli import main
from test_tp_plan import BUILD, COLUMNS, GATHERED, MEGATRON, MIXED, PYTHON, ROWS, TINY, plan_of

HERE = Path(__file__).parent
JAX = BUILD / "jax-venv/bin/python"
NEEDS_JAX = unittest.skipUnless(JAX.exists(), "JAX is not installed, as ./dev test --transformers does")
NEEDS_TORCH = unittest.skipUnless(
    PYTHON.exists(), "Transformers is not installed, as ./dev test --transformers does"
)
#: Experts over dp, their columns over tp: a mesh of two axes.
DATA = {**COLUMNS, "tp": 2, "dp": 2, "ep": 2}
DENSE = {"megatron": MEGATRON, "mixed": MIXED, "rows": ROWS}
EXPERTS = {"columns": COLUMNS, "gathered": GATHERED, "data": DATA}


def header(path):
    """Names and shapes of a file of tensors."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    found = json.loads(data[8 : 8 + size])
    return {name: tuple(one["shape"]) for name, one in found.items() if name != "__metadata__"}


def squeezed(shape):
    return tuple(size for size in shape if size != 1)


def pattern(glob):
    return "[0-9]+".join(map(re.escape, glob.split("*")))


def any_plan(name, tp):
    """A plan with whatever dims are the fastest on so many devices."""
    model = so.load_model(TINY / name, so.Decode(context=12))
    pins = {"tp": tp, "pp": 1, "cp": 1, "batch": 8}
    return so.plan(so.Problem(model, max_devices=16, pins=pins))


def run(command, *words):
    """Each row of JSON that a script prints, by place."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [str(word) for word in (*command, *words)], env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {row["place"]: row for row in rows}


def executed(command, model, plans, target):
    with tempfile.TemporaryDirectory() as folder:
        for name, pins in plans.items():
            shardings.write(plan_of(model, pins), target, f"{folder}/{name}")
        return run(command, TINY / model, *(f"{folder}/{name}" for name in plans))


class FactsTest(unittest.TestCase):
    def test_names_and_sizes_are_those_of_checkpoints(self):
        """Every tensor of each family, once, with its sizes. A layer, or its experts, may
        have them in one tensor, which readers open."""
        for folder in sorted(TINY.iterdir()):
            with self.subTest(folder.name):
                found = shardings.shardings_of(any_plan(folder.name, 2))
                stored = header(folder / "model.safetensors")
                owners = dict.fromkeys(stored)
                for tensor in found.tensors:
                    own = squeezed(tensor.shape[tensor.has_experts :])
                    for name in filter(re.compile(pattern(tensor.name)).fullmatch, stored):
                        self.assertIsNone(owners[name], f"{name} twice")
                        owners[name] = tensor
                        known = squeezed(stored[name])
                        self.assertIn(own, (known, (math.prod(known),)), name)
                    self.assertLessEqual({axis for axes in tensor.spec for axis in axes}, {*found.mesh})
                for name in (name for name, owner in owners.items() if owner is None):
                    self.assertRegex(name, r"visual|vision|multi_modal|mtp|experts\.(gate_up|down|up)_proj$")

    def test_blocks_are_those_of_the_program(self):
        """Of tensors that are sharded, together as large as those of a device."""
        plan = plan_of("mistral", MEGATRON)
        found = shardings.shardings_of(plan)
        parts = {tensor.name: found.parts(sum(tensor.spec, ())) for tensor in found.tensors}
        for name in ("q_proj", "k_proj", "o_proj"):
            self.assertEqual(parts[f"model.layers.*.self_attn.{name}.weight"], 2)
        self.assertEqual(parts["model.norm.weight"], 1)
        self.assertEqual(found.notes, ())

    def test_a_part_of_a_group_is_an_axis(self):
        """2 KV heads over 6 devices: three devices hold each."""
        found = shardings.shardings_of(plan_of("mistral", {**MEGATRON, "tp": 6}, max_devices=6))
        specs = {tensor.name.split(".")[-2]: tensor.spec for tensor in found.tensors}
        self.assertEqual((dict(found.mesh), found.groups["tp"]), ({"tp_0": 2, "tp_1": 3}, ("tp_0", "tp_1")))
        self.assertEqual(specs["q_proj"], (("tp_0", "tp_1"), ()))
        self.assertEqual(specs["k_proj"], (("tp_0",), ()))

    def test_what_formats_cannot_say_is_said(self):
        for name, pins, wanted in [
            ("phi3", MEGATRON, r"joins several matrices.*qkv_proj"),
            ("mistral", {**MEGATRON, "pp": 2, "tp": 1, "stages": [2, 1]}, r"stage of 2, which have \[2, 1\] layers"),
            ("mistral", {**MEGATRON, "tp": 4}, "replicated, since the plan's parts are no even blocks: .*q_proj"),
            ("qwen2_moe", DATA, "how rows reach them"),
        ]:
            with self.subTest(wanted):
                notes = shardings.shardings_of(plan_of(name, pins)).notes
                self.assertRegex("\n".join(notes), wanted)


class CommandTest(unittest.TestCase):
    """The verb, and what it refuses."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.plan = self.folder / "plan.json"
        plan_of("mistral", MEGATRON).to_json(self.plan)

    def call(self, *words):
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = main(["export", str(self.plan), *map(str, words)])
        return code, out.getvalue() + errors.getvalue()

    def test_files(self):
        for target, names in [("jax", ["shardings.json", "shardings.py"]), ("sdy", ["shardings.mlir"])]:
            code, text = self.call("--target", target, "-o", self.folder / target)
            self.assertEqual((code, sorted(each.name for each in (self.folder / target).iterdir())), (0, names), text)

    def test_what_is_refused(self):
        module = self.folder / "module.mlir"
        for content, words, wanted in [
            ("", ["--target", "jax"], "'--target jax' writes files, expected --output-dir"),
            ("", ["--target", "jx", "-o", "x"], "unknown target 'jx'; known: jax"),
            ("", ["--target", "jax", "--image", "a", "-o", "x"], "'--image' is of servers"),
            ("", ["--target", "shell", "--module", module, "-o", "x"], "'--module' is of shardings"),
            ("", ["--target", "jax", "--module", module, "-o", "x"], "expected --target sdy"),
            ("module {\n}\n", ["--target", "sdy", "--module", module, "-o", "x"], "expected StableHLO"),
            (
                'module @m {\n  func.func public @main(%arg0: tensor<4xf32> loc("a")',
                ["--target", "sdy", "--module", module, "-o", "x"],
                "the arguments of '@main' have no end",
            ),
            (
                'module @m {\n  func.func public @main(%arg0: tensor<4xf32> loc("a")) {\n',
                ["--target", "sdy", "--module", module, "-o", "x"],
                r"no argument of '.*' has the name of a tensor \(found 'a'\)",
            ),
            (
                'module @m {\n  func.func public @main(%arg0: tensor<4xf32> loc("model.norm.weight")) {\n',
                ["--target", "sdy", "--module", module, "-o", "x"],
                "argument 'model.norm.weight' is 4, expected 24",
            ),
        ]:
            with self.subTest(wanted):
                module.write_text(content)
                code, text = self.call(*words)
                self.assertEqual(code, 2, text)
                self.assertRegex(text, wanted)
        self.assertFalse(Path("x").exists())


class ExecutedTest(unittest.TestCase):
    """Logits are those that Transformers computed on one device."""

    def hold(self, rows, cases):
        self.assertEqual(set(rows), set(cases))
        for row in rows.values():
            self.assertLess(row["error"], 1e-5, row)
            self.assertLess(row["held"], 0.7, row)

    @NEEDS_JAX
    def test_jax(self):
        command = [JAX, HERE / "jax_model.py"]
        dense = executed(command, "mistral", DENSE, "jax")
        self.hold(dense, DENSE)
        experts = executed(command, "qwen2_moe", EXPERTS, "jax")
        self.hold(experts, EXPERTS)
        self.assertEqual([row["devices"] for row in experts.values()], [2, 2, 4])
        # Two sums a layer of [4, 12] rows, as in the plan's program, and nothing else. XLA sums
        # the shared and the routed experts of two layers apart, each pair in one op.
        for row, sums, hidden in ((dense["megatron"], 6, 24), (experts["gathered"], 8, 36)):
            self.assertEqual(row["collectives"], {"all-reduce": [6, sums * 4 * 12 * hidden * 4]})

    @NEEDS_JAX
    def test_sdy(self):
        """Its parser takes both files, and XLA makes the same two sums a layer of one."""
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            run([JAX, HERE / "jax_model.py"], "--stablehlo", TINY / "mistral", place / "model.mlir")
            plan = plan_of("mistral", MEGATRON)
            shardings.write(plan, "sdy", place / "out", place / "model.mlir")
            rows = run([JAX, HERE / "jax_model.py"], "--sdy", place / "out", 2)
        self.assertEqual(rows["out"]["collectives"]["all-reduce"], [6, 6 * 4 * 12 * 24 * 4])
        self.assertEqual(rows["out"]["parsed"], 2)

    @NEEDS_TORCH
    def test_dtensor(self):
        def command(count):
            return [PYTHON, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={count}",
                    HERE / "torch_model.py"]

        rows = executed(command(2), "mistral", DENSE, "dtensor")
        self.hold(rows, DENSE)
        # Two sums a layer and one of the embedding; the head's columns are gathered.
        counts = {"all_reduce": 7, "all_gather_into_tensor": 1}
        self.assertEqual(rows["megatron"]["collectives"], counts)
        self.assertEqual({row["round trips"] for row in rows.values()}, {True})
        self.assertEqual(rows["megatron"]["smaller"], 3 * 7 + 2)  # all but norms
        # Experts have no style in torch, and attention has one.
        moe = executed(command(2), "qwen2_moe", {"columns": COLUMNS}, "dtensor")["columns"]
        self.assertLess(moe["error"], 1e-5)
        # Attention of 3 layers, a dense network, 2 shared experts, the embedding.
        self.assertEqual(moe["collectives"]["all_reduce"], 3 + 1 + 2 + 1)


if __name__ == "__main__":
    unittest.main()
