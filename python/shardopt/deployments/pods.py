"""What is common to all manifests: images, containers, probes, labels."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Sequence

from ..errors import Inexpressible
from ..launches import Command
from ..shell import command_line, quoted
from . import names
from .service import Deployment, Role
from .settings import Settings

#: Inside a pod, which has its own address.
PORT, SIDE_PORT = 8000, 5600


def container_model(deployment: Deployment, settings: Settings) -> Deployment:
    """The same, where a model that is a folder of this machine is one of the volume."""
    if not deployment.model.startswith("/"):
        return deployment
    folder = deployment.model.rstrip("/").rsplit("/", 1)[-1]
    return dataclasses.replace(deployment, model=f"{settings.models}/{folder}")


def images_of(deployment: Deployment, settings: Settings) -> tuple[str, str]:
    """Of the engine and of the router."""
    row = deployment.row
    vendors = {role.hardware.vendor for role in deployment.roles}
    if len(vendors) > 1 and not settings.image:
        why = "its roles are on GPUs of two vendors, and one image has one engine"
        raise Inexpressible(f"the service has no image: {why}", [why], None)
    own = row["image"] if vendors == {"nvidia"} else row["amd_image"]
    return names.image(settings.image or own), settings.router_image or deployment.router["image"]


def labels(deployment: Deployment, role: "Role | None" = None) -> dict[str, str]:
    said = {"app.kubernetes.io/name": deployment.name}
    if role is not None:
        said["shardopt/role"] = role.name
    return said


def literal(word: str) -> str:
    """`word` where Kubernetes replaces `$(NAME)` and reads `$$` as a dollar."""
    return re.sub(r"\$(?=[$(])", "$$", word)


def script_of(deployment: Deployment, role: Role, command: Command, is_later: bool) -> str:
    """Starts a node of a worker inside a pod."""
    lines = ["set -eu"]
    if deployment.nodes(role) > 1:
        lines += ['export NODE_RANK="$LWS_WORKER_INDEX" MASTER_ADDR="$LWS_LEADER_ADDRESS"']
    for name, text in command.files.items():
        lines.append(f"printf %s {quoted(text)} > {quoted(name)}")
    words = [*command.args, *(command.later_args if is_later else ())]
    lines.append(f"exec {command_line(words)}")
    return "\n".join(lines) + "\n"


def environment(
    deployment: Deployment, command: Command, settings: Settings, side_port: int = SIDE_PORT
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": name, "value": literal(value)} for name, value in command.env.items()
    ]
    own: dict[str, dict[str, Any]] = {
        "host": {"valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        "side_port": {"value": str(side_port)},
    }
    wanted = deployment.row["environment_of_roles"] if deployment.is_disaggregated else {}
    if deployment.cluster:
        wanted = {**wanted, "HOST": "host"}
    found += [{"name": name, **own[field]} for name, field in wanted.items()]
    if settings.secret:
        token = {"secretKeyRef": {"name": settings.secret, "key": "HF_TOKEN"}}
        found.append({"name": "HF_TOKEN", "valueFrom": token})
    if holds_downloads(deployment, settings):
        found.append({"name": "HF_HOME", "value": literal(settings.models)})
    return found


def holds_downloads(deployment: Deployment, settings: Settings) -> bool:
    """Whether pods share what they download from the Hub in the claim that is asked for."""
    return not deployment.model.startswith("/") and settings.claim != Settings.claim


def selector(deployment: Deployment, role: Role, settings: Settings) -> dict[str, Any]:
    """Which nodes the pods of a role go to, where roles are on different machines or the
    user says it."""
    labels_of_nodes = dict(settings.selector_of(role.name))
    machines = {each.machine for each in deployment.roles}
    if not labels_of_nodes and len(machines) > 1:
        labels_of_nodes = role.hardware.selector
        if not labels_of_nodes:
            why = (
                f"the label of nodes with {role.machine} is not known, expected "
                f"--node-selector {role.name}:KEY=VALUE"
            )
            raise Inexpressible(f"the roles cannot be placed: {why}", [why], None)
    return {"nodeSelector": labels_of_nodes} if labels_of_nodes else {}


def spans_domain(deployment: Deployment, role: Role) -> bool:
    """Whether a worker spans nodes of one NVLink domain, which must be asked for."""
    return deployment.nodes(role) > 1 and role.domain > role.devices_per_node


def claims(deployment: Deployment, role: Role) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a pod and its container say of the domain that a worker spans."""
    if not spans_domain(deployment, role):
        return {}, {}
    template = _domain_name(deployment, role)
    return (
        {"resourceClaims": [{"name": "domain", "resourceClaimTemplateName": template}]},
        {"claims": [{"name": "domain"}]},
    )


