"""Fits the constants of machines/*.json to tables of measured latencies.

The tables (docs/Calibration.md names them) stay where they are: only constants,
their errors on rows that were held out, and the range of sizes that they were
fitted on are written. The same tables give the same bytes.
"""

import argparse
import datetime
import pathlib
import sys

import numpy as np

from . import fitting, machines, tables
from .device import Device
from .families import FAMILIES

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYSTEMS = ("a100_sxm", "b200_sxm", "gb200", "h100_sxm", "h200_sxm")
LEAST_ROWS = 30  # a group of fewer takes the constants of its neighbours


def fit_group(family, device, key, table):
    """One entry of a machine file."""
    measured = table[family.measured]

    def predict(rows, constants):
        return family.predict(device, key, rows, constants)

    starts = list(family.starts(key))
    unseen = np.full(len(table), np.nan)
    fits = []
    for which in range(tables.SHARE if family.is_scored_in_turn else 1):
        test = tables.held_out(table, family.shape, which)
        fits.append(fitting.fit_best(predict, table.rows(~test), measured[~test], starts, **family.options))
        unseen[test] = predict(table.rows(test), fits[-1])
    seen = np.isfinite(unseen)
    error = fitting.errors(measured[seen], unseen[seen]) if seen.any() else None
    steps = {**family.options, "steps": 20}
    chosen = fits if family.starts_in_turn else fits[:1]
    constants = fitting.fit_best(predict, table, measured, chosen, **steps)
    return {
        "kernel": family.name,
        "key": key,
        "constants": constants,
        "held_out": error,
        "range": {name: [float(np.min(table[name])), float(np.max(table[name]))] for name in family.sizes},
    }


def fit_system(folder, device, kernels):
    groups = []
    for family in FAMILIES:
        if kernels and family.name not in kernels:
            continue
        table = family.read(folder, device.name)
        if table is None:
            continue
        for key, rows in family.groups(table):
            if len(rows) < LEAST_ROWS:
                continue
            group = fit_group(family, device, key, rows)
            groups.append(group)
            error = group["held_out"] or {}
            print(
                f"{device.name} {family.name} {' '.join(map(str, key.values()))}: {len(rows)} rows, held out "
                f"{error.get('median_percent')} / {error.get('mean_percent')} %",
                file=sys.stderr,
                flush=True,
            )
    return groups


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "../shared/data/silicon")
    parser.add_argument("--machines", type=pathlib.Path, default=ROOT / "machines")
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="of the fit, for the files")
    parser.add_argument("--system", action="append", help="default: all that have tables")
    parser.add_argument("--kernel", action="append", help="keep the constants of all others")
    args = parser.parse_args()
    if not args.data.is_dir():
        sys.exit(f"{args.data}: no such folder; --data says where the tables are")
    for system in args.system or SYSTEMS:
        path = args.machines / f"{system}.json"
        groups = fit_system(args.data, Device.load(path), args.kernel)
        order = [family.name for family in FAMILIES]
        machines.write(path, groups, args.date, tables.DATA_COMMIT, order, args.kernel)


if __name__ == "__main__":
    main()
