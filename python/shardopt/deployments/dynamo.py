"""The service as a DynamoGraphDeployment."""

from __future__ import annotations

from typing import Any

from ..errors import Inexpressible
from . import names
from .pods import (
    GPU,
    SIDE_PORT,
    container_model,
    environment,
    job,
    literal,
    metadata,
    volumes,
)
from .routing import benchmark_command
from .service import SERVE, Deployment, Role
from .settings import Settings
from .slurm import OF_NODES
from .yaml_text import document, documents

WRITTEN_FOR = "Dynamo 1.3 to 1.6 (nvidia.com/v1beta1)"

_MODULES = {"vllm": "dynamo.vllm", "sglang": "dynamo.sglang"}
# The operator adds names to that of the deployment, and these have 45 characters.
_MOST_OF_A_NAME = 30


def files_of(deployment: Deployment, settings: Settings) -> dict[str, str]:
    if deployment.engine not in _MODULES:
        why = f"Dynamo's workers of {deployment.engine} are not written, expected vllm or sglang"
        raise Inexpressible(why, [why], None)
    names.label(deployment.name, "name", _MOST_OF_A_NAME)
    deployment = container_model(deployment, settings)
    image = settings.image or f"nvcr.io/nvidia/ai-dynamo/{deployment.engine}-runtime:1.3.1"
    domains = [
        _compute_domain(deployment, role, settings)
        for role in deployment.roles
        if _spans_domain(deployment, role)
    ]
    graph = {
        "apiVersion": "nvidia.com/v1beta1",
        "kind": "DynamoGraphDeployment",
        "metadata": metadata(deployment, settings, deployment.name),
        "spec": {
            "components": [
                _frontend(image),
                *(_worker(deployment, role, settings, image) for role in deployment.roles),
            ]
        },
    }
    url = f"http://{deployment.name}-frontend.{settings.namespace}:8000"
    load = job(deployment, settings, benchmark_command(deployment, url), f"{deployment.name}-load")
    return {
        "deployment.yaml": documents([*domains, graph]),
        "benchmark/job.yaml": document(load),
    }


def _frontend(image: str) -> dict[str, Any]:
    command = ["python3", "-m", "dynamo.frontend", "--http-port", "8000"]
    container = {"name": "main", "image": image, "command": command}
    return {
        "name": "Frontend",
        "type": "frontend",
        "replicas": 1,
        "podTemplate": {"spec": {"containers": [container]}},
    }


def worker_words(deployment: Deployment, role: Role) -> list[str]:
    """The command of a worker; the operator adds what differs between its nodes."""
    command = deployment.command(role, 0, SIDE_PORT)
    row = deployment.row
    flags = list(command.args[len(row["program"]) + (2 if row["model"] else 1) :])
    kept = []
    while flags:
        flag = flags.pop(0)
        values = []
        while flags and not flags[0].startswith("--"):
            values.append(flags.pop(0))
        if flag not in OF_NODES:
            kept += [flag, *values]
    model = ["--model-path" if deployment.engine == "sglang" else "--model", deployment.model]
    if deployment.engine == "vllm" and role.name != SERVE:
        kept += ["--disaggregation-mode", role.name]
    return ["python3", "-m", _MODULES[deployment.engine], *model, *kept]


def _worker(
    deployment: Deployment, role: Role, settings: Settings, image: str
) -> dict[str, Any]:
    words = [literal(word) for word in worker_words(deployment, role)]
    of_pod, of_container = volumes(settings)
    env = environment(deployment, deployment.command(role, 0, SIDE_PORT), settings)
    resources: dict[str, Any] = {"limits": {GPU: str(deployment.devices_here(role))}}
    pod: dict[str, Any] = {"volumes": of_pod}
    if _spans_domain(deployment, role):
        claim = _domain_name(deployment, role)
        pod["resourceClaims"] = [{"name": "domain", "resourceClaimTemplateName": claim}]
        resources["claims"] = [{"name": "domain"}]
    container = {
        "name": "main",
        "image": image,
        "command": words[:3],
        "args": words[3:],
        **({"env": env} if env else {}),
        "resources": resources,
        "volumeMounts": of_container,
    }
    nodes = deployment.nodes(role)
    return {
        "name": role.name,
        "type": "worker" if role.name == SERVE else role.name,
        "replicas": role.workers,
        **({"multinode": {"nodeCount": nodes}} if nodes > 1 else {}),
        "podTemplate": {"spec": {"containers": [container], **pod}},
    }


def _spans_domain(deployment: Deployment, role: Role) -> bool:
    """Whether a worker spans nodes of one NVLink domain, which must be asked for."""
    return deployment.nodes(role) > 1 and role.machine.startswith("gb")


def _domain_name(deployment: Deployment, role: Role) -> str:
    return names.label(f"{deployment.name}-{role.name}-domain", "name of an object", 63)


def _compute_domain(deployment: Deployment, role: Role, settings: Settings) -> dict[str, Any]:
    name = _domain_name(deployment, role)
    return {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": metadata(deployment, settings, name),
        "spec": {
            "numNodes": role.workers * deployment.nodes(role),
            "channel": {"resourceClaimTemplate": {"name": name}},
        },
    }


def trial(deployment: Deployment, folder: str) -> list[str]:
    return ["kubectl", "apply", "--dry-run=server", "-f", folder]
