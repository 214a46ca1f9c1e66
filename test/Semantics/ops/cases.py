"""One case an op, piece or option: a function and what it is called with.

Sizes are odd where they may be. Arguments are random unless a case gives them.
"""

import dataclasses
import itertools

import numpy as np


@dataclasses.dataclass
class Case:
    """A function, by its arguments' types, its results' and its body.

    rows: the size that `?` stands for; arguments with others are given.
    visible: whether only positions that rows see are compared (of scores).
    """

    name: str
    arguments: str
    results: str
    body: str
    rows: int = 5
    given: dict = dataclasses.field(default_factory=dict)
    visible: bool = False

    @property
    def types(self):
        """The type of each argument, by name."""
        pairs = (pair.split(":") for pair in split_types(self.arguments))
        return {name.strip()[1:]: type_.strip() for name, type_ in pairs}

    def text(self, function):
        """The case as a function of that name."""
        return f"func.func @{function}({self.arguments}) -> ({self.results}) {{\n{self.body}\n}}\n"

    def inputs(self):
        """The values of the arguments, in order."""
        rng = np.random.default_rng(7)
        return [self.input(rng, name, type_) for name, type_ in self.types.items()]

    def input(self, rng, name, type_):
        *shape, element = type_[len("tensor<") : -1].split("x")
        if name in self.given:
            return np.asarray(self.given[name], np.int32 if element == "i32" else np.float32)
        assert element in ("f32", "bf16"), f"{self.name}: give {name}"
        shape = [self.rows if d == "?" else int(d) for d in shape]
        return rng.normal(size=shape).astype(np.float32)


