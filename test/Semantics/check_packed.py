#!/usr/bin/python3
"""Packed checkpoints against the same weights, multiplied out.

    check_packed.py --shard-opt=… --shard-translate=… --shard-run=… FOLDER

Of a small model with weights of eight bits and scales for blocks or for rows, and of one
with mxfp4 experts: the program computes the same numbers, to the last bit, of the packed
checkpoint, which lies in two files with an index, and of one in f32. A tensor that is
left over, missing or of another shape is named.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import numpy as np
import tools

sys.path.append(str(tools.ROOT / "test" / "Reference"))
sys.path.append(str(tools.ROOT / "test" / "Target" / "HuggingFace" / "Inputs"))

from check_checkpoint import named_tensors  # noqa: E402
from execution import checkpoint, mlir_generic  # noqa: E402

INPUTS = tools.ROOT / "test" / "Target" / "HuggingFace" / "Inputs"
BLOCK = 24  # which divides few of the sizes
FOUR_BITS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def eight_bits(codes):
    """The numbers of E4M3FN codes."""
    sign = np.where(codes & 128, -1.0, 1.0)
    exponent, mantissa = (codes >> 3 & 15).astype(int), (codes & 7) / 8
    normal = np.ldexp(1 + mantissa, exponent - 7)
    return sign * np.where(exponent == 0, np.ldexp(mantissa, -6), normal)


def pack_fp8(name, shape, random):
    """(packed tensors, values) of a matrix [out, in]."""
    codes = random.integers(0, 112, shape).astype(np.uint8) | random.choice(
        np.array([0, 128], np.uint8), shape
    )
    blocks = [-(-size // BLOCK) for size in shape]
    scales = (2.0 ** random.uniform(-9, -7, blocks)).astype(np.float32)
    each = np.repeat(np.repeat(scales, BLOCK, 0), BLOCK, 1)[: shape[0], : shape[1]]
    packed = {name: ("F8_E4M3", codes), name + "_scale_inv": ("F32", scales)}
    return packed, eight_bits(codes) * each


def pack_rows(name, shape, random):
    """The same with a scale for each row."""
    codes = random.integers(0, 112, shape).astype(np.uint8) | random.choice(
        np.array([0, 128], np.uint8), shape
    )
    scales = (2.0 ** random.uniform(-9, -7, (shape[0], 1))).astype(np.float32)
    packed = {name: ("F8_E4M3", codes), name + "_scale": ("F32", scales)}
    return packed, eight_bits(codes) * scales


def pack_mxfp4(name, shape, random):
    """The same of experts [experts, in, out], packed along the inputs."""
    experts, inputs, outputs = shape
    codes = random.integers(0, 16, (experts, outputs, inputs // 32, 32))
    exponents = random.integers(120, 124, codes.shape[:-1]).astype(np.uint8)
    values = np.ldexp(FOUR_BITS[codes], exponents[..., None].astype(int) - 127)
    packed = {
        name + "_blocks": ("U8", (codes[..., 0::2] | codes[..., 1::2] << 4).astype(np.uint8)),
        name + "_scales": ("U8", exponents),
    }
    return packed, values.reshape(experts, outputs, inputs).swapaxes(1, 2)


def save(path, tensors):
    """Writes (element type, array) by name."""
    header, begin = {}, 0
    for name, (element, value) in tensors.items():
        span = [begin, begin + value.nbytes]
        header[name] = {"dtype": element, "shape": value.shape, "data_offsets": span}
        begin = span[1]
    text = json.dumps(header).encode()
    body = b"".join(value.tobytes() for _, value in tensors.values())
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)


def save_sharded(folder, tensors):
    """Two files and their index; the index."""
    names = sorted(tensors)
    index = {}
    for file, part in (("a.safetensors", names[::2]), ("b.safetensors", names[1::2])):
        save(folder / file, {name: tensors[name] for name in part})
        index.update({name: file for name in part})
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"metadata": {}, "weight_map": index}))
    return path


def check(args, name, config, pack, is_packed):
    folder = args.folder / name
    folder.mkdir(parents=True, exist_ok=True)
    plain = {key: value for key, value in config.items() if key != "quantization_config"}
    programs = {}
    for kind, content in (("plain", plain), ("packed", config)):
        (folder / f"{kind}.json").write_text(json.dumps(content))
        programs[kind] = tools.imported(
            args, folder / f"{kind}.json", "prefill", 5, folder / f"{kind}.mlir", "--logits"
        )
    text = tools.run(
        args.shard_opt, programs["plain"], "--mlir-print-op-generic", "-mlir-print-local-scope"
    )
    random = np.random.default_rng(3)
    packed, values = {}, {}
    for tensor, shape in named_tensors(mlir_generic.parse(text)):
        if is_packed(tensor, shape):
            parts, value = pack(tensor, shape, random)
            packed.update(parts)
        else:
            scale = shape[-1] ** -0.5 if len(shape) > 1 else 1.0
            value = random.standard_normal(shape) * scale
            packed[tensor] = ("F32", value.astype(np.float32))
        values[tensor] = ("F32", np.ascontiguousarray(value, np.float32))
    save(folder / "plain.safetensors", values)

    def run(kind, weights):
        out = folder / f"{kind}.out.safetensors"
        command = [args.shard_run, programs[kind], f"--weights={weights}", "-o", out]
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        lines = result.stderr.strip().splitlines()
        errors = [line for line in lines if line.startswith("error: ")]
        message = (errors or lines or [""])[0 if errors else -1]
        return (checkpoint.load(out)["logits"] if result.returncode == 0 else None), message

    wanted, _ = run("plain", folder / "plain.safetensors")
    packed["model.layers.9.left.weight"] = ("F32", np.zeros(3, np.float32))
    found, message = run("packed", save_sharded(folder, packed))
    assert found is not None, message
    same = "the same numbers" if np.array_equal(wanted, found) else "OTHER NUMBERS"
    assert np.isfinite(wanted).all() and wanted.std() > 0.1
    print(f"{name}: {same}\n  {message.split(': ', 2)[-1]}")

    if name == "fp8":  # of a config that does not say so
        print("  " + run("plain", folder / "model.safetensors.index.json")[1])
    victim = next(tensor for tensor in sorted(packed) if "o_proj" in tensor)
    element, value = packed.pop(victim)
    print("  " + run("packed", save_sharded(folder, packed))[1])
    packed[victim] = (element, value[: len(value) // 2])
    print("  " + run("packed", save_sharded(folder, packed))[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    parser.add_argument("folder", type=pathlib.Path)
    args = parser.parse_args()

    llama = json.loads((INPUTS / "llama.json").read_text())
    fp8 = {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic"}
    fp8["weight_block_size"] = [BLOCK, BLOCK]
    config = {**llama, "quantization_config": fp8}
    check(args, "fp8", config, pack_fp8, lambda name, _: name.endswith("_proj.weight"))
    rows = {
        "quant_method": "compressed-tensors",
        "format": "float-quantized",
        "config_groups": {
            "group_0": {
                "targets": ["Linear"],
                "weights": {"num_bits": 8, "type": "float", "strategy": "channel"},
                "input_activations": {"num_bits": 8, "type": "float", "dynamic": True},
            }
        },
        "ignore": ["lm_head"],
    }
    config = {**llama, "quantization_config": rows}
    check(args, "rows", config, pack_rows, lambda name, _: name.endswith("_proj.weight"))
    kept = [
        f"model.layers.{layer}.self_attn.{name}_proj"
        for layer in range(llama["num_hidden_layers"])
        for name in "qkvo"
    ]
    fbgemm = {"quant_method": "fbgemm_fp8", "modules_to_not_convert": kept}
    config = {**llama, "quantization_config": fbgemm}
    check(args, "networks", config, pack_rows, lambda name, _: ".mlp." in name)
    gpt_oss = json.loads((INPUTS / "gpt_oss.json").read_text())
    check(args, "mxfp4", gpt_oss, pack_mxfp4, lambda name, shape: len(shape) == 3)


main()
