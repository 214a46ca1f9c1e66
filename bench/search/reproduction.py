"""Writes docs/Reproduction.md: "Learning to Shard" (arXiv 2509.00217), claim by claim."""

import dataclasses
import math

from . import ffn, markdown, searchers
from .intervals import ENOUGH, LEVEL, mean, student
from .manifest import ASKED
from .workloads import GROUPS

NAME = "Reproduction.md"
FIGURE = "reproduction-megatron.svg"

# Its Table 1, mean throughput over that of random walk: simulated annealing,
# its agent. Its Figure 3 is summarised in the text as "up to 1.06x".
TABLE_1 = {
    "gpt-moe-1.2T-16k": (1.19, 2.76),
    "gpt-moe-1.2T-32k": (0.95, 2.17),
    "gpt-moe-1.2T-64k": (0.71, 2.04),
    "gpt-moe-1.6T-16k": (0.54, 1.65),
    "gpt-moe-1.6T-32k": (0.66, 2.31),
    "gpt-moe-1.6T-64k": (0.89, 1.92),
}
WORKLOADS = GROUPS["moe-50"].workloads
SHORTEST = tuple(w for w in WORKLOADS if w.name.endswith("-16k"))  # those of Figure 3

WALK = searchers.RANDOM_WALK
# Rows of the table, and bars of the figure.
RIVALS = (searchers.PAPER_ANNEALING, searchers.ANNEALING, searchers.PPO_PAPER, searchers.PPO)


@dataclasses.dataclass(frozen=True)
class Sample:
    """The best throughputs of runs that differ in the seed."""

    values: tuple

    @property
    def mean(self):
        return mean(self.values)

    @property
    def relative_variance(self):
        """That of the mean, over its square."""
        distances = math.fsum((v - self.mean) ** 2 for v in self.values)
        n = len(self.values)
        return distances / (n - 1) / n / self.mean**2

    def over(self, base):
        """The ratio of the means, and its 95 % interval (None for few runs): by Student's
        t on the logarithm, with the fewer degrees of freedom of the two."""
        ratio = self.mean / base.mean
        fewer = min(len(self.values), len(base.values))
        if fewer < ENOUGH:
            return ratio, None
        error = math.sqrt(self.relative_variance + base.relative_variance)
        factor = math.exp(student(LEVEL, fewer - 1) * error)
        return ratio, (ratio / factor, ratio * factor)


def samples(measured, searcher):
    """The Sample of each workload, by name; of those without runs, none."""
    found = {}
    for workload in WORKLOADS:
        values = tuple(run.best for run in measured.of(workload, searcher, ASKED))
        if values:
            found[workload.name] = Sample(values)
    return found


def ratio_text(ratio, interval):
    return markdown.times(ratio) + markdown.interval(interval, lambda v: f"{v:.2f}")


def span(values):
    """"1.20× to 1.51×", or one value."""
    low, high = markdown.times(min(values)), markdown.times(max(values))
    return low if low == high else f"{low} to {high}"


class Facts:
    """Everything that the page says in numbers."""

    def __init__(self, measured):
        self.measured = measured
        self.walk = samples(measured, WALK)
        found = {searcher: samples(measured, searcher) for searcher in RIVALS}
        self.of = {searcher: s for searcher, s in found.items() if len(s) == len(WORKLOADS)}
        self.optimum = {w.name: measured.reference(w) for w in WORKLOADS}
        needed = {searchers.ANNEALING, searchers.PPO_PAPER}
        self.complete = (
            len(self.walk) == len(WORKLOADS)
            and needed <= self.of.keys()
            and all(self.optimum.values())
            and all(all(self.styles(w)) for w in SHORTEST)
        )

    def over_walk(self, searcher):
        """Ratios to random walk of all workloads."""
        return [self.of[searcher][w.name].over(self.walk[w.name])[0] for w in WORKLOADS]

    def over(self, first, second):
        """Ratios of the means of two searchers."""
        first, second = self.of[first], self.of[second]
        return [first[w.name].mean / second[w.name].mean for w in WORKLOADS]

    @property
    def ceilings(self):
        return [self.optimum[w.name] / self.walk[w.name].mean for w in WORKLOADS]

    def runs(self, searcher):
        counts = {len(s.values) for s in (self.of.get(searcher) or self.walk).values()}
        return "–".join(map(str, sorted({min(counts), max(counts)})))

    def best(self, workload, searcher):
        """The best of all seeds."""
        runs = self.measured.of(workload, searcher, ASKED)
        return max((run.best for run in runs), default=0)

    def styles(self, workload):
        return [self.best(workload, style) for style in searchers.MEGATRON]

    def share(self, searcher):
        """The mean of the share of the optimum."""
        found = self.of[searcher]
        return mean([found[w.name].mean / self.optimum[w.name] for w in WORKLOADS])


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
                markdown.times(facts.optimum[name] / base.mean),
            ]
        )
    header = ["over random walk", "paper: SA", "paper: agent"]
    header += [f"{s.label} (n = {facts.runs(s)})" for s in facts.of]
    return markdown.table([*header, "ceiling"], rows)


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


