"""Weights cut in two dims, which no plan has: what their exchange would take.

A gated FFN over n = n1 * n2 devices, each matrix cut over n1 along its input and
over n2 along its output. By the formulas of the cost model's collectives; beside
it the cheapest exchange of one dim: an all-reduce, or a gather and a scatter.
"""

import sys

from dims.cells import ROOT

sys.path.append(str(ROOT / "test" / "Reference"))

from cost.machines import MACHINES  # noqa: E402
from cost.network import Network  # noqa: E402

# Hidden size and width of the FFN.
SIZES = {"Llama-3.1-70B": (8192, 28672), "Llama-3.1-405B": (16384, 53248)}
DEVICES = (8, 16, 32, 64)
ROWS = (64, 256, 1024, 8192)
SHOWN_MACHINES = ("h100_sxm", "gb200")
ELEMENT = 2  # bytes


def one_dim(network, rows, hidden, n):
    volume = rows * hidden * ELEMENT
    return min(network.all_reduce(volume, n), 2 * network.all_gather(volume, n))


def two_dims(network, rows, hidden, width, n):
    """The best way to split n, each part with the neighbours or the others."""

    def seconds(n1, n2, stride1, stride2):
        def volume(columns):
            return rows * columns * ELEMENT

        return (
            network.all_gather(volume(hidden / n1), n2, stride2)
            + network.reduce_scatter(volume(2 * width / n2), n1, stride1)
            + network.all_gather(volume(width / n2), n1, stride1)
            + network.reduce_scatter(volume(hidden / n1), n2, stride2)
        )

    splits = [(n1, n // n1) for n1 in range(2, n) if n % n1 == 0]
    return min(
        min(seconds(n1, n2, 1, n1), seconds(n1, n2, n2, 1)) for n1, n2 in splits
    )


def ratio(model, machine, n, rows):
    """Time of two dims over that of one: above 1 they lose."""
    network = Network(MACHINES[machine])
    hidden, width = SIZES[model]
    return two_dims(network, rows, hidden, width, n) / one_dim(network, rows, hidden, n)
