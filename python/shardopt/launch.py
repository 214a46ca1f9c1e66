"""What starts a plan in an engine: commands, scripts and files."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Mapping, NoReturn

from .border import check_outputs, write_whole
from .checks import _whole
from .errors import ShardoptError
from .plans import Plan
from .shell import command_line, exec_lines, quoted


@dataclass(frozen=True)
class Launch:
    """What starts a plan: a script for every node of every server."""

    engine: str
    version: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    files: Mapping[str, str]
    benchmark: tuple[str, ...]
    servers: int
    nodes: int
    later_args: tuple[str, ...] = ()
    """What the command has too on all nodes but the first."""
    processes: int = 0
    """Processes that MPI starts, one a GPU; 0: a shell starts one on each node."""

    @property
    def command(self) -> str:
        """The command of the first node."""
        return command_line(self.args)

    @property
    def later_command(self) -> str:
        """The command of the other nodes."""
        return command_line([*self.args, *self.later_args])

    @property
    def script(self) -> str:
        """A shell script: environment, command."""
        lines = ["#!/bin/sh", f"# {self.engine} {self.version}"]
        if self.servers > 1:
            lines.append(f"# launch {self.servers} servers like this one")
        if self.processes:
            each = self.processes // self.nodes
            lines += [
                f"# started by MPI in {self.processes} processes, {each} on each of "
                f"{self.nodes} nodes; one of",
                f"#   srun --mpi=pmix --nodes={self.nodes} --ntasks-per-node={each} sh launch.sh",
                f"#   mpirun -n {self.processes} -H HOST:{each},HOST:{each},… sh launch.sh",
            ]
        elif self.nodes > 1:
            lines.append(f"# run on {self.nodes} nodes, with NODE_RANK and MASTER_ADDR set")
        lines += [f"export {name}={quoted(value)}" for name, value in self.env.items()]
        return "\n".join([*lines, *exec_lines(self.args, self.later_args), ""])

    def write(
        self, folder: "str | os.PathLike[str]", inputs: Iterable[Any] = ()
    ) -> list[Path]:
        """Writes `launch.sh`, `benchmark.sh` and the engine's files, none of them over
        one of the files `inputs`."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        texts = {
            "launch.sh": self.script,
            "benchmark.sh": f"#!/bin/sh\nexec {command_line(self.benchmark)}\n",
            **self.files,
        }
        check_outputs([place / name for name in texts], inputs)
        for name, text in texts.items():
            write_whole(place / name, text)
        return [place / name for name in texts]

    def run(
        self, folder: "str | os.PathLike[str]", inputs: Iterable[Any] = ()
    ) -> NoReturn:
        """Writes `folder` and becomes the engine, in the place of this process."""
        if not shutil.which(self.args[0]):
            raise ShardoptError(
                f"'{self.args[0]}' is not in PATH: {self.engine} is not installed"
            )
        if self.processes:
            raise ShardoptError(
                f"the plan takes {self.processes} processes of MPI on {self.nodes} nodes: write "
                "launch.sh by 'shardopt export', and start it as its first lines say"
            )
        for name in ("NODE_RANK", "MASTER_ADDR"):
            if self.nodes > 1 and name not in os.environ:
                raise ShardoptError(
                    f"the plan takes {self.nodes} nodes, and '{name}' is not set"
                )
        self.write(folder, inputs)
        os.chdir(folder)
        os.execv("/bin/sh", ["sh", "launch.sh"])

    def __str__(self) -> str:
        return self.script


def copies_of(plan: Plan) -> int:
    """Workers of a plan on the available devices."""
    return _whole("workers", plan.report["best"].get("workers", 1), least=1)
