"""Expert recipes, read as services: which are legal, and how far from the proved optimum.

Reads search spaces of InferenceX (YAML, also gzip) and prints a page; --page writes
docs/Recipes.md. Each entry is judged at its most requests in flight, by the optimum of the
same model, types, machine, engine and number of GPUs that is no slower for any user: its
limits are what the entry itself reaches. Entries that differ in drafts alone are one.
"""

import argparse
import collections
import gzip
import json
import pathlib
import re
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/Recipes.md"
FAMILIES = ROOT / "test/Target/HuggingFace/Inputs/families"
# By the prefix of a recipe's model.
CONFIGS = {
    "dsr1": "configs/deepseek-ai--DeepSeek-V3_config.json",
    "qwen3.5": FAMILIES / "Qwen--Qwen3.5-397B-A17B_config.json",
    "kimik2.5": FAMILIES / "moonshotai--Kimi-K2.5_config.json",
    "glm5": FAMILIES / "zhipuai--GLM-5_config.json",
    "glm5.1": FAMILIES / "zhipuai--GLM-5_config.json",
}
MACHINES = ("gb300", "gb200", "b300", "b200", "h200", "h100")
UNLIMITED = 1e9  # ms
TYPES = {
    "fp4": {"quant_method": "modelopt", "quant_algo": "NVFP4"},
    "fp8": {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]},
}
#: Shares that rounding explains.
TOLERANCE = 1e-4


def documents(folder):
    """The name and the document of each file of recipes."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for path in sorted(folder.glob("*.y*ml*")):
        data = path.read_bytes()
        text = gzip.decompress(data) if path.suffix == ".gz" else data
        yield path.name, yaml.load(text, loader)


def machine_of(runner):
    """The machine of a recipe's runner; None where none ships."""
    found = next((name for name in MACHINES if name in runner), None)
    return found if found is None or found.startswith("gb") else f"{found}_sxm"


class Models:
    """Models by prefix, precision and lengths, made once."""

    def __init__(self, data, folder):
        self.data, self.folder, self.made = data, folder, {}

    def problem(self, case, devices):
        """The problem of a case without limits; None where its model or machine is unknown."""
        import shardopt as so

        prefix = case.prefix
        machine = machine_of(case.gpu)
        if prefix not in CONFIGS or machine is None:
            return None
        load = case.stated.load
        key = (prefix, case.precision, load.isl + load.osl)
        if key not in self.made:
            config = json.loads((self.data / CONFIGS[prefix]).read_text(encoding="utf-8"))
            if case.precision in TYPES and not (prefix == "dsr1" and case.precision == "fp8"):
                config["quantization_config"] = TYPES[case.precision]
            place = pathlib.Path(self.folder, f"{prefix}-{case.precision}.json")
            place.write_text(json.dumps(config), encoding="utf-8")
            self.made[key] = so.load_model(place, so.Decode(load.isl + load.osl))
        return so.Problem(self.made[key], machine=machine, devices=devices, isl=load.isl,
                          osl=load.osl, engine=case.stated.engine, tpot_ms=UNLIMITED,
                          ttft_ms=UNLIMITED)


def fullest(cases):
    """Of each entry the case of most requests in flight; equal entries are one."""
    groups = {}
    for case in cases:
        roles = tuple((one.role, one.exchange) for one in case.stated.roles)
        load = case.stated.load
        key = (case.prefix, case.precision, case.gpu, case.stated.engine, load.isl, load.osl, roles)
        if key not in groups or groups[key].stated.load.concurrency < load.concurrency:
            groups[key] = case
    return list(groups.values())


def reached(problem, stated):
    """What a service reaches at its number in flight, without limits."""
    from shardopt.checking.outcomes import evaluate_stated

    return evaluate_stated(problem.replace(concurrency=stated.load.concurrency), stated)


def judged(models, case):
    """The row of a case: why it is not legal, and the share of its optimum."""
    import shardopt as so
    from shardopt.checking.outcomes import outcome_of
    from shardopt.checking.verdicts import facts_of_problem, illegal_findings

    row = {"name": case.name, "engine": case.stated.engine, "model": case.prefix,
           "gpus": case.stated.devices, "conc": case.stated.load.concurrency,
           "roles": roles_of(case.stated), "why": [], "share": None, "best": ""}
    problem = models.problem(case, case.stated.devices)
    if problem is None:
        row["why"] = [str(one) for one in case.stated.all_findings if one.kind == "illegal"]
        row["unknown"] = True
        return row
    facts = facts_of_problem(problem)
    row["why"] = [str(one) for one in illegal_findings(case.stated, facts)]
    if row["why"]:
        return row
    outcome = reached(problem, case.stated)
    row["why"] = [str(one) for one in outcome.findings if one.kind in ("illegal", "missed")]
    if row["why"] or not outcome.is_there:
        return row
    service = outcome.service
    limits = {"tpot_ms": service["tpot_ms"] * 1.0001, "ttft_ms": service["ttft_ms"] * 1.0001}
    try:
        best = outcome_of(problem, so.plan(problem.replace(**limits)))
    except so.Infeasible as error:
        row["best"] = f"none: {error}"
        return row
    row["share"] = outcome.throughput / best.throughput
    row["best"] = ", ".join(
        spell(name, best.service[name]["workers"], best.service[name])
        for name in ("serve", "prefill", "decode") if name in best.service
    )
    return row


def spell(name, workers, row):
    parts = [f"{key} {row[key]}" for key in ("tp", "dp", "ep", "pp", "cp") if row[key] > 1]
    return f"{name} {workers} x ({' '.join(parts) or 'tp 1'})"


