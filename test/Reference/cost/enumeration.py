"""The best of a small space by brute force, and named spaces."""

import itertools

from cost.roofline import evaluate
from cost.strategies import Strategy


def enumerate_strategies(model, tp, ep, pp, batch, dims, tp2=(1,)):
    """All strategies over lists of degrees and one list of dims an op."""
    for *degrees, cut in itertools.product(tp, ep, pp, batch, tp2):
        for choice in itertools.product(*dims):
            yield Strategy(*degrees, choice, tp2=cut)


def optimum(model, workload, tp, ep, pp, batch, dims, objective="throughput", tp2=(1,)):
    """The best valid strategy: (strategy, result), or None.

    objective: "throughput", or "latency" (the smallest TPOT or TTFT). The
    first of equals in the order of the lists wins.
    """
    best = None
    for strategy in enumerate_strategies(model, tp, ep, pp, batch, dims, tp2):
        result = evaluate(model, workload, strategy)
        value = result.throughput if objective == "throughput" else -result.latency
        if result.valid and (best is None or value > best[0]):
            best = (value, strategy, result)
    return best and best[1:]


def default_degrees(model):
    """The usual lists of tp, ep, pp and batch for a model."""
    most_experts = max(16, model.E)
    tp = [2**i for i in range(7)]
    ep = [2**i for i in range(most_experts.bit_length())]
    pp = [p for p in (1, 2, 3, 4, 6, 8, 12, 24) if p <= len(model.layers)]
    batch = [2**i for i in range(17 if model.E > 16 else 14)]
    return tp, ep, pp, batch


# Dims of Megatron's three variants, for the ops on which they differ: classic
# repeats the exchange of tokens on every tp rank, slice sends 1/tp of them,
# SP is sequence parallelism.
MEGATRON = {
    "megatron-classic": {"attn_norm": 2, "ffn_norm": 2, "dispatch": 2, "combine": 2},
    "megatron-slice": {"attn_norm": 2, "ffn_norm": 2, "dispatch": 0, "combine": 0},
    "megatron-sp": {"attn_norm": 0, "ffn_norm": 0, "dispatch": 0, "combine": 0},
}
MEGATRON_COMMON = {
    **{"embed": 0, "qkv_proj": 1, "attention": 0, "out_proj": 0, "router": 2, "lm_head": 1},
    **{"q_down": 2, "q_up": 1, "q_proj": 1, "kv_down": 2},
    **{"ffn_up": 1, "ffn_down": 0, "shared_up": 1, "shared_down": 0},
}


def parse_domains(text, names):
    """One list of dims an op from 'op=0,1;op=2'; '*' is every other op.

    The name of a variant of Megatron stands for its dims.
    """
    if text in MEGATRON:
        dims = {**MEGATRON_COMMON, **MEGATRON[text]}
        return [[dims[name.split(".")[-1]]] for name in names]
    domains = {name: [0, 1, 2] for name in names}
    entries = dict(entry.split("=") for entry in text.split(";") if entry)
    default = entries.pop("*", None)
    if default is not None:
        domains = {name: parse_list(default) for name in names}
    for name, values in entries.items():
        if name not in domains:
            raise ValueError(f"unknown op '{name}', expected one of {', '.join(names)}")
        domains[name] = parse_list(values)
    return [domains[name] for name in names]


def parse_list(text):
    return [int(value) for value in text.split(",")]
