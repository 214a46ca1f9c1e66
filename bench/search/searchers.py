"""The searchers that are compared, and the variants of those that learn."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Searcher:
    """One row of the tables.

    `name` is what `searcher=` takes, or an optimiser of another project;
    `variant` holds further options of the pass, as a user types them.
    `cpu_s` estimates a run of 4000 calls on the roofline.
    """

    name: str
    variant: str = ""
    title: str = ""
    cpu_s: float = 0.5

    @property
    def key(self):
        """What identifies it in a table of results."""
        return (self.name, self.variant)

    @property
    def options(self):
        """The variant as the pass takes it."""
        return "" if self.is_taught else self.variant

    @property
    def is_taught(self):
        """Whether its policy learned on other models first."""
        return self.variant == TAUGHT

    @property
    def label(self):
        """What the tables call it."""
        return f"`{self.name}`" + (f", {self.title}" if self.title else "")

    @property
    def is_outside(self):
        """Whether it belongs to another project and asks through a pipe."""
        return self.name in OUTSIDE

    @property
    def environment(self):
        """The name of the virtual environment that one from outside runs in."""
        return "sb3" if self.name == "sb3-ppo" else ""

    @property
    def has_seeds(self):
        """Whether runs differ; those without a seed run once, to their end."""
        return self.name != "exact" and not self.name.startswith("megatron-")


OUTSIDE = ("optuna-tpe", "catcmawm", "sb3-ppo")

EXACT = Searcher("exact")
MEGATRON = tuple(Searcher(f"megatron-{style}") for style in ("classic", "slice", "sp"))

RANDOM = Searcher("random")
RANDOM_WALK = Searcher("random-walk")
ANNEALING = Searcher("annealing")
# T0 = 100 on raw throughput, a fixed penalty: as the paper describes its baseline.
PAPER_ANNEALING = Searcher(
    "annealing",
    "agent-options=initial-temperature=100,raw-energy=true",
    "as in the paper",
)
GENETIC = Searcher("genetic")
CROSS_ENTROPY = Searcher("cross-entropy")
COORDINATE = Searcher("coordinate")
CLASSIC = (RANDOM_WALK, RANDOM, ANNEALING, GENETIC, CROSS_ENTROPY, COORDINATE)

TPE = Searcher("optuna-tpe", cpu_s=105)
CATCMAWM = Searcher("catcmawm", cpu_s=3.5)
SB3_PPO = Searcher("sb3-ppo", cpu_s=60)

PPO_PAPER = Searcher("ppo-paper", cpu_s=60)


def _paper(constant, title):
    return Searcher("ppo-paper", f"agent-options={constant}", title, cpu_s=60)


# One constant changed of those that the paper leaves open, or gives without a reason.
PAPER_CONSTANTS = (
    _paper("alpha=0", "α = 0"),
    _paper("alpha=10", "α = 10"),
    _paper("beta=0", "β = 0"),
    _paper("beta=10", "β = 10"),
    _paper("invalid-reward=0", "invalid 0"),
    _paper("invalid-reward=-100", "invalid −100"),
    _paper("rollout=8", "rollout 8"),
    _paper("rollout=32", "rollout 32"),
)
PPO = Searcher("ppo", cpu_s=11)
SURROGATE = Searcher("surrogate", cpu_s=3.5)

# What searches a simulator that cannot be opened, unless a user says otherwise.
BLACK_BOX_DEFAULT = SURROGATE

UNTRAINED = "agent-options=learning-rate=0"

# The default before there was a joint critic, and still that of black boxes.
WITH_RIDGE = "agent-critic=ridge"
RIDGE = Searcher("surrogate", WITH_RIDGE, "ridge critic", cpu_s=3.5)
PPO_RIDGE = Searcher("ppo", WITH_RIDGE, "ridge critic", cpu_s=11)

# A policy that learned on the roofline of other models, as search.transfer teaches it.
TAUGHT = "agent-pretrain=other-models"
PPO_TAUGHT = Searcher("ppo", TAUGHT, "taught on other models", cpu_s=11)
PPO_UNTRAINED = Searcher("ppo", UNTRAINED, "untrained", cpu_s=8)

NO_WARM_START = Searcher("surrogate", "warm-start=none", "no warm start", cpu_s=3.5)

# What each part is worth: the searcher with one thing changed.
SURROGATE_CRITICS = (
    Searcher("surrogate", "agent-critic=none", "no critic", cpu_s=1),
    Searcher("surrogate", "agent-critic=random", "random critic", cpu_s=1),
)
PPO_PARTS = (
    Searcher("ppo", "agent-critic=none", "no critic", cpu_s=6),
    Searcher("ppo", f"{UNTRAINED} {WITH_RIDGE}", "untrained, ridge critic", cpu_s=5),
    Searcher("ppo", f"{UNTRAINED} agent-critic=none", "untrained, no critic", cpu_s=3),
    Searcher("ppo", "agent-critic=random", "random critic", cpu_s=6),
    Searcher(
        "ppo",
        f"agent-options=attention=false {WITH_RIDGE}",
        "no attention, ridge critic",
        cpu_s=6,
    ),
)
