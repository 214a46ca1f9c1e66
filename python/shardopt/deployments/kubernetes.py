"""The service as manifests: LeaderWorkerSet for one role, DisaggregatedSet for two."""

from __future__ import annotations

from typing import Any

from .pods import (
    PORT,
    SIDE_PORT,
    compute_domains,
    container_model,
    images_of,
    job,
    labels,
    literal,
    metadata,
    pod_spec,
)
from .routing import benchmark_command, discovering_router
from .service import PREFILL, Deployment, Role
from .settings import Settings
from .yaml_text import document, documents

WRITTEN_FOR = "Kubernetes 1.29 and later, LeaderWorkerSet 0.11"

# Of the pod of a worker's first node, which alone answers requests.
FIRST = {"leaderworkerset.sigs.k8s.io/worker-index": "0"}


def files_of(deployment: Deployment, settings: Settings) -> dict[str, str]:
    deployment = container_model(deployment, settings)
    service = _service(deployment, settings)
    held = [*compute_domains(deployment, settings), workers(deployment, settings)]
    files = {"workers.yaml": documents(held)}
    if deployment.is_routed:
        files["router.yaml"] = documents([*_router(deployment, settings), service])
    else:
        files["service.yaml"] = document(service)
    url = f"http://{deployment.name}.{settings.namespace}:{PORT}"
    load = job(deployment, settings, benchmark_command(deployment, url), f"{deployment.name}-load")
    return {**files, "benchmark/job.yaml": document(load)}


def leader_worker_template(
    deployment: Deployment, role: Role, settings: Settings
) -> dict[str, Any]:
    """Groups of as many pods as a worker has nodes."""
    marks: dict[str, Any] = {"labels": labels(deployment, role)}
    if deployment.engine == "sglang" and role.name == PREFILL:
        marks["annotations"] = {"sglang.ai/bootstrap-port": str(SIDE_PORT)}
    nodes = deployment.nodes(role)
    first = {"metadata": marks, "spec": pod_spec(deployment, role, settings)}
    if nodes == 1:
        return {"size": 1, "workerTemplate": first}
    later = {"metadata": marks, "spec": pod_spec(deployment, role, settings, is_later=True)}
    return {"size": nodes, "leaderTemplate": first, "workerTemplate": later}


def workers(deployment: Deployment, settings: Settings) -> dict[str, Any]:
    """The object that holds all workers."""
    specs = [
        {
            "replicas": role.workers,
            "leaderWorkerTemplate": leader_worker_template(deployment, role, settings),
        }
        for role in deployment.roles
    ]
    head = metadata(deployment, settings, deployment.name)
    if not deployment.is_disaggregated:
        return {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": head,
            "spec": specs[0],
        }
    return {
        "apiVersion": "disaggregatedset.x-k8s.io/v1",
        "kind": "DisaggregatedSet",
        "metadata": head,
        "spec": {
            "roles": [
                {"name": role.name, "spec": spec}
                for role, spec in zip(deployment.roles, specs)
            ]
        },
    }


def _service(deployment: Deployment, settings: Settings) -> dict[str, Any]:
    to = {**labels(deployment, deployment.roles[0]), **FIRST}
    if deployment.is_routed:
        to = {"app.kubernetes.io/name": f"{deployment.name}-router"}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(deployment, settings, deployment.name),
        "spec": {
            "selector": to,
            "ports": [{"name": "http", "port": PORT, "targetPort": PORT}],
        },
    }


def _router(deployment: Deployment, settings: Settings) -> list[dict[str, Any]]:
    """The router, which may list the pods of its namespace."""
    name = f"{deployment.name}-router"
    head = metadata(deployment, settings, name)
    selectors = {role.name: {**labels(deployment, role), **FIRST} for role in deployment.roles}
    words = discovering_router(deployment, selectors, settings.namespace, PORT)
    mark = {"app.kubernetes.io/name": name}
    container = {
        "name": "router",
        "image": images_of(deployment, settings)[1],
        "command": [literal(word) for word in words],
        "ports": [{"name": "http", "containerPort": PORT}],
        "readinessProbe": {"httpGet": {"path": "/health", "port": PORT}, "periodSeconds": 10},
    }
    account = {"kind": "ServiceAccount", "name": name, "namespace": settings.namespace}
    allowed = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}
    rbac = "rbac.authorization.k8s.io"
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": head},
        {"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": head, "rules": [allowed]},
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "RoleBinding",
            "metadata": head,
            "roleRef": {"apiGroup": rbac, "kind": "Role", "name": name},
            "subjects": [account],
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": head,
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": mark},
                "template": {
                    "metadata": {"labels": mark},
                    "spec": {"serviceAccountName": name, "containers": [container]},
                },
            },
        },
    ]


def trial(deployment: Deployment, folder: str) -> list[str]:
    return ["kubectl", "apply", "--dry-run=server", "-f", folder]
