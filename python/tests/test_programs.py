"""Programs of plans: lowered, executed, and made small."""

import dataclasses
import json
import tempfile
import unittest
from pathlib import Path

import shardopt as so
from commands import run
from shardopt.shrinking import shrink

ROOT = Path(__file__).resolve().parents[2]
MOE = ROOT / "examples/models/small-moe.json"
CONFIGS = ROOT / "examples/configs"


def plan_of(path, phase="decode", **others):
    load = so.Decode(context=24) if phase == "decode" else so.Prefill(tokens=24)
    return so.plan(so.Problem(so.load_model(path, load), **{"max_devices": 4, **others}))


class ShrinkTest(unittest.TestCase):
    def test_large_models_become_small_ones_of_the_same_ops(self):
        for path in sorted(CONFIGS.glob("*.json")):
            with self.subTest(path.name):
                model = so.load_model(path, so.Decode(context=4096))
                ops = {name: 0 for name in model.ops}
                strategy = so.Strategy(8, 8, 2, 512, tuple(ops.items()))
                small, own = shrink(model, strategy)
                self.assertEqual(small.ops, model.ops)
                self.assertEqual((own.tp, own.ep, own.pp), (8, 8, 2))
                self.assertEqual((small.layers, own.batch), (2, 32))
                self.assertEqual(own.dims, strategy.dims)

    def test_stages_stay_as_uneven(self):
        model = so.load_model(MOE, so.Decode(context=24))
        ops = tuple((name, 0) for name in model.ops)
        strategy = so.Strategy(1, 1, 2, 8, ops, stages=(2, 1))
        small, own = shrink(model, strategy)
        self.assertEqual((small.layers, own.stages), (3, (2, 1)))

    def test_a_module_stays_as_it_is(self):
        model = so.load_model(MOE.with_suffix(".mlir"))
        ops = tuple((name, 0) for name in model.ops)
        with self.assertRaisesRegex(so.ShardoptError, "cannot be made smaller"):
            shrink(model, so.Strategy(1, 1, 1, 8, ops))


class OrderTest(unittest.TestCase):
    def test_an_order_is_never_slower_and_never_below_its_bound(self):
        for phase in ("decode", "prefill"):
            with self.subTest(phase):
                found = plan_of(MOE, phase, pins={"pp": 2}).order()
                self.assertLessEqual(found.planned_ms, found.strategy_ms)
                self.assertLessEqual(found.bound_ms, found.planned_ms)
                self.assertIn("shardopt.schedule", found.module)

    def test_layers_have_dims_of_their_own(self):
        model = so.load_model(MOE, so.Decode(context=24))
        separated = model.separated("per-layer")
        self.assertEqual(len(separated.ops), 2 + (len(model.ops) - 2) * model.layers)
        shared, own = (
            so.plan(so.Problem(m, max_devices=4, partition="balanced", pins={"pp": 2}))
            for m in (model, separated)
        )
        self.assertGreaterEqual(own.metrics.throughput, shared.metrics.throughput * (1 - 1e-9))
        found = own.order()
        self.assertLessEqual(found.planned_ms, found.strategy_ms)
        self.assertIn("layer2.attention", found.module)
        with self.assertRaisesRegex(so.UnknownName, "'per-op'; known: per-layer, per-window"):
            model.separated("per-op")

    def test_a_single_stage_has_no_order(self):
        with self.assertRaisesRegex(so.Contradiction, "'pp' is 1.*expected pp above 1"):
            plan_of(MOE, pins={"pp": 1}).order()

    def test_the_command_chooses_dims_stages_and_order(self):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder, "ordered.mlir")
            words = ["plan", str(MOE), "--context", "24", "--max-devices", "4", "--quiet"]
            words += ["--set", "pins.pp=2", "--dims", "per-layer", "--partition", "balanced"]
            done = run(*words, "--order", str(place))
            self.assertEqual(done[0], 0, done[2])
            self.assertRegex(done[1], r"order .* ms .*\n +bound .* gap [0-9.]+ %")
            self.assertIn("shardopt.schedule", place.read_text())
        for wrong, complaint in (
            (("--isl", "9", "--osl", "9", "--order", "x.mlir"), "'--order' is of one phase"),
            (("--isl", "9", "--osl", "9", "--dims", "per-layer"), "'dims' is of one phase"),
            (("--context", "24", "--order", str(MOE)), "would be written, and is read too"),
        ):
            with self.subTest(wrong):
                status, _, error = run("plan", str(MOE), *wrong)
                self.assertEqual((status, complaint in error), (2, True), error)


