#!/usr/bin/env python3
"""Checks that user-facing text uses the words of the field.

utils/words.txt lists the words that fail, and what to write instead. User-facing are
Markdown pages without code, and strings with a space in the C++ sources (help, tables,
messages), in the summaries of TableGen and .def files, and in the Python package without
its docstrings. Comments, tests and generated pages are not.
"""

import argparse
import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: Literals with only white space between them, which are one string.
LITERALS = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')
JOINT = re.compile(r'"\s*"')
#: Options and quoted names are what they are.
NAME = re.compile(r"--[\w-]+|'[\w-]+'")
NOT_PROSE = re.compile(r"^(```|~~~).*?^\1|<!--.*?-->|`[^`\n]*`|\]\([^)]*\)", re.M | re.S)


def read_words(path):
    """Yields (pattern, what to write instead)."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            pattern, _, instead = line.partition("\t")
            yield re.compile(pattern, re.IGNORECASE), instead


#: Summaries of fields whose names are older: a change there builds everything again.
EXCEPTED = {"include/shardopt/Model/RequestFields.def"}


def blank(match):
    """As many lines, without the text."""
    return "\n" * match.group(0).count("\n") + " "


def of_page(text):
    """The prose of a page: (line, text), paragraph by paragraph."""
    line = 1
    for piece in re.split(r"(\n\s*\n)", NOT_PROSE.sub(blank, text)):
        yield line, piece
        line += piece.count("\n")


def of_cpp(text):
    """String literals outside of comments."""
    text = re.sub(r"^[ \t]*(//|#).*$", "", text, flags=re.M)
    for found in LITERALS.finditer(text):
        line = 1 + text.count("\n", 0, found.start())
        yield line, JOINT.sub("", found.group(0))


def of_python(text):
    """String constants other than docstrings."""
    tree = ast.parse(text)
    own = (node for node in ast.walk(tree) if isinstance(getattr(node, "body", None), list))
    documents = {
        id(first.value)
        for node in own
        for first in node.body
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in documents:
                yield node.lineno, node.value


def sources(root):
    """Yields (file, how to take its texts)."""
    for file in sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")]):
        if "reference" not in file.relative_to(root).parts:
            yield file, of_page
    for folder, pattern in [
        ("lib", "*.cpp"), ("lib", "*.h"), ("tools", "*.cpp"), ("tools", "*.h"), ("python/src", "*.cpp"),
        ("include", "*.td"), ("include", "*.def"), ("include", "*.h"),
    ]:
        for file in sorted((root / folder).rglob(pattern)):
            if str(file.relative_to(root)) not in EXCEPTED:
                yield file, of_cpp
    for file in sorted((root / "python/shardopt").rglob("*.py")):
        yield file, of_python


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    args = parser.parse_args()
    words = list(read_words(ROOT / "utils/words.txt"))
    found = []
    for file, texts in sources(args.root):
        for line, text in texts(file.read_text(encoding="utf-8")):
            if " " not in text:
                continue
            text = NAME.sub(" ", text)
            for pattern, instead in words:
                hit = pattern.search(text)
                if hit:
                    place = f"{file.relative_to(args.root)}:{line + text.count(chr(10), 0, hit.start())}"
                    found.append(f"{place}: '{hit.group(0)}', write: {instead}")
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
