"""What the scripts here share: where things are, and running them."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT.parent / "shared" / "data"))


def add_arguments(parser):
    for tool in ("shard-opt", "shard-translate", "shard-run"):
        parser.add_argument(f"--{tool}", required=True)


def run(*command):
    """The standard output of a command; ends this program where it fails."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode:
        print(result.stdout + result.stderr, end="", file=sys.stderr)
        sys.exit(f"failed: {' '.join(str(word) for word in command)}")
    return result.stdout


def all_lines(*command):
    """(exit status, lines of the output, one at least) of a command that may fail."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    return result.returncode, (result.stdout or result.stderr).strip().splitlines() or [""]


def last_line(*command):
    """(exit status, last line of the output) of a command that may fail."""
    status, lines = all_lines(*command)
    return status, lines[-1]


def imported(args, config, phase, context, path, *options):
    """Imports a config into the file at `path`; the path."""
    options = (f"--phase={phase}", f"--context={context}", *options)
    run(args.shard_translate, "--import-hf", config, *options, "-o", path)
    return path
