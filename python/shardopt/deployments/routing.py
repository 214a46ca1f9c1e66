"""Commands around the workers: the router, and the load that was planned."""

from __future__ import annotations

import math
from typing import Any, Mapping, Sequence

from ..yaml_text import document
from .service import DECODE, PREFILL, SERVE, Deployment

Workers = Mapping[str, Sequence[tuple[str, str]]]


def router_command(deployment: Deployment, workers: Workers, port: int) -> list[str]:
    """What routes requests to `workers`: by role, the URL and side port of each."""
    words = list(deployment.router["program"])
    if "config" in deployment.router:
        return words
    if deployment.is_disaggregated:
        for url, side_port in workers[PREFILL]:
            words += ["--prefill", url]
            if deployment.engine == "sglang":
                words.append(side_port)
        for url, _ in workers[DECODE]:
            words += ["--decode", url]
    else:
        words += ["--worker-urls", *(url for url, _ in workers[SERVE])]
    return [*words, "--host", "0.0.0.0", "--port", str(port)]


def router_files(deployment: Deployment, workers: Workers, port: int) -> dict[str, str]:
    """The files that the router reads, by name."""
    if "config" not in deployment.router:
        return {}
    config: dict[str, Any] = {"hostname": "0.0.0.0", "port": port}
    for role, key in ((PREFILL, "context_servers"), (DECODE, "generation_servers")):
        urls = [url.removeprefix("http://") for url, _ in workers[role]]
        config[key] = {"num_instances": len(urls), "urls": urls}
    return {deployment.router["config"]: document(config)}


def registering_files(deployment: Deployment, port: int) -> dict[str, str]:
    """The same, for a router that workers tell where they are (`Deployment.cluster`)."""
    prefill, decode = deployment.roles
    least = {"context_servers": prefill.workers, "generation_servers": decode.workers}
    cluster = {"cluster_uri": deployment.cluster, "minimal_instances": least}
    config = {"hostname": "0.0.0.0", "port": port, "disagg_cluster": cluster}
    return {deployment.router["config"]: document(config)}


def discovering_router(
    deployment: Deployment, selectors: Mapping[str, Mapping[str, str]], namespace: str, port: int
) -> list[str]:
    """A router that finds the pods of each role by their labels."""
    words = list(deployment.router["program"])
    for role, labels in selectors.items():
        flag = "--selector" if role == SERVE else f"--{role}-selector"
        words += [flag, *(f"{key}={value}" for key, value in labels.items())]
    words += ["--service-discovery", "--service-discovery-port", str(port)]
    words += ["--service-discovery-namespace", namespace]
    return [*words, "--host", "0.0.0.0", "--port", str(port)]


def benchmark_command(deployment: Deployment, url: str) -> list[str]:
    """The engine's own client, with the requests that the service was planned for."""
    load = deployment.load
    values = {
        "model": deployment.model,
        "input": str(load.isl),
        "output": str(load.osl),
        "batch": str(load.concurrency),
        "prompts": str(max(4 * load.concurrency, math.ceil(60 * (load.rate or 0)))),
    }
    words = [part.format(**values) for part in deployment.row["benchmark"]]
    if load.rate:
        at = words.index("--max-concurrency")
        words[at : at + 2] = ["--request-rate", str(load.rate)]
    if deployment.engine != "sglang":
        words += ["--served-model-name", deployment.served_name]
    return [*words, "--base-url", url]
