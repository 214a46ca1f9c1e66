"""Runs the tools of the build on texts, and annotates modules."""

import json
import pathlib
import re
import subprocess
import tempfile


class ToolError(Exception):
    """A tool ended with an error; the message is what it said."""


def run(command, text=None):
    """What a command prints, given `text` on its standard input."""
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        words = " ".join(map(str, command))
        raise ToolError(f"{words}\nexit code {done.returncode}\n{done.stderr}")
    return done.stdout


def imported(shard_translate, config, phase, context, *options):
    """The program of a config (a dict), as text."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "config.json"
        path.write_text(json.dumps(config))
        command = [shard_translate, "--import-hf", path, f"--phase={phase}"]
        return run([*command, f"--context={context}", *options, "-o", "-"])


def generic(shard_opt, text, *passes):
    """A module's generic assembly after passes."""
    printing = ("--mlir-print-op-generic", "-mlir-print-local-scope")
    return run([shard_opt, *passes, *printing, "-"], text)


def annotate(text, dims, strategy=None):
    """A module's text with dims of ops ({name: 0 | 1 | 2 | 3}) and a strategy's degrees."""
    for name, dim in dims.items():
        value = "none" if dim == 2 else dim
        text = re.sub(f'( = llm[.a-z_ ]*"{re.escape(name)}")', rf"\1 dim<{value}>", text)
    if strategy is None:
        return text
    fields = ("tp", "ep", "pp", "cp", "tp2", "batch")
    degrees = ", ".join(f"{field} = {getattr(strategy, field)}" for field in fields)
    return text.replace("attributes {", f"attributes {{llm.strategy = #llm.strategy<{degrees}>, ", 1)


def add_arguments(parser):
    """The options that say where the tools are."""
    parser.add_argument("--shard-opt", required=True)
    parser.add_argument("--shard-translate", required=True)
