"""Writes docs/Reproduction.md: "Learning to Shard" (arXiv 2509.00217), claim by claim."""

from . import claims, dims_pay, ffn, markdown, paper_agent, searchers, sensitivity
from .paper import BY_SLO, RIVALS, SHORTEST, TABLE_1, WALK, WORKLOADS, Facts, counts, span

NAME = "Reproduction.md"
FIGURE = "reproduction-megatron.svg"


def ratio_text(ratio, interval):
    return markdown.times(ratio) + markdown.interval(interval, lambda v: f"{v:.2f}")


def table_1(facts):
    """The paper's table, with ours beside it."""
    rows = []
    for workload in WORKLOADS:
        name = workload.name
        base = facts.walk[name]
        cells = [sample[name].over(base) for sample in facts.of.values()]
        rows.append(
            [
                name,
                *map(markdown.times, TABLE_1[name]),
                *(ratio_text(*cell) for cell in cells),
                *(markdown.times(style / base.mean) for style in facts.styles(workload)),
                markdown.times(facts.optimum[name] / base.mean),
            ]
        )
    header = ["over random walk", "paper: SA", "paper: agent"]
    header += [f"{s.label} (n = {facts.runs(s)})" for s in facts.of]
    header += [s.label for s in searchers.MEGATRON]
    return markdown.table([*header, "ceiling"], rows)


# What stands in the tables of the tighter SLOs.
AT_TIGHT = (*RIVALS, searchers.SB3_PPO)


def _table_at(facts, group):
    """The searchers over random walk on a group of the paper's workloads; None where random
    walk or the optimum is missing."""
    walks, ceilings = facts.samples_of(group, WALK), facts.ceilings_of(group)
    if not ceilings:
        return None
    found = {searcher: facts.samples_of(group, searcher) for searcher in AT_TIGHT}
    found = {searcher: samples for searcher, samples in found.items() if any(samples)}
    header = ["over random walk"]
    header += [
        f"{searcher.label} (n = {counts([sample.values for sample in samples if sample])})"
        for searcher, samples in found.items()
    ]
    rows = []
    for index, (workload, walk) in enumerate(zip(WORKLOADS, walks)):
        samples = (of[index] for of in found.values())
        cells = [ratio_text(*s.over(walk)) if s else markdown.NONE for s in samples]
        rows.append([workload.name, *cells, markdown.times(ceilings[index])])
    return markdown.table([*header, "ceiling"], rows)


def section_by_slo(facts):
    """The same table at the tighter SLOs; None where nothing was measured."""
    parts = []
    for slo, group in BY_SLO.items():
        table = _table_at(facts, group) if group != "moe-50" else None
        if table:
            shares = ((s, facts.share(s, group)) for s in AT_TIGHT)
            shown = ", ".join(f"{s.label} {markdown.ratio(share)}" for s, share in shares if share)
            mean = f"Of the optimum, in the mean of the six: {shown}." if shown else None
            parts += [f"With an SLO of {slo} ms (random walk n = {facts.runs_of(group, WALK)}):", table, mean]
    if not parts:
        return None
    return "\n\n".join(
        ["The tighter the SLO, the fewer strategies meet it, and the worse is a random walk.", *filter(None, parts)]
    )


def figure_3(facts):
    """Best of all seeds over the best plan with Megatron's dims, at 16k."""
    rows = []
    for workload in SHORTEST:
        styles = facts.styles(workload)
        optimum = facts.optimum[workload.name]
        rows.append(
            [
                workload.name,
                *(markdown.times(optimum / style) for style in styles),
                *(markdown.times(facts.best(workload, s) / max(styles)) for s in facts.of),
            ]
        )
    header = ["16k", *(f"optimum over `{s.name}`" for s in searchers.MEGATRON)]
    header += [f"{s.label} over the best of the three" for s in facts.of]
    return markdown.table(header, rows)


HEAD = """<!-- Generated from bench/search/results.csv.xz by ./dev bench search --page. Do not edit. -->

# The paper, claim by claim

[Learning to Shard](https://arxiv.org/abs/2509.00217) trains an agent that chooses degrees and the dim of every operator
together. Its simulator, its model's sizes and the domains of its degrees are not published. This page lists its claims, our
results with `searcher=ppo-paper`, the agent [as the paper describes it](Agent.md#ppo-paper), and what each result depends on. Every
search has a budget of 4000 calls, including invalid and repeated strategies, as in the paper."""

