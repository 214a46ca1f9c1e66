"""Wires the operands of a module to other values of their types.

Works on the generic form of assembly, in which every op says its types. A wiring
may break the rules of scope or of an op; then the parser refuses it.
"""

import re

# "  %0:2 = "llm.x"(%a, %b#1) <{…}> …"
OP = re.compile(r'^(\s*)(?:(%\w+)(?::(\d+))? = )?"([\w.]+)"\(([^)]*)\)')
BLOCK = re.compile(r"^\s*\^bb\d+\((.*)\):")
TYPES = re.compile(r" : \((.*?)\) -> (.*)$")
VALUE = re.compile(r"%\w+(?:#\d+)?")


def split(text):
    """The parts of "a, b<c, d>" between its outer commas."""
    parts, depth, begin = [], 0, 0
    for i, character in enumerate(text):
        # The arrow of a type of functions closes nothing.
        if character == ">" and text[i - 1 : i] == "-":
            continue
        depth += (character in "<([{") - (character in ">)]}")
        if character == "," and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    rest = text[begin:].strip()
    return [*parts, rest] if rest else parts


def _results(name, count, types):
    """The values of an op and their types."""
    if not name:
        return []
    types = types.split(" loc(")[0].strip()
    types = split(types[1:-1]) if types.startswith("(") else [types]
    names = [f"{name}#{i}" for i in range(int(count))] if count else [name]
    return list(zip(names, types))


class Wiring:
    """Values and operands of a module."""

    def __init__(self, text):
        self.lines = text.splitlines()
        self.values = []  # (line, name, type)
        self.operands = []  # (line, begin, end, type)
        open_ops = []  # ops whose region is not over
        for number, line in enumerate(self.lines):
            block, op = BLOCK.match(line), OP.match(line)
            if block:
                for argument in split(block.group(1)):
                    name, _, kind = argument.partition(": ")
                    self.values.append((number, name, kind))
            elif op and line.rstrip().endswith("({"):
                open_ops.append((number, op))
            elif op:
                self._add(number, op, line, number)
            elif open_ops and line.strip().startswith("})") and TYPES.search(line):
                self._add(*open_ops.pop(), line, number)

    def _add(self, number, op, typed, defined):
        types = TYPES.search(typed)
        if not types:
            return
        inputs = split(types.group(1))
        places = list(VALUE.finditer(op.group(0), op.start(5) - op.start(0)))
        for place, kind in zip(places, inputs):
            self.operands.append((number, place.start(), place.end(), kind))
        for name, kind in _results(op.group(2), op.group(3), types.group(2)):
            self.values.append((defined, name, kind))

    def rewired(self, rng, count):
        """The text with `count` operands replaced, where there is a choice."""
        lines = list(self.lines)
        touched = set()
        for _ in range(20 * count):
            if len(touched) == count or not self.operands:
                break
            number, begin, end, kind = rng.choice(self.operands)
            choices = [
                name
                for defined, name, other in self.values
                if other == kind and defined < number and name != self.lines[number][begin:end]
            ]
            if choices and number not in touched:
                touched.add(number)
                line = lines[number]
                lines[number] = line[:begin] + rng.choice(choices) + line[end:]
        return "\n".join(lines) + "\n"
