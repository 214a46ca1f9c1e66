"""Costs of feed-forward networks, dense and of experts."""

import math

from cost.blocks import OP_TIME, Blocks, ceil_div
from cost.models import WEIGHT_BYTES

SKEW = 0.1  # systematic imbalance between experts


class FeedForwardCosts(Blocks):
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
