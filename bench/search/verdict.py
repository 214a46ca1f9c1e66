"""The first paragraph: where a simple method beats reinforcement learning.

A method beats another where the 95 % interval of the paired difference, in the
mean ratio or in the median calls to 99 %, leaves 0 out in its favour, and that
of the other number does not speak against it.
"""

from . import markdown, searchers
from .groups import MAIN
from .manifest import CHARGED, FREE
from .summary import Comparison, Summary
from .workloads import GROUPS

AGENT = searchers.PPO
SIMPLE = [searcher for searcher in MAIN if not searcher.learns_policy]


def _against(rival, comparison, measured, group):
    """Words on how `rival` beats the agent."""
    theirs, ours = (
        Summary.of(measured.of_group(group, searcher, FREE))
        for searcher in (rival, AGENT)
    )
    words = []
    if comparison.mean.sign > 0:
        words.append(
            f"in the mean ({markdown.ratio(theirs.mean)} against"
            f" {markdown.ratio(ours.mean)}, difference"
            f" {markdown.difference(comparison.mean, markdown.ratio)})"
        )
    if comparison.calls.sign < 0:
        words.append(
            f"in calls to 99 % (median {markdown.calls(theirs.calls)} against"
            f" {markdown.calls(ours.calls)}, difference"
            f" {markdown.difference(comparison.calls, markdown.calls)})"
        )
    return f"{rival.label} {' and '.join(words)}"


def _on_agent(group, measured):
    """(whether a simple method beats the agent, the sentence) of a group."""
    title = GROUPS[group].title
    agent = measured.of_group(group, AGENT, FREE)
    if not agent:
        return False, f"{title}: {AGENT.label} is not measured yet."
    winners, level, beaten = [], [], []
    for rival in SIMPLE:
        comparison = Comparison.of(measured.of_group(group, rival, FREE), agent)
        if not comparison:
            continue
        if comparison.first_wins:
            winners.append(_against(rival, comparison, measured, group))
        else:
            (beaten if comparison.second_wins else level).append(rival.label)
    if not winners + level + beaten:
        return False, f"{title}: {AGENT.label} is compared with nothing yet."
    words = []
    if winners:
        words.append(f"{AGENT.label} is beaten by {markdown.enumeration(winners)}")
    else:
        words.append(f"no simple method beats {AGENT.label}")
    if level:
        words.append(f"{markdown.enumeration(level)} cannot be told from it")
    if beaten:
        words.append(f"it beats {markdown.enumeration(beaten)}")
    return bool(winners), f"**{title}**: {'; '.join(words)}."


def _on_default(group, measured):
    """(whether anything beats the default of black boxes in the mean, the
    sentence) of a group of black boxes."""
    default = searchers.BLACK_BOX_DEFAULT
    runs = measured.of_group(group, default, FREE)
    winners = []
    for rival in (*MAIN, *searchers.PPO_PARTS, *searchers.PPO_TRANSFER):
        comparison = Comparison.of(measured.of_group(group, rival, FREE), runs)
        if comparison and rival != default and comparison.mean.sign > 0:
            shown = markdown.difference(comparison.mean, markdown.ratio)
            winners.append(f"{rival.label} ({shown})")
    if not runs:
        return False, ""
    if not winners:
        return False, f"There, nothing beats the default, {default.label}, in the mean."
    return True, (
        f"There, the default, {default.label}, is beaten in the mean by"
        f" {markdown.enumeration(winners)}."
    )


def _on_exact(measured):
    runs = measured.of_group("moe-50", searchers.EXACT, FREE)
    if not runs:
        return []
    wall = f"{Summary.of(runs).wall_s:.1f}"
    return [
        f"On the roofline, which can be opened, {searchers.EXACT.label} proves the optimum"
        f" in {wall} s: there, no searcher that asks is worth its calls."
    ]


def _on_charged(measured):
    """Who is ahead of the agent in the mean where rejected draws are charged."""
    said = []
    for name, group in GROUPS.items():
        agent = measured.of_group(name, AGENT, CHARGED)
        if not agent:
            continue
        ours = Summary.of(agent).mean
        ahead = []
        for rival in SIMPLE:
            runs = measured.of_group(name, rival, CHARGED)
            if runs and Summary.of(runs).mean > ours:
                ahead.append(f"{rival.label} ({markdown.ratio(Summary.of(runs).mean)})")
        if ahead:
            said.append(
                f"**Where every rejected draw is charged too** ({group.title}),"
                f" {markdown.enumeration(ahead)} reach more in the mean than"
                f" {AGENT.label} ({markdown.ratio(ours)})."
            )
    return said


def paragraph(measured):
    """What is said of each group, those with a defeat first."""
    said = []
    for name, group in GROUPS.items():
        lost, words = _on_agent(name, measured)
        if group.is_black_box:
            default_lost, more = _on_default(name, measured)
            lost, words = lost or default_lost, f"{words} {more}".strip()
        said.append((lost, words))
    said.sort(key=lambda pair: not pair[0])
    sentences = _on_charged(measured) + [words for _, words in said]
    return " ".join(sentences + _on_exact(measured))
