"""Services as files of platforms: placed, quoted, legal, and whole."""

import dataclasses
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import shardopt as so
from shardopt import deployments as d
from shardopt import yaml_text
from shardopt.deployments import folder, names, seats
from shardopt.engine_table import flags_of, table
from shardopt.server_memory import ServerMemory

try:
    import yaml
except ImportError:
    yaml = None
try:
    import kubernetes_validate
except ImportError:
    kubernetes_validate = None

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = [
    "$(touch pwned)", "$HOME", "$$(HOME)", "$(HOSTNAME)", "`touch pwned`", "a;touch pwned",
    "a b", "'", '"', "\\", "a\nb", "*", "#x", "é", "{{x}}", "yes", "1", ": x",
]
DENSE = {"experts": 0, "has_dense_layers": True, "has_drafts": False, "context": 2048, "phase": "decode", "longest": 8192,
         "latent": False, "kv_heads": 8, "hybrid": False}
EXPERTS = {**DENSE, "experts": 64}


def service(roles, engine="vllm", facts=EXPERTS, model="m", **others):
    """A service of the fields of roles."""
    made = [d.Role(**{"workers": 1, "in_flight": 64, **role}) for role in roles]
    load = d.Load(1024, 256, 64, others.pop("rate", None))
    return d.Deployment("svc", model, model, engine, "0", tuple(made), load, 2048, facts)


ALONE = [{"name": "serve", "tp": 8}]
COPIES = [{"name": "serve", "tp": 2, "workers": 3}]
SPLIT = [
    {"name": "prefill", "tp": 2, "ranks": 2, "ep": 4, "workers": 3},
    {"name": "decode", "tp": 1, "ranks": 16, "ep": 16, "gathers": False},
]
SERVICES = [ALONE, COPIES, SPLIT, [{"name": "serve", "tp": 16}],
            [{"name": "serve", "tp": 8, "pp": 2, "workers": 2, "stages": (3, 5)}]]


def flags(words):
    """The flags of a command with their values."""
    found, name = {}, ""
    for word in words:
        if word.startswith("-") and not word.startswith("-1"):
            name = word
            found[name] = []
        elif name:
            found[name].append(word)
    return found


def all_files(engine="vllm", **others):
    """The files of every target that holds one of the services."""
    for number, roles in enumerate(SERVICES):
        made = service(roles, engine, **others)
        for target in d.TARGETS:
            try:
                files = d.files_of(made, target, d.Settings())
            except so.Inexpressible as error:
                yield number, target, str(error)
            else:
                yield number, target, files


def objects(files):
    """The documents of all YAML files."""
    return [
        document
        for name, text in files.items()
        if name.endswith(".yaml")
        for document in yaml.safe_load_all(text)
    ]


class CommandTest(unittest.TestCase):
    def test_flags_are_the_engines_with_their_values(self):
        for engine in ("vllm", "sglang"):
            kinds = flags_of(engine)
            for roles in SERVICES:
                made = service(roles, engine)
                for role in made.roles:
                    command = made.command(role, 8000, 5600)
                    said = flags([*command.args, *command.later_args])
                    said.pop("-m", None)
                    for flag, values in said.items():
                        kind = kinds.get(flag)
                        self.assertIsNotNone(kind, flag)
                        if flag in command.args or kind == "values":
                            self.assertEqual(len(values), 0 if kind == "switches" else 1, flag)

    def test_roles_say_how_caches_are_sent(self):
        made = service(SPLIT)
        for role in made.roles:
            said = flags(made.command(role, 8000).args)
            sent = json.loads(said["--kv-transfer-config"][0])
            self.assertEqual(sent, {"kv_connector": "NixlConnector", "kv_role": "kv_both"})
            self.assertEqual("--max-num-seqs" in said, role.name == "decode")
        made = service(SPLIT, "sglang")
        modes = [flags(made.command(role, 1, 2).args)["--disaggregation-mode"] for role in made.roles]
        self.assertEqual(modes, [["prefill"], ["decode"]])
        self.assertNotIn("--kv-transfer-config", str(service(ALONE).command(service(ALONE).roles[0], 1)))

    def test_types_and_limits_are_said(self):
        role = {"name": "serve", "tp": 8, "cache_type": "fp8", "quantization": "fp8",
                "batched_tokens": 4096, "memory": ServerMemory(30, 20, 72, 1)}
        for engine, wanted in [
            ("vllm", {"--kv-cache-dtype": "fp8", "--quantization": "fp8",
                      "--max-num-batched-tokens": "4096", "--gpu-memory-utilization": "0.88"}),
            ("sglang", {"--kv-cache-dtype": "fp8_e4m3", "--quantization": "fp8",
                        "--chunked-prefill-size": "4096", "--mem-fraction-static": "0.85"}),
        ]:
            made = service([role], engine)
            said = flags(made.command(made.roles[0], 8000).args)
            self.assertEqual({flag: said[flag][0] for flag in wanted}, wanted)

    def test_the_load_is_the_one_planned(self):
        for engine in ("vllm", "sglang"):
            for rate in (None, 12.5):
                made = service(COPIES, engine, rate=rate)
                said = flags(d.routing.benchmark_command(made, "http://x"))
                self.assertEqual(said["--random-input-len"], ["1024"])
                self.assertEqual(said["--random-output-len"], ["256"])
                self.assertEqual(said["--base-url"], ["http://x"])
                wanted = {"--request-rate": ["12.5"]} if rate else {"--max-concurrency": ["64"]}
                found = {flag: said[flag] for flag in said
                         if flag in ("--request-rate", "--max-concurrency")}
                self.assertEqual(found, wanted)


