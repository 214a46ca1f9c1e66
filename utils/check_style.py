#!/usr/bin/env python3
"""Fails where C++ is not written in the one way of this tree; --fix rewrites it.

Casts of numbers are `double(x)`; `static_cast` is for pointers, references and types
of several words. Locals that are values have no `const` (one that is known when it is
compiled is `constexpr`). Namespaces start at their name: `llvm::`, not `::llvm::`.
"""

import argparse
import pathlib
import re
import sys

FOLDERS = ("bench", "include", "lib", "python/src", "tools", "unittests")
NUMBER = r"(?:std::)?(?:double|float|int|unsigned|bool|size_t|ptrdiff_t|u?int(?:8|16|32|64)_t)"
# A type without references or pointers; templates may hold three levels.
INNER = r"(?:[^<>;()]|<(?:[^<>;()]|<[^<>;()]*>)*>)*"
TYPE = rf"(?:unsigned )?[A-Za-z_][\w:]*(?:<{INNER}>)?(?:::\w+)*"
# What a local's name is in front of: its value, or a range.
LOCAL = rf"{TYPE}\s+(?:\w+|\[[\w, ]+\])\s*(?:=(?!=)|[{{(]|:(?!:))"
BEGIN = r"^[ \t]+|\b(?:if|for|while|switch) \("
CAST = "a cast of a number is written as {}(…)"
#: What is found, what is written instead (None: by hand), and the rule.
RULES = (
    (re.compile(rf"static_cast<({NUMBER})>(?=\()"), r"\1", CAST),
    (re.compile(rf"(?<=[=(,] )\(({NUMBER})\)(?=\w)"), None, CAST),
    (re.compile(rf"({BEGIN})const ({LOCAL})", re.MULTILINE), r"\1\2",
     "a local that is a value has no 'const'"),
    (re.compile(r"(?<![\w>])::(llvm|mlir|std)(?=::)"), r"\1", "a namespace is written as {}::"),
)


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cpp", ".h"):
                yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--root", type=pathlib.Path, default=default)
    parser.add_argument("--fix", action="store_true", help="rewrite the files")
    parser.add_argument("folders", nargs="*", help="only files under these folders")
    options = parser.parse_args()
    wrong = []
    for path in sources(options.root):
        name = path.relative_to(options.root).as_posix()
        if options.folders and not name.startswith(tuple(options.folders)):
            continue
        text = path.read_text()
        for pattern, instead, rule in RULES:
            if options.fix and instead:
                text = pattern.sub(instead, text)
            for found in pattern.finditer(text):
                line = text.count("\n", 0, found.end()) + 1
                what = " ".join(found.group().split())
                wrong.append(f"{name}:{line}: '{what}': {rule.format(found.group(1))}")
        if options.fix and text != path.read_text():
            path.write_text(text)
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
