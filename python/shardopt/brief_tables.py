"""Tables of more than one plan: frontiers, changes and offers. Rows of JSON have every
member; a table has what a reader compares, and says once what is the same of all."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Sequence

from .frontier import Frontier, Offer
from .problem import Problem
from .sensitivity import Change
from .service_parts import DECODE, PREFILL, SERVE
from .service_tables import lines_of, number, three
from .services import Service
from .tables import HEADS, counted, fitted, kept, pick, rows_as_table

Row = dict[str, Any]
#: Members of a row of a service, in the order of a table.
_LOAD = ("tokens_per_s_per_gpu", "tokens_per_s_per_user", "tpot_ms", "ttft_ms",
         "requests_per_s", "in_flight", "gpus")
_CHANGED = ("tokens_per_s_per_gpu", "gain", "requests_per_s", "tpot_ms", "ttft_ms", "gpus")


def _short(row: Mapping[str, Any]) -> Row:
    """Numbers with three digits, and gains with one after the point."""
    found: Row = {}
    for name, value in row.items():
        if name.startswith("gain"):
            found[name] = f"{float(value.rstrip('%')):+.1f}%"
        else:
            found[name] = three(value) if isinstance(value, float) else value
    return found


def _workers(row: Mapping[str, Any]) -> str:
    """"2 x tp 2 + 1 x tp 4": prefill and decode workers, or those of both."""
    roles = [str(row[name]) for name in (PREFILL, DECODE, SERVE) if name in row]
    return " ".join([*(kept(f"{role} +") for role in roles[:-1]), kept(roles[-1])])


def _brief(row: Mapping[str, Any], first: Iterable[str], names: Sequence[str]) -> Row:
    """A row of a plan or a service without what a table has no room for."""
    if row.get("tokens_per_s_per_gpu", row.get("throughput")) == "infeasible":
        missing = "workers" if "tokens_per_s_per_gpu" in row else "plan"
        return {**pick(row, first), missing: "none meets the SLOs"}
    if "mode" not in row:
        return _short(row)
    choices = [name for name in row if name in _CHOICES]
    return {**_short(pick(row, [*first, *names, *choices])), "workers": _workers(row)}


_CHOICES = ("dollars_per_hour", "engine", "weight_type", "kv_type", "chunk", "draft_tokens")


def _without_constants(rows: Sequence[Row], names: Iterable[str]) -> "tuple[list[Row], Row]":
    """Rows without those of `names` that have one value in all of them, and these."""
    constants = {
        name: rows[0][name]
        for name in names
        if rows and name in rows[0] and len({repr(row.get(name)) for row in rows}) == 1
    }
    kept = [{name: row[name] for name in row if name not in constants} for row in rows]
    return kept, constants


def _said(constants: Mapping[str, Any]) -> str:
    return ", ".join(
        counted(value, "GPU") if name in ("gpus", "devices") else f"{HEADS.get(name, name)} {value}"
        for name, value in constants.items()
    )


def _asked(problem: Problem) -> list[tuple[str, str]]:
    """What was asked, once for all rows."""
    model, machine = problem.model, problem.machine_name
    name = model.name or model.path or "a model"
    if not problem.is_service:
        where = f"{problem.phase} at a context of {model.context} tokens"
        return [("phase", f"{name}, {where}, on {machine}")]
    said = ", ".join(f"{key} {number(value)}" for key, value in problem.requests.items())
    return [("service", f"{name} on {machine}"), ("requests", said)]


def frontier_table(front: Frontier, problem: Problem) -> str:
    """Throughput against latency, the highest throughput first."""
    rows, constants = _without_constants(front.rows(), ("proved", "gpus", "devices", *_CHOICES[1:]))
    proved = {True: "proved optimal", False: "not proved"}.get(constants.pop("proved", None))
    several = len(rows) > 1
    plans = counted(len(rows), "plan")
    if proved:
        plans += f", {'each ' * several}{proved}"
    said = "; ".join(filter(None, (plans, _said(constants))))
    brief = [_brief(row, ("proved",), _LOAD) for row in rows]
    return fitted(lines_of([*_asked(problem), ("frontier", said)])) + "\n" + rows_as_table(brief)


def changes_table(changes: Sequence[Change], problem: Problem) -> str:
    """A row a change, compared with the plan of the problem, which is the first row."""
    base = changes[0].plan
    assert base is not None
    rows = [_brief(change.row(base), ("change",), _CHANGED) for change in changes]
    rows[0]["change"] = "as asked"
    if isinstance(base, Service):
        rows = [{name: row[name] for name in row if name not in _CHOICES} for row in rows]
    return fitted(lines_of(_asked(problem))) + "\n" + rows_as_table(rows)


def offers_table(offers: Sequence[Offer]) -> str:
    """A row a machine, the cheapest first."""
    return rows_as_table([_offer_row(offer) for offer in offers])


def _offer_row(offer: Offer) -> Row:
    plan = offer.plan
    row: Row = {"machine": offer.machine, "price": offer.price}
    if plan is None:
        return {"machine": offer.machine, "price": "infeasible"}
    if isinstance(plan, Service):
        brief = _brief(plan.to_row(), (), _LOAD)
        return {**row, **{name: brief[name] for name in brief if name not in _CHOICES}}
    row.update(devices=plan.problem.devices, **plan.strategy.to_dict())
    del row["dims"]
    return row
