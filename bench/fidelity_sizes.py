"""Errors of predicted kernels by how long they take, as a plot."""

import numpy as np

# Panels, and the kernels of each.
PANELS = {
    "matrix products": ("gemm",),
    "attention": ("attn_context", "attn_generation", "mla_context", "mla_generation"),
    "experts": ("moe",),
    "collectives": ("nccl", "custom_allreduce", "deepep_ll", "deepep_normal"),
}
EDGES = np.arange(0, 5.01, 0.5)  # powers of ten of microseconds
LEAST = 20  # rows of a bar
WIDTH, HEIGHT, GAP = 210, 150, 50
ENDS = (0.5, 1.5)


def place(value):
    """The height of predicted over measured `value` in a panel."""
    return HEIGHT * (ENDS[1] - np.clip(value, *ENDS)) / (ENDS[1] - ENDS[0])


def panel(title, measured, predicted):
    """The middle 80 % and the median of predicted over measured, by time."""
    yield f'<text x="0" y="-8">{title}</text>'
    for value in (0.5, 0.75, 1, 1.25, 1.5):
        yield f'<path d="M0 {place(value):.0f}H{WIDTH}" stroke="{"#888" if value == 1 else "#ddd"}"/>'
        yield f'<text x="-4" y="{place(value) + 4:.0f}" text-anchor="end">{value:g}</text>'
    step = WIDTH / (len(EDGES) - 1)
    for power in range(int(EDGES[-1]) + 1):
        name = f"{10**power} us" if power < 3 else f"{10 ** (power - 3)} ms"
        yield f'<text x="{2 * power * step:.0f}" y="{HEIGHT + 15}" text-anchor="middle">{name}</text>'
    where = np.digitize(np.log10(measured), EDGES) - 1
    ratio = predicted / measured
    for i in range(len(EDGES) - 1):
        chosen = ratio[where == i]
        if len(chosen) < LEAST:
            continue
        low, middle, high = (place(v) for v in np.quantile(chosen, [0.1, 0.5, 0.9]))
        x = (i + 0.5) * step
        yield f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="#2559a8" stroke-width="9"/>'
        yield f'<path d="M{x - 6:.1f} {middle:.1f}h12" stroke="black" stroke-width="2"/>'


def plot(points, path):
    """`points`: arrays of measured and of predicted microseconds, in lists by
    kernel."""
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-60 -40 {2 * WIDTH + GAP + 90} {2 * HEIGHT + GAP + 85}" '
        'font-family="sans-serif" font-size="11">',
        '<rect x="-60" y="-40" width="100%" height="100%" fill="white"/>',
    ]
    for i, (title, kernels) in enumerate(PANELS.items()):
        pairs = [pair for kernel in kernels for pair in points.get(kernel, [])]
        if not pairs:
            continue
        x, y = (i % 2) * (WIDTH + GAP), (i // 2) * (HEIGHT + GAP)
        out.append(f'<g transform="translate({x} {y})">')
        out += panel(title, *(np.concatenate(column) for column in zip(*pairs)))
        out.append("</g>")
    out.append(
        f'<text x="{WIDTH + GAP / 2}" y="{2 * HEIGHT + GAP + 34}" text-anchor="middle">'
        "predicted / measured, by what was measured</text></svg>"
    )
    path.write_text("\n".join(out) + "\n")
