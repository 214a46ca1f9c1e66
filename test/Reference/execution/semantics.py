"""What each op of the `llm` dialect computes on one device, in NumPy.

A function here takes the op and its operands as arrays, by the names that the
dialect's definition gives them, and returns the list of results. An operand
that is absent is None, a variadic one a list. Ops with regions and collectives
are the interpreter's.
"""

import numpy as np

from execution import numerics
from execution.mlir_generic import Keyword

SEMANTICS = {}  # op name -> (operand names, context names, function)


def semantics(name, operands="", context=""):
    """Registers an op; `operands` lists names, x? optional and x* variadic.

    context: what else the function takes by name: `window`, that of the layer
    (None where attention is full); `padding`, the value that a region yields.
    """

    def register(function):
        SEMANTICS[name] = (operands.split(), context.split(), function)
        return function

    return register


def segments(names, op, values):
    """The operand values by name."""
    flexible = [name for name in names if name[-1] in "?*"]
    sizes = op.get("operandSegmentSizes")
    if sizes is None:
        rest = len(values) - (len(names) - len(flexible))
        assert len(flexible) <= 1 and rest >= 0, f"{op.name}: operands {names}"
        sizes = [rest if name in flexible else 1 for name in names]
    groups, begin = {}, 0
    for name, size in zip(names, sizes, strict=True):
        taken = values[begin : begin + size]
        begin += size
        if name.endswith("*"):
            groups[name[:-1]] = list(taken)
        else:
            groups[name.rstrip("?")] = taken[0] if size else None
    assert begin == len(values), op.name
    return groups


def compute(op, values, context):
    """Results of an op that runs on one device alone."""
    names, wanted, function = SEMANTICS[op.name]
    return function(op, **segments(names, op, values), **{key: context[key] for key in wanted})


def enum(attribute):
    """The spelling of an enum attribute's case."""
    if isinstance(attribute, Keyword):
        return attribute.name
    return attribute.values[-1].name


# ---------------------------------------------------------------------------
# Embedding, norms, projections
# ---------------------------------------------------------------------------


@semantics("llm.embedding", "tokens table offset?")
def embedding(op, tokens, table, offset):
    local = tokens - (0 if offset is None else offset)
    inside = (local >= 0) & (local < len(table))
    assert offset is not None or inside.all(), "token outside the vocabulary"
    rows = np.where(inside[:, None], table[np.where(inside, local, 0)], 0.0)
    return [rows * op.get("scale", 1.0)]


@semantics("llm.rms_norm", "input residual? weight")
def rms_norm(op, input, residual, weight):
    if op.get("norm_first"):
        return [numerics.rms_norm(input, weight, op["epsilon"]) + residual]
    total = input if residual is None else input + residual
    return [numerics.rms_norm(total, weight, op["epsilon"]), total][: len(op.results)]


@semantics("llm.layer_norm", "input residual? weight bias?")
def layer_norm(op, input, residual, weight, bias):
    total = input if residual is None else input + residual
    normed = numerics.layer_norm(total, weight, bias, op["epsilon"])
    return [normed, total][: len(op.results)]


@semantics("llm.add", "lhs rhs")
def add(op, lhs, rhs):
    return [lhs + rhs]


def project(input, weight, bias):
    assert input.shape[-1] == weight.shape[0], (input.shape, weight.shape)
    return input @ weight + (0 if bias is None else bias)


@semantics("llm.qkv_proj", "input weight bias?")
@semantics("llm.mamba2_proj", "input weight bias?")
@semantics("llm.out_proj", "input weight bias?")
def projection(op, input, weight, bias):
    return [project(input, weight, bias)]


@semantics("llm.linear", "input weight norm? bias?")
def linear(op, input, weight, norm, bias):
    if norm is not None:
        input = numerics.rms_norm(input, norm, op["epsilon"])
    return [project(input, weight.T if op.get("transposed") else weight, bias)]


# ---------------------------------------------------------------------------
# Attention
# ---------------------------------------------------------------------------


