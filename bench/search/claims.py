"""What the paper claims, what comes out here, and what that depends on."""

from . import dims_pay, ffn, markdown, searchers
from .intervals import ENOUGH
from .manifest import ASKED, BUDGET
from .paper import BY_SLO, SHORTEST, WORKLOADS, span
from .summary import Summary

# 100 days for 10^9 strategies, as its section 4 has it.
SECONDS_A_STRATEGY = 100 * 86400 / 1e9


def _calls_of_default(measured):
    """How soon `surrogate` is at 99 % on the paper's workloads, or nothing."""
    runs = measured.of_group("moe-50", searchers.SURROGATE, ASKED)
    if not runs:
        return ""
    calls = Summary.of(runs).calls
    seconds = calls * SECONDS_A_STRATEGY
    return f"; `surrogate` is at 99 % after {calls:.0f}, {seconds:.1f} s (n = {len(runs)})"


LINK = "#where-dims-pay"  # the section of the page

# The verdicts, from best to worst; what a claim depends on stands behind the second.
REPRODUCED = "reproduced"
DEPENDS = "depends on"
NOT_HERE = "not at these settings"
CONTRADICTED = "contradicted at all settings tried"
OPEN = "open: too few seeds"


def _verdict_by_slo(reached, wanted, possible=0):
    """On a factor that is wanted: what is reached by the SLO, and what any strategy has."""
    if max(reached[50]) >= wanted:
        return REPRODUCED
    if max(possible, *map(max, reached.values())) >= wanted:
        return f"{DEPENDS} the SLO"
    return NOT_HERE


def _verdict_on_all(ahead, seeds):
    """On all six: in how many the agent is ahead at each SLO, and the seeds at 50 ms."""
    if seeds < ENOUGH:
        return OPEN
    if min(ahead) == len(WORKLOADS):
        return REPRODUCED
    return f"{DEPENDS} the SLO" if max(ahead) == len(WORKLOADS) else NOT_HERE


def _at(by_slo, runs=None):
    """"1.20× to 1.51× at 50 ms (n = 10), 2.00× at 25 ms (n = 5)"."""
    words = []
    for slo, ratios in by_slo.items():
        words.append(f"{span(ratios)} at {slo} ms" + (f" (n = {runs[slo]})" if runs else ""))
    return ", ".join(words)


def _longest_proof(facts):
    """CPU seconds. A process has one thread; other work changes its wall time more."""
    return max(run.cpu_s for run in facts.measured.of_group("moe-50", searchers.EXACT, ASKED))


def proof_text(facts):
    return f"of {_longest_proof(facts):.1f} CPU seconds at most"


def tally(rows):
    """How many claims have which verdict, in words."""
    verdicts = [verdict for _, _, verdict, _ in rows]
    counts = {
        REPRODUCED: verdicts.count(REPRODUCED),
        f"{DEPENDS} what the paper does not fix": sum(
            verdict.startswith(DEPENDS) for verdict in verdicts
        ),
        NOT_HERE: verdicts.count(NOT_HERE),
        CONTRADICTED: verdicts.count(CONTRADICTED),
        OPEN: verdicts.count(OPEN),
    }
    named = [f"{what} {count}" for what, count in counts.items() if count]
    return f"Verdicts on {len(rows)} claims: {', '.join(named)}."


def _where_dims_pay(facts):
    """What the paper's agent makes of them, or nothing."""
    said = dims_pay.agent_text(dims_pay.Group(facts.measured, "dims"))
    return f". [There]({LINK}) {said}" if said else ""


