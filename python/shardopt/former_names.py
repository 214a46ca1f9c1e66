"""Former names of keys, settings and attributes. They are read, and never written."""

from __future__ import annotations

import functools
import warnings
from typing import Any, Mapping, TypeVar

from ._native import native

_T = TypeVar("_T", bound=type)
_MODES = ("aggregated", "disaggregated")
_ROLES = ("serve", "prefill", "decode")
#: Keys of plan files: the objects that have them (empty: all), and their names.
_KEYS: tuple[tuple[tuple[str, ...], dict[str, str]], ...] = (
    ((), {
        "cache_sent_ms": "kv_transfer_ms",
        "charged": "budgeted_evaluations",
        "hopeless_evaluations": "infeasible_evaluations",
        "in_domains": "inside_nvlink_domain",
        "megatron_classic": "megatron_tp",
        "megatron_slice": "megatron_tp_ep",
        "megatron_sp": "megatron_tp_sp",
        "turned": "machines_swapped",
    }),
    (_MODES, {"replicas": "serve", "readers": "prefill", "decoders": "decode"}),
    (_ROLES, {"count": "workers"}),
    (("step_us",), {"products": "gemms", "launch": "cpu_launch_overhead"}),
    (("slos",), {"limit": "target"}),
    (("inside_nvlink_domain",), {"domain": "domain_devices"}),
    (("best", "free_optimum", "next_feasible", "megatron_tp", "megatron_tp_ep",
      "megatron_tp_sp"), {"replicas": "workers"}),
)
#: Parts of a plan file whose keys may have former names.
_PARTS = ("problem", "report", "service")


def _names(inside: str) -> Mapping[str, str]:
    """The former names of keys of the object `inside`, each with the current one."""
    if inside in ("problem", "requests"):
        return setting_names()
    found: dict[str, str] = {}
    for objects, names in _KEYS:
        if not objects or inside in objects:
            found.update(names)
    return found


def setting_names() -> Mapping[str, str]:
    """The former names of settings, each with the current one."""
    names: Mapping[str, str] = native().former_requests
    return names


def _renamed(value: Any, inside: str) -> Any:
    if isinstance(value, list):
        return [_renamed(each, inside) for each in value]
    if not isinstance(value, dict):
        return value
    names = _names(inside)
    found = {}
    for key, each in value.items():
        key = names.get(key, key)
        found[key] = _renamed(each, key)
    return found


def current_keys(values: dict[str, Any]) -> dict[str, Any]:
    """The values of a plan file by their current keys."""
    return {
        key: _renamed(value, key) if key in _PARTS else value for key, value in values.items()
    }


def current_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by their current names."""
    names = setting_names()
    return {names.get(name, name): value for name, value in values.items()}


def warn(former: str, current: str) -> None:
    """Tells a user of the API that a name has changed."""
    warnings.warn(f"'{former}' is '{current}' now", DeprecationWarning, stacklevel=3)


def former(name: str, current: str) -> Any:
    """A property: the attribute `current` by its former name."""

    def read(self: Any) -> Any:
        warn(name, current)
        return getattr(self, current)

    return property(read, doc=f"The former name of `{current}`.")


def accepts_former_names(cls: _T) -> _T:
    """A class whose settings can be given and read by former names, too."""
    create = cls.__init__  # type: ignore[misc]

    @functools.wraps(create)
    def __init__(self: Any, *given: Any, **settings: Any) -> None:
        for name in sorted(settings.keys() & setting_names()):
            warn(name, setting_names()[name])
        create(self, *given, **current_settings(settings))

    def __getattr__(self: Any, name: str) -> Any:
        current = None if name.startswith("_") else setting_names().get(name)
        if current is None:
            raise AttributeError(f"'{cls.__name__}' object has no attribute '{name}'")
        warn(name, current)
        return getattr(self, current)

    cls.__init__ = __init__  # type: ignore[misc]
    cls.__getattr__ = __getattr__  # type: ignore[attr-defined]
    return cls
