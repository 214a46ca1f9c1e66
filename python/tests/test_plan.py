"""Plans, their file, and errors."""

import concurrent.futures
import dataclasses
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import shardopt as so
from shardopt.models import named_models

ROOT = Path(__file__).resolve().parents[2]
MOE = ROOT / "examples/models/small-moe.json"
LLAMA = ROOT / "examples/configs/llama-3.1-70b.json"


def small(**others):
    """A small model on few devices, so that a search takes no time."""
    model = so.load_model(MOE, so.Decode(context=24))
    return so.Problem(model, **{"machine": "h100_sxm", "max_devices": 4, **others})


class ModelTest(unittest.TestCase):
    def test_config_and_module_are_the_same_model(self):
        config = so.load_model(MOE, so.Decode(context=24))
        module = so.load_model(MOE.with_suffix(".mlir"))
        self.assertEqual(config.ops, module.ops)
        self.assertEqual((module.phase, module.context), ("decode", 24))
        self.assertEqual(config.ops["attention"][0], "heads")
        self.assertGreater(config.experts, 0)

    def test_the_package_has_configs_by_name(self):
        self.assertIn("deepseek-v3", named_models())
        for name in ("DeepSeek-V3", "deepseek-ai/DeepSeek-V3", "deepseek-ai/deepseek-v3"):
            self.assertEqual(so.load_model(name, so.Decode(8)).path, "deepseek-v3")
        named = so.load_model("llama-3.1-70b", so.Decode(8))
        self.assertEqual(named.name, "llama-3.1-70b")
        self.assertEqual(named.mlir, so.load_model(LLAMA, so.Decode(8)).mlir)
        self.assertEqual(named.under(so.Decode(8)), named)
        # Servers load the checkpoint that a name stands for, and of a file its own.
        self.assertEqual(named.hub_id, "meta-llama/Llama-3.1-70B-Instruct")
        self.assertIsNone(so.load_model(LLAMA, so.Decode(8)).hub_id)

    def test_errors_name_the_place(self):
        with self.assertRaisesRegex(so.ShardoptError, "is not there.*known: llama-3.1-70b"):
            so.load_model("lama-3.1-70b", so.Decode(8))
        with self.assertRaisesRegex(so.ShardoptError, "says no workload: expected 'isl' and"):
            so.Problem(so.load_model(MOE))
        with self.assertRaisesRegex(so.ShardoptError, "'context' is 0"):
            so.load_model(MOE, so.Decode(0))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "config.json"
            path.write_text('{"architectures": ["LlamaForCausalML"]}')
            with self.assertRaisesRegex(so.ShardoptError, "vocab_size: missing"):
                so.load_model(folder, so.Decode(8))
            path = Path(folder) / "odd.mlir"
            path.write_text("module { nonsense }")
            with self.assertRaisesRegex(so.ShardoptError, "odd.mlir:1:10"):
                so.load_model(path)


