"""What the flags of a server mean: a role of a service, by the engine's table."""

from __future__ import annotations

import dataclasses
import math
import re
from dataclasses import dataclass, field
from typing import Any, Mapping

from ..deployments.service import DECODE, PREFILL, SERVE, Role
from ..engine_table import Names, overlap_of, value_of
from .findings import Finding, ignored, illegal, note, unplanned
from .flags import Values, json_of, read_flags
from .programs import Invocation


@dataclass(frozen=True)
class Meaning:
    """A role, and what else its command says.

    `role.in_flight` is the cap on sequences of one worker, and 0 where the engine's
    default holds. `exchange` is None where the engine decides.
    """

    role: Role
    engine: str
    model: str = ""
    exchange: str | None = None
    max_length: int = 0
    draft_tokens: int = 0
    dtype: str = "auto"
    memory_share: float = 0
    findings: tuple[Finding, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    #: Which of its node's ports answers, and whether this command is of a later node.
    port: str = ""
    is_later: bool = False
    label: str = ""
    image: str = ""
    #: Workers of the command alone, which its platform has several times.
    own_workers: int = field(default=1, compare=False)
    source: Values = field(default_factory=lambda: Values({}), repr=False, compare=False)
    invocation: "Invocation | None" = field(default=None, repr=False, compare=False)

    @property
    def is_legal(self) -> bool:
        return not any(one.kind in ("illegal", "not planned") for one in self.findings)


@dataclass(frozen=True)
class Place:
    """Where a worker runs, as far as the document says."""

    #: 0 where nobody knows.
    devices_per_node: int = 0
    machine: str = ""
    #: Nodes of a worker, where a platform gives it so many; 0: flags say it.
    nodes: int = 0


def facts_without_model(values: Mapping[str, Any]) -> Names:
    """The facts of a model that nobody has given: experts where flags are of them."""
    has_experts = any((
        values.get("enable_expert_parallel"),
        values.get("ep_size", 1) > 1,
        values.get("enable_attention_dp"),
        values.get("attn_dp_size", 1) > 1,
        values.get("moe_a2a_backend", "none") != "none",
    ))
    return {
        "experts": math.inf if has_experts else 0, "has_dense_layers": True, "context": 0,
        "phase": "decode", "longest": None, "latent": True, "kv_heads": math.inf,
        "hybrid": False,
    }


def meaning_of(
    one: Invocation, facts: "Names | None" = None, place: Place = Place(), name: str = ""
) -> Meaning:
    """The role that a command plays. `facts` are of the model, `name` is what the
    document calls it."""
    found = read_flags(one)
    return meaning_of_values(one, found, facts, place, name)


def meaning_of_values(
    one: Invocation, found: Values, facts: "Names | None", place: Place, name: str = ""
) -> Meaning:
    row, values, findings = one.row, found.values, list(found.findings)
    for flag in found.legacy:
        for key, text in row.get("legacy_means", {}).get(flag, {}).items():
            values[key] = value_of(text, values)
    old = {key: value_of(text, values) for key, text in row.get("deprecated", {}).items()}
    values = {**values, **old}
    facts = dict(facts_without_model(values) if facts is None else facts)
    names = {**facts, **values, "replicas_apart": place.nodes > 0}
    names["dp"] = names.get("data_parallel_size", 1)
    fields = {key: value_of(text, names) for key, text in row["fields"].items()}
    names["devices"] = fields["tp"] * fields["dp"] * fields["pp"]
    names["devices_per_node"] = place.devices_per_node or math.inf
    for rule in row["rules"]:
        if not value_of(rule["holds"], names):
            kind = ignored if rule.get("ignored") else illegal
            kind = unplanned if rule.get("unplanned") else kind
            findings.append(kind(rule["why"].format(**names)))
    role = _role(one, fields, names, place, name or _role_name(one, found))
    findings += _unplaced(role, names["experts"])
    given = place.nodes * place.devices_per_node
    if given and role.devices > given:
        findings.append(illegal(
            f"a worker of {role.name} has {role.devices} GPUs by its flags, and its "
            f"{place.nodes} nodes have {given}"
        ))
    exchange = fields["gathers"]
    return Meaning(
        role,
        one.engine,
        found.model,
        None if exchange is None else ("gather" if exchange else "all_to_all"),
        _length(values, findings),
        _drafts(values),
        str(values.get("dtype", "auto")),
        _share(names),
        tuple(findings),
        names,
        str(values.get("port", "")),
        _is_later(values),
        one.label,
        one.image,
        role.workers,
        found,
        one,
    )


def _role(
    one: Invocation, fields: Names, names: Names, place: Place, name: str
) -> Role:
    """Where a model has no experts, ranks of data parallelism are workers."""
    has_experts = bool(names["experts"])
    copies = 1 if has_experts else fields["dp"]
    ranks = fields["dp"] if has_experts else 1
    if has_experts and one.engine == "sglang":
        copies = names["dp_size"]
    cap = math.ceil(fields["batch"] / copies) if fields["batch"] else 0
    cache = str(names.get("kv_cache_dtype") or "auto")
    budget = names.get("max_num_batched_tokens") or names.get("max_num_tokens") or 0
    chunk = str(names.get("chunked_prefill_size") or "")
    if one.engine == "sglang" and re.fullmatch("[0-9]{1,9}", chunk):
        budget = int(chunk) // max(1, ranks)
    eplb = has_experts and bool(fields["eplb"])
    # Of slots, which count experts of a model that nobody has given.
    redundant = 0 if not eplb or math.isinf(fields["redundant_experts"]) else fields["redundant_experts"]
    return Role(
        name,
        workers=copies,
        tp=fields["tp"],
        in_flight=cap or (ranks if name == PREFILL else 0),
        ranks=ranks,
        ep=fields["ep"] if has_experts else 1,
        pp=fields["pp"],
        cp=fields["cp"],
        gathers=True if fields["gathers"] is None else bool(fields["gathers"]),
        stages=_stages(one),
        devices_per_node=place.devices_per_node or 8,
        machine=place.machine,
        batched_tokens=budget,
        cache_type=_cache_type(cache),
        quantization=str(names.get("quantization") or ""),
        overlap=overlap_of(fields["overlap"]) if has_experts else None,
        eplb=eplb,
        redundant_experts=redundant,
    )


def _unplaced(role: Role, experts: float) -> list[Finding]:
    """Replicas that ranks do not share evenly, which engines refuse."""
    redundant = role.redundant_experts
    if not role.eplb or math.isinf(experts) or redundant >= 0 and (experts + redundant) % role.ep == 0:
        return []
    most = -(-max(experts + redundant, experts) // role.ep) * role.ep - experts
    return [illegal(
        f"{experts:g} experts and {redundant} replicas are not divided evenly over {role.ep} "
        f"ranks, expected {most:g} replicas"
    )]


def _cache_type(said: str) -> str:
    """The type of caches as plans have it: "" is the model's."""
    if said.startswith("fp8"):
        return "fp8"
    return "" if said in ("auto", "bfloat16", "bf16", "float16") else said


def _share(names: Names) -> float:
    keys = ("gpu_memory_utilization", "mem_fraction_static", "free_gpu_memory_fraction")
    said = next((str(names[key]) for key in keys if names.get(key)), "")
    return float(said) if re.fullmatch(r"(0?\.[0-9]{1,17}|1(\.0*)?)", said) else 0


def _stages(one: Invocation) -> tuple[int, ...]:
    for entry in one.row["environment"]:
        said = one.env.get(entry["name"], "")
        if "PP_LAYER" in entry["name"] and re.fullmatch(r"[0-9]{1,4}(,[0-9]{1,4})*", said):
            return tuple(map(int, said.split(",")))
    return ()


def _length(values: Mapping[str, Any], findings: list[Finding]) -> int:
    """The longest request, where flags say one: engines read "32k" and "auto" too."""
    said = str(values.get("max_model_len") or values.get("context_length")
               or values.get("max_seq_len") or "")
    exact = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]+)?)([kmKM]?)", said)
    if not exact:
        if said and not re.match(r"-1$|auto$|\$|\{", said):
            findings.append(note(f"the longest request is '{said:.40}', which is no number"))
        return 0
    scale = {"": 1, "k": 1000, "m": 10**6, "K": 1024, "M": 1 << 20}[exact[2]]
    return int(float(exact[1]) * scale)


