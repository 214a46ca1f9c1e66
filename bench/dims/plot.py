"""The heat map of all gains. Runs in the virtual environment; the same gains give the same bytes."""

import csv
import sys

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt  # noqa: E402

from .cells import CONTEXTS, DEVICES, MACHINES, MODELS  # noqa: E402

LARGEST = 1.2  # where colours end


def load(path):
    with open(path, newline="") as rows:
        return {
            (r["model"], r["phase"], int(r["context"]), r["machine"], int(r["devices"])): r["gain"]
            for r in csv.DictReader(rows)
        }


def main(source, target):
    matplotlib.rcParams["svg.hashsalt"] = "shardopt"
    matplotlib.rcParams["svg.fonttype"] = "none"
    gains = load(source)
    rows = [
        (model, phase, context)
        for phase, contexts in CONTEXTS.items()
        for model in MODELS
        for context in contexts
    ]
    columns = [(machine, devices) for machine in MACHINES for devices in DEVICES]
    values = [[gains[(*row, *column)] for column in columns] for row in rows]
    # No plan at all is left blank; a plan that Megatron has not is the darkest.
    shown = [[min(float(v), LARGEST) if v else float("nan") for v in row] for row in values]

    figure, axes = plt.subplots(figsize=(10, 0.2 * len(rows) + 1.6))
    image = axes.imshow(shown, aspect="auto", cmap="YlOrRd", vmin=1, vmax=LARGEST)
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            if value and float(value) >= 1.02:
                text = "new" if value == "inf" else f"{float(value):.2f}"
                dark = float(value) > 1.12
                axes.text(
                    x, y, text, ha="center", va="center", fontsize=6, color="white" if dark else "black"
                )
    axes.set_yticks(range(len(rows)), [f"{m}, {p} {c // 1024}k" for m, p, c in rows], fontsize=7)
    axes.set_xticks(range(len(columns)), [str(devices) for _, devices in columns], fontsize=7)
    for i, machine in enumerate(MACHINES):
        middle = i * len(DEVICES) + (len(DEVICES) - 1) / 2
        axes.text(middle, -1.2, machine, ha="center", fontsize=8)
        axes.axvline((i + 1) * len(DEVICES) - 0.5, color="white", linewidth=2)
    axes.set_xlabel("devices at most")
    bar = figure.colorbar(image, pad=0.01)
    bar.set_label("optimum / best of Megatron's styles", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
