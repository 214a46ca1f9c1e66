"""Numbers and tables as the page shows them."""

import math

NONE = "–"


def table(header, rows):
    """A Markdown table: the first column is text, the others are numbers."""
    align = ["---"] + ["--:"] * (len(header) - 1)
    lines = [header, align, *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def ratio(value):
    """Four digits, rounded down: what is below a limit does not read as it."""
    return f"{math.floor(value * 10000) / 10000:.4f}"


def calls(value):
    return "never" if value == math.inf else f"{value:.0f}"


def interval(pair, show):
    """" [low, high]", or nothing for a single seed."""
    return f" [{show(pair[0])}, {show(pair[1])}]" if pair else ""


def signed(show):
    """How `show` shows a difference."""
    return lambda value: ("−" if value < 0 else "+") + show(abs(value))


def difference(value, show):
    """A summary.Difference, in bold where its interval leaves 0 out."""
    signed_show = signed(show)
    text = signed_show(value.value) + interval(value.interval, signed_show)
    return f"**{text}**" if value.sign else text


def times(value):
    return f"{value:.2f}×"
