#!/usr/bin/python3
"""A scalar reference implementation of the roofline cost model.

It evaluates one strategy at a time, op after op, with the formulas of the
model written out; it shares no code with the simulator of the library, and
serves as its oracle in tests. See docs/CostModel.md for what the model says.

    roofline.py config.json --context 16384 --strategy \\
        '{"tp":8,"ep":16,"pp":4,"batch":8192,"dims":[0,0,1,0,0,0,2,0,1,0,0,1]}'
    roofline.py config.json --context 16384 --strategies in.jsonl
    roofline.py config.json --context 16384 --optimum --tp 1,2 --ep 1 --pp 1 \\
        --batch 64,128 --dims '*=2;qkv_proj=1;out_proj=0,1'

Units: seconds, bytes, FLOP. Names follow the model: n = tp, h = hidden size,
r = rows of a micro-batch. Layouts of a tensor over the tensor-parallel group:
R replicated, T cut by rows, H cut by features, P partial sums.
"""

import argparse
import itertools
import json
import math
import sys
from dataclasses import dataclass

MICRO = 1e-6
SKEW = 0.1  # systematic imbalance between experts
OP_TIME = 2 * MICRO  # t_op, the launch of a kernel

ANCHOR = {0: "T", 1: "H", 2: "R"}  # dim of a norm -> layout of its values
EMBED_LAYOUT = {0: "P", 1: "H", 2: "R"}
WEIGHT_BYTES = {"bf16": 2, "fp8": 1, "mxfp4": 17 / 32}
ACTIVATION_BYTES = {"f32": 4, "bf16": 2, "f16": 2, "fp8": 1}