def split_types(text):
    """Splits at commas that are not inside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "<([") - (letter in ">)]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip()]


# Ops that are written with a name.
NAMED = {
    "attention", "combine", "dispatch", "embedding", "ffn_down", "ffn_up", "linear", "lm_head",
    "out_proj", "qkv_proj", "rms_norm", "router",
}  # fmt: skip


def op(name, mnemonic, operands, results, attributes="", *, form="", **options):
    """A case of a single op. operands: {"%name": type}; results: their types.

    form: how operands are written, if not one after the other. An index is a
    tensor of one integer to the caller.
    """
    arguments, lines = [], []
    for value, type_ in operands.items():
        if type_ != "index":
            arguments.append(f"{value}: {type_}")
            continue
        arguments.append(f"{value}t: tensor<1xi32>")
        lines += [
            f"  {value}z = arith.constant 0 : index",
            f"  {value}i = tensor.extract {value}t[{value}z] : tensor<1xi32>",
            f"  {value} = arith.index_cast {value}i : i32 to index",
        ]
    written = (form or ", ".join(["{}"] * len(operands))).format(*operands)
    kind = mnemonic.split()[0]
    called = f'{mnemonic} "{kind}"' if kind in NAMED else mnemonic
    types, outs = ", ".join(operands.values()), ", ".join(results)
    names = [f"%r{i}" for i in range(len(results))]
    lines += [
        f"  {', '.join(names)} = llm.{called} {written} {{{attributes}}} : ({types}) -> ({outs})",
        f"  return {', '.join(names)} : {outs}",
    ]
    return Case(name, ", ".join(arguments), outs, "\n".join(lines), **options)


def i32(*values):
    return np.array(values, np.int32)


def random(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape)


X = "tensor<?x12xf32>"


# ---------------------------------------------------------------------------
# Embedding, norms, projections
# ---------------------------------------------------------------------------


def embeddings():
    table = {"%t": "tensor<?xi32>", "%w": "tensor<11x6xf32>"}
    tokens = {"t": i32(3, 10, 0, 3, 7)}
    yield op("embedding", "embedding", table, ["tensor<?x6xf32>"], given=tokens)
    yield op(
        "embedding of a part of the vocabulary",
        "embedding",
        {**table, "%o": "index"},
        ["tensor<?x6xf32>"],
        form="{}, {} offset({})",
        given={"t": i32(3, 10, 13, 14, 3, 13, 2), "ot": i32(3)},
    )


def norms():
    yield op(
        "rms_norm",
        "rms_norm",
        {"%x": X, "%w": "tensor<12xf32>"},
        [X],
        "epsilon = 1.0e-2",
        form="{} weight({})",
    )
    yield op(
        "rms_norm with a residual",
        "rms_norm",
        {"%x": X, "%s": X, "%w": "tensor<12xf32>"},
        [X, X],
        "epsilon = 1.0e-5",
        form="{} residual({}) weight({})",
    )
    add = "  %r = llm.add %x, %y : tensor<?x12xf32>\n  return %r : tensor<?x12xf32>"
    yield Case("add", f"%x: {X}, %y: {X}", X, add)


def projections():
    x, w, b = {"%x": X}, {"%w": "tensor<12x28xf32>"}, {"%b": "tensor<28xf32>"}
    y, bias = ["tensor<?x28xf32>"], "{}, {} bias({})"
    heads = "heads = 5, kv_heads = 1, head_dim = 4"
    yield op("qkv_proj", "qkv_proj", {**x, **w}, y, heads)
    yield op("qkv_proj with a bias", "qkv_proj", {**x, **w, **b}, y, heads, form=bias)
    yield op("out_proj", "out_proj", {**x, **w}, y, "heads = 3")
    out = op("out_proj with a bias", "out_proj", {**x, **w, **b}, y, "heads = 3", form=bias)
    yield out
    yield dataclasses.replace(out, name="out_proj of one row", rows=1)
    yield dataclasses.replace(out, name="out_proj of no row", rows=0)
    yield op("linear", "linear", {**x, **w}, y)
    yield op(
        "linear with a norm and a bias",
        "linear",
        {**x, **w, "%n": "tensor<12xf32>", **b},
        y,
        "epsilon = 1.0e-3",
        form="{}, {} norm({}) bias({})",
    )
    yield op(
        "linear, transposed",
        "linear",
        {**x, "%w": "tensor<28x12xf32>"},
        y,
        "transposed",
    )
    yield op(
        "linear in bf16",
        "linear",
        {"%x": "tensor<?x12xbf16>", "%w": "tensor<12x28xbf16>"},
        ["tensor<?x28xbf16>"],
    )


# ---------------------------------------------------------------------------
# Attention
# ---------------------------------------------------------------------------

LENGTH = 9  # positions of a cache
DECODE = i32(4, 0, -1, 8, 2)
PREFILL = i32(0, 1, 2, 0, 1, -1, 2, 3, 4)


def gqa(name, attributes="", extra=None, form="", positions=DECODE, heads=6, kv=2, size=8, sequence=1):
    prompts = -(-len(positions) // sequence)
    cache = f"tensor<?x?x{kv}x{size}xf32>"
    operands = {
        "%x": f"tensor<?x{(heads + 2 * kv) * size}xf32>",
        "%p": "tensor<?xi32>",
        "%k": cache,
        "%v": cache,
        **(extra or {}),
    }
    group = "" if "group" in attributes else f", group = {heads // kv}"
    return op(
        name,
        "attention gqa",
        operands,
        [f"tensor<?x{heads * size}xf32>", cache, cache],
        f"heads = {heads}, kv_heads = {kv}, head_dim = {size}, scale = 0.4, "
        f"sequence = {sequence}{group}{attributes}",
        form="{} at({}) cache({}, {})" + form,
        rows=len(positions),
        given={
            "p": positions,
            "k": random(prompts, LENGTH, kv, size, seed=2),
            "v": random(prompts, LENGTH, kv, size, seed=3),
            "ot": i32(3),
        },
    )


ROPES = {
    "plain": "dim = 8, theta = 1.0e2",
    "of a part of the features": "dim = 6, theta = 1.0e2",
    "interleaved": "dim = 8, theta = 1.0e2, style = interleaved",
    "linear": "dim = 8, theta = 1.0e2, scaling = linear, factor = 2.5",
    "llama3": "dim = 8, theta = 1.0e2, scaling = llama3, factor = 8.0, low_freq_factor = 1.0, "
    "high_freq_factor = 4.0, original_context = 32",
    "yarn": "dim = 8, theta = 1.0e2, scaling = yarn, factor = 4.0, original_context = 32, magnitude = 1.2",
    "yarn, not truncated": "dim = 8, theta = 1.0e2, scaling = yarn, factor = 4.0, "
    "beta_fast = 3.0, original_context = 32, truncate = false",
}


def gqa_attentions():
    for name, rope in ROPES.items():
        yield gqa(f"gqa with rope, {name}", f", rope = #llm.rope<{rope}>")
    rope = f", rope = #llm.rope<{ROPES['plain']}>"
    yield gqa("gqa without rope")
    yield gqa("gqa, a head a kv head", rope, heads=3, kv=3)
    yield gqa("gqa, one kv head", rope, heads=5, kv=1)
    norms = {"%qn": "tensor<8xf32>", "%kn": "tensor<8xf32>"}
    yield gqa("gqa with norms", rope + ", epsilon = 1.0e-3", norms, " q_norm({}) k_norm({})")
    sinks = {"%s": "tensor<6xf32>"}
    yield gqa("gqa with sinks", rope, sinks, " sinks({})")
    yield gqa("gqa with a window", rope + ", window = 3")
    yield gqa("gqa with sinks and a window", rope + ", window = 2", sinks, " sinks({})")
    offset = {"%o": "index"}
    # Of 15 heads in groups of 5, the 6 from the third on: of two kv heads.
    yield gqa("gqa of uneven groups", rope + ", group = 5", offset, " head_offset({})")
    yield gqa("gqa, prefill", rope, positions=PREFILL, sequence=3)
    yield gqa("gqa, prefill with a window", rope + ", window = 2", positions=PREFILL, sequence=3)
    yield gqa("gqa of no row", rope, positions=i32())


def mla(name, attributes="", extra=None, form="", positions=DECODE, sequence=1):
    heads, nope, rotary, value, rank = 3, 5, 4, 7, 6
    prompts = -(-len(positions) // sequence)
    cache = f"tensor<?x?x{rank + rotary}xf32>"
    operands = {
        "%x": f"tensor<?x{heads * (nope + rotary)}xf32>",
        "%l": f"tensor<?x{rank + rotary}xf32>",
        "%p": "tensor<?xi32>",
        "%c": cache,
        **(extra or {}),
        "%n": f"tensor<{rank}xf32>",
        "%u": f"tensor<{rank}x{heads * (nope + value)}xf32>",
    }
    return op(
        name,
        "attention mla",
        operands,
        [f"tensor<?x{heads * value}xf32>", cache],
        f"heads = {heads}, nope_dim = {nope}, rope_dim = {rotary}, value_dim = {value}, "
        f"rank = {rank}, scale = 0.3, kv_norm_epsilon = 1.0e-3, sequence = {sequence}{attributes}",
        form="{}, {} at({}) cache({})" + form + " kv_norm({}) kv_up({})",
        rows=len(positions),
        given={"p": positions, "c": random(prompts, LENGTH, rank + rotary, seed=2)},
    )


def mla_attentions():
    rope = ", rope = #llm.rope<dim = 4, theta = 1.0e2, style = interleaved>"
    sinks = {"%s": "tensor<3xf32>"}
    yield mla("mla", rope)
    yield mla("mla without rope")
    yield mla("mla with a window", rope + ", window = 3")
    yield mla("mla with sinks", rope, sinks, " sinks({})")
    yield mla("mla, prefill", rope, positions=PREFILL, sequence=3)


def cut_heads():
    cache = "tensor<?x?x2x4xf32>"
    for offset in (0, 2, 4, 6):  # of five pairs: whole, half padding, all padding
        yield op(
            f"attention_scores of pairs from {offset}",
            "attention_scores",
            {"%x": "tensor<?x32xf32>", "%p": "tensor<?xi32>", "%k": cache, "%o": "index"},
            ["tensor<?x6x?xf32>", cache],
            "heads = 6, kv_heads = 2, head_dim = 4, group = 3, scale = 0.3, "
            "rope = #llm.rope<dim = 10, theta = 1.0e2>",
            form="{} at({}) cache({}) pair_offset({})",
            given={"p": DECODE, "k": random(5, LENGTH, 2, 4), "ot": i32(offset)},
            visible=True,
        )
    values = {
        "%s": "tensor<?x6x?xf32>",
        "%x": "tensor<?x8xf32>",
        "%p": "tensor<?xi32>",
        "%v": cache,
    }
    results = ["tensor<?x24xf32>", cache]
    sizes = "heads = 6, kv_heads = 2, head_dim = 4, group = 3"
    given = {"s": random(5, 6, LENGTH), "p": DECODE, "v": random(5, LENGTH, 2, 4)}
    form = "{}, {} at({}) cache({})"
    yield op("attention_values", "attention_values", values, results, sizes, form=form, given=given)
    yield op(
        "attention_values with sinks and a window",
        "attention_values",
        {**values, "%z": "tensor<6xf32>"},
        results,
        sizes + ", window = 3",
        form=form + " sinks({})",
        given=given,
    )


# ---------------------------------------------------------------------------
# Layers
# ---------------------------------------------------------------------------


def repeats():
    x, cache = "tensor<?x12xf32>", "tensor<?x?x1x4xf32>"
    body = f"""
  %y:3 = llm.repeat 3 windows<WINDOWS> init(%r = %x : {x})
      caches(%kc = %k : tensor<3x?x?x1x4xf32>, %vc = %v : tensor<3x?x?x1x4xf32>)
      stacked(%wi = %w : tensor<3x12x20xf32>) invariants(%q = %p : tensor<?xi32>) {{
    %h = llm.qkv_proj "q" %r, %wi {{heads = 3, kv_heads = 1, head_dim = 4}} : {x} -> tensor<?x20xf32>
    %a:3 = llm.attention gqa "a" %h at(%q) cache(%kc, %vc)
        {{heads = 3, kv_heads = 1, head_dim = 4, group = 3, scale = 0.5}} : tensor<?x20xf32>, {cache} -> {x}
    %s = llm.add %r, %a#0 : {x}
    llm.yield %s, %a#1, %a#2 : {x}, {cache}, {cache}
  }}
  return %y#0, %y#1, %y#2 : {x}, tensor<3x?x?x1x4xf32>, tensor<3x?x?x1x4xf32>"""
    stacked = "tensor<3x?x?x1x4xf32>"
    for name, windows in {"full": "0, 0, 0", "windowed": "3, 3, 3", "both": "2, 0, 4"}.items():
        yield Case(
            f"repeat of layers, {name}",
            f"%x: {x}, %k: {stacked}, %v: {stacked}, %w: tensor<3x12x20xf32>, %p: tensor<?xi32>",
            f"{x}, {stacked}, {stacked}",
            body.replace("WINDOWS", windows),
            given={
                "k": random(3, 5, LENGTH, 1, 4, seed=2),
                "v": random(3, 5, LENGTH, 1, 4, seed=3),
                "p": DECODE,
            },
        )