def _drafts(values: Mapping[str, Any]) -> int:
    config = json_of(values.get("speculative_config") or "{}")
    if isinstance(config, dict):
        tokens = config.get("num_speculative_tokens")
        if isinstance(tokens, int) and not isinstance(tokens, bool) and 0 < tokens < 100:
            return tokens
    if values.get("draft_tokens"):
        return int(values["draft_tokens"])
    drafts = values.get("speculative_num_draft_tokens") or 0
    # SGLang counts the token that is verified, too.
    return max(0, drafts - 1) or (values.get("speculative_num_steps") or 0)


def _is_later(values: Mapping[str, Any]) -> bool:
    """Whether a command is of a worker's second node, or a later one."""
    later = ("node_rank", "data_parallel_start_rank", "data_parallel_rank")
    ranks = [str(values.get(key) or "0") for key in later]
    return bool(values.get("headless")) or any(re.fullmatch("[1-9][0-9]*", r) for r in ranks)


def _role_name(one: Invocation, found: Values) -> str:
    """Whether a server prefills, decodes, or does both, as its flags and its name say."""
    modes = {"prefill": PREFILL, "decode": DECODE, "context": PREFILL, "generation": DECODE,
             "kv_producer": PREFILL, "kv_consumer": DECODE}
    values = found.values
    said = [found.mode, values.get("disaggregation_mode"), values.get("server_role")]
    config = json_of(values.get("kv_transfer_config") or "{}")
    if isinstance(config, dict):
        said.append(config.get("kv_role"))
    for mode in said:
        if str(mode).lower() in modes:
            return modes[str(mode).lower()]
    has_transfer = isinstance(config, dict) and bool(config)
    has_transfer = has_transfer or bool(values.get("config")) or bool(found.mode)
    for word, role in (("prefill", PREFILL), ("decode", DECODE)):
        if has_transfer and re.search(word, one.label, re.I):
            return role
    return SERVE


def renamed(meaning: Meaning, **changes: Any) -> Meaning:
    """The same with other fields of its role."""
    return dataclasses.replace(meaning, role=dataclasses.replace(meaning.role, **changes))
