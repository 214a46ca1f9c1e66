"""The agent of the paper beside Stable-Baselines3's own PPO, set up in the same way."""

from . import markdown, searchers
from .manifest import ASKED
from .paper import BY_SLO
from .summary import Summary
from .workloads import GROUPS

AGENTS = (searchers.PPO_PAPER, searchers.SB3_PPO)

TEXT = """## The agent from outside

`sb3-ppo` is the PPO of [Stable-Baselines3](https://github.com/DLR-RM/stable-baselines3), which the paper used, with network, elite
history, reward, rollouts, chunks and early exit of `ppo-paper`; it asks `shard-cost` through a pipe. The table has the share of the
optimum after 4000 strategies asked for: the mean, its 95 % interval over seeds, the least and the number of runs. A unit test holds
the losses, the gradients and the parameters of two gradient steps of `ppo-paper` against Stable-Baselines3's, to 1e-6. What differs
is the random numbers, of weights and of strategies."""


def _cell(runs):
    if not runs:
        return markdown.NONE
    s = Summary.of(runs)
    interval = markdown.interval(s.mean_interval, markdown.ratio)
    return f"{markdown.ratio(s.mean)}{interval} (min {markdown.ratio(s.min)}; {s.runs})"


def section(measured):
    """The text, or None where the agent from outside was not run."""
    rows = []
    for slo, group in BY_SLO.items():
        for workload in GROUPS[group].workloads:
            ours, theirs = (measured.of(workload, agent, ASKED) for agent in AGENTS)
            if theirs:
                rows.append([f"{workload.name}, {slo} ms", _cell(ours), _cell(theirs)])
    if not rows:
        return None
    header = ["of the optimum", *(agent.label for agent in AGENTS)]
    return f"{TEXT}\n\n{markdown.table(header, rows)}"
