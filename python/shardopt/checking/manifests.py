"""Manifests of Kubernetes and of Dynamo, and Compose files, as services."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Sequence

from ..border import shown
from ..deployments.service import DECODE, PREFILL, SERVE, Load
from ..engine_table import Names
from ..errors import ShardoptError
from .findings import Finding, illegal
from .loads import load_of_words
from .meaning import Meaning, Place, meaning_of, renamed
from .programs import Invocation, of_image
from .shell_reading import read_commands
from .stated import Stated, gathered

_GPUS = ("nvidia.com/gpu", "amd.com/gpu", "gpu")


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    """The words of `command` or `args`."""
    if isinstance(value, str):
        return [value]
    return [str(one) for one in _list(value)]


def _replaced(word: str, env: Mapping[str, str]) -> str:
    """What Kubernetes makes of a word: `$(NAME)` is replaced if known, `$$` is `$`."""

    def one(match: "re.Match[str]") -> str:
        if match[0] == "$$":
            return "$"
        return env.get(match[1], match[0])

    return re.sub(r"\$\$|\$\(([A-Za-z_][\w.-]*)\)", one, word)


def environment_of(container: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    env = container.get("env") or container.get("envs") or container.get("environment")
    if isinstance(env, dict):
        return {str(name): str(value) for name, value in env.items()}
    for entry in _list(env):
        if isinstance(entry, str):
            name, _, value = entry.partition("=")
            found[name] = value
        elif isinstance(entry, dict) and isinstance(entry.get("name"), str):
            if entry.get("value") is not None:
                found[entry["name"]] = _replaced(str(entry["value"]), found)
    return found


def gpus_of(container: Mapping[str, Any]) -> int:
    """GPUs of a container; 0 where it asks for none."""
    resources = _map(container.get("resources"))
    for part in ("limits", "requests"):
        said = _map(resources.get(part))
        for name in _GPUS:
            if re.fullmatch("[0-9]{1,4}", str(said.get(name, ""))):
                return int(str(said[name]))
    return 0


def engines_of(
    container: Mapping[str, Any], label: str, variables: Mapping[str, str],
    files: Mapping[str, str],
) -> list[Invocation]:
    """What a container runs: its words behind the entrypoint of its image. `files` are
    of ConfigMaps, by name."""
    env = environment_of(container)
    command = container.get("command")
    words = [_replaced(word, env) for word in [*_texts(command), *_texts(container.get("args"))]]
    image = str(container.get("image", ""))
    entrypoint: list[str] | None = [] if command else None
    return list(of_image(image, words, entrypoint, {**variables, **env}, dict(files), label))


def is_manifest(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("kind"), str) and (
        isinstance(document.get("apiVersion"), str)
    )


def read_manifests(
    documents: Sequence[Any], place: str, facts: "Names | None", per_node: int
) -> Stated:
    """The service of Kubernetes objects, whatever holds its pods."""
    found: list[Meaning] = []
    kinds: list[str] = []
    load: Load | None = None
    name = ""
    findings: list[Finding] = []
    reading = _Reading(facts, per_node, findings, _files_of(documents))
    for document in documents:
        load = load or _load_of(document)
        several = _workers_of(document, reading)
        if several:
            kinds.append(_kind_name(document))
            name = name or str(_map(document.get("metadata")).get("name", ""))
            found += several
    if not found:
        listed = ", ".join(dict.fromkeys(str(one["kind"]) for one in documents))
        raise ShardoptError(
            f"'{place}' starts no engine: it has {listed:.200}, expected pods whose "
            "containers run vllm, sglang or trtllm-serve"
        )
    return gathered(" and ".join(dict.fromkeys(kinds)), found, load, name, findings)


@dataclass(frozen=True)
class _Reading:
    """What is known while manifests are read, and what is found."""

    facts: "Names | None"
    per_node: int
    findings: list[Finding]
    files: Mapping[str, str]


def _files_of(documents: Sequence[Any]) -> dict[str, str]:
    """The files of all ConfigMaps by name."""
    return {
        str(name): text
        for document in documents if document["kind"] == "ConfigMap"
        for name, text in _map(document.get("data")).items() if isinstance(text, str)
    }


def _kind_name(document: Mapping[str, Any]) -> str:
    version = str(document["apiVersion"]).rsplit("/", 1)[-1]
    return f"{document['kind']} {version}"


def _load_of(document: Mapping[str, Any]) -> Load | None:
    """The load of a job that runs a benchmark."""
    if document["kind"] != "Job":
        return None
    template = _map(_map(document.get("spec")).get("template"))
    for container in _list(_map(template.get("spec")).get("containers")):
        words = [*_texts(_map(container).get("command")), *_texts(_map(container).get("args"))]
        load = load_of_words([_replaced(word, {}) for word in words])
        if load:
            return load
    return None


def _workers_of(document: Mapping[str, Any], reading: _Reading) -> list[Meaning]:
    kind, spec = document["kind"], _map(document.get("spec"))
    label = str(_map(document.get("metadata")).get("name", ""))
    if kind == "LeaderWorkerSet":
        return _of_leader_set(spec, "", label, reading)
    if kind == "DisaggregatedSet":
        roles = []
        for role in _list(spec.get("roles")):
            named = str(_map(role).get("name", ""))
            roles += _of_leader_set(_map(_map(role).get("spec")), named, named, reading)
        return roles
    if kind == "DynamoGraphDeployment":
        return _of_dynamo(spec, reading)
    if kind in ("Deployment", "StatefulSet", "ReplicaSet"):
        pod = _map(_map(spec.get("template")).get("spec"))
        return _of_pod(pod, count_of(spec.get("replicas", 1), "replicas"), 1, "", label, reading)
    if kind == "Pod":
        return _of_pod(spec, 1, 1, "", label, reading)
    return []


def count_of(value: Any, what: str) -> int:
    """A number of workers or nodes; 0 and what is no number are errors."""
    if isinstance(value, bool) or not re.fullmatch("[1-9][0-9]{0,5}", str(value)):
        raise ShardoptError(f"'{what}' is {shown(value)}, expected a whole number above 0")
    return int(str(value))


def _of_leader_set(
    spec: Mapping[str, Any], role: str, label: str, reading: _Reading
) -> list[Meaning]:
    groups = _map(spec.get("leaderWorkerTemplate"))
    template = _map(groups.get("leaderTemplate")) or _map(groups.get("workerTemplate"))
    nodes = count_of(groups.get("size", 1), "leaderWorkerTemplate.size")
    workers = count_of(spec.get("replicas", 1), "replicas")
    return _of_pod(_map(template.get("spec")), workers, nodes, role, label, reading)


def _of_pod(
    pod: Mapping[str, Any], workers: int, nodes: int, role: str, label: str, reading: _Reading
) -> list[Meaning]:
    """The engines of a pod, which is of `workers` workers of `nodes` nodes each."""
    variables = {
        "LWS_WORKER_INDEX": "0", "LWS_GROUP_SIZE": str(nodes), "LWS_LEADER_ADDRESS": "leader",
        "NODE_RANK": "0",
    }
    found = []
    for container in _list(pod.get("containers")):
        if not isinstance(container, dict):
            raise ShardoptError(f"a container is {shown(container)}, expected an object")
        for one in engines_of(container, label, variables, reading.files):
            gpus = gpus_of(container)
            place = Place(gpus or reading.per_node)
            meaning = meaning_of(one, reading.facts, place, _role(role))
            found.append(_counted(meaning, workers, nodes, gpus, reading.findings))
    return found


_ROLES = {"prefill": PREFILL, "decode": DECODE, "worker": SERVE, "both": SERVE}


def _role(named: str) -> str:
    for word, role in _ROLES.items():
        if re.search(word, named, re.I):
            return role
    return ""


def _counted(
    meaning: Meaning, workers: int, nodes: int, gpus: int, findings: list[Finding]
) -> Meaning:
    """A meaning with the workers of its platform, and whether its GPUs are enough."""
    role = meaning.role
    needed = role.devices * role.workers
    if gpus and needed > gpus * nodes:
        findings.append(illegal(
            f"{role.name}: a worker has {needed} GPUs by its flags, and its "
            f"{nodes} pods have {gpus * nodes}"
        ))
    elif gpus and needed < gpus * nodes:
        findings.append(Finding(
            f"{role.name}: a worker uses {needed} of the {gpus * nodes} GPUs of its pods",
            "ignored",
        ))
    return renamed(meaning, workers=role.workers * workers)


def _of_dynamo(spec: Mapping[str, Any], reading: _Reading) -> list[Meaning]:
    """v1beta1 has `components`, a list; v1alpha1 `services`, by name."""
    found = []
    for name, component in _components(spec):
        nodes = count_of(_map(component.get("multinode")).get("nodeCount", 1), "nodeCount")
        workers = count_of(component.get("replicas", 1), "replicas")
        kind = str(component.get("subComponentType") or component.get("type")
                   or component.get("componentType") or "")
        kind = kind if _role(kind) in (PREFILL, DECODE) else name
        for container in _containers(component):
            variables = {"NODE_RANK": "0", "LWS_GROUP_SIZE": str(nodes), **environment_of(spec)}
            for one in engines_of(container, name, variables, reading.files):
                gpus = gpus_of(container) or gpus_of(component)
                named = _role(kind)
                named = "" if named == SERVE else named
                place = Place(gpus or reading.per_node, nodes=nodes)
                meaning = meaning_of(one, reading.facts, place, named)
                found.append(_counted(meaning, workers, nodes, gpus, reading.findings))
    return found


def _components(spec: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for component in _list(spec.get("components")):
        yield str(_map(component).get("name", "")), _map(component)
    for name, service in _map(spec.get("services")).items():
        yield str(name), _map(service)


def _containers(component: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    pod = _map(_map(component.get("podTemplate")).get("spec"))
    for container in _list(pod.get("containers")):
        yield _map(container)
    main = _map(component.get("extraPodSpec")).get("mainContainer")
    if isinstance(main, dict):
        yield {**main, "env": [*_list(component.get("envs")), *_list(main.get("env"))]}


def is_compose(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("services"), dict) and (
        "kind" not in document
    )


def read_compose(
    document: Mapping[str, Any], place: str, facts: "Names | None", per_node: int,
    files: Mapping[str, str],
) -> Stated:
    """The services of a Compose file that run engines."""
    found: list[Meaning] = []
    load = None
    for name, service in document["services"].items():
        service = _map(service)
        words = _compose_words(service.get("command"))
        entrypoint = service.get("entrypoint")
        own = None if entrypoint is None else _compose_words(entrypoint)
        load = load or load_of_words(words)
        env = environment_of(service)
        started = of_image(str(service.get("image", "")), words, own, env, dict(files), str(name))
        for one in started:
            scale = _map(service.get("deploy")).get("replicas", service.get("scale", 1))
            meaning = meaning_of(one, facts, Place(per_node))
            found.append(renamed(
                meaning, workers=meaning.role.workers * count_of(scale, "replicas")
            ))
    if not found:
        raise ShardoptError(
            f"'{place}' starts no engine: its services are "
            f"{', '.join(map(str, document['services']))[:200]}, expected one that runs vllm, "
            "sglang or trtllm-serve"
        )
    return gathered("Compose file", found, load, str(document.get("name", "")))


def _compose_words(value: Any) -> list[str]:
    """Words of Compose: a doubled dollar is one; a text is split as a shell does."""
    if isinstance(value, str):
        said = list(read_commands(value.replace("$$", "$")))
        return said[0].words if said else []
    return [word.replace("$$", "$") for word in _texts(value)]
