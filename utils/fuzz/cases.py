"""The kinds of inputs, each a generator of commands.

A kind writes files into the folder of its case and yields commands one after
the other; each gets the `Outcome` of its command back, and may go on with what
it made. Words that name files are relative to that folder.
"""

import dataclasses
import json
import pathlib
import struct
import sys

from fuzz import mutate, wire
from fuzz.corpus import MODELS, safetensors

SEARCHERS = (
    "exact random random-walk annealing genetic cross-entropy coordinate-descent surrogate "
    "megatron-classic megatron-slice megatron-sp"
).split()


@dataclasses.dataclass
class Command:
    words: list
    # The file among `words` that a finding is reduced in, if it has one.
    file: str = ""


class Case:
    """What a kind draws from, and where it writes."""

    def __init__(self, rng, corpus, folder):
        self.rng, self.corpus, self.folder = rng, corpus, folder

    def write(self, name, content):
        if isinstance(content, str):
            content = content.encode("utf-8", "surrogatepass")
        (self.folder / name).write_bytes(content)
        return name

    def read(self, name):
        path = self.folder / name
        return path.read_text(errors="replace") if path.exists() else ""

    def tool(self, tool, *words, file=""):
        return Command([self.corpus.tools[tool], *words], file)

    def search(self, name, **options):
        options = {"budget": 30, "pins": "ignore", "seed": self.rng.randrange(9), **options}
        options.setdefault("searcher", self.rng.choice(SEARCHERS))
        text = " ".join(f"{key.replace('_', '-')}={value}" for key, value in options.items())
        return self.pass_on(name, f"--llm-search-sharding={text}", "-o", "o.mlir")

    def pass_on(self, name, *words):
        """Runs passes on the module in the file `name`, in which findings are reduced."""
        return self.tool("shard-opt", name, *words, file=name)


def _changed_module(case, modules):
    rng = case.rng
    return case.write("in.mlir", mutate.text(rng, rng.choice(modules), rng.choice(modules)))


def _lower(case, name, *before):
    """Lowers a module step by step, down to LLVM."""
    passes = ["--llm-insert-collectives"]
    if case.rng.random() < 0.5:
        passes.append("--llm-optimize-collectives")
    outcome = yield case.pass_on(name, *before, *passes, "-o", "l.mlir")
    if outcome.code == 0:
        yield case.pass_on("l.mlir", "--llm-split-stages", "-o", "s.mlir")
    if outcome.code == 0 and case.rng.random() < 0.3:
        yield case.pass_on(name, *before, "--llm-to-llvm", "-o", "v.mlir")


def plain(case):
    """Plain modules: search, evaluate, lower."""
    corpus = case.corpus
    name = _changed_module(case, corpus.models + corpus.odd)
    outcome = yield case.search(name)
    if outcome.code == 0:
        yield from _lower(case, "o.mlir")


def annotated(case):
    """Annotated modules: evaluate, lower."""
    name = _changed_module(case, case.corpus.annotated + case.corpus.odd)
    yield case.pass_on(name, "--llm-evaluate-strategy", "-o", "e.mlir")
    yield from _lower(case, name)


def lowered(case):
    """Lowered modules: optimize, split, to LLVM, execute."""
    name = _changed_module(case, case.corpus.lowered + case.corpus.odd)
    flag = case.rng.choice(("--llm-optimize-collectives", "--llm-split-stages", "--llm-to-llvm"))
    outcome = yield case.pass_on(name, flag, "-o", "o.mlir")
    if outcome.code == 0:
        yield case.tool("shard-run", name, "--steps=1", file=name)


def tests(case):
    """Modules of the tests, and any passes."""
    flags = (
        "--llm-insert-collectives --llm-optimize-collectives --llm-split-stages --llm-drop-sharding"
        " --llm-params-to-arguments --convert-llm-to-linalg --convert-shard-to-runtime"
        " --llm-to-llvm --llm-evaluate-strategy --canonicalize --cse --mlir-print-op-generic"
    ).split()
    name = _changed_module(case, case.corpus.tests)
    chosen = case.rng.sample(flags, case.rng.choice((1, 1, 2)))
    yield case.pass_on(name, *chosen, "-o", "o.mlir")


