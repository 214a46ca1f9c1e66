"""The workloads that are compared: models x machines x contexts, all in decode."""

import dataclasses
import itertools

from dims import cells
from dims.cells import MODELS

MACHINES = ("h100_sxm", "h200_sxm", "gb200")
CONTEXTS = (8192, 131072, 1000000)
DEVICES = 64
SLO = 50

# Those of which the gains over the uniform space were known beforehand.
KNOWN_MODELS = ("DeepSeek-V3", "Qwen3-235B", "Mixtral-8x22B", "gpt-oss-120b", "Llama-3.1-70B")
KNOWN_MACHINES = ("h100_sxm", "h200_sxm")
KNOWN_SLOS = (20, 50)


@dataclasses.dataclass(frozen=True, order=True)
class Cell(cells.Cell):
    slo: int = SLO

    @property
    def limit(self):
        return "slo-tpot-ms", self.slo

    @property
    def is_in_table(self):
        return self.slo == SLO

    @property
    def is_known(self):
        return self.model in KNOWN_MODELS and self.machine in KNOWN_MACHINES

    def __str__(self):
        return f"{super().__str__()}, {self.slo} ms"


def all_cells():
    """Every cell, in the order of the tables."""
    table = itertools.product(MODELS, CONTEXTS, MACHINES, (SLO,))
    known = itertools.product(KNOWN_MODELS, CONTEXTS, KNOWN_MACHINES, KNOWN_SLOS)
    return [
        Cell(model, "decode", context, machine, DEVICES, slo)
        for model, context, machine, slo in dict.fromkeys((*table, *known))
    ]
