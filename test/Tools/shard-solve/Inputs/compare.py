"""Solves small random instances by shard-solve, and what it exports of them by
other solvers; prints how many agree. With `--program`, by glpsol instead of
toulbar2."""

import pathlib
import re
import subprocess
import sys

root, scratch = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
kinds = ["mps"] if "--program" in sys.argv else ["cfn", "wcsp"]
scratch.mkdir(parents=True, exist_ok=True)


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    return done.stdout


def solve_export(path, kind):
    if kind == "mps":
        run("glpsol", "--freemps", path, "-o", f"{path}.out")
        text = pathlib.Path(f"{path}.out").read_text()
        return re.search(r"^Objective: +cost = (\S+)", text, re.M)
    return re.search(r"^Optimum: (\d+)", run("toulbar2", path), re.M)


agree = 0
for seed in range(20):
    instance = scratch / f"{seed}.json"
    run(
        *(sys.executable, root / "bench/generate_instance.py", "-o", instance),
        *("--nodes", 10, "--degree", 3, "--strategies", 4, "--reach", 4),
        *("--wide", 0.1, "--seed", seed),
    )
    text = run("shard-solve", instance, "--iterations=3", "--progress=none")
    cost = re.search(r"cost +(\d+)", text)[1]
    assert "proved" in text, text
    for kind in kinds:
        path = scratch / f"{seed}.{kind}"
        run("shard-solve", instance, f"--export={kind}", "-o", path)
        found = solve_export(path, kind)
        if found and float(found[1]) == float(cost):
            agree += 1
        else:
            print(seed, kind, cost, found and found[1])
print(f"{agree} agree")
