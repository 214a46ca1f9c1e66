"""Serving runs of models that nothing was chosen with: for each model the
constants of engines are found again from the runs of all others, and in a second
round every switch too, beginning with kernels as they were measured alone. Few
runs do not decide alone: `gains` and `Runs.first_token_pairs` hold them back."""

import itertools
import pathlib
import tempfile

import numpy as np

import serving_fidelity as fidelity

# Candidates: of constants of an engine, of what holds for all engines, and of
# what an engine does in runs of one kind.
CONSTANTS = {
    "trtllm": {"step_us": (0, 200, 360, 500, 700), "eager_layer_us": (0, 400, 640, 900)},
    "vllm": {
        "step_us": (0, 250, 520, 750, 1000),
        "sequence_us": (0, 10, 20, 30),
        "always_us": (0, 7, 14, 21, 28),
    },
    "sglang": {"step_us": (0, 200, 430, 650, 900), "sequence_us": (0, 6, 12, 18)},
}
THIN = 3
# Pairs of first_token_ms and burst_share.
FIRST_TOKEN = tuple(
    itertools.product((0, 10, 20, 31, 50, 75, 106, 155, 220), (0, 0.06, 0.12, 0.15, 0.2, 0.33, 1))
)
# As how many runs of a group all others of its engine count.
OTHERS = (1, 25, 50, 100, 200)
SHARED = {
    "rank_skew_us": (0, 1, 2),
    "expert_layer_us": (0, 5, 10),
    "expert_spread": (0, 0.4, 0.8),
    "expert_reach": (0.4, 0.6, 0.8, 1),
    "pass_us": (0, 1, 2, 3),
    "chunk": (2048, 4096, 8192, 16384),
    "static_scales": (0, 1),
    "fused_quantization": (0, 1),
    "latent_fp8": (0, 1),
    "custom_all_reduce": (0, 1),
}
OF_GROUP = {
    "cpu_bound": (0, 1),
    "small_experts": (0, 1),
    "one_burst": (0, 1),
    "prompts_apart": (0, 1),
    "equal_lengths": (0, 1),
    "fp8_as_bf16": (0, 1),
    "cache_bytes": (0, 1, 2),
    "length_share": (1, 0.95, 0.9, 0.85),
}
PLAIN = {name: 0 for name in ("rank_skew_us", "expert_layer_us", "pass_us", "static_scales", "fused_quantization")}
PLAIN |= {"latent_fp8": 0, "custom_all_reduce": 0, "expert_reach": 1, "expert_spread": 0, "chunk": 8192}
PLAIN |= {name: values[0] for name, values in OF_GROUP.items()}


def version_of(row):
    """"old" before an engine took the host off the critical path, as its release
    notes say, or one of the images that were measured as one burst."""
    numbers = [int(n) for n in row["backend_version"].split("rc")[0].split(".")[:2] if n.isdigit()]
    if row["source_kind"] != "gap_analysis" or not numbers:
        return "recipe" if row["source_kind"] != "gap_analysis" else "new"
    if row["backend"] == "sglang":
        return "burst" if row["backend_version"].startswith(("0.5.1.", "0.5.8.")) else "new"
    return "old" if numbers < {"trtllm": [1, 1], "vllm": [0, 14]}[row["backend"]] else "new"


