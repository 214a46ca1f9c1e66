"""Why an optimum's dims are better than a style's, in sentences: the patterns that they make."""

import dataclasses

NONE = 2  # the dim that cuts nothing


@dataclasses.dataclass(frozen=True)
class Moved:
    """Collectives of one or several ops: kinds, microseconds, bytes."""

    kinds: tuple
    microseconds: float
    count: float

    @classmethod
    def of(cls, plan, ops=None):
        """Of some ops, or of all."""
        rows = [row for row in plan["breakdown"] if row["collective_us"]]
        rows = [row for row in rows if ops is None or row["op"] in ops]
        return cls(
            tuple(sorted({row["collective"] for row in rows})),
            sum(row["collective_us"] for row in rows),
            sum(row["bytes"] for row in rows),
        )

    def __str__(self):
        return f"{self.microseconds:,.0f} µs, {self.count / 1e6:,.0f} MB" if self.kinds else "nothing"


def named(ops):
    """`a`, `b` and `c`."""
    quoted = [f"`{op}`" for op in ops]
    return " and ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))


class Pair:
    """The plan of an optimum, that with a style's dims, and their odd ops."""

    def __init__(self, best, styled):
        self.best, self.styled = best, styled
        self.dims, self.style = (plan["strategy"]["dims"] for plan in (best, styled))

    def ops(self, suffixes, dim, styled=None):
        """The ops whose name ends so, with a dim in the optimum and one in the style."""
        return [
            op
            for op in self.dims
            if op.rpartition(".")[2] in suffixes
            and self.dims[op] == dim
            and (styled is None or self.style[op] == styled)
        ]

    def of_experts(self, ops):
        """Those that stand between a dispatch and its combine, in order."""
        prefix = [op.removesuffix("dispatch") for op in self.dims if op.endswith("dispatch")]
        return [op for op in self.dims if op in ops and any(op == p + op.rpartition(".")[2] for p in prefix)]

    def moved(self, ops=None):
        return Moved.of(self.best, ops), Moved.of(self.styled, ops)


def _on_tokens(pair):
    norms = pair.ops(("attn_norm", "ffn_norm"), 0, NONE)
    if norms:
        ours, theirs = pair.moved(norms)
        yield (
            f"Norms work on a share of the tokens ({named(norms)}), so that sums are scattered instead of all-reduced."
            f" They move {ours} instead of {theirs}."
        )


def _whole_weights(pair):
    products = ("qkv_proj", "q_up", "ffn_up", "ffn_down", "shared_up", "shared_down")
    whole = [op for op in pair.ops(products, NONE) if pair.style[op] != NONE]
    if whole:
        yield (
            f"Weights are replicated ({named(whole)}) for the tokens, or the sequences, of each device. Nothing is gathered"
            " before them or reduced after them, at the cost of memory."
        )


def _attention(pair):
    parallel = pair.ops(("attention",), NONE, 0)
    if parallel:
        products = ("ffn_up", "ffn_down")
        experts = pair.of_experts(pair.ops(products, 0) + pair.ops(products, 1))
        beside = f", with tensor-parallel experts ({named(experts)})" if experts else ""
        yield (
            f"Attention is data-parallel inside the tp group ({named(parallel)}){beside}. Each device keeps the caches of its"
            " own sequences; sharding on heads replicates them if all heads read one latent."
        )
    by_heads = [op for op in pair.ops(("attention",), 0) if "all_to_all" in Moved.of(pair.best, [op]).kinds]
    if by_heads:
        yield (
            f"Tokens go to heads by an all-to-all ({named(by_heads)}) instead of a gather: {Moved.of(pair.best, by_heads)}."
        )


def _experts(pair):
    ups = pair.of_experts(pair.ops(("ffn_up",), 0, 1))
    downs = pair.of_experts(pair.ops(("ffn_down",), 1, 0))
    exchange = ("dispatch", "combine")
    if ups and downs:
        sums = Moved.of(pair.best, [*ups, *downs])
        yield f"{named(ups)} reduces on the narrow side of the experts: {sums}."
    elif downs:
        yield f"{named(downs)} gathers what it reads and leaves nothing to reduce: {Moved.of(pair.best, downs)}."
    cut = [op for op in pair.ops(exchange, 1) if pair.style[op] == NONE]
    if cut:
        ours, theirs = pair.moved(cut)
        if ours.count < theirs.count:
            yield f"Only a share of the features is sent ({named(cut)}): {ours} instead of {theirs}."


def _together(pair):
    ours, theirs = pair.moved()
    yield f"All collectives together: {ours}; with the style's dims at these degrees {theirs}."


def sentences(best, styled):
    """Of two plans as `Tools.explain` has them, with equal degrees."""
    pair = Pair(best, styled)
    for pattern in (_attention, _on_tokens, _whole_weights, _experts, _together):
        yield from pattern(pair)
