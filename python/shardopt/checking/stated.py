"""A service as documents state it: roles with their workers, and a load."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Iterable, Sequence

from ..deployments.service import DECODE, PREFILL, SERVE, Load
from .findings import Finding, illegal, note
from .meaning import Meaning, renamed

_ORDER = (SERVE, PREFILL, DECODE)


@dataclass(frozen=True)
class Stated:
    """What a document says; `kind` is what it was recognised as."""

    kind: str
    roles: tuple[Meaning, ...]
    load: Load | None = None
    name: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def engine(self) -> str:
        return self.roles[0].engine

    @property
    def model(self) -> str:
        return next((role.model for role in self.roles if role.model), "")

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """Of the document and of each role, without repetitions."""
        several = len(self.roles) > 1
        found = [
            Finding(f"{one.role.name}: {text}", text.kind) if several else text
            for one in self.roles
            for text in one.findings
        ]
        return tuple(dict.fromkeys([*self.findings, *found]))

    @property
    def is_legal(self) -> bool:
        return not any(one.kind in ("illegal", "not planned") for one in self.all_findings)

    @property
    def devices(self) -> int:
        return sum(one.role.workers * one.role.devices for one in self.roles)

    def role(self, name: str) -> Meaning | None:
        return next((one for one in self.roles if one.role.name == name), None)

    def replace(self, **changes: Any) -> "Stated":
        return dataclasses.replace(self, **changes)


def _identity(one: Meaning) -> tuple[Any, ...]:
    """What workers of one role have in common."""
    role = dataclasses.replace(one.role, workers=1)
    return (one.engine, one.model, one.exchange, one.max_length, one.draft_tokens, role)


def gathered(
    kind: str, meanings: Iterable[Meaning], load: "Load | None" = None, name: str = "",
    findings: Sequence[Finding] = (),
) -> Stated:
    """The service of servers that were found one by one: those that are alike are workers
    of a role, and the commands of later nodes are of the first node's worker."""
    found: list[Meaning] = []
    said = list(findings)
    counts: dict[tuple[Any, ...], int] = {}
    for one in meanings:
        key = _identity(one)
        first = next((index for index, other in enumerate(found) if _identity(other) == key), None)
        if first is None:
            counts[key] = 0
            found.append(one)
        if not one.is_later:
            counts[key] += one.role.workers
    roles = [renamed(one, workers=max(1, counts[_identity(one)])) for one in found]
    roles.sort(key=lambda one: _ORDER.index(one.role.name))
    names = [one.role.name for one in roles]
    if len({one.engine for one in roles}) > 1:
        said.append(illegal("its roles have several engines: " + ", ".join(
            dict.fromkeys(one.engine for one in roles))))
    models = list(dict.fromkeys(one.model for one in roles if one.model))
    if len(models) > 1:
        said.append(illegal("its roles have several models: " + ", ".join(models)[:200]))
    if len(set(names)) < len(names):
        again = next(one for one in names if names.count(one) > 1)
        said.append(note(
            f"{names.count(again)} groups of servers are '{again}', with other flags each: "
            "only the first is read further"
        ))
        roles = [next(one for one in roles if one.role.name == each)
                 for each in dict.fromkeys(names)]
    if {one.role.name for one in roles} in ({PREFILL}, {DECODE}):
        said.append(note(f"it is the {roles[0].role.name} side of a service alone"))
    elif SERVE in names and len(set(names)) > 1:
        said.append(note("some servers have both roles, others one"))
        roles = [one for one in roles if one.role.name == SERVE] if (
            {PREFILL, DECODE} - set(names)) else [
            one for one in roles if one.role.name != SERVE]
    return Stated(kind, tuple(roles), load, name, tuple(said))
