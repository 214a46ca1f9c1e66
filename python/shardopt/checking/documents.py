"""What a text, a file or a folder is, told by its content."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Any, Mapping

from ..border import parse_json, read_text, reading, shown
from ..deployments.service import Load
from ..engine_table import Names
from ..errors import ShardoptError
from ..yaml_files import parse_documents
from .deployment_requests import KIND, is_request
from .loads import load_of_words
from .manifests import is_compose, is_manifest, read_compose, read_manifests
from .meaning import Place, meaning_of
from .programs import invocations, unknown_program
from .recipes import Case, is_recipe, is_search_space, read_recipe, read_search_space
from .shell_reading import read_commands
from .stated import Stated, gathered

#: Files of a folder, and bytes of each, that are looked at.
_MOST_FILES, _MOST_BYTES = 200, 1 << 20
_YAML = (".yaml", ".yml", ".json")


def is_path(text: str) -> bool:
    """Whether a text is meant as the name of a file or folder, there or not."""
    if "\n" in text or "\0" in text or len(text) > 4000:
        return False
    if os.path.exists(text):
        return True
    return not re.search(r"\s", text) and bool(
        re.search(r"\.(ya?ml|sh|sbatch|json|slurm)$", text) or text.endswith("/")
    )


def read_stated(what: str, facts: "Names | None" = None, per_node: int = 0) -> Stated:
    """The service that a command, a file or a folder states."""
    if not is_path(what):
        return read_script(what, facts, per_node, {}, "the command")
    path = Path(what)
    with reading(f"'{what}' cannot be read"):
        if path.is_dir():
            return _read_folder(path, facts, per_node)
        if not path.exists():
            raise ShardoptError(f"'{what}' is not there, expected a command, a file or a folder")
    text = read_text(path)
    return read_text_of(text, str(path), facts, per_node, _files_of(path.parent, is_asked=False))


def read_text_of(
    text: str, place: str, facts: "Names | None", per_node: int, files: Mapping[str, str]
) -> Stated:
    """The service of one file's text."""
    documents = documents_of(text, place)
    if documents is None:
        return read_script(text, facts, per_node, files, place)
    return read_documents(documents, place, facts, per_node, files)


def documents_of(text: str, place: str) -> list[Any] | None:
    """The YAML or JSON documents of a file; None of a script."""
    if place.endswith(".json"):
        return [parse_json(text, f"'{place}'")]
    is_script = text.startswith("#!") or place.endswith((".sh", ".sbatch", ".slurm", ".bash"))
    if is_script or not place.endswith(_YAML) and not re.search(r"(?m)^[\w-]+:(\s|$)", text):
        return None
    return [one for one in parse_documents(text, place, "a manifest or a recipe")
            if one is not None]


def read_documents(
    documents: list[Any], place: str, facts: "Names | None", per_node: int,
    files: Mapping[str, str],
) -> Stated:
    if any(is_request(one) for one in documents):
        raise ShardoptError(
            f"'{place}' is a {KIND}, which asks for a plan: `shardopt check` with the "
            "model's config answers it"
        )
    manifests = [one for one in documents if is_manifest(one)]
    if manifests:
        return read_manifests(manifests, place, facts, per_node)
    for document in documents:
        if is_compose(document):
            return read_compose(document, place, facts, per_node, files)
        if is_recipe(document):
            return read_recipe(document, place, facts, per_node)
        if is_search_space(document):
            return _first_case(document, place, facts)
    found = shown(documents[0] if documents else None, 40)
    raise ShardoptError(
        f"'{place}' is no manifest: it has {found}, expected objects of Kubernetes (kind and "
        "apiVersion), a Compose file, a recipe of srt-slurm (backend and resources), or a "
        "search space of InferenceX"
    )


