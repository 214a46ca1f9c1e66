"""Matrix products: the best of a few tiles and splits of k over the SMs."""

import numpy as np

KEYS = ("dtype",)
SHAPE = ("n", "k")
SIZES = ("m", "n", "k")

# Tiles of the output, and over how many of them k may be split.
TILES = ((64, 16), (64, 32), (64, 64), (64, 128), (128, 128), (128, 256))
SPLITS = (1, 2, 3, 4, 6, 8, 16)

START = dict(t0=2.5, ec=1.0, eb=5, em=0.85, h=2, l2=0.1, wa=0.8, wc=1.1, ts=2)
QUANTIZED = dict(START, t0=10, q=3)

# Bytes of a weight, bytes of an operand in the cache, and which peak.
TYPES = {
    "bfloat16": (2, 2, "bf16"),
    "fp8": (1, 1, "fp8"),
    "fp8_block": (1, 1, "fp8"),
    "nvfp4": (0.5625, 0.5, "fp4"),
}


def starts(key):
    return [START if key["dtype"] == "bfloat16" else QUANTIZED]


def predict(device, key, table, p):
    weight, operand, peak = TYPES[key["dtype"]]
    ratio = {"bf16": 1, "fp8": device.fp8, "fp4": device.fp4}[peak]
    m, n, k = table["m"], table["n"], table["k"]
    weights = weight * n * k
    cold = 1 - p["h"] / (1 + p["h"]) / (1 + (weights / (p["l2"] * device.cache)) ** 2)
    moved = weights * cold + 2 * m * (k * p["wa"] + n * p["wc"])
    memory = (moved / (device.bandwidth * p["em"])) ** 3
    best = np.inf
    for rows, columns in TILES:
        tiles = np.ceil(m / rows) * np.ceil(n / columns)
        step = np.hypot(
            2 * rows * columns / (device.flops * ratio / device.sms * p["ec"]),
            operand * (rows + columns) / (device.bandwidth / device.sms * p["eb"]),
        )
        for split in SPLITS:
            waves = np.ceil(tiles * split / device.sms)
            time = waves * np.ceil(k / 64 / split) * 64 * step
            time = np.cbrt(time**3 + memory) + (p["ts"] if split > 1 else 0)
            best = np.minimum(best, time)
    quantize = p["q"] * m * k / device.bandwidth if "q" in p else 0
    return p["t0"] + best + quantize


SCALE_SIZES = ("m", "k")
SCALE_START = dict(t0=7, w=0.5, v=2)


def predict_scale(device, key, table, p):
    """What dynamic quantisation of the activations takes beside static."""
    moved = 2 * table["m"] * table["k"]
    time = np.hypot(p["t0"], p["v"] * moved / device.bandwidth)
    return time + p["w"] * moved / device.bandwidth
