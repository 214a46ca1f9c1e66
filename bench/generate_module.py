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
  %x0 = llm.embedding %tokens, %table {{name = "embed", sharding = #llm.dim<0>}} : ({ROWS}, tensor<{VOCAB}x{H}xbf16>) -> {X}
"""

# One layer, from %x<n> to %x<n + 1>.
LAYER = f"""\
  %x@next@, %k@n@, %v@n@ = llm.repeat 1 init(%x@n@) stacked(%keys, %values) invariants(%positions) : ({X}, {STACK}, {STACK}, {ROWS}) -> ({X}, {STACK}, {STACK}) {{
  ^bb0(%x: {X}, %kc: {CACHE}, %vc: {CACHE}, %p: {ROWS}):
    %w1 = llm.param @l@n@.attn_norm.weight : {NORM}
    %n1 = llm.rms_norm %x weight(%w1) {{name = "attn_norm", epsilon = 1.0e-6, sharding = #llm.dim<0>}} : ({X}, {NORM}) -> {X}
    %w2 = llm.param @l@n@.qkv_proj.weight : {W_QKV}
    %q = llm.qkv_proj %n1, %w2 {{name = "qkv_proj", heads = {HEADS}, kv_heads = {KV_HEADS}, head_dim = {HEAD_DIM}, sharding = #llm.dim<1>}} : ({X}, {W_QKV}) -> tensor<?x{QKV}xbf16>
    %a, %kn, %vn = llm.attention gqa %q at(%p) cache(%kc, %vc) {{name = "attention", heads = {HEADS}, kv_heads = {KV_HEADS}, head_dim = {HEAD_DIM}, group = {HEADS // KV_HEADS}, scale = 0.125, rope = #llm.rope<dim = {HEAD_DIM}, theta = 1.0e6>, sharding = #llm.dim<0>}} : (tensor<?x{QKV}xbf16>, {ROWS}, {CACHE}, {CACHE}) -> (tensor<?x{ATT}xbf16>, {CACHE}, {CACHE})
    %w3 = llm.param @l@n@.out_proj.weight : {W_OUT}
    %o = llm.out_proj %a, %w3 {{name = "out_proj", heads = {HEADS}, sharding = #llm.dim<0>}} : (tensor<?x{ATT}xbf16>, {W_OUT}) -> {X}
    %w4 = llm.param @l@n@.ffn_norm.weight : {NORM}
    %n2, %r = llm.rms_norm %o residual(%x) weight(%w4) {{name = "ffn_norm", epsilon = 1.0e-6, sharding = #llm.dim<0>}} : ({X}, {X}, {NORM}) -> ({X}, {X})
    %w5 = llm.param @l@n@.router.weight : {W_ROUTER}
    %t, %i, %s = llm.router %n2, %w5 {{name = "router", scoring = #llm.scoring<softmax>, top_k = 2, normalize = true, sharding = #llm.dim<none>}} : ({X}, {W_ROUTER}) -> ({X}, {CHOICE}, {SCORES})
    %d, %c, %g = llm.dispatch %t, %i {{name = "dispatch", experts = {EXPERTS}, sharding = #llm.dim<0>}} : ({X}, {CHOICE}) -> ({X}, {COUNTS}, {ROWS})
    %w6 = llm.param @l@n@.ffn_up.weight : {W_UP}
    %u = llm.ffn_up %d, %w6 counts(%c) {{name = "ffn_up", activation = #llm.activation<kind = silu, gated = true>, sharding = #llm.dim<1>}} : ({X}, {W_UP}, {COUNTS}) -> tensor<?x{FF}xbf16>
    %w7 = llm.param @l@n@.ffn_down.weight : {W_DOWN}
    %y = llm.ffn_down %u, %w7 counts(%c) {{name = "ffn_down", sharding = #llm.dim<0>}} : (tensor<?x{FF}xbf16>, {W_DOWN}, {COUNTS}) -> {X}
    %z = llm.combine %y, %c, %g, %s {{name = "combine", sharding = #llm.dim<0>}} : ({X}, {COUNTS}, {ROWS}, {SCORES}) -> {X}
    %xn = llm.add %r, %z : {X}
    llm.yield %xn, %kn, %vn : {X}, {CACHE}, {CACHE}
  }}
"""

FOOTER = f"""\
  %norm = llm.param @norm.weight : {NORM}
  %head = llm.param @lm_head.weight : tensor<{H}x{VOCAB}xbf16>
  %ids = llm.lm_head %x@n@ norm(%norm) weight(%head) {{name = "lm_head", epsilon = 1.0e-6, sharding = #llm.dim<1>}} : ({X}, {NORM}, tensor<{H}x{VOCAB}xbf16>) -> {ROWS}
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
