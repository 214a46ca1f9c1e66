"""Attention of prompts and of one new token a sequence, over grouped heads."""

import numpy as np

CONTEXT_KEYS = ("head_dim", "attn_dtype", "kv_dtype", "windowed", "heads_of_group")
GENERATION_KEYS = ("head_dim", "kv_dtype", "windowed", "heads_of_group")
SHAPE = ("heads", "kv_heads", "batch")
CONTEXT_SIZES = ("heads", "kv_heads", "batch", "seq_len")
GENERATION_SIZES = ("heads", "kv_heads", "batch", "kv_len")

CONTEXT_START = dict(t0=13, ec=0.6, cr=1, co=1, me=3, c1=10, tau=100)
GENERATION_START = dict(
    t0=6, tg=0.1, qo=1, em=0.9, ec=0.5, cb=3, cg=0.1, cw=1, c1=10, tau=15, u=0.011, r0=4, r1=0.3
)
GENERATION_SPLITS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
BLOCK = 128  # rows of queries, and of keys, that one step of a kernel takes


def with_keys(table):
    """`table` with the columns that tell kernels apart: whether the window is
    a short one, and how many query heads share a kv head (1, 16: 2 to 16, 32,
    or 128: more)."""
    table.columns["windowed"] = ((table["window"] > 0) & (table["window"] < 1024)).astype(float)
    group = table["heads"] / table["kv_heads"]
    table.columns["heads_of_group"] = np.select([group <= 1, group <= 16, group <= 32], [1, 16, 32], 128).astype(float)
    return table


def _element(dtypes):
    return np.where(dtypes == "fp8", 1, 2)


def predict_context(device, key, table, p):
    batch, heads, kv_heads = table["batch"], table["heads"], table["kv_heads"]
    dim, length, window = table["head_dim"], table["seq_len"], table["window"]
    blocks = np.ceil(length / BLOCK)
    seen = np.minimum(blocks, np.where(window > 0, np.ceil(window / BLOCK) + 1, np.inf))
    steps = seen * (seen + 1) / 2 + (blocks - seen) * seen
    step = 4 * BLOCK * BLOCK * dim / (device.flops / device.sms * p["ec"])
    share = batch * heads / device.sms
    busy = share * (steps * step + p["co"] * blocks)
    work = np.cbrt(busy**3 + (seen * step * p["cr"]) ** 3)
    work = work + p["me"] * 2 * batch * length * (heads + 2 * kv_heads) * dim / device.bandwidth
    return p["t0"] + work + p["c1"] * (1 - np.exp(-work / p["tau"]))


def predict_generation(device, key, table, p):
    batch, heads, kv_heads = table["batch"], table["heads"], table["kv_heads"]
    dim, window = table["head_dim"], table["window"]
    length = np.where(window > 0, np.minimum(table["kv_len"], window), table["kv_len"])
    group = heads / kv_heads / 16
    caches = batch * kv_heads
    moved = 2 * caches * length * dim * _element(table["kv_dtype"]) + p["qo"] * 4 * batch * heads * dim
    memory = moved / device.bandwidth
    rest = (memory / p["em"]) ** 3 + (4 * batch * heads * length * dim / device.flops / p["ec"]) ** 3
    best = np.inf
    for split in GENERATION_SPLITS:
        waves = np.maximum(1, caches * split / device.sms)
        serial = waves * (p["cb"] * (1 + p["cg"] * group) + np.ceil(length / split) * p["u"])
        serial = serial + p["cw"] * caches / device.sms
        time = np.cbrt(serial**3 + rest)
        if split > 1:
            time = time + p["r0"] + p["r1"] * np.log2(split)
        best = np.minimum(best, time)
    return p["t0"] * (1 + p["tg"] * group) + best + p["c1"] * (1 - np.exp(-memory / p["tau"]))
