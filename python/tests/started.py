"""What the files of a deployment start: scripts run by a shell with programs that write down
their words, manifests as platforms read them."""

import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import yaml

from shardopt import deployments as d
from shardopt.deployments import seats
from shardopt.shell import Expansion
from test_deployments import replaced

#: Programs that engines and platforms start, and what of their environment is kept.
PROGRAMS = ("vllm", "python3", "trtllm-serve", "trtllm-llmapi-launch", "vllm-router")
KEPT = ("NODE_RANK", "CUDA_VISIBLE_DEVICES", "HOST", "VLLM_PP_LAYER_PARTITION",
        "SGLANG_PP_LAYER_PARTITION", "SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK")

_FAKE = """#!/bin/sh
file=$(mktemp {log}/XXXXXXXXXX)
{{ printf '%s\\0' {name} "$@"; printf '\\0'; {env} }} > "$file"
"""
_SSH = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift 2
exec sh -c "$*"
"""
_SRUN = """#!/bin/sh
tasks=1
while [ "$1" != env ] && [ "$1" != sh ]; do
  case $1 in --ntasks=*) tasks=${1#--ntasks=} ;; esac
  shift
done
rank=0
while [ $rank -lt $tasks ]; do SLURM_NODEID=$rank "$@"; rank=$((rank + 1)); done
"""
# Processes see the variables that are passed on, and no others.
_MPIRUN = """#!/bin/sh
passed=
while [ "$1" != sh ]; do
  case $1 in
  -n) tasks=$2 ;;
  -x) eval "passed=\\"\\$passed $2='\\$$2'\\"" ;;
  esac
  shift
done
while [ "$tasks" -gt 0 ]; do
  eval "env -i PATH='$PATH' HOME='$HOME' $passed sh '$2'"
  tasks=$((tasks - 1))
done
"""


class Started(NamedTuple):
    """One command and the variables that it sees."""

    words: tuple[str, ...]
    env: dict[str, str]


def fakes(place):
    """An environment whose programs write down what they are told."""
    (place / "bin").mkdir()
    (place / "log").mkdir()
    env = " ".join(f"printf '%s\\0' \"{name}=${{{name}-}}\";" for name in KEPT)
    texts = {name: _FAKE.format(log=place / "log", name=name, env=env) for name in PROGRAMS}
    texts.update(ssh=_SSH, srun=_SRUN, mpirun=_MPIRUN, curl="#!/bin/sh\n")
    for name, text in texts.items():
        path = place / "bin" / name
        path.write_text(text)
        path.chmod(0o755)
    return {"PATH": f"{place}/bin:/usr/bin:/bin", "HOME": str(place), "LC_ALL": "C"}


def said(place):
    """What the programs have written down."""
    found = []
    for path in sorted((place / "log").iterdir()):
        words, _, env = path.read_text().partition("\0\0")
        pairs = dict(pair.split("=", 1) for pair in env.split("\0") if pair)
        found.append(Started(tuple(words.split("\0")), pairs))
    return found


def _run(words, env, place):
    done = subprocess.run(words, env=env, cwd=place, capture_output=True, text=True, timeout=120)
    if done.returncode or done.stderr:
        raise AssertionError(f"{words[:2]}: {done.returncode} {done.stderr[-500:]}")


def of_shell(made, settings=d.Settings()):
    """What start.sh starts on machines host1, host2, …"""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        d.write(made, "shell", place / "out", settings)
        count = seats.hosts_of(seats.seats_of(made))
        hosts = [f"host{number}" for number in range(1, count + 1)]
        _run(["sh", str(place / "out/start.sh"), *hosts], fakes(place), place)
        return said(place)


def of_slurm(made, settings=d.Settings()):
    """What the job starts on its nodes."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        d.write(made, "slurm", place / "out", settings)
        env = fakes(place)
        show = place / "bin/scontrol"
        show.write_text('#!/bin/sh\nfor host in $3; do echo "$host"; done\n')
        show.chmod(0o755)
        groups = seats.groups_of(seats.seats_of(made))
        lists = [" ".join(f"host{n}" for n in hosts) for _, hosts in groups]
        names = [""] if len(groups) == 1 else ["_HET_GROUP_0", "_HET_GROUP_1"]
        env.update({f"SLURM_JOB_NODELIST{name}": said for name, said in zip(names, lists)})
        env["SLURM_SUBMIT_DIR"] = str(place / "out")
        _run(["bash", str(place / "out/service.sbatch")], env, place)
        return said(place)


def documents(files):
    """The documents of all YAML files."""
    return [
        document
        for name, text in files.items()
        if name.endswith(".yaml") and not name.endswith("trtllm.yaml")
        for document in yaml.safe_load_all(text)
    ]


def templates(files):
    """By role, the leader's and the workers' pods of groups."""
    found = {}
    for one in documents(files):
        if one["kind"] == "LeaderWorkerSet":
            found["serve"] = one["spec"]["leaderWorkerTemplate"]
        elif one["kind"] == "DisaggregatedSet":
            for role in one["spec"]["roles"]:
                found[role["name"]] = role["spec"]["leaderWorkerTemplate"]
    return found


