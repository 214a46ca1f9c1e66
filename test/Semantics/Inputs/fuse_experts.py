"""Writes a checkpoint with the tensors of all experts in one.

    fuse_experts.py model.safetensors fused.safetensors [--without-last]
"""

import pathlib
import re
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Reference"))

from execution import checkpoint  # noqa: E402


def main():
    tensors, experts = checkpoint.load(sys.argv[1]), {}
    for name in list(tensors):
        if found := re.fullmatch(r"(.*[.]experts)[.](\d+)[.](gate|up|down)_proj[.]weight", name):
            module, number, projection = found.groups()
            experts.setdefault(module, {})[int(number), projection] = tensors.pop(name)
    for module, parts in experts.items():
        numbers = sorted({number for number, _ in parts})
        if "--without-last" in sys.argv:
            numbers.pop()
        both = [np.concatenate([parts[i, "gate"], parts[i, "up"]]) for i in numbers]
        tensors[f"{module}.gate_up_proj"] = np.stack(both)
        tensors[f"{module}.down_proj"] = np.stack([parts[i, "down"] for i in numbers])
    checkpoint.save(sys.argv[2], tensors)


main()
