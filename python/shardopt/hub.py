"""Models of the Hugging Face Hub by their id, such as `deepseek-ai/DeepSeek-V3`: from
the local cache, else by `huggingface_hub`. Only the config is read, no weights."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from pathlib import Path
from typing import Iterator

from .errors import ShardoptError

#: The files of a snapshot that an import reads; the index has the sizes of weights.
_CONFIG, _INDEX = "config.json", "model.safetensors.index.json"
_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_FILES = (".json", ".mlir", ".html", ".yaml", ".yml")


def is_hub_id(text: str) -> bool:
    """Whether `text` is written as an id, an owner and a name, and is no file's name."""
    return bool(_ID.fullmatch(text)) and not text.endswith(_FILES)


def _cache() -> Path:
    """The folder of the cache, as `huggingface_hub` finds it."""
    home = os.environ.get("HF_HOME") or Path(
        os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "huggingface"
    )
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home, "hub"))


def cached(model: str) -> Path | None:
    """The folder of the snapshot of `model` in the local cache that has a config: that of
    `main`, else the newest."""
    folder = _cache() / f"models--{model.replace('/', '--')}"
    try:
        main = folder / "refs" / "main"
        if main.is_file():
            place = folder / "snapshots" / main.read_text(encoding="utf-8").strip()
            if (place / _CONFIG).is_file():
                return place
        found = [place.parent for place in folder.glob(f"snapshots/*/{_CONFIG}")]
        return max(found, key=lambda place: place.stat().st_mtime, default=None)
    except (OSError, UnicodeDecodeError, RuntimeError):
        return None  # a cache that cannot be read holds nothing


def _is_offline() -> bool:
    names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    return any(os.environ.get(name, "").upper() in ("1", "ON", "YES", "TRUE") for name in names)


def _downloaded(model: str) -> Path:
    """The snapshot of `model`, after its config was downloaded."""
    help = "expected a config.json, a folder that holds one, or a module (.mlir)"
    absent = f"'{model}' is no file, and the Hugging Face cache '{_cache()}' lacks it"
    if _is_offline():
        raise ShardoptError(f"{absent}; HF_HUB_OFFLINE forbids a download; {help}")
    try:
        from huggingface_hub import (  # type: ignore[import-not-found, unused-ignore]
            hf_hub_download,
        )
    except ImportError:
        raise ShardoptError(
            f"{absent}; to download its config: pip install huggingface_hub; or {help}"
        ) from None
    try:
        return Path(hf_hub_download(model, _CONFIG)).parent
    except Exception as error:  # of the network, the hub, the user's rights or the disk
        lines = str(error).split("\n")[0]
        raise ShardoptError(
            f"{absent}; download failed ({type(error).__name__}: {lines[:160]}); {help}"
        ) from None


@contextlib.contextmanager
def snapshot(model: str) -> Iterator[Path]:
    """A config.json of `model` in a folder of the model's name, as importers name models."""
    place = cached(model) or _downloaded(model)
    with tempfile.TemporaryDirectory() as folder:
        named = Path(folder, model.rpartition("/")[2])
        named.mkdir()
        for name in (_CONFIG, _INDEX):
            if (place / name).is_file():
                (named / name).symlink_to((place / name).resolve())
        yield named / _CONFIG
