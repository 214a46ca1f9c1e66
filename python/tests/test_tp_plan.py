"""Plans as tensor parallel plans of Transformers, and those executed."""

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
for place in sys.argv[2:]:
    model = runpy.run_path(place + "/load.py")["load"](folder)
    with torch.no_grad():
        found = model(known["tokens"].long()).logits.float()
    error = (found - known["logits"]).abs().max() / known["logits"].abs().max()
    if torch.distributed.get_rank() == 0:
        cut = sum(p.to_local().numel() < p.numel() for p in model.parameters() if hasattr(p, "to_local"))
        print("error", pathlib.Path(place).name, error.item() < 2e-5, error.item(), cut, flush=True)
torch.distributed.destroy_process_group()
"""


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
            ({**MEGATRON, "attn_norm": "tokens", "*_norm": "tokens"}, "attn_norm is cut by tokens"),
            ({**MEGATRON, "qkv_proj": "hidden"}, "attention is cut by heads, and qkv_proj is not"),
            ({**MEGATRON, "pp": 2}, "pp is 2"),
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

    @unittest.skipUnless(PYTHON.exists(), "Transformers is not installed: ./dev verify --families")
    def test_logits_are_those_of_one_device(self):
        """Transformers' own of one device, to which shard-run is compared too."""
        with tempfile.TemporaryDirectory() as folder:
            places = []
            for name, pins in (("megatron", MEGATRON), ("mixed", MIXED), ("rows", ROWS)):
                places.append(f"{folder}/{name}")
                so.export(plan_of("mistral", pins), "transformers").write(places[-1])
            script = Path(folder) / "check.py"
            script.write_text(CHECK)
            run = [str(PYTHON), "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
            done = subprocess.run(
                [*run, str(script), str(TINY / "mistral"), *places],
                env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
                capture_output=True,
                text=True,
            )
        lines = [line for line in done.stdout.splitlines() if line.startswith("error ")]
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual([line.split()[2] for line in lines], ["True"] * 3, lines)
        for line in lines:
            self.assertGreater(int(line.split()[4]), 0, "nothing is cut")


if __name__ == "__main__":
    unittest.main()
