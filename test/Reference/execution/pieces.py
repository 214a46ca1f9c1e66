"""What the pieces compute into which the lowering opens ops.

As in `semantics`; all sizes are those of one device. `llm.all_to_all_v` is a
collective and therefore the interpreter's.
"""

import numpy as np

from execution import numerics
from execution.semantics import activate, choose, copies, kv_head_of, semantics, tempered
from execution.semantics import turn, weighted_sum, write_cache
from execution.slices import entries, take

# ---------------------------------------------------------------------------
# Features
# ---------------------------------------------------------------------------


@semantics("llm.select_columns", "input")
def select_columns(op, input):
    return [take(input, entries(np.reshape(op["runs"], (-1, 5)).tolist()), axis=1)]


@semantics("llm.activation", "input")
def activation(op, input):
    return [activate(input, op["activation"], op.get("blocks", 1))]


@semantics("llm.sum_squares", "input")
def sum_squares(op, input):
    grouped = numerics.split_last(input, op.get("groups", 1), -1)
    squares = (grouped * grouped).sum(axis=-1)
    if not op.get("sums"):
        return [squares]
    return [np.concatenate([squares, grouped.sum(axis=-1)], axis=-1)]


@semantics("llm.scale_norm", "input squares weight? bias?")
def scale_norm(op, input, squares, weight, bias):
    means = np.zeros_like(squares)
    if bias is not None or op.get("sums"):
        squares, sums = np.split(squares, 2, axis=-1)
        means = sums / op["size"]
    grouped = numerics.split_last(input, squares.shape[1], -1)
    variances = np.maximum(squares / op["size"] - means * means, 0.0)
    root = np.sqrt(variances + op["epsilon"])[..., None]
    normed = (grouped - means[..., None]) / root
    if weight is not None:
        width = grouped.shape[2]
        normed = normed * (weight if len(weight) == width else weight.reshape(-1, width))
    return [numerics.merge_last(normed if bias is None else normed + bias)]


@semantics("llm.scale_rows", "input weights")
def scale_rows(op, input, weights):
    return [input * weights]


# ---------------------------------------------------------------------------
# Attention with cut head features
# ---------------------------------------------------------------------------


def seen_by(op, position, length, window):
    """Where the positions are that a row sees, of `length` in its cache."""
    window, chunked = op.get("window", window), op.get("chunked", False)
    return np.flatnonzero(numerics.visible(position, length, window, chunked))


