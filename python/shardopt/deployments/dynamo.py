"""The service as a DynamoGraphDeployment."""

from __future__ import annotations

import json
import re
from typing import Any, Mapping

from ..errors import Inexpressible
from ..launches import Command
from ..yaml_text import document, documents
from . import names
from .pods import (
    SIDE_PORT,
    claims,
    compute_domains,
    container_model,
    environment,
    job,
    literal,
    metadata,
    selector,
    volumes,
)
from .routing import benchmark_command
from .service import SERVE, Deployment, Role
from .settings import Settings
from .srt_slurm import OF_NODES, flags_said, options_said

WRITTEN_FOR = "Dynamo 1.3 to 1.6 (nvidia.com/v1beta1)"

#: The version of the images, and what the GPUs of a pod share.
_RUNTIME, _SHARED_MEMORY = "1.6.1", "64Gi"

_MODULES = {"vllm": "dynamo.vllm", "sglang": "dynamo.sglang", "trtllm": "dynamo.trtllm"}
#: What its image of an engine is called.
_IMAGES = {"trtllm": "tensorrtllm"}
# The operator adds names to that of the deployment, and these have 45 characters.
_MOST_OF_A_NAME = 30


def files_of(deployment: Deployment, settings: Settings) -> dict[str, str]:
    names.label(deployment.name, "name", _MOST_OF_A_NAME)
    deployment = container_model(deployment, settings)
    vendors = {role.hardware.vendor for role in deployment.roles}
    if vendors != {"nvidia"} and not settings.image:
        why = "Dynamo's images are for GPUs of NVIDIA alone, expected --image"
        raise Inexpressible(why, [why], None)
    framework = _IMAGES.get(deployment.engine, deployment.engine)
    image = settings.image or f"nvcr.io/nvidia/ai-dynamo/{framework}-runtime:{_RUNTIME}"
    domains = compute_domains(deployment, settings)
    graph = {
        "apiVersion": "nvidia.com/v1beta1",
        "kind": "DynamoGraphDeployment",
        "metadata": metadata(deployment, settings, deployment.name),
        "spec": {
            "backendFramework": deployment.engine,
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


def _runtime(image: str) -> dict[str, str]:
    """The version that the operator cannot read from an image's tag."""
    tag = image.rpartition("/")[2].partition("@")[0].partition(":")[2]
    is_read = re.match(r"v?[0-9]+\.[0-9]+\.[0-9]+", tag)
    return {} if is_read else {"runtimeVersionOverride": _RUNTIME}


def _frontend(image: str) -> dict[str, Any]:
    command = ["python3", "-m", "dynamo.frontend", "--http-port", "8000"]
    container = {"name": "main", "image": image, "command": command}
    return {
        "name": "Frontend",
        "type": "frontend",
        **_runtime(image),
        "replicas": 1,
        "podTemplate": {"spec": {"containers": [container]}},
    }


def worker_words(deployment: Deployment, role: Role) -> list[str]:
    """The command of a worker; the operator adds what differs between its nodes."""
    command = deployment.command(role, 0, SIDE_PORT)
    if deployment.engine == "trtllm":
        kept = _trtllm_words(deployment.row, command)
    else:
        said = [one for one in flags_said(command) if one[0] not in OF_NODES]
        kept = [word for each in said for word in each]
    model = ["--model" if deployment.engine == "vllm" else "--model-path", deployment.model]
    if deployment.engine != "sglang" and role.name != SERVE:  # SGLang's own flags say it
        kept += ["--disaggregation-mode", role.name]
    return ["python3", "-m", _MODULES[deployment.engine], *model, *kept]


def _trtllm_words(row: Mapping[str, Any], command: Command) -> list[str]:
    """The flags that Dynamo's worker has, and the other options of the engine as JSON."""
    flags = {ours: its for its, ours in row["wrapped_flags"][_MODULES["trtllm"]].items()}
    del flags["--config"]
    words = [word for flag, *values in flags_said(command) if flag in flags
             for word in (flags[flag], *values)]
    options = options_said(row, command, apart=flags)
    if "kv_cache_config" in options:  # it takes the place of the flag about caches
        options["kv_cache_config"] = options_said(row, command)["kv_cache_config"]
    return [*words, *(["--override-engine-args", json.dumps(options)] if options else [])]


def _worker(
    deployment: Deployment, role: Role, settings: Settings, image: str
) -> dict[str, Any]:
    words = [literal(word) for word in worker_words(deployment, role)]
    # The operator mounts shared memory itself, of the size that the component says.
    mounted = volumes(deployment, settings)
    of_pod, of_container = ([one for one in each if one["name"] != "shm"] for each in mounted)
    env = environment(deployment, deployment.command(role, 0, SIDE_PORT), settings)
    claimed, of_resources = claims(deployment, role)
    gpus = {role.hardware.resource: str(deployment.devices_here(role))}
    resources: dict[str, Any] = {"limits": gpus, **of_resources}
    pod = {**({"volumes": of_pod} if of_pod else {}), **selector(deployment, role, settings), **claimed}
    container = {
        "name": "main",
        "image": image,
        "command": words[:3],
        "args": words[3:],
        **({"env": env} if env else {}),
        "resources": resources,
        **({"volumeMounts": of_container} if of_container else {}),
    }
    nodes = deployment.nodes(role)
    return {
        "name": role.name,
        "type": "worker" if role.name == SERVE else role.name,
        **_runtime(image),
        "replicas": role.workers,
        "sharedMemorySize": _SHARED_MEMORY,
        **({"multinode": {"nodeCount": nodes}} if nodes > 1 else {}),
        "podTemplate": {"spec": {"containers": [container], **pod}},
    }


def trial(deployment: Deployment, folder: str) -> list[str]:
    return ["kubectl", "apply", "--dry-run=server", "-f", folder]
