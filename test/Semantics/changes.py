"""Configs of tiny models, changed in one key each, against Transformers.

utils/tiny_changes.py makes the changes and what Transformers computes of them. A changed config
may be refused, or planned and not executed; where a program is made of it, it computes what
Transformers does in double precision. A program computes in single precision: it may be off by
TOLERANCE, or by ROUNDINGS times what rounding the weights alone moves.
"""

import collections
import json
import pathlib

import tools

TOLERANCE = 2e-5  # of the largest logit
ROUNDINGS = 4
CONTEXT = 16


class Changes:
    """Counts what became of each change, and keeps those that are wrong."""

    def __init__(self, args, models, folder):
        self.args, self.models, self.folder = args, models, folder
        self.counts, self.wrong, self.known = collections.Counter(), [], {}

    def imported(self, config):
        """The program of a config, or None and why there is none."""
        path = self.folder / "config.json"
        path.write_text(json.dumps(config))
        options = ("--phase=decode", f"--context={CONTEXT}", "--logits")
        status, lines = tools.all_lines(self.args.shard_translate, "--import-hf", path, *options)
        if status:
            return None, "refused"
        text = "\n".join(lines)
        return (None, "planned only") if "llm.planned_only" in text else (text, "")

    def runs(self, model, module, logits, rounding):
        """Whether the program gives these logits."""
        key = (model.name, module, logits)
        if key not in self.known:
            path = self.folder / "changed.mlir"
            path.write_text(module)
            tolerance = self.args.tolerance or max(TOLERANCE, ROUNDINGS * rounding)
            against = [f"--weights={model}/model.safetensors", f"--tokens={logits}"]
            against += [f"--expect={logits}", f"--tolerance={tolerance}"]
            self.known[key] = tools.last_line(self.args.shard_run, path, *against)
        return self.known[key]

    def compare(self, line, folder):
        """What became of a change, and what shard-run said of it."""
        module, why = self.imported(line["config"])
        if not module:
            return why, ""
        if not line["logits"]:
            return "not comparable", ""
        logits, rounding = folder / line["logits"], line["rounding"]
        status, said = self.runs(self.models / line["model"], module, logits, rounding)
        if not status:
            return "equal", said
        # Weights that have no place in the program are an error of their own.
        return ("other numbers" if "max_rel" in said else "weights do not fit"), said

    def check(self, path):
        """Compares all changes of a file of utils/tiny_changes.py."""
        for line in map(json.loads, path.read_text().splitlines()):
            what, said = self.compare(line, path.parent)
            self.counts[what] += 1
            if what == "other numbers":
                self.wrong.append(f"{line['model']} {line['change']}: {said}")
                print(self.wrong[-1], flush=True)

    def report(self):
        total = sum(self.counts.values())
        said = ", ".join(f"{count} {what}" for what, count in sorted(self.counts.items()))
        return f"{total} changes: {said}"


def check_changes(args, python, models, folder):
    """Changes the configs of the models in a folder; whether no program is wrong."""
    script = tools.ROOT / "utils" / "tiny_changes.py"
    path = pathlib.Path(folder) / "changes.jsonl"
    chosen = (f"--only={args.only}", f"--shard={args.shard}")
    tools.run(python, script, *chosen, models, path)
    changes = Changes(args, models, pathlib.Path(folder))
    changes.check(path)
    print(changes.report())
    return not changes.wrong
