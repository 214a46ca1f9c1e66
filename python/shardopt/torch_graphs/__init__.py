"""Graphs of `torch.export` as StableHLO: a walker over the exported graph, the ops of
ATen by table, and the text that they are written as."""

from __future__ import annotations

from .exported import load_exported, stablehlo_of

__all__ = ["load_exported", "stablehlo_of"]