@semantics("llm.attention_scores", "input positions cache pair_offset", context="window")
def attention_scores(op, input, positions, cache, pair_offset, window):
    heads, size = op["heads"], op["head_dim"]
    x = numerics.split_last(input, -1, size)
    pairs = slice(pair_offset, pair_offset + size // 2)
    x = turn_padded(x, positions, op.get("rope"), pairs)
    keys = write_cache(cache, x[:, heads:], positions, 1)
    readers = kv_head_of(heads, op["kv_heads"], op["group"], 0)
    queries = tempered(op, x[:, :heads], positions)
    everywhere = np.einsum("rhd,rlhd->rhl", queries, keys[:, :, readers]) * op["scale"]
    length = keys.shape[1]
    scores = np.zeros((*everywhere.shape[:2], min(length, op.get("window", window) or length)))
    for row, position in enumerate(positions):
        seen = seen_by(op, position, length, window)
        scores[row, :, : len(seen)] = everywhere[row][:, seen]
    return [scores, keys]


def turn_padded(x, positions, rope, pairs):
    """As `turn` where the last pairs of the device may be padding."""
    if rope is None:
        return x
    missing = min(max(0, pairs.stop - rope["dim"] // 2), pairs.stop - pairs.start)
    if missing == 0:
        return turn(x, positions, rope, pairs)
    first, second = np.split(x, 2, axis=-1)
    held = first.shape[-1] - missing
    true = np.concatenate([first[..., :held], second[..., :held]], axis=-1)
    if held > 0:
        true = turn(true, positions, rope, slice(pairs.start, pairs.start + held))
    first, second = np.split(true, 2, axis=-1)
    pad = ((0, 0), (0, 0), (0, missing))
    return np.concatenate([np.pad(first, pad), np.pad(second, pad)], axis=-1)


@semantics("llm.attention_values", "scores input positions cache sinks?", context="window")
def attention_values(op, scores, input, positions, cache, sinks, window):
    rows = numerics.split_last(input, -1, op["head_dim"])
    values = write_cache(cache, rows, positions, 1)
    readers = kv_head_of(op["heads"], op["kv_heads"], op["group"], 0)
    result = np.zeros((len(scores), op["heads"], op["head_dim"]))
    for row, position in enumerate(positions):
        if position < 0:
            continue
        seen = seen_by(op, position, values.shape[1], window)
        is_whole = scores.shape[2] == values.shape[1]
        places = seen if is_whole else np.arange(len(seen))
        capped = numerics.soft_cap(scores[row][:, places], op.get("soft_cap"))
        weights = numerics.attend(capped, True, sinks)
        result[row] = np.einsum("hl,lhd->hd", weights, values[row, seen][:, readers])
    return [numerics.merge_last(result), values]


# ---------------------------------------------------------------------------
# Routing
# ---------------------------------------------------------------------------


@semantics("llm.top_k", "logits correction?")
def top_k(op, logits, correction):
    return choose(op, logits[:, : op["experts"]], correction)


@semantics("llm.exchange_plan", "indices block")
def exchange_plan(op, indices, block):
    destinations, homes, experts = op.results[0].type.shape
    k = indices.shape[1]
    copies = indices.reshape(-1)
    rows = np.arange(len(copies)) // k
    home = rows // block if homes > 1 else np.zeros_like(rows)
    sent = np.flatnonzero(copies >= 0)
    keys = (copies[sent] % experts, home[sent], copies[sent] // experts)
    origins = sent[np.lexsort(keys)]  # stable: rows and choices stay in order
    counts = np.zeros((destinations, homes, experts), int)
    np.add.at(counts, keys[::-1], 1)
    return [counts, origins]


@semantics("llm.permute", "tokens origins weights?")
def permute(op, tokens, origins, weights):
    return [copies(tokens, origins, op["top_k"], weights)]


@semantics("llm.unpermute", "rows origins weights")
def unpermute(op, rows, origins, weights):
    return [weighted_sum(rows, origins, np.ones_like(weights) if op.get("unweighted") else weights)]


@semantics("llm.block_size", "counts")
def block_size(op, counts):
    return [counts.sum(axis=(0, 2)).max(keepdims=True)]


def home_order(counts):
    """For packed rows [source][home][expert]: their homes, row by row."""
    sources, homes, _ = counts.shape
    return np.repeat(np.tile(np.arange(homes), sources), counts.sum(axis=2).reshape(-1))


@semantics("llm.pack_homes", "rows counts block")
def pack_homes(op, rows, counts, block):
    (block,) = block
    homes = counts.shape[1]
    home = home_order(counts)
    result = np.zeros((homes * block, rows.shape[1]))
    for h in range(homes):
        mine = rows[home == h]
        result[h * block : h * block + len(mine)] = mine
    return [result, counts.swapaxes(0, 1)]


@semantics("llm.unpack_homes", "rows counts")
def unpack_homes(op, rows, counts):
    homes = counts.shape[1]
    home = home_order(counts)
    block = len(rows) // homes
    result = np.zeros((len(home), rows.shape[1]))
    for h in range(homes):
        mine = home == h
        result[mine] = rows[h * block : h * block + mine.sum()]
    return [result]


# ---------------------------------------------------------------------------
# Head
# ---------------------------------------------------------------------------


@semantics("llm.last_rows", "input offset prompts")
def last_rows(op, input, offset, prompts):
    rows = (np.arange(prompts) + 1) * op["sequence"] - 1 - offset
    inside = (rows >= 0) & (rows < len(input))
    if not len(input):
        return [np.zeros((prompts, input.shape[1]))]
    return [np.where(inside[:, None], input[np.where(inside, rows, 0)], 0.0)]


@semantics("llm.argmax", "logits offset")
def argmax(op, logits, offset):
    index = np.arange(logits.shape[1]) + offset
    masked = np.where(index < op["vocabulary"], logits, -np.inf)
    best = masked.argmax(axis=1)
    values = np.take_along_axis(masked, best[:, None], 1).astype(np.float32)
    return [np.concatenate([values.view(np.int32), index[best][:, None]], axis=1)]


@semantics("llm.argmax_merge", "candidates")
def argmax_merge(op, candidates):
    pairs = numerics.split_last(candidates.astype(np.int32), -1, 2)
    values = pairs[..., 0].copy().view(np.float32)
    best = np.empty(len(pairs), np.int32)
    for row, (value, index) in enumerate(zip(values, pairs[..., 1])):
        best[row] = index[value == value.max()].min()
    return [best]
