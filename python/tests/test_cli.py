"""The command: exit codes, settings, outputs."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

from shardopt.programs import Verification
from commands import run

ROOT = Path(__file__).resolve().parents[2]
MOE = str(ROOT / "examples/models/small-moe.json")
PROBLEM = [MOE, "--max-devices", "4", "--context", "24"]
SERVED = ["--isl", "2k", "--osl", "500"]


# Answers three strategies, and thinks about all others.
SLOW = """
import json, os, pathlib, sys, time
sys.stdin.readline()
print(json.dumps({"protocol": 1, "name": "slow"}), flush=True)
for number, line in enumerate(sys.stdin):
    if number == 3:
        pathlib.Path(sys.argv[1]).touch()
        time.sleep(1000)
    print(json.dumps({"id": json.loads(line)["id"], "valid": True, "throughput": 1.0,
                      "tpot_ms": 20.0, "memory_gb": 1.0}), flush=True)
"""


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def planned(self, *others):
        code, out, err = run("plan", *PROBLEM, "--output-dir", self.folder, *others)
        self.assertEqual((code, err), (0, ""))
        return self.folder / "decode.json"

    def test_plan_then_every_verb_on_its_file(self):
        path = self.planned()
        code, out, _ = run("evaluate", path)
        self.assertEqual(code, 0)
        self.assertIn("plan", out)
        code, out, _ = run("evaluate", path, "--format", "json")
        plan = json.loads(out)
        self.assertEqual(plan["strategy"], json.loads(path.read_text())["strategy"])
        lines = self.folder / "list.jsonl"
        lines.write_text(json.dumps(plan["strategy"]) + "\n")
        code, out, _ = run("evaluate", path, "--strategies", lines, "--format", "json")
        self.assertEqual(json.loads(out)["throughput"], plan["report"]["best"]["throughput"])
        lines.write_text("\n{]\n")
        code, _, err = run("evaluate", path, "--strategies", lines)
        self.assertEqual(code, 2)
        self.assertIn("list.jsonl:2:", err)
        self.assertEqual(run("diff", path, path)[0], 0)
        code, out, err = run("verify", path, "--format", "json")
        self.assertEqual((code, err, json.loads(out)["ok"]), (0, "", True))
        lowered = self.folder / "lowered.mlir"
        self.assertEqual(run("lower", path, "-o", lowered)[:2], (0, ""))
        self.assertIn("shard.grid", lowered.read_text())
        self.assertEqual(run("explain", path, "attention")[0], 0)

    def test_a_plan_file_in_the_place_of_a_model(self):
        path = self.planned("--tpot", 20)
        kept = json.loads(path.read_text())
        code, out, err = run("plan", path, "--format", "json")
        self.assertEqual((code, err), (0, ""))
        again = json.loads(out)
        for key in ("problem", "strategy", "model"):
            self.assertEqual(again[key], kept[key])
        code, out, _ = run("plan", path, "--devices", 2, "--set", "pins.tp=1",
                           "--format", "json")
        other = json.loads(out)
        asked = {**kept["problem"], "devices": 2, "pins": {"tp": 1}}
        del asked["max_devices"]
        self.assertEqual((code, other["problem"]), (0, asked))
        # Its config need not be where it was.
        kept["model"]["path"] = "/nowhere/small-moe.json"
        path.write_text(json.dumps(kept))
        for words in (["pareto", path], ["fit", path, "--tokens-per-s", 1000], ["sweep", path]):
            with self.subTest(words):
                code, out, err = run(*words, "--format", "json")
                self.assertEqual((code, err), (0, ""))
        self.assertIn("context 12", {row["change"] for row in json.loads(run(
            "sweep", path, "--format", "json")[1])})
        code, out, _ = run("judge", "vllm serve x -tp 2", path)
        self.assertEqual(code, 0)
        self.assertIn("of the optimum's throughput", out)
        for flag, value in (("--context", 8), ("--phase", "decode"), ("--isl", 4)):
            code, _, err = run("plan", path, flag, value)
            self.assertEqual(code, 2)
            self.assertIn("does not go with the plan file", err)

    def interrupted(self, *words):
        """The table of a search that is interrupted once it has kept something."""
        kept = self.folder / "run.jsonl"
        size = kept.stat().st_size if kept.exists() else 0
        process = subprocess.Popen(
            [sys.executable, "-m", "shardopt.cli", "plan", *PROBLEM, "--searcher", "random",
             "--budget", "100000000", "--checkpoint", str(kept), *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.addCleanup(process.kill)
        while not kept.exists() or kept.stat().st_size < size + 20000:
            self.assertIsNone(process.poll(), "it ended by itself")
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        self.assertEqual((process.returncode, err), (3, ""))
        return out

    def test_a_search_that_is_interrupted_goes_on(self):
        out = self.interrupted()
        self.assertIn("search    random, interrupted, ", out)
        self.assertIn(f"resume    the same command goes on from {self.folder}/run.jsonl", out)
        report = json.loads(self.interrupted("--format", "json"))["report"]
        self.assertEqual(report["stopped"], "signal")
        self.assertGreater(report["resumed_evaluations"], 0)
        code, _, err = run("plan", *PROBLEM, "--searcher", "random", "--seed", 7,
                           "--checkpoint", self.folder / "run.jsonl")
        self.assertEqual(code, 2)
        self.assertIn("run.jsonl", err)
        code, _, err = run("plan", MOE, "--isl", 8, "--osl", 8, "--checkpoint", "x")
        self.assertEqual(code, 2)
        self.assertIn("'--checkpoint' is of one search", err)

    def test_a_finished_search_is_given_more_budget(self):
        kept = self.folder / "run.jsonl"

        def report(budget):
            code, out, err = run("plan", *PROBLEM, "--searcher", "genetic", "--budget", budget,
                                 "--checkpoint", kept, "--format", "json")
            return json.loads(out)["report"] if code == 0 else err

        first, more = report(50), report(120)
        self.assertEqual((first["evaluations"], more["evaluations"]), (50, 120))
        self.assertGreaterEqual(more["resumed_evaluations"], 50)
        self.assertGreaterEqual(more["best"]["throughput"], first["best"]["throughput"])
        again = report(120)
        self.assertEqual(again["best"], more["best"])
        self.assertGreaterEqual(again["resumed_evaluations"], more["distinct_evaluations"])
        self.assertIn("'budget' is '50', expected '30'", report(30))
        # A file that is none is refused, and not waited for.
        kept = self.folder / "pipe"
        os.mkfifo(kept)
        self.assertIn("pipe", report(50))

    def interrupt_at(self, there, *words):
        """The exit code, what is printed, and the errors of a command that is
        interrupted as soon as `there` is."""
        process = subprocess.Popen(
            [sys.executable, "-m", "shardopt.cli", *map(str, words)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.addCleanup(process.kill)
        while not there.exists():
            self.assertIsNone(process.poll(), "it ended by itself")
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        return process.returncode, out, err

    def test_a_slow_simulator_does_not_hold_up_an_interrupt(self):
        slow, there = self.folder / "slow.py", self.folder / "there"
        slow.write_text(SLOW)
        simulator = f"simulator=exec:{sys.executable} {slow} {there}"
        kept = self.folder / "run.jsonl"
        code, out, err = self.interrupt_at(
            there, "plan", *PROBLEM, "--set", simulator, "--checkpoint", kept
        )
        self.assertEqual((code, err), (3, ""))
        self.assertRegex(out, "surrogate, interrupted, not proved, evaluations [1-4]\n")
        self.assertIn(f"resume    the same command goes on from {kept}", out)
        # Nor does one that never greets.
        there.unlink()
        simulator = f"simulator=exec:touch {there}; sleep 1000"
        code, out, err = self.interrupt_at(there, "plan", *PROBLEM, "--set", simulator)
        self.assertEqual((code, out, err), (3, "", "error: interrupted\n"))

    def test_serving_inputs_plan_a_service(self):
        asked = ["plan", MOE, "--devices", 2, "--isl", 16, "--osl", 8, "--tpot", 30,
                 "--ttft", 1000, "--output-dir", self.folder]
        code, out, err = run(*asked)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("requests    isl 16, osl 8, tpot_ms 30, ttft_ms 1000", out)
        self.assertEqual(out.count("disaggregated"), 1)
        self.assertNotIn("at a context of", out)
        self.assertEqual(os.listdir(self.folder), ["service.json"])
        path = self.folder / "service.json"
        self.assertIn(f"next        shardopt export {path} --target shell -o launch", out)
        kept = json.loads(path.read_text())
        self.assertEqual(kept["shardopt_plan"], 2)
        self.assertEqual(run("evaluate", path)[::2], (0, ""))
        code, of_ops, _ = run(*asked[:-2], "--ops")
        self.assertEqual(code, 0)
        self.assertIn("decode at a context of 20 tokens", of_ops)
        self.assertIn("prefill of prompts of 16 tokens", of_ops)
        code, fixed, _ = run(*asked, "--concurrency", 3, "--format", "json")
        self.assertEqual(code, 0)
        self.assertEqual(json.loads(fixed)["report"]["requests"]["concurrency"], 3)

    def test_a_service_that_misses_its_limits_is_infeasible(self):
        code, out, err = run("plan", MOE, "--devices", 2, "--isl", 16, "--osl", 8,
                             "--tpot", 0.001)
        self.assertEqual(code, 1)
        self.assertIn("none; bound by tpot", out)
        self.assertIn("a TPOT of 0.001 ms (mean) is missed: the least is", err)

    def test_a_limit_on_a_percentile(self):
        asked = ("plan", MOE, "--devices", 2, "--isl", 16, "--osl", 8, "--format", "json")
        code, out, err = run(*asked, "--ttft", "500@p90")
        self.assertEqual((code, err), (0, ""))
        plan = json.loads(out)
        self.assertEqual(plan["report"]["requests"]["ttft_percentile"], 90)
        self.assertLessEqual(plan["metrics"]["ttft_ms_p90"], 500)
        self.assertEqual((plan["slos"][1]["statistic"], plan["slos"][1]["met"]), ("p90", True))
        code, out, err = run(*asked, "--ttft", "500@p95")
        self.assertEqual(code, 2)
        self.assertIn("'500@p95' is on 'p95', expected p50, p90, p99 or mean", err)

    def test_serving_inputs_under_the_roofline_plan_both_phases(self):
        code, out, err = run("plan", MOE, "--devices", 2, "--isl", 16, "--osl", 8,
                             "--tpot", 30, "--ttft", 1000, "--output-dir", self.folder,
                             "--set", "simulator=roofline")
        self.assertEqual(code, 0)
        self.assertEqual(
            err, "note: no service is planned, but two phases alone: 'simulator' is 'roofline'\n"
        )
        self.assertNotIn("disaggregated", out)
        self.assertIn("decode at a context of 24 tokens", out)
        self.assertIn("prefill of prompts of 16 tokens", out)
        self.assertTrue((self.folder / "prefill.json").exists())

    def test_requests_that_engines_refuse_are_noted(self):
        config = json.loads(Path(MOE).read_text())
        longer = self.folder / "config.json"
        longer.write_text(json.dumps({**config, "max_position_embeddings": 40}))
        for words, tokens in ((("--context", 41), 41), (("--isl", 32, "--osl", 16), 48)):
            code, _, err = run("plan", longer, "--devices", 2, *words)
            said = f"note: engines refuse {tokens} tokens: the model's config allows 40\n"
            self.assertEqual((code, err), (0, said))
        self.assertEqual(run("plan", longer, "--devices", 2, "--context", 40)[2], "")

    def test_settings_of_a_file_flags_and_changes(self):
        config = self.folder / "plan.yaml"
        config.write_text(f"model: {MOE}\ncontext: 24\nmax_devices: 4\npins:\n  tp: 1\n")
        def tp_of(*words):
            code, out, err = run("plan", "--config", config, "--format", "json", *words)
            self.assertEqual((code, err), (0, ""))
            return json.loads(out)["strategy"]["tp"]
        self.assertEqual(tp_of(), 1)
        self.assertEqual(tp_of("--set", "pins.tp=2"), 2)
        config.write_text("contxt: 8\n")
        code, _, err = run("plan", MOE, "--config", config)
        self.assertEqual(code, 2)
        self.assertIn("unknown setting 'contxt'; known: context", err)

    def test_usage_is_2_and_names_the_closest(self):
        deep = self.folder / "deep.json"
        deep.write_text("[" * 200000)
        for words, message in [
            (["paln"], "unknown command 'paln'; known: plan"),
            (["pln"], "did you mean 'plan'?"),
            (["plan", MOE, "--gpus", "8"], "did you mean '--devices'?"),
            (["plan", MOE, "--device", "8"], "did you mean '--devices'?"),
            (["plan", "deepseek-v", *SERVED], "did you mean 'deepseek-v3'?"),
            (["export", "one.json", "--target", "k8s"], "did you mean 'kubernetes'?"),
            (["plan", *PROBLEM, "--output-dir", deep], "is a file, expected a folder"),
            (["evaluate", MOE], "lacks 'shardopt_plan', expected one that `shardopt plan"),
            (["check", MOE, "vllm serve x -tp 2", *SERVED], "is given as the model and looks like a command"),
            (["plan", *PROBLEM, "--machne", "x"], "known: --machine"),
            (["plan", *PROBLEM, "--machine", "h100_sx"], "known: h100_sxm"),
            (["plan", *PROBLEM, "--phase", "prefil"], "known: prefill"),
            (["plan", *PROBLEM, "--tpot", "nan"], "--tpot: 'nan', expected milliseconds above 0"),
            (["plan", *PROBLEM, "--format", "xml"], "--format: unknown 'xml'; known: json, table"),
            (["plan", *PROBLEM, "--quiet=x"], "--quiet: 'x', expected no value"),
            (["plan", *PROBLEM, "--isl"], "--isl: expected one argument"),
            (["plan", *PROBLEM, "--engine", "any"], "'engine' is any, which compares engines of a service"),
            (["pareto", *PROBLEM, "--step", "x"], "--step: 'x', expected a number"),
            (["size", *PROBLEM, "--tokens-per-s", "-1"], "--tokens-per-s: '-1', expected a number above 0"),
            (["diff", "one.json"], "missing: second (plan file)"),
            (["explain", "one.json", "--role", "both"], "--role: unknown 'both'; known: decode, prefill"),
            (["verify", "one.json", "--steps", "two"], "--steps: 'two', expected a whole number"),
            (["export", "one.json", "--devices-per-node", "x"], "expected a whole number"),
            (["serve", "one.json"], "missing: --engine (vllm, sglang==0.5.23, ...)"),
            (["report", "one.json", "-o", "x.html", "--step", "x"], "--step: 'x', expected a number"),
            (["trace", "one", "--objective", "cost"], "--objective: unknown 'cost'; known: latency"),
            (["check", "x", "--timeout", "0"], "--timeout: '0', expected a number above 0"),
            (["lower", "one.json", "--role", "serve"], "--role: unknown 'serve'; known: "),
            (["plan", *PROBLEM, "--isl", "8"], "'osl' is missing"),
            (["plan", *PROBLEM, "--simplest", "x"], "expected a share such as 0.5%"),
            (["fit", *PROBLEM, "--tokens-per-s", "9", "--price", "h100"], "is no price"),
            (["plan"], "no model"),
            (["plan", MOE], "no workload"),
            (["plan", *PROBLEM, "--set", "tp"], "has no '='"),
            (["evaluate", "nothing.json"], "cannot be read"),
            (["pareto", MOE, "--isl", "8", "--osl", "8", "--set", "simulator=roofline"],
             "'pareto' answers for a service or for one phase"),
            (["size", *PROBLEM], "no load to size for, expected --tokens-per-s"),
            (["size", MOE, "--isl", "8", "--osl", "8"], "expected --requests-per-s or --tokens-per-s"),
            (["size", MOE, "--isl", "8", "--osl", "8", "--tokens-per-s", "9", "--requests-per-s", "9"],
             "expected one of them"),
            (["plan", MOE, "--isl", "8", "--osl", "8", "--set", "pins.batch=4"],
             "unknown pin 'batch'"),
            (["plan", MOE, "--isl", "0", "--osl", "8"], "'isl' is 0, expected"),
            (["plan", MOE, "--isl", "8", "--osl", "-8"], "'osl' is -8, expected"),
            (["plan", MOE, "--isl", "8", "--osl", str(1 << 70)], "expected a whole number of tokens from 1 to 2147483648"),
            (["plan", MOE, "--isl", "8", "--osl", "x"], "--osl: 'x', expected a whole number"),
            (["plan", MOE, "--isl", "nan", "--osl", "8"], "--isl: 'nan', expected a whole number"),
            (["plan", MOE, "--isl", "8", "--osl", "8", "--ttft", "9@p42"], "is on 'p42', expected"),
            (["plan", MOE, "--isl", "8", "--osl", "8", "--requests-per-s", "2", "--concurrency",
              "2"], "'--requests-per-s' is 2 and '--concurrency' 2, expected one of them"),
            (["plan", MOE, "--isl", "8", "--osl", "8", "--engine", "x"], "known:"),
            (["evaluate", deep], "is no plan file: maximum recursion depth"),
            (["plan", MOE, "--config", deep], "maximum recursion depth"),
            (["plan", deep, "--context", "8"], "more than 128 levels"),
        ]:
            with self.subTest(words):
                code, _, err = run(*words)
                self.assertEqual(code, 2, err)
                self.assertIn(message, err)
                errors = [line for line in err.splitlines() if not line.startswith("note: ")]
                self.assertEqual(len(errors), 1, err)

    def test_a_command_says_its_model(self):
        command = "vllm serve {} -tp 8 -ep --max-num-seqs 64"
        load = ["--machine", "h200_sxm", *SERVED]
        named = run("check", command.format("deepseek-ai/DeepSeek-V3"), "deepseek-v3", *load)
        self.assertIn("of the optimum's throughput", named[1])
        self.assertEqual(run("check", command.format("deepseek-ai/DeepSeek-V3"), *load), named)
        for words, lacks in [
            ([command.format("deepseek-ai/DeepSeek-V3")], "lacks --isl and --osl"),
            ([command.format("org/other"), *load], "lacks the config.json, Hub id or name of 'org/other'"),
            ([command.format("org/other")], "'org/other' behind the command, and --isl and --osl"),
        ]:
            with self.subTest(lacks):
                code, out, err = run("check", *words)
                self.assertEqual(code, 0)
                self.assertNotIn("optimum", out)
                self.assertIn("note: read only; ", err)
                self.assertIn(lacks, err)
        code, out, _ = run("check", command.format("org/other").replace("-seqs", "-sqes"))
        self.assertEqual(code, 1)
        self.assertIn("did you mean '--max-num-seqs'", out)

    def test_targets_in_seconds_are_asked_about(self):
        for words, said in [(["--ttft", "2@p90"], "2 s are --ttft 2000"), (["--tpot", "0.05"], "0.05 s are --tpot 50")]:
            code, _, err = run("plan", "llama-3.1-70b", "--devices", "8", *SERVED, *words)
            self.assertEqual(code, 1)
            self.assertIn(f"counts milliseconds: {said}\n", err)

    def test_infeasible_is_1(self):
        llama = ROOT / "examples/configs/llama-3.1-70b.json"
        code, out, err = run("plan", llama, "--devices", 1, "--context", 4096)
        self.assertEqual(code, 1)
        self.assertIn("would fit", out)
        self.assertIn("feasible with", err)
        # Proved by a search that spent its budget, too.
        code, _, err = run("plan", llama, "--devices", 1, "--context", 4096,
                           "--searcher", "random", "--budget", 1)
        self.assertEqual(code, 1)
        self.assertIn("no strategy is feasible", err)
        code, _, err = run("fit", MOE, "--context", 24, "--tokens-per-s", 1e30)
        self.assertEqual(code, 1)
        self.assertIn("need more than 4096 devices", err)
        code, _, err = run("plan", MOE, "--context", 24, "--searcher", "random",
                           "--budget", 1)
        self.assertEqual(code, 3)
        self.assertIn("though there are some", err)

    def test_a_service_that_export_refuses_says_so(self):
        model = ROOT / "examples/configs/llama-3.1-70b.json"
        asked = ("--machine", "h100_sxm", "--devices", 8, "--isl", 1000, "--osl", 200, "--weight-type", "fp8")
        for engine, refused in (("trtllm", True), ("vllm", False)):
            with self.subTest(engine), tempfile.TemporaryDirectory() as folder:
                code, out, _ = run("plan", model, *asked, "--engine", engine, "--output-dir", folder)
                self.assertEqual(code, 0)
                self.assertEqual("export refuses this service of trtllm" in out, refused)
                self.assertEqual("next        shardopt export" in out, not refused)
                code, _, err = run("export", Path(folder) / "service.json",
                                   "--target", "shell", "--output-dir", folder + "/launch")
                self.assertEqual(code != 0, refused)
                # Nothing but the config's file says what servers load.
                self.assertEqual("--model names the checkpoint" in err, not refused)

    def test_pareto_and_fit(self):
        code, out, _ = run("pareto", *PROBLEM, "--step", 0.3, "--format", "json")
        self.assertEqual(code, 0)
        self.assertTrue(all(row["proved"] for row in json.loads(out)))
        code, out, _ = run("sweep", *PROBLEM, "--tpot", 20, "--format", "json")
        rows = {row["change"]: row for row in json.loads(out)}
        self.assertEqual(rows["none"]["gain"], "+0.00%")
        self.assertEqual(
            list(rows),
            ["none", "max_devices 5", "max_devices 8", "context 12", "context 48",
             "tpot_ms 16", "tpot_ms 24"],
        )
        self.assertGreaterEqual(rows["context 12"]["throughput"], rows["none"]["throughput"])
        code, out, _ = run("fit", MOE, "--context", 24, "--tokens-per-s", 1000)
        self.assertEqual(code, 0)
        self.assertRegex(out, r"1 GPU reaches [0-9.e+]+ tokens/s \(target 1000\). Fewer do not.")
        code, old, err = run("fit", MOE, "--context", 24, "--rate", 1000)
        self.assertEqual((code, old), (0, out))
        self.assertIn("--tokens-per-s now", err)
        prices = ["--price", "h200_sxm=9", "--price", "h100_sxm=2.5"]
        code, out, _ = run("size", MOE, "--context", 24, "--tokens-per-s", 1000, *prices)
        self.assertEqual(code, 0)
        self.assertLess(out.index("h100_sxm"), out.index("h200_sxm"))

    def test_a_program_that_computes_something_else_is_4(self):
        path = self.planned("--set", "pins.tp=1")
        wrong = {"ok": False, "max_rel": 0.5, "devices": 4, "small": True, "verdict": "far"}
        with unittest.mock.patch(
            "shardopt.commands.plans.verify", return_value=Verification(**wrong)
        ):
            code, out, err = run("verify", path)
        self.assertEqual((code, err), (4, ""))
        self.assertIn("FAILED", out)

    def test_the_simplest_plan_and_the_next_command(self):
        code, out, _ = run("plan", *PROBLEM, "--simplest=1%", "--output-dir", self.folder)
        self.assertEqual(code, 0)
        self.assertRegex(out, "of the optimum\n            (no difference|differs) from ")
        self.assertRegex(out, "next      (shardopt export|the same with --simplest)")
        self.assertIn("--output-dir DIR", run("plan", *PROBLEM)[1])
        out = run("plan", *PROBLEM, "--engine", "sglang", "--output-dir", self.folder)[1]
        self.assertIn(f"shardopt export {self.folder}/decode.json --engine sglang\n", out)


if __name__ == "__main__":
    unittest.main()
