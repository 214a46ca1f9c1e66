"""Robust least squares of logarithms over positive constants."""

import numpy as np
from scipy.optimize import least_squares

SEED = 20260822  # of the sample of rows that a fit sees


def fit(predict, table, measured, start, rows=1500, loss="soft_l1", scale=0.05, steps=40):
    """The constants near `start` (name -> number above 0) with which
    `predict(table, constants)` comes closest to `measured`."""
    if len(table) > rows:
        chosen = np.random.default_rng(SEED).choice(len(table), rows, replace=False)
        chosen.sort()
        table, measured = table.rows(chosen), measured[chosen]
    names = list(start)
    first = np.log([start[name] for name in names])
    logs = np.log(measured)

    def residuals(point):
        predicted = predict(table, dict(zip(names, np.exp(point))))
        return np.clip(np.nan_to_num(np.log(predicted) - logs, nan=10), -10, 10)

    best = least_squares(
        residuals,
        first,
        loss=loss,
        f_scale=scale,
        max_nfev=steps,
        bounds=(first - 6, first + 6),
    )
    return {name: float(f"{value:.4g}") for name, value in zip(names, np.exp(best.x))}


def fit_best(predict, table, measured, starts, **options):
    """The best fit of several starts; for forms that have local optima."""
    fits = [fit(predict, table, measured, start, **options) for start in starts]
    if len(fits) == 1:
        return fits[0]

    def lost(p):
        return np.mean(np.minimum(np.abs(np.log(predict(table, p) / measured)), 0.3))

    return min(fits, key=lost)


def errors(measured, predicted):
    """Absolute percentage errors (median, mean) and the 10 and 90 % quantiles
    of measured over predicted."""
    ratio = measured / predicted
    relative = np.abs(predicted / measured - 1) * 100
    return {
        "rows": int(len(measured)),
        "median_percent": round(float(np.median(relative)), 2),
        "mean_percent": round(float(np.mean(relative)), 2),
        "low": round(float(np.quantile(ratio, 0.1)), 3),
        "high": round(float(np.quantile(ratio, 0.9)), 3),
    }
