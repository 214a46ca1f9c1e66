"""Writes a checkpoint with the tensors of all experts in one.

    fuse_experts.py model.safetensors fused.safetensors [--without-last]
"""

import pathlib
import re
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Reference"))

from execution import checkpoint  # noqa: E402

# As Mixtral and others call them.
NAMES = {"w1": "gate", "w3": "up", "w2": "down"}


def main():
    tensors, experts = checkpoint.load(sys.argv[1]), {}
    pattern = r"(.*[.]experts)[.](\d+)[.](gate|up|down|w1|w3|w2)(?:_proj)?[.]weight"
    for name in list(tensors):
        if found := re.fullmatch(pattern, name):
            module, number, projection = found.groups()
            projection = NAMES.get(projection, projection)
            experts.setdefault(module, {})[int(number), projection] = tensors.pop(name)
    for module, parts in experts.items():
        numbers = sorted({number for number, _ in parts})
        if "--without-last" in sys.argv:
            numbers.pop()
        gates = [name for name in ("gate", "up") if (numbers[0], name) in parts]
        both = [np.concatenate([parts[i, name] for name in gates]) for i in numbers]
        tensors[f"{module}.{'_'.join(gates)}_proj"] = np.stack(both)
        tensors[f"{module}.down_proj"] = np.stack([parts[i, "down"] for i in numbers])
    checkpoint.save(sys.argv[2], tensors)


main()
