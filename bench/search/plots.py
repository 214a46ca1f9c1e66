"""Draws the best-so-far curves, one picture a group, with bands over seeds.

Runs in the virtual environment. The same rows give the same bytes.
"""

import argparse
import pathlib

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt  # noqa: E402

from . import paper, reference, reproduction, scores, searchers  # noqa: E402
from .intervals import mean, quantile  # noqa: E402
from .groups import ACCOUNTING_TITLES  # noqa: E402
from .measured import Measured  # noqa: E402
from .results import Results  # noqa: E402
from .verdict import accounting_of  # noqa: E402
from .workloads import GROUPS  # noqa: E402

# In the order of the legend; colours are those of Okabe and Ito, which people
# with colour blindness can tell apart.
CURVES = {
    searchers.PPO: "#D55E00",
    searchers.SURROGATE: "#0072B2",
    searchers.COORDINATE: "#009E73",
    searchers.CATCMAWM: "#CC79A7",
    searchers.ANNEALING: "#E69F00",
    searchers.PPO_PAPER: "#000000",
    searchers.RANDOM_WALK: "#999999",
}
BAND = (0.1, 0.9)  # quantiles over runs
SMALLEST_GAP = 1e-4  # below it, a curve lies on the axis


def curve(runs, grid):
    """(mean, low, high) over runs at every number of calls."""
    lines = [[run.ratio_at(calls) for calls in grid] for run in runs]
    columns = list(zip(*lines))
    return (
        [mean(column) for column in columns],
        *([quantile(column, q) for column in columns] for q in BAND),
    )


def draw(group, measured, budget, path):
    """One picture: the ratio, and beside it the gap on a logarithmic axis."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8))
    grid = scores.log_grid(budget)
    accounting = accounting_of(group.name)
    for searcher, colour in CURVES.items():
        runs = measured.of_group(group.name, searcher, accounting)
        if not runs:
            continue
        middle, low, high = curve(runs, grid)
        label = f"{searcher.name}, n = {len(runs)}"
        left.plot(grid, middle, color=colour, label=label, linewidth=1.4)
        left.fill_between(grid, low, high, color=colour, alpha=0.15, linewidth=0)
        gaps = [max(1 - value, SMALLEST_GAP) for value in middle]
        right.plot(grid, gaps, color=colour, linewidth=1.4)
    for axes, title in ((left, "best so far / optimum"), (right, "1 − best so far / optimum")):
        axes.set_xscale("log")
        axes.set_xlim(grid[0], grid[-1])
        axes.set_xlabel("charged calls")
        axes.set_title(title, fontsize=10)
        axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    left.set_ylim(0, 1.02)
    right.set_yscale("log")
    right.set_ylim(SMALLEST_GAP, 1)
    right.axhline(1 - scores.NEAR, color="#666666", linewidth=0.8, linestyle=":")
    left.legend(fontsize=7, loc="lower right")
    figure.suptitle(f"{group.title}; {ACCOUNTING_TITLES[accounting].lower()}", fontsize=10)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def draw_bars(measured, path):
    """The paper's Figure 3: at 16k, the best of all seeds over Megatron's best plan."""
    facts = paper.Facts(measured)
    if not facts.complete:
        return
    figure, axes = plt.subplots(figsize=(8, 3.2))
    bars = (*searchers.MEGATRON, searchers.RANDOM_WALK, *facts.of)
    for index, workload in enumerate(paper.SHORTEST):
        base = max(facts.styles(workload))
        heights = [facts.best(workload, searcher) / base for searcher in bars]
        places = [x + 0.4 * index for x in range(len(bars))]
        colour = ("#0072B2", "#E69F00")[index]
        axes.bar(places, heights, 0.38, color=colour, label=workload.name)
        axes.axhline(
            facts.optimum[workload.name] / base, color=colour, linewidth=0.8, linestyle=":"
        )
    names = [s.name + (f",\n{s.title}" if s.title else "") for s in bars]
    axes.set_xticks([x + 0.2 for x in range(len(bars))], names, fontsize=6)
    axes.set_ylabel("over the best of Megatron's styles", fontsize=8)
    axes.legend(fontsize=7, loc="lower left")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--budget", type=int, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    args = parser.parse_args()

    matplotlib.rcParams["svg.hashsalt"] = "shardopt"
    matplotlib.rcParams["svg.fonttype"] = "none"
    results = Results.load(args.results)
    known = reference.load_best_known(reference.BEST_KNOWN)
    measured = Measured(results, reference.References(results, known), args.budget)
    args.output.mkdir(parents=True, exist_ok=True)
    for name, group in GROUPS.items():
        path = args.output / f"search-{name}.svg"
        if any(measured.of_group(name, searcher, accounting_of(name)) for searcher in CURVES):
            draw(group, measured, args.budget, path)
    draw_bars(measured, args.output / reproduction.FIGURE)


if __name__ == "__main__":
    main()
