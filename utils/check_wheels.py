#!/usr/bin/env python3
"""Installs wheels into empty environments and plans with them.

For each wheel of a folder: its size, the glibc that its tag and its symbols need, that pip
refuses it on an older one, and the seconds of an install and of a first plan. Fails if a
symbol is newer than the tag, if the tag is newer than what is promised, if pip takes the
wheel where it could not run, or if there is no plan. Needs objdump; `./dev wheel` runs it.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import zipfile

#: The glibc that the README promises, as built on Debian 12 (python/src/OlderGlibc.cpp).
MOST = 34
NAME = re.compile(r"-cp3(\d+)-(?P<abi>\w+)-manylinux_2_(?P<glibc>\d+)_(?P<machine>\w+)\.whl$")


def glibc_of(wheel, folder):
    """The minor version of the newest symbol of glibc that the wheel's libraries need."""
    newest = 0
    with zipfile.ZipFile(wheel) as archive:
        libraries = [name for name in archive.namelist() if ".so" in pathlib.Path(name).name]
        archive.extractall(folder, libraries)
    for name in libraries:
        table = subprocess.run(
            ["objdump", "-T", folder / name], capture_output=True, text=True, check=True
        ).stdout
        newest = max([newest, *map(int, re.findall(r"\bGLIBC_2\.(\d+)", table))])
    return newest


def is_taken(pip, wheel, found, glibc, folder):
    """Whether pip takes the wheel on a machine whose glibc is 2.`glibc`."""
    done = subprocess.run(
        [*pip, "download", "--quiet", "--no-index", "--no-deps", "--only-binary", ":all:",
         "--find-links", wheel.parent, "--python-version", f"3.{found[1]}",
         "--implementation", "cp", "--abi", found["abi"],
         "--platform", f"manylinux_2_{glibc}_{found['machine']}", "--dest", folder, "shardopt"],
        capture_output=True, text=True,
    )
    return done.returncode == 0


def run_in_environment(python, wheel, folder):
    """Seconds of an install into an empty environment, and of a first plan."""
    run = lambda *words: subprocess.run(words, check=True, capture_output=True, text=True)
    run(python, "-m", "venv", folder)
    start = time.monotonic()
    run(f"{folder}/bin/pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel)
    installed = time.monotonic()
    plan = run(f"{folder}/bin/shardopt", "plan", "llama-3.1-70b", "--devices", "8", "--isl", "2000",
               "--osl", "300")
    assert "tokens/s per GPU" in plan.stdout
    return installed - start, time.monotonic() - installed


def check(wheel, python):
    found = NAME.search(wheel.name)
    if not found:
        return [f"{wheel.name}: no manylinux tag with the version of glibc"]
    tag, faults = int(found["glibc"]), []
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        needed = glibc_of(wheel, folder / "unpacked")
        if needed > tag:
            faults.append(f"{wheel.name}: needs glibc 2.{needed}, and its tag says 2.{tag}")
        if tag > MOST:
            faults.append(f"{wheel.name}: its tag says glibc 2.{tag}, expected 2.{MOST} at most")
        if not is_taken(pip, wheel, found, tag, folder / "same"):
            faults.append(f"{wheel.name}: pip does not take it on glibc 2.{tag}")
        for older in (17, 28, tag - 1):
            if is_taken(pip, wheel, found, older, folder / str(older)):
                faults.append(f"{wheel.name}: pip takes it on glibc 2.{older}")
        said = f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, glibc 2.{needed} (tag 2.{tag})"
        if python is None:
            print(f"{said}, not installed: no CPython 3.{found[1]} is given")
            return faults
        install, plan = run_in_environment(python, wheel, folder / "env")
    print(f"{said}, installed in {install:.1f} s, first plan in {plan:.2f} s")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("pythons", nargs="*", help="interpreters to install wheels into")
    args = parser.parse_args()
    by_version = {}
    for python in args.pythons:
        code = "import sys; print(sys.version_info[1])"
        done = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
        by_version.setdefault(done.stdout.strip(), python)
    wheels = sorted(args.folder.resolve().glob("*.whl"))
    if not wheels:
        print(f"{args.folder}: no wheels", file=sys.stderr)
        return 1
    faults = []
    for wheel in wheels:
        found = NAME.search(wheel.name)
        faults += check(wheel, by_version.get(found[1]) if found else None)
    print("".join(f"{fault}\n" for fault in faults), file=sys.stderr, end="")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
