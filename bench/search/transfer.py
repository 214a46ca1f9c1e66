"""A policy of `ppo` that learned on other models, made over for the variables of a workload.

The policy file of `agent-save` names its variables and has its parameters by block
(include/shardopt/Search/Agent/Network.h). What both models have under one name, a value of a
degree or a dim of an op, keeps what was learned of it; all else is as a new network has it.
"""

import dataclasses
import json
import pathlib
import tempfile

from . import manifest, runs, searchers
from .workloads import TAUGHT

DEGREES = ("tp", "dp", "ep", "pp", "cp", "exchange", "batch")
CALLS = 4000  # of each lesson

# Blocks by what their rows stand for; H numbers a row, but for `elite.copy`.
WHOLE = ("state.bias", "state.slack", "elite.key.features", "elite.context.features")
BY_VALUE = ("state.values", "elite.key.values", "elite.context.values")
BY_VARIABLE = ("state.edited", "elite.copy")
BY_ACTION = ("out.weight", "out.bias")  # columns, of which bias has one row


def read_variables(text):
    """[(name, values)] of "tp 1,2; embed 0,1,2"."""
    pairs = (part.split(" ") for part in text.split("; "))
    return [(name, values.split(",")) for name, values in pairs]


def short(name):
    """The name of an op without that of its part of the model: "moe.ffn_up"."""
    return name.rpartition(".")[2]


class Places:
    """Where the rows of each variable stand in the blocks of a policy, by name."""

    def __init__(self, variables):
        self.variables = {name: index for index, (name, _) in enumerate(variables)}
        self.values = {}
        for name, values in variables:
            for value in values:
                self.values[name, value] = len(self.values)
        self.actions = {**self.values, "end": len(self.values)}
        for name, values in variables:
            if name in DEGREES:
                for step in range(1 - len(values), len(values)):
                    self.actions[name, "step", step] = len(self.actions)


def matched(wanted, known):
    """Pairs of positions (there, here) of keys that both have: of the same name, else of
    an op of the same name in another part of the model."""
    by_short = {_shortened(key): index for key, index in known.items()}
    for key, here in wanted.items():
        there = known.get(key, by_short.get(_shortened(key)))
        if there is not None:
            yield there, here


def _shortened(key):
    return (short(key[0]), *key[1:]) if isinstance(key, tuple) else short(key)


def transplanted(learned, new):
    """The policy `new`, with what `learned` knows of the same names and values."""
    there, here = (Places(read_variables(policy["variables"])) for policy in (learned, new))
    parameters = {}
    for block, numbers in new["parameters"].items():
        source, numbers = learned["parameters"][block], list(numbers)
        if block in WHOLE:
            numbers = list(source)
        elif block in BY_ACTION:
            rows = len(numbers) // len(here.actions)
            for row in range(rows):
                for a, b in matched(here.actions, there.actions):
                    at = row * len(there.actions) + a
                    numbers[row * len(here.actions) + b] = source[at]
        else:
            kind = "values" if block in BY_VALUE else "variables"
            ours, theirs = getattr(here, kind), getattr(there, kind)
            width = len(numbers) // len(ours)
            for a, b in matched(ours, theirs):
                numbers[b * width : (b + 1) * width] = source[a * width : (a + 1) * width]
        parameters[block] = numbers
    return {**new, "parameters": parameters}


class Teacher:
    """Policies that learned on workloads of other models, one a seed."""

    def __init__(self, paths, modules, processes):
        self._paths = paths
        self._modules = modules
        self._processes = processes
        self._learned = {}

    def policy_for(self, workload, seed, folder):
        """The path of a policy for a workload, in `folder`."""
        if seed not in self._learned:
            self._learned[seed] = self._teach(seed)
        return self._made_over(self._learned[seed], workload, seed, folder)

    def _teach(self, seed):
        """Searches the workloads one after the other, each with what the policy knows."""
        learned = None
        with tempfile.TemporaryDirectory(dir=self._paths.scratch) as scratch:
            folder = pathlib.Path(scratch)
            for workload in TAUGHT:
                start = learned and self._made_over(learned, workload, seed, folder)
                learned = self._search(workload, searchers.PPO, seed, CALLS, folder, start)
        return learned

    def _made_over(self, learned, workload, seed, folder):
        new = self._search(workload, searchers.PPO_UNTRAINED, seed, 1, folder)
        path = folder / "start.json"
        path.write_text(json.dumps(transplanted(learned, new)))
        return path

    def _search(self, workload, searcher, seed, budget, folder, start=None):
        """The policy that a search leaves."""
        saved = folder / "policy.json"
        job = manifest.Job(workload, searcher, (manifest.ASKED,), seed, budget)
        paths = dataclasses.replace(self._paths, scratch=folder)
        files = {"agent-save": saved}
        if start:
            files["agent-pretrain"] = f"file:{start}"
        runs.search(job, self._modules.get(workload), paths, self._processes, **files)
        return json.loads(saved.read_text())
