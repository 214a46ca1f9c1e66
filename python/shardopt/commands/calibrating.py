"""The verb that measures: calibrate."""

from __future__ import annotations

import argparse
import dataclasses
import math
from pathlib import Path
from typing import Any, Mapping

from ..answers import inputs_of, print_json
from ..asked import one_problem
from ..border import check_outputs, write_whole
from ..calibration import Proposals, propose
from ..deployments.folder import write_folder
from ..deployments.measuring import files_of
from ..errors import ShardoptError
from ..exits import FEASIBLE, INFEASIBLE
from ..measurements import TIMES, read_measurements
from ..refits import Refit, refit
from ..service_parts import layout_of
from ..service_tables import three
from ..services import Service
from ..shell import as_path, command_line
from ..tables import counted, fitted, rows_as_table

#: What `calibrate --answers` writes into its folder.
MACHINE, PLAN = "machine.json", "service.json"


def calibrate_verb(args: argparse.Namespace) -> int:
    problem = one_problem(args)
    if args.answers is None:
        return _propose(args, propose(problem, args.measurements))
    service = problem
    assert service.isl and service.osl or not service.is_service
    measured = read_measurements(args.answers, service.isl or 1, service.osl or 1)
    if not measured:
        raise ShardoptError(f"'{args.answers}' has no times, expected tpot_ms or ttft_ms of a measurement")
    place = Path(args.output_dir) if args.output_dir else None
    inputs = [*inputs_of(args, [problem]), args.answers]
    if place:
        check_outputs([place / MACHINE, place / PLAN], inputs)
    found = refit(problem, measured)
    if place:
        place.mkdir(parents=True, exist_ok=True)
        write_whole(place / MACHINE, found.machine_text(), inputs)
        found = _planned_again(found, problem, place, args, inputs)
    if args.format == "json":
        print_json(_refit_row(found, place))
    else:
        print(_refit_text(found, place, args))
    return FEASIBLE if found.service is not None else INFEASIBLE


def _planned_again(found: Refit, problem: Any, place: Path, args: Any, inputs: Any) -> Refit:
    """The plan on the machine of the file that was written, kept there too."""
    if found.service is None:
        return found
    again = found.service.problem.replace(machine=str(place / MACHINE))
    service = dataclasses.replace(found.service, problem=again, command=args.words)
    service.to_json(place / PLAN, inputs)
    return dataclasses.replace(found, service=service)


def _propose(args: argparse.Namespace, found: Proposals) -> int:
    paths = write_folder(args.output_dir, files_of(found)) if args.output_dir else []
    if args.format == "json":
        print_json({
            "regret": found.regret, "deviation": found.deviation,
            "measurements": found.rows(), "files": [str(path) for path in paths],
        })
        return FEASIBLE
    servers = len({each.layout for each in found.measurements})
    print(_heads([
        ("plan", _said(found.study.service)),
        ("regret", f"{_share(found.regret)} of its throughput is expected to be lost to another of "
                   f"{counted(len(found.study.layouts), 'layout')}"),
        ("measure", f"{counted(len(found.proposals), 'load')} in {counted(servers, 'server')}, "
                    "the one that tells most first"),
    ]))
    print(rows_as_table([_proposal_row(row) for row in found.rows()]))
    if paths:
        words = ["sh", as_path(str(Path(args.output_dir, "measure.sh")))]
        again = [*args.words, "--answers", as_path(args.output_dir)]
        print(f"\n  measure     {command_line(words)}")
        print(f"  next        {command_line(again)}")
    else:
        print("\n  next        the same with --output-dir DIR, for the commands")
    return FEASIBLE


def _proposal_row(row: Mapping[str, Any]) -> dict[str, Any]:
    degrees = [f"{name} {row[name]}" for name in ("tp", "dp", "ep", "pp", "cp")
               if name == "tp" or row[name] > 1]
    return {
        "name": row["name"], "worker": " ".join(degrees), "gpus": row["gpus"],
        "in_flight": row["concurrency"],
        **{name: three(row[f"expected_{name}"]) for name in TIMES},
        "regret after": _share(row["regret"]), "interval after": f"± {_share(row['deviation'])}",
    }


def _said(service: Service) -> str:
    roles = " + ".join(f"{role.workers} x {layout_of(role.strategy)}" for role in service.roles)
    return f"{service.mode}, {roles}, {three(service.metrics.tokens_per_s_per_gpu)} tokens/s per GPU"


def _share(value: float) -> str:
    return f"{100 * value:.2g} %"


def _heads(rows: "list[tuple[str, str]]") -> str:
    return fitted("\n".join(f"  {name:<12}{text}" for name, text in rows) + "\n")


def _band(ends: "tuple[float, float]") -> str:
    return f"{ends[0]:.3g} to {ends[1]:.3g}"


def _bands_before(found: Refit) -> dict[str, tuple[float, float]]:
    return dict(found.shipped)


def _refit_row(found: Refit, place: "Path | None") -> dict[str, Any]:
    return {
        "used": [each.name for each in found.used],
        "left_out": {each.name: why for each, why in found.left_out},
        "constants": {name: {"before": found.study.constants.values[name], "after": value}
                      for name, value in found.constants.items()},
        "intervals": {name: {"before": _bands_before(found)[name], "after": ends}
                      for name, ends in found.bands.items()},
        "median_errors": {name: {"before": ends[0], "after": ends[1]}
                          for name, ends in found.errors.items() if not math.isnan(ends[0])},
        "regret": {"before": found.regret[0], "after": found.regret[1]},
        "kept": found.kept,
        "machine": dict(found.machine),
        "file": str(place / MACHINE) if place else None,
        "service": found.service.to_dict() if found.service else None,
    }


def _refit_text(found: Refit, place: "Path | None", args: argparse.Namespace) -> str:
    rows = [("fit", f"{counted(len(found.used), 'measurement')}, {len(found.left_out)} left out")]
    rows += [("left out", f"{each.name}: {why}") for each, why in found.left_out]
    for name, (before, after) in found.errors.items():
        if math.isnan(before):
            continue
        low, high = _bands_before(found)[name]
        rows.append((name[:4].upper(), f"median error {_share(before)}, now {_share(after)}; 80 % of runs at "
                     f"{_band((low, high))} of the prediction, now {_band(found.bands[name])}"))
    constants = [
        {"constant": name, "before": three(found.study.constants.values[name]), "now": three(value)}
        for name, value in found.constants.items()
    ]
    head = _heads(rows) + rows_as_table(constants) + "\n\n"
    old = found.study.service
    rows = [("plan before", _said(old)), ("plan", _said(found.service) if found.service else
                                          "none: no service meets the SLOs with these constants")]
    if found.service is not None:
        lost = "serves nothing within the SLOs now" if found.kept is None else (
            "is still the best" if found.kept > 0.999 else f"loses {_share(1 - found.kept)}")
        rows.append(("", f"the plan before {lost}"))
    rows.append(("regret", f"{_share(found.regret[0])} was expected, {_share(found.regret[1])} is left"))
    if place:
        rows.append(("machine", str(place / MACHINE)))
        if found.service is not None:
            rows.append(("service", str(place / PLAN)))
        rows.append(("next", f"--machine {as_path(str(place / MACHINE))} in every command"))
    else:
        rows.append(("next", "the same with --output-dir DIR, for the machine's file and the plan"))
    return head + _heads(rows).rstrip("\n")
