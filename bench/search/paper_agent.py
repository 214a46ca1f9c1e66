"""The agent of the paper beside Stable-Baselines3's own PPO, set up in the same way."""

from . import markdown, searchers
from .intervals import mean
from .manifest import ASKED
from .paper import WORKLOADS

AGENTS = (searchers.PPO_PAPER, searchers.SB3_PPO)

TEXT = """## The agent from outside

`sb3-ppo` is the PPO of [Stable-Baselines3](https://github.com/DLR-RM/stable-baselines3), which the paper used, with network, elite
history, reward, rollouts, chunks and early exit of `ppo-paper`; it asks `shard-cost` through a pipe. Share of the optimum after 4000
strategies asked for, in brackets the number of runs. A unit test holds the losses, the gradients and the parameters of two gradient
steps of `ppo-paper` against Stable-Baselines3's, to 1e-6. What differs is the random numbers, of weights and of strategies; which of
the two is better, few runs do not say."""


def _cell(runs):
    if not runs:
        return markdown.NONE
    return f"{markdown.ratio(mean([run.ratio for run in runs]))} ({len(runs)})"


def section(measured):
    """The text, or None where the agent from outside was not run."""
    rows = []
    for workload in WORKLOADS:
        ours, theirs = (measured.of(workload, agent, ASKED) for agent in AGENTS)
        if theirs:
            rows.append([workload.name, _cell(ours), _cell(theirs)])
    if not rows:
        return None
    header = ["of the optimum", *(agent.label for agent in AGENTS)]
    return f"{TEXT}\n\n{markdown.table(header, rows)}"
