"""The service as manifests: LeaderWorkerSet for one role, DisaggregatedSet for two."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..errors import Inexpressible
from ..shell import command_line, quoted
from ..yaml_text import document, documents
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
from .routing import benchmark_command, discovering_router, registering_files
from .service import PREFILL, Deployment, Role
from .settings import Settings

WRITTEN_FOR = "Kubernetes 1.29 and later, LeaderWorkerSet 0.11"

# Of the pod of a worker's first node, which alone answers requests.
FIRST = {"leaderworkerset.sigs.k8s.io/worker-index": "0"}


def files_of(deployment: Deployment, settings: Settings) -> dict[str, str]:
    for role in deployment.roles:
        if deployment.is_launched(role):
            why = (
                f"{role.name}: MPI starts a worker of {deployment.engine} on {deployment.nodes(role)} "
                "nodes, and its pods have no launcher, expected --target dynamo or slurm"
            )
            raise Inexpressible(f"kubernetes cannot hold this service: {why}", [why], None)
    deployment = registered(container_model(deployment, settings), settings)
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


def needs(deployment: Deployment) -> list[str]:
    """What a cluster must have."""
    controller = "the DisaggregatedSet controller of " if deployment.is_disaggregated else ""
    return [f"{controller}LeaderWorkerSet in the cluster"]


def registered(deployment: Deployment, settings: Settings) -> Deployment:
    """The same, whose workers tell the router where they are if it does not find pods."""
    if not deployment.is_disaggregated or "config" not in deployment.router:
        return deployment
    uri = f"http://{deployment.name}-router.{settings.namespace}:{PORT}"
    return dataclasses.replace(deployment, cluster=uri)


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
    """The router, which finds the pods of its namespace, or which workers tell of them."""
    head = metadata(deployment, settings, f"{deployment.name}-router")
    if not deployment.cluster:
        return _finding_router(deployment, settings, head)
    mark = {"app.kubernetes.io/name": head["name"]}
    (name, text), = registering_files(deployment, PORT).items()
    command = command_line(deployment.router["program"])
    script = f"set -eu\nprintf %s {quoted(text)} > {name}\nexec {command}\n"
    words = ["/bin/sh", "-c", script]
    # It is ready once workers have registered, which they do here.
    ports = [{"name": "http", "port": PORT, "targetPort": PORT}]
    registry = {"selector": mark, "ports": ports, "publishNotReadyAddresses": True}
    return [
        {"apiVersion": "v1", "kind": "Service", "metadata": head, "spec": registry},
        _router_pods(deployment, settings, head, words, {}),
    ]


def _finding_router(
    deployment: Deployment, settings: Settings, head: dict[str, Any]
) -> list[dict[str, Any]]:
    """A router that lists the pods of its namespace, which it must be allowed to."""
    name = head["name"]
    selectors = {role.name: {**labels(deployment, role), **FIRST} for role in deployment.roles}
    words = discovering_router(deployment, selectors, settings.namespace, PORT)
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
        _router_pods(deployment, settings, head, words, {"serviceAccountName": name}),
    ]


def _router_pods(
    deployment: Deployment, settings: Settings, head: dict[str, Any], words: list[str],
    pod: dict[str, Any],
) -> dict[str, Any]:
    mark = {"app.kubernetes.io/name": head["name"]}
    container = {
        "name": "router",
        "image": images_of(deployment, settings)[1],
        "command": [literal(word) for word in words],
        "ports": [{"name": "http", "containerPort": PORT}],
        "readinessProbe": {"httpGet": {"path": "/health", "port": PORT}, "periodSeconds": 10},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": head,
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": mark},
            "template": {
                "metadata": {"labels": mark},
                "spec": {**pod, "containers": [container]},
            },
        },
    }


def trial(deployment: Deployment, folder: str) -> list[str]:
    return ["kubectl", "apply", "--dry-run=server", "-f", folder]
