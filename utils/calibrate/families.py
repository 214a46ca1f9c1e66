"""What is fitted: kernels, the tables that hold them, and their forms."""

import dataclasses
from typing import Callable, Sequence

import numpy as np

from . import attention, comm, gemm, mla, moe, tables


@dataclasses.dataclass
class Family:
    """One kernel of the machine files."""

    name: str
    table: str  # the file is <system>_<table>.csv.gz
    keys: Sequence[str]  # columns whose values have constants of their own
    sizes: Sequence[str]  # columns whose range is recorded
    shape: Sequence[str]  # columns that say which rows are held out together
    starts: Callable  # of a key
    predict: Callable  # of device, key, table, constants
    options: dict = dataclasses.field(default_factory=dict)
    prepare: Callable = lambda table: table
    measured: str = "latency_us"
    # Groups are small: each fifth of the rows is held out once, for the errors and
    # the band, and where the form has local optima, for a start of its own.
    is_scored_in_turn: bool = False
    starts_in_turn: bool = False

    def read(self, folder, system):
        """Its rows on `system`; None where nobody measured them."""
        table = tables.read_without_outliers(folder, f"{system}_{self.table}")
        return None if table is None else self.prepare(table)

    def groups(self, table):
        """Pairs of a key and its rows, in order of the keys."""
        columns = [table[name] for name in self.keys]
        keys = sorted(set(zip(*(column.tolist() for column in columns))))
        for values in keys:
            mask = np.all([column == value for column, value in zip(columns, values)], axis=0)
            yield dict(zip(self.keys, values)), table.rows(mask)


def _always(*starts):
    return lambda key: starts


def _exchange(way, sms):
    def prepare(table):
        table.columns["way"] = np.full(len(table), way)
        table.columns["between"] = (table["nodes"] > 1).astype(float)
        if sms:
            table.columns["sms"] = table[f"{way}_sms"]
        return table

    return prepare


def _exchanges():
    for name, sms in (("deepep_ll", False), ("deepep_normal", True)):
        for way in ("dispatch", "combine"):
            element = 1 if way == "dispatch" and not sms else 2
            yield Family(
                name,
                name,
                comm.EXCHANGE_KEYS,
                comm.EXCHANGE_SIZES,
                comm.EXCHANGE_SHAPE,
                lambda key, sms=sms: [comm.exchange_start(key["between"] > 0, sms)],
                lambda d, key, t, p, element=element: comm.predict_exchange(d, key, t, p, element),
                dict(steps=100),
                _exchange(way, sms),
                f"{way}_us",
                is_scored_in_turn=True,
            )


FAMILIES = [
    Family("gemm", "gemm", gemm.KEYS, gemm.SIZES, gemm.SHAPE, gemm.starts, gemm.predict, dict(rows=2500, steps=60)),
    Family("fp8_scale", "fp8_scale", ("dtype",), gemm.SCALE_SIZES, gemm.SCALE_SIZES, _always(gemm.SCALE_START), gemm.predict_scale),
    Family(
        "attn_context",
        "attn_context",
        attention.CONTEXT_KEYS,
        attention.CONTEXT_SIZES,
        attention.SHAPE,
        _always(attention.CONTEXT_START),
        attention.predict_context,
        dict(rows=1000),
        attention.with_keys,
    ),
    Family(
        "attn_generation",
        "attn_generation",
        attention.GENERATION_KEYS,
        attention.GENERATION_SIZES,
        attention.SHAPE,
        _always(attention.GENERATION_START),
        attention.predict_generation,
        dict(rows=1000),
        attention.with_keys,
    ),
    Family(
        "mla_context",
        "mla_context",
        mla.CONTEXT_KEYS,
        mla.CONTEXT_SIZES,
        mla.SHAPE,
        _always(mla.CONTEXT_START),
        mla.predict_context,
        dict(rows=1000),
    ),
    Family(
        "mla_generation",
        "mla_generation",
        mla.GENERATION_KEYS,
        mla.GENERATION_SIZES,
        mla.SHAPE,
        _always(mla.GENERATION_START),
        mla.predict_generation,
        dict(rows=1000),
    ),
    Family("moe", "moe", moe.KEYS, moe.SIZES, moe.SHAPE, _always(moe.START), moe.predict, dict(rows=2000, loss="cauchy")),
    Family(
        "nccl",
        "nccl",
        comm.NCCL_KEYS,
        comm.NCCL_SIZES,
        comm.NCCL_SHAPE,
        lambda key: list(comm.nccl_starts()),
        comm.predict_nccl,
        dict(steps=120),
        is_scored_in_turn=True,
    ),
    Family(
        "custom_allreduce",
        "custom_allreduce",
        comm.CUSTOM_KEYS,
        comm.CUSTOM_SIZES,
        ("line",),
        _always(*comm.CUSTOM_STARTS),
        comm.predict_custom,
        dict(steps=80),
        is_scored_in_turn=True,
        starts_in_turn=True,
    ),
    *_exchanges(),
]
