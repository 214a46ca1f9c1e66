"""Targets: what each starts is the role's own command, its manifests have the fields of
their kinds, and what it cannot say is refused by name."""

import contextlib
import dataclasses
import re
import tempfile
import unittest
from pathlib import Path

import shardopt as so
from shardopt import deployments as d
from engine_cases import CONFIGS, DENSE
from shardopt.deployments import seats
from shardopt.engine_table import flags_of
from test_deployments import COPIES, EXPERTS, SERVICES, SPLIT, service

try:
    import yaml
except ImportError:
    yaml = None
if yaml:
    import started
    from manifest_schemas import wrong_with

GB200 = {"machine": "gb200", "domain": 72, "devices_per_node": 4}
TWO_MACHINES = [
    {"name": "prefill", "tp": 2, "workers": 6, "machine": "h100_sxm"},
    {"name": "decode", "tp": 2, "ranks": 8, "ep": 16, "machine": "gb200", "domain": 72,
     "devices_per_node": 4},
]
#: Of one node each, as all engines run.
ONE_NODE = [{"name": "prefill", "tp": 2, "workers": 3},
            {"name": "decode", "tp": 1, "ranks": 8, "ep": 8, "workers": 2}]
ALL = [*SERVICES, ONE_NODE, [{"name": "serve", "tp": 8, **GB200}], TWO_MACHINES,
       [{"name": "serve", "tp": 3, "workers": 5}]]
PARTITIONS = d.Settings(partition=("prefill:hopper", "decode:blackwell"))


def held():
    """Every target that holds one of the services, with its files."""
    for roles in ALL:
        for engine in ("vllm", "sglang", "trtllm"):
            made = service(roles, engine)
            for target in d.TARGETS:
                settings = PARTITIONS if target == "slurm" else d.Settings()
                try:
                    yield made, target, d.files_of(made, target, settings)
                except so.Inexpressible:
                    pass


@unittest.skipUnless(yaml, "PyYAML is not installed")
class StartedTest(unittest.TestCase):
    def test_kubernetes_has_no_launcher_of_mpi(self):
        made = service([{"name": "serve", "tp": 16, "workers": 2}], "trtllm")
        with self.assertRaisesRegex(so.Inexpressible, "serve: MPI starts .* on 2 nodes, .* --target dynamo"):
            d.files_of(made, "kubernetes", d.Settings())
        (note,) = (one for one in d.left_to_users(made, "dynamo", d.Settings()) if "mpirun" in one)
        self.assertIn("secret of SSH keys", note)

    def test_every_target_starts_the_commands_of_the_roles(self):
        found = {target: 0 for target in d.TARGETS}
        for made, target, files in held():
            if target in ("dynamo", "srt-slurm"):
                continue
            made = started.inside(target, made)
            settings = PARTITIONS if target == "slurm" else d.Settings()
            wanted, each = set(), 0
            for role in made.roles:
                count = started.processes(made, role)
                ranks = range(count) if target in ("shell", "slurm") else started.some_ranks(count)
                wanted |= {started.placeless(started.reference(made, role, rank)[0]) for rank in ranks}
                each += len(ranks) * (1 if target in ("kubernetes", "llm-d") else role.workers)
            with self.subTest(target, roles=[role.name for role in made.roles], engine=made.engine):
                commands = started.started(target, made, files, settings)
                self.assertEqual({started.placeless(one.words) for one in commands}, wanted)
                self.assertEqual(len(commands), each)
                found[target] += 1
        self.assertEqual({target for target, count in found.items() if count < 2}, {"dynamo", "srt-slurm"})

    def test_dynamo_and_recipes_have_the_flags_of_the_roles(self):
        for made, target, files in held():
            if target not in ("dynamo", "srt-slurm") or made.engine == "trtllm":
                continue  # Dynamo has other flags for TensorRT-LLM: test_check reads them back
            apart = d.srt_slurm.OF_NODES | {"--host", "--port", "--disaggregation-bootstrap-port"}
            for role in made.roles:
                words = started.reference(made, role, 0)[0]
                flags = [word for word in words if word.startswith("--")]
                if target == "dynamo":
                    said = started.of_dynamo(files)[role.name][0]
                else:
                    config = yaml.safe_load(files["recipe.yaml"])["backend"][f"{made.engine}_config"]
                    key = "aggregated" if role.name == "serve" else role.name
                    said = [f"--{flag}" for flag in config[key]]
                missing = set(flags) - set(said) - apart - {"--model-path"}
                self.assertEqual((target, role.name, missing), (target, role.name, set()))
                self.assertFalse(set(said) & d.srt_slurm.OF_NODES)


