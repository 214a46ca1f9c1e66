"""The load that a benchmark's command sends."""

from __future__ import annotations

import re
from typing import Sequence

from ..deployments.service import Load


def load_of_words(words: Sequence[str]) -> Load | None:
    """Of `vllm bench serve` and its kin: lengths, and a rate or a concurrency."""
    said = {}
    for index, word in enumerate(words):
        name, has_value, value = word.partition("=")
        if name.startswith("--"):
            following = words[index + 1] if index + 1 < len(words) else ""
            said[name.replace("_", "-")] = value if has_value else following
    lengths = [said.get(f"--random-{way}-len", "") for way in ("input", "output")]
    if not all(re.fullmatch("[1-9][0-9]{0,8}", text) for text in lengths):
        return None
    at_once, rate = said.get("--max-concurrency", ""), said.get("--request-rate", "")
    concurrency = int(at_once) if re.fullmatch("[1-9][0-9]{0,8}", at_once) else 0
    is_rate = re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,17})?", rate)
    return Load(int(lengths[0]), int(lengths[1]), concurrency, float(rate) if is_rate else None)
