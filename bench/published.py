"""The published models over which benchmarks plan."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT.parent / "shared" / "data"))
WORKLOAD = ("--phase=decode", "--context=8192")


def imported(build, folder, only=""):
    """(name, module) of each model with `only` in its name, in the order of their
    configs; a module lies in `folder` until the next one is asked for."""
    module = pathlib.Path(folder, "model.mlir")
    for config in sorted((DATA / "configs").glob("*.json")):
        name = config.stem.removesuffix("_config").partition("--")[2]
        if only not in name:
            continue
        command = [build / "bin/shard-translate", "--import-hf", config, *WORKLOAD, "-o", module]
        if subprocess.run([str(word) for word in command]).returncode:
            sys.exit(f"{config}: cannot be imported")
        yield name, module