def roles_of(stated):
    return ", ".join(
        spell(one.role.name, one.role.workers,
              {"tp": one.role.tp, "dp": one.role.ranks, "ep": one.role.ep, "pp": one.role.pp,
               "cp": one.role.cp})
        for one in stated.roles
    )


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def median_of(rows):
    shares = [1 - row["share"] for row in rows if row["share"] is not None]
    return f"{100 * statistics.median(shares):.0f} %" if shares else "-"


def above_of(rows):
    """What is said of entries above their optimum, which none should be."""
    above = [row for row in rows if (row["share"] or 0) > 1 + TOLERANCE]
    if not above:
        return "No entry is above its optimum."
    most = max(above, key=lambda row: row["share"])
    return (f"{len(above)} entries are above their optimum, by {100 * (most['share'] - 1):.1f} % at "
            f"most (`{most['name']}`, {most['conc']} in flight). None should be: there the search "
            "and the evaluation of a given service do not agree.")


INTRO = """\
<!-- Generated by ./dev bench recipes --page. Do not edit. -->

# Expert recipes

How good are the recipes that experts publish? This page reads search spaces of the public
[InferenceX](https://github.com/SemiAnalysisAI/InferenceX) benchmark (Apache-2.0) with
[`shardopt check`](Checking.md). It holds each entry against the proved optimum of its own task: the
same model, types, machine, engine and GPUs, TPOT and TTFT no worse than the entry's.

- {read} of {cases} cases are read ({read_share}). A case is an entry with one number of requests in flight.
- Of {entries} entries, each at its most requests in flight, {known} have a model that the tree has a
  config of. {legal} of these are legal and fit ({legal_share}).
- The median regret is {regret}: so much more throughput has the optimum than the median recipe has, as a
  share of the optimum's.

Times are predictions, with the errors that [Accuracy](Fidelity.md) has, and a recipe may be better than
they say. Speculative decoding is left out on both sides, as entries do not say how many tokens are drafted.
{above}

| engine | model | entries | legal | median regret | largest |
| --- | --- | --: | --: | --: | --: |
"""

WRONG = """
## What is wrong

Degrees that do not divide the experts run with redundant experts only, which entries do not name. Entries
that are not legal, or do not fit, by reason:

| entries | reason | for example |
| --: | --- | --- |
"""


def table_row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def groups_of(known):
    """A row of each engine and model."""
    groups = collections.defaultdict(list)
    for row in known:
        groups[row["engine"], row["model"]].append(row)
    for (engine, model), several in sorted(groups.items()):
        good = [row for row in several if not row["why"]]
        shares = [1 - row["share"] for row in good if row["share"] is not None]
        largest = f"{100 * max(shares):.0f} %" if shares else "-"
        legal = percent(len(good), len(several))
        yield table_row(engine, model, len(several), legal, median_of(good), largest)


def reasons_of(known):
    """A row of each reason, the most frequent first."""
    reasons = collections.defaultdict(list)
    for row in known:
        for why in row["why"]:
            reasons[generic(why)].append(row)
    for why, several in sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0])):
        yield table_row(len(several), why, f"`{several[0]['name']}`, {several[0]['roles']}")


def page(read, unread, rows):
    """The page, of rows of judged cases."""
    known = [row for row in rows if not row.get("unknown")]
    legal = [row for row in known if not row["why"]]
    compared = [row for row in legal if row["share"] is not None]
    cases = read + len(unread)
    text = INTRO.format(
        read=read, cases=cases, read_share=percent(read, cases), entries=len(rows), known=len(known),
        legal=len(legal), legal_share=percent(len(legal), len(known)), regret=median_of(compared),
        above=above_of(rows))
    lines = [*groups_of(known), *WRONG.splitlines(), *reasons_of(known)]
    lines += ["", "Each of them:", "", "| recipe | in flight | roles | why |", "| --- | --: | --- | --- |"]
    lines += [table_row(f"`{row['name']}`", row["conc"], row["roles"], "; ".join(row["why"]))
              for row in known if row["why"]]
    lines += ["", "## The largest regrets", "",
              "| regret | recipe | in flight | GPUs | roles | optimum |",
              "| --: | --- | --: | --: | --- | --- |"]
    for row in sorted(compared, key=lambda row: row["share"])[:20]:
        regret = f"{100 * (1 - row['share']):.0f} %"
        lines.append(table_row(regret, f"`{row['name']}`", row["conc"], row["gpus"], row["roles"],
                               row["best"]))
    if unread:
        lines += ["", "## Not read", "", *(f"- {error}" for error in unread)]
    return text + "\n".join(lines) + "\n"


def generic(why):
    """A reason without its numbers."""
    return re.sub(r"\d+(\.\d+)?", "N", why)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="folder of the build (build)")
    parser.add_argument("--data", default="../shared/data", help="folder of recipes and configs")
    parser.add_argument("--limit", type=int, help="judge so many cases only")
    parser.add_argument("--rows", help="write the rows as JSON")
    parser.add_argument("--page", action="store_true", help="write docs/Recipes.md")
    args = parser.parse_args()
    sys.path.insert(0, str(pathlib.Path(args.build, "python").resolve()))
    from shardopt.checking.recipes import read_search_space
    from shardopt.errors import ShardoptError

    data = pathlib.Path(args.data).resolve()
    folder = data / "recipes"
    if not folder.is_dir():
        sys.exit(f"'{folder}' is not there, expected recipes; --data names another folder")
    cases, unread = [], []
    for name, document in documents(folder):
        for case in read_search_space(document, name):
            (unread if isinstance(case, ShardoptError) else cases).append(case)
    rows = []
    with tempfile.TemporaryDirectory() as place:
        models = Models(data, place)
        for case in fullest(cases)[: args.limit]:
            rows.append(judged(models, case))
    if args.rows:
        pathlib.Path(args.rows).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    text = page(len(cases), unread, rows)
    if args.page:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