class PlanTest(unittest.TestCase):
    def test_plan_is_proved_and_beats_every_pin(self):
        best = so.plan(small())
        self.assertTrue(best.proved)
        self.assertIn("proved optimal", best.table)
        pinned = so.plan(small(pins={"tp": 2, "*qkv_proj": "heads"}))
        self.assertEqual(pinned.strategy.tp, 2)
        self.assertLessEqual(pinned.metrics.throughput, best.metrics.throughput)

    def test_threads_plan_one_problem_at_once(self):
        problem = small()
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            plans = list(threads.map(so.plan, [problem] * 8))
        self.assertEqual({plan.strategy for plan in plans}, {so.plan(problem).strategy})

    def test_what_a_search_chooses_from(self):
        problem = small(pins={"tp": [1, 2], "*norm": "none"})
        domains = problem.domains
        self.assertEqual((domains["tp"], domains["attn_norm"]), ((1, 2), (2,)))
        self.assertEqual(domains["exchange"], ("all_to_all", "gather"))
        self.assertNotIn("exchange", problem.replace(space="uniform").domains)
        for trial in so.Search(problem, "random", budget=20).ask(20):
            said = {**domains, **trial.strategy.to_dict()}
            for name, value in {**said.pop("dims"), "tp": said["tp"], "pp": said["pp"]}.items():
                self.assertIn(value, domains[name])

    def test_a_plan_has_the_verbs_as_methods(self):
        best = so.plan(small(engine="vllm"))
        self.assertEqual(best.explain("embed"), so.explain(best, "embed"))
        self.assertEqual(best.diff(best), so.diff(best, best))
        self.assertEqual(best.export("vllm", version="0.33.0"), so.export(best, "vllm==0.33.0"))
        self.assertEqual(best.simplest(0.0), so.simplest(best, 0.0))
        self.assertEqual(best.chart("memory"), so.chart(best, "memory"))
        self.assertEqual(best.lower(), so.lower(best))
        self.assertEqual(best.verify(steps=1), so.verify(best, steps=1))
        self.assertEqual(best.mlir, best.problem.model.mlir)

    def test_evaluate_gives_the_metrics_of_the_plan(self):
        best = so.plan(small())
        again, same = so.evaluate(
            best.problem, [best.strategy, best.strategy.to_dict()]
        )
        self.assertEqual(again, best.metrics)
        self.assertEqual(again, same)

    def test_evaluate_takes_every_form_of_a_strategy(self):
        problem = small(space="serving")
        search = so.Search(problem, "random", budget=200, seed=1)
        strategies = [trial.strategy for trial in search.ask(200)]
        wanted = so.evaluate(problem, [each.numbers() for each in strategies])
        self.assertEqual(so.evaluate(problem, strategies), wanted)
        records = [each.to_dict() for each in strategies]
        self.assertEqual(so.evaluate(problem, records), wanted)
        ops = problem.model.ops
        for each in records:
            each["dims"] = {op: ops[op][dim] for op, dim in each["dims"].items()}
        self.assertEqual(so.evaluate(problem, records), wanted)
        for each in records:
            each["dims"] = list(each["dims"].values())
        self.assertEqual(so.evaluate(problem, records), wanted)
        good = strategies[0].to_dict()
        for change, message in [
            ({"tp": None}, "'tp' is None"),
            ({"tp": True}, "'tp' is True"),
            ({"tp": 2**70}, "'tp' is 1180591620717411303424"),
            ({"tpp": 2}, "a strategy has 'tpp'"),
            ({"exchange": "gossip"}, "'exchange' is 'gossip'"),
            ({"dims": {**good["dims"], "embed": 7}}, "the dim of 'embed' is 7"),
            ({"dims": {**good["dims"], "embd": 1}}, "'dims' has 'embd'"),
            ({"dims": {}}, "'dims' lacks 'embed'"),
        ]:
            with self.subTest(change), self.assertRaisesRegex(so.ShardoptError, message):
                so.evaluate(problem, [{**good, **change}])
        lacking = {name: value for name, value in good.items() if name != "ep"}
        other = dataclasses.replace(strategies[0], dims=strategies[0].dims[1:])
        numbers = strategies[0].numbers()
        for rows, message in [
            ([lacking], r"strategies\[0\]: a strategy lacks 'ep'"),
            ([good, 3], r"strategies\[1\]: 3 is no strategy, expected a Strategy"),
            ([None], r"strategies\[0\]: None is no strategy"),
            ([[True, *numbers[1:]]], "number 0 of a strategy is True, expected an integer"),
            ([good, {**good, 1: 2}], r"strategies\[1\]: a strategy has '1'; known: "),
            ([{**good, "dims": {**good["dims"], 1: 2}}], "'dims' has '1', which is no op"),
            ([{**good, "stages": 4}], "'stages' is 4, expected the layers"),
            (["tp"], r"strategies\[0\]: 'tp' is no strategy"),
            ([other], r"strategies\[0\]: 'dims' lacks 'embed'"),
            ([numbers, numbers[:-1]], rf"strategies\[1\]: a strategy has {len(numbers) - 1} numbers"),
            ([["x", *numbers[1:]]], r"strategies\[0\]: number 0 of a strategy is 'x'"),
            ([[2**70, *numbers[1:]]], r"number 0 of a strategy is 1180591620717411303424"),
            (good, "'strategies' is {.*expected a list of strategies"),
            (strategies[0], r"'strategies' is Strategy\(.*expected a list"),
            (7, "'strategies' is 7, expected a list"),
        ]:
            with self.subTest(message), self.assertRaisesRegex(so.ShardoptError, message):
                so.evaluate(problem, rows)

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_evaluate_takes_frames_and_gives_them(self):
        import pandas

        problem = small(space="serving")
        search = so.Search(problem, "random", budget=20, seed=2)
        strategies = [trial.strategy for trial in search.ask(20)]
        records = [each.to_dict() for each in strategies]
        wide = [{**each, **each["dims"]} for each in records]
        for each in wide:
            del each["dims"]
        wanted = [metrics.to_dict() for metrics in so.evaluate(problem, strategies)]
        for rows in (records, wide):
            # Degrees that are not in all rows make a column of floats.
            frame = pandas.DataFrame(rows, index=range(100, 120))
            found = so.evaluate(problem, frame)
            self.assertEqual(found.to_dict("records"), wanted)
            self.assertEqual(list(found.index), list(frame.index))
        with self.assertRaisesRegex(so.ShardoptError, r"strategies\[0\]: a strategy has 'tpp'"):
            so.evaluate(problem, pandas.DataFrame([{"tpp": 1}]))
        ops = problem.model.ops
        named = [{**each, "embed": ops["embed"][each["embed"]]} for each in wide]
        found = so.evaluate(problem, pandas.DataFrame(named))
        self.assertEqual(found.to_dict("records"), wanted)
        empty = so.evaluate(problem, frame[:0])
        self.assertEqual((len(empty), list(empty)), (0, list(wanted[0])))
        for name, value, message in [
            ("tp", 0, r"strategies\[3\]: 'tp' is 0"),
            ("tp", 1.5, r"strategies\[3\]: 'tp' is 1.5"),
            ("tp", math.nan, r"strategies\[3\]: a strategy lacks 'tp'"),
            ("dp", 1.5, r"strategies\[3\]: 'dp' is 1.5"),
            ("cp", "x", r"strategies\[3\]: 'cp' is 'x'"),
            ("exchange", "gossip", r"strategies\[3\]: 'exchange' is 'gossip'"),
            ("embed", 7, r"strategies\[3\]: the dim of 'embed' is 7"),
        ]:
            rows = [dict(each) for each in wide]
            rows[3][name] = value
            with self.subTest(name), self.assertRaisesRegex(so.ShardoptError, message):
                so.evaluate(problem, pandas.DataFrame(rows))
        front = so.pareto(problem, step=0.5)
        self.assertEqual(len(front.frame()), len(front))
        self.assertIn("<th>throughput</th>", front._repr_html_())

    def test_evaluate_takes_degrees_in_any_order(self):
        problem = small(space="serving")
        search = so.Search(problem, "random", budget=50, seed=2)
        strategies = [trial.strategy for trial in search.ask(50)]
        wanted = so.evaluate(problem, strategies)
        for change in (reversed, sorted):
            records = [dict(change(list(each.to_dict().items()))) for each in strategies]
            for each in records:
                each["dims"] = dict(change(list(each["dims"].items())))
            self.assertEqual(so.evaluate(problem, records), wanted)
        # Of another order of ops.
        turned = [
            dataclasses.replace(each, dims=tuple(reversed(each.dims))) for each in strategies
        ]
        self.assertEqual(so.evaluate(problem, turned), wanted)

    def test_plan_file_is_a_round_trip(self):
        best = so.plan(small(tpot_ms=math.inf, pins={"ep": [1, 2]}))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.json"
            text = best.to_json(path)
            again = so.Plan.from_json(path)
            self.assertEqual(again.strategy, best.strategy)
            self.assertEqual(again.metrics, best.metrics)
            self.assertEqual(again.problem.pins, {"ep": [1, 2]})
            for key, value, message in [
                ("shardopt_plan", 7, "'shardopt_plan' is 7"),
                ("strategy", None, "/strategy: missing"),
                ("strategy", {**best.strategy.to_dict(), "tp": None}, "'tp' is None"),
                ("strategy", {**best.strategy.to_dict(), "dims": 3}, "'dims' is 3"),
                ("command", 3, "/command"),
                ("model", {"module": best.problem.model.mlir, "path": 1}, "/model/path"),
                ("problem", {"machin": "h100"}, "/problem/machin: unknown; known: machine"),
            ]:
                path.write_text(json.dumps({**json.loads(text), key: value}))
                with self.assertRaisesRegex(so.ShardoptError, message):
                    so.Plan.from_json(path)
            changed = json.loads(text)
            changed["machine"]["memory"]["capacity_bytes"] = 1e9
            path.write_text(json.dumps(changed))
            with self.assertRaisesRegex(so.ShardoptError, "no longer"):
                so.Plan.from_json(path)
            changed = json.loads(text)
            changed["machine"]["constants"]["fingerprint"] = "0"
            path.write_text(json.dumps(changed))
            with self.assertRaisesRegex(
                so.ShardoptError, "constants of measured kernels of the machine 'h100_sxm'"
            ):
                so.Plan.from_json(path)
            for odd in (3, "x", [1], True):
                changed["machine"]["constants"] = odd
                path.write_text(json.dumps(changed))
                with self.assertRaisesRegex(so.ShardoptError, "fitted none, now 20"):
                    so.Plan.from_json(path)
            changed = json.loads(text)
            changed["strategy"]["dims"]["qkv"] = 0
            path.write_text(json.dumps(changed))
            with self.assertRaisesRegex(so.ShardoptError, "'qkv', which is no op"):
                so.Plan.from_json(path)

    def test_infeasible_carries_what_would_fit(self):
        model = so.load_model(LLAMA, so.Decode(context=4096))
        with self.assertRaises(so.Infeasible) as caught:
            so.plan(so.Problem(model, max_devices=1))
        self.assertEqual(caught.exception.binding["kind"], "memory")
        self.assertEqual(caught.exception.next_feasible["change"]["to"], 2)

    def test_given_strategies_that_break_a_limit(self):
        model = so.load_model(LLAMA, so.Decode(context=4096))
        best = so.plan(so.Problem(model, max_devices=8))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.json"
            values = best.to_dict()
            values["strategy"]["batch"] = 1 << 20
            path.write_text(json.dumps(values))
            with self.assertRaisesRegex(so.Infeasible, "invalid: memory") as caught:
                so.Plan.from_json(path)
            self.assertIn("given", caught.exception.table)

    def test_wrong_requests(self):
        for others, message in [
            ({"isl": 8}, "'isl' and 'osl' go together, and 'osl' is missing"),
            ({"rate": 8}, "'rate' is given without 'isl' and 'osl'"),
            ({"isl": 8, "osl": 8, "rate": 8, "concurrency": 8}, "expected one of them"),
            ({"isl": 8.5, "osl": 8}, "'isl' is 8.5, expected a whole number"),
            ({"isl": "8", "osl": 8}, "'isl' is '8', expected a number"),
            ({"isl": 8, "osl": 8, "prefix_cache_hit_rate": 1}, "expected a number from 0 to 0.999"),
            ({"isl": 8, "osl": 8, "accepted_tokens": 2}, "'draft_tokens' is missing"),
            ({"mode": "best"}, "'mode' is of a service"),
            ({"prefill_machine": "h100_sxm"}, "'prefill_machine' is of a service"),
            ({"decode_machine": "h100_sxm"}, "'decode_machine' is of a service"),
            ({"isl": 8, "osl": 8, "decode_machine": "h100_sxm"}, "no 'prefill_machine'"),
            ({"isl": 8, "osl": 8, "prefill_machine": 3}, "'prefill_machine' is 3"),
            ({"isl": 8, "osl": 8, "prefill_machine": ""}, "'prefill_machine' is '', expected a"),
            ({"isl": 8, "osl": 8, "decode_machine": ""}, "'decode_machine' is '', expected a"),
            (
                {"isl": 8, "osl": 8, "machine": "a100_sxm", "decode_machine": "h100_sxm",
                 "prefill_machine": "h200_sxm"},
                "'machine' is 'a100_sxm', expected the 'prefill_machine' 'h200_sxm' or the "
                "'decode_machine' 'h100_sxm'",
            ),
            ({"isl": 8, "osl": 8, "prefill_devices": 0}, "'prefill_devices' is 0"),
            ({"isl": 8, "osl": 8, "objective": "latency"}, "'objective' is 'latency', expected"),
            ({"isl": 8, "osl": 8, "space": "uniform"}, "'space' is 'uniform', expected none"),
            ({"isl": 8, "osl": 8, "searcher": "random"}, "'searcher' is 'random', expected none"),
            ({"isl": 8, "osl": 8, "simulator": "roofline"}, "expected calibrated"),
        ]:
            with self.subTest(others), self.assertRaisesRegex(so.ShardoptError, message):
                small(**others)
        with self.assertRaisesRegex(so.ShardoptError, "unknown mode 'bst'; known: best"):
            so.plan(small(isl=8, osl=8, mode="bst"))
        with self.assertRaisesRegex(so.ShardoptError, "4 prefill devices without a machine"):
            so.plan(small(isl=8, osl=8, prefill_devices=4))

    def test_wrong_inputs(self):
        for others, message in [
            ({"machine": "h100_sx"}, "unknown machine 'h100_sx' .*; known: h100_sxm"),
            ({"max_devices": -1}, "'max_devices' is -1"),
            ({"max_devices": True}, "'max_devices' is True"),
            ({"devices": 4}, "expected one of them"),
            ({"tpot_ms": math.nan}, "'tpot_ms' is nan"),
            ({"tpot_ms": -5}, "'tpot_ms' is -5"),
            ({"max_devices": 10**30}, "expected a whole number from 1"),
            ({"machine": 5}, "'machine' is 5, expected a text"),
            ({"engine": ""}, "'engine' is '', expected a name"),
            ({"simulator": 7}, "'simulator' is 7"),
            ({"pins": 3}, "'pins' is 3"),
            ({"pins": {1: 2}}, "'pins' is 1, expected a text"),
            ({"pins": {"tpp": 4}}, "neither a degree nor an op; known: pp, tp"),
            ({"pins": {"attention": "head"}}, "expected one of 0 .heads"),
        ]:
            with self.subTest(others), self.assertRaisesRegex(so.ShardoptError, message):
                small(**others)
        for others, message in [
            ({"engine": "vlm"}, "unknown engine 'vlm'; known: vllm"),
            ({"objective": "latenc"}, "known: latency"),
            ({"pins": {"tp": "two"}}, "tp"),
        ]:
            with self.subTest(others), self.assertRaisesRegex(so.ShardoptError, message):
                so.plan(small(**others))
        best = so.plan(small())
        with self.assertRaisesRegex(so.ShardoptError, "a strategy has 'tpp'"):
            so.evaluate(best.problem, [{"tpp": 1}])
        values = best.strategy.to_dict()
        for key, value in [("tp", 0), ("tp", 1.5), ("tp", True), ("exchange", "x")]:
            with self.subTest(key=key), self.assertRaises(so.ShardoptError):
                so.evaluate(best.problem, [{**values, key: value}])


