"""Commands around the workers: the router, and the load that was planned."""

from __future__ import annotations

import math
from typing import Mapping, Sequence

from ..errors import Inexpressible
from .service import DECODE, PREFILL, SERVE, Deployment


def router_command(
    deployment: Deployment, workers: Mapping[str, Sequence[tuple[str, str]]], port: int
) -> list[str]:
    """What routes requests to `workers`: by role, the URL and side port of each."""
    words = _start(deployment)
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


def discovering_router(
    deployment: Deployment, selectors: Mapping[str, Mapping[str, str]], namespace: str, port: int
) -> list[str]:
    """A router that finds the pods of each role by their labels."""
    words = _start(deployment)
    for role, labels in selectors.items():
        flag = "--selector" if role == SERVE else f"--{role}-selector"
        words += [flag, *(f"{key}={value}" for key, value in labels.items())]
    words += ["--service-discovery", "--service-discovery-port", str(port)]
    words += ["--service-discovery-namespace", namespace]
    return [*words, "--host", "0.0.0.0", "--port", str(port)]


def _start(deployment: Deployment) -> list[str]:
    router = deployment.row["router"]
    if router is None:
        why = f"{deployment.engine} with several workers has no router here, expected one worker"
        raise Inexpressible(why, [why], None)
    return [*router["program"], *(router["pair"] if deployment.is_disaggregated else [])]


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
