"""Graphs of published sizes in JAX, for bench/graphs.py; a script of the environment that has JAX.

`--write FOLDER` writes them as python/tests/jax_graphs.py does. `--compile FOLDER` compiles each
`NAME.annotated.mlir` for as many devices as it names: a row of JSON with the collectives and the
seconds of each partitioner. `--write-small FOLDER` writes small ones that are alike, and `--run FOLDER`
executes them: the distance of each partitioner's results from those of one device.
"""

import functools
import json
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python/tests"))

import jax_graphs as graphs  # noqa: E402
import numpy as np  # noqa: E402
from jax_graphs import array, tokens  # noqa: E402
from jax_model import collectives  # noqa: E402


SMALL = ("llama", "gpt2", "vit", "unet", "resnet")


def decoder(function, width, depth, heads, inner, words, batch, length, keys=None, **others):
    """A decoder of text: its function, and the shapes of its arguments."""
    l = {"q": array(width, width), "k": array(width, keys or width), "v": array(width, keys or width), "o": array(width, width)}
    l |= {name: array(width) for name in ("n1", "n2", "b1", "b2")}
    l |= {"gate": array(width, inner), "up": array(width, inner), "down": array(inner, width)}
    weights = {"embed": array(words, width), "layers": [l] * depth, **{name: array(*sizes) for name, sizes in others.items()}}
    return functools.partial(function, size=width // heads), weights, tokens(batch, length)


def vit(width, depth, heads, batch):
    weights = graphs.vit_shapes(width, depth, 16, 14 * 14, 1000)
    return functools.partial(graphs.vit, size=width // heads), weights, array(batch, 3, 224, 224)


def models():
    llama = lambda batch, length: decoder(graphs.llama, 4096, 32, 32, 14336, 128256, batch, length, 1024, n1=[4096], head=[4096, 128256])
    return {
        "llama_8b": llama(8, 1024),
        "llama_8b_tight": llama(8, 1024),
        "llama_8b_one": llama(1, 2048),
        "gpt2_medium": decoder(graphs.gpt2, 1024, 24, 16, 4096, 50257, 8, 1024, places=[1024, 1024]),
        "vit_l16": vit(1024, 24, 16, 32),
        "unet": (graphs.unet_5, graphs.unet_5_shapes(), array(8, 3, 256, 256)),
        "resnet_50": (graphs.resnet_50, graphs.resnet_50_shapes(), array(64, 3, 224, 224)),
    }


def compile_all(folder):
    for path in sorted(pathlib.Path(folder).glob("*.annotated.mlir")):
        text = path.read_text()
        head = text[: text.find("func.func")]
        count = int(np.prod([int(size) for size in re.findall(r'"\w+"=(\d+)', head)]))
        row = {"place": path.name.split(".")[0]}
        for name, module, shardy in [("annotated", text, True), *graphs.propagations(text)]:
            start = time.monotonic()
            # Code for the CPU is not looked at.
            flags = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
            program = graphs.compiled(module, count, shardy, **flags)
            moved = collectives(program.hlo_modules()[0].to_string())
            row[name] = {"collectives": moved, "wall_s": time.monotonic() - start}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    {
        "--write": lambda folder: graphs.write(folder, models()),
        "--write-small": lambda folder: graphs.write(folder, {name: graphs.models()[name] for name in SMALL}),
        "--compile": compile_all,
        "--run": lambda folder: graphs.run(folder, propagated=True),
    }[sys.argv[1]](sys.argv[2])
