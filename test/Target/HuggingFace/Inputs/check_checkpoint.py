"""Compares the params of imported models with the tensors of their checkpoints.

    check_checkpoint.py FOLDER

For each folder of FOLDER with a config.json and a model.safetensors: the
`source` of every param, expanded over layers and experts, names tensors that
are there, in the shape that it says, each once, and together all of them; and
the number of parameters is the number of elements. Ends with the bytes of all files.
"""

import math
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "Reference"))

from execution import checkpoint, mlir_generic

IMPORT = ["--phase=decode", "--context=16"]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def expected_shape(part, source, shape):
    """The shape that a part's tensor must have in the checkpoint."""
    shape = list(shape)
    if "{expert}" in part["pattern"]:
        shape = shape[1:]
    if "size" in part:
        same = [other for other in source["parts"] if other["pattern"] == part["pattern"]]
        shape[source["axis"]] = sum(other["size"] for other in same)
    if part.get("transposed"):
        shape[-1], shape[-2] = shape[-2], shape[-1]
    return tuple(shape)


def expand(pattern, layers, experts):
    """The names that a pattern stands for."""
    names = [pattern]
    if "{layer}" in pattern:
        names = [pattern.replace("{layer}", str(layer)) for layer in layers]
    if "{expert}" in pattern:
        names = [name.replace("{expert}", str(i)) for name in names for i in range(experts)]
    return names


def params(op, layers=()):
    """(param, numbers of its layers) of an op and all in it."""
    if op.name == "llm.param":
        yield op, layers
    for block in (block for region in op.regions for block in region):
        for inner in block.ops:
            yield from params(inner, op.get("layers", layers))


def named_tensors(module):
    """(name, shape) of every tensor that a param of the module reads."""
    for op, layers in (param for outer in module for param in params(outer)):
        shape, source = op.results[0].type.shape, op["source"]
        sizes = [part.get("size", 0) for part in source["parts"]]
        if len(sizes) > 1:
            inner = shape[1:] if "{expert}" in source["parts"][0]["pattern"] else shape
            assert sum(sizes) == inner[source["axis"]], f"{op['param']}: parts {sizes}"
        for part in {part["pattern"]: part for part in source["parts"]}.values():
            for name in expand(part["pattern"], layers, shape[0]):
                yield name, expected_shape(part, source, shape)


def check(folder):
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "model.mlir"
        run("shard-translate", "--import-hf", folder / "config.json", *IMPORT, "-o", path)
        text = run("shard-opt", path, "--mlir-print-op-generic", "-mlir-print-local-scope")
        count = int(run("shard-translate", "--parameter-count", path))
    tensors = checkpoint.load(folder / "model.safetensors")
    # What sees images is no part of the program.
    sight = ("vision_model.", "vision_tower.", "model.visual.", "visual.", "multi_modal_projector.")
    tensors = {name: tensor for name, tensor in tensors.items() if not name.startswith(sight)}
    left = {name: tensor.shape for name, tensor in tensors.items()}
    for name, shape in named_tensors(mlir_generic.parse(text)):
        assert name in left, f"{name}: read twice, or not in the checkpoint"
        found = left.pop(name)
        if len(shape) == 1:  # perhaps listed by heads
            found = (math.prod(found),)
        if len(found) > len(shape):
            found = tuple(size for size in found if size != 1)
        assert found == shape, f"{name}: {tensors[name].shape}, expected {shape}"
    assert not left, f"never read: {sorted(left)}"
    elements = sum(math.prod(tensor.shape) for tensor in tensors.values())
    assert count == elements, f"{count} parameters, {elements} elements"
    print(f"{folder.name}: {len(tensors)} tensors, {count} parameters")


def main():
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*/model.safetensors")):
        check(path.parent)
    files = [path for path in pathlib.Path(sys.argv[1]).rglob("*") if path.is_file()]
    print(f"{sum(path.stat().st_size for path in files)} bytes")


if __name__ == "__main__":
    main()
