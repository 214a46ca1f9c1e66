"""Costs of feed-forward networks, dense and of experts."""

import math

from cost.blocks import OP_TIME, Blocks, ceil_div
from cost.models import WEIGHT_BYTES

SKEW = 0.1  # systematic imbalance between experts


class FeedForwardCosts(Blocks):
    def ffn(self, names, dims, copies, m, ff, weight_type, add, stored=1, read=1, n=None):
        """Up- and down-projection of m rows; returns the layout of the result.

        stored, read: experts whose weights a device holds, and reads.
        copies: layouts in which the input is at hand, its producer's first.
        n: ranks over which they lie; None: those of a tensor group.
        """
        n = self.n if n is None else n
        h, ab = self.model.h, self.ab
        N1 = ff * (2 if self.model.gated else 1)
        wb = WEIGHT_BYTES[weight_type]

        def grouped(rows, K, N, weights, out):
            bytes_ = read * weights + rows * (K + out) * ab
            return self.roof(2 * rows * K * N, bytes_, self.peak(weight_type))

        up, down = dims
        weights = h * N1 * wb
        taken = {0: "H", 1: "R", 2: self.none(copies[0]), 3: "H"}[up]
        time = min(self.conv(copy, taken, m, h * ab, n) for copy in copies)
        if up == 0:
            weights /= n
            time += grouped(m, h / n, N1, weights, N1)
            s = "P"
        elif up == 1:
            weights /= n
            time += grouped(m, h, N1 / n, weights, ff / n)
            s = "H"
        elif up == 3:  # [h / tp2, N1 / tp1]
            weights /= n
            time += self.network.all_gather(m * h / self.tp2 * ab, self.tp1, self.tp2)
            time += grouped(m, h / self.tp2, N1 / self.tp1, weights, N1 / self.tp1)
            time += self.network.reduce_scatter(m * N1 / self.tp1 * ab, self.tp2)
            s = "H"
        else:
            time += grouped(self.rows(taken, m, n), h, N1, weights, ff)
            s = taken
        add(names[0], time, s, stored * weights)

        row_bytes = (N1 if s == "P" else ff) * ab
        weights = ff * h * wb
        taken = {0: "H", 1: "R", 2: self.none(s), 3: "H"}[down]
        time = self.conv(s, taken, m, row_bytes, n)
        if down == 0:
            weights /= n
            time += grouped(m, ff / n, h, weights, h)
            s = "P"
        elif down == 1:
            weights /= n
            time += grouped(m, ff, h / n, weights, h / n)
            s = "H"
        elif down == 3:  # [ff / tp1, h / tp2]
            weights /= n
            time += self.network.all_gather(m * ff / self.tp1 * ab, self.tp2)
            time += grouped(m, ff / self.tp1, h / self.tp2, weights, h / self.tp2)
            time += self.network.reduce_scatter(m * h / self.tp2 * ab, self.tp1, self.tp2)
            s = "H"
        else:
            time += grouped(self.rows(taken, m, n), ff, h, weights, h)
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
        model, r = self.model, self.r
        E, k, e, d = model.E, model.k, self.ep, self.dp

        # Token copies of the busiest expert-parallel group, experts it reads.
        mu = r * k if d == e else r * k * d / e
        local_experts = ceil_div(E, e)
        if self.workload.imbalance == "none":
            m, phi = mu, 1.0
        else:
            phi = 1.0 if e == 1 else 1 + SKEW + math.sqrt(2 * math.log(e) / mu)
            m = min(mu * phi, r * d * min(k, local_experts))
            phi = m / mu
        active = 1 - (1 - k / E) ** (r * d)
        experts_read = min(local_experts, max(1, local_experts * active * phi))

        routed = self.router(dim("router"), A5, add)
        if self.gathers:
            time, dispatched, copy = self.gather(dim("dispatch"), routed, m)
        else:
            time, dispatched, copy = self.send_copies(dim("dispatch"), routed, m, phi)
        add("dispatch", time, dispatched)
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
            n=self.etp,
        )
        if self.gathers:
            time, s = self.scatter(dim("combine"), s, m)
        else:
            time, s = self.return_copies(dim("combine"), s, m, phi)
        add("combine", time, s)

        if not model.ff_shared:
            return s, None
        u = self.ffn(
            ("shared_up", "shared_down"),
            (dim("shared_up"), dim("shared_down")),
            [A5, routed] + ([copy] if copy else []),
            r,
            model.ff_shared,
            model.types["shared_experts"],
            add,
        )
        return s, u

    # -- The exchange ----------------------------------------------------------

    def exchanged(self, layout, m):
        """(bytes of own rows, k copies of each; bytes of copies) of a device."""
        r, c, h = self.r, self.c, self.model.h
        sent = min(r, c * ceil_div(r, self.n)) if self.case_a else r
        received = m if self.case_a else m / self.q
        row = self.width(layout, h, c) * self.ab
        X = self.rows(layout, sent, c) * self.model.k * row
        return X, self.rows(layout, received, c) * row

    def send_copies(self, dim, s, m, phi):
        """Dispatch by all-to-all: (time, layout over etp, copy over tp)."""
        model, bandwidth = self.model, self.machine.memory_bandwidth
        l = {0: "T", 1: "H", 2: self.none(s)}[dim]
        X, Y = self.exchanged(l, m)
        outside, inside = (self.over_q(l), l) if self.case_a else (l, self.over_q(l))
        time = self.conv(s, outside, self.r, model.h * self.ab)
        time += self.network.all_to_all(X * phi, self.ep, self.etp)
        return time + (X / model.k + Y) / bandwidth + OP_TIME, inside, outside

    def return_copies(self, dim, s, m, phi):
        """Combine by all-to-all: (time, layout over tp)."""
        model, bandwidth = self.model, self.machine.memory_bandwidth
        l = {0: "T", 1: "H", 2: "R" if s == "H" else s}[dim]
        X, Y = self.exchanged(l, m)
        outside, inside = (self.over_q(l), l) if self.case_a else (l, self.over_q(l))
        time = self.conv(s, inside, m, model.h * self.ab, self.etp)
        time += self.network.all_to_all(X * phi, self.ep, self.etp)
        return time + (X + X / model.k + Y) / bandwidth + OP_TIME, outside

    def held(self, layout, y):
        x = self.etp
        return self.rows(layout, y, x) * self.width(layout, self.model.h, x) * self.ab

    def gather(self, dim, s, m):
        """Dispatch by gathering rows: (time, layout over etp, copy over tp)."""
        net, r, t, d, e, x = self.network, self.r, self.n, self.dp, self.ep, self.etp
        row = self.model.h * self.ab
        V = r * d * row
        l = {0: "T", 1: "H", 2: "R"}[dim]
        if l == "R":
            time = {
                "R": lambda: net.all_gather(V, d, t),
                "T": lambda: net.all_gather(V, t * d, 1),
                "H": lambda: self.conv("H", "R", r, row) + net.all_gather(V, d, t),
            }[s]()
        elif l == "T" and s == "R" and self.case_a:
            time = net.all_gather(V / x, d, t)
        elif l == "T":
            time = (self.conv("H", "T", r, row) if s == "H" else 0.0) + net.all_gather(V / x, e, x)
        elif self.case_a and s == "R":
            time = net.all_gather(V / x, d, t)
        elif self.case_a:
            time = self.conv(s, self.over_q("H"), r, row) + net.all_gather(V / x, e, x)
        else:
            time = self.conv(s, "H", r, row)
            time += net.all_to_all(r * self.q * row / x, self.q, t) + net.all_gather(V / x, e, x)
        moved = self.held(l, r * d) + self.held(l, m)
        time += moved / self.machine.memory_bandwidth + OP_TIME
        return time, l, "R" if l == "R" else None

    def scatter(self, dim, s, m):
        """Combine by reduce-scatter of rows: (time, layout over tp)."""
        net, r, t, d, e, x = self.network, self.r, self.n, self.dp, self.ep, self.etp
        c, row = self.c, self.model.h * self.ab
        V = r * d * row
        if x == 1:
            s = "P"
        l = {0: "T", 1: "H", 2: s if s in ("P", "T") else "R"}[dim]
        if l == "P":
            time, left = net.reduce_scatter(V, d, t), "P"
        elif s == "P" and l == "T":
            time, left = net.reduce_scatter(V, t * d, 1), "T"
        elif s == "P":
            time = net.reduce_scatter(V, c, 1) + net.reduce_scatter(V / c, t * d // c, c)
            left = self.over_q("H") if self.case_a else "H"
        elif self.case_a:
            time = self.conv(s, l, r * d, row, x)
            time += net.reduce_scatter(V / (1 if l == "R" else x), e, x)
            left = self.over_q(l)
        else:
            time = self.conv(s, self.over_q(l), r * d, row, x)
            time += net.reduce_scatter(V / (self.q if l == "R" else x), e, x)
            left = l
        moved = self.held(s, m) + self.held(s, r * d)
        return time + moved / self.machine.memory_bandwidth + OP_TIME, left