def rope_frequencies(rope):
    """Rotations a token of each rotary pair."""
    theta, factor = rope["theta"], rope.get("factor", 1.0)
    plain = numerics.frequencies(rope["dim"], theta)
    scaling = enum(rope.get("scaling", Keyword("none")))
    original = rope.get("original_context", 0)
    if scaling == "none":
        return plain
    if scaling == "linear":
        return plain / factor
    if scaling == "llama3":
        low, high = rope.get("low_freq_factor", 1.0), rope.get("high_freq_factor", 4.0)
        return numerics.llama3_frequencies(plain, factor, low, high, original)
    if scaling == "longrope":
        return plain / np.array(rope["divisors"])
    assert scaling == "yarn", scaling
    fast, slow = rope.get("beta_fast", 32.0), rope.get("beta_slow", 1.0)
    truncate = rope.get("truncate", True)
    return numerics.yarn_frequencies(plain, theta, factor, fast, slow, original, truncate)


def turn(x, positions, rope, pairs=slice(None), style=None):
    """Rotates the first rotary features of [rows, heads, size]; pads untouched.

    pairs: which of the rotary pairs x holds; style: if it is not that of rope.
    """
    if rope is None:
        return x
    frequencies = rope_frequencies(rope)[pairs]
    size = 2 * len(frequencies)
    interleaved = enum(style or rope.get("style", Keyword("half"))) == "interleaved"
    magnitude = rope.get("magnitude", 1.0)
    turned = numerics.rotate(x[..., :size], positions, frequencies, magnitude, interleaved)
    return np.concatenate([turned, x[..., size:]], axis=-1)


def write_cache(cache, rows, positions, sequence):
    """A copy of the cache with each row at its sequence and position."""
    cache = cache.copy()
    true = positions >= 0
    prompts = np.arange(len(positions)) // sequence
    cache[prompts[true], positions[true]] = rows[true]
    return cache


