"""Folders of files that appear as a whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Mapping

from ..border import reading, shown
from ..errors import ShardoptError


def write_folder(folder: "str | os.PathLike[str]", files: Mapping[str, str]) -> list[Path]:
    """Writes `files` (names with '/' are in subfolders) next to `folder`, which must be
    new or empty, and renames them into its place."""
    with reading(shown(folder)):
        return _write(Path(folder), files)


def _write(folder: Path, files: Mapping[str, str]) -> list[Path]:
    place = folder.absolute()
    if os.path.lexists(place) and (place.is_symlink() or not place.is_dir()):
        raise ShardoptError(f"'{folder}' is there and no folder, expected a new or empty folder")
    if place.is_dir() and any(place.iterdir()):
        raise ShardoptError(f"'{folder}' has files, expected a new or empty folder")
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=".shardopt-", dir=place.parent))
    try:
        for name, text in files.items():
            path = beside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            if text.startswith("#!"):
                path.chmod(0o755)
        beside.chmod(0o755)
        os.rename(beside, place)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return [folder / name for name in files]