@unittest.skipUnless(yaml, "PyYAML is not installed")
class SchemaTest(unittest.TestCase):
    def test_manifests_have_the_fields_of_their_kinds(self):
        kinds = {}
        for made, target, files in held():
            for document in started.documents(files):
                if target == "compose":
                    continue
                wrong = wrong_with(document)
                if wrong is not None:
                    self.assertEqual((target, wrong), (target, []))
                    key = document.get("kind", "recipe")
                    kinds[key] = kinds.get(key, 0) + 1
        self.assertEqual(set(kinds), {
            "LeaderWorkerSet", "DisaggregatedSet", "DynamoGraphDeployment", "ComputeDomain",
            "InferencePool", "HTTPRoute", "recipe"})

    def test_the_check_sees_what_is_wrong(self):
        files = d.files_of(service(SPLIT), "kubernetes", d.Settings())
        whole = started.documents(files)[0]
        for path, value in [
            ("spec/roles", []), ("spec/rolez", []), ("metadata/name", "A"), ("metadata/name", "x" * 64),
            ("spec/roles/0/spec/replicas", 0), ("spec/roles/0/spec/replicas", "1"),
            ("spec/roles/1/spec/leaderWorkerTemplate/size", True),
        ]:
            changed = yaml.safe_load(yaml.safe_dump(whole))
            *places, last = path.split("/")
            inner = changed
            for place in places:
                inner = inner[int(place) if place.isdigit() else place]
            inner[last] = value
            with self.subTest(path, value=value):
                self.assertTrue(wrong_with(changed))


@unittest.skipUnless(yaml, "PyYAML is not installed")
class RouterTest(unittest.TestCase):
    """TensorRT-LLM's disaggregated server: it is told of workers, or they tell it."""

    def test_it_is_told_of_all_workers(self):
        made = service(ONE_NODE, "trtllm")
        for target in ("shell", "slurm"):
            words, config = started.router(target, made, d.files_of(made, target, d.Settings()))
            self.assertEqual(words[:4], ["trtllm-serve", "disaggregated", "--config_file", "router.yaml"])
            self.assertEqual(config, {
                "port": 8000, "prefill": [f"host1:{8100 + 10 * n}" for n in range(3)],
                "decode": ["host2:8100", "host3:8100"]})

    def test_workers_register_in_a_cluster(self):
        made = service(ONE_NODE, "trtllm")
        files = d.files_of(made, "kubernetes", d.Settings(namespace="llm"))
        words, config = started.router("kubernetes", made, files)
        self.assertEqual(config, {"port": 8000, "prefill": ["registers"] * 3, "decode": ["registers"] * 2})
        registry = next(one for one in started.documents(files)
                        if one["kind"] == "Service" and one["metadata"]["name"] == "svc-router")
        self.assertTrue(registry["spec"]["publishNotReadyAddresses"])
        known = flags_of("trtllm")
        for role, name in (("prefill", "context"), ("decode", "generation")):
            pod = started.templates(files)[role]["workerTemplate"]["spec"]["containers"][0]
            own = {each["name"]: each.get("valueFrom") for each in pod["env"]}
            self.assertEqual(own["HOST"], {"fieldRef": {"fieldPath": "status.podIP"}})
            said = pod["args"][0]
            for flag, value in (("--host", '"$HOST"'), ("--server_role", name),
                                ("--disagg_cluster_uri", "http://svc-router.llm:8000")):
                self.assertIn(f"{flag} {value}", said)
                self.assertEqual(known[flag], "values")