class KindTest(unittest.TestCase):
    def test_what_is_of_another_type_is_a_wrong_value(self):
        problem, best = small(), so.plan(small())
        for call, message in [
            (lambda: so.load_model(3), "the path is 3, expected a text or a path"),
            (lambda: so.load_model(MOE, 24), "'workload' is 24, expected Decode"),
            (lambda: so.Plan.from_json(None), "the path is None"),
            (lambda: so.Problem(MOE), "'model' is .*, expected a Model"),
            (lambda: so.plan(best), "'problem' is .*, expected a Problem"),
            (lambda: so.evaluate(MOE, []), "expected a Problem"),
            (lambda: so.pareto(3), "'problem' is 3"),
            (lambda: so.pareto(problem, step="x"), "'step' is 'x'"),
            (lambda: so.sweep(3), "'problem' is 3"),
            (lambda: so.min_devices(3, 1.0), "'problem' is 3"),
            (lambda: so.least_cost(problem, 1.0, 3), "'prices' is 3"),
            (lambda: so.explain(problem), "'plan' is Problem.*, expected a Plan"),
            (lambda: so.diff(best, 3), "'second' is 3, expected a Plan"),
            (lambda: so.export(3, "vllm"), "'plan' is 3"),
            (lambda: so.export(best, 3), "'engine' is 3, expected a text"),
            (lambda: so.judge(problem, 3), "'command' is 3, expected a text"),
            (lambda: so.judge(best, "vllm serve x"), "expected a Problem"),
            (lambda: so.simplest(best, "x"), "'most_loss' is 'x'"),
            (lambda: so.simplest(3, 0.1), "'plan' is 3"),
            (lambda: so.lower(3), "'plan' is 3"),
            (lambda: so.verify(3), "'plan' is 3"),
            (lambda: so.charts(3), "'plan' is 3"),
            (lambda: so.Search(3), "'problem' is 3"),
            (lambda: so.Search(problem, 3), "'searcher' is 3, expected a text"),
            (lambda: so.Process(3, "exec:x"), "'problem' is 3"),
        ]:
            with self.subTest(message), self.assertRaisesRegex(so.WrongValue, message):
                call()

    def test_each_error_has_a_type_of_its_own(self):
        best = so.plan(small())
        with tempfile.TemporaryDirectory() as folder:
            stale = Path(folder) / "plan.json"
            stale.write_text(json.dumps({**best.to_dict(), "shardopt_plan": 7}))
            for kind, call in [
                (so.UnknownName, lambda: small(machine="h100_sx")),
                (so.UnknownName, lambda: small(pins={"tpp": 4})),
                (so.UnknownName, lambda: so.plan(small(searcher="tpe"))),
                (so.UnknownName, lambda: so.export(best, "vlm")),
                (so.UnknownVersion, lambda: so.export(best, "vllm==0.1")),
                (so.WrongValue, lambda: small(tpot_ms=math.nan)),
                (so.WrongValue, lambda: small(max_devices=-1)),
                (so.WrongValue, lambda: small(machine=5)),
                (so.Contradiction, lambda: small(devices=4)),
                (so.Contradiction, lambda: so.judge(small(), "vllm serve x -tp 1 -tp 2")),
                (so.WrongPlan, lambda: so.Plan.from_json(stale)),
            ]:
                with self.subTest(kind), self.assertRaises(so.ShardoptError) as caught:
                    call()
                self.assertIs(type(caught.exception), kind)