class Runs:
    """Measured runs in groups that options hold for, and their predictions."""

    def __init__(self, tool, folder, rows):
        self.tool, self.folder, self.rows, self.known, self.few = tool, folder, rows, {}, None
        self.groups = sorted({(row["backend"], version_of(row)) for row in rows})
        self.members = {
            group: np.array([i for i, row in enumerate(rows) if (row["backend"], version_of(row)) == group])
            for group in self.groups
        }
        self.group_of = np.array([self.groups.index((row["backend"], version_of(row))) for row in rows])
        self.engine_of = np.array([row["backend"] for row in rows])
        self.models = np.array([model_of(row) for row in rows])
        self.measured = {
            what: np.array([float(row[f"{what}_ms"]) for row in rows]) for what in ("tpot", "ttft")
        }

    def of_group(self, group, options):
        """Predicted over measured (TPOT, TTFT) of the runs of `group`."""
        key = (group, tuple(sorted(options.items())))
        if key not in self.known:
            text = ",".join(f"{name}={value}" for name, value in key[1])
            members = self.members[group]
            answers = fidelity.predict(self.tool, self.folder, [self.rows[i] for i in members], text)
            self.known[key] = tuple(
                np.array([float(a[f"predicted_{what}_ms"] or "nan") for a in answers]) / self.measured[what][members]
                for what in ("tpot", "ttft")
            )
        return self.known[key]

    def thinned(self):
        """Every third of these runs, in the same groups."""
        if not self.few:
            self.few = Runs(self.tool, self.folder, self.rows[::THIN])
            assert self.few.groups == self.groups
        return self.few

    def errors(self, choice):
        """Of the TPOT of all runs, under `choice`: options of each group."""
        errors = np.zeros(len(self.rows))
        for group in self.groups:
            errors[self.members[group]] = np.abs(self.of_group(group, choice[group])[0] - 1)
        return errors

    def first_token_errors(self, choice, pairs=None):
        """The same of TTFT; with the two constants of `pairs`, by group."""
        errors = np.zeros(len(self.rows))
        for group in self.groups:
            options = dict(choice[group])
            if pairs:
                options["first_token_ms"], options["burst_share"] = pairs[group]
            errors[self.members[group]] = np.abs(self.of_group(group, options)[1] - 1)
        return errors

    def first_token_losses(self, choice):
        """What is lost of TTFT in all runs, by pair of constants. Unless prompts
        take longer than answers, TTFT is a linear function of both."""
        at = np.zeros((2, len(self.rows)))  # of no burst, and of the whole one
        for group in self.groups:
            for share in (0, 1):
                options = dict(choice[group], first_token_ms=0, burst_share=share)
                at[share, self.members[group]] = self.of_group(group, options)[1]
        ratios = [at[0] + ms / self.measured["ttft"] + share * (at[1] - at[0]) for ms, share in FIRST_TOKEN]
        return np.minimum(np.abs(np.array(ratios) - 1), 1)

    def first_token_picks(self, losses, train, weight):
        """Which pair suits the runs of each group that are in `train` best, where
        the others of its engine count as `weight` of them."""
        picks = {}
        for group in self.groups:
            own = train & self.is_of(group)
            others = train & (self.engine_of == group[0]) & ~own
            lost = losses[:, own].sum(axis=1)
            if others.any():
                lost = lost + weight * losses[:, others].mean(axis=1)
            picks[group] = int(np.argmin(lost))
        return picks

    def first_token_pairs(self, choice, train):
        """The pairs of constants that suit `train`. How much runs of other groups
        count is what suits best if models of `train` are left out in turn."""
        losses = self.first_token_losses(choice)

        def lost(weight):
            left = 0
            for model in sorted(set(self.models[train])):
                out = train & (self.models == model)
                picks = self.first_token_picks(losses, train & ~out, weight)
                left += sum(losses[pick, out & self.is_of(group)].sum() for group, pick in picks.items())
            return left

        picks = self.first_token_picks(losses, train, min(OTHERS, key=lost))
        return {group: FIRST_TOKEN[pick] for group, pick in picks.items()}

    def is_of(self, group):
        return self.group_of == self.groups.index(group)


def with_option(choice, groups, name, value):
    return {g: dict(o, **{name: value}) if g in groups else o for g, o in choice.items()}


def without_option(choice, groups, name):
    return {g: {n: v for n, v in o.items() if n != name} if g in groups else o for g, o in choice.items()}


def gains(before, after):
    """Whether losses are less by more than their noise: a standard error of the
    mean of what changes."""
    change = (before - after)[before != after]
    return len(change) > 1 and change.mean() > change.std(ddof=1) / len(change) ** 0.5


