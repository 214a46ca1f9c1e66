"""Who is ahead: paired differences of the searchers that learn to all others.

A searcher is ahead of another where the interval of the paired difference in the mean
leaves 0 out, at a level divided by the number of comparisons that are made.
"""

from . import markdown, searchers
from .groups import MAIN
from .manifest import ASKED, FREE
from .summary import Comparison
from .workloads import GROUPS

LEARNED = (searchers.SURROGATE, searchers.PPO)


def accounting_of(group):
    """How the calls of a group are counted where searchers are compared: as by default,
    where the others were measured so."""
    return FREE if group in ("runtime", "fixed") else ASKED


def _pairs(measured):
    """The runs to compare, (group, learned, rival) to two lists of runs."""
    found = {}
    for group in GROUPS:
        accounting = accounting_of(group)
        for index, learned in enumerate(LEARNED):
            ours = measured.of_group(group, learned, accounting)
            for rival in (s for s in MAIN if s not in LEARNED[: index + 1]):
                theirs = measured.of_group(group, rival, accounting)
                if Comparison.of(ours, theirs):
                    found[group, learned, rival] = ours, theirs
    return found


def section(measured):
    """The text: a table of each of the two, a row a rival."""
    pairs = _pairs(measured)
    parts = [
        "## Who is ahead",
        "Mean ratio less that of the rival, over the runs that both have in common (same"
        " workload, same seed; n). In bold where the interval leaves 0 out with its level"
        f" divided by the {len(pairs)} comparisons made here (Bonferroni). On the procedural"
        " simulator repeats are free for all, elsewhere every strategy asked for counts.",
    ]
    for learned in LEARNED:
        groups = [g for g in GROUPS if any(k[:2] == (g, learned) for k in pairs)]
        rivals = [r for r in MAIN if any(k[1:] == (learned, r) for k in pairs)]
        rows = []
        for rival in rivals:
            cells = [f"{learned.label} − {rival.label}"]
            for group in groups:
                runs = pairs.get((group, learned, rival))
                if not runs:
                    cells.append(markdown.NONE)
                    continue
                comparison = Comparison.of(*runs, len(pairs))
                shown = markdown.difference(comparison.mean, markdown.ratio)
                cells.append(f"{shown} (n = {comparison.pairs})")
            rows.append(cells)
        if rows:
            parts.append(markdown.table(["", *(GROUPS[g].title for g in groups)], rows))
    if len(parts) == 2:
        parts.append("Not measured yet.")
    return "\n\n".join(parts)