def kv_head_of(heads, kv_heads, group, offset):
    """The local kv head that each local query head reads."""
    head = np.arange(heads)
    return np.minimum((offset + head) // group - offset // group, kv_heads - 1)


@semantics(
    "llm.attention",
    "input latent? positions caches* q_norm? k_norm? sinks? kv_norm? kv_up? head_offset? "
    "index_queries? index_norm? index_norm_bias?",
    context="window",
)
def attention(op, positions, window, **operands):
    kind = gqa if enum(op["kind"]) == "gqa" else mla
    result, caches = kind(op, positions, op.get("window", window), **operands)
    return [numerics.merge_last(result), *caches]


def gqa(op, positions, window, input, caches, q_norm, k_norm, sinks, head_offset, **_):
    heads, kv_heads, size = op["heads"], op["kv_heads"], op["head_dim"]
    sequence = op.get("sequence", 1)
    wide = 2 * size if op.get("gated") else size
    ends = [heads * wide, heads * wide + kv_heads * size]
    q, k, v = np.split(input, ends, axis=-1)
    q, gates = np.split(numerics.split_last(q, heads, wide), [size], axis=-1)
    k, v = (numerics.split_last(x, kv_heads, size) for x in (k, v))
    if "epsilon" in op.attributes:
        kind = op.get("qk_norm") and enum(op["qk_norm"])
        q = numerics.head_norm(kind, q, q_norm, op["epsilon"])
        k = numerics.head_norm(kind, k, k_norm, op["epsilon"])
    rope = op.get("rope")
    q, k = turn(q, positions, rope), turn(k, positions, rope)
    q = tempered(op, q, positions)
    keys, values = (
        write_cache(cache, rows, positions, sequence) for cache, rows in zip(caches, (k, v))
    )
    readers = kv_head_of(heads, kv_heads, op.get("group", 1), head_offset or 0)
    result = numerics.gqa(
        q,
        keys,
        values,
        positions,
        sequence,
        op["scale"],
        readers,
        window,
        sinks,
        op.get("soft_cap"),
        op.get("chunked", False),
    )
    return result * numerics.sigmoid(gates) if op.get("gated") else result, [keys, values]


def tempered(op, q, positions):
    """Queries times what a temperature says of their positions."""
    temperature = op.get("temperature")
    if temperature is None:
        return q
    return q * numerics.temperature(positions, temperature["floor"], temperature["scale"])


def mla(op, positions, window, input, latent, caches, sinks, kv_norm, kv_up, **more):
    heads, nope, rope_dim = op["heads"], op["nope_dim"], op["rope_dim"]
    value, rank, rope = op["value_dim"], op["rank"], op.get("rope")
    sequence = op.get("sequence", 1)
    q = numerics.split_last(input, heads, nope + rope_dim)
    q = np.concatenate([q[..., :nope], turn(q[..., nope:], positions, rope)], axis=-1)

    normed = numerics.rms_norm(latent[:, :rank], kv_norm, op["kv_norm_epsilon"])
    latent, indexed = np.split(latent, [rank + rope_dim], axis=-1)
    shared = turn(latent[:, None, rank:], positions, rope)[:, 0]
    rows = np.concatenate([normed, shared], axis=-1)
    chosen, indexer = None, op.get("indexer")
    if indexer:
        style = indexer.get("style", Keyword("half"))
        key, gates = np.split(indexed, [indexer["dim"]], axis=-1)
        key = numerics.layer_norm(
            key, more["index_norm"], more["index_norm_bias"], indexer["epsilon"]
        )
        key = turn(key[:, None], positions, rope, style=style)[:, 0]
        rows = np.concatenate([rows, key], axis=-1)
    cache = write_cache(caches[0], rows, positions, sequence)
    if indexer:
        queries = numerics.split_last(more["index_queries"], indexer["heads"], indexer["dim"])
        queries = turn(queries, positions, rope, style=style)
        keys = cache[..., rank + rope_dim :]
        chosen = numerics.index(queries, keys, gates, positions, sequence, indexer["top_k"])

    expanded = numerics.split_last(cache[..., :rank] @ kv_up, heads, nope + value)
    rotary = cache[:, :, None, rank : rank + rope_dim]
    rotary = np.broadcast_to(rotary, cache.shape[:2] + (heads, rope_dim))
    keys = np.concatenate([expanded[..., :nope], rotary], axis=-1)
    result = numerics.gqa(
        q,
        keys,
        expanded[..., nope:],
        positions,
        sequence,
        op["scale"],
        np.arange(heads),
        window,
        sinks,
        op.get("soft_cap"),
        op.get("chunked", False),
        chosen,
    )
    return result, [cache]


@semantics("llm.gated_delta_net", "input positions conv_state state conv decay step_bias norm")
def gated_delta_net(op, input, positions, conv_state, state, conv, decay, step_bias, norm):
    heads, value_heads = op["heads"], op["value_heads"]
    key_dim, value_dim = op["key_dim"], op["value_dim"]
    each, sequence = value_heads // heads, op.get("sequence", 1)
    widths = [2 * key_dim + each * value_dim, each * value_dim, each, each]
    groups = numerics.split_last(input, heads, -1)
    assert groups.shape[-1] == sum(widths), op.name
    channels, gates, strengths, steps = np.split(groups, np.cumsum(widths)[:-1], axis=-1)
    conv_state, state = conv_state.copy(), state.copy()
    result = np.zeros((len(input), value_heads, value_dim))
    for row in np.flatnonzero(positions >= 0):
        prompt = row // sequence
        if positions[row] == 0:
            conv_state[prompt], state[prompt] = 0, 0
        window = np.concatenate([conv_state[prompt], channels[row].reshape(1, -1)])
        conv_state[prompt] = window[1:]
        made = numerics.silu((window * conv).sum(axis=0)).reshape(heads, -1)
        q, k, v = np.split(made, [key_dim, 2 * key_dim], axis=-1)
        q, k = (np.repeat(unit(x), each, axis=0) for x in (q, k))
        v = v.reshape(value_heads, value_dim)
        step = np.logaddexp(0, steps[row].reshape(-1) + step_bias)
        past = state[prompt] * np.exp(-np.exp(decay) * step)[:, None, None]
        change = (v - np.einsum("hk,hkv->hv", k, past)) * numerics.sigmoid(
            strengths[row].reshape(-1, 1)
        )
        state[prompt] = past + k[:, :, None] * change[:, None, :]
        asked = np.einsum("hk,hkv->hv", q, state[prompt]) / np.sqrt(key_dim)
        gate = numerics.silu(gates[row].reshape(value_heads, value_dim))
        result[row] = numerics.rms_norm(asked, norm, op["epsilon"]) * gate
    return [numerics.merge_last(result), conv_state, state]


@semantics(
    "llm.mamba2", "input positions conv_state state conv conv_bias? decay skip step_bias norm?"
)
def mamba2(op, input, positions, conv_state, state, conv, conv_bias, decay, skip, step_bias, norm):
    heads, head_dim = op["heads"], op["head_dim"]
    groups, state_dim = op["groups"], op["state_dim"]
    values, shared = heads * head_dim, groups * state_dim
    widths = [values, values + 2 * shared, heads]
    assert input.shape[-1] == sum(widths), op.name
    gates, channels, steps = np.split(input, np.cumsum(widths)[:-1], axis=-1)
    steps = np.logaddexp(0, steps + step_bias)
    steps = np.clip(steps, op.get("step_min", 0.0), op.get("step_max", np.inf))
    conv_state, state = conv_state.copy(), state.copy()
    result = np.zeros((len(input), values))
    for row in np.flatnonzero(positions >= 0):
        prompt = row // op.get("sequence", 1)
        if positions[row] == 0:
            conv_state[prompt], state[prompt] = 0, 0
        window = np.concatenate([conv_state[prompt], channels[row][None]])
        conv_state[prompt] = window[1:]
        made = (window * conv).sum(axis=0) + (0 if conv_bias is None else conv_bias)
        x, b, c = np.split(numerics.silu(made), [values, values + shared])
        x = x.reshape(heads, head_dim)
        b, c = (np.repeat(v.reshape(groups, state_dim), heads // groups, axis=0) for v in (b, c))
        step = steps[row]
        written = step[:, None, None] * x[:, :, None] * b[:, None, :]
        state[prompt] = np.exp(-np.exp(decay) * step)[:, None, None] * state[prompt] + written
        asked = np.einsum("hpn,hn->hp", state[prompt], c) + skip[:, None] * x
        made = (asked.reshape(values) * numerics.silu(gates[row])).reshape(groups, -1)
        if norm is not None:
            made = numerics.rms_norm(made, norm.reshape(groups, -1), op["epsilon"])
        result[row] = made.reshape(values)
    return [result, conv_state, state]


def unit(x):
    """x with its last dim divided by the root of its sum of squares."""
    return x / np.sqrt((x * x).sum(axis=-1, keepdims=True) + 1e-6)


# ---------------------------------------------------------------------------
# Mixture of experts
# ---------------------------------------------------------------------------


def choose(op, logits, correction):
    experts, weights = numerics.route(
        logits,
        enum(op["scoring"]),
        op["top_k"],
        op.get("normalize", False),
        correction,
        op.get("groups", 1),
        op.get("top_groups", 1),
        op.get("scale", 1.0),
        op.get("group_best", 2),
    )
    return [experts.astype(np.int32), weights]


@semantics("llm.router", "input weight bias? correction?")
def router(op, input, weight, bias, correction):
    experts, weights = choose(op, project(input, weight, bias), correction)
    if op.get("scale_tokens"):
        return [input * weights, experts, np.ones_like(weights)]
    return [input, experts, weights]


def copies(tokens, origins, k, weights):
    """The token of every copy, times the weight of its choice where there are weights."""
    rows = tokens[origins // k]
    return rows if weights is None else rows * weights.reshape(-1)[origins][:, None]


@semantics("llm.dispatch", "tokens indices weights?")
def dispatch(op, tokens, indices, weights):
    experts, k = op["experts"], indices.shape[1]
    chosen = indices.reshape(-1)
    origins = np.argsort(chosen, kind="stable")
    counts = np.bincount(chosen, minlength=experts).reshape(1, 1, experts)
    return [copies(tokens, origins, k, weights), counts, origins]


@semantics("llm.combine", "rows counts origins weights")
def combine(op, rows, counts, origins, weights):
    return [weighted_sum(rows, origins, np.ones_like(weights) if op.get("unweighted") else weights)]


def weighted_sum(rows, origins, weights):
    """Row t: the sum of its copies, each times its routing weight."""
    result = np.zeros((len(weights), rows.shape[1]))
    k = weights.shape[1]
    np.add.at(result, origins // k, rows * weights.reshape(-1)[origins][:, None])
    return result


def activate(x, activation, blocks=1):
    """Applies an activation to columns; gated ones are gate, up by block."""
    kind = enum(activation["kind"])
    function = getattr(numerics, kind)
    if kind == "silu":
        alpha = activation.get("alpha", 1.0)
        function = lambda gate: numerics.silu(gate, alpha)
    if kind == "soft_cap":
        return numerics.soft_cap(x * activation.get("alpha", 1.0), activation.get("limit"))
    if not activation.get("gated", False):
        return function(x)
    gate, up = np.moveaxis(numerics.split_last(x, blocks, 2, -1), 2, 0)
    limit, shift = activation.get("limit", 0.0), activation.get("shift", 0.0)
    return numerics.merge_last(numerics.gated(function, gate, up, limit, shift))


def expert_rows(rows, counts):
    """(expert, slice of rows) of packed rows [home][source][expert]."""
    homes, sources, experts = counts.shape
    assert rows % homes == 0, f"{rows} rows for {homes} homes"
    for home in range(homes):
        begin = home * (rows // homes)
        for source in range(sources):
            for expert in range(experts):
                end = begin + counts[home, source, expert]
                yield expert, slice(begin, end)
                begin = end
        assert begin <= (home + 1) * (rows // homes), "counts exceed their block"


def feed_forward(op, input, weight, bias, counts, activation):
    def one(x, w, b):
        y = project(x, w, b)
        return y if activation is None else activate(y, activation)

    if counts is None:
        return [one(input, weight, bias)]
    width = weight.shape[-1]
    if activation is not None and activation.get("gated", False):
        width //= 2
    result = np.zeros((len(input), width))
    for expert, rows in expert_rows(len(input), counts):
        if rows.start < rows.stop:
            b = None if bias is None else bias[expert]
            result[rows] = one(input[rows], weight[expert], b)
    return [result]


@semantics("llm.ffn_up", "input weight bias? counts? row_gate?")
def ffn_up(op, input, weight, bias, counts, row_gate):
    [result] = feed_forward(op, input, weight, bias, counts, op.get("activation"))
    if row_gate is not None:
        result = result * numerics.sigmoid(input @ row_gate)[:, None]
    return [result]


@semantics("llm.ffn_down", "input weight bias? counts?")
def ffn_down(op, input, weight, bias, counts):
    return feed_forward(op, input, weight, bias, counts, None)


# ---------------------------------------------------------------------------
# Head
# ---------------------------------------------------------------------------


@semantics("llm.lm_head", "input norm weight norm_bias? bias?")
def lm_head(op, input, norm, weight, norm_bias, bias):
    sequence = op.get("sequence", 1)
    last = input[sequence - 1 :: sequence]
    if norm_bias is None and not op.get("norm_mean"):
        normed = numerics.rms_norm(last, norm, op["epsilon"])
    else:
        normed = numerics.layer_norm(last, norm, norm_bias, op["epsilon"])
    logits = normed @ (weight.T if op.get("tied") else weight)
    if bias is not None:
        logits = logits + bias
    scaled = numerics.soft_cap(logits * op.get("logit_scale", 1.0), op.get("soft_cap"))
    return [logits.argmax(axis=-1).astype(np.int32), scaled]
