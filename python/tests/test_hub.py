"""Models by their id of the Hugging Face Hub."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "examples/configs/llama-3.1-70b.json"
ID = "meta-llama/Llama-3.1-70B"
PLAN = ["--devices", "8", "--isl", "2000", "--osl", "300", "--engine", "vllm", "--json"]
#: A huggingface_hub that serves one config, and says what else a hub would say.
FAKE = f"""
def hf_hub_download(model, name):
    if model != {ID!r}:
        raise ValueError("404 Client Error: no such repository\\nmore lines")
    import os, shutil
    folder = os.path.join(os.environ["FAKE_HUB"], "snap")
    os.makedirs(folder, exist_ok=True)
    return shutil.copy({str(CONFIG)!r}, os.path.join(folder, name))
"""


class HubTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.env = {
            **os.environ, "HF_HUB_CACHE": str(self.folder / "hub"), "FAKE_HUB": str(self.folder),
            # What is installed here counts no more than on a bare machine.
            "PYTHONPATH": os.pathsep.join([str(self.folder), os.environ.get("PYTHONPATH", "")]),
        }
        self.env.pop("HF_HUB_OFFLINE", None)
        self.fake("raise ImportError('none')")

    def fake(self, text):
        (self.folder / "huggingface_hub.py").write_text(text)

    def cache(self, model, text, revision="abc", is_main=True):
        folder = self.folder / "hub" / f"models--{model.replace('/', '--')}"
        (folder / "snapshots" / revision).mkdir(parents=True)
        (folder / "snapshots" / revision / "config.json").write_text(text)
        if is_main:
            (folder / "refs").mkdir()
            (folder / "refs" / "main").write_text(revision)

    def run_plan(self, model, *words, **env):
        return subprocess.run(
            [sys.executable, "-m", "shardopt", "plan", model, *PLAN, *words],
            capture_output=True, text=True, env={**self.env, **env}, cwd=self.folder,
        )

    def test_a_cached_model_is_planned_as_its_file_is(self):
        self.cache(ID, CONFIG.read_text())
        self.cache(ID, "{}", "newer", is_main=False)
        done = self.run_plan(ID, "--output-dir", "plans")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads(done.stdout)
        file = json.loads(self.run_plan(str(CONFIG)).stdout)
        self.assertEqual(found["report"]["aggregated"], file["report"]["aggregated"])
        self.assertEqual(found["model"]["path"], ID)
        self.assertEqual(found["model"]["module"].count("Llama-3.1-70B"),
                         file["model"]["module"].count("llama-3.1-70b"))
        # Engines load what was asked for, also where the cache is gone.
        launch = subprocess.run(
            [sys.executable, "-m", "shardopt", "export", "plans/service.json",
             "--target", "shell", "-o", "launch"],
            capture_output=True, text=True, cwd=self.folder,
            env={**self.env, "HF_HUB_CACHE": str(self.folder / "none")},
        )
        self.assertEqual((launch.returncode, launch.stderr), (0, ""))
        started = "".join(
            path.read_text() for path in (self.folder / "launch").rglob("*") if path.is_file()
        )
        self.assertIn(ID, started)

    def test_huggingface_hub_fetches_a_config(self):
        self.fake(FAKE)
        done = self.run_plan(ID)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for model, offline, words in (
            ("meta-llama/none", "", "download failed (ValueError: 404 Client Error: no such"),
            (ID, "1", "HF_HUB_OFFLINE forbids a download"),
        ):
            with self.subTest(model, offline=offline):
                self.check_line(self.run_plan(model, HF_HUB_OFFLINE=offline), words)

    def test_absent_models_are_one_line(self):
        self.check_line(self.run_plan(ID), "pip install huggingface_hub")
        self.check_line(self.run_plan("folder/none.json"), "is not there")
        self.cache("a/broken", "{")
        self.check_line(self.run_plan("a/broken"), "config.json")

    def check_line(self, done, words):
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
