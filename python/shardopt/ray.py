"""Searches whose evaluations run on a Ray cluster.

    executor = shardopt.ray.Executor(address="auto", num_workers=256)
    search.run(simulator, executor=executor, parallel=256, order="async")

Each worker is an actor that holds the simulator: a function of a strategy, or a
`shardopt.Process`, which starts, limits and restarts a program next to it. Ray
places workers and says which are lost; what they evaluated is sent again.
"""

from __future__ import annotations

import math
import socket
from dataclasses import dataclass, field
from typing import Any, Mapping

from .border import real, shown
from .checks import _seconds, _whole
from .driving import Simulator
from .errors import ClusterLost, ShardoptError, WrongValue
from .fleet import Fleet


def _amounts(name: str, value: Any) -> dict[str, float]:
    """Amounts of resources by name."""
    if not isinstance(value, Mapping):
        raise WrongValue(f"'{name}' is {shown(value)}, expected amounts by resource")
    for key, amount in value.items():
        if not isinstance(key, str) or not 0 <= real(amount) < math.inf:
            raise WrongValue(
                f"'{name}' has {shown(key)}: {shown(amount)}, expected a finite amount of "
                "at least 0"
            )
    return dict(value)


@dataclass
class Executor:
    """Where and how the workers of a run live.

    `resources` is what a worker takes. With `device_resources`, what each device
    of a strategy takes, an evaluation has a placement group of its own that holds
    all devices of its strategy, `devices_per_node` of them on a node, and the
    simulator starts its engine there. `timeout_s` kills a worker that does not
    come back; a `Process` has a limit of its own. An evaluation that loses a worker
    which has it alone is sent again, `retries` times, and then is a failure, "lost";
    what is lost together with others is sent again and does not count. Where for
    `patience_s` there is no worker at all the run ends with `ClusterLost`.

    In the order "async" a worker is given evaluations that are short by the call,
    as many as take `batch_s`, and a call ahead; by default that is 5 ms for each
    worker, in which the driver serves all of them with time to spare, and more
    while workers wait. 0, or `retries` of 0, gives each evaluation a call, and none
    ahead.
    """

    address: str | None = None
    num_workers: int | None = None
    resources: Mapping[str, float] = field(default_factory=lambda: {"CPU": 1})
    runtime_env: Mapping[str, Any] | None = None
    timeout_s: float | None = None
    retries: int = 5
    patience_s: float = 300.0
    device_resources: Mapping[str, float] | None = None
    devices_per_node: int = 8
    batch_s: float | None = None

    def __post_init__(self) -> None:
        if self.num_workers is not None:
            _whole("num_workers", self.num_workers, least=1)
        self.resources = _amounts("resources", self.resources)
        if self.device_resources is not None:
            self.device_resources = _amounts("device_resources", self.device_resources)
        if self.timeout_s is not None:
            _seconds("timeout_s", self.timeout_s)
        _seconds("patience_s", self.patience_s)
        if self.batch_s is not None and self.batch_s != 0:
            _seconds("batch_s", self.batch_s)
        _whole("retries", self.retries)
        _whole("devices_per_node", self.devices_per_node, least=1)

    def host(self, simulator: Simulator, parallel: int) -> Any:
        """Workers that hold `simulator`; `Search.run` asks for them."""
        _connect(self.address)
        return Fleet(self, simulator, self.num_workers or parallel)


def _reach(address: str) -> None:
    """Raises OSError where nobody listens at "host:port": Ray tries for minutes."""
    host, found, port = address.rpartition("://")[2].rpartition(":")
    if found and port.isdigit():
        socket.create_connection((host, int(port)), timeout=10).close()


def _connect(address: str | None) -> None:
    try:
        import ray  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ShardoptError(
            "Ray is not installed, expected: pip install 'shardopt[ray]'"
        ) from None
    if ray.is_initialized():
        return
    where = f"at '{address}'" if address else "in this machine"
    try:
        _reach(address or "")
        ray.init(address=address, include_dashboard=None if address else False)
    except Exception as error:  # one that does not come up has no type of its own
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ClusterLost(f"no Ray cluster {where}: {why}") from None
