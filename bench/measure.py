"""Time and memory of whole processes, as the kernel accounts for them."""

import dataclasses
import os
import statistics
import sys
import time


@dataclasses.dataclass(frozen=True)
class Cost:
    """What processes cost: seconds of wall and CPU (user + system), peak bytes."""

    wall: float
    cpu: float
    peak: int

    def __add__(self, other):
        """One process after the other."""
        return Cost(
            self.wall + other.wall, self.cpu + other.cpu, max(self.peak, other.peak)
        )


def run_once(command):
    """The cost of one run; exits with the command's stderr when it fails."""
    log = os.open("stderr.log", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    null = os.open(os.devnull, os.O_WRONLY)
    start = time.perf_counter()
    # spawned, not forked: a forked child starts with this process's peak memory
    pid = os.posix_spawnp(
        command[0],
        command,
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, log, 2)],
    )
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - start
    os.close(null)
    os.close(log)
    if status != 0:
        with open("stderr.log", errors="replace") as file:
            sys.exit(f"{' '.join(command)}\nfailed:\n{file.read()[:4000]}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def run_all(commands):
    """The cost of running `commands` one after the other."""
    total = Cost(0, 0, 0)
    for command in commands:
        total += run_once(command)
    return total


def median_cost(commands, runs):
    """Medians over `runs` repetitions of `commands`, each number by itself."""
    costs = [run_all(commands) for _ in range(runs)]
    return Cost(
        statistics.median(cost.wall for cost in costs),
        statistics.median(cost.cpu for cost in costs),
        int(statistics.median(cost.peak for cost in costs)),
    )
