"""Models, their workloads, and machines."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping

from ._native import native
from ._tools import compiled
from .border import check_text, list_known, parse_json, read_text, reading, shown
from .checks import _checked, _name, _path, _whole
from .errors import Contradiction, ShardoptError, UnknownName, WrongValue
from .hub import cached, is_hub_id, snapshot


def version() -> str:
    """The version of the planner."""
    return native().version


def machines() -> list[str]:
    """The machines that ship with shardopt."""
    return native().machines()


def parameters_of(machine: str) -> dict[str, Any]:
    """What the planner knows of a machine, by name or file. Of constants of
    measured kernels these are their date, and what tells them from others."""
    found: dict[str, Any] = json.loads(_checked(native().machine_json, machine))
    constants = _checked(native().constants_of, machine)
    if constants is not None:
        found["constants"] = dict(zip(("date", "fingerprint"), constants))
    return found


def parameters_for(machine: str, simulator: Any) -> dict[str, Any]:
    """The parameters of a machine without those that `simulator` does not read."""
    found = parameters_of(machine)
    if simulator not in (None, "auto", "calibrated"):
        found.pop("constants", None)
    return found


@dataclass(frozen=True)
class Decode:
    """Steps that make one token of each sequence, at `context` tokens."""

    context: int
    phase = "decode"


@dataclass(frozen=True)
class Prefill:
    """Prompts of `tokens` tokens."""

    tokens: int
    phase = "prefill"

    @property
    def context(self) -> int:
        return self.tokens


#: What configs call the number of MTP layers.
_DRAFT_LAYERS = (
    "num_nextn_predict_layers", "mtp_num_hidden_layers", "mtp_num_layers", "num_mtp_layers",
    "num_mtp_modules",
)


@dataclass(frozen=True)
class Model:
    """A model under a workload. `load_model` makes them."""

    handle: Any = field(repr=False, compare=False)
    path: str
    mlir: str = field(repr=False)
    config: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    """What config.json says; None for a module."""
    is_open: bool = field(default=False, repr=False, compare=False)
    """Whether it is of no workload yet, which `isl` and `osl` of a problem say."""
    weight_type: str | None = None
    """What weights have in the place of the checkpoint's type; None: that."""
    kv_type: str | None = None
    """The same of KV caches."""

    @property
    def types(self) -> dict[str, str]:
        """`weight_type` and `kv_type`, where they are not the checkpoint's."""
        asked = {"weight_type": self.weight_type, "kv_type": self.kv_type}
        return {name: value for name, value in asked.items() if value is not None}

    @property
    def name(self) -> str:
        return self.handle.name

    @property
    def hub_id(self) -> str | None:
        """The checkpoint of the Hub, where the model was loaded by that id or by a name
        of `named_models`."""
        if Path(self.path).exists():
            return None
        if is_hub_id(self.path):
            return self.path
        named = (self.config or {}).get("_name_or_path") if self.path in named_models() else None
        return named if isinstance(named, str) else None

    @property
    def layers(self) -> int:
        return self.handle.layers

    @property
    def phase(self) -> str:
        return self.handle.phase

    @property
    def context(self) -> int:
        return self.handle.context

    @property
    def experts(self) -> int:
        """Routed experts of a layer; 0 if there are none."""
        return self.handle.experts

    @property
    def has_dense_layers(self) -> bool:
        return self.handle.has_dense_layers

    @property
    def ops(self) -> dict[str, dict[int, str]]:
        """The ops in order, each with its dims and what they cut."""
        return {name: dict(choices) for name, choices in self.handle.ops}

    @property
    def draft_layers(self) -> int:
        """MTP layers of the checkpoint, by its config, which predict further tokens."""
        config = self.config or {}
        text = config.get("text_config")
        config = text if isinstance(text, dict) else config
        said = (config.get(name) for name in _DRAFT_LAYERS)
        return next((each for each in said if isinstance(each, int) and each > 0), 0)

    @property
    def requests(self) -> dict[str, float]:
        """What a module's workload says of requests: `isl`, `osl`, limits, by name."""
        found = _WORKLOAD.search(self.mlir)
        said = dict(_MEMBER.findall(found.group(1))) if found else {}
        return {name: float(said[name]) for name in native().requests if name in said}

    def under(self, workload: Decode | Prefill) -> "Model":
        """The same model under another workload alone. A config may be gone from where
        it was."""
        if self.config is None:
            said = f"phase = {workload.phase}, context = {workload.context}"
            text = _WORKLOAD.sub(f"#llm.workload<{said}>", self.mlir)
            return model_of_text(text, self.path, None, self.weight_type, self.kv_type)
        is_hubs = is_hub_id(self.path)
        is_named = self.path in named_models()
        if Path(self.path).is_file() or (is_hubs and cached(self.path)) or is_named:
            return load_model(self.path, workload, **self.types)
        with tempfile.TemporaryDirectory() as folder:
            # Models are named after their files, or the folders of these.
            place = Path(folder, *Path(self.path).parts[-2:])
            place = place / "config.json" if is_hubs else place
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(self.config), encoding="utf-8")
            found = load_model(place, workload, **self.types)
        return dataclasses.replace(found, path=self.path)

    def retyped(
        self, weight_type: str | None = None, kv_type: str | None = None
    ) -> "Model":
        """The same model with other types of weights and KV caches, as `load_model` has
        them; None: as they are."""
        types = weight_type or self.weight_type, kv_type or self.kv_type
        found = model_of_text(self.mlir, self.path, self.config, *types)
        return dataclasses.replace(found, is_open=self.is_open)

    def separated(self, dims: str) -> "Model":
        """The same model with ops, and so dims, of its own for each layer ("per-layer") or
        for all layers of one window ("per-window"); "shared": as it is. shard-opt
        separates them."""
        by = _SEPARATED.get(_name("dims", dims))
        if dims == "shared":
            return self
        if by is None:
            known = list_known(dims, ("shared", *_SEPARATED))
            raise UnknownName(f"unknown dims {shown(dims)}; {known}")
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "model.mlir").write_text(self.mlir, encoding="utf-8")
            words = ["model.mlir", f"--llm-separate-layers=by={by}", "-o", "-"]
            text = compiled(words, folder, "the layers cannot be separated")
        return model_of_text(text, self.path, None, **self.types)


