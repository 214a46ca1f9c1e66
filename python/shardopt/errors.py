"""What can go wrong, each kind a type of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .plans import Plan


class ShardoptError(ValueError):
    """An input that cannot be: the message has the place, what was found and
    what was wanted."""


class UnknownName(ShardoptError):
    """A name that is not known; the message has those that are, closest first."""


class UnknownVersion(UnknownName):
    """A version of an engine that is not in the table; the nearest one is named."""


class WrongValue(ShardoptError):
    """A value of another type, or out of its range."""


class Contradiction(ShardoptError):
    """Things that are said and do not go together."""


class WrongPlan(ShardoptError):
    """A plan file that is none, is of another version or was made for what has
    changed; or a plan of another model than the given one."""


class Infeasible(ShardoptError):
    """Nothing holds all limits; carries what binds and what would fit."""

    def __init__(self, message: str, table: str, report: dict[str, Any]):
        super().__init__(message)
        self.table = table
        self.report = report

    @property
    def binding(self) -> dict[str, Any]:
        """The limit that binds: `kind`, `part`, `value`, `limit`."""
        return self.report["binding_constraint"]

    @property
    def next_feasible(self) -> dict[str, Any] | None:
        """The smallest single change after which something fits (`change`), and
        the strategy and metrics that it allows; None if no single one helps."""
        return self.report["next_feasible"]


class TooFewDevices(ShardoptError):
    """A load needs more devices than were tried."""


class UnknownTrial(ShardoptError):
    """A trial is told that is not pending."""


class SimulatorLost(ShardoptError):
    """A simulator in a process of its own cannot be started, or not any more."""


class ClusterLost(ShardoptError):
    """No cluster can be reached, it is gone, or it has no room for workers."""


class BudgetExhausted(ShardoptError):
    """The search ended before it found a plan."""


class Inexpressible(ShardoptError):
    """An engine cannot run a plan: every reason, and the nearest plan that it
    can run (None if it runs none)."""

    def __init__(self, message: str, reasons: list[str], nearest: "Plan | None"):
        super().__init__(message)
        self.reasons = reasons
        self.nearest = nearest
