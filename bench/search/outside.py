"""Lets an optimiser of another project search, through a simulator on a pipe.

Runs in the virtual environment of the bench and writes one JSON line for every
strategy: how many were asked for, how many of them were new (not repeated, and
not of degrees that the simulator masks), and the best so far.
"""

import argparse
import json
import os

from .accounts import Account, Limits, loss
from .optimizers import OPTIMIZERS
from .server import Server


def environment(root):
    """The environment variables under which this module is found and runs alone
    on its core."""
    return {
        **os.environ,
        "PYTHONPATH": str(root / "bench"),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


class Space:
    """The variables of a search, as the server names them."""

    def __init__(self, space):
        self._degrees = {name: space[name] for name in ("tp", "ep", "pp", "batch")}
        self._dims = space["dims"]

    @property
    def sizes(self):
        """The number of values of every variable, the degrees first."""
        values = [*self._degrees.values(), *self._dims.values()]
        return [len(value) for value in values]

    def strategy(self, point):
        """The strategy of a tuple of indices."""
        indices = iter(point)
        degrees = {name: values[next(indices)] for name, values in self._degrees.items()}
        dims = {name: values[next(indices)] for name, values in self._dims.items()}
        return {**degrees, "dims": dims}


def search(server, optimizer, account, limits):
    """Yields what `account` records until it is spent."""
    space = Space(server.hello["space"])
    proposals = optimizer(space.sizes)
    point = next(proposals)
    while not account.is_spent:
        answer = server.evaluate(space.strategy(point))
        yield account.record(point, answer)
        point = proposals.send(loss(answer, limits))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--optimizer", choices=OPTIMIZERS, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--budget", type=int, required=True)
    parser.add_argument("--slo-ms", type=float, required=True)
    parser.add_argument("--memory-gb", type=float, required=True)
    parser.add_argument("--trace", required=True)
    parser.add_argument("server", nargs="+", help="the command of the simulator")
    args = parser.parse_args()

    make, asked_per_call = OPTIMIZERS[args.optimizer]
    server = Server(args.server)
    limits = Limits(args.slo_ms, args.memory_gb)
    account = Account(args.budget, asked_per_call * args.budget)
    with open(args.trace, "w") as trace:
        for line in search(
            server, lambda sizes: make(sizes, args.seed), account, limits
        ):
            trace.write(json.dumps(line) + "\n")
    server.close()


if __name__ == "__main__":
    main()