# ---------------------------------------------------------------------------
# Mixture of experts
# ---------------------------------------------------------------------------


def routers():
    x, w = {"%x": X}, {"%w": "tensor<12x6xf32>"}
    bias, correction = {"%b": "tensor<6xf32>"}, {"%c": "tensor<6xf32>"}
    results = [X, "tensor<?x2xi32>", "tensor<?x2xf32>"]
    softmax = "scoring = #llm.scoring<softmax>, top_k = 2"
    sigmoid = "scoring = #llm.scoring<sigmoid>, top_k = 2"
    yield op("router", "router", {**x, **w}, results, softmax)
    yield op("router, normalised", "router", {**x, **w}, results, softmax + ", normalize = true")
    yield op(
        "router with a bias",
        "router",
        {**x, **w, **bias},
        results,
        sigmoid + ", scale = 2.5",
        form="{}, {} bias({})",
    )
    grouped = op(
        "router with groups and a correction",
        "router",
        {**x, **w, **correction},
        results,
        sigmoid + ", normalize = true, groups = 3, top_groups = 1, scale = 1.5",
        form="{}, {} correction({})",
        rows=13,
    )
    yield grouped
    yield dataclasses.replace(
        grouped,
        name="router with groups of one",
        body=grouped.body.replace("groups = 3, top_groups = 1", "groups = 6, top_groups = 2"),
    )
    tied = op("router whose scores are equal", "router", {**x, **w}, results, softmax)
    tied.given["w"] = np.zeros((12, 6))
    yield tied


