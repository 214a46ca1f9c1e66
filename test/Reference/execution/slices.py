"""Which part of a global tensor a device holds: the attribute `shardopt.slice`.

It has a dictionary for each dim: empty for a whole one; {axis, runs} with the
entries that each coordinate of the grid axis holds, as runs [start, size,
stride] or [start, size, stride, count, step], -1 for zeros; or {rows = axes}
for rows, which are cut by whole prompts, by a ceiling over the first axis, and
each part by a ceiling over the next: of the part's own size, or with `alike` of
the largest part's. Between the two comes a cut into micro-batches, where stages
work on them: an axis `micro` that no grid has. The largest is that of the same
micro-batch. {stride = axis} is every n-th entry
from the coordinate on, with zeros behind the end, as many on all n coordinates.

An axis is a degree: `tp`, `ep` and `pp` of a uniform grid, and those that a
strategy's `axes` make of runs of the grid's axes.
"""

import numpy as np

MICRO = "micro"


def entries(runs):
    """The indices that a list of runs writes out; -1 stands for zeros."""
    indices = []
    for start, size, stride, *repeated in runs:
        count, step = repeated or (1, 0)
        for c in range(count):
            indices += [-1 if start < 0 else start + c * step + i * stride for i in range(size)]
    return np.array(indices, int)


def take(value, indices, axis):
    """As np.take, with zeros for -1."""
    taken = np.take(value, np.maximum(indices, 0), axis=axis)
    shape = [1] * value.ndim
    shape[axis] = len(indices)
    return np.where((indices >= 0).reshape(shape), taken, np.zeros_like(taken))


def degrees_of(coordinates, shape, axes=None):
    """(coordinate, size) by degree; axes: {degree: grid axes, slowest first}."""
    axes = axes or {"ep": [1], "tp": [2]}
    axes = {"pp": [0], **axes} if shape else {}
    place, grid = {}, {}
    for name, run in axes.items():
        sizes = [shape[axis] for axis in run]
        grid[name] = int(np.prod(sizes, dtype=int))
        place[name] = 0
        for axis, size in zip(run, sizes):
            place[name] = place[name] * size + coordinates[axis]
    return place, grid


def part_of(whole, index, count, size):
    """Part `index` of `count` of a range, cut by the ceiling of `size`."""
    block = -(-size // count)
    begin = min(whole.stop, whole.start + index * block)
    return range(begin, min(whole.stop, begin + block))


def block_of(prompts, axes, place, grid, alike=False):
    """The prompts of a device: a range. place, grid: coordinate, size by axis."""
    first, *rest = axes
    parts = [part_of(range(prompts), i, grid[first], prompts) for i in range(grid[first])]
    if MICRO in grid:
        parts = [part_of(part, place[MICRO], grid[MICRO], len(part)) for part in parts]
    own, largest = parts[place[first]], max(map(len, parts))
    for axis in rest:
        own = part_of(own, place[axis], grid[axis], largest if alike else len(own))
        largest = -(-largest // grid[axis])
    return own


def cut(value, description, place, grid, prompts):
    """A device's part of a global value; all of it without a description."""
    for axis, dim in enumerate(description["dims"] if description else ()):
        if "runs" in dim:
            assert len(dim["runs"]) == grid[dim["axis"]], description
            value = take(value, entries(dim["runs"][place[dim["axis"]]]), axis)
        elif "rows" in dim:
            each = value.shape[axis] // prompts  # rows of a prompt
            own = block_of(prompts, dim["rows"], place, grid, "alike" in dim)
            rows = np.arange(own.start * each, own.stop * each)
            value = np.take(value, rows, axis=axis)
        elif "stride" in dim:
            size, stride = value.shape[axis], grid[dim["stride"]]
            held = place[dim["stride"]] + stride * np.arange(-(-size // stride))
            value = take(value, np.where(held < size, held, -1), axis)
    return value
