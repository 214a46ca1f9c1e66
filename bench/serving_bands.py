"""Prediction intervals of serving runs that hold for models, machines and versions that nobody
compared: conformal intervals over groups of runs.

A group has the runs of a model on a machine in a version of an engine. Each is left out in
turn. Quantiles of the others, each group with the same weight, are widened in logarithms by
one factor for all engines, until 80 % of the group that is left out are inside in the mean,
with the correction for as many groups as there are. Shipped intervals are those quantiles of
all groups, widened so.
"""

import collections

import numpy as np

import serving_fidelity as fidelity
import serving_held_out as held_out

PROMISED = 0.8
FACTORS = np.arange(0.6, 6, 0.05)
WHATS = ("tpot", "ttft")


def class_of(row, what):
    """Runs that have one interval; disaggregated ones are too few to tell engines apart, and
    TTFT depends on the engine more than on the model."""
    if row["mode"] == "disagg":
        return "disaggregated"
    kind = "experts" if fidelity.is_expert_model(row) else "dense"
    return f"{row['backend']}, {kind}" if what == "tpot" else row["backend"]


def group_of(row):
    version = row["backend_version"].split(".post")[0]
    return held_out.model_of(row), row["system"], row["backend"], version, row["source_kind"], row["measured"]


def score(row, what):
    return float(np.log(float(row[f"{what}_ms"]) / float(row[f"predicted_{what}_ms"])))


def scores(rows, what):
    """By class, an array for each group."""
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        groups[class_of(row, what)][group_of(row)].append(score(row, what))
    return {name: [np.array(group) for group in found.values()] for name, found in sorted(groups.items())}


def quantile(groups, share):
    """Of values in groups of equal weight."""
    values = np.concatenate(groups)
    weights = np.concatenate([np.full(len(group), 1 / len(group) / len(groups)) for group in groups])
    order = np.argsort(values, kind="stable")
    return values[order][min(np.searchsorted(np.cumsum(weights[order]), share), len(values) - 1)]


def band(groups, factor):
    low, high = (quantile(groups, share) for share in ((1 - PROMISED) / 2, (1 + PROMISED) / 2))
    return (low + high) / 2 - factor * (high - low) / 2, (low + high) / 2 + factor * (high - low) / 2


def covered(classes, factor):
    """By class, the mean share of a group that is left out which is inside."""
    found = {}
    for name, groups in classes.items():
        inside = []
        for i, group in enumerate(groups if len(groups) > 1 else ()):
            low, high = band(groups[:i] + groups[i + 1 :], factor)
            inside.append(np.mean((low <= group) & (group <= high)))
        found[name] = inside
    return found


def conformal(classes):
    """The factor, and by class its interval and the coverage of groups left out."""
    count = sum(map(len, classes.values()))
    wanted = PROMISED * (count + 1) / count
    mean = lambda factor: np.mean([share for shares in covered(classes, factor).values() for share in shares])
    factor = next((factor for factor in FACTORS if mean(factor) >= wanted), FACTORS[-1])
    out = covered(classes, factor)
    return factor, {
        name: (np.exp(band(groups, factor)), np.mean(out[name]) if out[name] else np.nan, len(groups))
        for name, groups in classes.items()
    }


def is_inside(row, what, middle):
    """Whether the column `middle` of the prediction, the mean or a percentile, is as near to
    what was measured as the shipped interval says of means."""
    low, high = (
        float(row[f"{what}_{end}_ms"]) / float(row[f"predicted_{what}_ms"]) for end in ("low", "high")
    )
    return low <= float(row[f"{what}_ms"]) / float(row[middle]) <= high


def inside(rows, what):
    """The share within the shipped intervals, in %."""
    if len(rows) < 5:
        return "–"
    # A set of medians has columns of the harness alone.
    middle = f"{what}_p50_ms" if "spec" in rows[0] else f"predicted_{what}_ms"
    return f"{100 * np.mean([is_inside(row, what, middle) for row in rows]):.0f}"


def shipped(rows, what):
    """The interval that rows of a class have, over the prediction; rows have three digits."""
    ends = [
        np.median([float(row[f"{what}_{end}_ms"]) / float(row[f"predicted_{what}_ms"]) for row in rows])
        for end in ("low", "high")
    ]
    return " – ".join(f"{end:.2f}" for end in ends)


def table(sample, others):
    """The lines of the page: `sample` are runs that choose intervals, `others` named ones that
    do not."""
    for what in WHATS:
        if what != WHATS[0]:
            yield ""
        together = scores(sample, what)
        apart = {"disaggregated": together.pop("disaggregated")}
        chosen, factors = {}, []
        for classes in (together, apart):
            factor, found = conformal(classes)
            factors.append(factor)
            chosen |= found
        yield f"{what.upper()}: aggregated quantiles are widened {factors[0]:.2f} times, disaggregated ones {factors[1]:.2f} times."
        yield ""
        yield f"| {what.upper()} | groups | conformal | shipped | in the sample | groups left out | " + " | ".join(others) + " |"
        yield "|---|--:|--:|--:|--:|--:|" + "--:|" * len(others)
        for name, (ends, out, count) in chosen.items():
            rows = [row for row in sample if class_of(row, what) == name]
            cells = [name, str(count), " – ".join(f"{end:.2f}" for end in ends), shipped(rows, what), inside(rows, what)]
            cells.append("–" if np.isnan(out) else f"{100 * out:.0f}")
            cells += [inside([row for row in found if class_of(row, what) == name], what) for found in others.values()]
            yield "| " + " | ".join(cells) + " |"
