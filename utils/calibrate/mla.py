"""Latent attention: prompts with the cache expanded, one new token absorbed."""

import numpy as np

from .attention import BLOCK, GENERATION_SPLITS

CONTEXT_KEYS = ("attn_dtype", "kv_dtype")
GENERATION_KEYS = ("kv_dtype",)
SHAPE = ("heads", "batch")
CONTEXT_SIZES = ("heads", "batch", "seq_len")
GENERATION_SIZES = ("heads", "batch", "kv_len")

CONTEXT_START = dict(t0=13, ec=0.6, cr=1, co=1, me=3, c1=10, tau=100)
GENERATION_START = dict(
    t0=10, tg=0.1, qo=1, em=0.9, ec=0.5, cb=3, cg=0.1, cw=1, c1=10, tau=15, u=0.011, r0=4, r1=0.3
)
NOPE, ROPE, VALUE, LATENT = 128, 64, 128, 512  # dims of a head, and of the cache


def predict_context(device, key, table, p):
    batch, heads, length = table["batch"], table["heads"], table["seq_len"]
    blocks = np.ceil(length / BLOCK)
    dims = NOPE + ROPE + VALUE
    step = 2 * BLOCK * BLOCK * dims / (device.flops / device.sms * p["ec"])
    share = batch * heads / device.sms
    busy = share * (blocks * (blocks + 1) / 2 * step + p["co"] * blocks)
    work = np.cbrt(busy**3 + (blocks * step * p["cr"]) ** 3)
    work = work + p["me"] * 2 * batch * length * heads * dims / device.bandwidth
    return p["t0"] + work + p["c1"] * (1 - np.exp(-work / p["tau"]))


def predict_generation(device, key, table, p):
    batch, heads, length = table["batch"], table["heads"], table["kv_len"]
    element = np.where(table["kv_dtype"] == "fp8", 1, 2)
    dims = 2 * LATENT + ROPE
    group = heads / 128
    moved = batch * length * (LATENT + ROPE) * element + p["qo"] * 2 * dims * batch * heads
    memory = moved / device.bandwidth
    rest = (memory / p["em"]) ** 3 + (2 * dims * batch * heads * length / device.flops / p["ec"]) ** 3
    best = np.inf
    for split in GENERATION_SPLITS:
        waves = np.maximum(1, batch * split / device.sms)
        serial = waves * (p["cb"] * (1 + p["cg"] * group) + np.ceil(length / split) * p["u"])
        serial = serial + p["cw"] * batch / device.sms
        time = np.cbrt(serial**3 + rest)
        if split > 1:
            time = time + p["r0"] + p["r1"] * np.log2(split)
        best = np.minimum(best, time)
    return p["t0"] * (1 + p["tg"] * group) + best + p["c1"] * (1 - np.exp(-memory / p["tau"]))