class PairTest(unittest.TestCase):
    def why(self, engine, prefill, decode, **facts):
        made = service([{"name": "prefill", **prefill}, {"name": "decode", **decode}], engine)
        return " ".join(d.why_not_paired(table()[engine], *made.roles, {**DENSE, **facts}))

    def test_rules(self):
        for engine, prefill, decode, facts, wanted in [
            ("vllm", {"tp": 2}, {"tp": 8}, {}, ""),
            ("vllm", {"tp": 8}, {"tp": 2}, {}, ""),
            ("vllm", {"tp": 8}, {"tp": 2}, {"kv_heads": 4}, "copies 4 KV heads"),
            ("vllm", {"tp": 8}, {"tp": 2}, {"kv_heads": 4, "latent": True}, ""),
            ("vllm", {"tp": 3}, {"tp": 2}, {}, "divide one another: 3 and 2"),
            ("vllm", {"tp": 4}, {"tp": 2}, {"hybrid": True}, "states have one tp"),
            ("vllm", {"tp": 2}, {"tp": 2}, {"hybrid": True}, ""),
            ("vllm", {"tp": 2, "pp": 2}, {"tp": 2}, {}, "pipeline stages"),
            ("vllm", {"tp": 2, "cache_type": "fp8"}, {"tp": 2}, {}, "one type: prefill has fp8"),
            ("sglang", {"tp": 8}, {"tp": 2}, {"kv_heads": 4}, ""),
            ("sglang", {"tp": 2, "pp": 2}, {"tp": 2}, {}, ""),
            ("sglang", {"tp": 2}, {"tp": 2, "pp": 2}, {}, "decode has one pipeline stage"),
            ("sglang", {"tp": 6}, {"tp": 4}, {}, "divide one another: 6 and 4"),
        ]:
            with self.subTest(engine, prefill=prefill, decode=decode, facts=facts):
                why = self.why(engine, prefill, decode, **facts)
                self.assertIn(wanted, why)
                self.assertEqual(bool(wanted), bool(why))

    def test_the_planner_has_the_same_rules(self):
        inputs = ROOT / "test/Target/HuggingFace"
        pairs = legal = 0
        for path, facts in [
            ("Inputs/deepseek_v3.json", {"latent": True}),
            ("Tiny/qwen3_next/config.json", {"hybrid": True, "kv_heads": 2}),
            ("../../../examples/configs/llama-3.1-70b.json", {}),
        ]:
            handle = so.Problem(so.load_model(inputs / path, so.Decode(context=64))).handle
            layouts = [
                {"tp": tp, "pp": pp, "cp": cp}
                for tp in (1, 2, 3, 4, 8, 16) for pp in (1, 2) for cp in (1, 2, 4) if tp % cp == 0
            ]
            for engine in ("vllm", "sglang", "trtllm"):
                for prefill in layouts:
                    for decode in layouts:
                        found = handle.why_no_transfer(engine, prefill, decode)
                        wanted = self.why(engine, prefill, decode, **facts)
                        self.assertEqual(
                            found is None, not wanted, (path, engine, prefill, decode, found, wanted)
                        )
                        pairs, legal = pairs + 1, legal + (found is None)
        self.assertTrue(pairs / 20 < legal < pairs / 1.5, (legal, pairs))

    def test_a_pair_that_is_illegal_is_no_service(self):
        made = service([{"name": "prefill", "tp": 8}, {"name": "decode", "tp": 2}],
                       facts={**DENSE, "kv_heads": 4})
        with self.assertRaisesRegex(so.Inexpressible, "NixlConnector: prefill with tp 8"):
            made.check()