class FrontierTest(unittest.TestCase):
    def test_front_falls_and_is_proved(self):
        front = so.pareto(small(), step=0.2)
        self.assertTrue(front.proved)
        for slower, faster in zip(front, front[1:]):
            self.assertLess(faster.metrics.latency_ms, slower.metrics.latency_ms)
            self.assertLess(faster.metrics.throughput, slower.metrics.throughput)
        fastest = so.plan(small(objective="latency"))
        self.assertAlmostEqual(
            front[-1].metrics.latency_ms, fastest.metrics.latency_ms, places=6
        )
        with self.assertRaisesRegex(so.ShardoptError, "'step' is 2"):
            so.pareto(small(), step=2)

    def test_fewest_devices_are_fewest(self):
        problem = small(max_devices=None, pins={"batch": [1, 2, 4, 8]})
        most = so.plan(problem.replace(devices=3)).metrics.throughput * 3
        plan = so.min_devices(problem, rate=most)
        total = plan.metrics.throughput * plan.problem.devices
        self.assertGreaterEqual(total, most * (1 - 1e-9))
        for devices in range(1, plan.problem.devices):
            fewer = so.plan(problem.replace(devices=devices))
            self.assertLess(fewer.metrics.throughput * devices, most)
        with self.assertRaisesRegex(so.ShardoptError, "'rate' is nan"):
            so.min_devices(problem, math.nan)


