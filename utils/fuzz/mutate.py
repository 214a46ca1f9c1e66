"""Changes texts, JSON and bytes at random."""

import json
import re

NUMBERS = (
    "0 1 -1 2 3 7 16 97 255 65536 1048577 2147483647 2147483648 4294967296 9007199254740993 "
    "9223372036854775807 -9223372036854775808 18446744073709551615 18446744073709551616 "
    "0.5 -0.0 1e-9 5e-324 1.7976931348623157e308 1e309 nan inf -inf null true"
).split()
TOKEN = re.compile(r"\s+|\"[^\"\n]*\"|[%#!@^]?[\w.$-]+|.", re.DOTALL)
NUMBER = re.compile(r"-?\d")


def _change_tokens(rng, tokens, others):
    """One change of a list of tokens, in place."""
    if not tokens:
        return
    at = rng.randrange(len(tokens))
    length = min(len(tokens) - at, rng.choice((1, 1, 1, 2, 4, 12, 40)))
    kind = rng.randrange(8)
    if kind <= 2:
        numbers = [i for i, token in enumerate(tokens) if NUMBER.match(token)]
        if numbers:
            tokens[rng.choice(numbers)] = rng.choice(NUMBERS)
    elif kind == 3:
        del tokens[at : at + length]
    elif kind == 4:
        tokens[at:at] = tokens[at : at + length]
    elif kind == 5:
        other = rng.randrange(len(tokens))
        tokens[at], tokens[other] = tokens[other], tokens[at]
    elif kind == 6 and others:
        begin = rng.randrange(len(others))
        tokens[at : at + length] = others[begin : begin + length]
    else:
        tokens[at] = tokens[rng.randrange(len(tokens))]


def _change_lines(rng, text):
    lines = text.splitlines(keepends=True)
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(to, lines[at])
    elif kind == 2:
        lines.insert(to, lines.pop(at))
    else:
        lines = lines[: at + 1]
    return "".join(lines)


def text(rng, original, other=""):
    """`original` with one change or a few; pieces may come from `other`."""
    result = original
    if result and rng.random() < 0.2:
        result = _change_lines(rng, result)
    tokens, others = TOKEN.findall(result), TOKEN.findall(other)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        _change_tokens(rng, tokens, others)
    return "".join(tokens)


CHECK = re.compile(r', "check": "[0-9a-f]{16}"}$')


def signed(text):
    """The lines of a checkpoint with the checks that they would have been written with."""

    def fixed(line):
        begin = CHECK.sub("", line)
        if begin == line:
            return line
        state = 0xCBF29CE484222325
        for byte in begin.encode():
            state = (state ^ byte) * 0x100000001B3 % 2**64
        return f'{begin}, "check": "{state ^ state >> 32:016x}"}}'

    return "\n".join(fixed(line) for line in text.split("\n"))


def data(rng, original):
    """`original`, bytes, with a few of them changed, or cut short."""
    result = bytearray(original)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if not result:
            break
        at = rng.randrange(len(result))
        kind = rng.randrange(5)
        if kind == 0:
            del result[at:]
        elif kind == 1:
            del result[at : at + rng.randrange(1, 9)]
        elif kind == 2:
            result[at:at] = rng.randbytes(rng.randrange(1, 9))
        else:
            result[at] = rng.choice((0, 255, 127, 128, result[at] ^ 1 << rng.randrange(8)))
    return bytes(result)


def _places(value, path=()):
    """The paths to all values in a document."""
    yield path
    entries = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        entries = enumerate(value)
    for key, inner in entries:
        yield from _places(inner, (*path, key))


def _strange(rng, value):
    """Something else in the place of a value."""
    if isinstance(value, (int, float)) and rng.random() < 0.5:
        return rng.choice((value * 2, value + 1, value - 1, -value, value // 2, value * 0.5))
    return rng.choice(
        (None, True, "", "x", [], {}, [value], {"a": value}, 0, -1, 1, 2, 3, 2**31, 2**63, 2**64)
        + (0.5, -0.0, 1e308, 5e-324, 1e-30, float("nan"), float("inf"), "é" * 300)
    )


def document(rng, original):
    """A JSON text with a few values replaced, moved, dropped or added; or any text."""
    if rng.random() < 0.3:
        return text(rng, original)
    root = json.loads(original)
    for _ in range(rng.choice((1, 1, 2, 4))):
        path = rng.choice(list(_places(root)))
        if not path:
            continue
        holder = root
        for key in path[:-1]:
            holder = holder[key]
        kind = rng.randrange(6)
        if kind == 0:
            del holder[path[-1]]
        elif kind == 1 and isinstance(holder, list):
            holder.append(holder[path[-1]])
        elif kind == 1:
            holder[f"{path[-1]}_"] = holder[path[-1]]
        else:
            holder[path[-1]] = _strange(rng, holder[path[-1]])
    return json.dumps(root)
