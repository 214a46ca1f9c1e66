"""Costs from the norm of attention to its output projection."""

from cost.blocks import OP_TIME, Blocks, ceil_div
from cost.models import WEIGHT_BYTES


class AttentionCosts(Blocks):
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

    def group_heads(self):
        """(query heads of cp ranks, the most kv heads they read, whether each
        of them reads what its group does)."""
        nq, cp = self.model.nq, self.cp
        c, G = ceil_div(nq, self.n), nq // self.model.nkv

        def read(first, count):
            last = min(first + count, nq) - 1
            return set(range(first // G, last // G + 1))

        groups = range(0, nq, cp * c)
        same = all(
            read(first, c) == read(first // (cp * c) * (cp * c), cp * c)
            for first in range(0, nq, c)
        )
        return min(nq, cp * c), max(len(read(first, cp * c)) for first in groups), same

    def merge(self, width):
        """Partial outputs and log-sum-exps of cp ranks, by heads, then the sum."""
        b, cp, ab, cq = self.b, self.cp, self.ab, ceil_div(self.model.nq, self.n)
        time = self.network.all_to_all(b * cp * cq * (width * ab + 4), cp)
        moved = b * cq * ((cp + 1) * width * ab + 4 * cp)
        return time + moved / self.machine.memory_bandwidth + OP_TIME

    def cuts_positions(self, dim):
        """Whether ranks have the queries of some positions, heads whole."""
        return dim == 2 and self.prefill and self.cp > 1

    def attention_taken(self, dim, s):
        """The layout in which attention wants its queries."""
        if dim != 2:
            return "H"
        if self.cuts_positions(dim):
            return "T"
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
        if dim("attention") == 0 and self.cp > 1:
            cp, kvb = self.cp, model.kvb
            group, group_kv, same = self.group_heads()
            cache = self.bg * c * 2 * group_kv * dh * kvb / cp
            if self.prefill:
                if not same:
                    time += self.network.all_to_all(r * 2 * local_kv * dh * ab, cp)
                flops = 4 * b * (context * c - c**2 / 2) * local_heads * dh
                bytes_ = 2 * b * context * dh * kvb * (local_kv + group_kv / cp)
                time += self.roof(flops, bytes_ + b * context * 2 * local_heads * dh * ab)
            else:
                if s != "R":
                    row = (local_heads + (0 if same else 2 * local_kv)) * dh * ab
                    time += self.network.all_gather(b * cp * row, cp)
                bytes_ = b * (c / cp) * 2 * group_kv * dh * kvb + b * 2 * group * dh * ab
                time += self.roof(4 * b * (c / cp) * group * dh, bytes_) + self.merge(dh)
        elif self.cuts_positions(dim("attention")):
            cp, S = self.cp, context
            if s != "R":
                time += self.network.all_gather(r * 2 * nkv * dh * ab, cp)
            moved = b * S * (1 + 1 / cp) * 2 * nkv * dh * model.kvb + b * S / cp * 2 * nq * dh * ab
            time += self.roof(4 * b * (S * c - c**2 / 2) / cp * nq * dh, moved)
            cache = self.bg * cache_per_sequence / cp
        elif dim("attention") == 0:
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

        def at(sequences, heads, parts=1):
            if self.prefill:  # keys and values are expanded from the latents
                S = context
                x = sequences * S
                N = heads * (dn + dv)
                time = self.gemm(x, Rk, N, heads * Rk * (dn + dv) * wb, weight_type)
                flops = sequences * S**2 / parts * heads * (dn + dr + dv)
                own = (1 + 1 / parts) * heads * (dn + dr + dv)
                return time + self.roof(flops, x * (own + Rc) * ab)
            flops = 2 * sequences * context * heads * (2 * Rk + dr)
            bytes_ = sequences * context * Rc * model.kvb + sequences * heads * (2 * Rk + dr) * ab
            time = bmm(sequences, heads, dn, Rk) + bmm(sequences, heads, Rk, dv)
            return time + self.roof(flops, bytes_)

        taken = self.attention_taken(dim("attention"), s)
        time = self.conv(s, taken, r, queries * ab)
        parts = 1
        if dim("attention") == 0:
            time += self.conv(c, "R", r, Rc * ab)
            heads, sequences = ceil_div(nq, n), b
        elif self.cuts_positions(dim("attention")):  # latents of all positions
            time += self.conv(c, "R", r, Rc * ab)
            heads, sequences, parts = nq, b, self.cp
        else:
            time += self.conv(c, taken, r, Rc * ab)
            heads, sequences = nq, (ceil_div(b, n) if taken == "T" else b)
        if self.cp > 1 and not self.prefill:
            cp, group = self.cp, min(nq, self.cp * heads)
            time += bmm(b, heads, dn, Rk) + bmm(b, heads, Rk, dv) + self.merge(Rk)
            time += self.network.all_gather(b * cp * heads * Rc * ab, cp)
            flops = 2 * b * (context / cp) * group * (2 * Rk + dr)
            bytes_ = b * (context / cp) * Rc * model.kvb + b * group * (2 * Rk + dr) * ab
            time += self.roof(flops, bytes_)
        else:
            time += at(sequences, heads, parts)
        weights = heads * Rk * (dn + dv) * wb
        held = self.bg if parts > 1 else self.cached_sequences(taken)
        cache = context * Rc * model.kvb * held / self.cp
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