def top_ks():
    results = ["tensor<?x3xi32>", "tensor<?x3xf32>"]
    yield op(
        "top_k of padded logits",
        "top_k",
        {"%l": "tensor<?x9xf32>"},
        results,
        "experts = 7, scoring = #llm.scoring<softmax>, top_k = 3, normalize = true",
    )
    yield op(
        "top_k with groups and ties",
        "top_k",
        {"%l": "tensor<?x8xf32>", "%c": "tensor<8xf32>"},
        results,
        "experts = 8, scoring = #llm.scoring<sigmoid>, top_k = 3, groups = 4, top_groups = 2",
        form="{} correction({})",
        given={
            "l": np.array([[0, 0, 0, 0, 0, 0, 0, 0], [1, 2, 1, 2, 2, 1, 0, 0], [0, 1, 2, 3, 3, 2, 1, 0]]),
            "c": np.zeros(8),
        },
    )


def dispatches():
    choices = i32(2, 0, 2, 4, 0, 2, 4, 0, 0, 2).reshape(5, 2)
    for name, indices in {
        "dispatch": choices,
        "dispatch, all to one expert": np.full((5, 2), 3, np.int32),
        "dispatch of one token": i32(4, 1).reshape(1, 2),
        "dispatch of no token": np.zeros((0, 2), np.int32),
    }.items():
        yield op(
            name,
            "dispatch",
            {"%t": X, "%i": "tensor<?x2xi32>"},
            [X, "tensor<1x1x5xi32>", "tensor<?xi32>"],
            "experts = 5",
            rows=len(indices),
            given={"i": indices},
        )
    origins = np.argsort(choices.reshape(-1), kind="stable").astype(np.int32)
    rows = {"%y": X, "%c": "tensor<1x1x5xi32>", "%o": "tensor<?xi32>", "%w": "tensor<?x2xf32>"}
    given = {"y": random(10, 12), "c": i32(4, 0, 4, 0, 2).reshape(1, 1, 5), "o": origins}
    yield op("combine", "combine", rows, [X], given=given)


