"""YAML of users: plain values, of a size that ends."""

from __future__ import annotations

from typing import Any

from .border import reading
from .errors import ShardoptError

#: Values of a file at most, those of aliases counted where they are used.
_MOST_VALUES = 100_000


def _size(node: Any, known: dict[Any, int]) -> int:
    """How many values a node of YAML stands for; too many where it holds itself."""
    if node not in known:
        known[node] = _MOST_VALUES + 1
        inner = node.value if isinstance(node.value, list) else []
        pairs = (each if isinstance(each, tuple) else (each,) for each in inner)
        known[node] = 1 + sum(_size(each, known) for pair in pairs for each in pair)
    return known[node]


def parse_yaml(text: str, path: str, what: str = "settings") -> Any:
    """The only document of a YAML text; `what` it should be, for errors."""
    found = parse_documents(text, path, what)
    if len(found) > 1:
        raise ShardoptError(f"'{path}' has {len(found)} documents, expected {what} in one")
    return found[0] if found else None


def parse_documents(text: str, path: str, what: str = "settings") -> list[Any]:
    """All documents of a YAML text."""
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError:
        raise ShardoptError(
            f"'{path}' is YAML, which needs PyYAML (pip install pyyaml); JSON needs nothing"
        ) from None
    with reading(f"'{path}'"):
        loader = None
        found: list[Any] = []
        try:
            loader = yaml.SafeLoader(text)
            size = 0
            while loader.check_node():
                node = loader.get_node()
                size += _size(node, {})
                if size > _MOST_VALUES:
                    raise ShardoptError(
                        f"'{path}' stands for more than {_MOST_VALUES} values by its "
                        f"aliases, expected {what}"
                    )
                found.append(loader.construct_document(node))
        except yaml.YAMLError as error:
            raise ShardoptError(f"'{path}': {' '.join(str(error).split())[:300]}") from None
        finally:
            if loader is not None:
                loader.dispose()
    return found
