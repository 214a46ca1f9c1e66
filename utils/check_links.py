#!/usr/bin/env python3
"""Checks links of Markdown pages: each file and heading exists, and docs/README.md lists
each page of docs/."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)]*))?\)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def prose(page):
    return FENCED.sub("", page.read_text())


def anchors(page):
    """The anchors that headings have, as GitHub makes them."""
    found = set()
    for heading in HEADING.findall(prose(page)):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return found


def broken_links(page):
    for target, anchor in LINK.findall(prose(page)):
        if "://" in target or not (target or anchor):
            continue
        file = page.parent / target if target else page
        if not file.exists():
            yield f"no file {target}"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"no heading for {target}#{anchor}"


def main():
    pages = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    broken = [
        f"{page.relative_to(ROOT)}: {what}" for page in pages for what in broken_links(page)
    ]
    index = ROOT / "docs/README.md"
    listed = {(index.parent / target).resolve() for target, _ in LINK.findall(index.read_text())}
    for page in pages:
        if page.parent != ROOT and page != index and page.resolve() not in listed:
            broken.append(f"{page.relative_to(ROOT)}: not listed in docs/README.md")
    print("\n".join(broken), file=sys.stderr, end="\n" if broken else "")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
