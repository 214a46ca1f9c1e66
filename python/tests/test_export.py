"""Commands of engines: written, refused and judged."""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import shardopt as so
from shardopt import deployments
from shardopt.engine_table import flags_of, nodes_of, stage_layers, table
from shardopt.shell import Expansion, command_line

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
            "--max-model-len 131072 --gpu-memory-utilization 0.87",
        )
        wide = so.plan(
            problem(QWEN, engine="vllm", max_devices=16,
                    pins={"tp": 4, "dp": 4, "ep": 16, "exchange": "all_to_all", "batch": 256})
        )
        launch = so.export(wide, "vllm")
        self.assertEqual(
            launch.command,
            "vllm serve qwen3-235b-a22b --tensor-parallel-size 4 --data-parallel-size 4 "
            "--enable-expert-parallel --all2all-backend deepep_low_latency "
            "--max-num-seqs 64 --max-model-len 40960 --data-parallel-size-local 2 "
            '--data-parallel-address "$MASTER_ADDR" --data-parallel-rpc-port 13345 '
            "--gpu-memory-utilization 0.87",
        )
        self.assertEqual(
            launch.later_command,
            launch.command + ' --headless --data-parallel-start-rank "$((NODE_RANK * 2))"',
        )
        sglang = so.plan(
            problem(QWEN, engine="sglang",
                    pins={"tp": 4, "dp": 2, "ep": 8, "exchange": "all_to_all", "batch": 256})
        )
        self.assertEqual(
            so.export(sglang, "sglang==0.5.23").command,
            "python3 -m sglang.launch_server --model-path qwen3-235b-a22b --tp-size 8 "
            "--attn-dp-size 2 --ep-size 8 --moe-a2a-backend deepep "
            "--deepep-mode low_latency --max-running-requests 256 --context-length 40960 "
            "--mem-fraction-static 0.85",
        )
        trtllm = so.plan(
            problem(QWEN, engine="trtllm", pins={"tp": 1, "dp": 8, "ep": 8, "batch": 256})
        )
        self.assertEqual(
            so.export(trtllm, "trtllm==1.3.0rc23").command,
            "trtllm-serve qwen3-235b-a22b --tp_size 8 --ep_size 8 --enable_attention_dp "
            "--max_batch_size 32 --max_seq_len 40960 --free_gpu_memory_fraction 0.73",
        )

    def test_mpi_starts_a_server_of_several_nodes(self):
        """Once for each GPU: what comes back is the plan, on two nodes and on three."""
        for degrees, each in (({"tp": 8, "pp": 2}, 8), ({"tp": 4, "pp": 3}, 4)):
            asked = problem(LLAMA, engine="trtllm", max_devices=16, pins={**degrees, "batch": 96})
            plan = so.plan(asked)
            made = so.export(plan, "trtllm")
            with self.subTest(degrees):
                self.assertTrue(made.command.startswith(
                    f"trtllm-llmapi-launch trtllm-serve llama-3.1-70b --tp_size {degrees['tp']} "))
                self.assertIn(f"--gpus_per_node {each}", made.command)
                self.assertEqual(made.processes, degrees["tp"] * degrees["pp"])
                self.assertIn(f"--nodes={made.processes // each} --ntasks-per-node={each} sh", made.script)
                self.assertIn(f"mpirun -n {made.processes} -H HOST:{each},HOST:{each}", made.script)
                found = so.judge(asked, made.command)
                self.assertEqual((found.findings, found.plan.strategy), ((), plan.strategy))
                with self.assertRaisesRegex(so.ShardoptError, "processes of MPI on"):
                    with mock.patch("shutil.which", return_value="/bin/true"):
                        made.run("nowhere")
        with self.assertRaisesRegex(so.Inexpressible, "parts words at spaces .* 'my model' is one word"):
            so.export(plan, "trtllm", model="my model")

    def test_what_an_engine_lacks_is_named_with_the_nearest_plan(self):
        best = so.plan(problem(LLAMA, pins={"embed": "none", "lm_head": "none", "tp": 8}))
        with self.assertRaises(so.Inexpressible) as caught:
            so.export(best, "vllm")
        self.assertIn("embed is replicated, and vllm has it sharded on vocab", caught.exception.reasons)
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

    def test_nodes_are_even_and_hold_whole_groups(self):
        for tp in (1, 2, 3, 4, 8, 12, 16):
            for pp in (1, 2, 3, 4):
                for ranks in (1, 2, 3, 6, 8):
                    for node in (1, 4, 6, 8):
                        nodes, world = nodes_of(tp, pp, ranks, node), tp * pp * ranks
                        here, rest = divmod(world, nodes)
                        with self.subTest(tp=tp, pp=pp, ranks=ranks, node=node):
                            self.assertEqual(rest, 0)
                            self.assertLessEqual(here, node)
                            if tp <= node:
                                self.assertEqual(here % tp, 0)
                            if tp * pp <= node:
                                self.assertEqual(here % (tp * pp), 0)
                            if world <= node:
                                self.assertEqual(nodes, 1)

    def test_replicas_over_nodes(self):
        best = so.plan(
            problem(QWEN, engine="vllm", max_devices=32,
                    pins={"tp": 8, "dp": 2, "ep": 16, "pp": 2, "batch": 64})
        )
        launch = so.export(best, "vllm")
        self.assertEqual(launch.nodes, 4)
        self.assertIn('--nnodes 4 --node-rank "$NODE_RANK"', launch.command)
        self.assertNotIn("--data-parallel-size-local", launch.command)
        self.assertEqual(launch.later_args, ("--headless",))

    def test_low_latency_dispatch_is_told_its_tokens(self):
        for batch, flag, mode in [
            (16 * 200, None, "low_latency"),
            (16 * 600, "600", "low_latency"),
            (16 * 1200, None, "high_throughput"),
        ]:
            pins = {"tp": 1, "dp": 16, "ep": 16, "exchange": "all_to_all", "batch": batch}
            model = so.load_model(QWEN, so.Decode(context=64))
            asked = so.Problem(model, machine="h200_sxm", max_devices=16, pins=pins, engine="vllm",
                               tpot_ms=1000)
            words = so.export(so.plan(asked), "vllm").args
            self.assertIn(f"deepep_{mode}", words)
            self.assertEqual("--max-num-batched-tokens" in words, flag is not None)
            self.assertTrue(flag is None or flag in words)
            launch = so.export(so.plan(asked.replace(engine="sglang")), "sglang")
            limit = launch.env.get("SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK")
            self.assertEqual(limit, str(batch // 16) if mode == "low_latency" else None)

    def test_requests_fit_the_server(self):
        def value(words, flag):
            return int(words[words.index(flag) + 1])

        def lengths(words):
            return [value(words, f"--random-{end}-len") for end in ("input", "output")]

        for workload in (so.Decode(4096), so.Decode(131072), so.Prefill(2048), so.Decode(1)):
            model = so.load_model(LLAMA, workload)
            for engine, flag in (("vllm", "--max-model-len"), ("sglang", "--context-length")):
                asked = so.Problem(model, machine="h200_sxm", max_devices=8, engine=engine,
                                   pins={"tp": 8, "pp": 1})
                launch = so.export(so.plan(asked), engine)
                limit = value(launch.args, flag)
                with self.subTest(workload, engine=engine):
                    self.assertLessEqual(limit, 131072)
                    self.assertLessEqual(sum(lengths(launch.benchmark)), limit)
        model = so.load_model(LLAMA, so.Decode(context=2150))
        asked = so.Problem(model, machine="h200_sxm", max_devices=8, isl=2000, osl=300,
                           engine="vllm")
        service = so.plan(asked)
        made = deployments.deployment_of(service)
        self.assertEqual((made.load.isl, made.load.osl), (2000, 300))
        self.assertEqual(made.max_length, 131072)
        self.assertEqual(deployments.deployment_of(service, max_length=4000).max_length, 4000)
        with self.assertRaisesRegex(so.ShardoptError, "at least 2300"):
            deployments.deployment_of(service, max_length=2299)

    def test_lengths_and_memory_are_those_that_devices_hold(self):
        def value(words, flag):
            return float(words[words.index(flag) + 1])

        # A little more than the weights: the caches of one device end before the model.
        for batch, context in ((1, 512), (64, 512), (8, 4096)):
            model = so.load_model(LLAMA, so.Decode(context))
            asked = so.Problem(model, machine="l40s", max_devices=4, engine="vllm", tpot_ms=1000,
                               pins={"tp": 4, "pp": 1, "batch": batch})
            plan = so.plan(asked)
            parts = plan.report["best"]["memory_parts_gb"]
            budget = asked.machine_parameters()["memory"]["capacity_bytes"] / 1e9
            words = so.export(plan, "vllm").args
            length = value(words, "--max-model-len")
            each = parts["kv_cache"] / (batch * context)  # GB of a token
            self.assertGreaterEqual(length, context + 1)
            self.assertLessEqual(parts["weights"] + each * length, budget)
            self.assertLess(length, 131072)
            # 48 GB on the sheet, of which drivers report 1.0625 times.
            share = value(words, "--gpu-memory-utilization")
            self.assertGreaterEqual(share * 48 * 1.0625, budget + 2)
            self.assertLessEqual((share - 0.01) * 48 * 1.0625, budget + 2)

    def test_a_context_that_the_model_lacks_is_refused(self):
        model = so.load_model(LLAMA, so.Decode(context=140000))
        pins = {"tp": 8, "pp": 1, "batch": 8}
        best = so.plan(so.Problem(model, machine="h200_sxm", max_devices=8, pins=pins))
        with self.assertRaisesRegex(so.Inexpressible, "140000 tokens.*allows 131072"):
            so.export(best, "vllm")

    def test_unknown_engines_and_versions(self):
        best = so.plan(problem(LLAMA, engine="vllm", pins={"tp": 8, "batch": 64}))
        with self.assertRaisesRegex(so.ShardoptError, "unknown engine 'vlm'; known: vllm"):
            so.export(best, "vlm")
        for version in ["0.3", "0.32.1", "0.330", ""]:
            if not version:
                continue
            with self.assertRaisesRegex(so.ShardoptError, "known: 0.33"):
                so.export(best, f"vllm=={version}")


HOSTILE = [
    "$(touch pwned)", "$HOME/$(touch pwned)", "`touch pwned`", "a;touch pwned", "a b",
    "$NODE_RANK", "'", '"', "\\", "a\nb", "*", "~", "!x", "&", "|", "é",
]


class QuotingTest(unittest.TestCase):
    def test_words_come_back_from_a_shell(self):
        lists = [HOSTILE, *([f"{a}{b}"] for a in HOSTILE for b in HOSTILE)]
        for words in lists:
            line = command_line(["printf", "%s\\0", *words])
            said = subprocess.run(["sh", "-c", line], capture_output=True, check=True)
            self.assertEqual(said.stdout.decode().split("\0")[:-1], words)

    def test_only_tables_expand(self):
        line = command_line(["echo", Expansion("$((NODE_RANK * 2))"), "$NODE_RANK"])
        said = subprocess.run(["sh", "-c", line], capture_output=True, text=True,
                              env={**os.environ, "NODE_RANK": "3"})
        self.assertEqual(said.stdout, "6 $NODE_RANK\n")
        for text in ("$(touch x)", "`x`", "$a;b", "x", "$((A * $(touch x)))"):
            with self.assertRaises(ValueError):
                Expansion(text)

    def test_an_engine_loads_the_model_that_is_named(self):
        plan = so.plan(problem(LLAMA, engine="vllm", pins={"tp": 8, "pp": 1}))
        for engine in ("vllm", "sglang", "trtllm"):
            named = so.export(plan, engine, model="Org/a model").script
            self.assertEqual(named, so.export(plan, engine).script.replace("llama-3.1-70b", "'Org/a model'"))
        with self.assertRaisesRegex(so.ShardoptError, "'model' is 3, expected a text"):
            so.export(plan, "vllm", model=3)

    def test_names_of_models_are_words(self):
        text = problem(LLAMA).model.mlir
        for name in [*HOSTILE, "--trust-remote-code", "-x $(touch pwned)"]:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                module = Path(folder, "m.mlir")
                spelled = json.dumps(name, ensure_ascii=False).replace("\\n", "\\0A")
                module.write_text(
                    re.sub('llm.model = "[^"]*"', lambda _: f"llm.model = {spelled}", text)
                )
                model = so.load_model(module)
                self.assertEqual(model.name, name)
                for engine in ("vllm", "sglang", "trtllm"):
                    best = so.plan(so.Problem(model, machine="h200_sxm", devices=8,
                                              pins={"pp": 1}, engine=engine))
                    if name.startswith("-"):
                        with self.assertRaisesRegex(so.ShardoptError, "as a flag"):
                            so.export(best, engine)
                        continue
                    launch = so.export(best, engine)
                    words = shlex.split(launch.command)
                    self.assertEqual(words.count(name), 1)
                    self.assertEqual(words, list(launch.args))

    def test_a_version_is_no_line_of_a_script(self):
        best = so.plan(problem(LLAMA, engine="vllm", pins={"tp": 8, "batch": 64}))
        with self.assertRaisesRegex(so.ShardoptError, "unknown version"):
            so.export(best, "vllm==0.33.0\ntouch pwned")


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

    def test_commands_as_they_are_written(self):
        for command, degrees in [
            ("VLLM_USE_DEEP_GEMM=1 A= vllm serve x --tensor_parallel_size=8", (8, 1)),
            ("env A=b vllm serve x --tensor-parallel 8", (8, 1)),
            ("python -m vllm.entrypoints.openai.api_server --model x -tp 8", (8, 1)),
            ("vllm serve x -tp 8 --max-num-batched-tokens 8k --kv-transfer-config {}", (8, 1)),
            ("vllm serve x -tp 8 --eplb-config.num_redundant_experts 2", (8, 1)),
            ("vllm serve x -tp 8 -ep --no-enable-expert-parallel", (8, 1)),
            ("vllm serve x -tp 4 --data-parallel-size 2", (4, 2)),
            ("sglang serve --model-path x --tp 8 --attention-backend fa3", (8, 1)),
            ("python3 -m sglang.launch_server --tp 8 --lora-paths a b --port 8", (8, 1)),
            ("trtllm-serve serve x --tp_size 8", (8, 1)),
        ]:
            with self.subTest(command):
                found = self.judged(command)
                self.assertEqual(found.findings[:-1], ())
                self.assertIn("the batch is not said", found.findings[-1])
                strategy = found.plan.strategy
                self.assertEqual((strategy.tp, strategy.dp_size), degrees)
        found = self.judged("vllm serve x -tp 4 -dp 2")
        self.assertIn("tp 4, dp 2, pp 1", str(found))
        found = self.judged("python -m sglang.launch_server --tp 8 --dp 8 --ep 8 "
                            "--enable-dp-attention --max-running-requests 64", QWEN)
        self.assertEqual(found.findings, ())
        self.assertEqual((found.plan.strategy.tp, found.plan.strategy.dp_size), (1, 8))
        self.assertEqual(found.plan.strategy.batch, 64)

    def test_more_devices_than_a_node_are_said(self):
        for command in ("vllm serve x -tp 16", "sglang serve --tp 16"):
            found = so.judge(problem(LLAMA, max_devices=16), command)
            self.assertIsNone(found.plan)
            self.assertIn("16 devices, a node has 8", found.findings[0])
            found = so.judge(problem(LLAMA, max_devices=16), command + " --nnodes 2")
            self.assertIsNotNone(found.plan)

    def test_illegal_and_ignored_flags(self):
        found = self.judged("vllm serve x -tp 8 -ep")
        self.assertIn("--enable-expert-parallel is ignored: the model has no experts", found.findings)
        self.assertIn("the batch is not said: the best one is taken", found.findings)
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
        for command, why in [
            ("vllm serve x --all2all-backend naive", "'naive'; known"),
            ("vllm serve x --max-num 8", "'--max-num' abbreviates --max-num-"),
            ("vllm serve x y", "'y' is one word too many: the model is 'x'"),
        ]:
            found = self.judged(command, QWEN)
            self.assertIsNone(found.plan)
            self.assertIn(why, " ".join(found.findings))
        found = self.judged("python -m sglang.launch_server --model-path x --tp 8 --ep 4 "
                            "--moe-a2a-backend deepep", QWEN)
        self.assertIn("--ep-size 4 is ignored: --moe-a2a-backend deepep makes it 8", found.findings)
        self.assertEqual(found.plan.strategy.ep, 8)

    def test_commands_that_cannot_be_read(self):
        for command, message in [
            ("vllm serve x -tp 8 -tp 4", "given twice, '8' and '4'"),
            ("vllm serve x -tp eight", "'-tp' is 'eight'"),
            ("vllm serve x -tp", "'-tp' has no value"),
            ("vlm serve x", "known: vllm serve"),
            ("vllm serve 'x", "cannot be read"),
            ("vllm serve x --max-num-batched-tokens 1.5K", "expected a whole number"),
            ("vllm serve x --max-num-seqs 1k", "'1k', expected a whole number"),
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
                kinds = flags_of(engine)
                self.assertLessEqual(set(names), set(kinds))
                for flag in row["flags"]:
                    self.assertEqual(flag["kind"] == "bool", kinds[flag["flag"]] == "switches")


if __name__ == "__main__":
    unittest.main()
