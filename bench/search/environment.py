"""The virtual environment: made once, in the build folder."""

import subprocess

REQUIREMENTS = "bench/search/requirements.txt"


def make(paths):
    """Makes it unless it is there for the same requirements.

    Returns None, or one line on why there is none.
    """
    wanted = (paths.root / REQUIREMENTS).read_text()
    stamp = paths.environment / "complete"
    if stamp.exists() and stamp.read_text() == wanted:
        return None
    pip = [paths.environment / "bin/pip", "install", "--quiet", "--requirement"]
    commands = (
        ["/usr/bin/python3", "-m", "venv", "--clear", paths.environment],
        [*pip, paths.root / REQUIREMENTS],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            lines = (done.stderr or done.stdout).strip().splitlines()
            return lines[-1] if lines else f"exit code {done.returncode}"
    stamp.write_text(wanted)
    return None