class DraftTest(unittest.TestCase):
    def test_engines_are_told_to_draft_or_refuse(self):
        facts = {**EXPERTS, "draft_tokens": 2, "has_drafts": True}
        roles = [{"name": "serve", "tp": 8, "in_flight": 400}]
        for engine, wanted in [
            ("vllm", {"--speculative-config": '{"method":"mtp","num_speculative_tokens":2}',
                      "--max-cudagraph-capture-size": "1200"}),
            ("sglang", {"--speculative-algorithm": "EAGLE", "--speculative-num-steps": "2",
                        "--speculative-eagle-topk": "1", "--speculative-num-draft-tokens": "3"}),
        ]:
            made = service(roles, engine, facts)
            words = made.command(made.roles[0], 8000).args
            self.assertEqual({flag: words[words.index(flag) + 1] for flag in wanted}, wanted)
            made.check()
            with self.assertRaisesRegex(so.Inexpressible, "2 draft tokens"):
                service(roles, engine, {**facts, "has_drafts": False}).check()


class OverlapTest(unittest.TestCase):
    def test_engines_are_told_to_halve_their_steps(self):
        role = {"name": "serve", "tp": 1, "ranks": 16, "ep": 16, "gathers": False, "in_flight": 4096}
        for engine, wanted in [
            ("vllm", {"--enable-dbo": None, "--dbo-decode-token-threshold": "180",
                      "--dbo-prefill-token-threshold": "1048576"}),
            ("sglang", {"--enable-two-batch-overlap": None}),
        ]:
            plain, made = (service([{**role, **own}], engine, EXPERTS)
                           for own in ({}, {"overlap": (180, 0)}))
            words = made.command(made.roles[0], 8000).args
            for flag, value in wanted.items():
                self.assertIn(flag, flags_of(engine))
                self.assertEqual(value, words[words.index(flag) + 1] if value else None)
                self.assertNotIn(flag, plain.command(plain.roles[0], 8000).args)
            self.assertEqual("overlap" in plain.to_dict()["roles"][0], False)
            made.check()


@unittest.skipUnless(yaml, "PyYAML is not installed")
class CheckpointTest(unittest.TestCase):
    """Plans of other weights than the config has."""

    @classmethod
    def setUpClass(cls):
        model = so.load_model(CONFIGS / f"{DENSE}.json", so.Decode(context=2300))
        load = dict(machine="h100_sxm", devices=8, isl=2000, osl=300, tpot_ms=30, mode="disaggregated")
        cls.plans = {
            kind: so.plan(so.Problem(model.retyped(weight_type=kind), engine="vllm", **load))
            for kind in ("int4", "fp8")
        }

    def test_what_no_engine_makes_needs_a_checkpoint(self):
        for engine in ("vllm", "sglang", "trtllm"):
            for kind in ("int4", "fp8") if engine == "trtllm" else ("int4",):
                with self.assertRaisesRegex(so.Inexpressible, f"{kind} weights.*(--model)"):
                    d.deployment_of(self.plans[kind], engine)
                made = d.deployment_of(self.plans[kind], engine, model="org/quantized")
                self.hold(made, f"a checkpoint of {kind} weights", None)
        with tempfile.TemporaryDirectory() as place:
            d.write(made, "kubernetes", Path(place, "out"))
            found = so.check(self.plans["fp8"].problem, Path(place, "out"), explain=False,
                             plan=self.plans["fp8"])
            self.assertEqual(found.differences, ())

    def test_what_engines_make_is_said_to_them(self):
        for engine in ("vllm", "sglang"):
            made = d.deployment_of(self.plans["fp8"], engine)
            self.hold(made, "16-bit weights, which the engine makes fp8 when it loads", "fp8")

    def hold(self, made, note, flag):
        self.assertIn(f"needs     {note}", str(made))
        for target in d.TARGETS:
            with contextlib.suppress(so.Inexpressible):
                files = d.files_of(made, target, d.Settings())
                files.pop("plan/service.json")
                for name, text in files.items():
                    self.assertIn(f"# needs {note}", text, (target, name))
                said = re.findall(r'--quantization"?\s+-?\s*"?(\w+)', "".join(files.values()))
                if target != "srt-slurm":
                    self.assertEqual(set(said), {flag} - {None}, target)
                for document in started.documents(files):
                    if "metadata" in document:
                        needs = document["metadata"]["annotations"]["shardopt/needs"]
                        self.assertTrue(needs.startswith(note))


