"""The service for llm-d: vLLM's workers with its labels and its routing sidecar."""

from __future__ import annotations

from typing import Any

from ..errors import Inexpressible
from ..yaml_text import document, documents
from . import names
from .kubernetes import workers
from .pods import PORT, compute_domains, container_model, job, metadata, pod_spec
from .routing import benchmark_command
from .service import DECODE, PREFILL, Deployment, Role
from .settings import Settings

WRITTEN_FOR = "llm-d of 2026-08 (DisaggregatedSet v1, InferencePool v1)"

_SIDECAR = "ghcr.io/llm-d/llm-d-routing-sidecar:v0.8.0"
#: Where a decode worker listens behind its sidecar, which has `PORT` and expects it there.
_BEHIND = 8200


def files_of(deployment: Deployment, settings: Settings) -> dict[str, str]:
    if deployment.engine != "vllm":
        why = f"llm-d's workers of {deployment.engine} are not written, expected vllm"
        raise Inexpressible(why, [why], None)
    deployment = container_model(deployment, settings)
    held = workers(deployment, settings)
    templates = _templates(held)
    for role in deployment.roles:
        _mark(deployment, role, templates[role.name], settings)
    url = f"http://{deployment.name}-gateway.{settings.namespace}"
    load = job(deployment, settings, benchmark_command(deployment, url), f"{deployment.name}-load")
    return {
        "workers.yaml": documents([*compute_domains(deployment, settings), held]),
        "routing.yaml": documents(_routing(deployment, settings)),
        "benchmark/job.yaml": document(load),
    }


def _templates(held: dict[str, Any]) -> dict[str, dict[str, Any]]:
    spec = held["spec"]
    if "roles" in spec:
        return {role["name"]: role["spec"]["leaderWorkerTemplate"] for role in spec["roles"]}
    return {"serve": spec["leaderWorkerTemplate"]}


def _labels(deployment: Deployment, role: Role) -> dict[str, str]:
    kind = role.name if role.name in (PREFILL, DECODE) else "both"
    return {"llm-d.ai/model": deployment.name, "llm-d.ai/role": kind}


def _mark(
    deployment: Deployment, role: Role, template: dict[str, Any], settings: Settings
) -> None:
    first = template.get("leaderTemplate", template["workerTemplate"])
    first["metadata"]["labels"] = {
        **first["metadata"]["labels"],
        "llm-d.ai/inference-serving": "true",
        **_labels(deployment, role),
    }
    if role.name != DECODE:
        return
    image = names.image(settings.router_image or _SIDECAR)
    sidecar = {
        "name": "routing-proxy",
        "image": image,
        "restartPolicy": "Always",
        "args": [
            f"--port={PORT}",
            "--kv-connector=nixlv2",
            "--secure-proxy=false",
        ],
        "ports": [{"name": "sidecar", "containerPort": PORT}],
    }
    first["spec"] = pod_spec(deployment, role, settings, port=_BEHIND)
    first["spec"]["initContainers"] = [sidecar]


def _routing(deployment: Deployment, settings: Settings) -> list[dict[str, Any]]:
    """The pool of workers that answer, and the route to it. Its endpoint picker is
    installed with llm-d's own chart, under the name of the pool."""
    pool = {
        "apiVersion": "inference.networking.k8s.io/v1",
        "kind": "InferencePool",
        "metadata": metadata(deployment, settings, deployment.name),
        "spec": {
            "selector": {
                "matchLabels": {
                    "llm-d.ai/inference-serving": "true",
                    "llm-d.ai/model": deployment.name,
                }
            },
            "targetPorts": [{"number": PORT}],
            "endpointPickerRef": {"name": f"{deployment.name}-epp", "port": {"number": 9002}},
        },
    }
    backend = {
        "group": "inference.networking.k8s.io",
        "kind": "InferencePool",
        "name": deployment.name,
    }
    route = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": metadata(deployment, settings, deployment.name),
        "spec": {
            "parentRefs": [{"name": f"{deployment.name}-gateway"}],
            "rules": [{"backendRefs": [backend]}],
        },
    }
    return [pool, route]


def trial(deployment: Deployment, folder: str) -> list[str]:
    return ["kubectl", "apply", "--dry-run=server", "-f", folder]