def claims(facts):
    """Rows of (claim, here, verdict)."""
    agent, tuned = searchers.PPO_PAPER, searchers.ANNEALING
    literal = searchers.PAPER_ANNEALING if searchers.PAPER_ANNEALING in facts.of else tuned
    ceiling = max(facts.ceilings)
    least = min(len(sample.values) for sample in facts.of[agent].values())
    over_walk = facts.over_walk(agent)
    below = sum(ratio < 1 for ratio in facts.over_walk(literal))
    over_literal = facts.over(agent, literal)
    best_over_style = [facts.best(w, agent) / max(facts.styles(w)) for w in SHORTEST]
    sa_over_style = [
        max(facts.best(w, s) for s in (literal, tuned)) / max(facts.styles(w)) for w in SHORTEST
    ]
    by_style = [
        max(facts.optimum[w.name] / facts.styles(w)[i] for w in SHORTEST) for i in range(3)
    ]
    exact = facts.measured.of_group("moe-50", searchers.EXACT, ASKED)
    paper_runs = facts.measured.of_group("moe-50", agent, ASKED)
    proof = max(run.wall_s for run in exact)
    longest = max(run.wall_s for run in paper_runs)
    return [
        (
            "The agent has up to 2.76× the throughput of random walk",
            f"`ppo-paper` {span(over_walk)}; the optimum itself {span(facts.ceilings)}",
            "cannot be: no strategy has 2.76×"
            if ceiling < 2.76
            else "possible, not reached"
            if max(over_walk) < 2.76
            else "reproduced",
            "how good a random walk is, and that on the SLO, the batches and the memory",
        ),
        (
            "The agent is ahead of random walk on all six workloads",
            f"{sum(r > 1 for r in over_walk)} of {len(over_walk)}",
            "open: too few seeds"
            if least < ENOUGH
            else "reproduced"
            if min(over_walk) > 1
            else "not reproduced",
            "how good a random walk is",
        ),
        (
            "Annealing is below random walk on five of six",
            f"{below} of 6 for {literal.label}",
            "reproduced" if below >= 5 else "not reproduced",
            "what the paper's moves are, which it does not say; here one variable is redrawn",
        ),
        (
            "The agent has up to 3.5× the throughput of annealing",
            f"{span(over_literal)} that of {literal.label}",
            "reproduced" if max(over_literal) >= 3.5 else "not reproduced",
            "the row above: the factor is the weakness of the baseline",
        ),
        (
            "The agent's plan is up to 1.06× the heuristic's (Figure 3)",
            f"the optimum is at most {', '.join(map(markdown.times, by_style))} over classic, slice and"
            f" sequence-parallel dims; `ppo-paper`'s best {span(best_over_style)} over the best of the three",
            "between styles: above slices it is possible, above sequence parallelism it cannot be"
            if by_style[2] < 1.06
            else "possible",
            "which of Megatron's styles is *the* heuristic",
        ),
        (
            "An FFN that gathers can beat one that reduces (Figure 4)",
            f"with Megatron's dims everywhere else it has {span(ffn.gathering_over_reducing())} on two machines",
            "reproduced elsewhere: fine-grained experts do it, see [Where dims pay](WhereDimsPay.md#which-dims-and-why)"
            if max(ffn.gathering_over_reducing()) < 1
            else "reproduced",
            "the width of an expert beside that of the model",
        ),
        (
            "Metaheuristics do not reach the heuristic",
            f"the best annealing run has {span(sa_over_style)} of the best style",
            "not reproduced" if max(sa_over_style) > 0.999 else "reproduced",
            "the number of seeds, and the annealing",
        ),
        (
            "A search takes less than ten minutes",
            f"`ppo-paper` {longest:.0f} s at most",
            "reproduced" if longest < 600 else "not reproduced",
            "LibTorch's BLAS; the simulator is no part of it",
        ),
        (
            "An exhaustive search would take about 100 days (Appendix C)",
            f"`exact` proves the optimum in {proof:.1f} s at most",
            "refuted for a simulator that can be opened",
            "costs that add up over a chain of operators; a black box has none of it and pays a call a strategy",
        ),
        (
            "Dims and degrees have to be chosen together",
            "[Where dims pay](WhereDimsPay.md): 2 % or more in some workloads, none in most",
            "reproduced, but not on the paper's six workloads",
            "expert counts, MLA, links between nodes, and a limit on latency that binds",
        ),
    ]


