#!/usr/bin/env python3
"""Fails when modules of the Python package, or headers, need each other in a circle.

Of the package every import counts, those inside functions too, but for what stands
under `if TYPE_CHECKING`, which only type checkers read. An import of the package's
own modules inside a function is an error of its own: that is how circles hide.
Exit status 1, one line for each import and each circle.
"""

import argparse
import ast
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"(shardopt/[^"]+)"', re.MULTILINE)


def is_for_types(node):
    """Whether `node` is `if TYPE_CHECKING`, with or without its module."""
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def imports_of(node, is_inside=False):
    """Yields (import, whether a function holds it) of what runs below `node`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, is_inside
        if is_for_types(child):
            for other in child.orelse:
                yield from imports_of(ast.Module([other], []), is_inside)
            continue
        functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
        yield from imports_of(child, is_inside or isinstance(child, functions))


def modules_of(package):
    """The modules of a package by name, each with its path."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def targets_of(node, name, path, modules):
    """The modules of the package that an import in the module `name` loads."""
    if isinstance(node, ast.Import):
        return {each.name for each in node.names if each.name in modules}
    base = node.module or ""
    if node.level:
        parts = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
        parts = parts[: len(parts) - node.level + 1]
        base = ".".join(parts + ([node.module] if node.module else []))
    # A name of a package is a module of it, or stands in its __init__; `from . import`
    # of what is no module is the compiled one.
    inner = {f"{base}.{each.name}" for each in node.names} & modules.keys()
    return inner or ({base} & modules.keys() if node.module else set())


def python_graph(package, root):
    """What each module imports, and a line for each import inside a function."""
    modules, graph, wrong = modules_of(package), {}, []
    for name, path in modules.items():
        graph[name] = set()
        for node, is_inside in imports_of(ast.parse(path.read_text(encoding="utf-8"))):
            targets = targets_of(node, name, path, modules) - {name}
            graph[name] |= targets
            if is_inside and targets:
                place = path.relative_to(root).as_posix()
                wrong.append(
                    f"{place}:{node.lineno}: imports {min(targets)} inside a function, "
                    "expected it at the head of the module"
                )
    return graph, wrong


def header_graph(folder):
    """What each public header includes."""
    graph = {}
    for path in sorted(folder.rglob("*.h")):
        name = path.relative_to(folder).as_posix()
        graph[name] = set(INCLUDE.findall(path.read_text(encoding="utf-8"))) - {name}
    return graph


def circles(graph):
    """The strongly connected components of more than one node, in a fixed order."""
    order, seen = [], set()

    def visit(start, edges, found):
        stack = [(start, iter(sorted(edges.get(start, ()))))]
        seen.add(start)
        while stack:
            node, others = stack[-1]
            for other in others:
                if other in edges and other not in seen:
                    seen.add(other)
                    stack.append((other, iter(sorted(edges[other]))))
                    break
            else:
                stack.pop()
                found.append(node)

    for node in sorted(graph):
        if node not in seen:
            visit(node, graph, order)
    back = {node: set() for node in graph}
    for node, others in graph.items():
        for other in others & graph.keys():
            back[other].add(node)
    seen.clear()
    for node in reversed(order):
        if node not in seen:
            found = []
            visit(node, back, found)
            if len(found) > 1:
                yield sorted(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--root", type=pathlib.Path, default=default)
    root = parser.parse_args().root

    modules, wrong = python_graph(root / "python" / "shardopt", root)
    for graph, kind in ((modules, "modules"), (header_graph(root / "include"), "headers")):
        for circle in circles(graph):
            wrong.append(f"{kind} in a circle: {', '.join(circle)}")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
