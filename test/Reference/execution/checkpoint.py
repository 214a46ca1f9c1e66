"""Reads and writes safetensors files: an unsigned 64-bit header length, a JSON header, raw data."""

import json

import numpy as np

PLAIN = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "I64": np.int64,
    "I32": np.int32,
    "U8": np.uint8,
}


def decode(data, dtype):
    """Raw little-endian bytes as an array; bf16 is widened to f32."""
    if dtype == "BF16":
        bits = np.frombuffer(data, np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32)
    if dtype not in PLAIN:
        raise ValueError(f"unknown element type '{dtype}', expected one of BF16, {', '.join(PLAIN)}")
    return np.frombuffer(data, np.dtype(PLAIN[dtype]).newbyteorder("<"))


def load(path):
    """A dictionary from tensor name to array."""
    with open(path, "rb") as file:
        content = file.read()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        data = content[start + begin : start + end]
        tensors[name] = decode(data, entry["dtype"]).reshape(entry["shape"])
    return tensors


def save(path, tensors):
    """Writes a dictionary from tensor name to array."""
    names = {np.dtype(dtype): name for name, dtype in PLAIN.items()}
    header, begin = {}, 0
    for name, value in tensors.items():
        span = [begin, begin + value.nbytes]
        entry = {"dtype": names[value.dtype], "shape": value.shape, "data_offsets": span}
        header[name], begin = entry, span[1]
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for value in tensors.values():
            file.write(value.astype(value.dtype.newbyteorder("<")).tobytes())
