"""Plans how large language models are sharded for inference.

    import shardopt as so

    model = so.load_model("config.json", so.Decode(context=8192))
    plan = so.plan(so.Problem(model, machine="h100_sxm", devices=16))
    print(plan.table)

Nothing here needs more than the standard library; the planner itself is loaded
when it is first asked.
"""

from .errors import BudgetExhausted, Infeasible, Inexpressible, ShardoptError
from .explain import Difference, Explanation, diff, explain
from .export import Launch, engines, export
from .frontier import Frontier, min_devices, pareto
from .judge import Judgement, judge
from .plan import Metrics, Plan, Strategy, evaluate, plan
from .problem import (
    Decode,
    Model,
    Prefill,
    Problem,
    load_model,
    machines,
    version,
)

__all__ = [
    "BudgetExhausted",
    "Decode",
    "Difference",
    "Explanation",
    "Frontier",
    "Inexpressible",
    "Infeasible",
    "Judgement",
    "Launch",
    "Metrics",
    "Model",
    "Plan",
    "Prefill",
    "Problem",
    "ShardoptError",
    "Strategy",
    "diff",
    "engines",
    "evaluate",
    "explain",
    "export",
    "judge",
    "load_model",
    "machines",
    "min_devices",
    "pareto",
    "plan",
    "version",
]
