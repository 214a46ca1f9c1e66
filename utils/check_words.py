#!/usr/bin/env python3
"""Checks that user-facing text uses the words of the field.

utils/words.txt lists the words that fail, and what to write instead. User-facing are
Markdown pages without code, and strings with a space in the C++ sources (help, tables,
messages), in the summaries of TableGen and .def files, and in the Python package.
Tests and generated pages are not, nor comments of C++. Comments and docstrings of the
package are held to the words that are wrong wherever they stand, which a line of
`# comments too:` in the list begins.
"""

import argparse
import ast
import io
import pathlib
import re
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: Literals with only white space between them, which are one string.
LITERALS = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')
JOINT = re.compile(r'"\s*"')
#: Options and quoted names are what they are.
NAME = re.compile(r"--[\w-]+|'[\w-]+'")
NOT_PROSE = re.compile(r"^(```|~~~).*?^\1|<!--.*?-->|`[^`\n]*`|\]\([^)]*\)", re.M | re.S)


def read_words(path):
    """Yields (pattern, what to write instead, whether comments are held to it)."""
    is_of_comments = False
    for line in path.read_text(encoding="utf-8").splitlines():
        is_of_comments = is_of_comments or line.startswith("# comments too:")
        if line and not line.startswith("#"):
            pattern, _, instead = line.partition("\t")
            yield re.compile(pattern, re.IGNORECASE), instead, is_of_comments


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


def documents_of(tree):
    """Docstrings, those of fields too."""
    own = (node for node in ast.walk(tree) if isinstance(getattr(node, "body", None), list))
    for node in own:
        for each in node.body:
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                yield each.value


def of_python(text):
    """String constants other than docstrings."""
    tree = ast.parse(text)
    documents = {id(document) for document in documents_of(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in documents:
                yield node.lineno, node.value


def of_python_comments(text):
    """Docstrings, and runs of comments on lines of their own."""
    for document in documents_of(ast.parse(text)):
        if isinstance(document.value, str):
            yield document.lineno, re.sub(r"`[^`\n]*`", " ", document.value)
    first, said = 0, []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            first = first if said else token.start[0]
            said.append(token.string)
        elif said and token.type != tokenize.NL:
            yield first, "\n".join(said)
            said = []


COMMENTS = re.compile(r"(?:^[ \t]*//.*\n)+|[^:\"\n]//[^\n\"]*$", re.M)


def of_cpp_comments(text):
    """Runs of comments on lines of their own, and those behind code, without code."""
    for found in COMMENTS.finditer(text):
        line = 1 + text.count("\n", 0, found.start())
        yield line, re.sub(r"`[^`\n]*`", " ", re.sub(r"^[ \t]*///?<?", "", found.group(0), flags=re.M))


def sources(root):
    """Yields (file, how to take its texts, whether these are comments)."""
    for file in sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")]):
        if "reference" not in file.relative_to(root).parts:
            yield file, of_page, False
    for folder, pattern in [
        ("lib", "*.cpp"), ("lib", "*.h"), ("tools", "*.cpp"), ("tools", "*.h"), ("python/src", "*.cpp"),
        ("include", "*.td"), ("include", "*.def"), ("include", "*.h"),
    ]:
        for file in sorted((root / folder).rglob(pattern)):
            yield file, of_cpp, False
            yield file, of_cpp_comments, True
    for file in sorted((root / "python/shardopt").rglob("*.py")):
        yield file, of_python, False
        yield file, of_python_comments, True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    args = parser.parse_args()
    words = list(read_words(ROOT / "utils/words.txt"))
    found = []
    for file, texts, are_comments in sources(args.root):
        for line, text in texts(file.read_text(encoding="utf-8")):
            if " " not in text:
                continue
            text = NAME.sub(" ", text)
            for pattern, instead, is_of_comments in words:
                if are_comments and not is_of_comments:
                    continue
                hit = pattern.search(text)
                if hit:
                    place = f"{file.relative_to(args.root)}:{line + text.count(chr(10), 0, hit.start())}"
                    found.append(f"{place}: '{hit.group(0)}', write: {instead}")
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
