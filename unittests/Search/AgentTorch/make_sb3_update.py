#!/usr/bin/env python3
"""Writes Sb3Update.json beside it: two gradient steps of Stable-Baselines3's PPO, which
HistoryNetworkTest compares with ours.

Needs an environment with bench/search/requirements-sb3.txt. Everything is in double
precision; the numbers that go in are random multiples of 1/1024, which single precision
holds as well.
"""

import json
import pathlib
import sys

import gymnasium
import numpy
import torch
from stable_baselines3 import PPO, __version__
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.logger import Logger

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "bench"))

from search.sb3 import HISTORY, Encoder  # noqa: E402

CHOICES = (3, 1, 4, 2)
STEPS = 4
# How far the old log probabilities are from those of the network: the ratios of the last
# two are outside of the clip range.
SHIFTS = (0.05, -0.1, -0.6, 0.5)
# Ours: Stable-Baselines3's.
LAYERS = {
    "embedding": "features_extractor.embedding",
    "attention_in": "features_extractor.block.self_attn.in_proj",
    "attention_out": "features_extractor.block.self_attn.out_proj",
    "norm1": "features_extractor.block.norm1",
    "feed_forward1": "features_extractor.block.linear1",
    "feed_forward2": "features_extractor.block.linear2",
    "norm2": "features_extractor.block.norm2",
    "policy_hidden": "mlp_extractor.policy_net.0",
    "policy_out": "action_net",
    "value_hidden": "mlp_extractor.value_net.0",
    "value_out": "value_net",
}


class DoubleBuffer(RolloutBuffer):
    """Gives doubles out."""

    def to_torch(self, array, copy=True):
        return torch.tensor(array, dtype=torch.float64)


class Spaces(gymnasium.Env):
    """An environment that is never stepped."""

    observation_space = gymnasium.spaces.Box(-1, 1, (HISTORY, len(CHOICES)), numpy.float32)
    action_space = gymnasium.spaces.MultiDiscrete(CHOICES)


def digits(values):
    """As a list, row by row, of ten digits."""
    return [float(f"{value:.10g}") for value in values.detach().reshape(-1).tolist()]


def parameters(policy):
    """Those of the policy, by our names."""
    theirs = dict(policy.named_parameters())
    found = {}
    for ours, layer in LAYERS.items():
        for kind in ("weight", "bias"):
            name = f"{layer}_{kind}" if layer.endswith("in_proj") else f"{layer}.{kind}"
            found[f"{ours}.{kind}"] = theirs.pop(name)
    assert not theirs, f"without a name of ours: {', '.join(theirs)}"
    return found


def make_agent():
    agent = PPO(
        "MlpPolicy",
        Spaces(),
        learning_rate=1e-3,
        n_steps=STEPS,
        batch_size=STEPS,
        n_epochs=1,
        max_grad_norm=0.5,
        rollout_buffer_class=DoubleBuffer,
        policy_kwargs={
            "features_extractor_class": Encoder,
            "features_extractor_kwargs": {"width": 6, "heads": 2, "feed_forward": 5},
            "net_arch": {"pi": [7], "vf": [7]},
        },
        device="cpu",
    )
    agent.set_logger(Logger(folder=None, output_formats=[]))
    agent.policy.double()
    return agent


def rounded(values):
    return numpy.round(values * 1024) / 1024


def draw(random, *shape):
    return rounded(random.uniform(-1, 1, shape))


def fill(agent, random):
    """A rollout of episodes of one step; what ours is given of it."""
    observations = draw(random, STEPS, HISTORY, len(CHOICES))
    actions = numpy.stack([random.integers(0, n, STEPS) for n in CHOICES], axis=1)
    rewards, values = 2 * draw(random, STEPS), draw(random, STEPS)
    with torch.no_grad():
        _, here, _ = agent.policy.evaluate_actions(
            torch.tensor(observations), torch.tensor(actions)
        )
    logs = rounded(here.numpy() + SHIFTS)
    buffer = agent.rollout_buffer
    buffer.reset()
    for i in range(STEPS):
        value, log = (torch.tensor([number]) for number in (values[i], logs[i]))
        start = numpy.ones(1)
        buffer.add(observations[i : i + 1], actions[i : i + 1], rewards[i : i + 1], start, value, log)
    buffer.compute_returns_and_advantage(torch.zeros(1), numpy.ones(1))
    return {
        "observations": observations.reshape(-1).tolist(),
        "actions": actions.reshape(-1).tolist(),
        "log_probs": logs.tolist(),
        "rewards": rewards.tolist(),
        "values": values.tolist(),
    }


def train(agent):
    """One gradient step: its losses, and the gradients before they are clipped."""
    named = parameters(agent.policy)
    gradients = {}
    hooks = [
        parameter.register_post_accumulate_grad_hook(
            lambda p, name=name: gradients.__setitem__(name, digits(p.grad))
        )
        for name, parameter in named.items()
    ]
    agent.train()
    for hook in hooks:
        hook.remove()
    logged = agent.logger.name_to_value
    return {
        "policy_loss": float(logged["train/policy_gradient_loss"]),
        "value_loss": float(logged["train/value_loss"]),
        "entropy": -float(logged["train/entropy_loss"]),
        "gradients": gradients,
    }


def main():
    random = numpy.random.default_rng(1)
    agent = make_agent()
    named = parameters(agent.policy)
    with torch.no_grad():
        for parameter in named.values():
            parameter.copy_(torch.tensor(draw(random, *parameter.shape)))
    text = {
        "source": f"Stable-Baselines3 {__version__}, torch {torch.__version__.split('+')[0]}",
        "parameters": {name: digits(parameter) for name, parameter in named.items()},
        "rollout": fill(agent, random),
    }
    text["steps"] = [train(agent), train(agent)]
    text["parameters_after"] = {name: digits(p) for name, p in named.items()}
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in text.items())
    (HERE / "Sb3Update.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