ACTIVATIONS = {
    "silu": "kind = silu, gated = true",
    "silu, not gated": "kind = silu",
    "silu of gpt-oss": "kind = silu, gated = true, alpha = 1.702, limit = 0.7, shift = 1.0",
    "gelu": "kind = gelu",
    "gelu, gated": "kind = gelu, gated = true",
    "gelu_tanh": "kind = gelu_tanh",
    "relu": "kind = relu, gated = true, limit = 0.5",
}


def feed_forwards():
    for name, activation in ACTIVATIONS.items():
        width = 14 if "gated" in activation else 7
        attributes = f"activation = #llm.activation<{activation}>"
        yield op(
            f"ffn_up, {name}",
            "ffn_up",
            {"%x": X, "%w": f"tensor<12x{width}xf32>", "%b": f"tensor<{width}xf32>"},
            ["tensor<?x7xf32>"],
            attributes,
            form="{}, {} bias({})",
        )
    gated = f"activation = #llm.activation<{ACTIVATIONS['silu of gpt-oss']}>"
    for blocks, name in itertools.product((1, 3), ("gated", "plain")):
        width = 12 if name == "gated" else 6
        attribute = gated if name == "gated" else "activation = #llm.activation<kind = gelu>"
        body = (
            f"  %r = llm.activation %x {{{attribute}, blocks = {blocks}}} : "
            f"tensor<?x{width}xf32> -> tensor<?x6xf32>\n  return %r : tensor<?x6xf32>"
        )
        yield Case(
            f"activation, {name}, {blocks} blocks",
            f"%x: tensor<?x{width}xf32>",
            "tensor<?x6xf32>",
            body,
        )
    counts = {
        "one block": i32(3, 0, 5, 1).reshape(1, 1, 4),
        "padded homes": i32(1, 0, 2, 1, 0, 0, 0, 1, 0, 0, 3, 0, 1, 1, 0, 0).reshape(2, 2, 4),
        "all on one expert": i32(0, 0, 9, 0).reshape(1, 1, 4),
        "no rows": np.zeros((1, 1, 4), np.int32),
    }
    for name, value in counts.items():
        homes, sources, _ = value.shape
        block = value.sum(axis=(1, 2)).max() + (homes > 1)
        given = {"rows": homes * block, "given": {"c": value}}
        c = {"%c": f"tensor<{homes}x{sources}x4xi32>"}
        yield op(
            f"ffn_up of experts, {name}",
            "ffn_up",
            {"%x": X, "%w": "tensor<4x12x14xf32>", "%b": "tensor<4x14xf32>", **c},
            ["tensor<?x7xf32>"],
            gated,
            form="{}, {} bias({}) counts({})",
            **given,
        )
        yield op(
            f"ffn_down of experts, {name}",
            "ffn_down",
            {"%x": X, "%w": "tensor<4x12x5xf32>", **c},
            ["tensor<?x5xf32>"],
            form="{}, {} counts({})",
            **given,
        )
    yield op(
        "ffn_down",
        "ffn_down",
        {"%x": X, "%w": "tensor<12x5xf32>", "%b": "tensor<5xf32>"},
        ["tensor<?x5xf32>"],
        form="{}, {} bias({})",
    )


