"""What is asked of a plan, as methods: each is the function of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from .explanations import Difference, Explanation
    from .launches import Launch
    from .plans import Plan
    from .programs import Verification
    from .simplicity import Simplified


class Verbs:
    """The methods of `Plan` that are made of it."""

    def _plan(self) -> "Plan":
        return cast("Plan", self)

    def explain(self, op: str | None = None) -> "list[Explanation]":
        from .explanations import explain

        return explain(self._plan(), op)

    def diff(self, other: "Plan") -> "Difference":
        from .explanations import diff

        return diff(self._plan(), other)

    def lower(self, split_stages: bool = False) -> str:
        from .programs import lower

        return lower(self._plan(), split_stages)

    def verify(self, whole: bool = False, steps: int = 2, seed: int = 1) -> "Verification":
        from .programs import verify

        return verify(self._plan(), whole, steps, seed)

    def export(
        self, engine: str, version: str | None = None, devices_per_node: int | None = None
    ) -> "Launch":
        """With a `version`, what `engine`=="version" says."""
        from .launches import export

        wanted = engine if version is None else f"{engine}=={version}"
        return export(self._plan(), wanted, devices_per_node)

    def simplest(self, most_loss: float) -> "Simplified":
        from .simplicity import simplest

        return simplest(self._plan(), most_loss)

    def chart(self, name: str, **beside: Any) -> dict[str, Any]:
        from .figures import chart

        return chart(self._plan(), name, **beside)
