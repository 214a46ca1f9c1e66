#!/usr/bin/env python3
"""Checks how long the sentences of Markdown pages are.

A page fails if its mean sentence has more than 18 words, if more than 3 % of its
sentences have more than 30, or if it has more than 300 lines; a change log may be longer. `--list` prints the means of all pages, `--long` the long
sentences.

Counted is prose alone: paragraphs, list items and quotes. Headings, tables, code blocks,
comments and pictures are left out. A link counts as its text, and a span of inline code
as one word. A sentence ends with ".", "!" or "?" before a space, or with its paragraph or
list item; a colon or semicolon ends none. Pieces of fewer than four words, names in lists
for example, are no sentences and would lower the mean, so they are left out too.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEAN, LONG, SHARE, LEAST, LINES = 18, 30, 0.03, 4, 300

NOT_PROSE = [
    re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL),
    re.compile(r"(?<=\n\n)(?: {4}.*\n)+"),
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"^ *\|.*$", re.MULTILINE),
    re.compile(r"^#+ .*$", re.MULTILINE),
    re.compile(r"^.*\n[=-]{3,} *$", re.MULTILINE),
    re.compile(r"!\[[^]]*\]\([^)]*\)"),
    re.compile(r"^\[[^]]+\]: .*$", re.MULTILINE),
]
CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+|^\s*>\s?", re.MULTILINE)
END = re.compile(r"(?<=[.!?])[)\"”*_]*\s+(?=[^a-z])")
#: Their full stops end no sentence.
SHORT = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|No|Fig|approx)\.")


def paragraphs(text):
    """The paragraphs and list items of a page, each in one line."""
    for pattern in NOT_PROSE:
        text = pattern.sub("\n\n", text) if pattern.flags & re.DOTALL else pattern.sub("", text)
    text = CODE.sub("Code", text)
    text = LINK.sub(r"\1", text)
    text = ITEM.sub("\n\n", text)
    for piece in re.split(r"\n\s*\n", text):
        if piece.strip():
            yield " ".join(piece.split())


def sentences(text):
    """Yields (sentence, its number of words)."""
    for paragraph in paragraphs(text):
        for sentence in END.split(SHORT.sub(r"\1", paragraph)):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if len(words) >= LEAST:
                yield sentence, len(words)


def newest_part(text):
    """The newest part of the change log: up to its second heading of a version."""
    starts = [found.start() for found in re.finditer(r"^## ", text, re.MULTILINE)]
    return text[: starts[1]] if len(starts) > 1 else text


def read(page):
    text = page.read_text(encoding="utf-8")
    return newest_part(text) if page.name == "CHANGELOG.md" else text


def default_pages(root):
    """Every page written by hand: docs/reference is generated."""
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md")]
    return sorted(page for page in pages if "reference" not in page.relative_to(root).parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the figures of all pages")
    parser.add_argument("--long", action="store_true", help="print the long sentences")
    parser.add_argument("pages", nargs="*", type=pathlib.Path, help="default: all")
    args = parser.parse_args()

    failed = False
    for page in args.pages or default_pages(ROOT):
        lines = page.read_text(encoding="utf-8").count("\n")
        if lines > LINES and page.name != "CHANGELOG.md":
            failed = True
            print(f"{page}: {lines} lines (at most {LINES})", file=sys.stderr)
        counted = list(sentences(read(page)))
        if not counted:
            continue
        mean = sum(words for _, words in counted) / len(counted)
        long = [sentence for sentence, words in counted if words > LONG]
        bad = mean > MEAN or len(long) > SHARE * len(counted)
        failed |= bad
        if bad or args.list:
            print(
                f"{page.relative_to(ROOT) if page.is_relative_to(ROOT) else page}: mean {mean:.1f} words (at most {MEAN}), {len(long)} of {len(counted)} "
                f"sentences above {LONG} (at most {SHARE:.0%})",
                file=sys.stdout if args.list else sys.stderr,
            )
        if args.long:
            print("".join(f"  {len(one.split())}: {one}\n" for one in long), end="")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
