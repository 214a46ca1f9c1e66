"""The memory of a device of a server, as engines are told of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Mapping

#: Plans leave a tenth of the memory on a device's data sheet, and drivers report more
#: than the sheet says, which counts a GiB as 1e9 bytes (usableBytes in ServingEngine.h).
USABLE, REPORTED = 0.9, 1.0625
#: What an engine takes for activations and workspace, GB.
WORKSPACE_GB = 2.0
#: Caches have blocks and gaps between them.
_FILLED = 0.9


@dataclass(frozen=True)
class ServerMemory:
    """Of the fullest device, in GB: weights, the caches of the sequences in flight, and
    the budget for both. `cached_tokens` are those whose caches `caches_gb` hold."""

    weights_gb: float
    caches_gb: float
    budget_gb: float
    cached_tokens: float

    @property
    def device_gb(self) -> float:
        """All that the driver reports."""
        return self.budget_gb / USABLE * REPORTED

    @property
    def most_tokens(self) -> int | None:
        """Tokens of the longest sequence that the budget holds alone; None: caches do
        not grow with tokens."""
        if self.caches_gb <= 0 or self.cached_tokens <= 0:
            return None
        free = max(0.0, self.budget_gb - self.weights_gb) * _FILLED
        return math.floor(free / self.caches_gb * self.cached_tokens)

    def names(self) -> dict[str, Any]:
        """The names in the expressions of an engine's row."""
        return {
            "weights_gb": self.weights_gb,
            "budget_gb": self.budget_gb,
            "device_gb": self.device_gb,
            "workspace_gb": WORKSPACE_GB,
        }


#: Where a plan does not say its memory, engines are told nothing of it.
UNKNOWN: Mapping[str, Any] = {
    "weights_gb": 0, "budget_gb": 0, "device_gb": 0, "workspace_gb": 0
}
