"""Fits forms to tables made from known constants: with noise of 5 %, and one row
in fifty ten times too slow. Held-out shapes must come out within the noise."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "utils"))

import numpy as np  # noqa: E402
from calibrate import attention, comm, fitting, gemm, tables  # noqa: E402
from calibrate.device import Device  # noqa: E402

DEVICE = Device(
    {
        "name": "made-up",
        "compute": {"bf16_flops_per_s": 500e12, "sms": 100},
        "memory": {"bandwidth_bytes_per_s": 2e12, "cache_bytes": 30e6},
        "domain": {"bandwidth_bytes_per_s": 300e9},
        "network": {"bandwidth_bytes_per_s": 30e9},
    }
)


def grid(random, **choices):
    return tables.Table({name: random.choice(np.array(values, float), 1200) for name, values in choices.items()})


def check(name, table, shape, starts, truth, predict):
    random = np.random.default_rng(7)
    exact = predict(table, truth)
    measured = exact * np.exp(random.normal(0, 0.05, len(exact)))
    measured[random.random(len(exact)) < 0.02] *= 10
    test = tables.held_out(table, shape)
    assert 0.05 < test.mean() < 0.5, test.mean()
    fits = [
        fitting.fit_best(predict, table.rows(~test), measured[~test], starts, steps=40) for _ in range(2)
    ]
    assert fits[0] == fits[1], "the same rows must give the same constants"
    away = np.abs(predict(table.rows(test), fits[0]) / exact[test] - 1)
    print(f"{name}: {100 * np.median(away):.1f} / {100 * away.mean():.1f} %")
    assert np.median(away) < 0.03 and away.mean() < 0.06, (name, fits[0])


random = np.random.default_rng(1)
sizes = [64, 256, 512, 1024, 2048, 4096, 8192, 16384]
check(
    "gemm",
    grid(random, m=[1, 8, 16, 64, 200, 1000, 4096], n=sizes, k=sizes),
    gemm.SHAPE,
    [gemm.START],
    dict(t0=4, ec=0.7, eb=4, em=0.8, h=1, l2=0.2, wa=1, wc=1, ts=3),
    lambda t, p: gemm.predict(DEVICE, {"dtype": "bfloat16"}, t, p),
)
check(
    "attn_context",
    grid(random, batch=[1, 2, 8, 32], heads=[4, 8, 32, 64], kv_heads=[1, 2, 4], head_dim=[128], window=[0], seq_len=[16, 128, 1000, 4096, 9000]),
    attention.SHAPE,
    [attention.CONTEXT_START],
    dict(t0=9, ec=0.5, cr=0.8, co=2, me=2, c1=20, tau=150),
    lambda t, p: attention.predict_context(DEVICE, {}, t, p),
)
check(
    "custom_allreduce",
    grid(random, gpus=[2, 4, 8], bytes=[2.0**i for i in range(8, 30)]),
    comm.NCCL_SHAPE,
    comm.CUSTOM_STARTS,
    dict(f0=2, y0=1.1, a0=3, b0=0.4, e0=0.6, a1=6, b1=1, e1=0.5, a2=30, b2=2, e2=0.9, x2=1.2),
    lambda t, p: comm.predict_custom(DEVICE, {}, t, p),
)
