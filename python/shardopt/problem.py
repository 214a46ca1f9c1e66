"""What is asked of the planner."""

from __future__ import annotations

import dataclasses
import fnmatch
import itertools
import math
import os
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

from ._native import native
from .border import list_known, real, shown
from .checks import (
    MOST,
    _check_kind,
    _checked,
    _limit,
    _name,
    _price,
    _seconds,
    _text,
    _whole,
)
from .degrees import table
from .drafts import drafts_by_acceptance
from .errors import Contradiction, ShardoptError, UnknownName, WrongValue
from .expert_loads import expert_load_of
from .former_names import accepts_former_names
from .lengths import checked_lengths, longest_request, mean_lengths
from .models import Decode, Model, model_of_text, parameters_for

#: Milliseconds of a limit of a service at most: none.
MOST_LIMIT = 1e9

#: The engine of plans that no engine has to run.
FREE = "none"

#: What is said of drafts.
_OF_DRAFTS = ("draft_tokens", "accepted_tokens", "draft_layers", "draft_parameters")

#: The objective of a service whose requests count if they are within both SLOs.
GOODPUT = "goodput"

#: Settings of a service alone.
_OF_SERVICES = (
    "mode", "prefill_machine", "prefill_devices", "decode_machine", "chunk", "weight_types",
    "kv_types", "price", "prefill_price", "expert_load",
)

Pins = Mapping[str, "int | str | Sequence[int]"]


