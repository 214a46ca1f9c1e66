"""What the costs of all ops are made of: kernels, norms, reshards, projections."""

import math

from cost.models import WEIGHT_BYTES
from cost.network import MICRO, Network

OP_TIME = 2 * MICRO  # t_op, the launch of a kernel


def ceil_div(a, b):
    """The ceiling of a / b for integers, exactly."""
    return -(-a // b)


class Blocks:
    """Costs of kernels and reshards under one strategy."""

    def __init__(self, model, workload, strategy):
        self.model = model
        self.workload = workload
        self.machine = workload.machine
        self.network = Network(workload.machine, workload.comm_model)
        self.prefill = workload.phase == "prefill"
        self.dims = dict(zip(model.op_names(), strategy.dims))
        self.strategy = strategy
        self.n, self.ep, self.pp = strategy.tp, strategy.ep, strategy.pp
        self.dp, self.cp = strategy.replicas, strategy.cp
        self.tp1, self.tp2 = strategy.tp // strategy.tp2, strategy.tp2
        self.gathers = strategy.exchange == "gather"
        self.ab = model.ab

        # Devices of an expert group, and what it and a tensor group share.
        self.etp = max(1, self.n * self.dp // self.ep)
        self.c = min(self.n, self.etp)
        self.q = max(self.n, self.etp) // self.c
        self.case_a = self.etp <= self.n

        # Sequences of a replica, micro-batches, sequences of one.
        self.bg = ceil_div(strategy.batch, self.dp)
        self.M = min(self.pp, self.bg)
        self.b = ceil_div(self.bg, self.M)
        self.r = self.b * (workload.context if self.prefill else 1)

    def rows(self, layout, r, n=None):
        """Rows of a tensor of r rows on one of n ranks; r may be a real number."""
        n = self.n if n is None else n
        if layout != "T":
            return r
        if isinstance(r, int):
            return ceil_div(r, n)
        return math.ceil(r / n - 1e-12)

    def width(self, layout, features, n=None):
        return features / (self.n if n is None else n) if layout == "H" else features

    def over_q(self, layout):
        """Rows cut over q, and `layout` over c."""
        if self.q == 1:
            return layout
        return "T" if layout == "T" or self.c == 1 else "T." + layout

    def conv(self, source, target, rows, row_bytes, n=None):
        """Time to reshard rows x row_bytes from one layout to another on n ranks."""
        n = self.n if n is None else n
        if n == 1 or source == target or source == "R":
            return 0.0
        volume = rows * row_bytes
        net, q, c = self.network, self.q, self.c
        if {source, target} == {"H", "T.H"}:
            return net.all_to_all(volume / n, q, c)
        if (source, target) == ("P", "T.P"):
            return net.reduce_scatter(volume, q, c)
        if source.startswith("T.") or target.startswith("T."):
            to_whole_rows = {
                "T.R": lambda: 0.0,
                "T.H": lambda: net.all_to_all(volume / n, c),
                "T.P": lambda: net.reduce_scatter(volume / q, c),
            }
            from_whole_rows = {
                "T.H": lambda: net.all_to_all(volume / n, c),
                "T.R": lambda: net.all_gather(volume / q, c),
            }
            time = 0.0
            if source.startswith("T."):
                time += to_whole_rows[source]()
            else:
                time += self.conv(source, "T", rows, row_bytes, n)
            if target.startswith("T."):
                return time + from_whole_rows[target]()
            return time + self.conv("T", target, rows, row_bytes, n)
        if source == "P":
            reduce = self.network.all_reduce if target == "R" else self.network.reduce_scatter
            return reduce(volume, n)
        if target == "R":
            return self.network.all_gather(volume, n)
        assert {source, target} == {"T", "H"}, (source, target)
        return self.network.all_to_all(volume / n, n)

    def roof(self, flops, bytes_, peak=None):
        peak = peak or self.machine.flops
        return max(flops / peak, bytes_ / self.machine.memory_bandwidth) + OP_TIME

    def peak(self, weight_type):
        return self.machine.flops_fp8 if weight_type == "fp8" else self.machine.flops

    def gemm(self, r, K, N, weights, weight_type="bf16"):
        return self.roof(2 * r * K * N, weights + r * (K + N) * self.ab, self.peak(weight_type))

    def norm(self, layout, r):
        bytes_ = 4 * self.rows(layout, r) * self.width(layout, self.model.h) * self.ab
        time = bytes_ / self.machine.memory_bandwidth + OP_TIME
        sums = r * 4 * self.model.norm_sums
        return time + (self.network.all_reduce(sums, self.n) if layout == "H" else 0.0)

    @staticmethod
    def none(layout):
        """The layout in which an op without a dim runs."""
        return "T" if layout.startswith("T") else "R"

    def linear(self, dim, copies, K, N, N_local=None, weight_type="bf16"):
        """A projection of r rows: (time, weight bytes, layout taken, result).

        copies: layouts in which the input is at hand; the first is that of
        its producer, which decides what `none` means.
        """
        n, r, wb = self.n, self.r, WEIGHT_BYTES[weight_type]
        taken = {0: "H", 1: "R", 2: self.none(copies[0])}[dim]
        time = min(self.conv(copy, taken, r, K * self.ab) for copy in copies)
        if dim == 0:
            weights = K * N * wb / n
            time += self.gemm(r, K / n, N, weights, weight_type)
            return time, weights, taken, "P"
        if dim == 1:
            N_local = N / n if N_local is None else N_local
            weights = K * N_local * wb
            time += self.gemm(r, K, N_local, weights, weight_type)
            return time, weights, taken, "H"
        weights = K * N * wb
        time += self.gemm(self.rows(taken, r), K, N, weights, weight_type)
        return time, weights, taken, taken