def _verify(case, name, draws):
    """Executes a plain module with the legal ones of `draws`."""
    listed = case.write("all.jsonl", "".join(json.dumps(s) + "\n" for s in draws))
    options = f"strategies={listed} report=metrics.jsonl"
    outcome = yield case.pass_on(name, f"--llm-evaluate-strategy={options}", "-o", "o.mlir")
    if outcome.code:
        return
    answers = [json.loads(line) for line in case.read("metrics.jsonl").splitlines()]
    legal = [s for s, answer in zip(draws, answers) if answer.get("valid")][:3]
    if legal:
        case.write("s.jsonl", "".join(json.dumps(s) + "\n" for s in legal))
        # Mutated models may norm two features or one: rounding grows a hundred times and
        # more there. What is wrong is wrong in the first digits.
        words = [name, "--verify", "--strategies=s.jsonl", "--steps=2", "--tolerance=1e-3"]
        if case.rng.random() < 0.3:
            words.append("--optimize-collectives")
        yield case.tool("shard-run", *words, file=name)


def wired(case):
    """Small models whose operands are wired to other values, executed."""
    rng, corpus = case.rng, case.corpus
    model = rng.randrange(len(MODELS))
    text = wire.Wiring(corpus.generic[model]).rewired(rng, rng.choice((1, 1, 2, 3)))
    name = case.write("in.mlir", text)
    draws = [corpus.strategy(rng, corpus.names[model]) for _ in range(40)]
    yield from _verify(case, name, draws)


def executed(case):
    """Small models as they are, or changed in their configs, with random strategies."""
    rng, corpus = case.rng, case.corpus
    text, names = rng.choice(corpus.small_configs)
    config = json.loads(text)
    sizes = [key for key, value in config.items() if type(value) is int and 0 < value < 1000]
    for key in rng.sample(sizes, rng.choice((0, 1, 2))):
        config[key] = rng.choice((1, 2, 3, 4, 6, 8, config[key] * 2, config[key] + 1))
    case.write("config.json", json.dumps(config))
    phase = rng.choice(("decode", "decode", "prefill"))
    words = [f"--phase={phase}", f"--context={rng.randrange(1, 9)}", "--logits", "-o", "in.mlir"]
    words = ["--import-hf", "config.json", *words]
    outcome = yield case.tool("shard-translate", *words, file="config.json")
    if outcome.code == 0:
        draws = [corpus.strategy(rng, names) for _ in range(40)]
        yield from _verify(case, "in.mlir", draws)


def config(case):
    """Configs of models."""
    original = case.rng.choice(case.corpus.configs)
    name = case.write("config.json", mutate.document(case.rng, original))
    words = ["--import-hf", name, "--phase=decode", "--context=64", "-o", "in.mlir"]
    outcome = yield case.tool("shard-translate", *words, file=name)
    if outcome.code == 0:
        outcome = yield case.search("in.mlir", searcher="exact", max_devices=8)
        if outcome.code == 0:
            yield from _lower(case, "o.mlir")


def machine(case):
    """Descriptions of machines."""
    name = case.write("m.json", mutate.document(case.rng, case.rng.choice(case.corpus.machines)))
    yield dataclasses.replace(case.search(case.rng.choice(MODELS), machine=name), file=name)


def strategies(case):
    """Lists of strategies."""
    rng = case.rng
    model = rng.randrange(len(MODELS))
    lines = [case.corpus.strategy(rng, case.corpus.names[model]) for _ in range(20)]
    lines = [json.dumps(line) for line in lines]
    lines = [mutate.document(rng, line) if rng.random() < 0.5 else line for line in lines]
    name = case.write("s.jsonl", "\n".join(lines))
    options = f"strategies={name} report=r.jsonl"
    words = [MODELS[model], f"--llm-evaluate-strategy={options}", "-o", "o.mlir"]
    yield case.tool("shard-opt", *words, file=name)


def checkpoint(case):
    """Checkpoints that a search goes on from, most of them signed as if it had written them."""
    text = mutate.text(case.rng, case.corpus.checkpoint)
    if case.rng.random() < 0.8:
        text = mutate.signed(text)
    name = case.write("log.jsonl", text)
    options = "searcher=genetic budget=40 checkpoint=log.jsonl pins=ignore"
    words = [MODELS[0], f"--llm-search-sharding={options}", "-o", "o.mlir"]
    yield case.tool("shard-opt", *words, file=name)