CHOICES = """## Choices of this project

- **Models.** "GPT-MoE 1.2T and 1.6T" are `examples/configs/gpt-moe-*.json`: GPT-3's geometry, 60 and 80 layers, 16 experts, two per token.
- **Domains.** tp, ep, pp and batch have 7, 5, 8 and 14 values for these models. With 12 operators of three dims each, that is 2.1·10⁹
  strategies (the paper says about 10⁹), on up to 24 576 devices (24k).
- **Limits.** Decode with 50 ms per token and no device limit, on `h100_sxm` with a memory budget of 72 GB. The paper gives no SLO.
- **Batches end at 8192.** The optimum of gpt-moe-1.2T-16k is there, so the domain limits that row.
- **Random walk and annealing** redraw one variable per step. The default `annealing` differs from the paper's. Its energy is the
  logarithm of the throughput, T0 is 0.5, and invalid strategies are ordered by their excess. The row *as in the paper* has
  `agent-options=initial-temperature=100,raw-energy=true`: tokens/s, T0 = 100, −1000 for all invalid strategies.
- **The agent's open choices**, such as α = β = 1 and −1000, are listed in [Agents](Agent.md#ppo-paper). {sensitivity}
- **Outside the space**: context parallelism, and attention that is data-parallel across tensor-parallel experts. The
  [parallelism of serving engines](Degrees.md) has both, in a separate search. Redundant experts, layers with different dims
  (`dims=per-layer` has them) and fractions of a micro-batch are outside too.
- **`ep` of a dense model** is a number of replicas of everything, without collectives between them."""


def choices(has_variants):
    """`CHOICES`, with what is known of the agent's open ends."""
    known = "Their effect is measured above."
    if not has_variants:
        known = 'Their effect is not measured; `./dev bench search --only "constants of"` does that.'
    return CHOICES.format(sensitivity=known)


def summary(facts, rows):
    """What the page says, in five lines."""
    gains = {slo: facts.over_styles(group) for slo, group in BY_SLO.items()}
    by_slo = ", ".join(f"{span(ratios)} at {slo} ms" for slo, ratios in gains.items() if ratios)
    shares = [
        f"{searcher.label} has {_shares(facts, searcher)}."
        for searcher in (searchers.PPO_PAPER, searchers.PAPER_ANNEALING)
        if searcher in facts.of
    ]
    lines = [
        claims.tally(rows),
        f"On the six workloads the optimum over the best of Megatron's dims, whose degrees are searched, is {by_slo}.",
        f"Of the optimum, in the mean of the six: {' '.join(shares)}",
        f"Dims and degrees chosen together pay on [other workloads](WhereDimsPay.md){_gains(facts)}.",
        f"Where costs can be opened, `exact` finds and proves the optimum in a search {claims.proof_text(facts)}.",
    ]
    return "\n".join(f"- {line}" for line in lines)


def _shares(facts, searcher):
    """Its share of the optimum at each SLO."""
    shares = {slo: facts.share(searcher, group) for slo, group in BY_SLO.items()}
    return ", ".join(
        f"{markdown.ratio(share)} at {slo} ms" for slo, share in shares.items() if share is not None
    )


def _gains(facts):
    """What dims are worth on the workloads of `dims_pay`, or nothing."""
    found = {costs: dims_pay.Group(facts.measured, name) for name, costs in dims_pay.COSTS.items()}
    said = [f"{span(group.gains)} with {costs}" for costs, group in found.items() if group.styles]
    if not said:
        return ""
    agent = dims_pay.agent_text(dims_pay.Group(facts.measured, "dims"))
    return f", on ten of them {', '.join(said)}" + (f". {agent}" if agent else "")


def text(measured, docs):
    """The page."""
    facts = Facts(measured)
    if not facts.complete:
        return f"{HEAD}\n\nNot measured yet.\n\n{choices(False)}\n"
    rows = claims.rows(facts)
    header = ["claim of the paper", "here", "verdict", "depends on"]
    shares = ", ".join(
        f"{searcher.label} {markdown.ratio(facts.share(searcher))}" for searcher in facts.of
    )
    parts = [
        HEAD,
        summary(facts, rows),
        "## Claims",
        "A claim is reproduced, depends on a setting, does not hold at these settings, or is contradicted at all settings tried.",
        _words(header, rows),
        "## Table 1",
        f"Mean throughput over that of random walk (n = {facts.runs(WALK)} a workload), in brackets its 95 % interval by Student's"
        " t on the logarithm, of both. Megatron's dims take the best of all degrees and need no seed. The ceiling is the optimum over"
        " random walk, an upper bound for every searcher.",
        table_1(facts),
        f"Of the optimum, in the mean of the six: {shares}.",
        sensitivity.early_exits(measured),
        section_by_slo(facts),
        "## Figure 3",
        "The best plan of all seeds over the best plan with Megatron's dims, whose degrees were all tried.",
    ]
    if (docs / "figures" / FIGURE).exists():
        parts.append(f"![Best of all seeds over Megatron's plans](figures/{FIGURE})")
    parts += [figure_3(facts), ffn.section(), dims_pay.section(measured), paper_agent.section(measured)]
    variants = sensitivity.section(measured)
    parts += [variants, choices(bool(variants))]
    return "\n\n".join(filter(None, parts)) + "\n"


def _words(header, rows):
    """A table of text."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
