"""The arithmetic of one run.

A run is kept as the steps of its best value: pairs (calls, best), in order,
where `best` is the best valid throughput after that many charged calls. Between
two steps nothing changed. Everything else follows from them and the optimum,
so that a better optimum needs no new run.
"""

import math

NEAR = 0.99  # of the optimum: what "to 99 %" means


def steps_of(entries):
    """The steps of (calls, best or None) pairs, one an evaluation, in order."""
    steps = []
    for calls, best in entries:
        if best is not None and (not steps or best > steps[-1][1]):
            steps.append((calls, best))
    return steps


def best_at(steps, calls):
    """The best value after that many calls; 0 before the first valid one."""
    best = 0.0
    for step_calls, step_best in steps:
        if step_calls > calls:
            break
        best = step_best
    return best


def calls_to(steps, value):
    """The calls after which the best is at least `value`; inf if it never is."""
    return next((calls for calls, best in steps if best >= value), math.inf)


def write_steps(steps):
    """Steps as the text of one field."""
    return " ".join(f"{calls}:{best:.8g}" for calls, best in steps)


def read_steps(text):
    """The inverse of `write_steps`."""
    pairs = (field.split(":") for field in text.split())
    return [(int(calls), float(best)) for calls, best in pairs]


def log_grid(last, count=60, first=1):
    """About `count` numbers of calls from `first` to `last`, evenly in the log."""
    ratio = last / first
    return sorted({round(first * ratio ** (i / (count - 1))) for i in range(count)})
