"""Plans as tensor parallel plans of Transformers, and those executed."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import shardopt as so

ROOT = Path(__file__).resolve().parents[2]
TINY = ROOT / "test/Target/HuggingFace/Tiny"
BUILD = Path(os.environ.get("SHARDOPT_BUILD", ROOT / "build"))
PYTHON = BUILD / "transformers-venv/bin/python"

MEGATRON = {
    "embed": "vocab",
    "qkv_proj": "heads",
    "attention": "heads",
    "out_proj": "heads",
    "ffn_up": "inner",
    "ffn_down": "inner",
    "*_norm": "none",
    "lm_head": "vocab",
}
# Attention whole, the projections around it cut in turn, and gathered.
MIXED = {
    "embed": "hidden",
    "qkv_proj": "heads",
    "attention": "none",
    "out_proj": "hidden",
    "ffn_up": "inner",
    "ffn_down": "hidden",
    "*_norm": "none",
    "lm_head": "hidden",
}
ROWS = {**MIXED, "embed": "none", "qkv_proj": "hidden", "out_proj": "heads", "ffn_up": "hidden"}

# Where layers have experts: columns of all of them on each device, or whole ones,
# whose rows are gathered or sent; and stages.
COLUMNS = {
    "embed": "vocab",
    "*qkv_proj": "heads",
    "*attention": "heads",
    "*out_proj": "heads",
    "*up": "inner",
    "*down": "inner",
    "*_norm": "none",
    "*router": "none",
    "*dispatch": "none",
    "*combine": "none",
    "lm_head": "vocab",
    "exchange": "gather",
    "dp": 1,
}
GATHERED = {**COLUMNS, "ep": 2}
SENT = {**GATHERED, "exchange": "all_to_all", "*dispatch": "tokens", "*combine": "tokens"}
STAGES = {**COLUMNS, "exchange": "all_to_all", "tp": 1, "pp": 2}


def plan_of(name, pins, **others):
    model = so.load_model(TINY / name, so.Decode(context=12))
    pins = {"tp": 2, "pp": 1, "cp": 1, "ep": 1, "batch": 4, **pins}
    return so.plan(so.Problem(model, **{"max_devices": 4, "pins": pins, **others}))


# Runs in the environment of Transformers, once a rank.
CHECK = """
import pathlib, runpy, sys, torch
from safetensors.torch import load_file
import transformers
transformers.logging.set_verbosity_error()
folder = pathlib.Path(sys.argv[1])
known = load_file(folder / "io.safetensors")
whole = sum(weight.numel() for weight in load_file(folder / "model.safetensors").values())
for place in sys.argv[2:]:
    # Products in groups want sizes that tiny models do not have.
    model = runpy.run_path(place + "/load.py")["load"](folder, experts_implementation="eager")
    with torch.no_grad():
        found = model(known["tokens"].long()).logits.float()
    error = (found - known["logits"]).abs().max() / known["logits"].abs().max()
    held = sum(getattr(p, "to_local", lambda: p)().numel() for p in model.parameters())
    if torch.distributed.get_rank() == 0:
        print("error", pathlib.Path(place).name, error.item() < 2e-5, error.item(), held / whole, flush=True)
