"""The virtual environments: made once, in the build folder, each from its requirements."""

import subprocess


def requirements(paths, name):
    """The file that lists what is installed."""
    suffix = f"-{name}" if name else ""
    return paths.root / f"bench/search/requirements{suffix}.txt"


def make(paths, name=""):
    """Makes one unless it is there for the same requirements.

    Returns None, or one line on why there is none.
    """
    folder = paths.environment(name)
    wanted = requirements(paths, name).read_text()
    stamp = folder / "complete"
    if stamp.exists() and stamp.read_text() == wanted:
        return None
    pip = [folder / "bin/pip", "install", "--quiet", "--requirement"]
    commands = (
        ["/usr/bin/python3", "-m", "venv", "--clear", folder],
        [*pip, requirements(paths, name)],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            lines = (done.stderr or done.stdout).strip().splitlines()
            return lines[-1] if lines else f"exit code {done.returncode}"
    stamp.write_text(wanted)
    return None
