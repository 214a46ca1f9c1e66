#!/usr/bin/env python3
"""Fails when a file knows an operator that docs/AddingAnOperator.md does not say.

The page has two tables. In the first, each row is a file that an operator is
added in, and a word that stands there for the example. In the second, each row
is a file that knows operators by their class all the same, and which. Every
other file under include, lib and tools that names the class of an operator with
a sharding dim, or that of its cost, is an error, and so is a row that is no
longer true.
"""

import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "AddingAnOperator.md"
ODS = ROOT / "include" / "shardopt" / "Dialect" / "LLM" / "IR"
COSTS = ROOT / "include" / "shardopt" / "Model" / "Ops"
DEFINITION = re.compile(r"def LLM_(\w+Op)\s*:\s*LLM_(?:FusedOp|NormOp)<")
COST = re.compile(r"\bstruct (\w+)(?: final)? : (?:OpModel|StateModel)\b")
# Words as `Norm` are of many things: a class of cost is what is asked for, or qualified.
NAMED_COST = re.compile(r"\b(?:cost::|dynamic_cast<const (?:cost::)?)(\w+)")
COMMENT = re.compile(r"//[^\n]*")
QUOTED = re.compile(r"`([^`]+)`")


def rows(text, heading):
    """The cells of the first table below a heading, without its first two lines."""
    lines = text[text.index(heading) :].splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("|"))
    for line in lines[begin + 2 :]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def read(path):
    return COMMENT.sub("", path.read_text())


def classes():
    """The C++ classes of operators with a sharding dim."""
    return {name for path in ODS.glob("*.td") for name in DEFINITION.findall(path.read_text())}


def cost_classes():
    """The C++ classes of costs of operators."""
    return {name for path in COSTS.glob("*.h") for name in COST.findall(path.read_text())}


def sources():
    for top in ("include", "lib", "tools"):
        yield from (p for p in sorted((ROOT / top).rglob("*")) if p.suffix in (".h", ".cpp"))


def check(page):
    """(kinds of files that any operator may be named in, words on what is wrong)."""
    patterns, wrong = [], []
    for _, file, word, _ in rows(page, "## The files"):
        (name,), (found,) = QUOTED.findall(file), QUOTED.findall(word)
        if not (ROOT / name).exists():
            wrong.append(f"no file {name}")
        elif found not in (ROOT / name).read_text():
            wrong.append(f"{name} does not have '{found}'")
    for pattern, _ in rows(page, "## Files by topic"):
        patterns += QUOTED.findall(pattern)
    return patterns, wrong


def main():
    page, known, costs, named = PAGE.read_text(), classes(), cost_classes(), {}
    for path in sources():
        text = read(path)
        found = known & set(re.findall(r"\b\w+Op\b", text))
        found |= costs & set(NAMED_COST.findall(text))
        if found:
            named[str(path.relative_to(ROOT))] = found
    patterns, wrong = check(page)
    for file, names, _ in rows(page, "## Code that names a class"):
        (name,), listed = QUOTED.findall(file), set(QUOTED.findall(names))
        found = named.pop(name, set())
        wrong += [f"{name} does not name {op}, as the page says" for op in sorted(listed - found)]
        wrong += [f"{name} names {op}, unlike the page says" for op in sorted(found - listed)]
    for name, found in named.items():
        if not any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
            wrong.append(f"{name} names {', '.join(sorted(found))}, and is not on the page")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