@accepts_former_names
@dataclass(frozen=True)
class Problem:
    """A model on a machine under limits: all that a plan depends on.

    `devices` is what there is: throughput counts per device of them, with as
    many copies of a plan at work as fit. `max_devices` is the most that a plan
    may take, and throughput is per device that it takes. With `isl` and `osl`
    (tokens of a prompt and of its completion) the plan is a `Service`: roles of
    workers with their layouts, under both SLOs and with what else is known of
    requests; `requests` lists the names. `lengths` are [isl, osl, share] of requests that
    differ, whose means `isl` and `osl` then are. The model is then at the longest context
    of a request. An SLO is on the mean over requests, or on the percentile 50, 90
    or 99. Prefill workers may be on `prefill_machine`, with
    `prefill_devices` in addition to `devices`, or which the `devices` may be of.
    `decode_machine` is another name of `machine` where there are two. `price` and
    `prefill_price` are dollars of a GPU for an hour, in the place of what their machines
    say: at a rate a service is then planned for the least cost. `chunk` is the most tokens
    of prompts in one step. `expert_load` is how the load of experts is distributed, in the
    place of `expert_imbalance`: "zipf:0.8", a file of shares, or its rows. The best is
    chosen of what is a list: chunks, `draft_tokens`
    with as many `accepted_tokens`, and types, `weight_types` and `kv_types`, which are in
    the place of the model's own. `acceptance` is in the place of `accepted_tokens`: the
    share of steps that accept the first, second, … draft token, or one chance of each
    token behind those that were accepted; without `draft_tokens` the best number of
    them is chosen, or none. Drafts cost what the model's MTP layers take, or a head of
    `draft_parameters` (1e9).
    `engine` keeps what an engine runs. Without one a plan of a phase is one that some
    engine runs, and a service one that vLLM runs, unless another sharding gains more than
    1 %; with "none" any sharding is planned.
    `pins` holds values or lists for degrees ("tp": 8, "ep": [1, 8], "batch":
    "8:64:+8"), the layers of the stages ("stages": [20, 20, 21, 19]), and dims for
    ops by glob ("*.qkv_proj": "heads"); of several for one op the last one counts.
    Those of a service are degrees and workers, of all roles ("tp": 4) or of one
    ("decode.tp": 8, "prefill.workers": [1, 2]).
    """

    model: Model
    machine: str | None = None
    devices: int | None = None
    max_devices: int | None = None
    tpot_ms: float | None = None
    ttft_ms: float | None = None
    tpot_percentile: int | None = None
    ttft_percentile: int | None = None
    isl: int | None = None
    osl: int | None = None
    lengths: Sequence[Sequence[float]] = ()
    concurrency: int | None = None
    rate: float | None = None
    draft_tokens: "int | Sequence[int] | None" = None
    accepted_tokens: "float | Sequence[float] | None" = None
    acceptance: "float | Sequence[float] | None" = None
    draft_layers: int | None = None
    draft_parameters: float | None = None
    prefix_cache_hit_rate: float | None = None
    expert_imbalance: float | None = None
    expert_load: "str | Sequence[Sequence[float]] | None" = None
    mode: str | None = None
    prefill_machine: str | None = None
    prefill_devices: int | None = None
    decode_machine: str | None = None
    chunk: "int | Sequence[int] | None" = None
    weight_types: Sequence[str] = ()
    kv_types: Sequence[str] = ()
    price: float | None = None
    prefill_price: float | None = None
    objective: str = "throughput"
    space: str = "serving"
    engine: str | None = None
    simulator: str | None = None
    simulator_timeout_s: float | None = None
    partition: str = "even"
    pins: Pins = field(default_factory=dict)
    searcher: str | None = None
    budget: int = 0
    seed: int = 0
    handle: Any = field(init=False, repr=False, compare=False)
    _lists: dict[str, str] = field(init=False, repr=False, compare=False)
    _dims: dict[str, int] = field(init=False, repr=False, compare=False)
    _stages: list[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_kind(Model, "model", self.model)
        if self.devices is not None and self.max_devices is not None:
            raise Contradiction(
                "'devices' and 'max_devices' are given, expected one of them"
            )
        for name in ("devices", "max_devices", "prefill_devices"):
            if getattr(self, name) is not None:
                _whole(name, getattr(self, name), least=1)
        for name in ("tpot_ms", "ttft_ms"):
            if getattr(self, name) is not None:
                _limit(name, getattr(self, name))
        if self.simulator_timeout_s is not None:
            _seconds("simulator_timeout_s", self.simulator_timeout_s)
        for name in ("budget", "seed"):
            _whole(name, getattr(self, name))
        for name in ("objective", "space", "partition"):
            _text(name, getattr(self, name))
        for name in (
            "machine", "engine", "searcher", "simulator", "mode", "prefill_machine",
            "decode_machine",
        ):
            if getattr(self, name) is not None:
                _name(name, getattr(self, name))
        for name in ("price", "prefill_price"):
            if getattr(self, name) is not None:
                _price(f"'{name}'", getattr(self, name))
        self._take_lengths()
        for name, value in drafts_by_acceptance(self).items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "expert_load", expert_load_of(self.expert_load))
        self._check_lists()
        self._check_requests()
        self._take_service()
        lists, dims, stages = self._read_pins()
        settings: dict[str, Any] = {
            "simulator": self.simulator
            or ("calibrated" if self.is_service else "auto"),
            "partition": self.partition,
            "count_idle": self.devices is not None and not self.is_service,
            "max_devices": self.devices or self.max_devices or 0,
        }
        for name in ("machine", "tpot_ms", "ttft_ms", "simulator_timeout_s"):
            if getattr(self, name) is not None:
                settings[name] = getattr(self, name)
        if self.is_service:  # whose limits are not those of a step alone
            settings["tpot_ms"] = settings["ttft_ms"] = math.inf
        handle = _checked(native().Problem, self.model.handle, settings)
        object.__setattr__(self, "handle", handle)
        object.__setattr__(self, "_lists", lists)
        object.__setattr__(self, "_dims", dims)
        object.__setattr__(self, "_stages", stages)

    def __reduce__(self) -> Any:
        return _remade, (
            (
                self.model.mlir, self.model.path, self.model.config,
                self.model.weight_type, self.model.kv_type,
            ),
            {name: getattr(self, name) for name in ASKED},
        )

    def _take_lengths(self) -> None:
        if not self.lengths:
            return
        lengths = checked_lengths(self.lengths)
        object.__setattr__(self, "lengths", lengths)
        for name, mean in zip(("isl", "osl"), mean_lengths(lengths)):
            if getattr(self, name) not in (None, mean):
                raise Contradiction(
                    f"'{name}' is {shown(getattr(self, name))}, and that of 'lengths' {mean} "
                    "in the mean, expected one of them"
                )
            object.__setattr__(self, name, mean)

    def _check_requests(self) -> None:
        for name, value in self._said_of_requests().items():
            if value is not None and math.isnan(real(value)):
                raise WrongValue(f"'{name}' is {shown(value)}, expected a number")
        _checked(native().check_requests, self.requests)
        if not self.is_service:
            for name in (*_OF_SERVICES, *self.lists):
                if getattr(self, name) not in (None, ()):
                    raise Contradiction(
                        f"'{name}' is of a service, which 'isl' and 'osl' ask for"
                    )
        elif self.decode_machine is not None and self.prefill_machine is None:
            raise Contradiction(
                f"'decode_machine' is '{self.decode_machine}', and no 'prefill_machine' "
                "is said"
            )
        elif self.decode_machine is not None and self.machine not in (
            None, self.decode_machine, self.prefill_machine
        ):
            raise Contradiction(
                f"'machine' is '{self.machine}', expected the 'prefill_machine' "
                f"'{self.prefill_machine}' or the 'decode_machine' "
                f"'{self.decode_machine}', which are those of the service"
            )
        elif self.objective not in ("throughput", GOODPUT):
            raise Contradiction(
                f"'objective' is {shown(self.objective)}, expected throughput or goodput: "
                "for a faster service, lower 'tpot_ms'"
            )
        elif self.space != "serving" or self.searcher not in (None, "exact"):
            name = "space" if self.space != "serving" else "searcher"
            raise Contradiction(
                f"'{name}' is {shown(getattr(self, name))}, expected none: a service ('isl' "
                "and 'osl') is searched exactly, in the layouts that its engine runs"
            )
        elif self.simulator not in (None, "calibrated"):
            raise Contradiction(
                f"'simulator' is '{self.simulator}', expected calibrated, by which "
                "services are planned"
            )

    def _take_service(self) -> None:
        """The model of a service at the longest context, on the machine that decodes;
        all other models say their workload."""
        if self.decode_machine is not None:
            object.__setattr__(self, "machine", self.decode_machine)
            object.__setattr__(self, "decode_machine", None)
        if self.isl is not None and self.osl is not None:
            if self.isl + self.osl > MOST:
                raise WrongValue(
                    f"'isl' and 'osl' are {self.isl} and {self.osl}, expected at most {MOST} "
                    "tokens of a request"
                )
            longest = Decode(self.isl + self.osl)
            model = self.model
            if model.is_open or model.requests or (
                (model.phase, model.context) != (longest.phase, longest.context)
            ):
                object.__setattr__(self, "model", model.under(longest))
        elif self.model.is_open:
            raise ShardoptError(
                f"'{self.model.path}' is a config, which says no workload: expected "
                "'isl' and 'osl' for a service, or Decode(context=…) or "
                "Prefill(tokens=…) for a phase"
            )

    @property
    def lists(self) -> dict[str, list[Any]]:
        """What the best is chosen of, by name."""
        names = ("chunk", "draft_tokens", "accepted_tokens", "weight_types", "kv_types")
        values = {name: getattr(self, name) for name in names}
        return {
            name: list(value) for name, value in values.items()
            if isinstance(value, (list, tuple)) and value
        }

    def variants(self) -> "list[Problem]":
        """One problem for each choice of what is listed, the first of each list first."""
        lists = self.lists
        if not lists:
            return [self]
        drafts = list(
            zip(lists.get("draft_tokens", [self.draft_tokens]),
                lists.get("accepted_tokens", [self.accepted_tokens]))
        )
        found = []
        for weights, caches, chunk, (draft, accepted) in itertools.product(
            lists.get("weight_types", [None]), lists.get("kv_types", [None]),
            lists.get("chunk", [self.chunk]), drafts,
        ):
            types = {"weight_type": weights, "kv_type": caches}
            types = {name: value for name, value in types.items() if value is not None}
            found.append(
                self.replace(
                    model=self.model.retyped(**types) if types else self.model,
                    weight_types=(), kv_types=(), chunk=chunk,
                    draft_tokens=draft or None, accepted_tokens=accepted if draft else None,
                    draft_layers=self.draft_layers if draft else None,
                    draft_parameters=self.draft_parameters if draft else None,
                )
            )
        return found

    def _check_lists(self) -> None:
        for name, value in self.lists.items():
            for each in value:
                if name.endswith("_types"):
                    _name(name, each)
                elif name == "accepted_tokens":
                    if math.isnan(real(each)):
                        raise WrongValue(f"'{name}' has {shown(each)}, expected a number")
                else:
                    _whole(name, each, least=0 if name == "draft_tokens" else 1)
            if name != "accepted_tokens" and len(set(value)) < len(value):
                raise WrongValue(f"'{name}' is {shown(value)}, expected each value once")
        lists = self.lists
        if len(lists.get("draft_tokens", [0])) != len(lists.get("accepted_tokens", [0])):
            raise Contradiction(
                f"'draft_tokens' is {shown(self.draft_tokens)} and 'accepted_tokens' "
                f"{shown(self.accepted_tokens)}, expected as many of each"
            )
        if self.chunk is not None and not lists.get("chunk"):
            _whole("chunk", self.chunk, least=1)

    @property
    def is_service(self) -> bool:
        """Whether a service is planned, for requests of given lengths."""
        return self.isl is not None

    @property
    def longest_request(self) -> int | None:
        """Tokens of the longest request of a service, prompt and answer."""
        if self.lengths:
            return longest_request(checked_lengths(self.lengths))
        return None if self.isl is None or self.osl is None else self.isl + self.osl

    def of_phase(self) -> "Problem":
        """The same for the model's phase alone, which no service is planned for."""
        limits = ("tpot_ms", "ttft_ms")
        asked = [name for name in (*native().requests, *_OF_SERVICES) if name not in limits]
        pins = {} if self.is_service else self.pins
        types = {"weight_types": (), "kv_types": (), "lengths": ()}
        return self.replace(**{**dict.fromkeys(asked), **types, "pins": pins})

    def _said_of_requests(self) -> dict[str, Any]:
        """By name, of what is listed the first; no draft is none."""
        lists = self.lists
        said = {
            name: lists[name][0] if name in lists else getattr(self, name)
            for name in native().requests
        }
        if said["draft_tokens"] == 0 and not said["accepted_tokens"]:
            said.update(dict.fromkeys(_OF_DRAFTS))
        if said["draft_tokens"] and not self.draft_layers and not self.draft_parameters:
            said["draft_layers"] = self.model.draft_layers or None
        return said

    @property
    def requests(self) -> dict[str, float]:
        """What is said of requests, by name. A limit that is infinite is none; of a
        service it is the largest, since others that are not said have a default."""
        said = self._said_of_requests()
        limits = ("tpot_ms", "ttft_ms")
        return {
            name: min(float(value), MOST_LIMIT) if name in limits else float(value)
            for name, value in said.items()
            if value is not None and (value != math.inf or self.is_service)
        }

    def _read_pins(self) -> tuple[dict[str, str], dict[str, int], list[int]]:
        lists: dict[str, str] = {}
        dims: dict[str, int] = {}
        stages: list[int] = []
        degrees, ops = native().degrees, self.model.ops
        if not isinstance(self.pins, Mapping):
            raise WrongValue(f"'pins' is {shown(self.pins)}, expected values by name")
        for name, value in self.pins.items():
            _text("pins", name)
            if self.is_service:
                several = value if isinstance(value, (list, tuple)) else [value]
                degree = name.rpartition(".")[2]
                known = degree in degrees
                # YAML reads on and off as truth values.
                words: dict[Any, str] = {True: "on", False: "off"} if degree == "overlap" else {}
                lists[name] = ",".join(
                    _listed(degree, each) if known else words.get(each, str(each))
                    for each in several
                )
                continue
            if name == "stages":
                if not isinstance(value, (list, tuple)):
                    raise WrongValue(
                        f"'stages' is {shown(value)}, expected the layers of each stage"
                    )
                stages = [_whole("stages", layers, least=1) for layers in value]
                continue
            if name in degrees:
                several = value if isinstance(value, (list, tuple)) else [value]
                lists[name] = ",".join(_listed(name, each) for each in several)
                continue
            found = fnmatch.filter(ops, name)
            if not found:
                raise UnknownName(
                    f"'pins' has '{name}', which is neither a degree nor an op; "
                    + list_known(name, [*degrees, "stages", *ops])
                )
            for op in found:
                dims[op] = dim_of(op, value, ops[op])
        return lists, dims, stages

    @property
    def _prefers_engines(self) -> bool:
        """Whether a plan of a phase that an engine runs is taken, if it loses little."""
        is_open = self.engine is None and self.space == "serving"
        return is_open and self.searcher in (None, "exact") and not self._dims

    def request(self, **others: Any) -> dict[str, Any]:
        """What the planner is asked, `others` in the place of our own."""
        unasked = (None,) if self.is_service else (None, FREE)
        asked = {
            "lists": {} if self.is_service else self._lists,
            "pins": self._lists if self.is_service else {},
            "dims": self._dims,
            "stages": self._stages,
            "space": self.space,
            "objective": self.objective,
            "engine": "" if self.engine in unasked else self.engine,
            "runnable_loss": native().runnable_loss if self._prefers_engines else 0.0,
            "searcher": self.searcher or "",
            "budget": self.budget,
            "seed": self.seed,
            "threads": os.cpu_count() or 1,
        }
        asked.update(others)
        return asked

    @property
    def domains(self) -> dict[str, tuple[Any, ...]]:
        """What a search chooses from: the values of each degree of the space, and
        the dims of each op."""
        found: dict[str, tuple[Any, ...]] = {
            name: tuple(values)
            for name, values in _checked(self.handle.space, self.request(engine=""))
        }
        for row in table():
            if row.name in found:
                found[row.name] = tuple(map(row.value_of, found[row.name]))
        return found

    @property
    def pinned_ops(self) -> tuple[str, ...]:
        """The ops whose dims are pinned."""
        return tuple(self._dims)

    def replace(self, **changes: Any) -> "Problem":
        """The same with other values."""
        return dataclasses.replace(self, **changes)

    @property
    def phase(self) -> str:
        return self.model.phase

    @property
    def slo_ms(self) -> float:
        """The limit on TPOT, or in prefill on TTFT."""
        return self.handle.slo_ms

    @property
    def memory_gb(self) -> float:
        """What a device may hold, 1e9 bytes."""
        return self.handle.memory_gb

    @property
    def machine_name(self) -> str:
        return self.handle.machine

    def machine_parameters(self) -> dict[str, Any]:
        """What the planner knows of the machine."""
        return parameters_for(self.machine or self.machine_name, self.simulator)


