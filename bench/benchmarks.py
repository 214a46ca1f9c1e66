"""The benchmarks: what is run, and what is asked of it.

A benchmark is a function from `Paths` to its cases. Files that a case reads are
made when the function is called, before anything is measured.
"""

import dataclasses
import pathlib
import random
import subprocess

import generate_module


@dataclasses.dataclass(frozen=True)
class Paths:
    """Where things are: the tree, its tools, shared data (or None)."""

    root: pathlib.Path
    bin: pathlib.Path
    data: pathlib.Path

    def tool(self, name):
        return str(self.bin / name)


@dataclasses.dataclass(frozen=True)
class Case:
    """Commands that are measured together, and the limits asked of them.

    `cpu_s` and `peak_mb` are limits, None where nothing is asked. `size` is the
    size of the input where a benchmark is about growth.
    """

    name: str
    commands: list
    cpu_s: float = None
    peak_mb: float = None
    size: int = None


def import_command(paths, config, output, context=8192):
    return [
        paths.tool("shard-translate"),
        "--import-hf",
        str(config),
        "--phase=decode",
        f"--context={context}",
        "-o",
        output,
    ]


def prepare(command):
    """Runs a command whose output a case reads."""
    subprocess.run(command, check=True)


def start(paths):
    """Start of shard-opt: an empty module in, an empty module out."""
    pathlib.Path("empty.mlir").write_text("module {}\n")
    yield Case("empty module", [[paths.tool("shard-opt"), "empty.mlir"]], cpu_s=0.05)


def exact_search(paths):
    """Exact search over the whole space, six workloads, one thread.

    Over measured kernels it is asked for at most twice the time.
    """
    for size in ("1.2T", "1.6T"):
        for context in (16384, 32768, 65536):
            module = f"gpt-moe-{size}-{context}.mlir"
            config = paths.root / f"examples/configs/gpt-moe-{size}.json"
            prepare(import_command(paths, config, module, context))
            for simulator, cpu_s in (("roofline", 0.5), ("calibrated", 1)):
                command = [
                    paths.tool("shard-opt"),
                    module,
                    f"--llm-search-sharding=simulator={simulator} searcher=exact threads=1",
                    "-o",
                    "found.mlir",
                ]
                yield Case(f"{size} {context // 1024}k {simulator}", [command], cpu_s=cpu_s)


def random_strategies(count, ops, seed):
    """Yields the lines of a list of strategies, as the passes read them."""
    draw = random.Random(seed)
    for _ in range(count):
        dims = ",".join(draw.choices("012", k=ops))
        yield (
            f'{{"tp":{draw.choice((1, 2, 4, 8, 16, 32, 64))},'
            f'"ep":{draw.choice((1, 2, 4, 8, 16))},'
            f'"pp":{draw.choice((1, 2, 3, 4, 6, 8, 12, 24))},'
            f'"batch":{1 << draw.randrange(14)},"dims":[{dims}]}}\n'
        )


def strategies_list(paths):
    """Evaluation of a list of a million strategies, reading and writing included."""
    config = paths.root / "examples/configs/gpt-moe-1.2T.json"
    prepare(import_command(paths, config, "gpt-moe.mlir", 16384))
    with open("strategies.jsonl", "w") as file:
        file.writelines(random_strategies(1_000_000, 12, seed=1))
    command = [
        paths.tool("shard-opt"),
        "gpt-moe.mlir",
        "--llm-evaluate-strategy=simulator=roofline strategies=strategies.jsonl report=evaluated.jsonl",
        "-o",
        "passed-through.mlir",
    ]
    yield Case("1 000 000 lines", [command], cpu_s=10, size=1_000_000)


def end_to_end(paths):
    """Import, exact search and collectives of real models at 64 devices."""
    if paths.data:
        configs = sorted((paths.data / "configs").glob("*.json"))
    else:
        configs = sorted((paths.root / "examples/configs").glob("*.json"))
    for config in configs:
        search = [
            paths.tool("shard-opt"),
            "model.mlir",
            "--llm-search-sharding=simulator=roofline max-devices=64",
            "--llm-insert-collectives",
            "--llm-optimize-collectives",
            "-o",
            "sharded.mlir",
        ]
        name = config.stem.removesuffix("_config").split("--")[-1]
        yield Case(
            name, [import_command(paths, config, "model.mlir"), search], cpu_s=5
        )


def insert_collectives(paths):
    """Insertion of collectives into modules of a thousand to 100 000 operators.

    The last case reads and prints the largest module without any pass.
    """
    for ops in (1_000, 10_000, 100_000):
        module = f"ops-{ops}.mlir"
        with open(module, "w") as file:
            file.writelines(generate_module.lines(ops))
        command = [
            paths.tool("shard-opt"),
            module,
            "--llm-insert-collectives",
            "-o",
            "inserted.mlir",
        ]
        asked = {"cpu_s": 2, "peak_mb": 600} if ops == 100_000 else {}
        yield Case(f"{ops} operators", [command], size=ops, **asked)
    command = [paths.tool("shard-opt"), module, "-o", "inserted.mlir"]
    yield Case("no pass", [command])


BENCHMARKS = {
    "start": start,
    "exact-search": exact_search,
    "strategies-list": strategies_list,
    "end-to-end": end_to_end,
    "insert-collectives": insert_collectives,
}
