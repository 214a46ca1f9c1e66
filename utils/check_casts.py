#!/usr/bin/env python3
"""Fails where a folder that writes casts of numbers one way writes them another.

`double(x)` is the way; `static_cast` is for pointers, references and types of
several words. A folder joins the list once it has no other left.
"""

import argparse
import pathlib
import re
import sys

FOLDERS = ("lib/Search", "lib/Solvers", "lib/Support", "lib/Target", "tools")
NUMBER = r"(?:std::)?(?:double|float|int|unsigned|bool|size_t|ptrdiff_t|u?int(?:8|16|32|64)_t)"
CAST = re.compile(rf"static_cast<({NUMBER})>\(|[=(,] \(({NUMBER})\)\w")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--root", type=pathlib.Path, default=default)
    root, wrong = parser.parse_args().root, []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h"):
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                for found in CAST.finditer(line):
                    place = f"{path.relative_to(root).as_posix()}:{number}"
                    kind = found.group(1) or found.group(2)
                    wrong.append(f"{place}: '{found.group().strip()}', expected {kind}(…)")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
