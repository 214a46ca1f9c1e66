"""The program of a plan: lowered to one device with its collectives, and
executed against the unsharded one."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ._tools import compiled, complaint, run_tool
from .checks import _check_kind, _whole
from .errors import ShardoptError
from .plans import Plan, Strategy
from .models import Model
from .shrinking import shrink
from .tables import counted


@dataclass(frozen=True)
class Verification:
    """Whether the devices together computed what one computes."""

    ok: bool
    max_rel: float
    """The largest error, of the largest magnitude of its result."""
    devices: int
    small: bool
    """Whether the model that was executed is a smaller one."""
    verdict: str

    def __str__(self) -> str:
        what = "a small model of the same ops" if self.small else "the model"
        how = "ok" if self.ok else "FAILED"
        return (
            f"  verify    {how}: {what}, {counted(self.devices, 'device')} against one\n"
            f"            {self.verdict}"
        )


#: Files of the folder that a tool runs in: so that options have no path in them.
_MODULE, _STRATEGIES = "model.mlir", "strategy.jsonl"
#: The passes of `shard-opt` from these files to the per-rank program.
APPLIED = f"--llm-apply-strategy=strategies={_STRATEGIES}"
LOWERING = (APPLIED, "--llm-insert-collectives")


def write_inputs(folder: str, model: Model, strategy: Strategy) -> str:
    """Writes the module and a list of one strategy; returns the name of the first."""
    Path(folder, _MODULE).write_text(model.mlir, encoding="utf-8")
    listed = json.dumps(strategy.to_dict()) + "\n"
    Path(folder, _STRATEGIES).write_text(listed, encoding="utf-8")
    return _MODULE


def lower(plan: Plan, split_stages: bool = False) -> str:
    """The module of one device: slices of the weights, and collectives. With
    `split_stages` each pipeline stage is a function of its own."""
    _check_kind(Plan, "plan", plan)
    with tempfile.TemporaryDirectory() as folder:
        module = write_inputs(folder, plan.problem.model, plan.strategy)
        passes = [*LOWERING, "--llm-optimize-collectives"]
        if split_stages:
            passes.append("--llm-split-stages")
        return compiled([module, *passes, "-o", "-"], folder, "the plan cannot be lowered")


def verify(
    plan: Plan, whole: bool = False, steps: int = 2, seed: int = 1
) -> Verification:
    """Executes the sharded program and the unsharded one on the same random
    weights and inputs, and compares all results on all devices, which are
    threads. The model is a small one of the same ops, with the plan's degrees
    and dims, or with `whole` the plan's own. Where nothing can be compared, for
    want of memory say, that is an error."""
    _check_kind(Plan, "plan", plan)
    _whole("steps", steps, least=1)
    _whole("seed", seed)
    model, strategy = plan.problem.model, plan.strategy
    if not whole and model.config is not None:
        model, strategy = shrink(model, strategy)
    with tempfile.TemporaryDirectory() as folder:
        module = write_inputs(folder, model, strategy)
        words = ["--verify", module, f"--strategies={_STRATEGIES}"]
        words += [f"--steps={steps}", f"--seed={seed}", "--optimize-collectives"]
        done = run_tool("shard-run", words, folder)
    found = re.search(r"^verify: (OK|FAILED)(.*?)(?: line=0)?$", done.stdout, re.M)
    if not found:
        raise ShardoptError(f"the plan cannot be executed: {complaint(done)}")
    error = re.search(r"max_rel=([0-9.einfa+-]+)", found.group(2))
    if not error:
        raise ShardoptError(f"nothing was compared: {found.group(2).strip()}")
    return Verification(
        found.group(1) == "OK",
        float(error.group(1)),
        plan.strategy.devices,
        model is not plan.problem.model,
        found.group(2).strip(),
    )
