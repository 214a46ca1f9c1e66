"""300 plans, exported for every target, against the engines' own parsers and config checks,
those of Dynamo, routers and clients, and the schemas of manifests. Where SHARDOPT_ENGINES names a Python that has the
engines (`./dev test --engines`); SHARDOPT_PLANS says how many plans."""

import collections
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import shardopt as so
from shardopt import deployments as d
from shardopt.shell import command_line, quoted

PYTHON = os.environ.get("SHARDOPT_ENGINES")
COUNT = int(os.environ.get("SHARDOPT_PLANS", "300"))
if PYTHON:
    import kubernetes_validate

    import engine_plans
    import started
    from manifest_schemas import wrong_with
    from test_deployments import pods_of
    from test_engines import ASKING, others

#: Targets whose files start the commands themselves.
STARTING = ("shell", "slurm", "compose", "kubernetes", "llm-d")
#: Targets whose files start a router.
ROUTED = ("shell", "compose", "kubernetes")


def _meaning(made, role, rank, said):
    """What the engine's config must say of a node's command, and what it says."""
    wanted = {"tp": role.tp, "dp": role.ranks, "ep": role.ep, "pp": role.pp, "cp": role.cp,
              "devices": role.devices}
    if made.engine != "trtllm":
        wanted["devices_here"] = made.devices_here(role)
    if made.engine == "vllm":
        wanted["max_model_len"] = made.max_length
        wanted["headless"] = rank > 0
        if role.name != "prefill":
            wanted["max_num_seqs"] = math.ceil(role.in_flight / role.ranks)
    return wanted, {name: said.get(name) for name in wanted}


def _script(words, env):
    words = words[words[0] == "trtllm-llmapi-launch":]  # whose own words start a server
    return "\n".join([*(f"export {name}={quoted(value)}" for name, value in env.items()),
                      command_line(words)])


def _answers(asked):
    """What the engines say of scripts, each with a config and the devices of a node."""
    rows = [[str(number), *one] for number, one in enumerate(asked)]
    with tempfile.TemporaryDirectory() as place:
        listed = Path(place, "list.json")
        listed.write_text(json.dumps(rows))
        ran = subprocess.run([PYTHON, ASKING, "--json", "--list", listed],
                             capture_output=True, text=True)
    return json.loads(ran.stdout[ran.stdout.index("[{"):])


