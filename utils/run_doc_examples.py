#!/usr/bin/env python3
"""Runs or parses every example of Markdown pages, so that the pages stay true.

| fenced as | what is done |
|---|---|
| console | commands behind "$ " run. What follows is what they print (stdout and stderr); a line "…" is any number of lines. A command without output promises exit status 0 |
| sh | commands of readers, on their files or clusters, are parsed: by bash, and by the parsers of our own tools |
| mlir | shard-opt parses, verifies and prints it |
| python | it runs with the package of the build |
| py | it needs other packages, and is compiled |
| json | it is read; machines and clusters by their readers |
| c, tablegen | it is compiled, or parsed, with the headers of the tree |
| c++, cmake | its lines are those of a file of test/Install, which the tests build |
| text | output, which other tests hold |

Another kind is an error. Where the Python package was left out, what needs it is skipped,
with a message. Commands run in a scratch folder that sees the tree's examples/ and
machines/ and, as build/, the given build folder, whose bin/ is in PATH.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

FENCE = re.compile(r"^```([\w+]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Programs of others in commands of readers.
OTHERS = {"docker", "kubectl", "pip", "printf", "python3", "sbatch", "sh", "source"}


def blocks(path):
    """Yields (line number, language, text) for every fenced block of a page."""
    page = path.read_text()
    for match in FENCE.finditer(page):
        yield page.count("\n", 0, match.start(2)) + 1, match.group(1), match.group(2)


def commands(text):
    """Splits a console block into (offset of its line, command, lines printed)."""
    found = []
    continued = False
    for offset, line in enumerate(text.splitlines()):
        if continued:
            found[-1][1] += "\n" + line
        elif line.startswith("$ "):
            found.append([offset, line[2:], []])
        elif found:
            found[-1][2].append(line)
        if continued or line.startswith("$ "):
            continued = line.endswith("\\")
    return found


def agrees(wanted, printed):
    """Whether `printed` has the form of `wanted`, "…" being any lines."""
    pattern = "".join(
        "(?:.*\n)*" if line.strip() == "…" else re.escape(line) + "\n"
        for line in wanted
    )
    text = "".join(line.rstrip() + "\n" for line in printed)
    return re.fullmatch(pattern, text) is not None


def environment(scratch):
    """Where commands find those of the build, and Python its package."""
    path = f"{scratch.resolve() / 'build/bin'}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": "build/python"}


def run_command(command, wanted, scratch):
    """None, or what is wrong with one command of a console block."""
    result = subprocess.run(
        ["bash", "-c", command],
        cwd=scratch,
        env=environment(scratch),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if result.returncode != 0:
        return f"exit status {result.returncode}\n{result.stdout}"
    while wanted and not wanted[-1].strip():
        wanted.pop()
    printed = result.stdout.rstrip("\n").splitlines()
    if wanted and not agrees(wanted, printed):
        return "prints something else:\n" + result.stdout
    return None


def parse_ir(text, build):
    """None, or what shard-opt says against an IR block."""
    result = subprocess.run(
        [build / "bin/shard-opt", "-"], input=text, capture_output=True, text=True
    )
    return result.stderr if result.returncode != 0 else None


def run_python(text, scratch):
    """None, or what a block of Python raises."""
    result = subprocess.run(
        [sys.executable, "-"],
        cwd=scratch,
        env=environment(scratch),
        input=text,
        capture_output=True,
        text=True,
    )
    return result.stderr if result.returncode != 0 else None


def compile_python(text, scratch):
    """None, or why a block is no Python."""
    try:
        compile(text, "a block", "exec")
    except SyntaxError as error:
        return str(error)
    return None


#: What says why the arguments behind it are none of `shardopt`.
PARSER = """import sys
from shardopt.arguments import make_parser
_, others = make_parser()[0].parse_known_args(sys.argv[1:])
sys.exit(f"unknown: {others}" if others else 0)
"""


def programs(text):
    """The words of each program in commands, without redirections and variables."""
    for line in text.replace("\\\n", " ").splitlines():
        reader = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
        reader.whitespace_split = True
        words = []
        for word in [*reader, ";"]:
            if word in ("|", "&&", "||", ";", "&"):
                yield from [words] if words else []
                words = []
            elif words or not re.match(r"\w+=", word):
                words.append(word)


def parse_command(words, scratch):
    """None, or why a program does not take its arguments, which are not run."""
    words = words[: next((i for i, word in enumerate(words) if word in "<>"), len(words))]
    name = pathlib.PurePath(words[0]).name
    own = scratch / "build/bin" / name
    if words[0] == "./dev":
        usage = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True).stdout
        is_known = words[1] == "help" or re.search(rf"^  {words[1]}\b", usage, re.M)
        return None if is_known else "no command of ./dev"
    if name == "shardopt":
        result = subprocess.run(
            [sys.executable, "-c", PARSER, *words[1:]],
            cwd=scratch, env=environment(scratch), capture_output=True, text=True,
        )
        return result.stderr if result.returncode != 0 else None
    if own.exists():
        usage = "".join(
            subprocess.run([own, option], capture_output=True, text=True).stdout
            for option in ("--help", "--help-hidden")  # not every tool has the second
        )
        known = set(re.findall(r"(?:^| )-{1,2}([\w-]+)", usage, re.M))
        given = [re.sub(r"^-+|=.*", "", word) for word in words[1:] if word.startswith("-")]
        unknown = [name for name in given if name and name not in known]
        return f"unknown options: {unknown}" if unknown else None
    return None if name in OTHERS else f"unknown program '{name}'"


def parse_commands(text, scratch):
    """None, or what is wrong with commands of readers."""
    result = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
    if result.returncode != 0:
        return result.stderr
    for words in programs(text):
        why = parse_command(words, scratch)
        if why:
            return f"'{shlex.join(words)}': {why}"
    return None


#: What reads block.json, by the members of which it has one: machines, and clusters.
READERS = {
    frozenset(["like", "compute"]):
        "shardopt plan examples/models/small-dense.json --machine block.json --context 24",
    frozenset(["groups"]):
        "shard-opt examples/models/small-moe.mlir -o block.mlir"
        " --llm-search-sharding='tp=4 ep=2 pp=2 simulator=roofline' &&"
        " shard-schedule block.mlir --machine=block.json --rounds=1 --simulator=roofline",
}


def read_json(text, scratch):
    """None, or why a block is no JSON, or not what it looks like."""
    whole = text.replace(", …", "")
    try:
        try:
            values = [json.loads(whole)]
        except ValueError:
            values = [json.loads(line) for line in whole.splitlines()]
    except ValueError as error:
        return str(error)
    known = next((keys for keys in READERS if keys & values[0].keys()), None)
    if known is None:
        return None
    (scratch / "block.json").write_text(text)
    return run_command(READERS[known], [], scratch)


def compile_c(text, scratch):
    """None, or what a compiler says against declarations in C."""
    result = subprocess.run(
        ["cc", "-std=c99", "-fsyntax-only", "-I", ROOT / "include", "-x", "c", "-"],
        input=text, capture_output=True, text=True,
    )
    return result.stderr if result.returncode != 0 else None


def parse_tablegen(text, scratch):
    """None, or what is wrong with operators of the dialect."""
    around = 'include "shardopt/Dialect/LLM/IR/LLMFeedForwardOps.td"\n'
    with tempfile.NamedTemporaryFile("w", suffix=".td") as file:
        file.write(around + text)
        file.flush()
        result = subprocess.run(
            [shutil.which("mlir-tblgen-22") or "mlir-tblgen", "-I", ROOT / "include",
             "-I", "/usr/lib/llvm-22/include", "-gen-op-decls", file.name],
            capture_output=True, text=True,
        )
    return result.stderr if result.returncode != 0 else None


def held_elsewhere(text, scratch):
    """None, or that no file which the tests build has the lines of a block, in order."""
    wanted = [line.split("//")[0].strip() for line in text.splitlines()]
    wanted = [line for line in wanted if line]
    for file in sorted((ROOT / "test/Install").rglob("*")):
        if file.is_file():
            lines = iter(line.strip() for line in file.read_text().splitlines())
            if all(line in lines for line in wanted):
                return None
    return "no file of test/Install has these lines"


#: What checks a block as a whole, by its kind.
CHECKS = {
    "c": compile_c,
    "c++": held_elsewhere,
    "cmake": held_elsewhere,
    "json": read_json,
    "py": compile_python,
    "python": run_python,
    "sh": parse_commands,
    "tablegen": parse_tablegen,
    "text": lambda text, scratch: None,
}


def wrong_examples(page, scratch, build):
    """Yields (line number, what is wrong) for the examples of one page."""
    has_package = (build / "bin/shardopt").exists()
    for number, language, text in blocks(page):
        if not has_package and (language == "python" or "shardopt " in text):
            print(f"{page}:{number}: skipped, the Python package was left out")
        elif language == "console":
            for offset, command, wanted in commands(text):
                why = run_command(command, wanted, scratch)
                if why:
                    yield number + offset, f"'{command}' {why}"
        elif language == "mlir":
            why = parse_ir(text, build)
            if why:
                yield number, why
        elif language == "c++" and "reference" in page.parts:
            pass  # declarations that generate_docs.py writes
        elif language not in CHECKS:
            yield number, f"nothing checks blocks of '{language}'; known: {', '.join(CHECKS)}"
        else:
            why = CHECKS[language](text, scratch)
            if why:
                yield number, why


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("pages", nargs="+", type=pathlib.Path, help="page or folder")
    args = parser.parse_args()

    shutil.rmtree(args.scratch, ignore_errors=True)
    args.scratch.mkdir(parents=True)
    for name, target in [
        ("build", args.build.resolve()),
        ("examples", ROOT / "examples"),
        ("machines", ROOT / "machines"),
    ]:
        (args.scratch / name).symlink_to(target)

    pages = []
    for page in args.pages:
        pages += sorted(page.rglob("*.md")) if page.is_dir() else [page]
    failed = False
    for page in pages:
        for number, why in wrong_examples(page, args.scratch, args.build):
            failed = True
            print(f"{page}:{number}: {why}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
