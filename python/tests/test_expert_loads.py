"""Services under uneven loads of experts, with redundant experts and without."""

import json
import tempfile
import unittest
from pathlib import Path

import shardopt as so
from shardopt.deployments import write
from shardopt.deployments.planned import deployment_of


def deepseek(**asked):
    problem = {"machine": "h200_sxm", "devices": 16, "isl": 1000, "osl": 1000, "engine": "vllm"}
    return so.Problem(so.load_model("deepseek-v3"), **{**problem, **asked})


def most(**asked):
    return so.plan(deepseek(**asked)).metrics.tokens_per_s_per_gpu


class ExpertLoadTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.wide = {"serve.tp": 1, "serve.dp": 16, "serve.ep": 16, "exchange": "all_to_all"}
        cls.pinned = so.plan(deepseek(expert_load="zipf:0.8", pins={**cls.wide, "eplb": [0, 1]}))

    def test_uneven_loads_serve_less_and_eplb_more(self):
        even = most()
        self.assertEqual(even, most(expert_load="zipf:0"))
        searched, off = most(expert_load="zipf:0.8"), most(expert_load="zipf:0.8", pins={"eplb": "off"})
        self.assertLess(searched, even * 1.001)
        self.assertLessEqual(off, searched)
        wide_off = most(expert_load="zipf:0.8", pins={**self.wide, "eplb": "off"})
        self.assertGreater(self.pinned.metrics.tokens_per_s_per_gpu, 1.1 * wide_off)

    def test_plan_files_keep_the_load_and_the_replicas(self):
        role = self.pinned.roles[0]
        self.assertIn(role.strategy.eplb, ("0", "1"))
        self.assertIn("EPLB", str(self.pinned))
        path = self.folder / "plan.json"
        self.pinned.to_json(path)
        again = so.read_plan(path)
        self.assertEqual(again.metrics, self.pinned.metrics)
        self.assertEqual(again.roles[0].strategy, role.strategy)
        self.assertEqual(again.problem.expert_load, "zipf:0.8")

    def test_replicas_take_memory(self):
        weights = {
            eplb: so.plan(deepseek(expert_load="zipf:0.8", pins={**self.wide, "eplb": eplb}))
            .roles[0].memory["weights"]
            for eplb in (0, 1)
        }
        expert = 3 * 7168 * 2048 / 1e9  # of one byte a weight, in each of 58 layers
        self.assertAlmostEqual(weights[1] - weights[0], 58 * expert, delta=0.01)

    def test_a_file_of_shares(self):
        path = self.folder / "loads.csv"
        even = ",".join(["0.00390625"] * 256)
        path.write_text(f"{even}\n")
        asked = {"pins": {**self.wide, "eplb": "off"}, "concurrency": 512, "tpot_ms": 200}
        self.assertAlmostEqual(most(expert_load=str(path), **asked), most(**asked), delta=5)
        hot = ",".join(["0.0625"] * 16 + ["0"] * 240)
        path.write_text("\n".join([even] * 57 + [hot]))
        one = most(expert_load=str(path), **asked)
        self.assertLess(one, most(**asked))
        for text, why in [
            (f"{even},0", "the expert loads of layer 1 are of 257 experts, expected 256"),
            (f"{even}\n{even}", "the expert loads have 2 layers, expected 1 or 58"),
            ("0.5,x", r"loads.csv:1: 'x' is no share, expected numbers joined by commas"),
            (even[:-11], "the expert loads of layer 1 add up to"),
            ("0.5,-0.5,1", "the expert loads of layer 1 have -0.5 for expert 2, expected a share"),
            ("", "there are no shares of experts"),
        ]:
            path.write_text(text)
            with self.subTest(why), self.assertRaisesRegex(so.ShardoptError, why):
                most(expert_load=str(path))

    def test_wrong_loads_are_one_line(self):
        for asked, why in [
            ({"expert_load": "zipf:-1"}, "the exponent of expert loads is -1, expected"),
            ({"expert_load": "zipf:nan"}, "the exponent of expert loads is nan, expected"),
            ({"expert_load": "zipf:9"}, "expected a number from 0 .even. to 4"),
            ({"expert_load": "zipf"}, "zipf"),
            ({"expert_load": 3}, "'expert_load' is 3, expected zipf: and an exponent"),
            ({"expert_load": "zipf:1", "expert_imbalance": 0.2}, "are given, expected one of them"),
            ({"expert_load": "zipf:1", "pins": {"eplb": 40}}, "'eplb' is '40', expected off or 0"),
        ]:
            with self.subTest(asked), self.assertRaisesRegex(so.ShardoptError, why) as caught:
                so.plan(deepseek(**asked))
            self.assertNotIn("\n", str(caught.exception))
        dense = so.Problem(
            so.load_model("llama-3.1-70b"), devices=8, isl=1000, osl=100, expert_load="zipf:1"
        )
        with self.assertRaisesRegex(so.ShardoptError, "the model has no experts"):
            so.plan(dense)
        with self.assertRaisesRegex(so.ShardoptError, "'expert_load' is of a service"):
            so.Problem(so.load_model("deepseek-v3", so.Decode(1000)), expert_load="zipf:1")

    def test_engines_get_their_flags(self):
        def exported(engine, pins):
            plan = so.plan(deepseek(expert_load="zipf:0.8", engine=engine, devices=8, pins=pins))
            service = deployment_of(plan, engine)
            return service.command(service.roles[0], 8000)

        wide = {"serve.tp": 1, "serve.dp": 8, "serve.ep": 8, "exchange": "all_to_all", "eplb": 1}
        words = exported("vllm", wide).args
        self.assertIn("--enable-eplb", words)
        config = json.loads(words[words.index("--eplb-config") + 1])
        self.assertEqual(config, {"num_redundant_experts": 8})
        words = exported("sglang", wide).args
        self.assertIn("--enable-eplb", words)
        self.assertEqual(words[words.index("--ep-num-redundant-experts") + 1], "8")
        options = exported("trtllm", wide).options
        self.assertEqual(options["moe_config"]["load_balancer"]["num_slots"], 264)

    def test_flags_mean_what_was_planned(self):
        wide = {"serve.tp": 1, "serve.dp": 8, "serve.ep": 8, "exchange": "all_to_all"}
        for engine in ("vllm", "sglang", "trtllm"):
            plans = {
                eplb: so.plan(deepseek(
                    expert_load="zipf:0.8", engine=engine, devices=8, pins={**wide, "eplb": eplb}
                )) for eplb in ("off", 0, 1)
            }
            for eplb, plan in plans.items():
                made = deployment_of(plan, engine)
                with self.subTest(engine, eplb=eplb), tempfile.TemporaryDirectory() as place:
                    write(made, "shell", Path(place, "out"))
                    found = so.check(plan.problem, Path(place, "out"), explain=False, plan=plan)
                    self.assertEqual(found.differences, ())
                    role = found.stated.roles[0].role
                    self.assertEqual(role.eplb, eplb != "off")
                    self.assertEqual(role.redundant_experts, 8 if eplb == 1 else 0)
                    self.assertEqual(found.outcome.service["serve"].get("eplb", "off"), str(eplb))
                    if eplb == 1:  # held against another plan
                        other = so.check(plan.problem, Path(place, "out"), explain=False, plan=plans[0])
                        self.assertEqual([str(one) for one in other.differences][:1], [
                            "serve: redundant experts planned 0, stated 8"
                        ])
        uneven = "vllm serve x -dp 8 -ep --enable-eplb --eplb-config.num_redundant_experts 2"
        found = so.check(deepseek(expert_load="zipf:0.8", devices=8), uneven, explain=False)
        self.assertIn("256 experts and 2 replicas are not divided evenly", str(found.findings))


if __name__ == "__main__":
    unittest.main()
