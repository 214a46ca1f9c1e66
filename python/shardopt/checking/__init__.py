"""The way back: what commands, documents and servers mean as a service."""

from __future__ import annotations

from .findings import Finding
from .stated import Stated
from .verdicts import Check, check

__all__ = ["Check", "Finding", "Stated", "check"]
