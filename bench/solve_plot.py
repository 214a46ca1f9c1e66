"""Costs and bounds of strategy selection over time, as a plot of bands over seeds."""

import math
import statistics

WIDTH, HEIGHT, GAP = 250, 150, 60
# Distances from the least cost of all seeds, in powers of ten.
HIGHEST, LOWEST = 1, -5
COST, BOUND = "#D55E00", "#0072B2"


def place(distance):
    """The height of a distance in a panel; what is less than all lies at the end."""
    power = math.log10(distance) if distance > 0 else LOWEST
    power = min(max(power, LOWEST), HIGHEST)
    return HEIGHT * (HIGHEST - power) / (HIGHEST - LOWEST)


def band(columns, points, colour):
    """The band and the median of distances, a list of them for each column."""
    low = [f"{x:.1f} {place(min(values)):.1f}" for x, values in zip(columns, points)]
    high = [f"{x:.1f} {place(max(values)):.1f}" for x, values in zip(columns, points)]
    outline = "L".join([*low, *reversed(high)])
    yield f'<path d="M{outline}z" fill="{colour}" fill-opacity=".25"/>'
    middle = [place(statistics.median(values)) for values in points]
    line = "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(columns, middle))
    yield f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>'


def panel(name, times, points):
    """`points`: for each time, the (cost, bound) of each seed."""
    best = min(cost for cost, _ in points[-1])
    yield f'<text x="0" y="-8">{name}: from {best:.6g}</text>'
    for power in range(LOWEST, HIGHEST + 1):
        y = place(10.0**power)
        label = f"{10.0 ** (power + 2):g} %"
        yield f'<path d="M0 {y:.0f}H{WIDTH}" stroke="#ddd"/>'
        yield f'<text x="-4" y="{y + 4:.0f}" text-anchor="end">{label}</text>'
    columns = [WIDTH * time / times[-1] for time in times]
    every = max(1, len(times) // 4)
    for x, time in list(zip(columns, times))[every - 1 :: every]:
        yield f'<text x="{x:.0f}" y="{HEIGHT + 15}" text-anchor="middle">{time:g}</text>'
    # What has no cost yet is as far away as there is room for.
    costs = [[min(cost / best - 1, 10.0**HIGHEST) for cost, _ in each] for each in points]
    yield from band(columns, costs, COST)
    yield from band(columns, [[1 - bound / best for _, bound in each] for each in points], BOUND)


def plot(curves, unit, path):
    """`curves`: name -> (times, points), as `panel` takes them."""
    rows = -(-len(curves) // 2)
    width, height = 2 * WIDTH + GAP + 90, rows * (HEIGHT + GAP) + 60
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-65 -40 {width} {height}" '
        'font-family="sans-serif" font-size="11">',
        '<rect x="-65" y="-40" width="100%" height="100%" fill="white"/>',
    ]
    for i, (name, (times, points)) in enumerate(curves.items()):
        x, y = (i % 2) * (WIDTH + GAP), (i // 2) * (HEIGHT + GAP)
        out.append(f'<g transform="translate({x} {y})">')
        out += panel(name, times, points)
        out.append("</g>")
    y = rows * (HEIGHT + GAP) - 10
    out.append(
        f'<text x="0" y="{y}"><tspan fill="{COST}">cost above</tspan> and '
        f'<tspan fill="{BOUND}">bound below</tspan> the least cost of all seeds, over {unit}: '
        "median, least and largest</text></svg>"
    )
    path.write_text("\n".join(out) + "\n")