HEAD = """<!-- Generated from bench/search/results.csv by ./dev bench search --page. Do not edit. -->

# The paper, claim by claim

[Learning to Shard](https://arxiv.org/abs/2509.00217) lets an agent choose degrees and the dim of every operator together. Its
simulator, its model's sizes and the domains of its degrees are not published. This page says what of it comes out here, with
`searcher=ppo-paper`, the agent [as the paper describes it](Agent.md#ppo-paper), and what each result depends on. Every search has a
budget of 4000 strategies asked for, invalid and repeated ones counted, as the paper counts."""

CHOICES = """## What is this project's own choice

- **Models.** "GPT-MoE 1.2T and 1.6T" are `examples/configs/gpt-moe-*.json`: GPT-3's geometry, 60 and 80 layers, 16 experts, two a token.
- **Domains.** tp, ep, pp and batch have 7, 5, 8 and 14 values for these models; with 12 operators of three dims each that is 2.1·10⁹
  strategies (the paper says about 10⁹), on up to 24 576 devices (24k).
- **Limits.** Decode, 50 ms a token, no limit on devices; `h100_sxm` with 72 GB usable. The paper gives no number for its SLO.
- **Batches end at 8192.** The optimum of gpt-moe-1.2T-16k is there: that row is cut by the domain.
- **Random walk and annealing** redraw one variable a step. `annealing` as it comes here is another one than the paper's: its energy is the
  logarithm of the throughput, T0 is 0.5 and invalid strategies are ordered by how far they exceed the limits. The row *as in the paper* has
  `agent-options=initial-temperature=100,raw-energy=true`: tokens/s, T0 = 100, −1000 for whatever is invalid.
- **The agent's open ends**, α = β = 1 and −1000 among them, are listed in [Agents](Agent.md#ppo-paper). Their sensitivity is not measured.
- **What the space cannot say**: context parallelism and attention that is data-parallel across tensor-parallel experts as degrees of their own
  (the degrees of [serving engines](Degrees.md) have both, in a search of their own), redundant experts, layers of unlike dims
  (`dims=per-layer` has them), and fractions of a micro-batch.
- **`ep` of a dense model** is a number of replicas of everything, with no collective between them."""


def text(measured, docs):
    """The page."""
    facts = Facts(measured)
    if not facts.complete:
        return f"{HEAD}\n\nNot measured yet.\n\n{CHOICES}\n"
    rows = claims(facts)
    header = ["claim of the paper", "here", "verdict", "depends on"]
    shares = ", ".join(
        f"{searcher.label} {markdown.ratio(facts.share(searcher))}" for searcher in facts.of
    )
    parts = [
        HEAD,
        "## Claims",
        _words(header, rows),
        "## Table 1",
        f"Mean throughput over that of random walk (n = {facts.runs(WALK)} a workload), in brackets its 95 % interval by Student's"
        " t on the logarithm, of both. The ceiling is the optimum over the same: no searcher can be above it.",
        table_1(facts),
        f"Of the optimum, in the mean of the six: {shares}.",
        "## Figure 3",
        "The best plan of all seeds over the best plan with Megatron's dims, whose degrees were all tried.",
    ]
    if (docs / "figures" / FIGURE).exists():
        parts.append(f"![Best of all seeds over Megatron's plans](figures/{FIGURE})")
    parts += [figure_3(facts), ffn.section(), CHOICES]
    return "\n\n".join(parts) + "\n"


def _words(header, rows):
    """A table of text."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
