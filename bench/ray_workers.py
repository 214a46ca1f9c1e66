#!/usr/bin/env python3
"""How busy a search keeps the workers of a Ray cluster, and what it loses of those
that are killed.

Each evaluation sleeps: 50 ms give or take a half, at random. The first run lets
workers be; in the second one of them is killed every so often. Printed are the
share of the workers' time in which they evaluated, from when all were up to when
the last evaluation was told, how many calls brought the evaluations to workers, what
an evaluation took of the driver's processor, and what became of them.
"""

import argparse
import os
import pathlib
import random
import signal
import threading
import time

import ray
import shardopt as so
import shardopt.ray

ROOT = pathlib.Path(__file__).resolve().parents[1]


def sleep(strategy):
    """Evaluates in the place of an engine."""
    time.sleep(0.05 * random.uniform(0.5, 1.5))
    return {"throughput": float(strategy.tp), "tpot_ms": 20.0, "memory_gb": 1.0}


class Killer(threading.Thread):
    """Kills a worker of those that `host` has every `seconds`."""

    def __init__(self, host, seconds):
        super().__init__(daemon=True)
        self.host, self.seconds, self.killed = host, seconds, 0
        self.done = threading.Event()

    def run(self):
        draw = random.Random(1)
        while not self.done.wait(self.seconds):
            pids = self.host.pids()
            if pids:
                os.kill(draw.choice(pids), signal.SIGKILL)
                self.killed += 1


class Hosts:
    """An executor that tells which host it made."""

    def __init__(self, executor, then):
        self.executor, self.then = executor, then

    def host(self, simulator, parallel):
        made = self.executor.host(simulator, parallel)
        self.then(made)
        return made


def measure(problem, args, kill_s):
    """A line of what came of a run."""
    executor = shardopt.ray.Executor(
        num_workers=args.workers,
        resources={"CPU": 0},
        patience_s=600,
        retries=100,
        batch_s=args.batch,
    )
    killers, hosts = [], []

    def begin(host):
        hosts.append((host, time.process_time()))
        if kill_s:
            killers.append(Killer(host, kill_s))
            killers[0].start()

    search = so.Search(problem, "random", budget=args.evaluations, seed=1)
    result = search.run(
        sleep, executor=Hosts(executor, begin), parallel=args.parallel, order="async"
    )
    for killer in killers:
        killer.done.set()
    (host, start), spent = hosts[0], time.process_time()
    print(
        f"{args.workers} workers, {result.seconds:.1f} s, {result.busy:.1%} busy, "
        f"{result.evaluations} of {args.evaluations} evaluations told, {host.calls} calls, "
        f"{1000 * (spent - start) / result.evaluations:.2f} ms of the driver each, "
        f"{sum(killer.killed for killer in killers)} workers killed, "
        f"{result.requeued} evaluations sent again, failures {result.failures}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--parallel", type=int, help="evaluations under way (default: workers)")
    parser.add_argument("--evaluations", type=int, default=10000)
    parser.add_argument("--batch", type=float, help="seconds of a call (0: one each)")
    parser.add_argument("--kill-every", type=float, default=1.0, help="seconds (0: no run)")
    args = parser.parse_args()
    args.parallel = args.parallel or args.workers
    model = so.load_model(ROOT / "examples/configs/gpt-moe-1.2T.json", so.Decode(context=16384))
    problem = so.Problem(model, max_devices=64)
    # Workers of which nothing is asked but to sleep need no processor of their own.
    ray.init(include_dashboard=False, log_to_driver=False)
    for kill_s in (0, args.kill_every) if args.kill_every else (0,):
        measure(problem, args, kill_s)
    ray.shutdown()


if __name__ == "__main__":
    main()