#: What is asked of a model, by the names that files, flags and plans have for it.
ASKED = tuple(
    each.name
    for each in dataclasses.fields(Problem)
    if each.init and each.name != "model"
)


def _remade(model: tuple[Any, ...], asked: dict[str, Any]) -> Problem:
    """A problem that came from another process."""
    return Problem(model_of_text(*model), **asked)


def _listed(name: str, value: Any) -> str:
    """A value of a degree in a list of them, or several as a text."""
    if not isinstance(value, str) and not abs(real(value)) <= MOST:
        raise WrongValue(f"'{name}' is pinned to {shown(value)}, expected whole numbers")
    return _text(name, str(value))


def read_limits(asked: dict[str, Any]) -> None:
    """Replaces the limits that a file spells "inf": JSON has no number for it."""
    for name in ("tpot_ms", "ttft_ms"):
        if asked.get(name) == "inf":
            asked[name] = math.inf


def dim_of(op: str, value: Any, choices: Mapping[int, str]) -> int:
    """The dim of `op` that `value` names, by number or by what it cuts."""
    for dim, name in choices.items():
        if value in (dim, name) or value == str(dim):
            return dim
    wanted = ", ".join(f"{dim} ({name})" for dim, name in choices.items())
    raise WrongValue(f"the dim of '{op}' is {shown(value)}, expected one of {wanted}")
