"""The sections beside "Learning to Shard" (arXiv 2509.00217)."""

from . import markdown, searchers
from .intervals import mean
from .manifest import CHARGED, FREE
from .workloads import GROUPS

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
AGENTS = (searchers.PPO_PAPER, searchers.PPO)


def _mean_best(measured, workload, searcher, accounting):
    runs = measured.of(workload, searcher, accounting)
    return mean([run.best for run in runs]) if runs else None


def _over(value, base):
    return markdown.times(value / base) if value and base else markdown.NONE


def _table_1(measured, accounting):
    """Ratios to random walk, and to annealing, beside the paper's."""
    to_walk, to_annealing = [], []
    for workload in GROUPS["moe-50"].workloads:
        paper_annealing, paper_agent = TABLE_1[workload.name]
        walk, annealing, *agents = (
            _mean_best(measured, workload, searcher, accounting)
            for searcher in (searchers.RANDOM_WALK, searchers.ANNEALING, *AGENTS)
        )
        optimum = measured.reference(workload)
        to_walk.append(
            [
                workload.name,
                *map(markdown.times, (paper_annealing, paper_agent)),
                *(_over(value, walk) for value in (annealing, *agents, optimum)),
            ]
        )
        to_annealing.append(
            [
                workload.name,
                markdown.times(paper_agent / paper_annealing),
                *(_over(value, annealing) for value in (*agents, optimum)),
            ]
        )
    names = [searcher.label for searcher in AGENTS]
    return (
        markdown.table(
            ["over random walk", "paper: SA", "paper: agent", "`annealing`"]
            + [*names, "ceiling"],
            to_walk,
        ),
        markdown.table(["over annealing", "paper: agent", *names, "ceiling"], to_annealing),
    )


def table_1_section(measured):
    """Its Table 1, under both accountings."""
    parts = [
        "## Beside Table 1 of the paper",
        "Mean throughput over that of random walk, and over that of annealing. The"
        " ceiling is the optimum over the same: no searcher can be above it. The"
        " paper's simulator is another one, and so is its random walk.",
    ]
    for accounting, title in (
        (CHARGED, "Every draw charged, as in the paper"),
        (FREE, "Repeats and masked degrees free"),
    ):
        if measured.of_group("moe-50", searchers.RANDOM_WALK, accounting):
            parts += [f"### {title}", *_table_1(measured, accounting)]
    if len(parts) == 2:
        parts.append("Not measured yet.")
    return "\n\n".join(parts)


# --- Figure 3 -----------------------------------------------------------------


def _best(measured, workload, searcher):
    return max((run.best for run in measured.of(workload, searcher, FREE)), default=0)


def _figure_3(group, measured):
    header = ["best of all seeds", *(f"over `{s.name}`" for s in searchers.MEGATRON)]
    rivals = (searchers.RANDOM_WALK, searchers.ANNEALING, *AGENTS)
    header += [f"{s.label} over the best of the three" for s in rivals]
    rows = []
    for workload in GROUPS[group].workloads:
        bases = [_best(measured, workload, style) for style in searchers.MEGATRON]
        agent = _best(measured, workload, searchers.PPO)
        ceiling = measured.reference(workload)
        if not any(bases) or not ceiling:
            continue
        cells = [
            f"{_over(agent, base)} ({_over(ceiling, base)})" if base else markdown.NONE
            for base in bases
        ]
        found = [_best(measured, workload, rival) for rival in rivals]
        rows.append(
            [workload.name, *cells, *(_over(value, max(bases)) for value in found)]
        )
    return markdown.table(header, rows) if rows else None


def figure_3_section(measured):
    """Its Figure 3: what dims are worth beside those of Megatron."""
    parts = [
        "## Beside Figure 3 of the paper",
        "The best plan over all seeds, over the best plan with Megatron's dims, whose"
        " degrees were all tried. In parentheses the ceiling: the optimum over the"
        f" same. Columns `over` are those of {searchers.PPO.label}; the paper reports"
        " up to 1.06×, at a context of 16k, against one style.",
    ]
    for group in GROUPS:
        table = _figure_3(group, measured)
        if table:
            parts += [f"### {GROUPS[group].title}", table]
    if len(parts) == 2:
        parts.append("Not measured yet.")
    return "\n\n".join(parts)
