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
        self.ab = model.ab

        # Sequences of an expert-parallel group, micro-batches, sequences of one.
        self.bg = ceil_div(strategy.batch, self.ep)
        self.M = min(self.pp, self.bg)
        self.b = ceil_div(self.bg, self.M)
        self.r = self.b * (workload.context if self.prefill else 1)

    def rows(self, layout, r):
        """Rows of a tensor of r rows on one rank; r may be a real number."""
        if layout != "T":
            return r
        if isinstance(r, int):
            return ceil_div(r, self.n)
        return math.ceil(r / self.n - 1e-12)

    def width(self, layout, features):
        return features / self.n if layout == "H" else features

    def conv(self, source, target, rows, row_bytes):
        """Time to reshard rows x row_bytes from one layout to another."""
        n = self.n
        if n == 1 or source == target or source == "R":
            return 0.0
        volume = rows * row_bytes
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
        return "T" if layout == "T" else "R"

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
