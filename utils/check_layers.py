#!/usr/bin/env python3
"""Fails when an #include crosses the layers of the project.

The table below is the picture of docs/Architecture.md: a layer is a folder
under include/shardopt, lib and unittests, and may include itself and the
layers listed, nothing else. Exit status 1, one line for each wrong include.
"""

import argparse
import pathlib
import re
import sys

# Layers that include neither LLVM nor MLIR: layer -> layers it may include.
STD_LAYERS = {
    "Support": [],
    # What is planned: strategies, programs as ops, machines. Knows no time.
    "Model": ["Support"],
    "Model/Machine": ["Model", "Support"],
    "Cost": ["Model/Machine", "Model", "Support"],
    "Search": ["Model", "Support"],
    "Cost/Simulation": ["Search", "Cost", "Model/Machine", "Model", "Support"],
    # Solvers that know no operators.
    "Solvers/Selection": ["Support"],
    "Solvers/Schedule": ["Support"],
    # The best dims of given degrees.
    "Search/Dims": ["Solvers/Selection", "Cost", "Model", "Support"],
    "Search/Agent": ["Search", "Support"],
    # The only user of LibTorch, a module that nothing links.
    "Search/AgentTorch": ["Research", "Search/Agent", "Search", "Model", "Support"],
    # Baselines, a module that nothing links.
    "Research": ["Search/Agent", "Search", "Solvers/Selection", "Model", "Support"],
    "Search/BlackBox": ["Search", "Model/Machine", "Model", "Support"],
    # A step of a strategy as a graph of operators, ordered and replayed.
    "Planning/Ordering": [
        "Solvers/Schedule",
        "Search/Dims",
        "Cost/Simulation",
        "Cost",
        "Model",
        "Support",
    ],
    "Planning": [
        "Search/Agent",
        "Search/BlackBox",
        "Search/Dims",
        "Search",
        "Cost/Simulation",
        "Cost",
        "Model/Machine",
        "Model",
        "Support",
    ],
    "Execution/Tensors": ["Model", "Support"],
    # Executes collectives; knows nothing of programs or of their cost.
    "Execution/Runtime": ["Execution/Tensors", "Support"],
    # The only user of MPI, modules that nothing links.
    "Execution/RuntimeMpi": ["Execution/Runtime"],
}

MLIR_LAYERS = {
    "Dialect/LLM/IR": ["Cost", "Model", "Support"],
    "Dialect/LLM/Analysis": ["Planning", "Dialect/LLM/IR", "Model", "Support"],
    "Dialect/LLM/Transforms/Partition": [
        "Dialect/LLM/IR",
        "Cost",
        "Model",
        "Support",
    ],
    "Dialect/LLM/Transforms": [
        "Dialect/LLM/Analysis",
        "Dialect/LLM/Transforms/Partition",
        "Dialect/LLM/IR",
        "Planning/Ordering",
        "Planning",
        "Solvers/Schedule",
        "Solvers/Selection",
        "Search/Dims",
        "Cost",
        "Search",
        "Model/Machine",
        "Model",
        "Support",
    ],
    "Conversion": ["Conversion/Graphs", "Dialect/LLM/Transforms", "Dialect/LLM/IR", "Support"],
    # Functions that another compiler made.
    "Conversion/Graphs": [
        "Conversion",
        "Solvers/Selection",
        "Cost",
        "Model/Machine",
        "Model",
        "Support",
    ],
    "Target": [
        "Dialect/LLM/Analysis",
        "Dialect/LLM/IR",
        "Cost",
        "Model/Machine",
        "Model",
        "Support",
    ],
    "Execution": [
        "Conversion",
        "Dialect/LLM/Transforms",
        "Dialect/LLM/Analysis",
        "Dialect/LLM/IR",
        "Execution/Runtime",
        "Execution/Tensors",
        "Cost",
        "Model",
        "Support",
    ],
}

LAYERS = {**STD_LAYERS, **MLIR_LAYERS}

# Foreign headers with few users: prefix -> test of (top folder, layer).
FOREIGN = {
    "mlir/": lambda top, layer: layer not in STD_LAYERS,
    "mlir-c/": lambda top, layer: layer not in STD_LAYERS,
    "llvm/": lambda top, layer: layer not in STD_LAYERS,
    "llvm-c/": lambda top, layer: layer not in STD_LAYERS,
    "nlohmann/": lambda top, layer: (top, layer) == ("lib", "Support"),
    "simdjson": lambda top, layer: (top, layer) == ("lib", "Solvers/Selection"),
    "zlib": lambda top, layer: (top, layer) == ("lib", "Solvers/Selection"),
    "cadical": lambda top, layer: (top, layer) == ("lib", "Solvers/Schedule"),
    "coin/": lambda top, layer: (top, layer) == ("lib", "Solvers/Schedule"),
    "gtest/": lambda top, layer: top == "unittests",
    "torch/": lambda top, layer: (top, layer) == ("lib", "Search/AgentTorch"),
    "mpi.h": lambda top, layer: (top, layer) == ("lib", "Execution/RuntimeMpi"),
    "ATen/": lambda top, layer: (top, layer) == ("lib", "Search/AgentTorch"),
}

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')
TOPS = {"include": "include/shardopt", "lib": "lib", "unittests": "unittests"}


def layer_of(path):
    """The layer that holds `path`, relative to a top folder or to shardopt/."""
    for layer in sorted(LAYERS, key=len, reverse=True):
        if path.startswith(layer + "/"):
            return layer
    return None


def wrong_includes(top, layer, text):
    """Yields (line number, why) for every include that `layer` may not have."""
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match.group(1)
        for prefix, allowed in FOREIGN.items():
            if header.startswith(prefix) and not allowed(top, layer):
                yield number, f"{top}/{layer} may not include {header}"
        if not header.startswith("shardopt/") or layer == "tools":
            continue
        target = layer_of(header[len("shardopt/") :])
        if target is None:
            yield number, f"{header} belongs to no layer of check_layers.py"
        elif target != layer and target not in LAYERS[layer]:
            yield number, f"{layer} may not include {target}: {header}"


def sources(root):
    """Yields (path, top, layer or None) for every C++ file, in a fixed order."""
    for top, folder in [*TOPS.items(), ("tools", "tools")]:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".inc"):
                continue
            inner = path.relative_to(root / folder).as_posix()
            yield path, top, "tools" if top == "tools" else layer_of(inner)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--root", type=pathlib.Path, default=default)
    parser.add_argument(
        "--list-std",
        action="store_true",
        help="print the layers that include neither LLVM nor MLIR",
    )
    options = parser.parse_args()
    if options.list_std:
        print("\n".join(STD_LAYERS))
        return 0
    root = options.root

    wrong = []
    for path, top, layer in sources(root):
        place = path.relative_to(root).as_posix()
        if layer is None:
            wrong.append(f"{place}: belongs to no layer of check_layers.py")
            continue
        for number, why in wrong_includes(top, layer, path.read_text()):
            wrong.append(f"{place}:{number}: {why}")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
