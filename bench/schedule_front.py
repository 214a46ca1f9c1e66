#!/usr/bin/env python3
"""Draws a Pareto frontier of time and memory, which `shard-schedule --front` writes."""

import argparse
import json
import pathlib

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 70, 20, 30, 45
LINE = "#2b5f9e"


def scaled(value, least, most, length):
    """The place of a value between two others, on a line of this length."""
    return length * (value - least) / max(1, most - least)


def steps(points, x, y, of, style):
    """What fits into less memory fits into more."""
    places = []
    for k, point in enumerate(points):
        if k:
            places.append(f"{x(point):.1f},{y(points[k - 1][of]):.1f} ")
        places.append(f"{x(point):.1f},{y(point[of]):.1f} ")
    return f'<polyline fill="none" {style} points="{"".join(places)}"/>'


def draw(points):
    """An SVG of makespans and bounds over memory, which rises from point to point."""
    least, most = points[0]["memory"], points[-1]["memory"]
    fastest = min(point["bound"] for point in points)
    slowest = max(point["makespan"] for point in points)

    def x(point):
        return LEFT + scaled(point["memory"], least, most, WIDTH - LEFT - RIGHT)

    def y(time):
        return HEIGHT - BOTTOM - scaled(time, fastest, slowest, HEIGHT - TOP - BOTTOM)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="18" font-size="13">'
        "makespan against memory; dashed: bound; filled: proved</text>",
        steps(points, x, y, "bound", 'stroke="#999" stroke-dasharray="5 3"'),
        steps(points, x, y, "makespan", f'stroke="{LINE}" stroke-width="1.5"'),
    ]

    def label(at, height, text):
        return f'<text x="{at:.1f}" y="{height:.1f}" text-anchor="middle">{text}</text>'

    for point in points:
        at, height = x(point), y(point["makespan"])
        fill = LINE if point["proved"] else "white"
        lines += [
            f'<circle cx="{at:.1f}" cy="{height:.1f}" r="4" stroke="{LINE}" fill="{fill}"/>',
            label(at, height - 8, point["makespan"]),
            label(at, HEIGHT - BOTTOM + 18, point["memory"]),
        ]
    lines += [label(WIDTH / 2, HEIGHT - 8, "memory of a device"), "</svg>", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("front", type=pathlib.Path)
    parser.add_argument("picture", type=pathlib.Path)
    args = parser.parse_args()
    points = json.loads(args.front.read_text())
    if not points:
        parser.error(f"'{args.front}' has no point")
    args.picture.write_text(draw(points))


if __name__ == "__main__":
    main()
