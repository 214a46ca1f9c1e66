"""Runs a command under limits, and says what is wrong with how it ended."""

import contextlib
import dataclasses
import glob
import math
import os
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time

MEGABYTE = 1 << 20
MOST_OUTPUT = 64 * MEGABYTE
TAIL = 20000


@dataclasses.dataclass(frozen=True)
class Limits:
    # Of the processor, or of waiting for anything but a processor or a disk: a busy
    # machine makes no findings.
    seconds: float = 60
    peak_bytes: int = 2048 * MEGABYTE
    # A guard for the machine; far more is reserved than used. 0: none, as
    # sanitizers reserve terabytes.
    address_bytes: int = 16384 * MEGABYTE


@dataclasses.dataclass
class Outcome:
    code: int  # negative: the signal that ended it
    peak_bytes: int
    timed_out: bool
    output: str  # the end of both streams


def _restrict(limits):
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seconds = math.ceil(limits.seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_OUTPUT, MOST_OUTPUT))
    if limits.address_bytes:
        resource.setrlimit(resource.RLIMIT_AS, (limits.address_bytes,) * 2)


def _works(session):
    """Whether a thread of a session runs, or waits for a processor or a disk."""
    for path in glob.glob("/proc/[0-9]*/task/[0-9]*/stat"):
        try:
            with open(path, errors="replace") as file:
                state, _, _, owner = file.read().rpartition(")")[2].split()[:4]
        except (OSError, ValueError):
            continue  # it ended meanwhile
        if int(owner) == session and state in "RD":
            return True
    return False


def _watch(session, limits, ended, end):
    """Calls `end` when a session has waited for `limits.seconds` longer than it has worked."""
    period = min(1.0, limits.seconds / 4)
    waited, before = 0.0, time.monotonic()
    while not ended.wait(period):
        now = time.monotonic()
        # Where this thread had to wait for a processor, the session had to as well.
        past = min(now - before, 2 * period)
        waited, before = max(0.0, waited + (-past if _works(session) else past)), now
        if waited > limits.seconds:
            end()
            return


def run(command, folder, limits):
    """Runs `command` in `folder`; its processes do not outlive it."""
    # Addresses without names: symbolizing libMLIR takes minutes.
    environment = {**os.environ, "LLVM_DISABLE_SYMBOLIZATION": "1"}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: _restrict(limits),
        )
        late = threading.Event()

        def end():
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.killpg(process.pid, signal.SIGKILL)
                late.set()

        ended = threading.Event()
        watch = threading.Thread(target=_watch, args=(process.pid, limits, ended, end))
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        ended.set()
        watch.join()
        process.returncode = os.waitstatus_to_exitcode(status)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        size = output.seek(0, os.SEEK_END)
        output.seek(max(0, size - TAIL))
        text = output.read().decode(errors="replace")
    timed_out = late.is_set() or process.returncode == -signal.SIGXCPU
    return Outcome(process.returncode, usage.ru_maxrss * 1024, timed_out, text)


# What a program says that has found a mistake of ours, and what of it tells one
# mistake from another.
CONFESSIONS = (
    re.compile(r"Assertion `.*' failed"),
    re.compile(r"LLVM ERROR: .*"),
    re.compile(r"\S+: runtime error: .*"),
    re.compile(r"AddressSanitizer: [\w-]+"),
    re.compile(r"ThreadSanitizer: .*"),
    re.compile(r"terminate called .*"),
    re.compile(r"failed to (?:legalize|materialize).*"),
    re.compile(r"^FINDING [^:\n]*", re.M),
    # Not a module that is refused.
    re.compile(r"verify: FAILED (?:max_abs|crashed)"),
)


def blame(command, outcome, limits):
    """What is wrong with an outcome, the same words for the same mistake; None if nothing is."""
    what = None
    if outcome.timed_out:
        what = f"no end within {limits.seconds:.0f} s"
    elif outcome.peak_bytes > limits.peak_bytes:
        what = f"more than {limits.peak_bytes // MEGABYTE} MB"
    else:
        found = (pattern.search(outcome.output) for pattern in CONFESSIONS)
        what = next((match.group(0) for match in found if match), None)
        if not what and outcome.code < 0:
            what = signal.Signals(-outcome.code).name
        elif not what and outcome.code not in (0, 1):
            what = f"exit code {outcome.code}"
        elif not what and outcome.code == 1 and not outcome.output.strip():
            what = "a failure without a word"
    if not what:
        return None
    return f"{os.path.basename(str(command[0]))}: {re.sub(r'[0-9]+', 'N', what)}"