def of_groups(files, ranks):
    """What pods of the given ranks start, by role."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        env = fakes(place)
        for role, template in templates(files).items():
            for rank in ranks(template["size"]):
                pod = template["workerTemplate" if rank else "leaderTemplate"] \
                    if template["size"] > 1 else template["workerTemplate"]
                box = pod["spec"]["containers"][0]
                own = {each["name"]: each.get("value", "x") for each in box.get("env", ())}
                own.update(LWS_WORKER_INDEX=str(rank), LWS_LEADER_ADDRESS="host1")
                script = replaced(box["args"][0], own)
                _run([*box["command"], script], {**env, **own}, place)
            found[role] = said(place)
            for path in (place / "log").iterdir():
                path.unlink()
    return found


def of_compose(files):
    """The commands of workers, by role."""
    found = {}
    for name, one in yaml.safe_load(files["compose.yaml"])["services"].items():
        words = tuple(word.replace("$$", "$") for word in one["command"])
        role = name.rpartition("-")[0]
        if role:
            found.setdefault(role, []).append(Started(words, one.get("environment", {})))
    return found


def frontend_of(graph):
    """The words of a graph's frontend."""
    box = graph["spec"]["components"][0]["podTemplate"]["spec"]["containers"][0]
    return [*box["command"], *box.get("args", ())]


def router(target, made, files):
    """The words of the router, and by role the workers of the file that it reads; None
    where it reads none. Hosts are host1, host2, …"""
    if target == "compose":
        words = yaml.safe_load(files["compose.yaml"])["services"]["router"]["command"]
        return words, _served(files.get("router.yaml"))
    if target == "kubernetes":
        pods = next(one for one in documents(files) if one["kind"] == "Deployment")
        words = pods["spec"]["template"]["spec"]["containers"][0]["command"]
        if words[0] != "/bin/sh":
            return words, None
        text = words[2]
    else:
        text = files["router.sh"]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        hosts = range(1, seats.hosts_of(seats.seats_of(made)) + 1)
        env = {**fakes(place), **{f"HOST_{number}": f"host{number}" for number in hosts}}
        script = place / "router.sh"
        script.write_text(text)
        _run(["sh", str(script)], env, place)
        config = place / "router.yaml"
        return list(said(place)[0].words), _served(config.read_text() if config.exists() else None)


def _served(text):
    """The port and the workers, by role, of the options of TensorRT-LLM's router."""
    if text is None:
        return None
    options = yaml.safe_load(text)
    found = {"port": options["port"]}
    least = options.get("disagg_cluster", {}).get("minimal_instances", {})
    for role, key in (("prefill", "context_servers"), ("decode", "generation_servers")):
        found[role] = options.get(key, {}).get("urls", ["registers"] * least.get(key, 0))
    return found


def of_dynamo(files):
    """The words of each component that is an engine, and its nodes."""
    graph = next(one for one in documents(files) if one["kind"] == "DynamoGraphDeployment")
    found = {}
    for component in graph["spec"]["components"][1:]:
        box = component["podTemplate"]["spec"]["containers"][0]
        words = [replaced(word, {}) for word in [*box["command"], *box["args"]]]
        found[component["name"]] = words, component.get("multinode", {}).get("nodeCount", 1)
    return found


#: Flags whose values are of a place, not of a plan.
_OF_PLACES = {"--port", "--host", "--master-addr", "--dist-init-addr", "--data-parallel-address",
              "--disaggregation-bootstrap-port"}


def placeless(words):
    """Words without what differs between platforms."""
    found, words = [], list(words)
    for at, word in enumerate(words):
        found.append("*" if at and words[at - 1] in _OF_PLACES else word)
    return tuple(found)


def processes(made, role):
    """How many commands start a worker: one on each node, or one for each GPU by MPI."""
    return role.devices if made.is_launched(role) else made.nodes(role)


def reference(made, role, rank):
    """The words that node `rank` of a worker must start."""
    command = made.command(role, 8000, 5600)
    env = {"NODE_RANK": str(rank), "MASTER_ADDR": "10.0.0.1", "HOST": "10.0.0.2"}
    words = [*command.args, *(command.later_args if rank else ())]
    return tuple(_expanded(word, env) for word in words), dict(command.env)


def _expanded(word, env):
    if not isinstance(word, Expansion):
        return word
    word = re.sub(r"\$\(\(([A-Z_]+) \* ([0-9]+)\)\)", lambda m: str(int(env[m[1]]) * int(m[2])), word)
    return re.sub(r"\$([A-Z_]+)", lambda m: env[m[1]], word)


def some_ranks(nodes):
    """The first node, the second, and the last."""
    return sorted({0, min(1, nodes - 1), nodes - 1})


def inside(target, made, settings=d.Settings()):
    """A deployment as the files of a target have it."""
    if target in ("shell", "slurm"):
        return made
    made = d.pods.container_model(made, settings)
    return d.kubernetes.registered(made, settings) if target == "kubernetes" else made


def started(target, made, files, settings=d.Settings()):
    """The workers that a target starts; of groups, some of their nodes."""
    found = _started(target, made, files, settings)
    return [one for one in found if "disaggregated" not in one.words[:2]
            and not any("router" in word for word in one.words[:3])]


def _started(target, made, files, settings):
    if target == "shell":
        return of_shell(made, settings)
    if target == "slurm":
        return of_slurm(made, settings)
    if target == "compose":
        return [one for each in of_compose(files).values() for one in each]
    return [one for each in of_groups(files, some_ranks).values() for one in each]
