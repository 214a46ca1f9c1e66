"""Which prefill and decode workers may exchange KV caches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from ..engine_table import value_of

if TYPE_CHECKING:
    from .service import Role


def why_not_paired(
    row: Mapping[str, Any], prefill: "Role", decode: "Role", facts: Mapping[str, Any]
) -> list[str]:
    """Every rule of an engine's table that the pair breaks, with the values found.
    `facts` are of the model: `latent` attention, `hybrid` states, `kv_heads`."""
    names = {**facts, "p": prefill, "d": decode}
    return [
        f"{row['transfer']['connector']}: {rule['why'].format(**names)}"
        for rule in row["transfer"]["rules"]
        if not value_of(rule["holds"], names)
    ]
