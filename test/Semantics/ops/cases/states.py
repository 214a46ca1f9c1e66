"""Mixers with a state."""

from .case import i32, op, random

DECODE = i32(4, 0, -1, 8, 2)
PREFILL = i32(0, 1, 2, 3, 4, -1, 5, 6, 7)


def delta_net(name, positions=DECODE, sequence=1, heads=2, each=3, taps=4):
    key_dim, value_dim = 5, 7
    values = each * value_dim
    channels = heads * (2 * key_dim + values)
    prompts = -(-len(positions) // sequence)
    conv_state = f"tensor<?x{taps - 1}x{channels}xf32>"
    state = f"tensor<?x{heads * each}x{key_dim}x{value_dim}xf32>"
    heads_type = f"tensor<{heads * each}xf32>"
    operands = {
        "%x": f"tensor<?x{heads * (2 * key_dim + 2 * values + 2 * each)}xf32>",
        "%p": "tensor<?xi32>",
        "%c": conv_state,
        "%s": state,
        "%w": f"tensor<{taps}x{channels}xf32>",
        "%d": heads_type,
        "%b": heads_type,
        "%n": f"tensor<{value_dim}xf32>",
    }
    return op(
        name,
        "gated_delta_net",
        operands,
        [f"tensor<?x{heads * values}xf32>", conv_state, state],
        f"heads = {heads}, value_heads = {heads * each}, key_dim = {key_dim}, "
        f"value_dim = {value_dim}, epsilon = 1.0e-3, sequence = {sequence}",
        form="{} at({}) conv_state({}) state({}) conv({}) decay({}) step_bias({}) norm({})",
        rows=len(positions),
        given={
            "p": positions,
            "c": random(prompts, taps - 1, channels, seed=2),
            "s": random(prompts, heads * each, key_dim, value_dim, seed=3),
        },
    )


def delta_nets():
    yield delta_net("gated delta net")
    yield delta_net("gated delta net, a value head a key head", each=1)
    yield delta_net("gated delta net, two taps", heads=3, each=2, taps=2)
    yield delta_net("gated delta net, prefill", positions=PREFILL, sequence=3)
    yield delta_net("gated delta net of no row", positions=i32())


def mamba2(
    name, positions=DECODE, sequence=1, heads=6, groups=2, taps=4, bias=True, norm=True, limits=""
):
    head_dim, state_dim = 5, 3
    values = heads * head_dim
    channels = values + 2 * groups * state_dim
    prompts = -(-len(positions) // sequence)
    conv_state = f"tensor<?x{taps - 1}x{channels}xf32>"
    state = f"tensor<?x{heads}x{head_dim}x{state_dim}xf32>"
    operands = {
        "%x": f"tensor<?x{values + channels + heads}xf32>",
        "%p": "tensor<?xi32>",
        "%c": conv_state,
        "%s": state,
        "%w": f"tensor<{taps}x{channels}xf32>",
        "%e": f"tensor<{channels}xf32>",
        "%d": f"tensor<{heads}xf32>",
        "%k": f"tensor<{heads}xf32>",
        "%b": f"tensor<{heads}xf32>",
        "%n": f"tensor<{values}xf32>",
    }
    form = "{} at({}) conv_state({}) state({}) conv({}) "
    form += ("conv_bias({}) " if bias else "") + "decay({}) skip({}) step_bias({})"
    form += " norm({})" if norm else ""
    for operand, is_there in (("%e", bias), ("%n", norm)):
        if not is_there:
            del operands[operand]
    return op(
        name,
        "mamba2",
        operands,
        [f"tensor<?x{values}xf32>", conv_state, state],
        f"heads = {heads}, head_dim = {head_dim}, groups = {groups}, state_dim = {state_dim}, "
        + ("epsilon = 1.0e-3, " if norm else "")
        + limits
        + f"sequence = {sequence}",
        form=form,
        rows=len(positions),
        given={
            "p": positions,
            "c": random(prompts, taps - 1, channels, seed=2),
            "s": random(prompts, heads, head_dim, state_dim, seed=3),
        },
    )


def mamba2s():
    yield mamba2("mamba2")
    yield mamba2("mamba2, one group", groups=1, bias=False)
    yield mamba2("mamba2, a group a head, two taps", heads=3, groups=3, taps=2)
    yield mamba2("mamba2 without a norm", norm=False)
    yield mamba2("mamba2, limits of steps", limits="step_min = 0.5, step_max = 0.9, ")
    yield mamba2("mamba2, prefill", positions=PREFILL, sequence=3)
    yield mamba2("mamba2 of no row", positions=i32())
    yield op(
        "mamba2_proj",
        "mamba2_proj",
        {"%x": "tensor<?x12xf32>", "%w": "tensor<12x35xf32>", "%b": "tensor<35xf32>"},
        ["tensor<?x35xf32>"],
        "heads = 3, head_dim = 4, groups = 1, state_dim = 4",
        form="{}, {} bias({})",
    )
