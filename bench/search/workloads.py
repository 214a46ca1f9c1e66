"""The workloads: a model, a context, an SLO and the simulator that answers."""

import dataclasses
import json

from dims import cells

MACHINE = "h100_sxm"
# What `exact` can open, so that it proves an optimum.
OPEN = ("roofline", "calibrated")


@dataclasses.dataclass(frozen=True)
class Workload:
    """One search problem."""

    name: str
    config: str
    context: int
    slo_ms: int  # of a token in decode, of the first token in prefill
    simulator: str = "roofline"
    max_devices: int = 0  # no limit
    machine: str = MACHINE
    phase: str = "decode"
    most_calls: int = 0  # that a search may take; 0: the budget of the bench

    def budget(self, usual):
        """The calls of a search that has `usual` elsewhere."""
        return min(usual, self.most_calls or usual)

    @property
    def key(self):
        """What identifies it in a table of results, as text."""
        return (self.name, self.simulator, str(self.slo_ms))

    @property
    def is_black_box(self):
        """Whether no solver can open the simulator: then no optimum is known."""
        return self.simulator not in OPEN

    def find_config(self, paths):
        """The path of the model's config.json, or None where it is missing."""
        folders = [paths.root / "examples/configs"]
        if paths.data:
            folders.append(paths.data / "configs")
        found = (folder / self.config for folder in folders)
        return next((path for path in found if path.exists()), None)

    def import_command(self, paths, output):
        """The command that writes the model's program to `output`."""
        return [
            paths.tool("shard-translate"),
            "--import-hf",
            str(self.find_config(paths)),
            f"--phase={self.phase}",
            f"--context={self.context}",
            "-o",
            str(output),
        ]

    def memory_gb(self, paths):
        """What a device of the machine can hold, in 1e9 bytes."""
        machine = json.loads((paths.root / f"machines/{self.machine}.json").read_text())
        memory = machine["memory"]
        return memory["capacity_bytes"] * memory["usable_fraction"] / 1e9

    def pass_options(self):
        """Its part of the options of --llm-search-sharding and shard-cost."""
        slo = "slo-tpot-ms" if self.phase == "decode" else "slo-ttft-ms"
        options = {"machine": self.machine, slo: self.slo_ms}
        if self.max_devices:
            options["max-devices"] = self.max_devices
        if self.simulator != "roofline":
            options["simulator"] = self.simulator
        return options


def _mixtures(slo_ms, simulator="roofline"):
    return tuple(
        Workload(
            f"gpt-moe-{size}-{context}k",
            f"gpt-moe-{size}.json",
            context * 1024,
            slo_ms,
            simulator,
        )
        for size in ("1.2T", "1.6T")
        for context in (16, 32, 64)
    )


def _published(simulator="roofline"):
    configs = {
        "deepseek-v3": "deepseek-ai--DeepSeek-V3_config.json",
        "qwen3-235b": "Qwen--Qwen3-235B-A22B_config.json",
        "llama-3.1-405b": "meta-llama--Meta-Llama-3.1-405B_config.json",
    }
    return tuple(
        Workload(name, config, 16384, 50, simulator, max_devices=64)
        for name, config in configs.items()
    )


def _of_cell(cell, simulator="roofline", slo_ms=None, most_calls=0):
    _, limit = cell.limit
    machine = cell.machine.removesuffix("_sxm")
    return Workload(
        f"{cell.model}-{cell.phase}-{cell.context // 1024}k-{machine}-{cell.devices}".lower(),
        cells.MODELS[cell.model],
        cell.context,
        slo_ms or limit,
        simulator,
        max_devices=cell.devices,
        machine=cell.machine,
        phase=cell.phase,
        most_calls=most_calls,
    )


def _scarce(*rows):
    return tuple(
        _of_cell(cells.Cell(*cell), slo_ms=slo_ms, most_calls=1000) for *cell, slo_ms in rows
    )


# Limits that fewer than a thousandth of the strategies meet: those to tune constants on,
# and others.
SCARCE = _scarce(
    ("DeepSeek-V3", "decode", 131072, "h100_sxm", 128, 11),
    ("DeepSeek-V3", "decode", 65536, "a100_sxm", 128, 12),
    ("DeepSeek-V3", "decode", 131072, "h200_sxm", 128, 9),
    ("DeepSeek-V3", "decode", 131072, "b200_sxm", 128, 8),
    ("DeepSeek-V3", "prefill", 16384, "h100_sxm", 128, 900),
    ("Qwen3-235B", "decode", 131072, "h100_sxm", 128, 10),
    ("Qwen3-235B", "prefill", 16384, "h100_sxm", 64, 700),
    ("GPT-MoE-1.6T", "decode", 65536, "h100_sxm", 128, 19),
    ("GPT-MoE-1.6T", "prefill", 16384, "h200_sxm", 128, 2000),
)
SCARCE_KEPT = _scarce(
    ("DeepSeek-V3", "decode", 131072, "gb200", 128, 7),
    ("DeepSeek-V3", "prefill", 131072, "b200_sxm", 64, 5000),
    ("gpt-oss-120b", "decode", 131072, "h200_sxm", 64, 2),
    ("gpt-oss-120b", "prefill", 131072, "h100_sxm", 32, 1000),
    ("Llama-3.1-405B", "decode", 131072, "h100_sxm", 128, 26),
    ("Llama-3.1-405B", "prefill", 16384, "a100_sxm", 128, 6000),
    ("Mixtral-8x22B", "decode", 65536, "a100_sxm", 64, 10),
    ("Mixtral-8x22B", "prefill", 16384, "a100_sxm", 64, 1000),
)


# What a policy learns on before it is scored on other models.
TAUGHT = tuple(map(_of_cell, cells.TAUGHT))


@dataclasses.dataclass(frozen=True)
class Group:
    """Workloads that are summarised together."""

    name: str
    title: str
    workloads: tuple

    @property
    def is_black_box(self):
        return self.workloads[0].is_black_box

    @property
    def is_scarce(self):
        """Whether few strategies are feasible, and few calls are allowed."""
        return self.workloads[0].most_calls > 0


GROUPS = {
    group.name: group
    for group in (
        Group("moe-50", "GPT-MoE, SLO 50 ms", _mixtures(50)),
        Group("moe-25", "GPT-MoE, SLO 25 ms", _mixtures(25)),
        Group("moe-15", "GPT-MoE, SLO 15 ms", _mixtures(15)),
        Group("models", "Published models, at most 64 devices", _published()),
        Group("dims", "Where dims pay", tuple(map(_of_cell, cells.SCORED))),
        Group("scarce", "Almost nothing is feasible, to tune on", SCARCE),
        Group("scarce-kept", "Almost nothing is feasible, held out", SCARCE_KEPT),
        Group(
            "dims-calibrated",
            "Where dims pay, calibrated kernels",
            tuple(_of_cell(cell, "calibrated") for cell in cells.SCORED),
        ),
        Group(
            "runtime",
            "GPT-MoE, procedural simulator, schedule picked by the runtime",
            _mixtures(50, "procedural:runtime"),
        ),
        Group(
            "fixed",
            "GPT-MoE, procedural simulator, fixed schedule and strong skew",
            _mixtures(50, "procedural:fixed"),
        ),
        # Of the three published models, Llama-3.1-405B is left out: its plan is valid.
        Group(
            "unlike",
            "Procedural simulator, the roofline's plan is invalid",
            (*_mixtures(25, "procedural:fixed"), *_published("procedural:fixed")[:2]),
        ),
    )
}