#: What `--llm-separate-layers` calls them.
_SEPARATED = {"per-window": "window", "per-layer": "layer"}

#: How modules say their workload, and each member of it.
_WORKLOAD = re.compile(r"#llm\.workload<([^<>]*)>")
_MEMBER = re.compile(r"(\w+) = ([^\s,]+)")


def named_models() -> dict[str, Path]:
    """The configs that come with the package, by name."""
    places = sorted(Path(__file__).resolve().parent.glob("configs/*.json"))
    # Outside of a wheel, those of the tree.
    places = places or sorted(Path(__file__).resolve().parents[2].glob("examples/configs/*.json"))
    return {place.stem: place for place in places}


def named_model(text: str) -> str | None:
    """The name of `named_models` that `text` is, in any case, or whose Hub id it is, with
    its owner or without; None where there is none."""
    wanted = text.lower()
    for name, place in named_models().items():
        config = json.loads(place.read_text(encoding="utf-8"))
        hub_id = str(config.get("_name_or_path", "")).lower()
        if wanted == name.lower() or wanted and wanted in (hub_id, hub_id.rpartition("/")[2]):
            return name
    return None


def model_at_hand(text: str) -> str | None:
    """What `load_model` takes for the model that a server calls `text`, without a
    download: a folder, a Hub id of the cache, or a name that comes with the package."""
    if text and Path(text, "config.json").is_file() or is_hub_id(text) and cached(text):
        return text
    return named_model(text)


def load_model(
    path: str | os.PathLike[str],
    workload: Decode | Prefill | None = None,
    *,
    weight_type: str | None = None,
    kv_type: str | None = None,
) -> Model:
    """The model of a Hugging Face config.json, of a folder that holds one, of a Hub id
    (`hub`), of a name that comes with the package (`named_models`), or of a module
    (.mlir), which says its workload itself. Without a workload
    a config is for services, whose requests the problem says. `weight_type` (bf16, fp8, int8,
    int4, nvfp4, mxfp4 and others) and `kv_type` (bf16, fp8) are in the place of the
    types that it has: what if they were?"""
    place = _path(path)
    types = [_type("weight_type", weight_type), _type("kv_type", kv_type)]
    check_text("path", str(place))
    if workload is not None and not isinstance(workload, (Decode, Prefill)):
        raise WrongValue(
            f"'workload' is {shown(workload)}, expected Decode(context=…) or "
            "Prefill(tokens=…)"
        )
    with reading(f"'{place}' cannot be read"):
        if place.is_dir():
            place = place / "config.json"
        if not place.exists():
            is_cached = is_hub_id(str(path)) and cached(str(path))
            named = None if is_cached else named_model(str(path))
            if named is not None:
                model = load_model(
                    named_models()[named], workload, weight_type=weight_type, kv_type=kv_type
                )
                return dataclasses.replace(model, path=named)
            if is_hub_id(str(path)):
                with snapshot(str(path)) as found:
                    model = load_model(
                        found, workload, weight_type=weight_type, kv_type=kv_type
                    )
                return dataclasses.replace(model, path=str(path))
            raise ShardoptError(
                f"'{place}' is not there, expected a config.json, a folder that holds one, "
                "a Hub id, a module (.mlir), or a name; "
                + list_known(str(place), named_models())
            )
    if place.suffix == ".mlir":
        if workload is not None:
            raise Contradiction(
                f"'{place}' is a module, which says its workload itself, and a "
                f"{workload.phase} workload is given too"
            )
        handle = _checked(native().read_module, str(place), *types)
        return Model(
            handle, str(place), handle.module, weight_type=weight_type, kv_type=kv_type
        )
    load = Decode(1) if workload is None else workload
    context = _whole("context", load.context, least=1)
    handle = _checked(native().import_config, str(place), load.phase, context, *types)
    config = parse_json(read_text(place), f"'{place}'")
    return Model(
        handle, str(place), handle.module, config, workload is None, weight_type, kv_type
    )


def model_of_text(
    text: str,
    name: str,
    config: Mapping[str, Any] | None = None,
    weight_type: str | None = None,
    kv_type: str | None = None,
) -> Model:
    """The model of a module's text, with other types where some are given."""
    types = [_type("weight_type", weight_type), _type("kv_type", kv_type)]
    handle = _checked(native().read_module_text, text, name, *types)
    return Model(
        handle, name, handle.module, config, weight_type=weight_type, kv_type=kv_type
    )


def _type(name: str, value: str | None) -> str:
    """A type as the planner takes it: none is empty."""
    return "" if value is None else _name(name, value)
