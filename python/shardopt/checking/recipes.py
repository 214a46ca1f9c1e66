"""Recipes of srt-slurm, and search spaces of InferenceX, as services."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any, Iterator, Mapping

from ..border import list_known, real, shown
from ..deployments.pairs import why_not_paired
from ..deployments.service import DECODE, PREFILL, SERVE, Load
from ..engine_table import Names, table
from ..errors import ShardoptError, UnknownName, WrongValue
from .findings import Finding, illegal
from .flags import Flags, defaults_of, read_options
from .meaning import Meaning, Place, meaning_of_values, renamed
from .programs import Invocation
from .stated import Stated, gathered


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def of_options(
    engine: str, options: Mapping[str, Any], name: str, facts: "Names | None", place: Place,
    where: str, env: "Mapping[str, str] | None" = None,
) -> Meaning:
    """The role of a server that has these options."""
    if engine not in table():
        raise UnknownName(f"'{where}': the engine is '{engine:.40}'; "
                          + list_known(engine, table()))
    row = table()[engine]
    one = Invocation(row, tuple(row["program"]), (), dict(env or {}), label=name)
    found = defaults_of(row)
    read_options(found, row, Flags(row), options, where)
    return meaning_of_values(one, found, facts, place, name)


def is_recipe(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and isinstance(document.get("backend"), dict)
        and isinstance(document.get("resources"), dict)
    )


_PARTS = ((SERVE, "aggregated", "agg"), (PREFILL, "prefill", "prefill"),
          (DECODE, "decode", "decode"))


def read_recipe(
    document: Mapping[str, Any], place: str, facts: "Names | None", per_node: int
) -> Stated:
    """A recipe of srt-slurm: flags by role, workers and GPUs under `resources`."""
    backend, resources = document["backend"], document["resources"]
    engine = str(backend.get("type", "sglang"))
    configs = _map(backend.get(f"{engine}_config"))
    per_node = _count(resources.get("gpus_per_node", per_node or 8), "gpus_per_node", place)
    machine = str(resources.get("gpu_type", ""))
    found, findings = [], []
    for name, part, short in _PARTS:
        options = _map(configs.get(part))
        workers = resources.get(f"{short}_workers")
        if not options and not workers:
            continue
        env = {str(k): str(v) for k, v in _map(backend.get(f"{part}_environment")).items()}
        count = _count(1 if workers is None else workers, f"{short}_workers", place)
        one = of_options(engine, options, name, facts, Place(per_node, machine, nodes=1 << 20),
                         f"{place}: {part}", env)
        gpus = resources.get(f"gpus_per_{short}")
        if gpus is not None and gpus != one.role.devices:
            findings.append(illegal(
                f"{name}: a worker has {one.role.devices} GPUs by its flags, and "
                f"'gpus_per_{short}' is {shown(gpus)}"
            ))
        nodes = resources.get(f"{short}_nodes")
        needed = -(-count * one.role.devices // per_node)
        if isinstance(nodes, int) and 0 < nodes < needed:
            findings.append(illegal(
                f"{name}: {count} workers of {one.role.devices} GPUs take {needed} nodes, and "
                f"'{short}_nodes' is {nodes}"
            ))
        found.append(renamed(one, workers=count * one.role.workers))
    if not found:
        raise ShardoptError(f"'{place}' has no workers, expected {engine}_config with the flags "
                            "of aggregated, or prefill and decode")
    stated = gathered("srt-slurm recipe", found, _load(_map(document.get("benchmark"))),
                      str(document.get("name", "")), findings)
    model = str(_map(document.get("model")).get("path", ""))
    roles = tuple(one if one.model or not model else _named(one, model) for one in stated.roles)
    return stated.replace(roles=roles)


def _named(one: Meaning, model: str) -> Meaning:
    return dataclasses.replace(one, model=model)


def _load(benchmark: Mapping[str, Any]) -> Load | None:
    isl, osl = benchmark.get("isl"), benchmark.get("osl")
    if not isinstance(isl, int) or not isinstance(osl, int) or min(isl, osl) < 1:
        return None
    several = benchmark.get("concurrencies")
    if isinstance(several, str):  # "8x16x32"
        several = [int(one) for one in re.findall("[0-9]{1,9}", several)]
    several = several if isinstance(several, list) else []
    counts = [one for one in several if isinstance(one, int) and one > 0]
    rate = real(benchmark.get("req_rate"))
    return Load(isl, osl, max(counts, default=0), rate if 0 < rate < 1e9 else None)


def _count(value: Any, what: str, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 100_000:
        raise WrongValue(
            f"'{place}': '{what}' is {shown(value)}, expected a whole number above 0"
        )
    return value


@dataclass(frozen=True)
class Case:
    """A point of a search space: a service under one number of requests in flight."""

    name: str
    model: str
    precision: str
    gpu: str
    framework: str
    drafts: bool
    stated: Stated
    #: Of the model, as recipes call it: "dsr1".
    prefix: str = ""


def is_search_space(document: Any) -> bool:
    """Whether a document is of InferenceX: entries with scenarios."""
    return isinstance(document, dict) and bool(document) and all(
        isinstance(entry, dict) and isinstance(entry.get("scenarios"), dict)
        and "framework" in entry
        for entry in document.values()
    )


_ENGINES = {"trt": "trtllm", "trtllm": "trtllm", "vllm": "vllm", "sglang": "sglang"}


def engine_of_framework(framework: str, place: str) -> str:
    """"dynamo-trt", "mori-sglang", "vllm" …"""
    engine = _ENGINES.get(framework.rsplit("-", 1)[-1])
    if engine is None:
        raise UnknownName(f"'{place}': the framework is '{framework:.40}'; "
                          + list_known(framework, _ENGINES))
    return engine


def read_search_space(
    document: Mapping[str, Any], place: str, facts: "Names | None" = None
) -> Iterator["Case | ShardoptError"]:
    """Every case of every entry, or why it is none."""
    for name, entry in document.items():
        where = f"{place}: {name}"
        for scenario in _map(entry["scenarios"]).get("fixed-seq-len") or ():
            for number, space in enumerate(_map(scenario).get("search-space") or ()):
                spot = f"{where}: search-space {number}"
                try:
                    yield from _cases(str(name), entry, scenario, space, spot, facts)
                except ShardoptError as error:
                    yield error


def _cases(
    name: str, entry: Mapping[str, Any], scenario: Mapping[str, Any], space: Mapping[str, Any],
    place: str, facts: "Names | None",
) -> Iterator[Case]:
    framework = str(entry.get("framework", ""))
    engine = engine_of_framework(framework, place)
    isl, osl = (_count(scenario.get(key), key, place) for key in ("isl", "osl"))
    model = str(entry.get("model", ""))
    roles = [
        (role, _map(space[key]))
        for role, key in ((PREFILL, "prefill"), (DECODE, "decode")) if key in space
    ] or [(SERVE, space)]
    facts = facts or _UNKNOWN
    meanings = [_of_entry(engine, role, said, model, place, facts) for role, said in roles]
    findings: list[Finding] = []
    if len(meanings) == 2:
        why = why_not_paired(table()[engine], meanings[0].role, meanings[1].role, facts)
        findings = [illegal(one) for one in why]
    drafts = str(space.get("spec-decoding", "none")) not in ("none", "null", "None", "False")
    for concurrency in concurrencies(space, place):
        load = Load(isl, osl, concurrency)
        stated = gathered("InferenceX search space", meanings, load, name, findings)
        yield Case(name, model, str(entry.get("precision", "")), str(entry.get("runner", "")),
                   framework, drafts, stated, str(entry.get("model-prefix", "")))


#: Of models that nobody gives: all of the benchmark's have experts.
_UNKNOWN: Names = {
    "experts": 1 << 20, "has_dense_layers": True, "context": 0, "phase": "decode",
    "longest": None, "latent": True, "hybrid": False, "kv_heads": 1 << 20,
}


def _of_entry(
    engine: str, role: str, said: Mapping[str, Any], model: str, place: str,
    facts: "Names | None",
) -> Meaning:
    """An entry's tp counts the GPUs of a worker; with dp-attn attention is on each. Where
    ep is wider than tp, ep counts the GPUs, and tp those that share attention (`tp: 1,
    ep: 8` is what recipes call dep8)."""
    gpus, ep = (_count(said.get(key, 1), key, place) for key in ("tp", "ep"))
    spreads = said.get("dp-attn", False)
    if not isinstance(spreads, bool):
        raise WrongValue(f"'{place}': 'dp-attn' is {shown(spreads)}, expected true or false")
    ranks = gpus if spreads else 1
    if spreads and ep > gpus and ep % gpus == 0:
        gpus, ranks = ep, ep // gpus
    options: dict[str, Any] = {
        "vllm": {"tensor-parallel-size": gpus // ranks, "data-parallel-size": ranks,
                 "enable-expert-parallel": ep > 1},
        "sglang": {"tp-size": gpus, "attn-dp-size": ranks, "ep-size": ep},
        "trtllm": {"tensor_parallel_size": gpus, "moe_expert_parallel_size": ep,
                   "enable_attention_dp": spreads},
    }[engine]
    workers = _count(said.get("num-worker", 1), "num-worker", place)
    meaning = of_options(engine, options, role, facts, Place(nodes=1 << 20), place)
    if engine == "vllm" and ep not in (1, gpus):
        findings = (*meaning.findings, illegal(
            f"ep {ep} on {gpus} GPUs: vLLM spreads experts over all of them or over none"))
        meaning = _with(meaning, findings)
    return renamed(_named(meaning, model), workers=workers)


def _with(meaning: Meaning, findings: tuple[Finding, ...]) -> Meaning:
    return dataclasses.replace(meaning, findings=findings)


def concurrencies(space: Mapping[str, Any], place: str) -> list[int]:
    """The numbers of requests in flight: a list, or powers of two from start to end."""
    listed = space.get("conc-list", space.get("conc"))
    if listed is not None:
        several = listed if isinstance(listed, list) else [listed]
        return [_count(one, "conc-list", place) for one in several]
    first = _count(space.get("conc-start"), "conc-start", place)
    last = _count(space.get("conc-end", first), "conc-end", place)
    found = [first]
    while found[-1] * 2 <= last:
        found.append(found[-1] * 2)
    return found


def case_row(case: "Case | ShardoptError") -> dict[str, Any]:
    """A case as a row of a table."""
    if isinstance(case, ShardoptError):
        return {"recipe": "not read", "why": str(case)}
    stated = case.stated
    why = [str(one) for one in stated.all_findings if one.kind in ("illegal", "not planned")]
    roles = ", ".join(
        f"{one.role.name} {one.role.workers} x tp {one.role.tp} dp {one.role.ranks} ep {one.role.ep}"
        for one in stated.roles
    )
    assert stated.load is not None
    return {
        "recipe": case.name, "engine": stated.engine, "gpu": case.gpu, "gpus": stated.devices,
        "isl": stated.load.isl, "osl": stated.load.osl, "in_flight": stated.load.concurrency,
        "roles": roles, "why": "; ".join(why) or "legal",
    }
