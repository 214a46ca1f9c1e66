#!/usr/bin/env python3
"""Odd uses of the command `shardopt` and of the Python package, in the working folder.

usage: package.py <seed> <folder of the package>

Every answer is a result, or one clear error: of the command a line and the exit code 1
or 2, of the package a `ShardoptError`. No text is run as a command, and no file is lost
that was read. What breaks this is said in a line that begins with FINDING.
"""

import contextlib
import io
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from fuzz import mutate  # noqa: E402  (found through the line above)

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "examples/models"
ACTIONS = 12
MARK = "ran-a-command"
# Of engines, for which scripts of exports are tried.
PROGRAMS = ("vllm", "python3", "python", "trtllm-serve", "torchrun", "shardopt")
NAMES = (
    f"$(touch {MARK})",
    f"`touch {MARK}`",
    f"x;touch {MARK}",
    f"x\ntouch {MARK}",
    f"'; touch {MARK}; '",
    f'"; touch {MARK}; "',
    f"exec:touch {MARK}; cat",
    f"plugin:./{MARK}.so",
    f"${{IFS}}$(touch${{IFS}}{MARK})",
    f"$NODE_RANK;touch {MARK}",
    "--trust-remote-code",
    "-rf",
    "a b",
    "",
    "é" * 300,
    "\ud800",
    "\udcff",
    "a\0b",
    "../../x",
    "/dev/null",
    "/dev/zero",
    "x" * 5000,
    "<script>",
    "nan",
    "inf",
    "-1",
    "0",
    "²",
    "٣",
    "9" * 400,
    "9" * 5000,
    "1e400",
)


#: What `check` reads: commands, and documents told by their content.
_CHECKED = (
    "vllm serve x --tensor-parallel-size=2 --max-num-seqs 8 --enable-expert-parallel",
    "X=2; for i in 1 2; do docker run -e A=$X img vllm serve m -tp ${X:-1} \"$@\" | tee log & done",
    "cat > o.yml <<E\ntensor_parallel_size: 2\nE\nsrun -n 2 trtllm-serve m --config o.yml",
    "python3 -m sglang.launch_server --tp $((1 * 2)) --dp 2 --enable-dp-attention",
)


class Odd:
    """An object of nobody's."""

    def __repr__(self):
        return "Odd\n()"


def nested(depth=40):
    value = [1]
    for _ in range(depth):
        value = [value, value]
    return value


VALUES = (
    (None, True, False, 0, 1, -1, 2, 3, 8, 2**31, 2**63, 2**64, 10**400, 10**5000)
    + (0.5, -0.0, 1e308, float("nan"), float("inf"), -float("inf"), 5e-324, 1j)
    + (b"x", [], (), {}, set(), [1], [[1]], {"tp": 2}, {1: 2}, Odd(), Odd, len)
    + (range(3), nested(), *NAMES)
)