class ExplainTest(unittest.TestCase):
    def test_other_dims_of_the_optimum_are_no_better(self):
        best = so.plan(small())
        found = so.explain(best)
        self.assertEqual([one.op for one in found], list(best.problem.model.ops))
        for one in found:
            for _, metrics, share in one.rows:
                if metrics.valid:
                    self.assertLessEqual(share, 1 + 1e-9)
        self.assertTrue(str(so.explain(best, "attention")[0]).startswith("attention: "))
        with self.assertRaisesRegex(so.ShardoptError, "known: attention"):
            so.explain(best, "attenton")

    def test_difference_of_a_plan_with_itself(self):
        best = so.plan(small())
        self.assertNotIn("*", str(so.diff(best, best)))
        prefill = so.load_model(MOE, so.Prefill(tokens=24))
        other = so.plan(so.Problem(prefill, max_devices=4))
        with self.assertRaisesRegex(so.ShardoptError, "other phases"):
            so.diff(best, other)


class ImportTest(unittest.TestCase):
    def test_import_loads_neither_the_planner_nor_anything_heavy(self):
        code = (
            "import sys, shardopt; heavy = {'shardopt._shardopt', 'numpy', 'pandas', "
            "'yaml', 'argparse'} & set(sys.modules); sys.exit(str(heavy) if heavy else 0)"
        )
        done = subprocess.run(
            [sys.executable, "-S", "-c", code],
            env={**os.environ, "PYTHONPATH": str(Path(so.__file__).parents[1])},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
