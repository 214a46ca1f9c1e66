"""Names that go into manifests: all pass through here."""

from __future__ import annotations

import re

from ..border import check_text
from ..errors import ShardoptError

_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
# Image references: registry, path, tag or digest.
_IMAGE = re.compile(r"[a-z0-9]([a-zA-Z0-9._/:@-]*[a-zA-Z0-9])?")

#: Platforms add roles, revisions and ordinals, and names of pods have 63 characters.
MOST_OF_A_NAME = 36


def label(text: str, what: str, most: int = MOST_OF_A_NAME) -> str:
    """`text`, where Kubernetes takes it as a name (RFC 1123, and no digit first)."""
    if not isinstance(text, str) or len(text) > most or not _LABEL.fullmatch(text):
        raise ShardoptError(
            f"the {what} is '{text:.80}', expected 1 to {most} lower case letters, "
            "digits and '-', beginning with a letter and ending with none of '-'"
        )
    return text


def label_of(asked: str | None, model: str) -> str:
    """The name asked for, else one made of the model's."""
    if asked is not None:
        return label(asked, "name")
    made = re.sub(r"[^a-z0-9]+", "-", model.rsplit("/", 1)[-1].lower()).strip("-")
    made = re.sub(r"^[0-9-]+", "", made)[:MOST_OF_A_NAME].strip("-")
    return made or "service"


def label_key(text: str, what: str) -> str:
    """The key of a label: a name, behind a domain and a '/' where it has one."""
    domain, slash, name = text.rpartition("/")
    is_domain = re.fullmatch(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", domain)
    if (slash and not is_domain) or not re.fullmatch(
        r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", name
    ):
        raise ShardoptError(
            f"the {what} is '{text:.80}', expected a key such as 'nvidia.com/gpu.product'"
        )
    return text


def label_value(text: str, what: str) -> str:
    if not re.fullmatch(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?", text):
        raise ShardoptError(
            f"the {what} is '{text:.80}', expected at most 63 letters, digits and any of '-_.'"
        )
    return text


def image(text: str) -> str:
    if len(text) > 255 or not _IMAGE.fullmatch(text):
        raise ShardoptError(
            f"the image is '{text:.80}', expected a reference such as "
            "registry/path/name:tag"
        )
    return text


def path(text: str, what: str) -> str:
    """An absolute path inside a container."""
    if not re.fullmatch(r"/[^\0\n:]*", check_text(what, text)):
        raise ShardoptError(f"the {what} is '{text:.80}', expected an absolute path")
    return text


def word(text: str, what: str) -> str:
    """A word of a scheduler: no blanks, quotes or newlines."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.:,+-]*", text):
        raise ShardoptError(
            f"the {what} is '{text:.80}', expected letters, digits and any of '_.:,+-'"
        )
    return text