def exchanges():
    choices = i32(4, 0, -1, -1, 5, 2, 0, 4, 4, 1, -1, -1, 3, 5).reshape(7, 2)
    for homes in (1, 3):
        yield op(
            f"exchange_plan over {homes} homes",
            "exchange_plan",
            {"%i": "tensor<?x2xi32>", "%b": "index"},
            [f"tensor<2x{homes}x3xi32>", "tensor<?xi32>"],
            form="{} block({})",
            given={"i": choices, "bt": i32(3)},
        )
    yield op(
        "permute",
        "permute",
        {"%t": X, "%o": "tensor<?xi32>"},
        [X],
        "top_k = 3",
        given={"o": i32(14, 0, 7, 1, 1, 9)},
    )
    yield op(
        "unpermute",
        "unpermute",
        {"%y": X, "%o": "tensor<?xi32>", "%w": "tensor<?x3xf32>"},
        [X],
        given={"y": random(6, 12), "o": i32(14, 0, 7, 1, 3, 9)},
    )


def homes():
    counts = i32(1, 0, 2, 0, 1, 1, 0, 0, 0, 2, 1, 0).reshape(2, 3, 2)  # [source][home][expert]
    c, x = "tensor<2x3x2xi32>", "tensor<?x5xf32>"
    size = f"  %r = llm.block_size %c : {c}\n  return %r : tensor<1xi32>"
    yield Case("block_size", f"%c: {c}", "tensor<1xi32>", size, given={"c": counts})
    for block in (4, 6):
        yield op(
            f"pack_homes to {block} rows",
            "pack_homes",
            {"%x": x, "%c": c, "%b": "tensor<1xi32>"},
            [x, "tensor<3x2x2xi32>"],
            form="{}, {} block({})",
            rows=8,
            given={"c": counts, "b": i32(block)},
        )
        yield op(
            f"unpack_homes of {block} rows",
            "unpack_homes",
            {"%x": x, "%c": c},
            [x],
            rows=3 * block,
            given={"c": counts},
        )
    yield op(
        "pack_homes of no row",
        "pack_homes",
        {"%x": x, "%c": c, "%b": "tensor<1xi32>"},
        [x, "tensor<3x2x2xi32>"],
        form="{}, {} block({})",
        rows=0,
        given={"c": 0 * counts, "b": i32(0)},
    )


