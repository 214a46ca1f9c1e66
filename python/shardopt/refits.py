"""Constants of an engine on a machine after measurements, and the plan that follows."""

from __future__ import annotations

import json
import math
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, NamedTuple, Sequence

from . import gaussians
from .calibration import (
    OF_BAND,
    OF_CONSTANTS,
    Laboratory,
    Node,
    Study,
    deviation_of,
    fitted,
    started,
    study_of,
)
from .errors import Infeasible, ShardoptError
from .measurements import TIMES, Measurement, contradictions
from .problem import Problem
from .services import Service, given_role, plan_service

#: How many measurements the noise of predictions counts as that was known before.
_KNOWN = 4
#: Deviations from which on a measurement counts less, as in Huber's loss.
_FAR = 2.5


@dataclass(frozen=True)
class Refit:
    """What measurements say: constants, the plan, and what is left to lose."""

    study: Study
    used: tuple[Measurement, ...]
    left_out: tuple[tuple[Measurement, str], ...]
    """With why."""
    constants: Mapping[str, float]
    bands: Mapping[str, tuple[float, float]]
    """Of measured over predicted times of a worker that prefills and decodes."""
    shipped: Mapping[str, tuple[float, float]]
    """The same before."""
    errors: Mapping[str, tuple[float, float]]
    """Median absolute errors of the measured times, before and after, as shares."""
    regret: tuple[float, float]
    deviation: tuple[float, float]
    service: Service | None
    """The plan with the new constants; None: nothing meets the SLOs."""
    kept: float | None
    """What the plan before serves under them, as a share of the new plan; None: nothing."""
    machine: Mapping[str, Any]
    """The file of the machine."""

    def machine_text(self) -> str:
        return json.dumps(self.machine, indent=2) + "\n"


def refit(problem: Problem, measured: Sequence[Measurement]) -> Refit:
    """Constants that are likeliest after measurements, with those that ship as the prior,
    and the plan that follows."""
    service = started(problem)
    with tempfile.TemporaryDirectory() as folder:
        lab = Laboratory(service, folder)
        study, _ = study_of(lab)
        return _Fit(lab, study, measured).refit(problem)


class _Observed(NamedTuple):
    measurement: Measurement
    name: str
    log_ms: float


