#!/usr/bin/env python3
"""Writes docs/reference from the ODS files, or with --check compares.

Every page is the output of one mlir-tblgen generator on one .td file.
"""

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TBLGEN = "/usr/lib/llvm-22/bin/mlir-tblgen"
LLVM_INCLUDE = "/usr/lib/llvm-22/include"

IR = "include/shardopt/Dialect/LLM/IR"

# page, title, .td file, generator and its flags
PAGES = [
    ("LLMOps.md", "Operations", f"{IR}/LLMOps.td", ["-gen-op-doc"]),
    ("LLMAttributes.md", "Attributes", f"{IR}/LLMAttributes.td", ["-gen-attrdef-doc"]),
    ("LLMEnums.md", "Enumerations", f"{IR}/LLMAttributes.td", ["-gen-enum-doc"]),
    (
        "LLMInterfaces.md",
        "Op interfaces",
        f"{IR}/LLMInterfaces.td",
        ["-gen-op-interface-docs"],
    ),
    (
        "LLMPasses.md",
        "Passes",
        "include/shardopt/Dialect/LLM/Transforms/Passes.td",
        ["-gen-pass-doc"],
    ),
]


def page(title, td, flags):
    """The text of one page; exits with tblgen's message when it fails."""
    result = subprocess.run(
        [TBLGEN, *flags, f"-I{ROOT / 'include'}", f"-I{LLVM_INCLUDE}", str(ROOT / td)],
        capture_output=True,
        text=True,
    )
    if result.returncode != 0:
        sys.exit(result.stderr)
    body = "\n".join(line.rstrip() for line in result.stdout.splitlines()).strip()
    return f"<!-- Generated from {td} by ./dev docs. Do not edit. -->\n\n# {title}\n\n{body}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail on a difference")
    check = parser.parse_args().check

    folder = ROOT / "docs/reference"
    pages = {name: page(title, td, flags) for name, title, td, flags in PAGES}
    stale = sorted(
        path.name for path in folder.glob("*.md") if path.name not in pages
    ) + [
        name
        for name, text in pages.items()
        if not (folder / name).is_file() or (folder / name).read_text() != text
    ]
    if check:
        for name in stale:
            print(f"docs/reference/{name} differs: run ./dev docs", file=sys.stderr)
        return 1 if stale else 0

    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.md"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
