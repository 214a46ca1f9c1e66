"""The command `shardopt`."""

from __future__ import annotations

import argparse
import errno
import importlib
import io
import os
import sys
from typing import Sequence

from .arguments import OLD_NAMES, make_parser
from .border import WRONG_INPUT, list_known
from .errors import (
    BudgetExhausted,
    Inexpressible,
    Infeasible,
    ShardoptError,
    TooFewDevices,
)
from .exits import EXHAUSTED, FEASIBLE, INFEASIBLE, USAGE
from .models import version

#: The module of each verb, which is loaded when it is asked, and its function.
_VERBS = {
    verb: (f".commands.{home}", verb.replace("-", "_") + "_verb")
    for home, verbs in {
        "planning": ("plan", "pareto", "size", "sweep"),
        "plans": ("evaluate", "diff", "explain", "verify", "lower"),
        "launching": ("export", "serve"),
        "checking": ("check",),
        "calibrating": ("calibrate",),
        "reporting": ("report", "trace"),
        "graphs": ("import-graph",),
    }.items()
    for verb in verbs
}


def _refuse_unknown(parser: argparse.ArgumentParser, words: list[str]) -> None:
    """An unknown command, before argparse lists them in its own order."""
    if words and not words[0].startswith("-") and words[0] not in _VERBS:
        parser.error(f"unknown command '{words[0]}'; " + list_known(words[0], _VERBS))


def _run(words: list[str]) -> int:
    parser, options = make_parser()
    said = ("shardopt", *words)
    words[:1] = [OLD_NAMES.get(word, word) for word in words[:1]]
    _refuse_unknown(parser, words)
    args, others = parser.parse_known_args(words)
    args.words = said
    if args.version:
        print("shardopt", version())
        return FEASIBLE
    if not args.verb:
        parser.print_help()
        return USAGE
    if others:
        name = others[0].partition("=")[0]
        known = options[args.verb]._option_string_actions
        parser.error(
            f"unknown argument '{name}'; "
            + list_known(name, [word for word in known if word.startswith("--")])
        )
    home, verb = _VERBS[args.verb]
    return int(getattr(importlib.import_module(home, __package__), verb)(args))


def _spell_all() -> None:
    """Text that the encoding of a terminal lacks is spelled with backslashes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Python writes what is left at its end, and cannot say there that it failed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _said(error: BaseException) -> str:
    """What an error says, without the number that the system gives it."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error) or type(error).__name__
    if error.filename is not None:
        return f"'{error.filename}': {error.strerror}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):  # of a print
        _drop_output()
        return f"the output cannot be written: {error.strerror}"
    return error.strerror


def main(words: Sequence[str] | None = None) -> int:
    """Runs a command line; returns the exit code."""
    _spell_all()
    try:
        code = _run(list(sys.argv[1:] if words is None else words))
        if sys.stdout:  # none if the shell closed it
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        _drop_output()
        return FEASIBLE
    except Infeasible as error:
        print(error.table, end="")
        print(f"error: {error}", file=sys.stderr)
        return INFEASIBLE
    except (ShardoptError, ImportError, *WRONG_INPUT) as error:
        print(f"error: {_said(error)}", file=sys.stderr)
        if isinstance(error, (Inexpressible, TooFewDevices)):
            return INFEASIBLE
        return EXHAUSTED if isinstance(error, BudgetExhausted) else USAGE
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return EXHAUSTED


if __name__ == "__main__":
    sys.exit(main())
