"""The service as a Compose file, for one machine."""

from __future__ import annotations

from typing import Any, Mapping

from ..errors import Inexpressible
from ..yaml_text import document
from .pods import container_model, images_of
from .routing import benchmark_command, router_command, router_files
from .seats import ROUTER_PORT, Seat, hosts_of, seats_of
from .service import Deployment
from .settings import Settings

WRITTEN_FOR = "Docker Compose 2.24 and later"


def files_of(deployment: Deployment, settings: Settings) -> dict[str, str]:
    seats = seats_of(deployment)
    count = hosts_of(seats)
    if count > 1:
        why = f"it takes {count} machines, and a Compose file is for one"
        raise Inexpressible(f"compose cannot hold this service: {why}", [why], None)
    deployment = container_model(deployment, settings)
    image, router_image = images_of(deployment, settings)
    services: dict[str, Any] = {
        _name(seat): _worker(deployment, seat, image, settings) for seat in seats
    }
    workers: dict[str, list[tuple[str, str]]] = {}
    for seat in seats:
        url = f"http://{_name(seat)}:{seat.port}"
        workers.setdefault(seat.role.name, []).append((url, str(seat.side_port)))
    entrance, port = _name(seats[0]), seats[0].port
    files: dict[str, str] = {}
    if deployment.is_routed:
        entrance, port = "router", ROUTER_PORT
        files = router_files(deployment, workers, port)
        services["router"] = {
            "image": router_image,
            "entrypoint": [],
            "command": _escaped(router_command(deployment, workers, port)),
            **_mounts(files),
            "ports": [f"{port}:{port}"],
            "depends_on": {name: {"condition": "service_healthy"} for name in list(services)},
        }
    else:
        services[entrance]["ports"] = [f"{ROUTER_PORT}:{port}"]
    services["benchmark"] = {
        "image": image,
        "entrypoint": [],
        "command": _escaped(benchmark_command(deployment, f"http://{entrance}:{port}")),
        "profiles": ["benchmark"],
        "volumes": [f"./models:{settings.models}:ro"],
    }
    files["compose.yaml"] = document({"name": deployment.name, "services": services})
    for role in deployment.roles:
        files.update(deployment.command(role, 0).files)
    return files


def _name(seat: Seat) -> str:
    return f"{seat.role.name}-{seat.worker}"


def _mounts(files: Mapping[str, str], *volumes: str) -> dict[str, Any]:
    """Where a container sees files of the folder, and volumes."""
    mounted = [f"./{name}:/workspace/{name}:ro" for name in files]
    place = {"working_dir": "/workspace"} if files else {}
    return {**place, "volumes": [*volumes, *mounted]} if mounted or volumes else {}


def _escaped(words: list[str]) -> list[str]:
    """Compose replaces variables, and a dollar that is doubled is one."""
    return [word.replace("$", "$$") for word in words]


def _worker(deployment: Deployment, seat: Seat, image: str, settings: Settings) -> dict[str, Any]:
    command = deployment.command(seat.role, seat.port, seat.side_port)
    env = dict(command.env)
    if deployment.is_disaggregated:
        known = {"host": _name(seat), "side_port": str(seat.side_port)}
        for name, field in deployment.row["environment_of_roles"].items():
            env[name] = known[field]
    health = f"import urllib.request as r; r.urlopen('http://localhost:{seat.port}/health')"
    if seat.role.hardware.vendor == "amd":
        env["HIP_VISIBLE_DEVICES"] = ",".join(map(str, seat.gpus))
    return {
        "image": image,
        "entrypoint": [],
        "command": _escaped(list(command.args)),
        **({"environment": env} if env else {}),
        "ipc": "host",
        **_mounts(command.files, f"./models:{settings.models}:ro"),
        **_gpus(seat),
        "healthcheck": {
            "test": ["CMD", "python3", "-c", health],
            "interval": "10s",
            "timeout": "5s",
            "retries": 3,
            "start_period": "1h",
        },
    }


def _gpus(seat: Seat) -> dict[str, Any]:
    """The GPUs of a container: of AMD, all are seen, and a variable says which are used."""
    if seat.role.hardware.vendor == "amd":
        return {"devices": ["/dev/kfd", "/dev/dri"], "group_add": ["video"]}
    device = {
        "driver": "nvidia",
        "device_ids": [str(gpu) for gpu in seat.gpus],
        "capabilities": ["gpu"],
    }
    return {"deploy": {"resources": {"reservations": {"devices": [device]}}}}


def trial(deployment: Deployment, folder: str) -> list[str]:
    return ["docker", "compose", "-f", f"{folder}/compose.yaml", "config", "--quiet"]
