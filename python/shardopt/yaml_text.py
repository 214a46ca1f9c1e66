"""YAML of plain values: dictionaries, lists, texts, numbers. Any text comes back as it
was, whatever it looks like; one of several lines is a literal block where it can be."""

from __future__ import annotations

import json
import re
from typing import Any, Iterator, Sequence

_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*")
_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"}


def document(value: Any) -> str:
    return "\n".join(_lines(value)) + "\n"


def documents(values: Sequence[Any]) -> str:
    return "---\n".join(map(document, values))


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _entry(f"{_scalar(str(key))}:", item)
    elif isinstance(value, (list, tuple)) and value:
        for item in value:
            if isinstance(item, (dict, list, tuple)) and item:
                inner = iter(_lines(item))
                yield f"- {next(inner)}"
                yield from (f"  {line}" for line in inner)
            else:
                yield from _entry("-", item)
    else:
        yield _scalar(value)


def _entry(start: str, item: Any) -> Iterator[str]:
    if isinstance(item, (dict, list, tuple)) and item:
        yield start
        yield from (f"  {line}" for line in _lines(item))
    elif isinstance(item, str) and _is_block(item):
        yield f"{start} |" if item.endswith("\n") else f"{start} |-"
        yield from (f"  {line}" if line else "" for line in item.rstrip("\n").split("\n"))
    else:
        yield f"{start} {_scalar(item)}"


def _is_block(text: str) -> bool:
    body = text[:-1] if text.endswith("\n") else text
    return (
        "\n" in body
        and not body.startswith((" ", "\n"))
        and not body.endswith("\n")
        and all(char == "\n" or char.isprintable() for char in body)
    )


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
            return value
        quoted = json.dumps(value, ensure_ascii=False)
        return "".join(char if char.isprintable() else _escaped(char) for char in quoted)
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, (list, tuple)):
        return "[]"
    return json.dumps(value)


def _escaped(char: str) -> str:
    number = ord(char)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