# ---------------------------------------------------------------------------
# Features
# ---------------------------------------------------------------------------


def features():
    def unary(name, mnemonic, attributes, result):
        body = f"  %r = llm.{mnemonic} %x {{{attributes}}} : ({X}) -> {result}\n  return %r : {result}"
        return Case(name, f"%x: {X}", result, body)

    runs = "runs = array<i64: 0, 2, 3, 2, 1, -1, 2, 1, 1, 0, 11, 1, 1, 1, 0>"
    yield unary("select_columns", "select_columns", runs, "tensor<?x7xf32>")
    yield unary("sum_squares", "sum_squares", "", "tensor<?x1xf32>")
    yield unary("sum_squares by group", "sum_squares", "groups = 4", "tensor<?x4xf32>")
    for groups in (1, 3):
        x, s, w = X, f"tensor<?x{groups}xf32>", f"tensor<{12 // groups}xf32>"
        body = (
            f"  %r = llm.scale_norm %x, %s, %w {{epsilon = 1.0e-2, size = 24}} : {x}, {s}\n"
            f"  return %r : {X}"
        )
        yield Case(
            f"scale_norm of {groups} groups",
            f"%x: {x}, %s: {s}, %w: {w}",
            X,
            body,
            given={"s": np.abs(random(5, groups))},
        )


# ---------------------------------------------------------------------------
# Head
# ---------------------------------------------------------------------------


def heads():
    norm, ids = {"%n": "tensor<12xf32>"}, "tensor<?xi32>"
    for name, shape, attributes in (
        ("lm_head", "12x17", ""),
        ("lm_head, tied", "17x12", ", tied"),
        ("lm_head, prefill", "12x17", ", sequence = 3"),
    ):
        yield op(
            name,
            "lm_head",
            {"%x": X, **norm, "%w": f"tensor<{shape}xf32>"},
            [ids, "tensor<?x17xf32>"],
            "epsilon = 1.0e-3" + attributes,
            form="{} norm({}) weight({})",
            rows=9,
        )
    last = {"%x": X, "%o": "index", "%p": "index"}
    for offset, rows in ((0, 9), (3, 4), (7, 0)):
        yield op(
            f"last_rows of {rows} rows from {offset}",
            "last_rows",
            last,
            [X],
            "sequence = 3",
            form="{} offset({}) prompts({})",
            rows=rows,
            given={"ot": i32(offset), "pt": i32(3)},
        )
    logits = np.array([[1, 3, 3, 0, 9], [-5, -6, -7, -5, 0], [2, 2, 2, 2, 2]], float)
    for offset in (0, 8, 15):
        yield op(
            f"argmax from {offset}",
            "argmax",
            {"%l": "tensor<?x5xf32>", "%o": "index"},
            ["tensor<?x2xi32>"],
            "vocabulary = 12",
            form="{} offset({})",
            given={"l": logits, "ot": i32(offset)},
        )
    values = np.array([[3, 4, 4], [-1, -2, -1], [0, 0, 0]], np.float32)
    indices = i32(1, 9, 7, 2, 9, 12, 0, 9, 8).reshape(3, 3)
    pairs = np.stack([values.view(np.int32), indices], axis=-1).reshape(3, 6)
    yield op(
        "argmax_merge", "argmax_merge", {"%c": "tensor<?x6xi32>"}, [ids], given={"c": pairs}
    )


def all_cases():
    groups = (
        embeddings, norms, projections, gqa_attentions, mla_attentions, cut_heads, repeats,
        routers, top_ks, dispatches, feed_forwards, exchanges, homes, features, heads,
    )
    return [case for group in groups for case in group()]