class _Fit:
    """A fit of constants, in logarithms: least squares with the prior as further rows, in
    which measurements that are far off count less."""

    def __init__(self, lab: Laboratory, study: Study, measured: Sequence[Measurement]):
        self.lab, self.study = lab, study
        self.left_out: list[tuple[Measurement, str]] = []
        self.rows = self._usable(measured)
        if not self.rows:
            why = "; ".join(f"{each.name}: {why}" for each, why in self.left_out)
            raise ShardoptError(f"no measurement can be used{': ' if why else ''}{why}")
        self.noise = dict(study.noise)

    def _usable(self, measured: Sequence[Measurement]) -> list[_Observed]:
        here = self.lab.node(self.lab.here)
        rows: list[_Observed] = []
        known = []
        for each in measured:
            try:
                times = here.log_times(each)
                why = "its worker has no room"
            except ShardoptError as error:
                times, why = None, str(error)
            if times is None:
                self.left_out.append((each, why))
            else:
                known.append((each, times))
        for name in TIMES:
            having = [(each, times[name]) for each, times in known if name in each.times]
            ratios = [each.times[name] / math.exp(log) for each, log in having]
            wrong = dict(contradictions(ratios))
            for i, (each, _) in enumerate(having):
                if i in wrong:
                    said = f"{name[:4].upper()} is {each.times[name]:.4g} ms, {wrong[i]:.0f} times off the others"
                    self.left_out.append((each, said))
                else:
                    rows.append(_Observed(each, name, math.log(each.times[name])))
        return rows

    def _predicted(self, at: Sequence[float]) -> list[float]:
        node = self.lab.node(at)
        known: dict[Measurement, Any] = {}
        found = []
        for row in self.rows:
            if row.measurement not in known:
                known[row.measurement] = node.log_times(row.measurement)
            times = known[row.measurement]
            found.append(times[row.name] if times else math.nan)
        return found

    def _slopes(self, at: Sequence[float]) -> list[list[float]]:
        known = {row.measurement: self.lab.slopes(at, row.measurement) for row in self.rows}
        return [known[row.measurement][row.name] for row in self.rows]

    def _weights(self, rest: Sequence[float]) -> list[float]:
        """Of each row, by its deviation; far ones count less."""
        found = []
        for row, off in zip(self.rows, rest):
            noise = self.noise[row.name]
            found.append(min(1.0, _FAR * noise / max(abs(off), 1e-12)) / noise**2)
        return found

    def _normal(self, slopes: gaussians.Matrix, weights: Sequence[float]) -> list[list[float]]:
        """The inverse of the covariance."""
        size = range(len(self.lab.here))
        found = [
            [sum(w * row[i] * row[j] for w, row in zip(weights, slopes)) for j in size] for i in size
        ]
        for i, deviation in enumerate(self.lab.constants.deviations):
            found[i][i] += 1 / deviation**2
        return found

    def fit(self) -> tuple[list[float], list[list[float]], list[float]]:
        """Shifts of the constants, their covariance, and what is left of each row."""
        at = self.lab.here
        for _ in range(2):
            slopes, predicted, shifts = self._slopes(at), self._predicted(at), at
            for _ in range(5):  # linear around `at`, with new weights
                moved = [b - a for a, b in zip(at, shifts)]
                rest = [
                    row.log_ms - log - gaussians.dot(slope, moved)
                    for row, log, slope in zip(self.rows, predicted, slopes)
                ]
                weights = self._weights(rest)
                aimed = [r + gaussians.dot(s, shifts) for r, s in zip(rest, slopes)]
                right = [sum(w * a * s[i] for w, a, s in zip(weights, aimed, slopes))
                         for i in range(len(at))]
                shifts = gaussians.solved(self._normal(slopes, weights), right)
            at = shifts
        rest = [row.log_ms - log for row, log in zip(self.rows, self._predicted(at))]
        self._learn_noise(rest)
        normal = self._normal(self._slopes(at), self._weights(rest))
        size = range(len(at))
        covariance = [gaussians.solved(normal, [1.0 if i == j else 0.0 for i in size]) for j in size]
        return at, covariance, rest

    def _learn_noise(self, rest: Sequence[float]) -> None:
        """What was known of the noise counts as a few measurements."""
        for name, noise in self.noise.items():
            own = [off for row, off in zip(self.rows, rest) if row.name == name]
            far = _FAR * noise
            squares = sum(min(off**2, far * abs(off)) for off in own)
            self.noise[name] = math.sqrt((_KNOWN * noise**2 + squares) / (_KNOWN + len(own)))

    def refit(self, problem: Problem) -> Refit:
        before = self._predicted(self.lab.here)
        at, covariance, rest = self.fit()
        constants = self.lab.constants.at(at)
        lab, study = self.lab, self.study
        prior = gaussians.diagonal(lab.constants.deviations)
        bands = self._bands(at, covariance)
        report = lab.node(lab.here).worker(self.rows[0].measurement)
        assert report
        means = report[report["mode"]]
        shipped = {
            name: (means[f"{name}_range"][0] / means[name], means[f"{name}_range"][1] / means[name])
            for name in bands
        }
        used = tuple(dict.fromkeys(row.measurement for row in self.rows))
        options = {name: float(f"{value:.4g}") for name, value in constants.items()}
        for name, (low, high) in {**bands, **self._apart(bands)}.items():
            stem = name.removesuffix("_ms")
            options[f"{stem}_low"], options[f"{stem}_high"] = low, high
        model = study.service.problem.model.name
        data = f"{len(used)} measurements of {model}, {lab.engine}"
        machine = fitted(lab.file, lab.engine, options, data)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "machine.json")
            path.write_text(json.dumps(machine), encoding="utf-8")
            node = Node(study.service.problem, lab.engine, str(path))
            old = node.worth(study.layouts[0].roles)
            try:
                service: Service | None = plan_service(problem.replace(machine=str(path), engine=lab.engine))
            except Infeasible:
                service = None
            kept = None
            if service is not None and old is not None:
                new = node.worth({role.name: given_role(role) for role in service.roles})
                kept = math.exp(old - new) if new is not None else None
        return Refit(
            study, used, tuple(self.left_out), constants, bands, shipped,
            {name: (_median(self._of(name, [r.log_ms - b for r, b in zip(self.rows, before)])),
                    _median(self._of(name, rest))) for name in TIMES},
            (study.regret(prior, prior), study.regret(covariance, covariance, at)),
            (study.deviation(prior), study.deviation(covariance)), service, kept, machine,
        )

    def _of(self, name: str, values: Sequence[float]) -> list[float]:
        return [abs(math.expm1(-off)) for row, off in zip(self.rows, values) if row.name == name]

    def _bands(self, at: Sequence[float], covariance: gaussians.Matrix) -> dict[str, tuple[float, float]]:
        """What 80 % of runs are within, measured over predicted: of the noise, and of what
        is not known of the constants, at the median of the measurements."""
        found = {}
        slopes = self._slopes(at)
        for name in TIMES:
            own = [
                gaussians.variance(covariance, slope)
                for row, slope in zip(self.rows, slopes) if row.name == name
            ]
            if not own:
                continue
            width = OF_BAND * math.sqrt(statistics.median_high(own) + self.noise[name] ** 2)
            found[name] = _ends(width)
        return found

    def _apart(self, bands: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
        """The same of disaggregated services, whose runs nobody measured: the variance of
        the shipped bands less what measurements took off that of one worker."""
        apart = self.study.service.report.get("disaggregated")
        if not isinstance(apart, dict):
            return {}
        found = {}
        for name, ends in bands.items():
            shipped = self.study.noise[name] / math.sqrt(1 - OF_CONSTANTS)
            own = deviation_of(apart[f"{name}_range"])
            square = own**2 - shipped**2 + deviation_of(ends) ** 2
            width = OF_BAND * math.sqrt(max(square, deviation_of(ends) ** 2))
            found[f"disagg_{name}"] = _ends(width)
        return found


def _ends(width: float) -> tuple[float, float]:
    """A band around 1, as far in logarithms on either side."""
    return float(f"{math.exp(-width):.3g}"), float(f"{math.exp(width):.3g}")


def _median(values: Sequence[float]) -> float:
    return statistics.median_high(values) if values else math.nan
