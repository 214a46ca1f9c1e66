"""Requests for a deployment of Dynamo, answered with a plan and its manifests.

Fields are those of DynamoGraphDeploymentRequest v1beta1, with its defaults.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping

from ..border import list_known, read_text, real, shown
from ..deployments import Deployment, Settings, deployment_of, write
from ..errors import Contradiction, Infeasible, ShardoptError, UnknownName, WrongValue
from ..models import Decode, load_model, machines
from ..problem import Problem
from ..services import Service, plan_service
from ..yaml_files import parse_documents
from .findings import Finding, ignored, note

KIND = "DynamoGraphDeploymentRequest"
#: Engines whose workers the target `dynamo` writes.
_ENGINES = ("vllm", "sglang")
_DEFAULTS = {"isl": 4000, "osl": 1000, "ttft": 2000, "itl": 30}
_SKUS = {"gb200_sxm": "gb200", "mi300": "mi300x"}


def is_request(document: Any) -> bool:
    return isinstance(document, dict) and document.get("kind") == KIND


def request_in(path: "str | os.PathLike[str]") -> "dict[str, Any] | None":
    """The request that a file holds; None where it holds none."""
    place = Path(path)
    if place.suffix not in (".yaml", ".yml") or not place.is_file():
        return None
    text = read_text(place)
    if KIND not in text:
        return None
    found = [one for one in parse_documents(text, str(place), "a request") if is_request(one)]
    if len(found) > 1:
        raise ShardoptError(f"'{place}' has {len(found)} requests, expected one")
    return found[0] if found else None


@dataclass(frozen=True)
class Answer:
    """The best plan for a request, as a deployment, and what of the request is unused."""

    plan: Service
    deployment: Deployment
    settings: Settings
    findings: tuple[Finding, ...]

    def write(self, folder: "str | os.PathLike[str]") -> list[Path]:
        """Writes the manifests into a new folder: all or none."""
        return write(self.deployment, "dynamo", folder, self.settings)

    def __str__(self) -> str:
        lines = [f"request   {self.deployment.name}: {self.deployment.model}"]
        lines += [f"{one.kind:9} {one}" for one in self.findings]
        return "\n".join([*lines, str(self.deployment)])


def _map(values: Mapping[str, Any], name: str, place: str) -> Mapping[str, Any]:
    found = values.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise WrongValue(f"'{place}': '{name}' is {shown(found)}, expected an object")
    return found


def _number(values: Mapping[str, Any], name: str, place: str) -> float | None:
    found = values.get(name)
    if found is None:
        return None
    if not 0 < real(found) < 1e12:
        raise WrongValue(f"'{place}': '{name}' is {shown(found)}, expected a number above 0")
    return real(found)


def _whole(values: Mapping[str, Any], name: str, place: str) -> int | None:
    found = _number(values, name, place)
    if found is not None and found != int(found):
        raise WrongValue(f"'{place}': '{name}' is {found:g}, expected a whole number")
    return None if found is None else int(found)


def machine_of(sku: object, place: str) -> str:
    """The machine of a GPU's name in requests: "h100_sxm", "gb200"."""
    known = machines()
    if not isinstance(sku, str):
        raise WrongValue(f"'{place}': 'gpuSku' is {shown(sku)}, expected one of "
                         + ", ".join(known))
    name = sku.lower().replace("-", "_")
    name = _SKUS.get(name, name)
    if name not in known:
        raise UnknownName(f"'{place}': unknown 'gpuSku' '{sku:.40}'; " + list_known(name, known))
    return name


def asked_of(spec: Mapping[str, Any], place: str) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """The values of a `Problem`, and what of the request has no effect here."""
    hardware, workload = _map(spec, "hardware", place), _map(spec, "workload", place)
    sla = _map(spec, "sla", place)
    if "concurrency" in workload and "requestRate" in workload:
        raise Contradiction(
            f"'{place}': 'concurrency' and 'requestRate' are given, expected one of them"
        )
    if sla.get("e2eLatency") is not None:
        raise ShardoptError(f"'{place}': 'e2eLatency' is not planned, expected 'ttft' and 'itl'")
    asked: dict[str, Any] = {
        "machine": machine_of(hardware.get("gpuSku"), place),
        "devices": _whole(hardware, "totalGpus", place),
        "isl": _whole(workload, "isl", place) or _DEFAULTS["isl"],
        "osl": _whole(workload, "osl", place) or _DEFAULTS["osl"],
        "concurrency": _whole(workload, "concurrency", place),
        "rate": _number(workload, "requestRate", place),
        "ttft_ms": _number(sla, "ttft", place) or float(_DEFAULTS["ttft"]),
        "tpot_ms": _number(sla, "itl", place) or float(_DEFAULTS["itl"]),
    }
    findings: list[Finding] = []
    if sla.get("optimizationType") == "latency":
        findings.append(ignored("'optimizationType' latency: a plan meets the SLOs and then has "
                                "the most throughput"))
    for name in ("features", "overrides", "searchStrategy", "autoApply"):
        if spec.get(name):
            findings.append(ignored(f"'{name}' has no effect: the plan is proved, and you apply it"))
    return {name: value for name, value in asked.items() if value is not None}, tuple(findings)


def answer(document: Mapping[str, Any], place: str, config: "str | os.PathLike[str]") -> Answer:
    """The plan of a request for the model of `config`. Of several engines that it leaves
    open the best one."""
    spec = _map(document, "spec", place)
    asked, findings = asked_of(spec, place)
    backend = spec.get("backend", "auto")
    if backend not in (*_ENGINES, "auto"):
        raise UnknownName(f"'{place}': the backend is {shown(backend)}; "
                          + list_known(backend, (*_ENGINES, "auto")))
    model = load_model(config, Decode(asked["isl"] + asked["osl"]))
    plans, why = [], []
    for engine in _ENGINES if backend == "auto" else (backend,):
        try:
            plans.append(plan_service(Problem(model, engine=engine, **asked)))
        except Infeasible as error:
            why.append(error)
    if not plans:
        raise why[0]
    best = max(plans, key=_worth)
    if backend == "auto":
        findings = (*findings, note(f"backend auto: {best.problem.engine} is best"))
    metadata = _map(document, "metadata", place)
    cache = _map(spec, "modelCache", place)
    named = {"namespace": metadata.get("namespace"), "image": spec.get("image"),
             "claim": cache.get("pvcName"), "models": cache.get("pvcMountPath")}
    settings = Settings(**{key: str(value) for key, value in named.items() if value})
    loaded = spec.get("model")
    if cache.get("pvcModelPath"):
        loaded = f"{settings.models}/{cache['pvcModelPath']}"
    name = metadata.get("name")
    made = deployment_of(
        best,
        name=None if name is None else str(name),
        model=None if loaded is None else str(loaded),
        devices_per_node=_whole(_map(spec, "hardware", place), "numGpusPerNode", place),
    )
    return Answer(best, made, settings, findings)


def _worth(service: Service) -> float:
    """Tokens a second per GPU in use."""
    return float(service.found["tokens_per_s_per_used_device"])
