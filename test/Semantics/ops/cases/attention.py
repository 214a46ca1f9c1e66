"""Attention of both forms and repeats of layers."""

from .case import Case, i32, op, random

LENGTH = 9  # positions of a cache
DECODE = i32(4, 0, -1, 8, 2)
PREFILL = i32(0, 1, 2, 0, 1, -1, 2, 3, 4)


def gqa(
    name, attributes="", extra=None, form="", positions=DECODE, heads=6, kv=2, size=8, sequence=1
):
    queries = 2 * heads if "gated" in attributes else heads
    prompts = -(-len(positions) // sequence)
    cache = f"tensor<?x?x{kv}x{size}xf32>"
    operands = {
        "%x": f"tensor<?x{(queries + 2 * kv) * size}xf32>",
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
    "longrope": "dim = 8, theta = 1.0e2, scaling = longrope, magnitude = 1.3, "
    "divisors = [1.0, 1.5, 2.25, 4.0]",
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
    yield gqa("gqa with norms without weights", rope + ", epsilon = 1.0e-3")
    norms = {"%qn": "tensor<48xf32>", "%kn": "tensor<16xf32>"}
    for kind in ("all_heads", "mean"):
        attributes = f"{rope}, epsilon = 1.0e-3, qk_norm = #llm.head_norm<{kind}>"
        yield gqa(f"gqa with norms, {kind}", attributes, norms, " q_norm({}) k_norm({})")
    temperature = ", temperature = #llm.temperature<floor = 3, scale = 0.4>"
    yield gqa("gqa with a temperature", temperature)
    yield gqa("gqa in chunks", rope + ", window = 3, chunked")
    yield gqa(
        "gqa, prefill in chunks with a temperature",
        temperature + ", window = 2, chunked",
        positions=PREFILL,
        sequence=3,
    )
    sinks = {"%s": "tensor<6xf32>"}
    yield gqa("gqa with sinks", rope, sinks, " sinks({})")
    yield gqa("gqa with a window", rope + ", window = 3")
    yield gqa("gqa with capped scores", rope + ", soft_cap = 0.4", sinks, " sinks({})")
    yield gqa("gqa with sinks and a window", rope + ", window = 2", sinks, " sinks({})")
    offset = {"%o": "index"}
    # Of 15 heads in groups of 5, the 6 from the third on: of two kv heads.
    yield gqa("gqa of uneven groups", rope + ", group = 5", offset, " head_offset({})")
    yield gqa("gqa, prefill", rope, positions=PREFILL, sequence=3)
    yield gqa("gqa, prefill with a window", rope + ", window = 2", positions=PREFILL, sequence=3)
    yield gqa("gqa of no row", rope, positions=i32())
    yield gqa("gqa with gates", rope + ", gated")
    yield gqa("gqa with gates, prefill", rope + ", gated", positions=PREFILL, sequence=3)


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
    yield mla("mla with capped scores", rope + ", soft_cap = 0.4")
    yield mla("mla with sinks", rope, sinks, " sinks({})")
    yield mla("mla, prefill", rope, positions=PREFILL, sequence=3)


def cut_heads():
    cache = "tensor<?x?x2x4xf32>"
    pairs = [(f" of pairs from {offset}", offset, "") for offset in (0, 2, 4, 6)]
    windows = [(" of a window", 0, ", window = 3"), (" of chunks", 0, ", window = 3, chunked")]
    for name, offset, more in pairs + windows:  # of five pairs: some are padding
        yield op(
            "attention_scores" + name,
            "attention_scores",
            {"%x": "tensor<?x32xf32>", "%p": "tensor<?xi32>", "%k": cache, "%o": "index"},
            ["tensor<?x6x?xf32>", cache],
            "heads = 6, kv_heads = 2, head_dim = 4, group = 3, scale = 0.3, "
            "rope = #llm.rope<dim = 10, theta = 1.0e2>" + more,
            form="{} at({}) cache({}) pair_offset({})",
            given={"p": DECODE, "k": random(5, LENGTH, 2, 4), "ot": i32(offset)},
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
    windowed = {**given, "s": random(5, 6, 3)}
    form = "{}, {} at({}) cache({})"
    yield op("attention_values", "attention_values", values, results, sizes, form=form, given=given)
    yield op(
        "attention_values of capped scores",
        "attention_values",
        values,
        results,
        sizes + ", soft_cap = 0.4",
        form=form,
        given=given,
    )
    yield op(
        "attention_values in chunks",
        "attention_values",
        values,
        results,
        sizes + ", window = 3, chunked",
        form=form,
        given=windowed,
    )
    for name, more in (("window", ", window = 3"), ("chunk", ", window = 3, chunked")):
        yield op(
            f"attention_values with a {name} of scores of the whole cache",
            "attention_values",
            values,
            results,
            sizes + more,
            form=form,
            given=given,
        )
    yield op(
        "attention_values with sinks and a window",
        "attention_values",
        {**values, "%z": "tensor<6xf32>"},
        results,
        sizes + ", window = 3",
        form=form + " sinks({})",
        given=windowed,
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