def rows(facts):
    """Rows of (claim, here, verdict, what it depends on)."""
    agent, tuned = searchers.PPO_PAPER, searchers.ANNEALING
    literal = searchers.PAPER_ANNEALING if searchers.PAPER_ANNEALING in facts.of else tuned
    ceilings = {slo: facts.ceilings_of(group) for slo, group in BY_SLO.items()}
    ceilings = {slo: ratios for slo, ratios in ceilings.items() if ratios}
    over_walk, over_literal = facts.by_slo(agent), facts.by_slo(agent, literal)
    runs = {slo: facts.runs_of(BY_SLO[slo], agent) for slo in over_walk}
    ahead = {slo: sum(ratio > 1 for ratio in ratios) for slo, ratios in over_walk.items()}
    annealed_over_walk = [r for ratios in facts.by_slo(literal).values() for r in ratios]
    below = sum(ratio < 1 for ratio in annealed_over_walk)
    best_over_style = [facts.best(w, agent) / max(facts.styles(w)) for w in SHORTEST]
    sa_over_style = [
        max(facts.best(w, s) for s in (literal, tuned)) / max(facts.styles(w)) for w in SHORTEST
    ]
    annealed = " + ".join(facts.runs(s) for s in dict.fromkeys((literal, tuned)))
    by_style = [
        max(facts.optimum[w.name] / facts.styles(w)[i] for w in SHORTEST) for i in range(3)
    ]
    exact = facts.measured.of_group("moe-50", searchers.EXACT, ASKED)
    paper_runs = facts.measured.of_group("moe-50", agent, ASKED)
    longest = max(run.cpu_s for run in paper_runs)
    calls = _calls_of_default(facts.measured)
    return [
        (
            "The agent has up to 2.76× the throughput of random walk",
            f"`ppo-paper` {_at(over_walk, runs)}; the optimum itself {_at(ceilings)}",
            _verdict_by_slo(over_walk, 2.76, max(map(max, ceilings.values()))),
            "the SLO, which the paper does not give: how good a random walk is depends on it, on the batches and on the memory",
        ),
        (
            "The agent is ahead of random walk on all six workloads",
            ", ".join(f"{n} of {len(WORKLOADS)} at {slo} ms (n = {runs[slo]})" for slo, n in ahead.items()),
            _verdict_on_all(list(ahead.values()), facts.least_runs("moe-50", agent)),
            "how good a random walk is",
        ),
        (
            "Annealing is below random walk on five of six",
            f"{below} of {len(annealed_over_walk)} for {literal.label}, over the SLOs below (n = {facts.runs(literal)} a workload)",
            REPRODUCED if below >= 5 / 6 * len(annealed_over_walk) else NOT_HERE if below else CONTRADICTED,
            "what the paper's moves are, which it does not say; here one variable is redrawn",
        ),
        (
            "The agent has up to 3.5× the throughput of annealing",
            f"{_at(over_literal, runs)} that of {literal.label}",
            _verdict_by_slo(over_literal, 3.5),
            "the row above: the factor is the weakness of the baseline",
        ),
        (
            "The agent's plan is up to 1.06× the heuristic's (Figure 3)",
            f"the optimum is at most {', '.join(map(markdown.times, by_style))} over classic, slice and"
            f" sequence-parallel dims; `ppo-paper`'s best {span(best_over_style)} over the best of the three",
            f"{DEPENDS} the heuristic" if max(by_style) >= 1.06 else NOT_HERE,
            "which of Megatron's styles is *the* heuristic",
        ),
        (
            "An FFN that gathers can beat one that reduces (Figure 4)",
            f"with Megatron's dims everywhere else it has {span(ffn.gathering_over_reducing())} on two machines; fine-grained"
            " experts do it, see [Where dims pay](WhereDimsPay.md#which-dims-and-why)",
            f"{DEPENDS} the experts" if max(ffn.gathering_over_reducing()) < 1 else REPRODUCED,
            "the width of an expert over that of the model",
        ),
        (
            "Metaheuristics do not reach the heuristic",
            f"the best of all annealing runs has {span(sa_over_style)} of the best style (n = {annealed} a workload)",
            NOT_HERE if max(sa_over_style) > 0.999 else REPRODUCED,
            "the number of seeds, and the annealing",
        ),
        (
            "A search takes less than ten minutes",
            f"`ppo-paper` {longest:.0f} CPU seconds at most (n = {len(paper_runs)})",
            REPRODUCED if longest < 600 else NOT_HERE,
            "LibTorch's BLAS; the simulator is no part of it",
        ),
        (
            "An exhaustive search would take about 100 days (section 4)",
            f"`exact` proves the optimum in {_longest_proof(facts):.1f} CPU seconds at most (n = {len(exact)}). A black-box simulator as slow as the paper's,"
            f" {1000 * SECONDS_A_STRATEGY:.1f} ms a strategy, takes {BUDGET * SECONDS_A_STRATEGY:.0f} s for {BUDGET} of them{calls}",
            f"{DEPENDS} the simulator",
            "costs that add up over a chain of operators; with a black-box simulator each strategy takes a call",
        ),
        (
            "Dims and degrees have to be chosen together",
            "[Where dims pay](WhereDimsPay.md): 2 % or more in some workloads, none in most" + _where_dims_pay(facts),
            f"{DEPENDS} the workload",
            "expert counts, MLA, links between nodes, and a limit on latency that binds",
        ),
    ]