torch.distributed.destroy_process_group()
"""


def run_on_two(model, plans):
    """Runs each plan, of a name, on two processes; gives a row each: name,
    whether logits are those of one device, how far off, the share of the weights
    that a process holds."""
    with tempfile.TemporaryDirectory() as folder:
        places = []
        for name, plan in plans.items():
            places.append(f"{folder}/{name}")
            so.export(plan, "transformers").write(places[-1])
        script = Path(folder) / "check.py"
        script.write_text(CHECK)
        run = [str(PYTHON), "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
        done = subprocess.run(
            [*run, str(script), str(model), *places],
            env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    return [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("error ")]


class TensorPlanTest(unittest.TestCase):
    def test_styles(self):
        launch = so.export(plan_of("mistral", MEGATRON), "transformers==5.23.0")
        self.assertEqual(launch.args[:3], ("torchrun", "--nproc-per-node=2", "load.py"))
        text = launch.files["tp_plan.json"]
        for name, style in [
            ("model.embed_tokens", "embedding_rowwise"),
            ("model.layers.*.self_attn.k_proj", "colwise"),
            ("model.layers.*.self_attn.o_proj", "rowwise"),
            ("model.layers.*.mlp.gate_proj", "colwise"),
            ("model.layers.*.mlp.down_proj", "rowwise"),
            ("lm_head", "colwise_gather_output"),
        ]:
            self.assertIn(f'"{name}": "{style}"', text)

    def test_what_has_no_style(self):
        for pins, reason in [
            ({**MEGATRON, "attn_norm": "tokens", "*_norm": "tokens"}, "attn_norm is sharded on tokens"),
            ({**MEGATRON, "qkv_proj": "hidden"}, "attention is sharded on heads, and qkv_proj is not"),
            ({**MEGATRON, "cp": 2, "tp": 4}, "cp is 2"),
        ]:
            with self.subTest(reason), self.assertRaises(so.Inexpressible) as caught:
                so.export(plan_of("mistral", pins), "transformers")
            self.assertIn(reason, " ".join(caught.exception.reasons))
        with self.assertRaisesRegex(so.ShardoptError, "of 'phi3' are not in the table"):
            so.export(plan_of("phi3", {}), "transformers")
        with self.assertRaisesRegex(so.ShardoptError, "unknown version '4.5' of transformers"):
            so.export(plan_of("mistral", MEGATRON), "transformers==4.5")
        with self.assertRaisesRegex(so.ShardoptError, "unknown engine 'transformer'; known: trans"):
            so.export(plan_of("mistral", MEGATRON), "transformer")

    def test_the_nearest_plan_that_it_runs(self):
        for name, pins in (
            ("mistral", {**MEGATRON, "*_norm": "tokens"}),
            ("qwen2_moe", {**SENT, "dp": 2}),
        ):
            plan = plan_of(name, pins)
            with self.assertRaises(so.Inexpressible) as caught:
                so.export(plan, "transformers")
            nearest = caught.exception.nearest
            self.assertIn("the best that it runs has", str(caught.exception))
            so.export(nearest, "transformers")
            # Every other that it runs is no better.
            for known in ({**MEGATRON, "dp": 1},) if name == "mistral" else (COLUMNS, GATHERED, SENT):
                other = so.plan(plan.problem.replace(pins={"cp": 1, "pp": 1, "tp": 2, **known}))
                self.assertLessEqual(other.metrics.throughput, nearest.metrics.throughput)

    def test_a_space_of_its_own(self):
        model = so.load_model(TINY / "qwen2_moe", so.Decode(context=12))
        problem = so.Problem(model, max_devices=4, engine="transformers", pins={"tp": 2})
        plan = so.plan(problem)
        self.assertEqual((plan.strategy.tp, plan.proved), (2, True))
        so.export(plan, "transformers")
        again = so.plan(plan.problem)
        self.assertEqual((again.strategy, again.problem), (plan.strategy, plan.problem))
        self.assertGreater(len(so.pareto(problem, step=0.5)), 0)
        with self.assertRaisesRegex(so.Inexpressible, "router is sharded on experts"):
            so.plan(problem.replace(pins={"tp": 2, "*router": "experts"}))
        with self.assertRaises(so.Infeasible):
            so.plan(problem.replace(tpot_ms=1e-6))
        with self.assertRaisesRegex(so.ShardoptError, "'phi3' are not in the table"):
            phi3 = so.load_model(TINY / "phi3", so.Decode(context=12))
            so.plan(problem.replace(model=phi3, pins={}))

    def test_experts(self):
        for pins, wanted in [
            (COLUMNS, {"experts": "moe_tp_experts", "experts.down_proj": "rowwise"}),
            (GATHERED, {"ep_size": 2, "ep_implementation": "all_reduce"}),
            (SENT, {"ep_implementation": "all_to_all", "experts": "ep_dispatch_experts"}),
            (STAGES, {"pp_size": 2, "tp_size": 1}),
        ]:
            launch = so.export(plan_of("qwen2_moe", {**pins, **self.stages(pins)}), "transformers")
            self.assertEqual(launch.args[1], "--nproc-per-node=2")
            config = json.loads(launch.files["tp_plan.json"])
            found = {**config, **config["tp_plan"], **config.get("ep_plan", {})}
            found = {name.replace("model.layers.*.mlp.", ""): style for name, style in found.items()}
            self.assertEqual({name: found.get(name) for name in wanted}, wanted)
            self.assertEqual(found["shared_expert.up_proj"], "colwise")

    @staticmethod
    def stages(pins):
        """Transformers gives the layers that are left to the last stage."""
        return {"stages": [1, 2]} if pins.get("pp") == 2 else {}

    def test_experts_without_a_style(self):
        for pins, reason in [
            ({**COLUMNS, "dp": 2}, "dp is 2, and transformers shards all weights"),
            ({**COLUMNS, "*router": "experts"}, "router is sharded on experts"),
            ({**COLUMNS, "moe.ffn_up": "hidden"}, "ffn_up and ffn_down of experts are sharded on hidden"),
            ({**COLUMNS, "moe.out_proj": "hidden"}, "moe.out_proj is sharded on hidden, and in other"),
            ({**GATHERED, "*combine": "tokens"}, "combine is sharded on tokens, and where rows are gath"),
            ({**SENT, "*dispatch": "none"}, "dispatch is sharded on none, and where rows are sent"),
            (STAGES, r"stages have \[2, 1\] layers, and transformers divides them into \[1, 2\]"),
            ({**GATHERED, "pp": 2, "stages": [1, 2]}, "pp is 2 and ep 2, and transformers has one"),
        ]:
            with self.subTest(reason), self.assertRaises(so.Inexpressible) as caught:
                so.export(plan_of("qwen2_moe", pins), "transformers")
            self.assertRegex(" ".join(caught.exception.reasons), reason)

    @unittest.skipUnless(PYTHON.exists(), "Transformers is not installed, as ./dev test --transformers does")
    def test_logits_are_those_of_one_device(self):
        """Transformers' own of one device, to which shard-run is compared too."""
        dense = {"megatron": MEGATRON, "mixed": MIXED, "rows": ROWS}
        experts = {"columns": COLUMNS, "gathered": GATHERED, "sent": SENT, "stages": STAGES}
        for model, cases in (("mistral", dense), ("qwen2_moe", experts)):
            plans = {n: plan_of(model, {**pins, **self.stages(pins)}) for n, pins in cases.items()}
            rows = run_on_two(TINY / model, plans)
            self.assertEqual([row[:2] for row in rows], [[name, "True"] for name in cases], rows)
            for row in rows:
                self.assertLess(float(row[3]), 0.9, "nothing is cut")


if __name__ == "__main__":
    unittest.main()
