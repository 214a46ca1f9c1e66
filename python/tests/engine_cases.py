"""Services whose commands the engines' own parsers have been asked about."""

import dataclasses
import itertools
from pathlib import Path

import shardopt as so
from shardopt import deployments as d
from shardopt.deployments import planned
from shardopt.deployments.shell import role_script
from shardopt.engine_table import longest_of
from shardopt.server_memory import ServerMemory

CONFIGS = Path(__file__).resolve().parents[2] / "examples/configs"
DENSE, EXPERTS = "llama-3.1-70b", "qwen3-235b-a22b"

#: Degrees by config: (tp, ranks, ep, pp), and devices of a node.
LAYOUTS = {
    DENSE: [(1, 1, 1, 1), (8, 1, 1, 1), (4, 1, 1, 2), (8, 1, 1, 2), (16, 1, 1, 1), (4, 1, 1, 3)],
    EXPERTS: [
        (8, 1, 1, 1), (4, 1, 4, 1), (4, 2, 8, 1), (1, 8, 8, 1), (2, 16, 32, 1), (4, 6, 24, 1),
        (4, 1, 1, 3), (16, 1, 16, 1), (8, 2, 16, 2),
    ],
}
#: What else flags say: requests in flight of a rank, exchange, types.
WAYS = [
    {"each": 16, "gathers": True},
    {"each": 300, "gathers": False, "batched_tokens": 2048},
    {"each": 3000, "gathers": True},
    {"each": 9000, "gathers": False},
    {"each": 700, "gathers": True, "cache_type": "fp8", "memory": ServerMemory(30, 20, 72, 1)},
]


def cases():
    """The name of each case, its role, its config, and the script of a node."""
    for config in LAYOUTS:
        facts = _facts(config)
        for engine in ("vllm", "sglang"):
            for layout, (number, way) in itertools.product(LAYOUTS[config], enumerate(WAYS)):
                for name in ("serve",) if number else ("serve", "prefill", "decode"):
                    role = _role(name, layout, **way)
                    made = d.Deployment("m", config, "m", engine, "", (role,),
                                        d.Load(1024, 256, 64), 8192, facts)
                    key = f"{engine} {config} {name} {layout} {way}"
                    yield key, made, role, CONFIGS / f"{config}.json", role_script(made, role)


def programs():
    """The name of each command beside those of workers: its words, and what its own parser
    must make of them."""
    facts = {**_facts(DENSE), "phase": planned.BOTH}
    copies = (_role("serve", (4, 1, 1, 1), 64),)
    split = (_role("prefill", (2, 1, 1, 1), 1), _role("decode", (4, 1, 1, 1), 64))
    for engine, (number, roles), rate in itertools.product(
        ("vllm", "sglang", "trtllm"), enumerate((copies, split)), (None, 2.5)
    ):
        roles = tuple(dataclasses.replace(role, workers=3) for role in roles)
        load = d.Load(1024, 256, 64, rate)
        made = d.Deployment("m", DENSE, "m", engine, "", roles, load, 8192, facts)
        key = f"{engine} {'split' if number else 'copies'} {rate or 'in flight'}"
        sent = {"input": 1024, "output": 256, "rate": rate or "inf",
                "concurrency": None if rate else 64}
        yield f"{key} client", d.routing.benchmark_command(made, "http://host1:8000"), sent
        workers = {role.name: [(f"http://host{n}:8100", "5600") for n in range(role.workers)]
                   for role in roles}
        found = {role: [url for url, _ in said] for role, said in workers.items()}
        is_file = "config" in made.router
        wanted = {"config": "router.yaml"} if is_file else {"port": 8000, **found}
        yield f"{key} router", d.routing.router_command(made, workers, 8000), wanted
        for role in roles:
            degrees = {"tp": role.tp, "dp": 1, "pp": 1, "cp": 1}
            yield f"{key} dynamo {role.name}", d.dynamo.worker_words(made, role), degrees


def _facts(config):
    model = so.load_model(CONFIGS / f"{config}.json", so.Decode(context=4096))
    return planned.model_facts(model, longest_of(model))


def _role(name, layout, each, **others):
    tp, ranks, ep, pp = layout
    return d.Role(name, 1, tp, each * ranks, ranks, ep, pp, **others)


def meaning(role):
    """What an engine must make of the command of a role."""
    return {"tp": role.tp, "dp": role.ranks, "ep": role.ep, "pp": role.pp, "cp": role.cp,
            "devices": role.devices}


def commands(script):
    """The lines of a script that an engine reads."""
    return [line for line in script.splitlines()
            if line.startswith(("exec ", "export ", "[ ")) and "SIDE_CHANNEL" not in line]