def options(case):
    """Options of passes and of tools."""
    rng = case.rng
    model = rng.choice(MODELS)
    passes = (
        "--llm-search-sharding=machine=h100_sxm max-devices=16 tp=1,2,4 ep=1 pp=1,2 batch=4,8 "
        "budget=20 searcher=genetic seed=7 threads=2 accounting=new objective=latency "
        "agent-options=population=8 slo-tpot-ms=20 simulator=procedural:fixed pins=ignore",
        "--llm-apply-strategy=tp=2 ep=1 pp=2 batch=4 dims=0,0,1,0,0,0,1,0,1",
        "--llm-insert-collectives=machine=h100_sxm comm-model=ring imbalance=none",
    )
    flag, _, text = rng.choice(passes).partition("=")
    changed = mutate.text(rng, text).replace("\0", "")
    yield case.tool("shard-opt", model, f"{flag}={changed}", "-o", "o.mlir")
    words = ("--verify --steps=2 --batch=3 --context=5 --seed=1 --tolerance=1e-5 -O1").split()
    words = [mutate.text(rng, word).replace("\0", "") for word in rng.sample(words, 3)]
    yield case.tool("shard-run", model, *words)


def protocol(case):
    """Simulators that answer nonsense."""
    script = pathlib.Path(__file__).with_name("worker.py")
    simulator = f"{{exec:{sys.executable} {script} {case.rng.randrange(1 << 30)}}}"
    searchers = ("random", "genetic", "surrogate", "annealing", "cross-entropy")
    searcher = case.rng.choice(searchers)
    more = {"simulator_timeout_s": 1, "simulator_workers": case.rng.choice((1, 2))}
    yield case.search(MODELS[0], searcher=searcher, simulator=simulator, **more)


def package(case):
    """The command `shardopt` and the Python package, used oddly."""
    folder = pathlib.Path(case.corpus.tools["shard-opt"]).parents[1] / "python"
    if list(folder.glob("shardopt/_shardopt*.so")):
        script = pathlib.Path(__file__).with_name("package.py")
        yield Command([sys.executable, script, case.rng.randrange(1 << 30), folder])


def _changed(case, texts):
    """A file with one of these documents, changed."""
    change = case.rng.choice((mutate.document, mutate.text))
    return case.write("in.json", change(case.rng, case.rng.choice(texts)))


def instance(case):
    """Instances of shard-solve."""
    name = _changed(case, case.corpus.instances)
    limits = ("--iterations=2", "--time-limit=2", "--progress=none")
    yield case.tool("shard-solve", name, *limits, file=name)


def graph(case):
    """Graphs of shard-schedule."""
    name = _changed(case, case.corpus.graphs)
    yield case.tool("shard-schedule", name, "--rounds=2", "--time-limit=2", file=name)


def tensors(case):
    """Files of tensors."""
    rng = case.rng
    if rng.random() < 0.5:
        name = case.write("t.safetensors", mutate.data(rng, case.corpus.logits))
        yield case.tool("shard-run", MODELS[0], f"--weights={name}", file=name)
        return
    shape = [rng.choice((0, 1, 3)), rng.choice((0, 1, 4, 2**40))]
    count = min(shape[0] * shape[1], 100)
    content = struct.pack(f"<{count}i", *(rng.choice((0, 1, 96, 97, -1)) for _ in range(count)))
    whole = safetensors({"tokens": ("I32", shape, content)})
    if rng.random() < 0.5:
        header = mutate.document(rng, whole[8 : -len(content) or None].decode()).encode()
        whole = struct.pack("<Q", len(header)) + header + content
    name = case.write("t.safetensors", whole)
    yield case.tool("shard-run", MODELS[0], f"--tokens={name}", file=name)


# What is drawn how often.
KINDS = {
    plain: 4,
    annotated: 4,
    lowered: 4,
    tests: 4,
    wired: 8,
    executed: 4,
    config: 3,
    machine: 2,
    strategies: 2,
    checkpoint: 2,
    options: 3,
    protocol: 2,
    package: 6,
    tensors: 2,
    instance: 2,
    graph: 2,
}
