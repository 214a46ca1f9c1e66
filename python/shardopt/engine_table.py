"""The table of engines (`engines.json`), and how it is read.

A row of `flags` says when a flag is written and its value, as expressions over
the fields of a plan; `fields` says the same the other way, each field as an
expression over the flags; `rules` must hold of flags, `limits` of plans.
"""

from __future__ import annotations

import functools
import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Mapping

from .border import list_known, real
from .checks import _whole
from .errors import ShardoptError, UnknownName, UnknownVersion
from .hardware import hardware_of
from .plans import Plan
from .models import Model
from .problem import Problem
from .server_memory import UNKNOWN, ServerMemory

if TYPE_CHECKING:
    from .services import Service
    from .strategies import Strategy

Names = dict[str, Any]


def _data(name: str) -> Any:
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=None)
def table() -> dict[str, dict[str, Any]]:
    """The rows of the table by engine."""
    return {row["engine"]: row for row in _data("engines.json")["engines"]}


@functools.lru_cache(maxsize=None)
def flags_of(engine: str) -> dict[str, str]:
    """Every flag that an engine's own parser has, and whether it is one of the
    "switches", or of those with one of the "values", with "lists" or "optional"."""
    kinds = _data("engine_flags.json")[engine]
    return {
        flag: kind for kind, flags in kinds.items() if kind != "version" for flag in flags
    }


def engines() -> dict[str, list[str]]:
    """The engines, each with the series of versions that are known."""
    return {
        **{name: row["versions"] for name, row in table().items()},
        "transformers": ["5.23"],
    }


def known_version(text: str) -> str:
    """The version that "vllm" or "vllm==0.33.0" asks for: without one, the newest
    known. Unknown names and versions are errors that name the nearest."""
    name, _, version = text.partition("==")
    if name not in engines():
        raise UnknownName(f"unknown engine '{name}'; " + list_known(name, engines()))
    series = engines()[name]
    if not version:
        return series[-1]
    series = series if re.fullmatch(r"[0-9][0-9A-Za-z.+]*", version) else []
    for known in series:
        rest = version[len(known) :] if version.startswith(known) else None
        if rest is not None and not (rest[:1].isdigit() and known[-1].isdigit()):
            return version
    raise UnknownVersion(
        f"unknown version '{version}' of {name}: its flags may be others; "
        + list_known(version, engines()[name])
    )


def find_engine(text: str) -> tuple[dict[str, Any], str]:
    """The row of an engine that has a command line, and the version."""
    version = known_version(text)
    name = text.partition("==")[0]
    if name not in table():
        raise ShardoptError(f"{name} is no server, expected one of " + ", ".join(table()))
    return table()[name], version


def _member(text: object, name: str) -> int:
    """A whole number in the JSON of a flag; 0 where there is none."""
    try:
        options = json.loads(str(text or "{}"))
    except ValueError:
        return 0
    value = options.get(name) if isinstance(options, dict) else 0
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def value_of(expression: str, names: Mapping[str, Any]) -> Any:
    """What an expression of the table is, over `names`."""
    functions: Names = {"ceil": math.ceil, "max": max, "min": min, "len": len}
    functions.update(set=set, map=map, str=str, sorted=sorted, member=_member)
    return eval(expression, {"__builtins__": {}, **functions, **names})


# Where configs say how long a sequence may be, and kinds of RoPE whose factor
# lengthens that. (YaRN's and Llama 3's is in the number.)
_LENGTHS = (
    "max_position_embeddings", "n_positions", "max_seq_len", "seq_length",
    "model_max_length", "max_sequence_length", "max_seq_length", "seq_len",
)
_LENGTHENING = ("linear", "dynamic")


def longest_of(model: Model) -> int | None:
    """The most tokens of a sequence that engines take the model's config for; None
    where it does not say, as a module does not."""
    config = model.config or {}
    text = config.get("text_config")
    config = text if isinstance(text, dict) else config
    said = [config[key] for key in _LENGTHS if isinstance(config.get(key), int)]
    if not said:
        return None
    rope = config.get("rope_scaling") or config.get("rope_parameters") or {}
    kind = rope.get("rope_type", rope.get("type")) if isinstance(rope, dict) else None
    factor = rope.get("factor") if kind in _LENGTHENING else 1
    return int(min(said) * (factor if isinstance(factor, (int, float)) else 1))


def why_too_long(problem: Problem) -> str | None:
    """Why engines refuse the requests of a problem for their length."""
    asked = problem.longest_request or problem.model.context
    longest = longest_of(problem.model)
    if longest is None or asked <= longest:
        return None
    return f"engines refuse {asked} tokens: the model's config allows {longest}"


def request_length_of(plan: "Plan | Service") -> int:
    """The tokens of a request, prompt and answer, that a plan is for."""
    problem, context = plan.problem, plan.problem.model.context
    if problem.longest_request:
        return problem.longest_request
    longest = longest_of(problem.model)
    return min(context + 1, longest) if longest else context + 1