class Run:
    """A session of actions that share files."""

    def __init__(self, rng):
        import shardopt

        self.rng, self.so = rng, shardopt
        self.inputs = {}
        shutil.copy(MODELS / "small-moe.json", "config.json")
        model = shardopt.load_model("config.json", shardopt.Decode(context=24))
        self.problem = shardopt.Problem(model, max_devices=4, simulator="roofline")
        engine = rng.choice((None, "vllm", "sglang"))
        self.plan = shardopt.plan(self.problem.replace(engine=engine))
        self.text = self.plan.to_json()
        for name in ("config.json",):
            self.keep(name)

    def keep(self, name, content=None):
        """A file that no action may change."""
        if content is not None:
            data = content.encode("utf-8", "surrogatepass")
            pathlib.Path(name).write_bytes(data)
        self.inputs[name] = pathlib.Path(name).read_bytes()
        return name

    def odd(self):
        return self.rng.choice(VALUES)

    def name(self):
        return self.rng.choice(NAMES)

    # Files.

    def plan_file(self):
        """A plan file, most of them changed."""
        rng, text = self.rng, self.text
        kind = rng.randrange(4)
        if kind == 0:
            values = json.loads(text)
            holder = rng.choice([values, *(values[key] for key in ("problem", "model"))])
            holder[rng.choice(list(holder))] = rng.choice(NAMES)
            text = json.dumps(values)
        elif kind == 1:
            name = rng.choice(NAMES).encode("utf-8", "replace").decode()
            values = json.loads(text)
            module = values["model"]["module"]
            said = json.dumps(name, ensure_ascii=False)
            changed = re.sub(r'llm\.model = "[^"]*"', lambda _: f"llm.model = {said}", module)
            values["model"]["module"] = changed
            text = json.dumps(values)
        elif kind == 2:
            text = mutate.document(rng, text)
        return self.keep(rng.choice(("plan.json", "plan.html.json", "-p.json", "p 1.json")), text)

    # Actions of the command.

    def command(self, *words):
        """Runs a command line; its exit code."""
        from shardopt.cli import main

        out, err = io.StringIO(), io.StringIO()
        words = [str(word) for word in words]
        what = " ".join(map(repr, words))[:300]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(words)
            except SystemExit as end:
                code = end.code
            except BaseException as error:  # noqa: BLE001  (whatever it is)
                return self.finding(f"traceback of {words[0]}", what, error)
        errors = [line for line in err.getvalue().splitlines() if line.startswith("error: ")]
        if code not in (0, 1, 2, 3, 4):
            self.finding(f"exit code of {words[0]}", what)
        elif code == 2 and len(errors) != 1:
            self.finding(f"{len(errors)} errors of {words[0]}", what, err.getvalue()[-300:])
        elif code == 1 and not err.getvalue().strip() + out.getvalue().strip():
            self.finding(f"no word of {words[0]}", what)
        self.try_shell(out.getvalue())
        return code

    def try_shell(self, text):
        """The lines of an output that are made to be copied."""
        for line in re.findall(r"^  next +(shardopt .*)$", text, re.M):
            self.shell(line)

    def shell(self, script):
        folder = pathlib.Path("programs").resolve()
        if not folder.exists():
            folder.mkdir()
            for program in PROGRAMS:
                (folder / program).write_text("#!/bin/sh\nexit 0\n")
                (folder / program).chmod(0o755)
        env = {"PATH": f"{folder}:/usr/bin:/bin", "NODE_RANK": "0", "MASTER_ADDR": "localhost"}
        with contextlib.suppress(ValueError):  # a NUL, which no shell takes
            subprocess.run(
                ["/bin/sh", "-c", script],
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=20,
            )

    def ask_plan(self):
        """A verb about a plan file."""
        rng, path = self.rng, self.plan_file()
        verbs = ("evaluate", "diff", "explain", "lower", "export", "serve", "plan", "sweep", "fit")
        verb = rng.choice(verbs)
        words = [verb, "--", path] if path.startswith("-") else [verb, path]
        more = {
            "diff": [path],
            "explain": rng.choice(([], [self.name()])),
            "lower": rng.choice(([], ["-o", rng.choice((path, "./" + path, "out.mlir"))])),
            "export": ["--engine", rng.choice(("vllm", "sglang", "trtllm", "transformers", "x"))],
            "serve": ["--engine", "vllm", "--dry-run"],
            "plan": rng.choice(([], ["--output-dir", rng.choice((".", "out", path))])),
            "fit": ["--tokens-per-s", rng.choice(("1", "1e9", "nan", self.name()))],
        }.get(verb, [])
        if verb == "export":
            more += rng.choice(([], ["--output-dir", rng.choice(("out", self.name()))]))
            more += self.of_service() if rng.random() < 0.5 else []
        if path.startswith("-"):
            words = [verb, *[each for each in more if each != path], "--", path]
            words += [path] if verb == "diff" else []
        else:
            words += more
        self.command(*words)
        for script in pathlib.Path("out").glob("*.sh"):
            self.shell(script.read_text(errors="replace"))

    def of_service(self):
        """Flags of an export to a platform."""
        rng = self.rng
        targets = ("shell", "compose", "slurm", "kubernetes", "dynamo", "llm-d", self.name())
        words = ["--target", rng.choice(targets)]
        flags = "name model max-length namespace image claim models secret partition time".split()
        for flag in rng.sample(flags, rng.choice((0, 1, 1, 2))):
            words.append(f"--{flag}={self.name()}")
        return words

    def ask_settings(self):
        """A verb with odd flags and settings."""
        rng = self.rng
        from shardopt.settings import KEYS

        words = [rng.choice(("plan", "plan", "pareto", "check"))]
        if words[0] == "check":
            text = rng.choice(_CHECKED)
            words.append(mutate.text(rng, text) if rng.random() < 0.7 else self.name())
        words += ["config.json", "--context", "24", "--max-devices", "4"]
        flags = "machine devices isl osl phase tpot ttft engine space objective searcher seed".split()
        for _ in range(rng.choice((1, 1, 2, 3))):
            value = self.name() if rng.random() < 0.6 else rng.choice(mutate.NUMBERS)
            if rng.random() < 0.5:
                words += [f"--{rng.choice(flags)}", value]
            else:
                keys = [*KEYS, "pins.tp", "pins.batch", "pins.stages", "pins.*qkv*", "pins.*"]
                words += ["--set", f"{rng.choice(keys)}={value}"]
        if rng.random() < 0.3:
            text = "model: config.json\ncontext: 24\nmax_devices: 4\npins: {tp: [1, 2]}\nseed: 3\n"
            words += ["--config", self.keep("settings.yaml", mutate.text(rng, text))]
        # Programs of the command line's own are its own.
        said = [word for word in words if MARK in word and "simulator=" in word]
        if not said and "--output-dir" not in words:
            words += ["--budget", "20"] if "--searcher" in words else []
            self.command(*words)

    # Actions of the package.

    def call(self, what, function):
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                return function()
        except self.so.ShardoptError as error:
            if len(str(error)) > 20000:
                self.finding(f"a long message of {what}", str(error)[:200])
        except BaseException as error:  # noqa: BLE001  (whatever it is)
            self.finding(f"{type(error).__name__} of {what}", "", error)
        return None

    def use_api(self):
        so, odd, rng = self.so, self.odd(), self.rng
        problem, strategy = self.problem, self.plan.strategy
        from shardopt.problem import ASKED

        # A program that the caller names as the simulator is run.
        field = rng.choice([name for name in ASKED if name != "simulator"])
        numbers = strategy.numbers()
        numbers[rng.randrange(len(numbers))] = odd
        said = strategy.to_dict()
        said[rng.choice([*said, "x"])] = odd
        text = odd if isinstance(odd, str) else "x"
        calls = {
            "load_model": lambda: so.load_model(odd, so.Decode(context=24)),
            "load_model context": lambda: so.load_model("config.json", so.Decode(context=odd)),
            "load_model workload": lambda: so.load_model("config.json", odd),
            f"Problem {field}": lambda: problem.replace(**{field: odd}),
            "Problem pins": lambda: problem.replace(pins={rng.choice(("tp", "*", text)): odd}),
            "evaluate": lambda: so.evaluate(problem, [odd]),
            "evaluate rows": lambda: so.evaluate(problem, odd),
            "evaluate numbers": lambda: so.evaluate(problem, [numbers]),
            "evaluate dict": lambda: so.evaluate(problem, [said]),
            "evaluate Strategy": lambda: so.evaluate(
                problem, [so.Strategy(**{**vars(strategy), rng.choice(list(vars(strategy))): odd})]
            ),
            "pareto": lambda: so.pareto(problem, odd if rng.random() < 0.8 else 0.5),
            "min_devices": lambda: so.min_devices(problem, odd),
            "least_cost": lambda: so.least_cost(problem, 1.0, {text: odd}),
            "simplest": lambda: so.simplest(self.plan, odd),
            "explain": lambda: so.explain(self.plan, odd),
            "export": lambda: so.export(self.plan, odd),
            "export devices": lambda: so.export(self.plan, "vllm", odd),
            "check": lambda: so.check(problem, odd),
            "judge": lambda: so.judge(problem, odd),
            "lower": lambda: so.lower(odd),
            "verify": lambda: so.verify(odd),
            "diff": lambda: so.diff(self.plan, odd),
            "chart": lambda: so.chart(self.plan, odd),
            "from_json": lambda: so.Plan.from_json(odd),
            "Process": lambda: so.Process(problem, odd),
            "Process timeout": lambda: so.Process(problem, "exec:cat", odd),
            "Search searcher": lambda: so.Search(problem, odd),
            "Search seed": lambda: so.Search(problem, "random", seed=odd),
            "Search budget": lambda: so.Search(problem, "random", budget=odd),
        }
        for _ in range(4):
            what = rng.choice(list(calls))
            self.call(what, calls[what])

    def use_search(self):
        """A search that is told odd things, and whose file is odd."""
        so, rng = self.so, self.rng
        good = {"throughput": 5.0, "tpot_ms": 1.0, "memory_gb": 1.0}
        # No log of before: what that one holds was made odd.
        log = f"log{len(list(pathlib.Path().glob('log*.jsonl')))}.jsonl"
        search = so.Search(self.problem, "random", budget=6, checkpoint=log)

        def told(strategy):
            if rng.random() < 0.3:
                raise rng.choice((ValueError, KeyError, OSError, RecursionError))("\ud800")
            if rng.random() < 0.5:
                return {**good, rng.choice([*good, "valid", "reason", "x"]): self.odd()}
            return self.odd() if rng.random() < 0.5 else good

        def odd_tell():
            (trial,) = search.ask()
            search.tell(trial, told(trial.strategy), self.odd())

        def tell():
            try:
                odd_tell()
            except (KeyError, OSError, RecursionError):
                pass  # the simulator's own
            except ValueError as error:
                if isinstance(error, so.ShardoptError) or str(error) == "\ud800":
                    return
                raise

        self.call("tell", tell)
        order = rng.choice(("async", "deterministic"))
        self.call("run", lambda: search.run(told, parallel=2, order=order))
        search.close()
        text = pathlib.Path(log).read_text()
        changed = mutate.text(rng, text) if rng.random() < 0.7 else self.name()
        before = changed.encode("utf-8", "surrogatepass")
        pathlib.Path(log).write_bytes(before)
        found = self.call(
            "Search checkpoint", lambda: so.Search(self.problem, "random", budget=6, checkpoint=log)
        )
        after = pathlib.Path(log).read_bytes()
        if found is None and after not in (before, before[: before.rfind(b"\n") + 1]):
            self.finding("a file that was no log is changed", changed[:100])
        if found is not None:
            found.close()

    def use_workers(self):
        """Searches behind a program that answers nonsense."""
        so, rng = self.so, self.rng
        worker = pathlib.Path(__file__).with_name("worker.py")
        words = [sys.executable, str(worker), str(rng.randrange(1 << 30))]
        simulator = "exec:" + shlex.join(words)

        def plan():
            asked = self.problem.replace(
                simulator=simulator, simulator_timeout_s=1, searcher="random", budget=12
            )
            so.plan(asked)

        def search():
            process = so.Process(self.problem, simulator, timeout_s=1)
            so.Search(self.problem, "random", budget=12).run(process, parallel=2)

        self.call("a hostile worker", rng.choice((plan, search)))

    def finding(self, what, words, error=""):
        if isinstance(error, BaseException):
            error = "".join(traceback.format_exception(error))[-1500:]
        text = f"FINDING {what}: {words}\n{error}\n"
        sys.__stdout__.buffer.write(text.encode(errors="backslashreplace"))
        sys.__stdout__.flush()

    def check(self, what):
        if pathlib.Path(MARK).exists():
            self.finding(f"a command was run by {what}", "")
            pathlib.Path(MARK).unlink()
        for name, before in self.inputs.items():
            path = pathlib.Path(name)
            if not path.exists() or path.read_bytes() != before:
                self.finding(f"a file was lost by {what}", name)


def main():
    sys.path.insert(0, sys.argv[2])
    rng = random.Random(int(sys.argv[1]))
    os.environ["PATH"] = f"{pathlib.Path(sys.argv[2]).parent}/bin:{os.environ['PATH']}"
    run = Run(rng)
    actions = {
        run.ask_plan: 4,
        run.ask_settings: 3,
        run.use_api: 3,
        run.use_search: 1,
        run.use_workers: 0.3,
    }
    for action in rng.choices(list(actions), list(actions.values()), k=ACTIONS):
        action()
        run.check(action.__name__)


if __name__ == "__main__":
    try:
        main()
    except Exception:
        print("FINDING a fault of the fuzzer's own:", traceback.format_exc())
