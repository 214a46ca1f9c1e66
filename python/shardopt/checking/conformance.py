"""Whether a server runs as it was planned: each difference by its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..deployments import Deployment, deployment_of
from ..deployments.service import PREFILL, Role
from ..border import list_known
from ..errors import UnknownName
from ..plans import Plan
from .outcomes import weight_type_of
from .running import Running, ask

#: Caches that lack this share of the planned tokens are as planned: blocks round down.
_ROUNDING = 0.02


@dataclass(frozen=True)
class Difference:
    """What was planned, and what a server says; `source` is where it says so."""

    name: str
    planned: str
    found: str
    source: str

    def __str__(self) -> str:
        return f"{self.name}: planned {self.planned}, the server has {self.found} ({self.source})"


@dataclass(frozen=True)
class Conformance:
    """A server and its role in a plan (None without a plan)."""

    running: Running
    role: Role | None
    differences: tuple[Difference, ...]
    unknown: tuple[str, ...]
    """What the server does not say."""

    @property
    def ok(self) -> bool:
        return not self.differences

    def to_dict(self) -> dict[str, Any]:
        return {
            "engine": self.running.engine,
            "role": self.role and self.role.name,
            "server": dict(self.running.facts),
            "differences": [vars(one) for one in self.differences],
            "unknown": list(self.unknown),
        }

    def __str__(self) -> str:
        running = self.running
        lines = [("engine", f"{running.engine} {running.facts.get('version', '')}".rstrip())]
        said = {name: value for name, value in running.facts.items() if name != "version"}
        lines.append(("says", ", ".join(f"{name} {value}" for name, value in said.items())))
        if self.role is not None:
            lines.append(("plan", f"{self.role.name}: {_degrees(self.role)}"))
            lines += [("differs", str(one)) for one in self.differences]
            if not self.differences:
                lines.append(("runs", "as planned, as far as the server says"))
            if self.unknown:
                lines.append(("unsaid", ", ".join(self.unknown)))
        return "\n".join(f"{name:9} {text}" for name, text in lines)


def _degrees(role: Role) -> str:
    return f"tp {role.tp}, dp {role.ranks}, ep {role.ep}, pp {role.pp}, cp {role.cp}"


def check_server(
    url: str, plan: "Plan | None" = None, log: "str | None" = None, role: "str | None" = None,
    timeout_s: float = 10,
) -> Conformance:
    """What the server at `url` runs, compared with its role in `plan`: the one of
    that name, else the one that it says or is nearest to."""
    running = ask(url, timeout_s, log)
    if plan is None:
        return Conformance(running, None, (), ())
    served = running.facts.get("model") or running.facts.get("served_name")
    return compared(running, deployment_of(plan, model=served), role)


def compared(
    running: Running, deployment: Deployment, role: "str | None" = None
) -> Conformance:
    """A server's words against a service."""
    names = [one.name for one in deployment.roles]
    asked = role or running.facts.get("role")
    if role is not None and role not in names:
        raise UnknownName(f"the plan has no role '{role}'; " + list_known(role, names))
    roles = [one for one in deployment.roles if one.name == asked] or list(deployment.roles)
    answers = [(one, *_compare(running, deployment, one)) for one in roles]
    best = min(answers, key=lambda answer: len(answer[1]))
    return Conformance(running, best[0], tuple(best[1]), tuple(best[2]))


def _compare(
    running: Running, deployment: Deployment, role: Role
) -> tuple[list[Difference], list[str]]:
    differences: list[Difference] = []
    unknown: list[str] = []
    facts = running.facts

    def hold(name: str, planned: Any, found: Any, is_as_planned: "bool | None" = None,
             key: str = "") -> None:
        if found is None:
            unknown.append(name)
        elif planned != found if is_as_planned is None else not is_as_planned:
            source = running.sources.get(key or name, "")
            differences.append(Difference(name, str(planned), str(found), source))

    if running.engine != deployment.engine:
        differences.append(Difference("engine", deployment.engine, running.engine, "its answers"))
        return differences, unknown
    version = facts.get("version")
    hold("version", deployment.version, version,
         None if version is None else _is_series(str(version), deployment.version))
    hold("world size", role.devices, facts.get("world"), key="world")
    dense = not deployment.facts["experts"]
    hold("tp", role.tp, facts.get("tp"))
    hold("dp", role.ranks, facts.get("dp"))
    hold("pp", role.pp, facts.get("pp"))
    if not dense:
        hold("ep", role.ep, facts.get("ep"))
    if role.cp > 1 or facts.get("cp", 1) > 1:
        hold("cp", role.cp, facts.get("cp"))
    if role.ep > 1 and role.ranks > 1:
        hold("exchange", "gather" if role.gathers else "all_to_all", facts.get("exchange"))
    hold("KV cache type", role.cache_type or "auto", facts.get("cache_type"),
         _is_type(role.cache_type, facts.get("cache_type")), "cache_type")
    kind = role.quantization or deployment.checkpoint
    if kind:
        found = weight_type_of(str(facts.get("weight_type", "")))
        hold("weight type", kind, found, key="weight_type")
    _hold_room(running, deployment, role, hold)
    return differences, unknown


def _hold_room(running: Running, deployment: Deployment, role: Role, hold: Any) -> None:
    """Sequences and tokens: more than planned is as planned."""
    facts = running.facts
    # SGLang counts sequences over all ranks of a server, the others of one rank.
    each = -(-role.in_flight // role.ranks)
    wanted = role.in_flight if running.engine == "sglang" else each
    if role.name != PREFILL:
        most = facts.get("most_in_flight")
        hold("sequences in flight", f"at least {wanted}", most,
             None if most is None else most >= wanted, "most_in_flight")
    length = facts.get("max_length")
    hold("longest request", f"at least {deployment.load.isl + deployment.load.osl}", length,
         None if length is None else length >= deployment.load.isl + deployment.load.osl,
         "max_length")
    if role.name == PREFILL:
        return
    tokens = running.cached_tokens
    mean = deployment.load.isl + deployment.load.osl / 2
    needed = int(each * mean)
    blocks, size = facts.get("blocks"), facts.get("block_size")
    found = f"{tokens}" + (f" ({blocks} blocks of {size})" if blocks and size else "")
    hold("tokens of KV caches", f"at least {needed}", None if tokens is None else found,
         None if tokens is None else tokens >= needed * (1 - _ROUNDING),
         "cached_tokens" if "cached_tokens" in facts else "blocks")


def _is_series(version: str, series: str) -> bool:
    """Whether a version is of a series: "0.33.1" of "0.33", and not "0.331"."""
    rest = version.removeprefix("v")
    if not rest.startswith(series):
        return False
    rest = rest[len(series):]
    return not (rest[:1].isdigit() and series[-1:].isdigit())


def _is_type(planned: str, found: "Any | None") -> "bool | None":
    if found is None:
        return None
    if not planned:  # the model's
        return str(found) in ("auto", "bfloat16", "float16", "bf16", "half", "torch.bfloat16")
    return str(found).startswith(planned)

