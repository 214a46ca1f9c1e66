"""Draws the best-so-far curves, one picture a group, with bands over seeds.

Runs in the virtual environment. The same rows give the same bytes.
"""

import argparse
import pathlib

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt  # noqa: E402

from . import reference, scores, searchers  # noqa: E402
from .intervals import mean, quantile  # noqa: E402
from .manifest import FREE  # noqa: E402
from .measured import Measured  # noqa: E402
from .results import Results  # noqa: E402
from .workloads import GROUPS  # noqa: E402

# In the order of the legend; colours are those of Okabe and Ito, which people
# with colour blindness can tell apart.
CURVES = {
    searchers.PPO: "#D55E00",
    searchers.SURROGATE: "#0072B2",
    searchers.COORDINATE: "#009E73",
    searchers.CATCMAWM: "#CC79A7",
    searchers.TPE: "#F0E442",
    searchers.ANNEALING: "#E69F00",
    searchers.PPO_PAPER: "#000000",
    searchers.RANDOM: "#999999",
}
BAND = (0.1, 0.9)  # quantiles over seeds
SMALLEST_GAP = 1e-4  # below it, a curve lies on the axis


def curve(runs, grid):
    """(mean, low, high) at every number of calls: of each seed the mean ratio
    over workloads, then the mean and the band over seeds."""
    seeds = {}
    for run in runs:
        seeds.setdefault(run.seed, []).append(run)
    lines = [
        [mean([run.ratio_at(calls) for run in of_seed]) for calls in grid]
        for of_seed in seeds.values()
    ]
    columns = list(zip(*lines))
    return (
        [mean(column) for column in columns],
        *([quantile(column, q) for column in columns] for q in BAND),
    )


def draw(group, measured, budget, path):
    """One picture: the ratio, and beside it the gap on a logarithmic axis."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8))
    grid = scores.log_grid(budget)
    for searcher, colour in CURVES.items():
        runs = measured.of_group(group.name, searcher, FREE)
        if not runs:
            continue
        middle, low, high = curve(runs, grid)
        label = searcher.name + (f", {searcher.title}" if searcher.title else "")
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
    left.legend(fontsize=8, loc="upper left")
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
        if any(measured.of_group(name, searcher, FREE) for searcher in CURVES):
            draw(group, measured, args.budget, path)


if __name__ == "__main__":
    main()
