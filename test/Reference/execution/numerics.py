"""What the ops of a language model compute, on NumPy arrays in f64.

Activations have one row a token: [rows, features]; heads are split off as
[rows, heads, head size]. Every function is as direct as its formula.
"""

import math

import numpy as np


def split_last(x, *sizes):
    """x with its last dim split; one size may be -1. Also where x has no rows."""
    known = math.prod(size for size in sizes if size != -1)
    sizes = [x.shape[-1] // known if size == -1 else size for size in sizes]
    return x.reshape(*x.shape[:-1], *sizes)


def merge_last(x, dims=2):
    """The inverse: the last dims as one."""
    return x.reshape(*x.shape[:-dims], math.prod(x.shape[-dims:]))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rms_norm(x, weight, epsilon):
    """Scales rows to a root mean square of one, then by `weight` where there is one."""
    normed = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + epsilon)
    return normed if weight is None else normed * weight


def layer_norm(x, weight, bias, epsilon):
    """Scales deviations from the mean of a row to a variance of one, then by `weight`."""
    normed = rms_norm(x - x.mean(axis=-1, keepdims=True), weight, epsilon)
    return normed if bias is None else normed + bias


def head_norm(kind, x, weight, epsilon):
    """Norms heads [rows, heads, size]: each with one weight, or as `kind` says."""
    if kind is None:
        return rms_norm(x, weight, epsilon)
    weight = weight.reshape(x.shape[1:])
    if kind == "mean":
        return layer_norm(x, weight, None, epsilon)
    squares = (x * x).mean(axis=(1, 2), keepdims=True)
    return x / np.sqrt(squares + epsilon) * weight


