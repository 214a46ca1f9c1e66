"""The command in this process, for tests."""

import contextlib
import io

from shardopt.cli import main


def run(*words):
    """The exit code, what is printed, and the errors of a command line."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(word) for word in words])
        except SystemExit as exit:
            code = exit.code
    return code, out.getvalue(), err.getvalue()
