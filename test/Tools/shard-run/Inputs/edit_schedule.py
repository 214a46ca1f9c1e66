"""Other orders of a schedule, for what a program can and cannot follow."""

import json
import sys


def swap_microbatches(schedule):
    """Micro-batches 0 and 1 change places everywhere."""
    for entry in schedule:
        entry["microbatch"] = 1 - entry["microbatch"]


def pass_between(schedule):
    """They do so in the second stage alone, which begins once the first is done."""
    for entry in schedule:
        if entry["device"] == 1:
            entry["microbatch"] = 1 - entry["microbatch"]
            entry["start"] += 10**9
            entry["end"] += 10**9


def swap_ops(schedule, microbatches):
    """Two ops that follow each other change places, with their times."""
    for microbatch in microbatches:
        kernels = {
            entry["id"]: entry
            for entry in schedule
            if entry["microbatch"] == microbatch and entry["machine"] == "compute"
        }
        first, second = kernels["0.qkv_proj"], kernels["0.attention"]
        first["id"], second["id"] = second["id"], first["id"]


def repeat(schedule):
    schedule.append(dict(schedule[0]))


def overlap(schedule):
    kernels = [e for e in schedule if e["machine"] == "compute" and e["device"] == 0]
    kernels[1]["start"] = kernels[0]["end"] - 1


def begin_early(schedule):
    for entry in schedule:
        if entry["device"] == 1:
            entry["start"] -= 10**5
            entry["end"] -= 10**5


EDITS = {
    "swap": swap_microbatches,
    "pass": pass_between,
    "ops": lambda schedule: swap_ops(schedule, (0, 1)),
    "ops-of-one": lambda schedule: swap_ops(schedule, (1,)),
    "repeat": repeat,
    "overlap": overlap,
    "early": begin_early,
}

path, edit = sys.argv[1:]
with open(path) as file:
    content = json.load(file)
EDITS[edit](content)
print(json.dumps(content))