def ceil_div(a, b):
    """The ceiling of a / b for integers, exactly."""
    return -(-a // b)


# ---------------------------------------------------------------------------
# Machines
# ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Machine:
    """Effective constants of a cluster, per device."""

    name: str
    flops: float  # F
    flops_fp8: float  # F8, equal to F where there is no fp8
    memory_bandwidth: float  # Bm
    capacity: float  # bytes that weights and caches may take
    domain: int  # D, devices that share NVLink
    nvlink: float  # Bnv, per direction
    nvls: float  # Bnvls, 0 where the switch does not reduce
    network: float  # Bib


def machine(name, flops, fp8, memory, capacity, domain, intra, inter):
    """Applies the efficiencies of the model to published peaks.

    capacity is in bytes as the vendor counts them (GiB become 1e9 bytes).
    """
    return Machine(
        name=name,
        flops=0.75 * flops,
        flops_fp8=0.75 * (fp8 or flops),
        memory_bandwidth=0.85 * memory,
        capacity=0.9e9 * capacity / 2**30,
        domain=domain,
        nvlink=0.8 * intra,
        nvls=0.6 * intra if intra >= 4e11 else 0,
        network=0.9 * inter,
    )


MACHINES = {
    m.name: m
    for m in (
        machine("a100_sxm", 312e12, None, 2.039e12, 85899345920, 8, 300e9, 25e9),
        machine("h100_sxm", 989e12, 1978e12, 3.35e12, 85899345920, 8, 450e9, 50e9),
        machine("h200_sxm", 989e12, 1978e12, 4.8e12, 151397597184, 8, 450e9, 50e9),
        machine("b200_sxm", 2250e12, 4500e12, 7.7e12, 193273528320, 8, 900e9, 100e9),
        # One NVLink domain is a rack of 72; racks are joined by 100 GB/s.
        machine("gb200", 2500e12, 5000e12, 8e12, 198674743296, 72, 900e9, 100e9),
    )
}


class Network:
    """Times of collectives on a machine: n ranks at a stride."""

    def __init__(self, machine, comm_model="fast"):
        if comm_model not in ("ring", "direct", "fast"):
            raise ValueError(f"unknown comm model '{comm_model}'")
        self.machine = machine
        self.comm_model = comm_model
        ring = comm_model == "ring"
        self.launch = (6.6 if ring else 2.0) * MICRO  # a_c
        self.nvlink_phase = 3 * MICRO  # a_nv
        self.network_phase = 6 * MICRO  # a_ib
        self.nvlink_step = 0.6 * MICRO  # s_nv, ring
        self.network_step = 2.7 * MICRO  # s_ib, ring

    def shape(self, n, stride):
        """(ranks of the group in one NVLink domain, number of domains)."""
        limit = max(1, self.machine.domain // stride)
        g = max(d for d in range(1, min(n, limit) + 1) if n % d == 0)
        return g, n // g

    def latency(self, g, q):
        if self.comm_model == "ring":
            return (g - 1) * self.nvlink_step + (q - 1) * self.network_step
        phases = (q - 1).bit_length()  # ceil(log2 q)
        return (self.nvlink_phase if g > 1 else 0) + phases * self.network_phase

    def transfer(self, volume, g, q):
        inside = volume * (g - 1) / g / self.machine.nvlink
        across = (volume / g) * (q - 1) / q / self.machine.network
        return inside + across

    def all_gather(self, volume, n, stride=1):
        """volume: bytes of the full tensor. Reduce-scatter costs the same."""
        if n == 1:
            return 0.0
        g, q = self.shape(n, stride)
        return self.launch + self.latency(g, q) + self.transfer(volume, g, q)

    reduce_scatter = all_gather

    def all_reduce(self, volume, n, stride=1):
        """The cheapest of the known algorithms; volume: the full tensor."""
        if n == 1:
            return 0.0
        g, q = self.shape(n, stride)
        a_c, a_nv, a_ib = self.launch, self.nvlink_phase, self.network_phase
        m = self.machine
        two_shot = a_c + 2 * (self.latency(g, q) + self.transfer(volume, g, q))
        if self.comm_model == "ring":
            return two_shot

        inter = 0.0
        if q > 1:
            phases = (q - 1).bit_length()
            share = volume / g
            inter = min(
                2 * (phases * a_ib + share * (q - 1) / q / m.network),
                phases * (a_ib + share / m.network),
            )
        inside = 2 * (a_nv + volume * (g - 1) / g / m.nvlink) if g > 1 else 0.0
        times = [two_shot, a_c + inside + inter]
        if self.comm_model == "fast" and q == 1:
            times.append(a_c + a_nv + (n - 1) * volume / m.nvlink)
            if m.nvls:
                times.append(a_c + 1.5 * a_nv + volume / m.nvls)
        if self.comm_model == "fast" and q > 1 and g > 1 and m.nvls:
            times.append(a_c + 2 * a_nv + volume / m.nvls + inter)
        return min(times)

    def all_to_all(self, held, n, stride=1):
        """held: bytes a rank holds, its own share included."""
        if n == 1:
            return 0.0
        g, q = self.shape(n, stride)
        inside = across = 0.0
        if g > 1:
            inside = self.nvlink_phase + held * (g - 1) / n / self.machine.nvlink
        if q > 1:
            across = self.network_phase + held * (n - g) / n / self.machine.network
        return self.launch + max(inside, across)


# ---------------------------------------------------------------------------
# Models
# ---------------------------------------------------------------------------

ARCHITECTURES = (
    "LlamaForCausalLM",
    "Qwen2ForCausalLM",
    "Qwen3ForCausalLM",
    "MixtralForCausalLM",
    "Qwen3MoeForCausalLM",
    "DeepseekV3ForCausalLM",
    "GptOssForCausalLM",
    "GptMoeForCausalLM",
)


@dataclass(frozen=True)
class Layer:
    """What may differ from layer to layer."""

    kind: str  # "dense" or "moe"
    window: int = None  # tokens that attention sees, None for all


class Model:
    """Sizes of a model, read from a Hugging Face config.json (a dict).

    weight_type: None (as the config says), "bf16", "fp8" or "mxfp4".
    """

    def __init__(self, config, weight_type=None, kv_type="bf16", activation_type="bf16"):
        architecture = config["architectures"][0]
        if architecture not in ARCHITECTURES:
            raise ValueError(f"unknown architecture '{architecture}'")
        get = config.get
        self.h = config["hidden_size"]
        self.vocab = config["vocab_size"]
        self.nq = config["num_attention_heads"]
        self.nkv = get("num_key_value_heads") or self.nq
        self.dh = get("head_dim") or self.h // self.nq
        self.tied = bool(get("tie_word_embeddings"))
        self.gated = architecture != "GptMoeForCausalLM"
        self.qk_norm = architecture.startswith("Qwen3")

        self.mla = architecture == "DeepseekV3ForCausalLM"
        if self.mla:
            self.Rq = get("q_lora_rank") or 0
            self.Rk = config["kv_lora_rank"]
            self.dn = config["qk_nope_head_dim"]
            self.dr = config["qk_rope_head_dim"]
            self.dv = config["v_head_dim"]
            self.Rc = self.Rk + self.dr

        self.E = get("num_local_experts") or get("num_experts") or get("n_routed_experts") or 0
        self.k = get("num_experts_per_tok") or 0
        self.ff_dense = config["intermediate_size"]
        self.ff_moe = get("moe_intermediate_size") or config["intermediate_size"]
        self.ff_shared = 0
        if self.E and get("n_shared_experts"):
            self.ff_shared = get("n_shared_experts") * self.ff_moe
        elif self.E:
            self.ff_shared = get("shared_expert_intermediate_size") or 0

        self.layers = [
            Layer(self._kind(config, i), self._window(config, i))
            for i in range(config["num_hidden_layers"])
        ]
        present = {layer.kind for layer in self.layers}
        self.kinds = [kind for kind in ("dense", "moe") if kind in present]

        self._read_types(config, weight_type)
        self.kvb = ACTIVATION_BYTES[kv_type]
        self.ab = ACTIVATION_BYTES[activation_type]

    def _kind(self, config, i):
        dense = (
            not self.E
            or i < (config.get("first_k_dense_replace") or 0)
            or i in (config.get("mlp_only_layers") or [])
            or (i + 1) % (config.get("decoder_sparse_step") or 1) != 0
        )
        return "dense" if dense else "moe"

    @staticmethod
    def _window(config, i):
        window = config.get("sliding_window")
        if window is None or config.get("use_sliding_window") is False:
            return None
        types = config.get("layer_types")
        return window if types is None or types[i] == "sliding_attention" else None

    def _read_types(self, config, weight_type):
        """The weight type of the classes that quantisation may touch."""
        classes = ("self_attn", "mlp", "experts", "shared_experts")
        quantization = config.get("quantization_config") or {}
        method = quantization.get("quant_method")
        exceptions = quantization.get("modules_to_not_convert") or []
        if weight_type is not None:
            method, exceptions = (None if weight_type == "bf16" else weight_type), []
        if method is None:
            quantized = set()
        elif method == "fp8":
            quantized = set(classes)
        elif method == "mxfp4":
            quantized = {"experts"}
        else:
            raise ValueError(f"unknown quantization method '{method}'")
        quantized -= {entry.split(".")[-1] for entry in exceptions}
        self.types = {c: method if c in quantized else "bf16" for c in classes}

    def body_ops(self, kind):
        """Names of a layer's ops, without the prefix of the stack."""
        if not self.mla:
            attention = ["qkv_proj", "attention", "out_proj"]
        elif self.Rq:
            attention = ["q_down", "q_up", "kv_down", "attention", "out_proj"]
        else:
            attention = ["q_proj", "kv_down", "attention", "out_proj"]
        if kind == "dense":
            ffn = ["ffn_up", "ffn_down"]
        else:
            ffn = ["router", "dispatch", "ffn_up", "ffn_down", "combine"]
            if self.ff_shared:
                ffn += ["shared_up", "shared_down"]
        return ["attn_norm"] + attention + ["ffn_norm"] + ffn

    def prefix(self, kind):
        return kind + "." if len(self.kinds) > 1 else ""

    def op_names(self):
        """Names of all ops, in the order of a strategy's dims."""
        body = [self.prefix(kind) + op for kind in self.kinds for op in self.body_ops(kind)]
        return ["embed"] + body + ["lm_head"]

    def parameters(self):
        """Number of parameters held by the ops (norms and biases left out)."""
        h = self.h
        if self.mla:
            queries = self.nq * (self.dn + self.dr)
            attention = h * self.Rq + self.Rq * queries if self.Rq else h * queries
            attention += h * self.Rc + self.nq * self.Rk * (self.dn + self.dv)
            attention += self.nq * self.dv * h
        else:
            attention = h * (self.nq + 2 * self.nkv) * self.dh + self.nq * self.dh * h
        matrices = 3 if self.gated else 2
        ffn = {
            "dense": matrices * h * self.ff_dense,
            "moe": matrices * h * (self.E * self.ff_moe + self.ff_shared) + h * self.E,
        }
        layers = sum(attention + ffn[layer.kind] for layer in self.layers)
        return layers + (1 if self.tied else 2) * self.vocab * h


# ---------------------------------------------------------------------------
# Strategies and workloads
# ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Workload:
    phase: str = "decode"  # or "prefill"
    context: int = 16384  # cached tokens a sequence; tokens a prompt
    machine: Machine = MACHINES["h100_sxm"]
    slo_ms: float = None  # None: 50 for decode, 2000 for prefill
    max_devices: int = None
    comm_model: str = "fast"
    imbalance: str = "model"  # or "none"

    @property
    def slo(self):
        """The limit on TPOT or TTFT in seconds."""
        default = 50 if self.phase == "decode" else 2000
        return (default if self.slo_ms is None else self.slo_ms) * 1e-3


@dataclass(frozen=True)
class Strategy:
    tp: int
    ep: int
    pp: int
    batch: int
    dims: tuple  # one of 0, 1, 2 (none) an op

    @staticmethod
    def from_json(value, model):
        dims = value["dims"]
        names = model.op_names()
        if isinstance(dims, dict):
            dims = [dims[name] for name in names]
        if len(dims) != len(names):
            raise ValueError(f"expected {len(names)} dims, found {len(dims)}")
        return Strategy(value["tp"], value["ep"], value["pp"], value["batch"], tuple(dims))

    def to_json(self):
        return {
            "tp": self.tp,
            "ep": self.ep,
            "pp": self.pp,
            "batch": self.batch,
            "dims": list(self.dims),
        }


@dataclass
class Line:
    """What one op costs on the busiest device."""

    op: str
    time: float
    layout: str  # of its result
    weights: float = 0.0
    cache: float = 0.0


@dataclass
class LayerCost:
    lines: list
    routed: str  # layout s in which the residual branch leaves the layer
    shared: str  # layout u of the shared experts' result, None without them
    residual: str  # A5, the layout of the residual

    @property
    def time(self):
        return sum(line.time for line in self.lines)

    @property
    def memory(self):
        return sum(line.weights + line.cache for line in self.lines)


@dataclass
class Result:
    valid: bool = False
    reason: str = "structural"
    throughput: float = 0.0  # tokens/s a device
    latency: float = 0.0  # TPOT or TTFT, seconds
    memory: float = 0.0  # bytes of the fullest device
    stages: tuple = ()  # seconds
    layers: dict = None  # (kind, window) -> LayerCost
    embed: Line = None
    head: Line = None
    return_time: float = 0.0  # part of the head: tokens back to the first stage

    def to_json(self, phase):
        latency = "tpot_ms" if phase == "decode" else "ttft_ms"
        return {
            "throughput": self.throughput,
            latency: self.latency * 1e3,
            "memory_gb": self.memory / 1e9,
            "valid": self.valid,
            "reason": self.reason,
        }


class Evaluator:
    """Evaluates one strategy; `result()` is the answer."""

    def __init__(self, model, workload, strategy):
        self.model = model
        self.workload = workload
        self.machine = workload.machine
        self.network = Network(workload.machine, workload.comm_model)
        self.prefill = workload.phase == "prefill"
        self.dims = dict(zip(model.op_names(), strategy.dims))
        self.strategy = strategy
        self.n, self.ep, self.pp = strategy.tp, strategy.ep, strategy.pp
        self.ab = model.ab

        # Sequences of an expert-parallel group, micro-batches, sequences of one.
        self.bg = ceil_div(strategy.batch, self.ep)
        self.M = min(self.pp, self.bg)
        self.b = ceil_div(self.bg, self.M)
        self.r = self.b * (workload.context if self.prefill else 1)

    # -- Limits -------------------------------------------------------------

    def structural(self):
        model, s, w = self.model, self.strategy, self.workload
        if w.max_devices is not None and s.tp * s.ep * s.pp > w.max_devices:
            return True
        if s.pp > len(model.layers):
            return True
        if "moe" in model.kinds and s.ep > model.E:
            return True
        for kind in model.kinds:
            if self.dims[model.prefix(kind) + "attention"] != 1:
                continue
            if model.mla or self.prefill or model.dh % (2 * s.tp) != 0:
                return True
        return False

    # -- Building blocks ----------------------------------------------------

    def rows(self, layout, r):
        """Rows of a tensor of r rows on one rank; r may be a real number."""
        if layout != "T":
            return r
        if isinstance(r, int):
            return ceil_div(r, self.n)
        return math.ceil(r / self.n - 1e-12)

    def width(self, layout, features):
        return features / self.n if layout == "H" else features

    def conv(self, source, target, rows, row_bytes):
        """Time to reshard rows x row_bytes from one layout to another."""
        n = self.n
        if n == 1 or source == target or source == "R":
            return 0.0
        volume = rows * row_bytes
        if source == "P":
            reduce = self.network.all_reduce if target == "R" else self.network.reduce_scatter
            return reduce(volume, n)
        if target == "R":
            return self.network.all_gather(volume, n)
        assert {source, target} == {"T", "H"}, (source, target)
        return self.network.all_to_all(volume / n, n)

    def roof(self, flops, bytes_, peak=None):
        peak = peak or self.machine.flops
        return max(flops / peak, bytes_ / self.machine.memory_bandwidth) + OP_TIME

    def peak(self, weight_type):
        return self.machine.flops_fp8 if weight_type == "fp8" else self.machine.flops

    def gemm(self, r, K, N, weights, weight_type="bf16"):
        return self.roof(2 * r * K * N, weights + r * (K + N) * self.ab, self.peak(weight_type))

    def norm(self, layout, r):
        bytes_ = 4 * self.rows(layout, r) * self.width(layout, self.model.h) * self.ab
        time = bytes_ / self.machine.memory_bandwidth + OP_TIME
        return time + (self.network.all_reduce(r * 4, self.n) if layout == "H" else 0.0)

    @staticmethod
    def none(layout):
        """The layout in which an op without a dim runs."""
        return "T" if layout == "T" else "R"

    def linear(self, dim, copies, K, N, N_local=None, weight_type="bf16"):
        """A projection of r rows: (time, weight bytes, layout taken, result).

        copies: layouts in which the input is at hand; the first is that of
        its producer, which decides what `none` means.
        """
        n, r, wb = self.n, self.r, WEIGHT_BYTES[weight_type]
        taken = {0: "H", 1: "R", 2: self.none(copies[0])}[dim]
        time = min(self.conv(copy, taken, r, K * self.ab) for copy in copies)
        if dim == 0:
            weights = K * N * wb / n
            time += self.gemm(r, K / n, N, weights, weight_type)
            return time, weights, taken, "P"
        if dim == 1:
            N_local = N / n if N_local is None else N_local
            weights = K * N_local * wb
            time += self.gemm(r, K, N_local, weights, weight_type)
            return time, weights, taken, "H"
        weights = K * N * wb
        time += self.gemm(self.rows(taken, r), K, N, weights, weight_type)
        return time, weights, taken, taken

    # -- Attention ----------------------------------------------------------

    def kv_heads_touched(self):
        """The most kv heads that the query heads of one rank read."""
        nq, n = self.model.nq, self.n
        c = ceil_div(nq, n)
        G = nq // self.model.nkv
        most = 0
        for j in range(n):
            if j * c < nq:
                first, last = j * c // G, (min((j + 1) * c, nq) - 1) // G
                most = max(most, last - first + 1)
        return most

    def attention_taken(self, dim, s):
        """The layout in which attention wants its queries."""
        if dim != 2:
            return "H"
        if self.prefill and self.b % self.n != 0:
            return "R"  # a block of rows must not split a prompt
        return self.none(s)

    def cached_sequences(self, layout):
        return self.M * ceil_div(self.b, self.n) if layout == "T" else self.bg

    def gqa(self, dim, A1, window, add):
        """qkv_proj and attention; returns the layout of the result."""
        model, n, b, r, ab = self.model, self.n, self.b, self.r, self.ab
        bandwidth = self.machine.memory_bandwidth
        nq, nkv, dh = model.nq, model.nkv, model.dh
        context = self.workload.context
        c = context if window is None else min(context, window)
        local_heads = ceil_div(nq, n)
        local_kv = self.kv_heads_touched()

        Nq = (nq + 2 * nkv) * dh
        NqL = (local_heads + 2 * local_kv) * dh
        time, weights, _, s = self.linear(
            dim("qkv_proj"), [A1], model.h, Nq, NqL, model.types["self_attn"]
        )
        add("qkv_proj", time, s, weights)

        cache_per_sequence = c * 2 * nkv * dh * model.kvb  # kv1

        def at(sequences, heads, kv_share, feature_share):
            if self.prefill:
                S = context
                pairs = S * c - c**2 / 2
                flops = 4 * sequences * pairs * heads * dh
                cache = 2 * sequences * S * 2 * nkv * dh * model.kvb * kv_share
                return self.roof(flops, cache + sequences * S * 2 * heads * dh * ab)
            flops = 4 * sequences * c * heads * dh * feature_share
            cache = sequences * cache_per_sequence * kv_share
            return self.roof(flops, cache + sequences * 2 * heads * dh * ab * feature_share)

        taken = self.attention_taken(dim("attention"), s)
        time = self.conv(s, taken, r, Nq * ab)
        if dim("attention") == 0:
            f = local_kv / nkv
            time += at(b, local_heads, f, 1)
            cache = self.bg * cache_per_sequence * f
        elif dim("attention") == 1:
            f = ceil_div(dh, n) / dh
            scores = b * nq * c * 4
            time += at(b, nq, f, f)
            time += 3 * scores / bandwidth + OP_TIME
            time += self.network.all_reduce(scores, n)
            if model.qk_norm:
                time += self.network.all_reduce(b * (nq + nkv) * 4, n)
            cache = self.bg * cache_per_sequence * f
        else:
            sequences = ceil_div(b, n) if taken == "T" else b
            time += at(sequences, nq, 1, 1)
            cache = cache_per_sequence * self.cached_sequences(taken)
        add("attention", time, taken, cache=cache)
        return taken

    def mla(self, dim, A1, add):
        """Down- and up-projections and attention on the latent cache."""
        model, n, b, r, ab = self.model, self.n, self.b, self.r, self.ab
        nq, dn, dr, dv, Rk, Rc = model.nq, model.dn, model.dr, model.dv, model.Rk, model.Rc
        context = self.workload.context
        weight_type = model.types["self_attn"]
        wb = WEIGHT_BYTES[weight_type]
        queries = nq * (dn + dr)
        local_queries = ceil_div(nq, n) * (dn + dr)

        if model.Rq:
            time, weights, taken, s = self.linear(
                dim("q_down"), [A1], model.h, model.Rq, None, weight_type
            )
            add("q_down", time, s, weights)
            # The norm between the two projections needs whole rows.
            split_norm = dim("q_up") == 0 and s in ("H", "P")
            time, weights, _, s = self.linear(
                dim("q_up"), [s], model.Rq, queries, local_queries, weight_type
            )
            if split_norm:
                time += self.network.all_reduce(r * 4, n)
            add("q_up", time, s, weights)
        else:
            time, weights, taken, s = self.linear(
                dim("q_proj"), [A1], model.h, queries, local_queries, weight_type
            )
            add("q_proj", time, s, weights)

        time, weights, _, c = self.linear(
            dim("kv_down"), [A1, taken], model.h, Rc, None, weight_type
        )
        add("kv_down", time, c, weights)

        def bmm(sequences, heads, K, N):
            bytes_ = heads * K * N * wb + sequences * heads * (K + N) * ab
            return self.roof(2 * sequences * heads * K * N, bytes_, self.peak(weight_type))

        def at(sequences, heads):
            if self.prefill:  # keys and values are expanded from the latents
                S = context
                x = sequences * S
                N = heads * (dn + dv)
                time = self.gemm(x, Rk, N, heads * Rk * (dn + dv) * wb, weight_type)
                flops = sequences * S**2 * heads * (dn + dr + dv)
                return time + self.roof(flops, x * (2 * heads * (dn + dr + dv) + Rc) * ab)
            flops = 2 * sequences * context * heads * (2 * Rk + dr)
            bytes_ = sequences * context * Rc * model.kvb + sequences * heads * (2 * Rk + dr) * ab
            time = bmm(sequences, heads, dn, Rk) + bmm(sequences, heads, Rk, dv)
            return time + self.roof(flops, bytes_)

        taken = self.attention_taken(dim("attention"), s)
        time = self.conv(s, taken, r, queries * ab)
        if dim("attention") == 0:
            time += self.conv(c, "R", r, Rc * ab)
            heads, sequences = ceil_div(nq, n), b
        else:
            time += self.conv(c, taken, r, Rc * ab)
            heads, sequences = nq, (ceil_div(b, n) if taken == "T" else b)
        time += at(sequences, heads)
        weights = heads * Rk * (dn + dv) * wb
        cache = context * Rc * model.kvb * self.cached_sequences(taken)
        add("attention", time, taken, weights, cache)
        return taken

    def out_proj(self, dim, s, add):
        model, n, r = self.model, self.n, self.r
        head = model.dv if model.mla else model.dh
        weight_type = model.types["self_attn"]
        wb = WEIGHT_BYTES[weight_type]
        K, K_local = model.nq * head, ceil_div(model.nq, n) * head
        if dim == 0:  # heads are padded, so the quotient is not K / n
            weights = K_local * model.h * wb
            time = self.conv(s, "H", r, K * self.ab)
            time += self.gemm(r, K_local, model.h, weights, weight_type)
            result = "P"
        else:
            time, weights, _, result = self.linear(dim, [s], K, model.h, None, weight_type)
        add("out_proj", time, result, weights)
        return result

    # -- Feed-forward -------------------------------------------------------

    def ffn(self, names, dims, copies, m, ff, weight_type, add, stored=1, read=1):
        """Up- and down-projection of m rows; returns the layout of the result.

        stored, read: experts whose weights a device holds, and reads.
        copies: layouts in which the input is at hand, its producer's first.
        """
        n, h, ab = self.n, self.model.h, self.ab
        N1 = ff * (2 if self.model.gated else 1)
        wb = WEIGHT_BYTES[weight_type]

        def grouped(rows, K, N, weights, out):
            bytes_ = read * weights + rows * (K + out) * ab
            return self.roof(2 * rows * K * N, bytes_, self.peak(weight_type))

        up, down = dims
        weights = h * N1 * wb
        taken = {0: "H", 1: "R", 2: self.none(copies[0])}[up]
        time = min(self.conv(copy, taken, m, h * ab) for copy in copies)
        if up == 0:
            weights /= n
            time += grouped(m, h / n, N1, weights, N1)
            s = "P"
        elif up == 1:
            weights /= n
            time += grouped(m, h, N1 / n, weights, ff / n)
            s = "H"
        else:
            time += grouped(self.rows(taken, m), h, N1, weights, ff)
            s = taken
        add(names[0], time, s, stored * weights)

        row_bytes = (N1 if s == "P" else ff) * ab
        weights = ff * h * wb
        taken = {0: "H", 1: "R", 2: self.none(s)}[down]
        time = self.conv(s, taken, m, row_bytes)
        if down == 0:
            weights /= n
            time += grouped(m, ff / n, h, weights, h)
            s = "P"
        elif down == 1:
            weights /= n
            time += grouped(m, ff, h / n, weights, h / n)
            s = "H"
        else:
            time += grouped(self.rows(taken, m), ff, h, weights, h)
            s = taken
        add(names[1], time, s, stored * weights)
        return s

    def router(self, dim, s, add):
        """Returns the layout in which the tokens are passed on."""
        model, n, r = self.model, self.n, self.r
        h, E, wb = model.h, model.E, WEIGHT_BYTES["bf16"]
        if dim == 0:
            weights = h * E * wb / n
            time = self.conv(s, "H", r, h * self.ab) + self.gemm(r, h / n, E, weights)
            time += self.network.all_reduce(r * E * 4, n)
            s = "R" if s == "R" else "H"
        elif dim == 1:
            local = ceil_div(E, n)
            weights = h * local * wb
            time = self.conv(s, "R", r, h * self.ab) + self.gemm(r, h, local, weights)
            time += self.network.all_gather(r * E * 4, n)
            s = "R"
        else:
            taken = self.none(s)
            weights = h * E * wb
            time = self.conv(s, taken, r, h * self.ab)
            time += self.gemm(self.rows(taken, r), h, E, weights)
            s = taken
        add("router", time, s, weights)
        return s

    def moe(self, dim, A5, add):
        """Router to combine and shared experts: layouts (s, u)."""
        model, r, ab, h = self.model, self.r, self.ab, self.model.h
        E, k, ep = model.E, model.k, self.ep
        bandwidth = self.machine.memory_bandwidth

        # Token copies of the busiest expert-parallel group, experts it reads.
        mu = r * k
        local_experts = ceil_div(E, ep)
        if self.workload.imbalance == "none":
            m, phi = mu, 1.0
        else:
            phi = 1.0 if ep == 1 else 1 + SKEW + math.sqrt(2 * math.log(ep) / mu)
            m = min(mu * phi, r * ep * min(k, local_experts))
            phi = m / mu
        active = 1 - (1 - k / E) ** (r * ep)
        experts_read = min(local_experts, max(1, local_experts * active * phi))

        def exchange(layout):
            """(bytes sent by a rank of its own tokens, bytes of its copies)."""
            features = self.width(layout, h)
            return self.rows(layout, r) * k * features * ab, self.rows(layout, m) * features * ab

        routed = self.router(dim("router"), A5, add)

        l = {0: "T", 1: "H", 2: self.none(routed)}[dim("dispatch")]
        X, Y = exchange(l)
        time = self.conv(routed, l, r, h * ab)
        time += self.network.all_to_all(X * phi, ep, self.n)
        time += (X / k + Y) / bandwidth + OP_TIME
        add("dispatch", time, l)
        dispatched = l

        s = self.ffn(
            ("ffn_up", "ffn_down"),
            (dim("ffn_up"), dim("ffn_down")),
            [dispatched],
            m,
            model.ff_moe,
            model.types["experts"],
            add,
            stored=local_experts,
            read=experts_read,
        )

        l = {0: "T", 1: "H", 2: "R" if s == "H" else s}[dim("combine")]
        X, Y = exchange(l)
        time = self.conv(s, l, m, h * ab)
        time += self.network.all_to_all(X * phi, ep, self.n)
        time += (X + X / k + Y) / bandwidth + OP_TIME
        add("combine", time, l)
        s = l

        if not model.ff_shared:
            return s, None
        u = self.ffn(
            ("shared_up", "shared_down"),
            (dim("shared_up"), dim("shared_down")),
            [A5, routed, dispatched],
            r,
            model.ff_shared,
            model.types["shared_experts"],
            add,
        )
        return s, u

    # -- A layer, and what lies between layers -------------------------------

    def layer(self, kind, window):
        model, r = self.model, self.r
        prefix = model.prefix(kind)
        lines = []

        def dim(op):
            return self.dims[prefix + op]

        def add(op, time, layout, weights=0.0, cache=0.0):
            lines.append(Line(prefix + op, time, layout, weights, cache))

        A1, A5 = ANCHOR[dim("attn_norm")], ANCHOR[dim("ffn_norm")]
        add("attn_norm", self.norm(A1, r), A1)
        s = self.mla(dim, A1, add) if model.mla else self.gqa(dim, A1, window, add)
        s = self.out_proj(dim("out_proj"), s, add)

        time = self.conv(s, A5, r, model.h * self.ab) + self.conv(A1, A5, r, model.h * self.ab)
        add("ffn_norm", time + self.norm(A5, r), A5)

        if kind == "moe":
            s, u = self.moe(dim, A5, add)
        else:
            dims = (dim("ffn_up"), dim("ffn_down"))
            names = ("ffn_up", "ffn_down")
            s = self.ffn(names, dims, [A5], r, model.ff_dense, model.types["mlp"], add)
            u = None
        return LayerCost(lines, s, u, A5)

    def leave(self, cost, target, rows):
        """Time to bring a layer's branches and residual to one layout."""
        row_bytes = self.model.h * self.ab

        def join(layout):  # one more read: the sum of the two branches
            elements = self.rows(layout, rows) * self.width(layout, self.model.h)
            return elements * self.ab / self.machine.memory_bandwidth

        s, u = cost.routed, cost.shared
        time = self.conv(s, target, rows, row_bytes)
        if u is not None and u == s:
            time += join(s)
        elif u is not None:
            time += self.conv(u, target, rows, row_bytes) + join(target)
        return time + self.conv(cost.residual, target, rows, row_bytes)

    def anchor(self, layer):
        return ANCHOR[self.dims[self.model.prefix(layer.kind) + "attn_norm"]]

    def table_bytes(self, dim):
        """Bytes of the embedding, or of the head's matrix, on a device."""
        whole = self.model.vocab * self.model.h * WEIGHT_BYTES["bf16"]
        return whole if dim == 2 else whole / self.n

    def embed(self):
        dim, r, h = self.dims["embed"], self.r, self.model.h
        layout = EMBED_LAYOUT[dim]
        bytes_ = 2 * r * self.width(layout, h) * self.ab
        time = bytes_ / self.machine.memory_bandwidth + OP_TIME
        time += self.conv(layout, self.anchor(self.model.layers[0]), r, h * self.ab)
        return Line("embed", time, layout, self.table_bytes(dim))

    def head(self, last):
        """lm_head after a layer of cost `last`, without the way back."""
        dim, b, n, ab = self.dims["lm_head"], self.b, self.n, self.ab
        h, vocab, net = self.model.h, self.model.vocab, self.network
        whole_rows = last.routed == "T" and last.shared in ("T", None)
        layout = {0: "H", 1: "R", 2: "T" if whole_rows else "R"}[dim]
        weights = self.table_bytes(dim)
        time = self.leave(last, layout, b) + self.norm(layout, b)
        if dim == 0:
            time += self.gemm(b, h / n, vocab, weights)
            time += net.reduce_scatter(b * vocab * ab, n) + net.all_gather(b * 8 * n, n)
        elif dim == 1:
            time += self.gemm(b, h, ceil_div(vocab, n), weights)
            time += net.all_gather(b * 8 * n, n)
        else:
            time += self.gemm(self.rows(layout, b), h, vocab, weights)
            if layout == "T":
                time += net.all_gather(b * 8, n)
        return Line("lm_head", time, "R", weights)

    def link(self):
        """(latency, bandwidth) between two stages."""
        devices = self.n * self.ep * self.pp
        if devices <= self.machine.domain:
            return self.network.nvlink_phase, self.machine.nvlink
        return self.network.network_phase, self.machine.network

    def send(self, anchor):
        """Time to send a micro-batch to a stage that begins in `anchor`."""
        latency, bandwidth = self.link()
        volume = self.r * self.model.h * self.ab
        time = volume / self.n / bandwidth
        if anchor == "R":  # every rank its copy, or a part and a gather
            time = min(volume / bandwidth, time + self.network.all_gather(volume, self.n))
        return self.network.launch + latency + time

    # -- The pipeline --------------------------------------------------------

    def stage_sizes(self):
        """Layers of each stage; the rest goes to those before the last."""
        quotient, rest = divmod(len(self.model.layers), self.pp)
        return [
            quotient + (1 if self.pp - 1 - rest <= s <= self.pp - 2 else 0) for s in range(self.pp)
        ]

    def result(self):
        if self.structural():
            return Result()
        model, layers = self.model, self.model.layers
        costs = {}
        for layer in layers:
            if layer not in costs:
                costs[layer] = self.layer(layer.kind, layer.window)

        embed, head = self.embed(), self.head(costs[layers[-1]])
        way_back = 0.0
        if self.pp > 1 and not self.prefill:
            way_back = self.network.launch + self.link()[0]

        times, memories = [], []
        begin = 0
        for stage, size in enumerate(self.stage_sizes()):
            time = memory = 0.0
            for i in range(begin, begin + size):
                cost = costs[layers[i]]
                time += cost.time
                memory += cost.memory
                if i + 1 < len(layers):
                    time += self.leave(cost, self.anchor(layers[i + 1]), self.r)
            begin += size
            if stage == 0:
                time += embed.time
                memory += embed.weights
            if stage == self.pp - 1:
                time += head.time + way_back
                memory += head.weights
            else:
                time += self.send(self.anchor(layers[begin]))
            times.append(time)
            memories.append(memory)

        # One table serves both ends where they hold the same slice of it.
        ends = (self.dims["embed"], self.dims["lm_head"])
        if model.tied and self.pp == 1 and ends in ((0, 1), (1, 0), (2, 2)):
            memories[0] -= head.weights

        batch, devices = self.strategy.batch, self.n * self.ep * self.pp
        slowest = self.M * max(times)
        if self.prefill:
            latency = sum(times)
            throughput = batch * self.workload.context / (slowest * devices)
        else:
            latency = max(sum(times), slowest)
            throughput = batch / (latency * devices)
        memory = max(memories)
        reason = ""
        if memory > self.machine.capacity:
            reason = "memory"
        elif latency > self.workload.slo:
            reason = "slo"
        return Result(
            valid=not reason,
            reason=reason,
            throughput=throughput,
            latency=latency,
            memory=memory,
            stages=tuple(times),
            layers={(layer.kind, layer.window): cost for layer, cost in costs.items()},
            embed=embed,
            head=head,
            return_time=way_back,
        )


def evaluate(model, workload, strategy):
    """The metrics of a strategy, with its breakdown."""
    return Evaluator(model, workload, strategy).result()


# ---------------------------------------------------------------------------
# Brute force, for small spaces
# ---------------------------------------------------------------------------


def enumerate_strategies(model, tp, ep, pp, batch, dims):
    """All strategies over lists of degrees and one list of dims an op."""
    for degrees in itertools.product(tp, ep, pp, batch):
        for choice in itertools.product(*dims):
            yield Strategy(*degrees, choice)


def optimum(model, workload, tp, ep, pp, batch, dims, objective="throughput"):
    """The best valid strategy: (strategy, result), or None.

    objective: "throughput", or "latency" (the smallest TPOT or TTFT). The
    first of equals in the order of the lists wins.
    """
    best = None
    for strategy in enumerate_strategies(model, tp, ep, pp, batch, dims):
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


# ---------------------------------------------------------------------------
# Command line
# ---------------------------------------------------------------------------


def print_breakdown(result):
    def show(line):
        print(
            f"  {line.op:20} {line.time * 1e6:12.4f} us  {line.layout}"
            f"  weights {line.weights / 1e9:.6f} GB  cache {line.cache / 1e9:.6f} GB"
        )

    show(result.embed)
    for (kind, window), cost in result.layers.items():
        print(f"{kind} layer, window {window}: {cost.time * 1e6:.4f} us")
        for line in cost.lines:
            show(line)
    show(result.head)
    print("stages ms", " ".join(f"{time * 1e3:.6f}" for time in result.stages))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("config")
    parser.add_argument("--phase", choices=("decode", "prefill"), default="decode")
    parser.add_argument("--context", type=int, required=True)
    parser.add_argument("--machine", choices=sorted(MACHINES), default="h100_sxm")
    parser.add_argument("--slo-ms", type=float)
    parser.add_argument("--max-devices", type=int)
    parser.add_argument("--comm-model", choices=("ring", "direct", "fast"), default="fast")
    parser.add_argument("--imbalance", choices=("model", "none"), default="model")
    parser.add_argument("--weight-type", choices=("bf16", "fp8", "mxfp4"))
    parser.add_argument("--kv-type", choices=sorted(ACTIVATION_BYTES), default="bf16")
    parser.add_argument("--activation-type", choices=sorted(ACTIVATION_BYTES), default="bf16")
    job = parser.add_mutually_exclusive_group(required=True)
    job.add_argument("--strategy", help="one strategy as JSON; prints its breakdown")
    job.add_argument("--strategies", help="a file of them, one a line")
    job.add_argument("--optimum", action="store_true", help="the best of the lists, by brute force")
    for degree in ("tp", "ep", "pp", "batch"):
        parser.add_argument(f"--{degree}", type=parse_list, help="the usual list by default")
    parser.add_argument(
        "--dims",
        default="",
        help=f"'op=0,1;op=2', '*' for the other ops; or {', '.join(MEGATRON)}",
    )
    parser.add_argument("--objective", choices=("throughput", "latency"), default="throughput")
    args = parser.parse_args()

    with open(args.config) as file:
        config = json.load(file)
    model = Model(config, args.weight_type, args.kv_type, args.activation_type)
    workload = Workload(
        args.phase,
        args.context,
        MACHINES[args.machine],
        args.slo_ms,
        args.max_devices,
        args.comm_model,
        args.imbalance,
    )

    if args.strategy:
        result = evaluate(model, workload, Strategy.from_json(json.loads(args.strategy), model))
        print(json.dumps(result.to_json(args.phase)))
        if result.reason != "structural":
            print_breakdown(result)
    elif args.strategies:
        with open(args.strategies) as file:
            for text in file:
                strategy = Strategy.from_json(json.loads(text), model)
                print(json.dumps(evaluate(model, workload, strategy).to_json(args.phase)))
    else:
        domains = parse_domains(args.dims, model.op_names())
        given = (args.tp, args.ep, args.pp, args.batch)
        degrees = (a or b for a, b in zip(given, default_degrees(model)))
        best = optimum(model, workload, *degrees, domains, args.objective)
        if best is None:
            sys.exit("no valid strategy")
        strategy, result = best
        print(json.dumps({**strategy.to_json(), **result.to_json(args.phase)}))


if __name__ == "__main__":
    main()