class SeatTest(unittest.TestCase):
    def test_devices_are_used_once_and_workers_are_whole(self):
        for tp in (1, 2, 3, 4, 8, 16):
            for ranks in (1, 2, 4):
                for workers in (1, 3, 7):
                    roles = [{"name": "prefill", "tp": 2, "workers": 3},
                             {"name": "decode", "tp": tp, "ranks": ranks, "workers": workers}]
                    made = service(roles)
                    found = seats.seats_of(made)
                    used = [(seat.host, gpu) for seat in found for gpu in seat.gpus]
                    self.assertEqual(len(used), len(set(used)))
                    self.assertTrue(all(gpu < 8 for _, gpu in used))
                    wanted = sum(role.workers * role.devices for role in made.roles)
                    self.assertEqual(len(used), wanted)
                    answering = [(seat.host, seat.port) for seat in found if seat.rank == 0]
                    self.assertEqual(len(answering), len(set(answering)))
                    self.assertEqual(len(answering), made.workers)
                    self.assertEqual(seats.hosts_of(found), len({host for host, _ in used}))


class FolderTest(unittest.TestCase):
    def test_files_appear_together_or_not_at_all(self):
        with tempfile.TemporaryDirectory() as place:
            target = Path(place, "a", "b")
            folder.write_folder(target, {"x/y.txt": "1", "run.sh": "#!/bin/sh\n"})
            self.assertEqual((target / "x/y.txt").read_text(), "1")
            self.assertTrue(os.access(target / "run.sh", os.X_OK))
            with self.assertRaisesRegex(so.ShardoptError, "has files"):
                folder.write_folder(target, {"z": ""})
            file = Path(place, "file")
            file.write_text("kept")
            with self.assertRaisesRegex(so.ShardoptError, "no folder"):
                folder.write_folder(file, {"z": ""})
            self.assertEqual(file.read_text(), "kept")
            with self.assertRaisesRegex(so.ShardoptError, "new"):
                folder.write_folder(Path(place, "new"), {"a": "1", "a/b": "2"})
            self.assertEqual(sorted(os.listdir(place)), ["a", "file"])

    def test_names_that_platforms_refuse(self):
        for name in ("Upper", "a_b", "-a", "a-", "", "1a", "a" * 37, "a.b", "a\nb", "$x"):
            with self.subTest(name), self.assertRaisesRegex(so.ShardoptError, "the name is"):
                names.label_of(name, "m")
        for model in ("Llama-3.1-70B", "org/Name_x", "405b", "---", "é", "x" * 99, "$(a)"):
            made = names.label_of(None, model)
            self.assertEqual(names.label(made, "name"), made)
        for fields in ({"namespace": "A"}, {"image": "a b"}, {"image": "$(x)"}, {"claim": "/x"},
                       {"models": "x"}, {"secret": "s_"}, {"partition": ("a;b",)},
                       {"account": "a\n#SBATCH"}, {"time": "1 2"}, {"router_image": ""}):
            with self.subTest(fields), self.assertRaises(so.ShardoptError):
                d.Settings(**fields)


_FAKE = """#!{python} -S
import json, os, sys
log = os.open({log!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.write(log, (json.dumps([{name!r}, *sys.argv[1:]]) + chr(10)).encode())
"""


def fakes(place, *programs):
    """An environment with programs that write their words, as JSON, into a log."""
    Path(place, "bin").mkdir(exist_ok=True)
    for name in programs:
        path = Path(place, "bin", name)
        path.write_text(_FAKE.format(python=sys.executable, log=f"{place}/log", name=name))
        path.chmod(0o755)
    answers = Path(place, "bin/curl")
    answers.write_text("#!/bin/sh\n")
    answers.chmod(0o755)
    return {**os.environ, "PATH": f"{place}/bin:/usr/bin:/bin", "HOME": place}


