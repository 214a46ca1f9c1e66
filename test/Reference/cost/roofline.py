"""The roofline simulator: layers, pipeline, memory, validity."""

from cost.attention import AttentionCosts
from cost.blocks import OP_TIME, ceil_div
from cost.feed_forward import FeedForwardCosts
from cost.models import WEIGHT_BYTES
from cost.strategies import LayerCost, Line, Result

ANCHOR = {0: "T", 1: "H", 2: "R"}  # dim of a norm -> layout of its values
EMBED_LAYOUT = {0: "P", 1: "H", 2: "R"}


class Evaluator(AttentionCosts, FeedForwardCosts):
    """Evaluates one strategy; `result()` is the answer."""

    def structural(self):
        model, s, w = self.model, self.strategy, self.workload
        if w.max_devices is not None and s.tp * s.replicas * s.pp > w.max_devices:
            return True
        stage = s.tp * s.replicas
        if stage % s.ep != 0 or s.tp % s.cp != 0:
            return True
        etp = stage // s.ep
        if s.tp % etp != 0 and etp % s.tp != 0:
            return True
        if etp <= s.tp and s.cp % etp != 0 and etp % s.cp != 0:
            return True
        if s.tp2 > 1:
            if s.tp % s.tp2 != 0 or s.tp2 == s.tp:
                return True
            if s.cp % s.tp2 != 0 and s.tp2 % s.cp != 0:
                return True
            if etp <= s.tp and etp % s.tp2 != 0 and s.tp2 % etp != 0:
                return True
        elif 3 in s.dims:
            return True
        if "moe" not in model.kinds and (s.ep != s.replicas or self.gathers):
            return True
        for kind in model.kinds:
            dim = self.dims[model.prefix(kind) + "attention"]
            if s.cp > 1 and dim != 0 and not (self.cuts_positions(dim) and s.cp == s.tp):
                return True
        if s.pp > len(model.layers):
            return True
        if "moe" in model.kinds and s.ep > model.E:
            return True
        for kind in model.kinds:
            if self.dims[model.prefix(kind) + "attention"] != 1:
                continue
            if model.mla or self.prefill or model.dh % (2 * s.tp) != 0:
                return True
        return False

    def layer(self, kind, window):
        model, r = self.model, self.r
        prefix = model.prefix(kind)
        lines = []

        def dim(op):
            return self.dims[prefix + op]

        def add(op, time, layout, weights=0.0, cache=0.0):
            lines.append(Line(prefix + op, time, layout, weights, cache))

        A1, A5 = ANCHOR[dim("attn_norm")], ANCHOR[dim("ffn_norm")]
        add("attn_norm", self.norm(A1, r), A1)
        s = self.mla(dim, A1, add) if model.mla else self.gqa(dim, A1, window, add)
        s = self.out_proj(dim("out_proj"), s, add)

        time = self.conv(s, A5, r, model.h * self.ab) + self.conv(A1, A5, r, model.h * self.ab)
        add("ffn_norm", time + self.norm(A5, r), A5)

        if kind == "moe":
            s, u = self.moe(dim, A5, add)
        else:
            dims = (dim("ffn_up"), dim("ffn_down"))
            names = ("ffn_up", "ffn_down")
            s = self.ffn(names, dims, [A5], r, model.ff_dense, model.types["mlp"], add)
            u = None
        return LayerCost(lines, s, u, A5)

    def leave(self, cost, target, rows):
        """Time to bring a layer's branches and residual to one layout."""
        row_bytes = self.model.h * self.ab

        def join(layout):  # one more read: the sum of the two branches
            elements = self.rows(layout, rows) * self.width(layout, self.model.h)
            return elements * self.ab / self.machine.memory_bandwidth

        s, u = cost.routed, cost.shared
        time = self.conv(s, target, rows, row_bytes)
        if u is not None and u == s:
            time += join(s)
        elif u is not None:
            time += self.conv(u, target, rows, row_bytes) + join(target)
        return time + self.conv(cost.residual, target, rows, row_bytes)

    def anchor(self, layer):
        return ANCHOR[self.dims[self.model.prefix(layer.kind) + "attn_norm"]]

    def table_bytes(self, dim):
        """Bytes of the embedding, or of the head's matrix, on a device."""
        whole = self.model.vocab * self.model.h * WEIGHT_BYTES["bf16"]
        return whole if dim == 2 else whole / self.n

    def embed(self):
        dim, r, h = self.dims["embed"], self.r, self.model.h
        layout = EMBED_LAYOUT[dim]
        bytes_ = 2 * r * self.width(layout, h) * self.ab
        time = bytes_ / self.machine.memory_bandwidth + OP_TIME
        time += self.conv(layout, self.anchor(self.model.layers[0]), r, h * self.ab)
        return Line("embed", time, layout, self.table_bytes(dim))

    def head(self, last):
        """lm_head after a layer of cost `last`, without the way back."""
        dim, b, n, ab = self.dims["lm_head"], self.b, self.n, self.ab
        h, vocab, net = self.model.h, self.model.vocab, self.network
        whole_rows = last.routed.startswith("T") and last.shared in ("T", None)
        layout = {0: "H", 1: "R", 2: "T" if whole_rows else "R"}[dim]
        weights = self.table_bytes(dim)
        time = self.leave(last, layout, b) + self.norm(layout, b)
        if dim == 0:
            time += self.gemm(b, h / n, vocab, weights)
            time += net.reduce_scatter(b * vocab * ab, n) + net.all_gather(b * 8 * n, n)
        elif dim == 1:
            time += self.gemm(b, h, ceil_div(vocab, n), weights)
            time += net.all_gather(b * 8 * n, n)
        else:
            time += self.gemm(self.rows(layout, b), h, vocab, weights)
            if layout == "T":
                time += net.all_gather(b * 8, n)
        return Line("lm_head", time, "R", weights)

    def link(self):
        """(latency, bandwidth) between two stages."""
        devices = self.n * self.dp * self.pp
        if devices <= self.machine.domain:
            return self.network.nvlink_phase, self.machine.nvlink
        return self.network.network_phase, self.machine.network

    def send(self, anchor):
        """Time to send a micro-batch to a stage that begins in `anchor`."""
        latency, bandwidth = self.link()
        volume = self.r * self.model.h * self.ab
        time = volume / self.n / bandwidth
        if anchor == "R":  # every rank its copy, or a part and a gather
            time = min(volume / bandwidth, time + self.network.all_gather(volume, self.n))
        return self.network.launch + latency + time

    # -- The pipeline --------------------------------------------------------

    def stage_sizes(self):
        """Layers of each stage; the rest goes to those before the last."""
        quotient, rest = divmod(len(self.model.layers), self.pp)
        return [
            quotient + (1 if self.pp - 1 - rest <= s <= self.pp - 2 else 0) for s in range(self.pp)
        ]

    def result(self):
        if self.structural():
            return Result()
        model, layers = self.model, self.model.layers
        costs = {}
        for layer in layers:
            if layer not in costs:
                costs[layer] = self.layer(layer.kind, layer.window)

        embed, head = self.embed(), self.head(costs[layers[-1]])
        way_back = 0.0
        if self.pp > 1 and not self.prefill:
            way_back = self.network.launch + self.link()[0]

        times, memories = [], []
        begin = 0
        for stage, size in enumerate(self.stage_sizes()):
            time = memory = 0.0
            for i in range(begin, begin + size):
                cost = costs[layers[i]]
                time += cost.time
                memory += cost.memory
                if i + 1 < len(layers):
                    time += self.leave(cost, self.anchor(layers[i + 1]), self.r)
            begin += size
            if stage == 0:
                time += embed.time
                memory += embed.weights
            if stage == self.pp - 1:
                time += head.time + way_back
                memory += head.weights
            else:
                time += self.send(self.anchor(layers[begin]))
            times.append(time)
            memories.append(memory)

        # One table serves both ends where they hold the same slice of it.
        ends = (self.dims["embed"], self.dims["lm_head"])
        if model.tied and self.pp == 1 and ends in ((0, 1), (1, 0), (2, 2)):
            memories[0] -= head.weights

        batch, devices = self.strategy.batch, self.n * self.dp * self.pp
        slowest = self.M * max(times)
        if self.prefill:
            latency = sum(times)
            throughput = batch * self.workload.context / (slowest * devices)
        else:
            latency = max(sum(times), slowest)
            throughput = batch / (latency * devices)
        memory = max(memories)
        reason = ""
        if memory > self.machine.capacity:
            reason = "memory"
        elif latency > self.workload.slo:
            reason = "slo"
        return Result(
            valid=not reason,
            reason=reason,
            throughput=throughput,
            latency=latency,
            memory=memory,
            stages=tuple(times),
            layers={(layer.kind, layer.window): cost for layer, cost in costs.items()},
            embed=embed,
            head=head,
            return_time=way_back,
        )


def evaluate(model, workload, strategy):
    """The metrics of a strategy, with its breakdown."""
    return Evaluator(model, workload, strategy).result()
