"""Inputs that are as they should be (or are known to be odd), to start from."""

import json
import os
import pathlib
import re
import struct
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT.parent / "shared" / "data"))
MODELS = sorted((ROOT / "examples/models").glob("*.mlir"))
MOST_BYTES = 40000


def _modules(paths):
    """The modules in test files, which may hold many."""
    for path in paths:
        for part in re.split(r"^// -----.*$", path.read_text(), flags=re.MULTILINE):
            if part.strip() and len(part) < MOST_BYTES:
                yield part


class Corpus:
    """What the tools at `tools` make of the examples, in `folder`."""

    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.models = [path.read_text() for path in MODELS]
        self.configs = [
            path.read_text()
            for folder_ in ("examples/models", "examples/configs", "test/Target/HuggingFace/Inputs")
            for path in sorted((ROOT / folder_).glob("*.json"))
        ]
        self.machines = [path.read_text() for path in sorted((ROOT / "machines").glob("*.json"))]
        instances = ROOT / "test/Tools/shard-solve/Inputs"
        self.instances = [path.read_text() for path in sorted(instances.glob("*.json"))]
        graphs = sorted((ROOT / "test/Schedule/Inputs").glob("*.json"))
        self.graphs = [path.read_text() for path in graphs]
        tests = sorted((ROOT / "test").glob("*/**/*.mlir"))
        self.tests = list(_modules(tests))
        self.odd = list(_modules(sorted((DATA / "odd").glob("*/*.mlir"))))
        self.names = [self._op_names(path) for path in MODELS]
        # Small enough to be executed once they are changed a little; some models
        # are written by hand.
        configs = [path.with_suffix(".json") for path in MODELS]
        self.small_configs = [
            (config.read_text(), names)
            for config, names in zip(configs, self.names)
            if config.exists()
        ]
        self._derive()

    def _run(self, tool, *words):
        command = [self.tools[tool], *words]
        return subprocess.run(command, cwd=self.folder, check=True, capture_output=True).stdout

    def _op_names(self, path):
        """The names of a model's ops, in the order of `dims`."""
        options = "searcher=exact tp=1 ep=1 pp=1 batch=1 report=names.json"
        self._run("shard-opt", path, f"--llm-search-sharding={options}", "-o", "names.mlir")
        report = json.loads((self.folder / "names.json").read_text())
        return list(report["best"]["strategy"]["dims"])

    def _derive(self):
        """Modules after the passes, files of tensors, a checkpoint."""
        self.generic, self.annotated, self.lowered = [], [], []
        for path, names in zip(MODELS, self.names):
            generic = self._run("shard-opt", path, "--mlir-print-op-generic")
            self.generic.append(generic.decode())
            strategy = {"tp": 2, "ep": 2 if "moe" in path.name else 1, "pp": 1, "batch": 4}
            strategy["dims"] = {name: 2 for name in names}
            (self.folder / "s.jsonl").write_text(json.dumps(strategy))
            apply = "--llm-apply-strategy=strategies=s.jsonl"
            passes = ("--llm-insert-collectives", "--llm-split-stages")
            self.annotated.append(self._run("shard-opt", path, apply).decode())
            for until in range(len(passes)):
                lowered = self._run("shard-opt", path, apply, *passes[: until + 1])
                self.lowered.append(lowered.decode())
        options = "searcher=genetic budget=40 checkpoint=log.jsonl pins=ignore"
        self._run("shard-opt", MODELS[0], f"--llm-search-sharding={options}", "-o", "log.mlir")
        self.checkpoint = (self.folder / "log.jsonl").read_text()
        self._run("shard-run", MODELS[0], "-o", "logits.safetensors")
        self.logits = (self.folder / "logits.safetensors").read_bytes()

    def strategy(self, rng, names):
        """A random strategy, legal or not, of at most 12 ranks."""
        while True:
            tp = rng.choice((1, 2, 2, 3, 4, 5))
            ep, pp = rng.choice((1, 1, 2, 3, 4)), rng.choice((1, 1, 2, 3))
            if tp * ep * pp <= 12:
                break
        return {
            "tp": tp,
            "ep": ep,
            "pp": pp,
            "batch": rng.choice((1, 2, 3, 4, 7)),
            "dims": {name: rng.choice((0, 1, 2)) for name in names},
        }


def safetensors(tensors):
    """The bytes of a file of tensors: name -> (type, shape, bytes)."""
    header, data = {}, b""
    for name, (kind, shape, content) in tensors.items():
        end = len(data) + len(content)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), end]}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data