@unittest.skipUnless(PYTHON, "SHARDOPT_ENGINES names no Python that has the engines")
class PlansTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = engine_plans.deployments(COUNT)
        cls.counts = collections.Counter()

    @classmethod
    def tearDownClass(cls):
        for name, count in sorted(cls.counts.items()):
            print(f"{name:36} {count}", file=sys.stderr)

    def count(self, name, accepted):
        self.counts[f"{name}: asked"] += 1
        self.counts[f"{name}: accepted"] += bool(accepted)

    def services(self):
        return [one for one in self.made if isinstance(one[2], d.Deployment)]

    def test_plans_of_an_engine_are_services_of_it(self):
        for key, _, made in self.made:
            with self.subTest(key):
                self.count("plans", isinstance(made, d.Deployment))
                self.assertIsInstance(made, d.Deployment, str(made))

    def test_engines_accept_the_commands_and_mean_the_plans(self):
        work = {}
        for key, config, made in self.services():
            for role in made.roles:
                for rank in started.some_ranks(made.nodes(role)):
                    text = _script(*started.reference(made, role, rank))
                    asked = (text, str(config), role.devices_per_node)
                    work.setdefault(asked, []).append((key, made, role, rank))
        uses = list(work.values())
        for row in _answers(work):
            for key, made, role, rank in uses[int(row["name"])]:
                with self.subTest(key, role=role.name, rank=rank):
                    wanted, found = _meaning(made, role, rank, row["meaning"]) if row["ok"] else (1, 0)
                    is_whole = row["ok"] and "warning" not in row["meaning"] and wanted == found
                    self.count(f"{made.engine} commands", is_whole)
                    self.assertTrue(row["ok"], row["meaning"])
                    self.assertNotIn("warning", row["meaning"])
                    self.assertEqual(found, wanted)

    def test_clients_of_engines_send_the_planned_load(self):
        asked = [{"words": d.routing.benchmark_command(made, "http://10.0.0.1:8000")}
                 for _, _, made in self.services()]
        for (key, _, made), answer in zip(self.services(), others(asked), strict=True):
            load = made.load
            wanted = {"input": load.isl, "output": load.osl, "rate": load.rate or "inf",
                      "concurrency": None if load.rate else load.concurrency}
            with self.subTest(key):
                self.count(f"{made.engine} clients", answer.get("means") == wanted)
                self.assertEqual(answer, {"means": wanted})

    def test_routers_take_their_commands_and_find_all_workers(self):
        asked, wanted = [], []
        for key, _, made in self.services():
            for target in ROUTED if made.is_routed else ():
                try:
                    files = d.files_of(made, target, d.Settings())
                except so.Inexpressible:
                    continue
                words, config = started.router(target, made, files)
                asked.append({"words": words})
                wanted.append((key, target, made, config))
        for (key, target, made, config), answer in zip(wanted, others(asked), strict=True):
            with self.subTest(key, target=target):
                said = answer.get("means", answer)
                if config is not None:  # a file says it
                    self.assertEqual(said, {"config": "router.yaml"})
                    said = config
                found = {role.name: said.get(role.name) for role in made.roles}
                wants = {role.name: role.workers for role in made.roles}
                if target == "kubernetes" and config is None:
                    wants = {role.name: {**d.pods.labels(made, role), **d.kubernetes.FIRST}
                             for role in made.roles}
                is_right = found == wants if isinstance(wants[made.roles[0].name], dict) else \
                    {name: len(urls or ()) for name, urls in found.items()} == wants
                self.count(f"{made.engine} routers, {target}", is_right and said["port"] == 8000)
                self.assertTrue(is_right and said["port"] == 8000, (said, wants))

    def test_targets_start_these_commands(self):
        for key, _, made in self.services():
            for target in STARTING:
                with self.subTest(key, target=target):
                    try:
                        files = d.files_of(made, target, d.Settings())
                    except so.Inexpressible:
                        self.counts[f"{target}: refused"] += 1
                        continue
                    whole = started.inside(target, made)
                    wanted = {started.placeless(started.reference(whole, role, rank)[0])
                              for role in made.roles for rank in range(made.nodes(role))}
                    found = {started.placeless(one.words)
                             for one in started.started(target, made, files)}
                    self.count(target, found and found <= wanted)
                    self.assertLessEqual(found, wanted)

    def test_manifests_are_valid(self):
        for key, _, made in self.services():
            for target in ("kubernetes", "dynamo", "llm-d", "srt-slurm"):
                try:
                    files = d.files_of(made, target, d.Settings())
                except so.Inexpressible:
                    continue
                for document in started.documents(files):
                    kind = document.get("kind", "recipe")
                    with self.subTest(key, target=target, kind=kind):
                        wrong = wrong_with(document)
                        if wrong is None:
                            kubernetes_validate.validate(document, "1.34", strict=True)
                            wrong = []
                        for pod in pods_of(document):
                            kubernetes_validate.validate(
                                {"apiVersion": "v1", "kind": "Pod", "spec": pod["spec"],
                                 "metadata": {"name": "x", **pod.get("metadata", {})}},
                                "1.34", strict=True)
                        self.count(f"manifests, {kind}", not wrong)
                        self.assertEqual(wrong, [])

    def test_dynamo_accepts_its_graphs_and_commands(self):
        asked, wanted = [], []
        for key, config, made in self.services():
            try:
                files = d.files_of(made, "dynamo", d.Settings())
            except so.Inexpressible:
                continue
            graph = next(one for one in started.documents(files)
                         if one["kind"] == "DynamoGraphDeployment")
            asked += [{"graph": graph}, {"words": started.frontend_of(graph)}]
            names = ["Frontend", *(role.name for role in made.roles)]
            wanted += [(key, "graphs", {"components": names}), (key, "frontends", {"port": 8000})]
            for role in made.roles:
                asked.append({"words": started.of_dynamo(files)[role.name][0], "config": config})
                wanted.append((key, made.engine, {"tp": role.tp, "dp": role.ranks,
                                                  "pp": role.pp, "cp": role.cp}))
        answers = others(asked)
        for (key, kind, means), answer in zip(wanted, answers, strict=True):
            with self.subTest(key, kind=kind):
                self.count(f"dynamo, {kind}", answer.get("means") == means)
                self.assertEqual(answer, {"means": means})


if __name__ == "__main__":
    unittest.main()
