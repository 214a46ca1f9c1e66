"""Parts of pages that programs write, between two comments."""

import argparse
import pathlib
import sys


def printed(lines):
    """The text of `lines`, each printed as soon as it is made."""
    made = []
    for line in lines:
        print(line, flush=True)
        made.append(line)
    return "\n".join(made)


def with_part(text, begin, end, part):
    """`text` with `part` between its comments `begin` and `end`."""
    head, rest = text.split(begin, 1)
    tail = rest.split(end, 1)[1]
    return f"{head}{begin}\n\n{part}\n\n{end}{tail}"


def write_part(bench, text, page, begin, end, lines):
    """The command line of a bench that `text` tells of: prints the `lines` of the package in a
    build, and with --page writes them into `page`."""
    parser = argparse.ArgumentParser(prog=f"./dev bench {bench}", description=text.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--page", action="store_true", help=f"write the table into docs/{page.name}")
    args = parser.parse_args()
    sys.path.insert(0, str(args.build.resolve() / "python"))
    import shardopt as so
    import shardopt.services

    table = printed(lines(so))
    if args.page:
        page.write_text(with_part(page.read_text(), begin, end, table))
