"""The routed experts of one rank: routing, two grouped products, and the sum."""

import numpy as np

KEYS = ("dtype", "kernel", "distribution")
SHAPE = ("hidden", "inter", "topk", "experts", "moe_tp", "moe_ep")
SIZES = ("hidden", "inter", "topk", "experts", "tokens")
START = dict(t0=30, em=0.85, ec=0.7, cs=1.3, ca=3, cr=5, ci=2, ck=1, ce=5, c2=0.5)

# Bytes of a weight, bytes of an activation, and which peak.
TYPES = {
    "bfloat16": (2, 2, "bf16"),
    "fp8": (1, 1, "fp8"),
    "fp8_block": (1, 1, "fp8"),
    "nvfp4": (0.5625, 0.5625, "fp4"),
    "w4a16_mxfp4": (0.53125, 2, "bf16"),
    "w4a8_mxfp4_mxfp8": (0.53125, 1, "fp8"),
    "int4_wo": (0.53125, 2, "bf16"),
}
LOADS = (np.arange(16) + 0.5) / 16


def active_experts(table, distribution):
    """Experts of a rank that get a token. `balanced` deals tokens out in turn;
    power laws draw the loads log-uniform between 1 and 0.8 of the tokens."""
    tokens, topk, experts, ep = (table[c] for c in ("tokens", "topk", "experts", "moe_ep"))
    if distribution == "balanced":
        share = np.minimum(1, tokens * topk / experts)
    else:
        most = np.maximum(0.8 * tokens, 1.5)
        scale = tokens * topk * np.log(most) / (experts * (most - 1))
        share = np.mean(
            [1 - np.exp(-1.4 * np.minimum(scale * most**load, tokens)) for load in LOADS], axis=0
        )
    return np.maximum(experts / ep * share, 1)


def predict(device, key, table, p):
    weight, activation, peak = TYPES[key["dtype"]]
    ratio = {"bf16": 1, "fp8": device.fp8, "fp4": device.fp4}[peak]
    tokens, topk, experts, ep = (table[c] for c in ("tokens", "topk", "experts", "moe_ep"))
    hidden, inner = table["hidden"], table["inter"] / table["moe_tp"]
    gates = 1 if "nongated" in key["kernel"] else 2
    active = active_experts(table, key["distribution"])
    rows = np.maximum(tokens * topk / ep, 1)
    time = 0
    for columns, k in ((gates * inner, hidden), (hidden, inner)):
        memory = (weight * active * columns * k + rows * (activation * k + 2 * columns)) / (
            device.bandwidth * p["em"]
        )
        compute = 2 * np.maximum(rows, 16 * p["cs"] * active) * columns * k
        compute = compute / (device.flops * ratio * p["ec"])
        tiles = active * np.ceil(columns / 128) * np.ceil(np.maximum(rows / active, 1) / 128)
        serial = np.maximum(1, tiles / device.sms) * p["ck"] * k / 1024
        time = time + (memory**4 + compute**4 + serial**4) ** 0.25
    passes = 2 * (p["ca"] * tokens * hidden + rows * (p["cr"] * hidden + p["ci"] * inner)) / device.bandwidth
    routing = p["ce"] * experts / ep / 128 + p["c2"] * np.log2(1 + tokens * topk / 128)
    return p["t0"] + time + passes + routing