def checked_length(
    asked: int, request: int, longest: int | None, memories: Iterable[ServerMemory | None]
) -> int:
    """The longest request that a user asks for, which servers can hold."""
    _whole("max-length", asked)
    if asked < request:
        raise ShardoptError(
            f"'max-length' is {asked}, expected at least {request} tokens, "
            "which a request of the plan has"
        )
    if longest is not None and asked > longest:
        raise ShardoptError(
            f"'max-length' is {asked}, expected at most {longest}, which is the most "
            "of the model's config"
        )
    held = [memory.most_tokens for memory in memories if memory and memory.most_tokens]
    if held and asked > max(request, min(held)):
        raise ShardoptError(
            f"'max-length' is {asked}, expected at most {max(request, min(held))} tokens, "
            "the room of one GPU's KV cache"
        )
    return asked


def load_of(plan: Plan) -> Names:
    """Requests that show what was planned, within `request_length_of`: the fields of a
    benchmark."""
    problem, batch = plan.problem, plan.strategy.batch
    length = request_length_of(plan)
    if problem.phase == "prefill":
        output = 1
    else:  # the last steps of requests, whose caches are as long as the context
        length = min(length, problem.model.context)
        output = min(128, max(1, length // 2))
    return {
        "input": max(1, length - output),
        "output": output,
        "batch": batch,
        "prompts": 4 * batch,
    }


def facts_of(model: Model) -> Names:
    """What flags depend on in addition to a strategy."""
    return {
        "experts": model.experts,
        "has_dense_layers": model.has_dense_layers,
        "phase": model.phase,
        "context": model.context,
        "has_drafts": model.draft_layers > 0,
    }


def stage_layers(plan: Plan) -> list[int]:
    """The layers of each pipeline stage."""
    if plan.strategy.stages or plan.breakdown is None:
        return list(plan.strategy.stages)
    stages = [0] * plan.strategy.pp
    for row in plan.breakdown:
        if row["op"] == "layer_exit":
            stages[row["stage"]] += row["layers"]
    stages[-1] += 1  # the last layer ends in the head
    return stages


def devices_per_node_of(machine: Mapping[str, Any]) -> int:
    """As many as the domain of a machine (its parameters) has, and 4 where that is
    larger than a node."""
    domain = int(machine["domain"]["devices"])
    return domain if domain <= 8 else 4


def nodes_of(tp: int, pp: int, ranks: int, devices_per_node: int) -> int:
    """How many nodes a server of `ranks` replicas takes. Each has as many devices of
    it as the others, as engines demand: whole replicas, else whole groups of `tp`,
    else a share of one group."""
    for unit, units in ((tp * pp, ranks), (tp, pp), (1, tp)):
        fitting = [
            count * unit
            for count in range(1, units + 1)
            if units % count == 0 and count * unit <= devices_per_node
        ]
        if fitting:
            break
    return tp * pp * ranks // max(fitting)


#: Of steps that are never as large: the engine has no such threshold.
_NEVER = 1 << 20


def overlap_names(least: "tuple[int, int] | None") -> Names:
    """Whether steps work on two micro-batches, and from how many tokens of a rank: those
    that decode, and those that prefill."""
    decode, prefill = least or (0, 0)
    return {
        "overlap": least is not None,
        "overlap_decode": decode or _NEVER,
        "overlap_prefill": prefill or _NEVER,
    }


def overlap_of(said: "tuple[int, int] | None") -> "tuple[int, int] | None":
    """`overlap_names` the other way."""
    return said and (said[0] % _NEVER, said[1] % _NEVER)


# What only the roles of a service say, where a plan of a phase is launched alone.
ALONE: Names = {
    "role": "", "port": 0, "side_port": 0, "served_name": "", "batched_tokens": 0, "cluster": "",
    "draft_tokens": 0, "eplb": False, "redundant_experts": 0,
    **overlap_names(None),
    **UNKNOWN,
}


def eplb_fields(strategy: Strategy, model: Model) -> Names:
    """Whether the engine places experts by their load, and how many replicas there are
    over all ranks."""
    experts, ep = model.experts, strategy.ep
    if strategy.eplb == "off":
        return {"eplb": False, "redundant_experts": 0}
    slots = -(-experts // ep) + int(strategy.eplb)
    return {"eplb": True, "redundant_experts": slots * ep - experts}


def eplb_of(redundant: int, experts: int, ep: int) -> str:
    """The degree of so many replicas over all ranks: `eplb_fields` the other way."""
    return str(max(0, (experts + redundant) // ep - -(-experts // ep)))


def has_low_latency(ep: int, ranks: int, gathers: bool, phase: str, batch: int) -> bool:
    """Whether DeepEP's low-latency kernels, which take at most 1024 tokens of a rank,
    exchange the rows of a step that decodes."""
    return ep > 1 and not gathers and phase != "prefill" and batch <= 1024 * ranks


_CACHE = re.compile(r"tensor<[0-9?x]*x([a-zA-Z0-9]+)> \{llm\.role = \"cache\"")
_MADE = re.compile(r'llm\.quantization = "([a-z0-9_]+)"')


def types_of(model: Model) -> Names:
    """The types that an engine must be told: that of KV caches which are not 16 bits wide,
    and of weights where the config, which engines read themselves, does not mention it."""
    caches = set(_CACHE.findall(model.mlir))
    made = _MADE.search(model.mlir.partition("\n")[0])
    config = model.config or {}
    is_told = any("quantization_config" in part for part in (config, config.get("text_config") or {}))
    # A module without its config may be of a checkpoint that says the rest itself.
    is_said = made and not is_told and (model.config or made[1] == "fp8")
    return {
        "cache_type": "fp8" if any(kind.startswith("f8") for kind in caches) else "",
        "quantization": made[1] if made and is_said else "",
    }


_PRECISIONS = {"mxfp4": "fp4", "nvfp4": "fp4"}


def precision_of(model: Model) -> str:
    """How a model's weights are stored, in the word of recipes."""
    made = _MADE.search(model.mlir.partition("\n")[0])
    kind = made[1] if made else "bf16"
    return _PRECISIONS.get(kind, "fp8" if kind.startswith("fp8") else kind)


def memory_of(plan: Plan) -> ServerMemory | None:
    """Of the fullest device of a plan of a phase."""
    parts = plan.report["best"].get("memory_parts_gb")
    if not isinstance(parts, dict):
        return None
    weights, caches = real(parts.get("weights")), real(parts.get("kv_cache"))
    budget = plan.problem.machine_parameters()["memory"]
    gb = budget["capacity_bytes"] * budget["usable_fraction"] / 1e9
    strategy, context = plan.strategy, plan.problem.model.context
    cached = strategy.batch / strategy.dp_size * context
    return ServerMemory(weights, caches, gb, cached) if 0 < weights < gb else None


def max_length_of(longest: int | None, request: int, memories: Iterable[ServerMemory | None]) -> int:
    """The longest request that servers take by default: what the model's config allows,
    or what the caches of every device hold, and never less than was planned."""
    held = [memory.most_tokens for memory in memories if memory]
    most = [tokens for tokens in held if tokens is not None]
    if longest is None or not most:
        return request
    found = min(most)
    return max(request, longest if found >= longest else found - found % 256)


def served_length(
    plan: "Plan | Service", memories: Iterable[ServerMemory | None], asked: int | None = None
) -> int:
    """The longest request that the servers of a plan take: that asked for, or the default."""
    longest, request = longest_of(plan.problem.model), request_length_of(plan)
    if asked is None:
        return max_length_of(longest, request, memories)
    return checked_length(asked, request, longest, memories)


def fields_of(
    plan: Plan, row: Names, devices_per_node: int | None, max_length: int | None = None
) -> Names:
    """The names of a plan in the expressions of an engine's row."""
    strategy, model = plan.strategy, plan.problem.model
    if devices_per_node is None:
        devices_per_node = devices_per_node_of(plan.problem.machine_parameters())
    tp, pp = strategy.tp, strategy.pp
    memory = memory_of(plan)
    ranks = strategy.dp_size if model.experts else 1
    # An engine whose --tp-size spans them lays them out as one group.
    groups = (tp * ranks, pp, 1) if row["tp_spans_ranks"] else (tp, pp, ranks)
    return {
        **ALONE,
        **facts_of(model),
        **types_of(model),
        "low_latency": has_low_latency(
            strategy.ep if model.experts else 1, ranks, strategy.exchange == "gather",
            model.phase, strategy.batch,
        ),
        "tp": tp,
        "dp": strategy.dp_size,
        "ep": strategy.ep if model.experts else 1,
        "pp": pp,
        "cp": strategy.cp,
        "gathers": strategy.exchange == "gather",
        **eplb_fields(strategy, model),
        "batch": strategy.batch,
        "replicas_apart": True,
        "draft_tokens": plan.problem.draft_tokens or 0,
        "vendor": hardware_of(plan.problem.machine or plan.problem.machine_name).vendor,
        "ranks": ranks,
        "devices": tp * pp * ranks,
        "devices_per_node": devices_per_node,
        "nodes": nodes_of(*groups, devices_per_node),
        "rank_batch": math.ceil(strategy.batch / strategy.dp_size),
        "stage_layers": stage_layers(plan),
        "longest": longest_of(model),
        "max_length": served_length(plan, [memory], max_length),
        **(memory.names() if memory else {}),
    }
