"""The first lines of the page: what to use when, with a number each."""

from . import markdown, searchers
from .manifest import ASKED
from .summary import Summary


def _of(measured, group, searcher):
    """(summary, n) of what was measured, or None."""
    runs = measured.of_group(group, searcher, ASKED)
    return Summary.of(runs) if runs else None


def _score(summary):
    seeds = "one seed" if summary.seeds == 1 else f"{summary.seeds} seeds"
    mean = markdown.ratio(summary.mean)
    return f"{mean} of the optimum in the mean (n = {summary.runs}, {seeds})"


def _learned_where_dims_pay(measured):
    """What a policy is worth under the joint critic, or nothing where it was not measured."""
    rows = (
        (f"`{searchers.PPO.name}`", searchers.PPO),
        ("untrained", searchers.PPO_UNTRAINED),
        ("taught on other models first", searchers.PPO_TAUGHT),
    )
    found = [(label, _of(measured, "dims", searcher)) for label, searcher in rows]
    if not all(summary for _, summary in found):
        return ""
    shown = ", ".join(f"{label} {markdown.ratio(s.mean)} (n = {s.runs})" for label, s in found)
    return f" Where dims pay: {shown}."


def lines(measured):
    """A list of at most five items; an item whose rows are missing is left out."""

    def item(words, *rows):
        found = [_of(measured, group, searcher) for group, searcher in rows]
        return words(*found) if all(found) else None

    items = (
        item(
            lambda s: f"**The simulator can be opened** (the roofline, measured kernels): `exact`. It proves the"
            f" optimum, in {s.wall_s:.1f} s on these workloads (n = {s.runs}). The other searchers are for black-box simulators.",
            ("moe-50", searchers.EXACT),
        ),
        item(
            lambda s, unlike: f"**A black-box simulator that resembles the roofline**: `surrogate`, the default. It starts"
            f" from the roofline's plan and corrects the roofline: {markdown.ratio(s.mean)} of the best known in the"
            f" mean (n = {s.runs}). If that plan is invalid, it needs {markdown.calls(unlike.calls)} calls to 99 %, and"
            f" reaches {markdown.ratio(unlike.mean)} in the mean (n = {unlike.runs}), {markdown.ratio(unlike.min)} at worst.",
            ("fixed", searchers.SURROGATE),
            ("unlike", searchers.SURROGATE),
        ),
        item(
            lambda s, scarce: f"**A black-box simulator without a similar model**: `surrogate` too. Where dims pay it reaches"
            f" {_score(s)}, {markdown.ratio(s.min)} at worst, and 99 % after {markdown.calls(s.calls)} calls."
            f" Where almost nothing is feasible it misses some optima: {markdown.ratio(scarce.mean)}"
            f" in the mean (n = {scarce.runs}), {markdown.ratio(scarce.min)} at worst.",
            ("dims", searchers.SURROGATE),
            ("scarce-kept", searchers.SURROGATE),
        ),
        item(
            lambda moe, dims: f"**Calls are almost free**: `coordinate`, which computes nothing between them. It reaches"
            f" {_score(moe)} near Megatron's dims, and {markdown.ratio(dims.mean)} where dims pay"
            f" (n = {dims.runs}).",
            ("moe-50", searchers.COORDINATE),
            ("dims", searchers.COORDINATE),
        ),
        item(
            lambda ppo, untrained, paper: "**Learning a policy** is not needed: `ppo` with the ridge critic reaches"
            f" {markdown.ratio(ppo.mean)} (n = {ppo.runs}) on GPT-MoE at 50 ms. Untrained, with the same critic, it"
            f" reaches {markdown.ratio(untrained.mean)} (n = {untrained.runs}). `ppo-paper`, the agent as"
            f" [published](Reproduction.md), reaches {markdown.ratio(paper.mean)} (n = {paper.runs})."
            f"{_learned_where_dims_pay(measured)}",
            ("moe-50", searchers.PPO_RIDGE),
            ("moe-50", searchers.PPO_PARTS[1]),
            ("moe-50", searchers.PPO_PAPER),
        ),
    )
    return "\n".join(f"- {line}" for line in items if line) or "Not measured yet."
