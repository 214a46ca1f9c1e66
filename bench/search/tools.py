"""Where things are, and processes that are measured."""

import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Paths:
    """The tree, the tools of its build, shared data (or None), a scratch folder."""

    root: pathlib.Path
    build: pathlib.Path
    data: pathlib.Path
    scratch: pathlib.Path

    @classmethod
    def find(cls, build, scratch):
        data = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT / "../shared/data"))
        return cls(
            ROOT,
            pathlib.Path(build).resolve(),
            data.resolve() if data.is_dir() else None,
            pathlib.Path(scratch).resolve(),
        )

    def tool(self, name):
        return str(self.build / "bin" / name)

    def environment(self, name=""):
        """The virtual environment of the optimisers from outside and of plots, or
        of those that need one of their own."""
        return self.build / (f"bench-{name}-venv" if name else "bench-venv")

    def environment_python(self, name=""):
        """Its interpreter, or None where it was not made."""
        folder = self.environment(name)
        return folder / "bin/python" if (folder / "complete").exists() else None


@dataclasses.dataclass(frozen=True)
class Finished:
    """How a process ended: exit code, seconds of wall and of CPU, stderr."""

    code: int
    wall_s: float
    cpu_s: float
    stderr: str

    @property
    def error(self):
        """The line of stderr that says what went wrong."""
        lines = [line.strip() for line in self.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if "error: " in line]
        if errors:
            return errors[0].split("error: ", 1)[1]
        return lines[-1] if lines else f"exit code {self.code}"


class Processes:
    """Runs commands to their end, from several threads; `stop` ends them all."""

    def __init__(self):
        self._lock = threading.Lock()
        self._running = set()
        self._stopped = False

    @property
    def is_stopped(self):
        return self._stopped

    def run(self, command, log, env=None):
        """One command with its stderr in the file `log`. CPU is that of the
        process and of those it waited for."""
        start = time.perf_counter()
        with open(log, "w") as stderr:
            process = self._start(command, stderr, env)
            _, status, usage = os.wait4(process.pid, 0)
        with self._lock:
            self._running.discard(process)
            process.returncode = os.waitstatus_to_exitcode(status)
        return Finished(
            process.returncode,
            time.perf_counter() - start,
            usage.ru_utime + usage.ru_stime,
            pathlib.Path(log).read_text(errors="replace"),
        )

    def stop(self):
        """Ends what is running, and what is started from now on at once."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _end(process)

    def _start(self, command, stderr, env):
        # A session of its own: an interrupt from the terminal does not reach
        # it, which would otherwise end its search with a result.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env=env,
            start_new_session=True,
        )
        with self._lock:
            self._running.add(process)
            if self._stopped:
                _end(process)
        return process


def _end(process):
    """Ends a process and its children."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def version():
    """The commit of what is measured, marked where the tree differs from it."""
    measured = ["--", "lib", "include", "tools", "machines"]

    def git(*args):
        done = subprocess.run(["git", *args], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    commit = git("log", "-1", "--format=%h", *measured) or "unknown"
    return commit + ("-dirty" if git("status", "--porcelain", *measured) else "")