def descend(runs, train, choice, moves, rounds=2):
    """The best of `choice` by one move after another, as long as one gains. What
    no run of `train` tells stays as the engine has it."""

    def lost(candidate):
        return np.minimum(runs.errors(candidate)[train], 1)

    best = lost(choice)
    for _ in range(rounds):
        before = best
        for groups, name, values in moves:
            candidates = [with_option(choice, groups, name, value) for value in values]
            losses = [lost(candidate) for candidate in candidates]
            means = [loss.mean() for loss in losses]
            least = means.index(min(means))
            if max(means) - min(means) < 1e-9:
                choice = without_option(choice, groups, name)
            elif gains(best, losses[least]):
                best = losses[least]
                choice = candidates[least]
        if best is before:
            break
    return choice


def moves_of(runs, has_switches):
    of_engine = lambda engine: [g for g in runs.groups if g[0] == engine]
    moves = []
    if has_switches:
        moves += [(runs.groups, name, values) for name, values in SHARED.items()]
        for group in runs.groups:
            moves += [
                ([group], name, values)
                for name, values in OF_GROUP.items()
                if (name != "one_burst" or group[1] == "burst") and (name != "length_share" or group[1] == "recipe")
            ]
    for engine, constants in CONSTANTS.items():
        moves += [(of_engine(engine), name, values) for name, values in constants.items()]
    return moves


def fold(runs, train, has_switches):
    """Errors of TPOT and TTFT of all runs, by what `train` chooses. Switches are
    chosen with every third run, as there are many to try."""
    start = {group: {} for group in runs.groups}
    few, few_train = runs, train
    if has_switches:
        none = dict.fromkeys(("always_us", "eager_layer_us", "step_us", "sequence_us"), 0)
        start = {group: PLAIN | none for group in runs.groups}
        few, few_train = runs.thinned(), train[::THIN]
    choice = descend(few, few_train, start, moves_of(runs, has_switches))
    return runs.errors(choice), runs.first_token_errors(choice, runs.first_token_pairs(choice, train))


def model_of(row):
    """Of one model are the runs that have one config."""
    return fidelity.SAME_CONFIG.get(row["model"], row["model"]).split("/")[1].removeprefix("Meta-")


def line(name, rows, *errors):
    cells = [name, str(rows)]
    for values in errors:
        values = 100 * values
        cells += [f"{v:.1f}" for v in (values.mean(), np.median(values), np.quantile(values, 0.9))]
    return "| " + " | ".join(cells) + " |"


def table(tool, data, configs):
    """The lines of the page."""
    rows = fidelity.read_runs(data)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        fidelity.link_configs(data, configs, folder, sorted({row["model"] for row in rows}))
        rows = [row for row in rows if (folder / fidelity.config_name(row["model"])).exists()]
        rows = [row for row in fidelity.predict(tool, folder, rows) if row["predicted_tpot_ms"]]
        rows = [{n: v for n, v in row.items() if not n.startswith(("predicted_", "reason"))} for row in rows]
        yield from lines(Runs(tool, folder, rows))


def lines(runs):
    shipped = {group: {} for group in runs.groups}
    kinds = {"in the sample": (runs.errors(shipped), runs.first_token_errors(shipped))}
    names = np.array([model_of(row) for row in runs.rows])
    for kind, has_switches in (("constants", False), ("switches too", True)):
        errors = np.zeros((2, len(names)))
        for model in sorted(set(names)):
            left = names == model
            errors[:, left] = np.array(fold(runs, ~left, has_switches))[:, left]
        kinds[kind] = tuple(errors)
    heads = " | ".join(f"{kind}: mean | median | p90" for kind in kinds)
    yield f"| model left out | runs | {heads} |"
    yield "|---|" + "---:|" * (1 + 3 * len(kinds))
    chosen = [("TPOT, all", names != "", 0), ("TTFT, all", names != "", 1)]
    chosen += [(f"TPOT, {model}", names == model, 0) for model in sorted(set(names))]
    for name, mask, what in chosen:
        yield line(name, int(mask.sum()), *(errors[what][mask] for errors in kinds.values()))
