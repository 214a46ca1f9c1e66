"""Normal distributions of a few numbers: draws, and what measurements leave of them."""

from __future__ import annotations

import functools
import math
import random
from typing import Sequence

Vector = Sequence[float]
Matrix = Sequence[Vector]


def dot(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(one, other))


def times(matrix: Matrix, vector: Vector) -> list[float]:
    return [dot(row, vector) for row in matrix]


def root(matrix: Matrix) -> list[list[float]]:
    """The lower triangle whose square is a matrix without negative variances; a number
    that others determine has a column of zeros."""
    size = len(matrix)
    found = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            rest = matrix[i][j] - dot(found[i][:j], found[j][:j])
            if i == j:
                found[i][i] = math.sqrt(rest) if rest > 1e-12 * abs(matrix[i][i]) else 0.0
            elif found[j][j] > 0:
                found[i][j] = rest / found[j][j]
    return found


def solved(matrix: Matrix, vector: Vector) -> list[float]:
    """x of matrix x = vector, for a matrix with a positive root."""
    low, size = root(matrix), len(vector)
    found = list(vector)
    for i in range(size):
        found[i] = (found[i] - dot(low[i][:i], found[:i])) / low[i][i]
    for i in reversed(range(size)):
        found[i] = (found[i] - sum(low[k][i] * found[k] for k in range(i + 1, size))) / low[i][i]
    return found


def variance(covariance: Matrix, direction: Vector) -> float:
    """Of the numbers' sum with the weights `direction`."""
    return max(0.0, dot(direction, times(covariance, direction)))


def diagonal(deviations: Vector) -> list[list[float]]:
    """The covariance of independent numbers."""
    return [[d * d if i == j else 0.0 for j in range(len(deviations))] for i, d in enumerate(deviations)]


def after(covariance: Matrix, direction: Vector, deviation: float) -> list[list[float]]:
    """What a measurement of a sum with the weights `direction` leaves."""
    gain = times(covariance, direction)
    scale = 1 / (dot(direction, gain) + deviation * deviation)
    return [[value - gain[i] * gain[j] * scale for j, value in enumerate(row)]
            for i, row in enumerate(covariance)]


@functools.lru_cache(maxsize=8)
def draws(size: int, count: int, seed: int) -> Matrix:
    """Independent standard normal numbers, in pairs of opposite signs."""
    rng = random.Random(seed)
    found = []
    for _ in range((count + 1) // 2):
        one = [rng.gauss(0, 1) for _ in range(size)]
        found += [one, [-value for value in one]]
    return found[:count]
