"""Commands of engines: written, refused and judged."""

import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import shardopt as so
from shardopt.engine_table import stage_layers, table

ROOT = Path(__file__).resolve().parents[2]
QWEN = ROOT / "examples/configs/qwen3-235b-a22b.json"
LLAMA = ROOT / "examples/configs/llama-3.1-70b.json"


def problem(config, **others):
    model = so.load_model(config, so.Decode(context=4096))
    return so.Problem(model, machine="h200_sxm", **{"max_devices": 8, **others})


class ExportTest(unittest.TestCase):
    def test_a_command_means_the_plan_that_it_was_written_for(self):
        pins = [
            (LLAMA, {"tp": 8, "pp": 1}),
            (LLAMA, {"tp": 4, "pp": 2}),
            (QWEN, {"tp": 4, "dp": 2, "ep": 8, "pp": 1}),
            (QWEN, {"tp": 1, "dp": 8, "ep": 8, "pp": 1}),
            (QWEN, {"tp": 4, "dp": 1, "ep": 1, "pp": 2}),
            (QWEN, {"tp": 4, "dp": 1, "ep": 4, "pp": 2}),
        ]
        self.assertEqual([*so.engines()], ["vllm", "sglang", "trtllm", "transformers"])
        for engine in ("vllm", "sglang", "trtllm"):
            for config, degrees in pins:
                if engine == "trtllm" and degrees.get("dp") == 2:
                    continue  # all or nothing
                with self.subTest(engine, degrees=degrees):
                    asked = problem(config, engine=engine, pins={**degrees, "batch": "8:256:*2"})
                    best = so.plan(asked)
                    launch = so.export(best, engine)
                    found = so.judge(asked, launch.command)
                    self.assertEqual(found.findings, ())
                    self.assertEqual(found.plan.strategy, best.strategy)

    def test_commands(self):
        best = so.plan(problem(LLAMA, engine="vllm", pins={"tp": 8, "batch": 64}))
        self.assertEqual(
            so.export(best, "vllm==0.33.0").command,
            "vllm serve llama-3.1-70b --tensor-parallel-size 8 --max-num-seqs 64 "
            "--max-model-len 4097",
        )
        wide = so.plan(
            problem(QWEN, engine="vllm", max_devices=16,
                    pins={"tp": 4, "dp": 4, "ep": 16, "exchange": "all_to_all", "batch": 256})
        )
        self.assertEqual(
            so.export(wide, "vllm").command,
            "vllm serve qwen3-235b-a22b --tensor-parallel-size 4 --data-parallel-size 4 "
            "--enable-expert-parallel --all2all-backend deepep_low_latency "
            "--max-num-seqs 64 --max-model-len 4097 --data-parallel-size-local 2 "
            "--data-parallel-address $MASTER_ADDR "
            "--data-parallel-start-rank $((NODE_RANK * 2))",
        )
        sglang = so.plan(
            problem(QWEN, engine="sglang",
                    pins={"tp": 4, "dp": 2, "ep": 8, "exchange": "all_to_all", "batch": 256})
        )
        self.assertEqual(
            so.export(sglang, "sglang==0.5.23").command,
            "python3 -m sglang.launch_server --model-path qwen3-235b-a22b --tp-size 8 "
            "--attn-dp-size 2 --ep-size 8 --moe-a2a-backend deepep "
            "--deepep-mode low_latency --max-running-requests 256 --context-length 4097",
        )
        trtllm = so.plan(
            problem(QWEN, engine="trtllm", pins={"tp": 1, "dp": 8, "ep": 8, "batch": 256})
        )
        self.assertEqual(
            so.export(trtllm, "trtllm==1.3.0rc23").command,
            "trtllm-serve qwen3-235b-a22b --tp_size 8 --ep_size 8 --enable_attention_dp "
            "--max_batch_size 32 --max_seq_len 4097",
        )

    def test_what_an_engine_lacks_is_named_with_the_nearest_plan(self):
        best = so.plan(problem(LLAMA, pins={"embed": "none", "lm_head": "none", "tp": 8}))
        with self.assertRaises(so.Inexpressible) as caught:
            so.export(best, "vllm")
        self.assertIn("embed is whole, and vllm has it cut by vocab", caught.exception.reasons)
        self.assertGreaterEqual(len(caught.exception.reasons), 2)
        so.export(caught.exception.nearest, "vllm")

    def test_dims_that_cost_the_same_are_the_engines(self):
        model = so.load_model(ROOT / "examples/models/small-moe.json", so.Decode(24))
        one = so.plan(so.Problem(model, devices=1))
        self.assertIn("max-num-seqs", so.export(one, "vllm").command)

    def test_uneven_stages(self):
        uneven = so.plan(
            problem(QWEN, engine="vllm", pins={"tp": 2, "ep": 1, "dp": 1, "pp": 4, "batch": 64})
        )
        self.assertEqual(
            so.export(uneven, "vllm").env, {"VLLM_PP_LAYER_PARTITION": "23,24,24,23"}
        )
        with self.assertRaisesRegex(so.Inexpressible, "divides layers itself"):
            so.export(uneven, "trtllm")

    def test_layers_without_attention_are_layers(self):
        tiny = ROOT / "test/Target/HuggingFace/Tiny"
        for family, pp, wanted in [
            ("granite_4", 3, [1, 1, 1]),
            ("granite_4", 2, [2, 1]),
            ("qwen3_next", 2, [2, 2]),
            ("nemotron_h", 2, [3, 2]),
        ]:
            with self.subTest(family, pp=pp):
                model = so.load_model(tiny / family / "config.json", so.Decode(context=16))
                pins = {"tp": 1, "ep": 1, "dp": 1, "pp": pp, "batch": 8}
                plan = so.plan(so.Problem(model, machine="h200_sxm", max_devices=4, pins=pins))
                self.assertEqual(stage_layers(plan), wanted)

    def test_unknown_engines_and_versions(self):
        best = so.plan(problem(LLAMA, engine="vllm", pins={"tp": 8, "batch": 64}))
        with self.assertRaisesRegex(so.ShardoptError, "unknown engine 'vlm'; known: vllm"):
            so.export(best, "vlm")
        for version in ["0.3", "0.32.1", "0.330", ""]:
            if not version:
                continue
            with self.assertRaisesRegex(so.ShardoptError, "known: 0.33"):
                so.export(best, f"vllm=={version}")


