#!/usr/bin/env python3
"""Prints where the time of the last test run went, and how many tests passed.

    utils/slowest_tests.py BUILD [--most 10]

Tests are those of lit, by file, and the others of ctest. lit keeps its seconds in
BUILD/test/.lit_test_times.txt, ctest in BUILD/Testing/Temporary/LastTest.log.
"""

import argparse
import pathlib
import re
import sys

TIME = re.compile(r"^Test time = +([0-9.]+) sec", re.MULTILINE)
NAME = re.compile(r"^[0-9]+/[0-9]+ Testing: (\S+)", re.MULTILINE)
FAILED = re.compile(r"^Test Failed\.", re.MULTILINE)


def read_ctest(log: str) -> dict[str, tuple[float, bool]]:
    """Seconds of each test in the order of the log, and whether it passed."""
    found = {}
    starts = [match.start() for match in NAME.finditer(log)] + [len(log)]
    for start, end in zip(starts, starts[1:]):
        part = log[start:end]
        name, time = NAME.match(part), TIME.search(part)
        if name and time:
            found[name[1]] = float(time[1]), not FAILED.search(part)
    return found


def read_lit(times: str) -> dict[str, float]:
    """Seconds of each file; lit marks those that failed by a sign."""
    rows = (line.split(maxsplit=1) for line in times.splitlines() if line.strip())
    return {f"lit/{name}": abs(float(seconds)) for seconds, name in rows}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="build folder")
    parser.add_argument("--most", type=int, default=10, help="rows (default: 10)")
    args = parser.parse_args()
    log = args.build / "Testing/Temporary/LastTest.log"
    if not log.is_file():
        print(f"{log} is not there: no test has run", file=sys.stderr)
        return 1
    ran = read_ctest(log.read_text(errors="replace"))
    times = {name: seconds for name, (seconds, _) in ran.items()}
    kept = args.build / "test/.lit_test_times.txt"
    if kept.is_file():
        suites = {name for name in times if name.startswith("lit/")}
        for name, seconds in read_lit(kept.read_text()).items():
            if "/".join(name.split("/")[:2]) in suites:
                times[name] = seconds
        for suite in suites:
            del times[suite]
    print(f"\nThe {args.most} slowest of {len(times)} tests, seconds:")
    for name in sorted(times, key=lambda name: -times[name])[: args.most]:
        print(f"  {times[name]:8.1f}  {name}")
    passed = sum(is_passed for _, is_passed in ran.values())
    print(f"{passed} passed, {len(ran) - passed} failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
