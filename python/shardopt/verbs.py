"""What is asked of a plan, as methods: each is the function of the same name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable, cast

if TYPE_CHECKING:
    from .explanations import Difference, Explanation
    from .launch import Launch
    from .orders import Ordered
    from .programs import Verification
    from .simplicity import Simplified


def public(name: str) -> Callable[..., Any]:
    """The function `name` of the package, whose module it loads where that was not
    asked for before. So no module of plans has to know those that are made of plans."""
    return cast("Callable[..., Any]", getattr(sys.modules[__package__], name))


class Verbs:
    """The methods of `Plan` that are made of it."""

    def explain(self, op: str | None = None) -> "list[Explanation]":
        return cast("list[Explanation]", public("explain")(self, op))

    def diff(self, other: Any) -> "Difference":
        return cast("Difference", public("diff")(self, other))

    def lower(self, split_stages: bool = False) -> str:
        return cast(str, public("lower")(self, split_stages))

    def order(self) -> "Ordered":
        return cast("Ordered", public("order")(self))

    def verify(self, whole: bool = False, steps: int = 2, seed: int = 1) -> "Verification":
        return cast("Verification", public("verify")(self, whole, steps, seed))

    def export(
        self, engine: str, version: str | None = None, devices_per_node: int | None = None
    ) -> "Launch":
        """With a `version`, what `engine`=="version" says."""
        wanted = engine if version is None else f"{engine}=={version}"
        return cast("Launch", public("export")(self, wanted, devices_per_node))

    def simplest(self, most_loss: float) -> "Simplified":
        return cast("Simplified", public("simplest")(self, most_loss))

    def chart(self, name: str, **beside: Any) -> dict[str, Any]:
        return cast("dict[str, Any]", public("chart")(self, name, **beside))