class ServeTest(unittest.TestCase):
    def serve(self, folder, *words):
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
        environment["PYTHONPATH"] = str(Path(so.__file__).parents[1])
        return subprocess.run(
            [sys.executable, "-m", "shardopt.cli", "serve", "plan.json", *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )

    def test_the_engine_takes_the_place_of_the_command(self):
        model = so.load_model(QWEN, so.Decode(context=8192))
        problem = so.Problem(model, machine="h200_sxm", devices=8, engine="vllm")
        with tempfile.TemporaryDirectory() as folder:
            so.plan(problem).to_json(Path(folder) / "plan.json")
            said = self.serve(folder, "--engine", "vllm", "--dry-run")
            self.assertIn("exec vllm serve", said.stdout)
            absent = self.serve(folder, "--engine", "vllm")
            self.assertEqual(absent.returncode, 2)
            self.assertIn("'vllm' is not in PATH", absent.stderr)
            engine = Path(folder) / "vllm"
            engine.write_text('#!/bin/sh\necho "$@"; exit 7\n')
            engine.chmod(0o755)
            ran = self.serve(folder, "--engine", "vllm")
            self.assertEqual(ran.returncode, 7)
            self.assertIn("--tensor-parallel-size", ran.stdout)
            self.assertTrue((Path(folder) / "launch" / "benchmark.sh").exists())


class JudgeTest(unittest.TestCase):
    def judged(self, command, config=LLAMA):
        return so.judge(problem(config), command)

    def test_distance_from_the_optimum(self):
        found = self.judged("vllm serve x -tp 8 --max-num-seqs=32")
        self.assertEqual((found.plan.strategy.tp, found.plan.strategy.batch), (8, 32))
        self.assertLess(found.share, 1)
        self.assertIn("of the optimum's throughput", str(found))

    def test_illegal_and_ignored_flags(self):
        found = self.judged("vllm serve x -tp 8 -ep")
        self.assertIn("--enable-expert-parallel is ignored: the model has no experts", found.findings)
        self.assertIn("the batch is not said: the best one is taken", found.findings)
        found = self.judged("vllm serve x -tp 4 -dp 2")
        self.assertIsNone(found.plan)
        found = self.judged("vllm serve x -tp 3")
        self.assertIsNone(found.plan)
        self.assertIn("tp 3 does not divide", " ".join(found.findings))
        for command, why in [
            ("vllm serve x -tp 8 --enable-eplb", "--enable-eplb needs --enable-expert-parallel"),
            ("vllm serve x -tp 8 -pcp 2", "--prefill-context-parallel-size 2 is no degree of plans"),
            ("python3 -m sglang.launch_server --tp 8 --dcp-size 2", "--dcp-size 2 is no degree"),
        ]:
            found = self.judged(command, QWEN)
            self.assertIsNone(found.plan)
            self.assertIn(why, " ".join(found.findings))
        found = self.judged("vllm serve x -tp 8 -ep --enable-eplb", QWEN)
        self.assertIsNotNone(found.plan)
        found = self.judged("vllm serve x --tensor-paralel-size 8")
        self.assertIn("known: --tensor-parallel-size", found.findings[0])
        found = self.judged("python -m sglang.launch_server --model-path x --tp 8 --ep 4 "
                            "--moe-a2a-backend deepep", QWEN)
        self.assertIsNone(found.plan)

    def test_commands_that_cannot_be_read(self):
        for command, message in [
            ("vllm serve x -tp 8 -tp 4", "given twice, '8' and '4'"),
            ("vllm serve x -tp eight", "'-tp' is 'eight'"),
            ("vllm serve x -tp", "'-tp' has no value"),
            ("vllm serve x --all2all-backend naive", "'naive'; known"),
            ("vlm serve x", "known: vllm serve"),
            ("vllm serve 'x", "cannot be read"),
        ]:
            with self.subTest(command), self.assertRaisesRegex(so.ShardoptError, message):
                self.judged(command)


class TableTest(unittest.TestCase):
    def test_every_flag_is_written_and_named_once(self):
        for engine, row in table().items():
            names = [
                name
                for flag in row["flags"]
                for name in (flag["flag"], *flag.get("aliases", ()))
            ]
            with self.subTest(engine):
                self.assertEqual(len(names), len(set(names)))
                self.assertLessEqual(set(row["switches"]), set(row["other_flags"]))
                self.assertFalse(set(names) & set(row["other_flags"]))
                shlex.split(" ".join(row["program"]))


if __name__ == "__main__":
    unittest.main()
