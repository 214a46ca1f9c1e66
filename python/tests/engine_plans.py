"""Plans whose exports are shown to the engines' own parsers: models x machines x engines x
roles, on one to 32 nodes."""

import functools
import itertools
import os
import random
from pathlib import Path

import shardopt as so
import shardopt.deployments

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SHARDOPT_DATA", ROOT.parent / "shared/data"))

#: Of the machine, devices of a node.
MACHINES = {"h100_sxm": 8, "h200_sxm": 8, "b200_sxm": 8, "gb200": 4, "a100_sxm": 8, "mi300x": 8}
ENGINES = ("vllm", "sglang", "trtllm")
NODES = (1, 1, 1, 2, 2, 4, 8, 16, 32)
#: Services of models with more experts are searched on this many devices at most, as each
#: takes minutes on more. Phases, whose degrees are drawn, are on up to 32 nodes.
_MANY_EXPERTS, _MOST_SEARCHED = 64, 64
#: What is asked: requests of a service, or one phase with its degrees.
KINDS = ("aggregated", "disaggregated", "best", "rate", "decode", "prefill")


def configs():
    """Published configs by name."""
    found = [*(ROOT / "examples/configs").glob("[lq]*.json"), *(DATA / "configs").glob("*_config.json")]
    return {path.stem.removesuffix("_config"): path for path in sorted(found)}


@functools.lru_cache
def _experts(path):
    return so.load_model(path, so.Decode(context=1024)).experts


def _service(draw, kind, devices):
    load = draw.choice([(1024, 1024), (4096, 512), (8192, 1024), (512, 2048), (2000, 300)])
    asked = dict(isl=load[0], osl=load[1])
    if kind in ("aggregated", "disaggregated"):
        asked["mode"] = kind
    if kind == "rate":
        asked["rate"] = devices * draw.choice([0.02, 0.1])
    if draw.random() < 0.5:
        asked["tpot_ms"] = draw.choice([20, 50, 100])
    return asked


def _pins(draw, model, devices):
    """Degrees of one wide worker on `devices`."""
    pp = draw.choice([1, 1, 2, 4]) if devices >= 4 else 1
    each = devices // pp
    tp = draw.choice([size for size in (1, 2, 4, 8, 16) if each % size == 0])
    if not model.experts:
        return {"tp": min(each, 16), "pp": pp}
    dp = each // tp
    return {"tp": tp, "dp": dp, "ep": draw.choice([1, tp * dp]), "pp": pp,
            "exchange": draw.choice(["gather", "all_to_all"])}


def problems(seed=0):
    """Endless: a name and a problem each, which may have no plan."""
    draw, paths = random.Random(seed), configs()
    for number in itertools.count():
        name = draw.choice([*paths])
        machine = draw.choice([*MACHINES])
        engine, kind, nodes = draw.choice(ENGINES), draw.choice(KINDS), draw.choice(NODES)
        if engine == "trtllm" and machine == "mi300x":
            machine = "h200_sxm"
        devices = nodes * MACHINES[machine]
        if kind in ("decode", "prefill"):
            phase = so.Prefill(2048) if kind == "prefill" else so.Decode(context=4096)
            model = so.load_model(paths[name], phase)
            asked = {"pins": _pins(draw, model, devices)}
        else:
            if _experts(paths[name]) > _MANY_EXPERTS:
                devices = min(devices, _MOST_SEARCHED)
                nodes = devices // MACHINES[machine]
            asked = _service(draw, kind, devices)
            model = so.load_model(paths[name], so.Decode(context=asked["isl"] + asked["osl"]))
        key = f"{number} {name} {machine} {engine} {kind} {nodes}"
        yield key, paths[name], so.Problem(
            model, machine=machine, max_devices=devices, engine=engine, **asked
        )


def deployments(count):
    """A name, a config and a service each, of the first `count` problems with a plan."""
    found = []
    for key, config, problem in problems():
        try:
            plan = so.plan(problem)
        except so.ShardoptError:  # what was drawn does not go together
            continue
        try:
            found.append((key, config, so.deployments.deployment_of(plan)))
        except so.Inexpressible as error:
            found.append((key, config, error))
        if len(found) == count:
            return found
