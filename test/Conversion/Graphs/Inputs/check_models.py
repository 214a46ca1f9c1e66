"""Shards every kept model over two devices that compute slowly."""

import json
import pathlib
import subprocess
import sys

# All-reduces of Megatron's plan: two a layer, and one of a table that is sharded on rows.
MEGATRON = {"jax/gpt2": 3, "jax/llama": 5, "jax/vit": 2, "torch/llama": 5, "torch/vit": 2}


def main(tool, models, machine, place):
    folder = pathlib.Path(place)
    folder.mkdir(parents=True, exist_ok=True)
    slow = json.loads(pathlib.Path(machine).read_text())
    slow["compute"]["bf16_flops_per_s"] /= 1e5
    slow["memory"]["bandwidth_bytes_per_s"] /= 1e5
    (folder / "machine.json").write_text(json.dumps(slow))
    files = sorted(pathlib.Path(models).glob("*/*.mlir"))
    for file in files:
        options = f"machine={folder}/machine.json mesh=2 time-limit=0 report={folder}/report.json"
        done = subprocess.run(
            [tool, file, "--allow-unregistered-dialect", f"--shard-auto-annotate={options}"], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        report = json.loads((folder / "report.json").read_text())
        chosen, *others = report["plans"]
        assert report["proved"], file
        assert abs(chosen["us"] - report["us"]) < 1e-3, file
        assert all(plan["us"] > chosen["us"] for plan in others), (file, report["plans"])
        wanted = MEGATRON.get(f"{file.parent.name}/{file.stem}")
        assert wanted in (None, others[-1]["all_reduces"]), (file, others[-1])
        assert "sdy.sharding_constraint" in done.stdout, file
    print(f"{len(files)} models")


if __name__ == "__main__":
    main(*sys.argv[1:])