def said_in(place):
    log = Path(place, "log")
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def replaced(text, variables):
    """What Kubernetes makes of a text: `$(NAME)` is replaced if it is known, `$$` is `$`."""
    def one(match):
        if match[0] == "$$":
            return "$"
        return variables.get(match[1], match[0])

    return re.sub(r"\$\$|\$\(([^)]*)\)", one, text)


class StartTest(unittest.TestCase):
    """start.sh: what it shows, and how it ends what it has started."""

    def run_in(self, place, *words, **others):
        programs = {
            "vllm": f"echo $$ >{place}/$$.pid; exec sleep 1000",
            "curl": "",
            "ssh": 'while [ "$1" != -- ]; do shift; done; shift 2; exec setsid sh -c "$*"',
        }
        (place / "bin").mkdir()
        for name, text in {**programs, "vllm-router": programs["vllm"]}.items():
            (place / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
            (place / "bin" / name).chmod(0o755)
        env = {"PATH": f"{place}/bin:/usr/bin:/bin", "HOME": str(place)}
        return subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_a_signal_ends_the_servers_of_all_machines(self):
        for hosts in ("host{}", "localhost"):
            with self.subTest(hosts), tempfile.TemporaryDirectory() as name:
                place, made = Path(name), service(SPLIT)
                d.write(made, "shell", place / "out 'x'")
                seated = seats.seats_of(made)
                hosts = [hosts.format(n + 1) for n in range(seats.hosts_of(seated))]
                started = self.run_in(place, "sh", str(place / "out 'x'/start.sh"), *hosts)
                found = []
                while started.poll() is None and len(found) < len(seated) + 1:  # and the router
                    time.sleep(0.05)
                    found = [path for path in place.glob("*.pid") if path.read_text()]
                started.send_signal(signal.SIGTERM)
                self.assertEqual((started.wait(120), *started.communicate()), (130, "", ""))
                for path in found:
                    with self.assertRaises(ProcessLookupError):
                        os.kill(int(path.read_text()), 0)

    def test_a_dry_run_shows_commands_and_hosts_and_writes_nothing(self):
        with tempfile.TemporaryDirectory() as name:
            place, made = Path(name), service(SPLIT)
            d.write(made, "shell", place / "out")
            before = sorted(place.rglob("*"))
            hosts = [f"h{n + 1}" for n in range(seats.hosts_of(seats.seats_of(made)))]
            tried = self.run_in(place, "sh", str(place / "out/start.sh"), "--dry-run", *hosts)
            out, err = tried.communicate(timeout=60)
            self.assertEqual((tried.returncode, err), (0, ""))
            lines = out.splitlines()
            for seat in seats.seats_of(made):
                begin = f"{hosts[seat.host - 1]}: {seat.role.name}-{seat.worker}-{seat.rank}: env "
                [at] = [i for i, line in enumerate(lines) if line.startswith(begin)]
                self.assertIn("vllm serve m ", lines[at + 1])
            self.assertIn("h1: router: env ", out)
            shutil.rmtree(place / "bin")
            self.assertEqual(sorted(place.rglob("*")), before)
            said = (place / "out/start.sh").read_text()
            self.assertIn("# HOST_1: decode 0 node 0, router\n# HOST_2: decode 0 node 1\n"
                          "# HOST_3: prefill 0, prefill 1\n", said)


    def test_the_router_starts_when_all_workers_answer(self):
        with tempfile.TemporaryDirectory() as name:
            place, made = Path(name), service(SPLIT)
            out = place / "out"
            d.write(made, "shell", out)
            environment = fakes(place, "vllm-router")
            # Each server answers from the second time on.
            (place / "bin/curl").write_text(
                f'#!/bin/sh\necho "$2" >> {place}/asked\n[ $(grep -cx "$2" {place}/asked) -gt 1 ]\n')
            (place / "bin/sleep").write_text("#!/bin/sh\n")
            (place / "bin/sleep").chmod(0o755)
            hosts = range(1, seats.hosts_of(seats.seats_of(made)) + 1)
            environment.update({f"HOST_{n}": f"h{n}" for n in hosts})
            subprocess.run(["sh", out / "router.sh"], env=environment, check=True, timeout=60)
            [words] = said_in(place)
            workers = [word for word in words if word.startswith("http://")]
            asked = (place / "asked").read_text().split()
            self.assertEqual(asked, [f"{url}/health" for url in workers for _ in range(2)])

    def test_scripts_read_the_users_environment(self):
        with tempfile.TemporaryDirectory() as name:
            place, made = Path(name), service(SERVICES[0])
            out = place / "out"
            d.write(made, "shell", out)
            (out / "environment.sh").write_text(f"echo $UNSET > {place}/read; PATH={place}/bin:$PATH")
            environment = {**fakes(place, "vllm"), "PATH": "/usr/bin:/bin"}
            subprocess.run(["sh", out / "start.sh", "localhost"], env=environment, check=True, timeout=60)
            self.assertTrue((place / "read").exists())
            self.assertEqual(said_in(place)[0][0], "vllm")


class HostileTest(unittest.TestCase):
    """Names run nothing, and reach the engine as they are."""

    def test_shell_and_slurm(self):
        for number, name in enumerate(HOSTILE):
            roles = SERVICES[1:4][number % 3]
            for target in ("shell", "slurm"):
                with self.subTest(name, target=target), tempfile.TemporaryDirectory() as place:
                    made = service(roles, model=name)
                    out = Path(place, "out $(touch pwned)")
                    d.write(made, target, out)
                    environment = fakes(place, "vllm", "vllm-router")
                    count = seats.hosts_of(seats.seats_of(made))
                    if target == "shell":
                        words = ["sh", str(out / "start.sh"), *["localhost"] * count]
                    else:
                        run = Path(place, "bin/srun")
                        run.write_text('#!/bin/sh\nwhile [ "$1" != env ] && [ "$1" != sh ]; '
                                       'do shift; done\nexec "$@"\n')
                        show = Path(place, "bin/scontrol")
                        show.write_text("#!/bin/sh\n" + "echo localhost\n" * count)
                        run.chmod(0o755)
                        show.chmod(0o755)
                        environment.update(SLURM_SUBMIT_DIR=str(out), SLURM_JOB_NODELIST="x")
                        words = ["bash", str(out / "service.sbatch")]
                    done = subprocess.run(words, env=environment, cwd=place, capture_output=True,
                                          text=True, timeout=60)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    engines = [said for said in said_in(place) if said[0] == "vllm"]
                    nodes = sum(role.workers * made.nodes(role) for role in made.roles)
                    self.assertEqual(len(engines), nodes)
                    self.assertTrue(all(said[2] == name for said in engines))
                    self.assertFalse(list(Path(place).rglob("pwned")))

    @unittest.skipUnless(yaml, "PyYAML is not installed")
    def test_manifests(self):
        for number, name in enumerate(HOSTILE):
            for roles in [(COPIES, SPLIT)[number % 2]]:
                made = service(roles, model=name)
                for target in ("kubernetes", "llm-d"):
                    with self.subTest(name, target=target), tempfile.TemporaryDirectory() as place:
                        found = [
                            container["args"][0]
                            for pod in pods_of(objects(d.files_of(made, target, d.Settings())))
                            for container in pod["spec"]["containers"]
                            if container.get("command") == ["/bin/sh", "-c"]
                        ]
                        self.assertGreaterEqual(len(found), len(made.roles))
                        environment = fakes(place, "vllm")
                        environment.update(LWS_WORKER_INDEX="0", LWS_LEADER_ADDRESS="x")
                        for script in found:
                            script = replaced(script, {"HOSTNAME": "wrong", "HOME": "wrong"})
                            subprocess.run(["sh", "-c", script], env=environment, cwd=place,
                                           check=True, timeout=60)
                        self.assertTrue(all(said[2] == name for said in said_in(place)))
                        self.assertFalse(list(Path(place).rglob("pwned")))
                graph = objects(d.files_of(made, "dynamo", d.Settings()))[0]
                for component in graph["spec"]["components"][1:]:
                    words = component["podTemplate"]["spec"]["containers"][0]["args"]
                    words = [replaced(word, {"HOSTNAME": "wrong"}) for word in words]
                    self.assertEqual(words[words.index("--model") + 1], name)
            made = service([{"name": "serve", "tp": 2}], model=name)
            composed = objects(d.files_of(made, "compose", d.Settings()))[0]
            words = composed["services"]["serve-0"]["command"]
            self.assertEqual(words[2].replace("$$", "$"), name)

    @unittest.skipUnless(yaml, "PyYAML is not installed")
    def test_yaml_keeps_every_text(self):
        values = [*HOSTILE, "", " ", "a\nb\n", "\na", " a\nb", "a\n\n b\n", "a\n\n", "null", "0x1",
                  "1e3", "\t", "\x00", "\x7f", "\u2028", "\ufeff", "𝄞", "%x", "@x", "a: b", "a #b",
                  "x" * 200, "2024-01-01", "~", "=", "<<", "- x", "!x", "&x", "|", ">", "0", "-"]
        value = {"list": values, "nested": [{"a": [1, [2, {}], []], "b": {}}, {"c": None}],
                 "map": {text: {"d": text, "e": [text]} for text in values}, "f": [1.5, True, None]}
        self.assertEqual(yaml.safe_load(yaml_text.document(value)), value)


def pods_of(value):
    """Every pod template inside a value."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("template", "workerTemplate", "leaderTemplate", "podTemplate"):
                yield item
            yield from pods_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from pods_of(item)


@unittest.skipUnless(yaml, "PyYAML is not installed")
class ManifestTest(unittest.TestCase):
    def test_groups_have_their_fields(self):
        for number, target, files in all_files():
            if target not in ("kubernetes", "llm-d"):
                continue
            made = service(SERVICES[number])
            workers = objects(files)[0]
            spec = workers["spec"]
            if made.is_disaggregated:
                self.assertEqual(workers["apiVersion"], "disaggregatedset.x-k8s.io/v1")
                self.assertGreaterEqual(len(spec["roles"]), 2)
                held = {role["name"]: role["spec"] for role in spec["roles"]}
            else:
                self.assertEqual(workers["apiVersion"], "leaderworkerset.x-k8s.io/v1")
                held = {"serve": spec}
            for role in made.roles:
                template = held[role.name]["leaderWorkerTemplate"]
                self.assertEqual(held[role.name]["replicas"], role.workers)
                self.assertEqual(template["size"], made.nodes(role))
                self.assertIn("workerTemplate", template)
                self.assertEqual("leaderTemplate" in template, made.nodes(role) > 1)
                for pod in (template["workerTemplate"], template.get("leaderTemplate")):
                    if pod:
                        limits = pod["spec"]["containers"][0]["resources"]["limits"]
                        wanted = str(made.devices_here(role))
                        self.assertEqual(limits["nvidia.com/gpu"], wanted)

    def test_selectors_find_the_pods_that_answer(self):
        for number, target, files in all_files():
            if target != "kubernetes":
                continue
            made = service(SERVICES[number])
            found = objects(files)
            marks = [pod["metadata"]["labels"] for pod in pods_of(found) if "metadata" in pod]
            to = next(one for one in found if one["kind"] == "Service")["spec"]["selector"]
            to = {key: value for key, value in to.items() if "worker-index" not in key}
            self.assertTrue(any(to.items() <= mark.items() for mark in marks))
            self.assertEqual(made.is_routed, any(one["kind"] == "Deployment" for one in found))

    def test_graphs_have_their_fields(self):
        for engine in ("vllm", "sglang"):
            for number, target, files in all_files(engine):
                if target != "dynamo":
                    continue
                made = service(SERVICES[number], engine)
                graph = next(one for one in objects(files) if one["kind"] == "DynamoGraphDeployment")
                self.assertEqual(graph["apiVersion"], "nvidia.com/v1beta1")
                front, *components = graph["spec"]["components"]
                self.assertEqual((front["type"], front["replicas"]), ("frontend", 1))
                for component, role in zip(components, made.roles):
                    kind = "worker" if role.name == "serve" else role.name
                    self.assertEqual(component["type"], kind)
                    self.assertEqual(component["replicas"], role.workers)
                    nodes = component.get("multinode", {}).get("nodeCount", 1)
                    self.assertEqual(nodes, made.nodes(role))
                    words = component["podTemplate"]["spec"]["containers"][0]["args"]
                    self.assertFalse({"--nnodes", "--node-rank", "--headless", "--port"} & set(words))

    def test_domains_are_asked_for_where_workers_span_nodes(self):
        role = {"name": "serve", "tp": 8, "devices_per_node": 4, "machine": "gb200"}
        found = objects(d.files_of(service([role]), "dynamo", d.Settings()))
        domain = next(one for one in found if one["kind"] == "ComputeDomain")
        self.assertEqual(domain["spec"]["numNodes"], 2)
        graph = next(one for one in found if one["kind"] == "DynamoGraphDeployment")
        claims = graph["spec"]["components"][1]["podTemplate"]["spec"]["resourceClaims"]
        name = domain["spec"]["channel"]["resourceClaimTemplate"]["name"]
        self.assertEqual(claims[0]["resourceClaimTemplateName"], name)

    def test_one_machine_is_a_compose_file(self):
        held = {number: files for number, target, files in all_files() if target == "compose"}
        self.assertIn("takes 4 machines", held[2])
        composed = objects(held[1])[0]["services"]
        used = [
            device
            for name, one in composed.items()
            if name.startswith("serve")
            for device in one["deploy"]["resources"]["reservations"]["devices"][0]["device_ids"]
        ]
        self.assertEqual(sorted(used), [str(gpu) for gpu in range(6)])
        self.assertEqual(set(composed["router"]["depends_on"]), {"serve-0", "serve-1", "serve-2"})

    @unittest.skipUnless(kubernetes_validate, "kubernetes-validate is not installed")
    def test_schemas_of_kubernetes(self):
        checked = 0
        for _, target, files in all_files():
            if isinstance(files, str) or target not in ("kubernetes", "dynamo", "llm-d"):
                continue
            for one in objects(files):
                try:
                    kubernetes_validate.validate(one, "1.34", strict=True)
                except kubernetes_validate.SchemaNotFoundError:
                    pass
                for pod in pods_of(one):
                    whole = {"apiVersion": "v1", "kind": "Pod", "spec": pod["spec"],
                             "metadata": {"name": "x", **pod.get("metadata", {})}}
                    kubernetes_validate.validate(whole, "1.34", strict=True)
                    checked += 1
        self.assertGreater(checked, 20)


class PlanTest(unittest.TestCase):
    def plan(self, **others):
        model = so.load_model(ROOT / "examples/configs/qwen3-235b-a22b.json",
                              so.Decode(context=4352))
        asked = dict(machine="h200_sxm", max_devices=64, engine="vllm", tpot_ms=50)
        return so.plan(so.Problem(model, **{**asked, **others}))

    def test_roles_of_a_service(self):
        plan = self.plan(isl=4096, osl=512, ttft_ms=2000, rate=20, mode="disaggregated")
        made = d.deployment_of(plan)
        for role, planned in zip(made.roles, plan.roles):
            strategy = planned.strategy
            self.assertEqual((role.workers, role.tp, role.ranks, role.ep),
                             (planned.workers, strategy.tp, strategy.dp_size, strategy.ep))
        metrics = plan.metrics
        self.assertEqual(sum(role.workers * role.devices for role in made.roles), metrics.gpus)
        decode = made.roles[1]
        self.assertGreaterEqual(decode.workers * decode.in_flight, metrics.in_flight)
        self.assertEqual((made.load.isl, made.load.osl, made.load.rate), (4096, 512, 20))
        self.assertEqual(made.max_length, 40960)
        self.assertEqual(d.deployment_of(plan, max_length=8192).max_length, 8192)
        for asked, why in [
            ({"max_length": 4607}, "at least 4608"), ({"max_length": 40961}, "at most 40960"),
            ({"max_length": 0}, "at least 4608"), ({"devices_per_node": 0}, "whole number from 1"),
            ({"model": ""}, "the model is ''"), ({"model": "-x"}, "as a flag"),
            ({"model": "\ud800"}, "model"), ({"engine": "x"}, "unknown engine 'x'"),
            ({"engine": "transformers"}, "no server"),
        ]:
            with self.subTest(asked), self.assertRaisesRegex(so.ShardoptError, why):
                d.deployment_of(plan, **asked)

    def test_services_of_files_are_checked(self):
        plan = self.plan(isl=4096, osl=512, ttft_ms=2000, mode="disaggregated")
        text = json.dumps(plan.report)
        for path, value in [
            ("disaggregated", 1),
            ("disaggregated/decode", None), ("disaggregated/prefill", []),
            ("disaggregated/decode/tp", "2\ntouch pwned"), ("disaggregated/decode/workers", 0),
            ("disaggregated/prefill/dp", 1.5), ("disaggregated/prefill/ep", 1e400),
            ("disaggregated/concurrency", "9"), ("disaggregated/concurrency", float("nan")),
        ]:
            report = json.loads(text)
            *places, name = path.split("/")
            inner = report
            for place in places:
                inner = inner[place]
            inner[name] = value
            with self.subTest(path, value=value), self.assertRaises(so.ShardoptError):
                d.deployment_of(dataclasses.replace(plan, report=report))
        for mode in ("x", None, []):
            with self.subTest(mode=mode), self.assertRaisesRegex(so.ShardoptError, "no mode"):
                dataclasses.replace(plan, mode=mode)

    def test_a_plan_of_a_phase_is_a_service_too(self):
        plan = self.plan()
        made = d.deployment_of(plan)
        self.assertEqual(sum(role.workers * role.devices for role in made.roles),
                         plan.strategy.devices * plan.report["best"].get("workers", 1))
        alone = shlex.split(so.export(plan, "vllm").command)
        served = made.command(made.roles[0], 0).args
        self.assertLessEqual(set(alone), set(served))
        self.assertLessEqual(made.load.isl + made.load.osl, made.max_length)
        model = so.load_model(ROOT / "examples/configs/qwen3-235b-a22b.json", so.Prefill(2048))
        pins = {"tp": 1, "dp": 8, "ep": 8, "exchange": "all_to_all"}
        asked = so.Problem(model, machine="h200_sxm", max_devices=8, engine="vllm", pins=pins)
        made = d.deployment_of(so.plan(asked))
        self.assertIn("deepep_high_throughput", made.command(made.roles[0], 0).args)
        self.assertEqual((made.load.isl, made.load.osl), (2048, 1))

    def test_the_command(self):
        plan = self.plan(isl=4096, osl=512, ttft_ms=2000)
        with tempfile.TemporaryDirectory() as place:
            plan.to_json(Path(place, "plan.json"))
            environment = {**os.environ, "PYTHONPATH": str(Path(so.__file__).parents[1])}

            def run(*words):
                return subprocess.run(
                    [sys.executable, "-m", "shardopt.cli", "export", "plan.json", *words],
                    cwd=place, env=environment, capture_output=True, text=True,
                )

            done = run("--target", "kubernetes", "-o", "unnamed")
            self.assertEqual(done.returncode, 0)
            self.assertIn("note: the servers load 'qwen3-235b-a22b'", done.stderr)
            checkpoint = ("--model", "Qwen/Qwen3-235B-A22B")
            done = run("--target", "kubernetes", "-o", "out dir", "--name", "chat", *checkpoint)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("next      kubectl apply --dry-run=server -f 'out dir'", done.stdout)
            self.assertIn("name: chat", Path(place, "out dir/workers.yaml").read_text())
            done = run("--target", "shell", "-o", "servers", *checkpoint)
            self.assertIn("  host      HOST_1: prefill 0, prefill 1, router\n", done.stdout)
            self.assertIn("  note      needs 'vllm-router' and curl on HOST_1\n", done.stdout)
            shutil.rmtree(Path(place, "servers"))
            for words, why in [
                (("--target", "kube", "-o", "x"), "unknown target 'kube'; known"),
                (("--target", "shell"), "expected --output-dir"),
                (("--image", "a"), "expected `shardopt export` with --target"),
                (("--target", "shell", "-o", "out dir"), "has files"),
                (("--target", "kubernetes", "-o", "x", "--name", "A"), "the name is 'A'"),
                (("--target", "kubernetes", "-o", "x", "--image", "a b"), "the image is 'a b'"),
            ]:
                done = run(*words)
                self.assertEqual(done.returncode, 2, words)
                self.assertIn(why, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertEqual(sorted(os.listdir(place)), ["out dir", "plan.json", "unnamed"])


if __name__ == "__main__":
    unittest.main()
