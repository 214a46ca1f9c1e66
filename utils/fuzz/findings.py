"""Keeps what was found: once, made smaller, with the command that shows it."""

import json
import pathlib
import re
import shutil
import sys

from fuzz import process

MOST_TRIES = 300

# What is known and not ours: a pattern of the output, and why it is left.
FOREIGN = {
    r"shard::\w+Op::verifySymbolUses": "upstream looks up an axis of the grid that is out of range",
}


def is_foreign(outcome):
    return any(re.search(pattern, outcome.output) for pattern in FOREIGN)


def still_wrong(folder, path):
    """Whether something is wrong with the file at `path` in place of the finding's own.

    What it is may change: memory that is overwritten ends in one way or another.
    """
    finding = json.loads((folder / "finding.json").read_text())
    words, file = finding["command"], finding["file"]
    scratch = folder / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(folder / "files", scratch)
    shutil.copy(path, scratch / file)
    limits = process.Limits(**finding["limits"])
    outcome = process.run(words, scratch, limits)
    return not is_foreign(outcome) and process.blame(words, outcome, limits) is not None


def _smaller_text(folder, path):
    """Takes lines out of a file, many at once, then few, as long as it stays wrong."""
    lines = path.read_bytes().splitlines(keepends=True)
    trial = folder / "trial"
    size, tries = len(lines) // 2, 0
    while size and tries < MOST_TRIES:
        at = 0
        while at < len(lines) and tries < MOST_TRIES:
            tries += 1
            shorter = lines[:at] + lines[at + size :]
            trial.write_bytes(b"".join(shorter))
            if still_wrong(folder, trial):
                lines = shorter
            else:
                at += size
        size //= 2
    path.write_bytes(b"".join(lines))
    trial.unlink(missing_ok=True)


def _reduce(folder, finding, tools):
    """Makes the file of a finding smaller, with `shard-reduce` where it is a module."""
    path = folder / "files" / finding["file"]
    if path.suffix == ".mlir":
        script = folder / "interesting.sh"
        fuzz = pathlib.Path(__file__).resolve().parents[1]
        check = f'"{sys.executable}" "{fuzz}/fuzz/still_wrong.py" "{folder}" "$1"'
        script.write_text(f"#!/bin/sh\n! {check}\n")
        script.chmod(0o755)
        smaller = folder / "small.mlir"
        words = [tools["shard-reduce"], path, f"--test={script}", "-o", smaller]
        process.run(words, folder, process.Limits(seconds=600, address_bytes=0))
        script.unlink()
        if smaller.exists():
            if still_wrong(folder, smaller):
                shutil.copy(smaller, path)
            smaller.unlink()
            return
    if path.suffix != ".safetensors":
        _smaller_text(folder, path)


class Findings:
    """The findings of a run, a folder each."""

    def __init__(self, folder, tools, reduces):
        self.folder, self.tools, self.reduces = folder, tools, reduces
        self.seen = set()

    def add(self, what, command, case_folder, title, limits, outcome):
        """Keeps a finding, unless one like it was kept; its folder or None."""
        key = (title.split()[0], what)
        if key in self.seen or is_foreign(outcome):
            return None
        self.seen.add(key)
        slug = re.sub(r"\W+", "-", what).strip("-")[:60]
        folder = self.folder / f"{len(self.seen):02}-{slug}"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(case_folder, folder / "files")
        words = [str(word) for word in command.words]
        finding = {
            "what": what,
            "case": title,
            "command": words,
            "file": command.file,
            "limits": vars(limits),
        }
        (folder / "finding.json").write_text(json.dumps(finding, indent=1) + "\n")
        quoted = " ".join(f"'{word}'" for word in words)
        (folder / "command").write_text(f"cd files && {quoted}\n")
        (folder / "output").write_text(outcome.output)
        if self.reduces and command.file and still_wrong(folder, folder / "files" / command.file):
            _reduce(folder, finding, self.tools)
        shutil.rmtree(folder / "scratch", ignore_errors=True)
        return folder