class LeftTest(unittest.TestCase):
    """What clusters differ in, which files do not say."""

    def left(self, roles, **settings):
        made = service(roles, model="org/model")
        return " ".join(d.left_to_users(made, "kubernetes", d.Settings(**settings)))

    def test_sets_need_their_controller(self):
        self.assertIn("needs LeaderWorkerSet", self.left(COPIES))
        self.assertIn("needs the DisaggregatedSet controller", self.left(SPLIT))

    def test_downloads_of_all_pods_are_named(self):
        self.assertIn("each pod downloads 'org/model'", self.left(COPIES))
        self.assertIn("in the claim 'mine' (HF_HOME)", self.left(COPIES, claim="mine"))


@unittest.skipUnless(yaml, "PyYAML is not installed")
class PlaceTest(unittest.TestCase):
    def test_roles_on_two_machines_have_their_own(self):
        made = service(TWO_MACHINES)
        found = seats.seats_of(made)
        hosts = {name: {seat.host for seat in found if seat.role.name == name}
                 for name in ("prefill", "decode")}
        self.assertEqual((hosts["prefill"], hosts["decode"]), ({1, 2}, {3, 4, 5, 6}))
        script = d.files_of(made, "shell", d.Settings())["start.sh"]
        self.assertIn("# HOST_3 to HOST_6: gb200 with 4 GPUs", script)
        pods = started.templates(d.files_of(made, "kubernetes", d.Settings()))
        for name, product in (("prefill", "NVIDIA-H100-80GB-HBM3"), ("decode", "NVIDIA-GB200")):
            pod = pods[name]["workerTemplate"]["spec"]
            self.assertEqual(pod["nodeSelector"], {"nvidia.com/gpu.product": product})
        own = d.Settings(node_selector=("pool=a", "decode:pool=b"))
        pods = started.templates(d.files_of(made, "kubernetes", own))
        pools = [pods[name]["workerTemplate"]["spec"]["nodeSelector"]["pool"] for name in pods]
        self.assertEqual(pools, ["a", "b"])
        job = d.files_of(made, "slurm", PARTITIONS)["service.sbatch"]
        first, second = job.split("#SBATCH hetjob\n")
        self.assertIn("--nodes=2\n", first)
        self.assertIn("--partition=hopper\n", first)
        self.assertIn("--nodes=4\n", second)
        self.assertIn("--gpus-per-node=4\n", second)
        for target, why in (("slurm", "--partition prefill:NAME"), ("srt-slurm", "a recipe has one"),
                            ("compose", "takes 6 machines")):
            with self.assertRaisesRegex(so.Inexpressible, why):
                d.files_of(made, target, d.Settings())

    def test_machines_without_a_known_label(self):
        roles = [dict(TWO_MACHINES[0], machine="mine"), TWO_MACHINES[1]]
        with self.assertRaisesRegex(so.Inexpressible, "--node-selector prefill:KEY=VALUE"):
            d.files_of(service(roles), "kubernetes", d.Settings())
        d.files_of(service(roles), "kubernetes", d.Settings(node_selector=("prefill:a/b=c",)))
        one = started.templates(d.files_of(service(COPIES), "kubernetes", d.Settings()))
        self.assertNotIn("nodeSelector", one["serve"]["workerTemplate"]["spec"])

    def test_claims_are_mounted_where_a_model_is_in_one(self):
        for target in ("kubernetes", "llm-d", "dynamo"):
            for model, claim, is_mounted in (
                ("org/model", "models", False), ("org/model", "mine", True), ("/data/x", "models", True),
            ):
                made = service([{"name": "serve", "tp": 2}], model=model)
                text = "".join(d.files_of(made, target, d.Settings(claim=claim)).values())
                with self.subTest(target, model=model, claim=claim):
                    self.assertEqual(f"claimName: {claim}" in text, is_mounted)
                    self.assertEqual("mountPath: /models" in text, is_mounted)
                    self.assertEqual("HF_HOME" in text, claim == "mine")
                    self.assertEqual("readOnly: true" in text, model == "/data/x")

    def test_groups_of_a_domain_claim_it(self):
        for target in ("kubernetes", "llm-d", "dynamo"):
            made = service([{"name": "serve", "tp": 8, "workers": 3, **GB200}])
            files = d.files_of(made, target, d.Settings())
            domain = next(one for one in started.documents(files) if one["kind"] == "ComputeDomain")
            self.assertEqual(domain["spec"]["numNodes"], 6)
            name = domain["spec"]["channel"]["resourceClaimTemplate"]["name"]
            text = next(text for file, text in files.items() if "ComputeDomain" in text)
            self.assertIn(f"resourceClaimTemplateName: {name}", text)
            alone = service([{"name": "serve", "tp": 4, **GB200}])
            self.assertNotIn("ComputeDomain", "".join(d.files_of(alone, target, d.Settings()).values()))

    def test_amd_has_its_own_names(self):
        roles = [{"name": "serve", "tp": 1, "ranks": 8, "ep": 8, "gathers": False, "machine": "mi300x"}]
        for engine, flag in (("vllm", "mori_high_throughput"), ("sglang", "mori")):
            made = service(roles, engine)
            made = dataclasses.replace(made, facts={**made.facts, "phase": "both"})
            pod = started.templates(d.files_of(made, "kubernetes", d.Settings()))["serve"]
            box = pod["workerTemplate"]["spec"]["containers"][0]
            self.assertEqual(box["resources"]["limits"], {"amd.com/gpu": "8"})
            self.assertIn("rocm", box["image"])
            self.assertIn(flag, made.command(made.roles[0], 8000).args)
            composed = yaml.safe_load(d.files_of(made, "compose", d.Settings())["compose.yaml"])
            self.assertIn("/dev/kfd", composed["services"]["serve-0"]["devices"])
            with self.assertRaisesRegex(so.Inexpressible, "expected --image"):
                d.files_of(made, "dynamo", d.Settings())

    def test_settings_that_a_target_cannot_say(self):
        made = service([{"name": "serve", "tp": 2}])
        for fields, targets in [
            ({"image": "a/b:c"}, ("shell",)), ({"namespace": "x"}, ("shell", "compose", "slurm")),
            ({"partition": ("a",)}, ("kubernetes", "dynamo", "llm-d", "compose", "srt-slurm")),
            ({"secret": "s"}, ("compose", "slurm")), ({"node_selector": ("a=b",)}, ("slurm", "shell")),
            ({"router_image": "a"}, ("dynamo", "slurm")), ({"time": "1"}, ("kubernetes",)),
        ]:
            for target in targets:
                flag = next(iter(fields)).replace("_", "-")
                with self.subTest(fields, target=target):
                    with self.assertRaisesRegex(so.ShardoptError, f"'--{flag}' cannot be said in"):
                        d.files_of(made, target, d.Settings(**fields))
        for text in ("a", "=b", "a=b c", "a=$(x)", "A/b=c", "x:a=b=c", "decode:"):
            with self.subTest(text), self.assertRaises(so.ShardoptError):
                d.Settings(node_selector=(text,))
        job = d.files_of(made, "slurm", d.Settings(image="a/b:c"))["service.sbatch"]
        self.assertIn("--container-image=a/b:c", job)


if __name__ == "__main__":
    unittest.main()
