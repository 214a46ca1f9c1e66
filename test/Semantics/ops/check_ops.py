#!/usr/bin/python3
"""Every op and piece as compiled code, against what it means in NumPy.

    check_ops.py --shard-opt build/bin/shard-opt --shard-run build/bin/shard-run [--only mla]

Prints the cases that differ, and how far the worst is off.
"""

import argparse
import concurrent.futures
import pathlib
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test" / "Reference"))

import tools  # noqa: E402
from cases import all_cases  # noqa: E402
from execution.interpreter import Interpreter  # noqa: E402

# Of the largest entry of a result, or of 1. Sums of a few dozen f32 products.
TOLERANCE = 3e-6


def expected(shard_opt, cases):
    """What the interpreter computes for each case."""
    text = "".join(case.text(f"f{i}") for i, case in enumerate(cases))
    interpreter = Interpreter(tools.generic(shard_opt, text), None)
    for i, case in enumerate(cases):
        results = interpreter.run(f"f{i}", [[value] for value in case.inputs()])
        yield [np.asarray(values[0]) for values in results]


def computed(shard_run, case):
    """What the compiled case computes."""
    with tempfile.TemporaryDirectory() as folder:
        inputs, results = pathlib.Path(folder, "inputs"), pathlib.Path(folder, "results")
        inputs.mkdir()
        for i, value in enumerate(case.inputs()):
            np.save(inputs / f"arg{i}.npy", value)
        tools.run([shard_run, "-", f"--inputs={inputs}", f"--dump={results}"], case.text("f"))
        count = len(list(results.glob("result*.npy")))
        return [np.load(results / f"result{i}.npy") for i in range(count)]


def error(case, want, found):
    """The largest difference, of the largest entry; infinite where more than numbers differ."""
    if want.shape != found.shape:
        return np.inf
    if found.dtype == np.int32:
        return 0.0 if (want == found).all() else np.inf
    if not want.size:
        return 0.0
    worst = np.abs(want - found).max() / max(1.0, np.abs(want).max())
    return np.inf if np.isnan(worst) else worst


def check(shard_run, case, wanted):
    """(largest error of a case, a line about it where it is too large)."""
    try:
        found = computed(shard_run, case)
    except tools.ToolError as failure:
        return np.inf, f"{case.name}: {failure}"
    if len(found) != len(wanted):
        return np.inf, f"{case.name}: {len(found)} results, expected {len(wanted)}"
    errors = [error(case, *pair) for pair in zip(wanted, found)]
    bad = [i for i, e in enumerate(errors) if e > TOLERANCE]
    lines = [
        f"{case.name}: result {i} is off by {errors[i]:.1e}\n{found[i]}\nexpected\n{wanted[i]}"
        for i in bad
    ]
    return max(errors), "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shard-opt", required=True)
    parser.add_argument("--shard-run", required=True)
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    args = parser.parse_args()

    cases = [case for case in all_cases() if args.only in case.name]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        outcomes = list(
            pool.map(
                lambda pair: check(args.shard_run, *pair),
                zip(cases, expected(args.shard_opt, cases)),
            )
        )
    failures = [line for _, line in outcomes if line]
    print("\n".join(failures), end="\n" if failures else "")
    worst, name = max((worst, case.name) for case, (worst, _) in zip(cases, outcomes))
    print(f"{len(cases)} cases, {len(failures)} differ; largest error {worst:.1e}, of {name}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
