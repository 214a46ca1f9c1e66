"""Stable-Baselines3's PPO on the environment of `ppo-paper`: an episode is one strategy, the
observation the elite history, the reward Eq. 1 of "Learning to Shard".

Networks, rollouts and schedules are those of `ppo-paper`; the losses, the updates and the
draws are Stable-Baselines3's. Its PPO calls the environment, so that it runs in a thread of
its own, and what it asks for is passed on.
"""

import itertools
import math
import queue
import threading

import gymnasium
import numpy
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

from .accounts import INVALID

HISTORY = 3
WIDTH = 256
HEADS = 8
INVALID_REWARD = -1000.0
CHUNK = 800  # steps of an agent at most, a fifth of the bench's budget
CONFIDENCE = 0.95
LEARNING_RATE = 1e-3

# Checks of what the heads are given take a fifth of the time of a run.
torch.distributions.Distribution.set_default_validate_args(False)


class Environment(gymnasium.Env):
    """Strategies as indices into the lists of the space; `ask` gives the loss of one."""

    def __init__(self, sizes, ask):
        shape = (HISTORY, len(sizes))
        self.observation_space = gymnasium.spaces.Box(-1, 1, shape, numpy.float32)
        self.action_space = gymnasium.spaces.MultiDiscrete(sizes)
        self._last = numpy.maximum(numpy.array(sizes) - 1, 1)
        self._ask = ask
        self._elites = []  # (throughput, point), best first, all different
        self._best = 0.0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observe(), {}

    def step(self, action):
        point = tuple(map(int, action))
        return self.observe(), self._reward(point, self._ask(point)), True, False, {}

    def observe(self):
        """Every index over the last one of its list; -1 where there is no elite."""
        rows = numpy.full(self.observation_space.shape, -1, numpy.float32)
        for row, (_, point) in zip(rows, self._elites):
            row[:] = point / self._last
        return rows

    def _reward(self, point, loss):
        if loss >= INVALID:
            return INVALID_REWARD
        raw = math.exp(-loss)
        reward = raw + (raw - self._best)
        self._best = max(self._best, raw)
        if all(point != known for _, known in self._elites):
            self._elites.append((raw, point))
            self._elites.sort(key=lambda elite: -elite[0])
            del self._elites[HISTORY:]
        return reward


class Encoder(BaseFeaturesExtractor):
    """Records embedded linearly, one Transformer encoder block, the mean over them."""

    def __init__(self, space, width=WIDTH, heads=HEADS, feed_forward=WIDTH):
        super().__init__(space, width)
        self.embedding = torch.nn.Linear(space.shape[1], width)
        self.block = torch.nn.TransformerEncoderLayer(
            width, heads, dim_feedforward=feed_forward, dropout=0.0, batch_first=True
        )

    def forward(self, observations):
        records = observations.to(self.embedding.weight.dtype)
        return self.block(self.embedding(records)).mean(dim=1)


class EndWhereConfident(BaseCallback):
    """Ends an agent when every head has a value that is almost certain."""

    def _on_step(self):
        observation, _ = self.model.policy.obs_to_tensor(self.locals["new_obs"])
        with torch.no_grad():
            heads = self.model.policy.get_distribution(observation).distribution
        return min(float(head.probs.max()) for head in heads) < CONFIDENCE


def _half_cosine(remaining):
    return LEARNING_RATE * 0.5 * (1 + math.cos(math.pi * (1 - remaining)))


def _learn(environment, seed):
    """One agent, from new weights to its end."""
    agent = PPO(
        "MlpPolicy",
        environment,
        learning_rate=_half_cosine,
        n_steps=2,
        batch_size=2,
        n_epochs=2,
        policy_kwargs={
            "features_extractor_class": Encoder,
            "net_arch": {"pi": [WIDTH], "vf": [WIDTH]},
            "optimizer_kwargs": {"eps": 1e-5, "fused": True},  # the first as by default
        },
        seed=seed,
        device="cpu",
    )
    agent.learn(CHUNK, callback=EndWhereConfident())


def proposals(sizes, seed):
    """The points that agents after each other ask for; is sent the loss of each."""
    asked, answered = queue.Queue(1), queue.Queue(1)

    def ask(point):
        asked.put(point)
        return answered.get()

    def learn():
        try:
            environment = Environment(sizes, ask)
            for agent in itertools.count():
                _learn(environment, seed + 1_000_003 * agent)
        except Exception as exception:
            asked.put(exception)

    threading.Thread(target=learn, daemon=True).start()
    while True:
        point = asked.get()
        if isinstance(point, Exception):
            raise point
        answered.put((yield point))
