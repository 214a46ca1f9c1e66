"""Collectives: NCCL, all-reduces of serving engines, exchange of experts."""

import numpy as np

NCCL_KEYS = ("op",)
NCCL_SHAPE = ("gpus", "bytes")
NCCL_SIZES = ("gpus", "bytes")
PROTOCOLS = 4

CUSTOM_KEYS = ("kernel",)
CUSTOM_SIZES = ("gpus", "bytes")
CUSTOM_STARTS = (
    dict(f0=1, y0=1.05, a0=3, b0=0.3, e0=0.5, a1=5, b1=0.5, e1=0.4, a2=15, b2=1, e2=0.8, x2=1.2),
    dict(f0=10, y0=1.05, a0=3, b0=0.3, e0=0.3, a1=10, b1=1, e1=0.6, a2=30, b2=3, e2=0.9, x2=1.2),
    dict(f0=4, y0=1.05, a0=3, b0=0.3, e0=0.6, a1=8, b1=2, e1=0.5, a2=60, b2=3, e2=0.95, x2=1.3),
)

EXCHANGE_KEYS = ("way", "between")
EXCHANGE_SHAPE = ("nodes", "hidden", "topk", "experts", "tokens_per_rank")
EXCHANGE_SIZES = ("nodes", "hidden", "topk", "tokens_per_rank")
RANKS_OF_NODE = 8


NCCL_LADDERS = (  # latency, efficiency of each protocol
    ((5, 0.05), (7.5, 0.25), (20, 0.7), (15, 0.4)),
    ((4, 0.05), (5, 0.3), (35, 0.8), (15, 0.5)),
    ((6, 0.1), (10, 0.3), (25, 0.6), (60, 0.9)),
)


def nccl_starts():
    """Protocols from those of little latency to those of much bandwidth."""
    for ladder in NCCL_LADDERS:
        start = {}
        for i, (latency, efficiency) in enumerate(ladder):
            start.update({f"a{i}": latency, f"b{i}": 1, f"y{i}": 0.8})
            start.update({f"e{i}": efficiency, f"x{i}": 1})
        yield start


def predict_nccl(device, key, table, p):
    gpus, size = table["gpus"], table["bytes"]
    best = np.inf
    for i in range(PROTOCOLS):
        rate = device.link * p[f"e{i}"] * (gpus / 8) ** (p[f"x{i}"] - 1)
        time = p[f"a{i}"] + p[f"b{i}"] * gpus ** p[f"y{i}"] + size * (gpus - 1) / gpus / rate
        best = np.minimum(best, time)
    return best


def predict_custom(device, key, table, p):
    """The best of one shot, two shots and a ring, and no less than a launch among
    so many."""
    gpus, size = table["gpus"], table["bytes"]
    steps = np.log2(gpus)
    sent = 2 * size * (gpus - 1) / gpus / device.link
    one = p["a0"] + p["b0"] * steps + size * (gpus - 1) / (device.link * p["e0"])
    two = p["a1"] + p["b1"] * steps + sent / p["e1"]
    ring = p["a2"] + p["b2"] * gpus + sent / (p["e2"] * (gpus / 8) ** (p["x2"] - 1))
    best = np.minimum(np.minimum(one, two), ring)
    launch = p["f0"] * (gpus / 4) ** (p["y0"] - 1)
    return (best**6 + launch**6) ** (1 / 6)


def exchange_start(between, sms):
    start = dict(t0=15, el=0.5, cl=1)
    if sms:
        start.update(rs=2)
    if between:
        start.update(tn=2, yn=1, en=0.5, xn=1)
    return start


def predict_exchange(device, key, table, p, element):
    """DeepEP: what stays in a node over its links, as fast as the SMs that copy
    it (`low latency`: every expert's copy; else every rank's), and what leaves
    over the network, once a node."""
    nodes, tokens = table["nodes"], table["tokens_per_rank"]
    row = tokens * table["hidden"] * element
    ranks = nodes * RANKS_OF_NODE
    if "rs" in p:
        copies = ranks * (1 - (1 - 1 / ranks) ** table["topk"])
        sms = table["sms"]
        rate = 1 / (1 / (device.link * p["el"]) + 1 / (sms * p["rs"] * 1e3))
    else:
        copies = table["topk"]
        rate = device.link * p["el"]
    time = p["t0"] + row * copies / rate + p["cl"] * np.log2(1 + tokens / 8)
    if "tn" in p:
        away = nodes * (1 - (1 - 1 / nodes) ** table["topk"]) if "rs" in p else table["topk"]
        away = away * (1 - 1 / nodes)
        time = time + p["tn"] * nodes ** p["yn"] + row * away * (nodes / 4) ** (p["xn"] - 1) / (device.network * p["en"])
    return time
