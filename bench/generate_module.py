#!/usr/bin/env python3
"""Writes an annotated mixture-of-experts module of about a given number of ops.

Real models are folded into one `llm.repeat` a kind of layer; here every layer is
a repeat of its own, so that the module grows with its layers.
"""

import argparse
import sys

H, HEADS, KV_HEADS, HEAD_DIM, FF, EXPERTS, VOCAB = 1024, 16, 8, 64, 512, 16, 32000
QKV = (HEADS + 2 * KV_HEADS) * HEAD_DIM
ATT = HEADS * HEAD_DIM

X = f"tensor<?x{H}xbf16>"
ROWS = "tensor<?xi32>"
CACHE = f"tensor<?x?x{KV_HEADS}x{HEAD_DIM}xbf16>"
STACK = f"tensor<1x?x?x{KV_HEADS}x{HEAD_DIM}xbf16>"
CHOICE = "tensor<?x2xi32>"
SCORES = "tensor<?x2xf32>"
COUNTS = f"tensor<1x1x{EXPERTS}xi32>"
NORM = f"tensor<{H}xbf16>"
W_QKV = f"tensor<{H}x{QKV}xbf16>"
W_OUT = f"tensor<{ATT}x{H}xbf16>"
W_ROUTER = f"tensor<{H}x{EXPERTS}xbf16>"
W_UP = f"tensor<{EXPERTS}x{H}x{2 * FF}xbf16>"
W_DOWN = f"tensor<{EXPERTS}x{FF}x{H}xbf16>"

HEADER = f"""\
module attributes {{llm.machine = "h100_sxm",
    llm.workload = #llm.workload<phase = decode, context = 8192>,
    llm.strategy = #llm.strategy<tp = 8, ep = 4, pp = 1, batch = 256>}} {{
func.func @main(%tokens: {ROWS} {{llm.role = "tokens"}},
    %positions: {ROWS} {{llm.role = "positions"}},
    %keys: {STACK} {{llm.role = "cache"}}, %values: {STACK} {{llm.role = "cache"}})
    -> ({ROWS} {{llm.role = "token_ids"}}) {{
  %table = llm.param @embed.weight : tensor<{VOCAB}x{H}xbf16>
  %x0 = llm.embedding "embed" dim<0> %tokens, %table : tensor<{VOCAB}x{H}xbf16> -> {X}
"""

# One layer, from %x<n> to %x<n + 1>.
LAYER = f"""\
  %x@next@, %k@n@, %v@n@ = llm.repeat 1 init(%x = %x@n@ : {X}) caches(%kc = %keys : {STACK}, %vc = %values : {STACK}) invariants(%p = %positions : {ROWS}) {{
    %w1 = llm.param @l@n@.attn_norm.weight : {NORM}
    %n1 = llm.rms_norm "attn_norm" dim<0> %x weight(%w1) {{epsilon = 1.0e-6}} : {X}
    %w2 = llm.param @l@n@.qkv_proj.weight : {W_QKV}
    %q = llm.qkv_proj "qkv_proj" dim<1> %n1, %w2 {{heads = {HEADS}, kv_heads = {KV_HEADS}, head_dim = {HEAD_DIM}}} : {X} -> tensor<?x{QKV}xbf16>
    %a, %kn, %vn = llm.attention gqa "attention" dim<0> %q at(%p) cache(%kc, %vc) {{heads = {HEADS}, kv_heads = {KV_HEADS}, head_dim = {HEAD_DIM}, group = {HEADS // KV_HEADS}, scale = 0.125, rope = #llm.rope<dim = {HEAD_DIM}, theta = 1.0e6>}} : tensor<?x{QKV}xbf16>, {CACHE} -> tensor<?x{ATT}xbf16>
    %w3 = llm.param @l@n@.out_proj.weight : {W_OUT}
    %o = llm.out_proj "out_proj" dim<0> %a, %w3 {{heads = {HEADS}}} : tensor<?x{ATT}xbf16> -> {X}
    %w4 = llm.param @l@n@.ffn_norm.weight : {NORM}
    %n2, %r = llm.rms_norm "ffn_norm" dim<0> %o residual(%x) weight(%w4) {{epsilon = 1.0e-6}} : {X}
    %w5 = llm.param @l@n@.router.weight : {W_ROUTER}
    %t, %i, %s = llm.router "router" dim<none> %n2, %w5 {{scoring = #llm.scoring<softmax>, top_k = 2, normalize = true}} : {X}, {W_ROUTER}
    %d, %c, %g = llm.dispatch "dispatch" dim<0> %t, %i {{experts = {EXPERTS}}} : {X}, {CHOICE}
    %w6 = llm.param @l@n@.ffn_up.weight : {W_UP}
    %u = llm.ffn_up "ffn_up" dim<1> %d, %w6 counts(%c) {{activation = #llm.activation<kind = silu, gated = true>}} : {X}, {COUNTS} -> tensor<?x{FF}xbf16>
    %w7 = llm.param @l@n@.ffn_down.weight : {W_DOWN}
    %y = llm.ffn_down "ffn_down" dim<0> %u, %w7 counts(%c) : tensor<?x{FF}xbf16>, {COUNTS} -> {X}
    %z = llm.combine "combine" dim<0> %y, %c, %g, %s : {X}, {COUNTS}, {SCORES}
    %xn = llm.add %r, %z : {X}
    llm.yield %xn, %kn, %vn : {X}, {CACHE}, {CACHE}
  }}
"""

FOOTER = f"""\
  %norm = llm.param @norm.weight : {NORM}
  %head = llm.param @lm_head.weight : tensor<{H}x{VOCAB}xbf16>
  %ids = llm.lm_head "lm_head" dim<1> %x@n@ norm(%norm) weight(%head) {{epsilon = 1.0e-6}} : {X}, tensor<{H}x{VOCAB}xbf16> -> {ROWS}
  return %ids : {ROWS}
}}
}}
"""

OPS_OF_LAYER = 20


def lines(ops):
    """Yields the text, layer by layer, of a module of about `ops` ops."""
    layers = max(1, ops // OPS_OF_LAYER)
    yield HEADER
    for n in range(layers):
        yield LAYER.replace("@next@", str(n + 1)).replace("@n@", str(n))
    yield FOOTER.replace("@n@", str(layers))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ops", type=int)
    sys.stdout.writelines(lines(parser.parse_args().ops))


if __name__ == "__main__":
    main()