def _domain_name(deployment: Deployment, role: Role) -> str:
    return names.label(f"{deployment.name}-{role.name}-domain", "name of an object", 63)


def compute_domains(deployment: Deployment, settings: Settings) -> list[dict[str, Any]]:
    """One for each role whose workers span nodes of an NVLink domain."""
    return [
        {
            "apiVersion": "resource.nvidia.com/v1beta1",
            "kind": "ComputeDomain",
            "metadata": metadata(deployment, settings, _domain_name(deployment, role)),
            "spec": {
                "numNodes": role.workers * deployment.nodes(role),
                "channel": {
                    "resourceClaimTemplate": {"name": _domain_name(deployment, role)}
                },
            },
        }
        for role in deployment.roles
        if spans_domain(deployment, role)
    ]


def volumes(
    deployment: Deployment, settings: Settings
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Of a pod, and where its containers see them: a claim where the model is in one, or is
    downloaded to one."""
    of_pod: list[dict[str, Any]] = [{"name": "shm", "emptyDir": {"medium": "Memory"}}]
    of_container: list[dict[str, Any]] = [{"name": "shm", "mountPath": "/dev/shm"}]
    is_written = holds_downloads(deployment, settings)
    if deployment.model.startswith("/") or is_written:
        read_only = {} if is_written else {"readOnly": True}
        claim = {"claimName": settings.claim, **read_only}
        of_pod.insert(0, {"name": "models", "persistentVolumeClaim": claim})
        mount = {"name": "models", "mountPath": settings.models, **read_only}
        of_container.insert(0, mount)
    return of_pod, of_container


def probes(port: int) -> dict[str, Any]:
    health = {"httpGet": {"path": "/health", "port": port}}
    return {
        "startupProbe": {**health, "periodSeconds": 10, "failureThreshold": 360},
        "readinessProbe": {**health, "periodSeconds": 10, "failureThreshold": 3},
        "livenessProbe": {**health, "periodSeconds": 30, "failureThreshold": 6},
    }


def pod_spec(
    deployment: Deployment, role: Role, settings: Settings, is_later: bool = False,
    port: int = PORT,
) -> dict[str, Any]:
    """The pod of a worker's first node, or of a later one, which answers no requests."""
    command = deployment.command(role, port, SIDE_PORT)
    of_pod, of_container = volumes(deployment, settings)
    script = script_of(deployment, role, command, is_later)
    env = environment(deployment, command, settings)
    claimed, of_resources = claims(deployment, role)
    gpus = {role.hardware.resource: str(deployment.devices_here(role))}
    container = {
        "name": "engine",
        "image": images_of(deployment, settings)[0],
        "command": ["/bin/sh", "-c"],
        "args": [literal(script)],
        **({"env": env} if env else {}),
        **({} if is_later else {"ports": [{"name": "http", "containerPort": port}]}),
        "resources": {"limits": gpus, **of_resources},
        **({} if is_later else probes(port)),
        "volumeMounts": of_container,
    }
    placed = selector(deployment, role, settings)
    return {"containers": [container], "volumes": of_pod, **placed, **claimed}


def job(
    deployment: Deployment, settings: Settings, words: Sequence[str], name: str
) -> dict[str, Any]:
    """A job that runs a command in the engine's image, without GPUs."""
    of_pod, of_container = volumes(deployment, settings)
    container = {
        "name": "client",
        "image": images_of(deployment, settings)[0],
        "command": [literal(word) for word in words],
        "volumeMounts": of_container,
    }
    pod = {"restartPolicy": "Never", "containers": [container], "volumes": of_pod}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata(deployment, settings, name),
        "spec": {"backoffLimit": 0, "template": {"spec": pod}},
    }


def metadata(deployment: Deployment, settings: Settings, name: str) -> dict[str, Any]:
    notes = deployment.notes
    return {
        "name": names.label(name, "name of an object", 63),
        "namespace": settings.namespace,
        "labels": labels(deployment),
        **({"annotations": {"shardopt/needs": "; ".join(notes)}} if notes else {}),
    }
