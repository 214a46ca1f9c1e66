"""The wheel, installed where there is nothing else."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

import shardopt as so

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(so.__file__).parent


PLAN = """
import shardopt as so

model = so.load_model("config.json", so.Decode(context=24))
try:
    so.plan(so.Problem(model, max_devices=4, simulator="roofline", searcher="{0}", budget=8))
    print("planned by {0}")
except so.ShardoptError as error:
    print(error)
"""


@unittest.skipUnless(
    importlib.util.find_spec("scikit_build_core"), "scikit-build-core is not installed"
)
class WheelTest(unittest.TestCase):
    """Its module is that of this build: pip would compile it again."""

    def run_in(self, folder, *words, **more):
        left_out = ("PYTHONPATH", "SHARDOPT_AGENT_TORCH", "SHARDOPT_RESEARCH")
        env = {name: value for name, value in os.environ.items() if name not in left_out}
        env |= more
        done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_plans_from_a_clean_environment(self):
        with tempfile.TemporaryDirectory() as folder:
            self.check_in(Path(folder))

    def check_in(self, folder):
        source = folder / "source"
        shutil.copytree(
            PACKAGE,
            source / "python/shardopt",
            ignore=shutil.ignore_patterns("__pycache__", ".*"),
        )
        for name in ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, source / name)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
        self.run_in(
            source,
            *(*pip, "wheel", ".", "--no-deps", "--no-build-isolation", "--no-index"),
            *("--config-settings", "wheel.cmake=false"),
            *("--config-settings", "wheel.platlib=true", "--wheel-dir", str(folder)),
        )
        (wheel,) = folder.glob("shardopt-*.whl")
        names = zipfile.ZipFile(wheel).namelist()
        for name in ("py.typed", "_shardopt.pyi", "engines.json", "cli.py"):
            self.assertIn(f"shardopt/{name}", names)
        self.assertEqual([name for name in names if "test" in name], [])

        clean = folder / "clean"
        self.run_in(folder, sys.executable, "-m", "venv", "--without-pip", str(clean))
        python = str(clean / "bin/python")
        self.run_in(
            folder, *pip[:3], "--python", python, "install", "--no-index", "--no-deps", str(wheel)
        )
        shutil.copy(ROOT / "examples/models/small-moe.json", folder / "config.json")
        command = [str(clean / "bin/shardopt"), "plan", "config.json", "--context", "24"]
        command += ["--machine", "h200_sxm", "--max-devices", "4", "--format", "json"]
        plan = json.loads(self.run_in(folder, *command))
        model = so.load_model(ROOT / "examples/models/small-moe.json", so.Decode(context=24))
        here = so.plan(so.Problem(model, machine="h200_sxm", max_devices=4))
        self.assertEqual(plan["strategy"], here.strategy.to_dict())
        where = "import shardopt; print(shardopt.version(), shardopt.__file__)"
        self.assertIn(str(clean), self.run_in(folder, python, "-c", where))
        self.assertEqual(
            self.run_in(folder, python, "-m", "shardopt", "--version"),
            self.run_in(folder, str(clean / "bin/shardopt"), "--version"),
        )
        self.check_networks(folder, python)
        self.check_baselines(folder, python)

    def check_networks(self, folder, python):
        """It has none, says where they come from, and takes those of a build tree."""
        self.assertRegex(
            self.run_in(folder, python, "-c", PLAN.format("ppo")),
            "which is not next to shardopt.* './dev build ShardOptAgentTorch'"
            ".* set SHARDOPT_AGENT_TORCH to ",
        )
        module = PACKAGE.parents[1] / "lib/libShardOptAgentTorch.so"
        if module.exists():
            code = PLAN.format("ppo")
            found = self.run_in(folder, python, "-c", code, SHARDOPT_AGENT_TORCH=str(module))
            self.assertEqual(found, "planned by ppo\n")

    def check_baselines(self, folder, python):
        """They are in a module beside `_shardopt`, where CMake installs it."""
        code = PLAN.format("genetic")
        error = self.run_in(folder, python, "-c", code)
        self.assertRegex(error, "libShardOptResearch.so, which is not next to shardopt .searched: ")
        self.assertRegex(error, "'pip install shardopt'.* or set SHARDOPT_RESEARCH to the file")
        (package,) = folder.glob("clean/lib/python*/site-packages/shardopt")
        shutil.copy(PACKAGE.parents[1] / "lib/libShardOptResearch.so", package)
        self.assertEqual(self.run_in(folder, python, "-c", code), "planned by genetic\n")


class BuildTest(unittest.TestCase):
    def test_says_what_to_install(self):
        for package, names in (("MLIR", "llvm-22-dev libmlir-22-dev"), ("simdjson", "libsimdjson-dev")):
            with tempfile.TemporaryDirectory() as folder:
                command = ["cmake", "-S", str(ROOT), "-B", folder]
                command += [f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON"]
                done = subprocess.run(command, capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            said = " ".join(done.stderr.split())
            self.assertIn(f"is not installed. On Debian 12: apt-get install {names}", said)

    def test_a_missing_compiler_is_named_with_its_packages(self):
        """pip names the compiler of its interpreter, which need not be there."""
        for changes, said in (({"CC": "gcc", "PATH": "/none"}, "The compiler 'gcc', which CC names,"),
                              ({"CXX": "no-such-g++ -m64"}, "The compiler 'no-such-g++', which CXX")):
            with self.subTest(changes), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    [shutil.which("cmake"), "-S", str(ROOT), "-B", folder,
                     "-DCMAKE_MAKE_PROGRAM=make"],
                    capture_output=True, text=True, env={**os.environ, **changes},
                )
                self.assertNotEqual(done.returncode, 0)
                text = " ".join(done.stderr.split())
                self.assertIn(said, text)
                self.assertIn("apt-get install g++ cmake", text)


if __name__ == "__main__":
    unittest.main()