def temperature(positions, floor, scale):
    """Factors of queries that grow with their positions: [rows, 1, 1]."""
    seen = np.maximum(np.asarray(positions) + 1, 0)
    return (1 + scale * np.log1p(seen // floor))[:, None, None]


# ---------------------------------------------------------------------------
# Rotary embedding
# ---------------------------------------------------------------------------


def frequencies(size, theta):
    """Rotations a token of the pairs of a head of `size`: [size / 2]."""
    return theta ** (-np.arange(0, size, 2) / size)


def llama3_frequencies(plain, factor, low, high, original):
    """Llama 3: long wavelengths slowed by `factor`, short ones kept, a ramp between."""
    wavelength = 2 * math.pi / plain
    smooth = np.clip((original / wavelength - low) / (high - low), 0, 1)
    return (1 - smooth) * plain / factor + smooth * plain


def yarn_frequencies(plain, theta, factor, beta_fast, beta_slow, original, truncate):
    """YaRN (arXiv 2309.00071): interpolation of the slow pairs only."""
    size = 2 * len(plain)

    def pair_that_turns(times):
        return size * math.log(original / (times * 2 * math.pi)) / (2 * math.log(theta))

    low, high = pair_that_turns(beta_fast), pair_that_turns(beta_slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, size - 1)
    if low == high:
        high += 0.001
    ramp = np.clip((np.arange(size // 2) - low) / (high - low), 0, 1)
    return plain / factor * ramp + plain * (1 - ramp)


def rotate(x, positions, inverse_frequencies, magnitude=1.0, interleaved=False):
    """Rotates the pairs of every head by the angle of its row's position.

    x: [rows, heads, size]. Pairs are (i, i + size/2), or (2i, 2i + 1) when
    interleaved. Results are in the order of the first form in both cases.
    """
    angles = positions[:, None, None] * inverse_frequencies
    cos, sin = np.cos(angles) * magnitude, np.sin(angles) * magnitude
    if interleaved:
        a, b = x[..., 0::2], x[..., 1::2]
    else:
        a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


# ---------------------------------------------------------------------------
# Attention
# ---------------------------------------------------------------------------


def visible(position, length, window, chunked=False):
    """Which of `length` cached positions a token at `position` sees."""
    keys = np.arange(length)
    seen = keys <= position
    if window is not None and chunked:
        return seen & (keys >= position - position % window)
    return seen if window is None else seen & (keys > position - window)


def attend(scores, seen, sinks=None):
    """Softmax over the keys seen; a sink is one more key without a value.

    scores: [heads, keys]; seen: [keys]; sinks: [heads].
    """
    scores = np.where(seen, scores, -np.inf)
    if sinks is None:
        return softmax(scores)
    return softmax(np.concatenate([scores, sinks[:, None]], axis=-1))[:, :-1]


def soft_cap(x, cap=None):
    """Bounded to (-cap, cap), smoothly; x where there is no cap."""
    return cap * np.tanh(x / cap) if cap else x


def gqa(
    q,
    keys,
    values,
    positions,
    sequence,
    scale,
    kv_of_head,
    window=None,
    sinks=None,
    cap=None,
    chunked=False,
    chosen=None,
):
    """Attention of queries over caches that hold their own keys already.

    q: [rows, heads, size]; keys, values: [sequences, length, kv heads, size];
    kv_of_head: the kv head that each query head reads; chosen: which positions each row
    reads of those that it sees. Rows of a negative
    position are padding and give zeros.
    """
    result = np.zeros(q.shape[:2] + values.shape[-1:])
    for row, (query, position) in enumerate(zip(q, positions)):
        if position < 0:
            continue
        k = keys[row // sequence][:, kv_of_head]
        v = values[row // sequence][:, kv_of_head]
        scores = soft_cap(np.einsum("hd,lhd->hl", query, k) * scale, cap)
        seen = visible(position, len(k), window, chunked)
        if chosen is not None:
            seen &= chosen[row]
        result[row] = np.einsum("hl,lhd->hd", attend(scores, seen, sinks), v)
    return result


def index(q, keys, gates, positions, sequence, count):
    """Which positions an indexer chooses for each row: bool [rows, length].

    q: [rows, heads, size]; keys: [sequences, length, size]; gates: [rows, heads].
    """
    chosen = np.zeros((len(q), keys.shape[1]), bool)
    for row, position in enumerate(positions):
        met = np.maximum(q[row] @ keys[row // sequence].T, 0)
        scores = np.where(visible(position, keys.shape[1], None), gates[row] @ met, -np.inf)
        chosen[row, top_k(scores, count)] = True
    return chosen


# ---------------------------------------------------------------------------
# Mixture of experts
# ---------------------------------------------------------------------------


def top_k(scores, k):
    """Indices of the k largest, largest first, the first of equals first."""
    return np.argsort(-scores, axis=-1, kind="stable")[..., :k]


def route(
    logits,
    scoring,
    k,
    normalize=False,
    correction=None,
    groups=1,
    top_groups=1,
    scale=1.0,
    group_best=2,
):
    """(experts, weights) of every row, each [rows, k].

    scoring: "softmax" over all experts, or "sigmoid". The correction takes part
    in the choice and not in the weights. Groups are ranked by the sum of their
    `group_best` best corrected scores.
    """
    scores = softmax(logits) if scoring == "softmax" else sigmoid(logits)
    choice = scores if correction is None else scores + correction
    if groups > 1:
        grouped = split_last(choice, groups, -1)
        best = np.sort(grouped, axis=-1)[..., -group_best:].sum(axis=-1)
        kept = np.zeros((len(choice), groups, 1), bool)
        np.put_along_axis(kept, top_k(best, top_groups)[..., None], True, axis=1)
        choice = merge_last(np.where(kept, grouped, -np.inf))
    experts = top_k(choice, k)
    weights = np.take_along_axis(scores, experts, -1)
    if normalize:
        weights = weights / weights.sum(axis=-1, keepdims=True)
    return experts, weights * scale


# ---------------------------------------------------------------------------
# Activations
# ---------------------------------------------------------------------------

erf = np.vectorize(math.erf, otypes=[float])


def silu(x, alpha=1.0):
    return x * sigmoid(alpha * x)


def gelu(x):
    return x / 2 * (1 + erf(x / math.sqrt(2)))


def gelu_tanh(x):
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def relu(x):
    return np.maximum(x, 0)


def relu2(x):
    return relu(x) ** 2


def gated(function, gate, up, limit=0.0, shift=0.0):
    """`function(gate) * (up + shift)`, both clamped first where limit > 0."""
    if limit > 0:
        gate, up = np.minimum(gate, limit), np.clip(up, -limit, limit)
    return function(gate) * (up + shift)