def search_space_in(path: str) -> "list[Case | ShardoptError] | None":
    """The cases of a file of InferenceX; None of other files, and of one case."""
    if not path.endswith((".yaml", ".yml")) or not Path(path).is_file():
        return None
    documents = documents_of(read_text(path), path) or []
    cases = [
        case for document in documents if is_search_space(document)
        for case in read_search_space(document, path)
    ]
    return cases if len(cases) > 1 else None


def _first_case(document: Mapping[str, Any], place: str, facts: "Names | None") -> Stated:
    cases = list(read_search_space(document, place, facts))
    if len(cases) == 1 and not isinstance(cases[0], ShardoptError):
        return cases[0].stated
    for case in cases:
        if isinstance(case, ShardoptError):
            raise case
    raise ShardoptError(
        f"'{place}' has {len(cases)} cases, expected a file with one of them: a case is an "
        "entry of search-space with one number of conc-list"
    )


def read_script(
    text: str, facts: "Names | None", per_node: int, files: Mapping[str, str], place: str
) -> Stated:
    """The servers that a script or a command starts."""
    kind = "Slurm job" if re.search(r"(?m)^#SBATCH", text) else "command"
    found = invocations(text, files=files, label=_label(place), place=place)
    if not found:
        said = [one.words for one in read_commands(text, place=place)]
        first = next((words for words in said if words[0] not in ("cd", "set", "mkdir")), [])
        raise unknown_program(first)
    at = Place(per_node)
    kind = f"{found[0].engine} {kind}" if kind == "command" else kind
    return gathered(kind, [meaning_of(one, facts, at) for one in found], load_of_script(text))


def _label(place: str) -> str:
    return "" if place == "the command" else Path(place).name


def load_of_script(text: str) -> Load | None:
    """The load of the first benchmark that a script runs."""
    for said in read_commands(text):
        load = load_of_words(said.words) if "bench" in " ".join(said.words) else None
        if load:
            return load
    return None


def _files_of(folder: Path, is_asked: bool = True) -> dict[str, str]:
    """Small text files of a folder by name, as scripts name them. One that is no text is
    an error in a folder that was asked for, and nothing next to a file that was."""
    found: dict[str, str] = {}
    for path in sorted(folder.iterdir())[:_MOST_FILES]:
        is_text = path.suffix in (*_YAML, ".sh", ".env", ".txt", ".sbatch")
        if is_text and path.is_file() and path.stat().st_size <= _MOST_BYTES:
            with contextlib.suppress(*(() if is_asked else (ShardoptError,))):
                found[path.name] = read_text(path)
    return found


def _read_folder(folder: Path, facts: "Names | None", per_node: int) -> Stated:
    """A folder of an export, or any with one script or manifests."""
    files = _files_of(folder)
    for inner in sorted(folder.iterdir()):
        if inner.is_dir() and inner.name != "plan":
            files.update({f"{inner.name}/{name}": text for name, text in _files_of(inner).items()})
    return read_files(files, str(folder), facts, per_node)


def read_files(
    files: Mapping[str, str], place: str, facts: "Names | None" = None, per_node: int = 0
) -> Stated:
    """The service of a folder's files by name; `place` is the folder, for errors."""
    load = load_of_script(files["benchmark.sh"]) if "benchmark.sh" in files else None
    scripts = [name for name in files if name.endswith(".sbatch")]
    scripts = scripts or [name for name in ("start.sh", "launch.sh") if name in files]
    if scripts:
        stated = read_script(files[scripts[0]], facts, per_node, files, f"{place}/{scripts[0]}")
        kind = "folder of scripts" if scripts[0] == "start.sh" else stated.kind
        return stated.replace(load=stated.load or load, kind=kind)
    documents = [
        one
        for name, text in files.items()
        if name.endswith((".yaml", ".yml"))
        for one in documents_of(text, f"{place}/{name}") or ()
    ]
    if not documents:
        raise ShardoptError(
            f"'{place}' has neither scripts nor manifests, expected what `shardopt export` "
            "writes, a file or a command"
        )
    return read_documents(documents, place, facts, per_node, files)