class ProgramTest(unittest.TestCase):
    def test_lowered_program_has_collectives(self):
        plan = plan_of(MOE, pins={"tp": 2, "ep": 2, "pp": 1})
        text = so.lower(plan)
        self.assertIn("shard.all_gather", text)
        self.assertIn("shard.grid", text)
        split = so.lower(plan_of(MOE, pins={"pp": 2}), split_stages=True)
        self.assertIn("_stage1", split)

    def test_plans_compute_what_one_device_computes(self):
        plan = plan_of(MOE, pins={"tp": 2, "ep": 2})
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.json"
            plan.to_json(path)
            found = so.verify(so.Plan.from_json(path))
        self.assertTrue(found.ok and found.small, found)
        self.assertLess(found.max_rel, 2e-5)
        self.assertEqual(found.devices, plan.strategy.devices)

    def test_what_cannot_be_compared_is_an_error(self):
        plan = plan_of(MOE, pins={"tp": 1})
        # 6 heads of 8 cannot be cut further than this.
        wrong = dataclasses.replace(
            plan.strategy, tp=16, dims=tuple((op, 1) for op, _ in plan.strategy.dims)
        )
        with self.assertRaisesRegex(so.ShardoptError, "nothing was compared: .*head size"):
            so.verify(dataclasses.replace(plan, strategy=wrong))


class StagesTest(unittest.TestCase):
    def test_stages_of_a_plan_are_kept(self):
        model = so.load_model(CONFIGS / "llama-3.1-70b.json", so.Decode(context=4096))
        pins = {"stages": [30, 26, 24], "tp": 2, "batch": 96}
        problem = so.Problem(model, max_devices=8, pins=pins)
        plan = so.plan(problem)
        self.assertEqual(plan.strategy.stages, (30, 26, 24))
        self.assertEqual(so.evaluate(problem, [plan.strategy])[0], plan.metrics)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.json"
            plan.to_json(path)
            self.assertEqual(so.Plan.from_json(path).strategy, plan.strategy)
            said = json.loads(path.read_text())["strategy"]["stages"]
        self.assertEqual(tuple(said), plan.strategy.stages)

    def test_stages_are_pinned(self):
        model = so.load_model(MOE, so.Decode(context=24))
        plan = so.plan(so.Problem(model, max_devices=4, pins={"stages": [1, 2]}))
        self.assertEqual((plan.strategy.pp, plan.strategy.stages), (2, (1, 2)))
        for stages, message in [([2, 2], "layers"), ([0, 3], "stages"), (3, "'stages' is 3")]:
            with self.subTest(stages), self.assertRaisesRegex(so.ShardoptError, message):
                so.plan(so.Problem(model, max_devices=4, pins={"stages": stages}))
        values = {**plan.strategy.to_dict(), "stages": [3]}
        with self.assertRaisesRegex(so.ShardoptError, "'stages'"):
            so.evaluate(plan.problem, [values])


class SimplestTest(unittest.TestCase):
    def test_what_an_engine_runs_is_taken_where_it_loses_little(self):
        best = plan_of(CONFIGS / "qwen3-235b-a22b.json", machine="h200_sxm",
                       max_devices=None, devices=8)
        found = so.simplest(best, 0.2)
        self.assertEqual(found.departures, ())
        self.assertLessEqual(found.loss, 0.2)
        self.assertEqual(found.plan.report["engines"][found.engine]["runs_plan"], True)

    def test_nothing_may_be_lost(self):
        best = plan_of(MOE)
        found = so.simplest(best, 0.0)
        self.assertEqual(found.plan.metrics.throughput, best.metrics.throughput)
        for wrong in (-1, 1, float("nan")):
            with self.assertRaisesRegex(so.ShardoptError, "'most_loss' is"):
                so.simplest(best, wrong)


class LeastCostTest(unittest.TestCase):
    def test_the_cheapest_machine_is_first(self):
        model = so.load_model(CONFIGS / "llama-3.1-70b.json", so.Decode(context=4096))
        problem = so.Problem(model, tpot_ms=30, pins={"batch": [32, 128], "ep": 1, "pp": 1})
        offers = so.least_cost(problem, 5000, {"h100_sxm": 2.0, "h200_sxm": 1e6})
        self.assertEqual([offer.machine for offer in offers], ["h100_sxm", "h200_sxm"])
        first = offers[0]
        self.assertEqual(first.price, 2.0 * first.plan.problem.devices)
        with self.assertRaisesRegex(so.ShardoptError, "price of 'h100_sxm' is nan"):
            so.least_cost(problem, 5000, {"h100_sxm": float("nan")})


if __name__ == "__main__":
    unittest.main()
