"""Small models in plain JAX, as graphs for `shardopt import-graph`.

`--write FOLDER` writes each as StableHLO, `NAME.single.mlir`, and in generic form, `NAME.mlir`.
`--run FOLDER` executes every `NAME.annotated.mlir` on CPU devices: a row of JSON with the distance
of its results from those of `NAME.single.mlir` on one device, or from those that PyTorch left in
`NAME.npz`, and its collectives.
"""

import functools
import json
import os
import re
import sys
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax_model import collectives, rotate
from jax.sharding import Mesh, NamedSharding, PartitionSpec

WIDTH, HEADS, WORDS = 32, 4, 64


def norm(x, weight):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * weight


def layer_norm(x, weight, bias):
    centred = x - jnp.mean(x, -1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-5) * weight + bias


def attention(p, x, memory=None, causal=True, turn=False, size=WIDTH // HEADS):
    source = x if memory is None else memory
    q, k, v = (
        (each @ p[name]).reshape(*each.shape[:2], -1, size)
        for each, name in ((x, "q"), (source, "k"), (source, "v"))
    )
    if turn:
        q, k = rotate(q, 10000.0), rotate(k, 10000.0)
    k, v = (jnp.repeat(each, q.shape[2] // k.shape[2], 2) for each in (k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e30)
    found = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return found.reshape(x.shape) @ p["o"]


def experts(p, x):
    odds = jax.nn.softmax(x @ p["router"])
    best, chosen = jax.lax.top_k(odds, 2)
    weights = jnp.sum(jax.nn.one_hot(chosen, odds.shape[-1]) * best[..., None], -2)
    gate, up = (jnp.einsum("blh,ehi->ebli", x, p[name]) for name in ("gate", "up"))
    found = jnp.einsum("ebli,eih->eblh", jax.nn.silu(gate) * up, p["down"])
    return jnp.einsum("ble,eblh->blh", weights, found)


def gpt2(p, tokens, size=WIDTH // HEADS):
    x = p["embed"][tokens] + p["places"]
    for l in p["layers"]:
        x = x + attention(l, layer_norm(x, l["n1"], l["b1"]), size=size)
        x = x + jax.nn.gelu(layer_norm(x, l["n2"], l["b2"]) @ l["up"]) @ l["down"]
    return x @ p["embed"].T


def llama(p, tokens, size=WIDTH // HEADS):
    x = p["embed"][tokens]
    for l in p["layers"]:
        x = x + attention(l, norm(x, l["n1"]), turn=True, size=size)
        y = norm(x, l["n2"])
        x = x + (experts(l, y) if "router" in l else (jax.nn.silu(y @ l["gate"]) * (y @ l["up"])) @ l["down"])
    return norm(x, p["n1"]) @ p["head"]


def scan(p, tokens):
    """Llama, whose layers are a loop over stacked weights."""

    def step(x, l):
        x = x + attention(l, norm(x, l["n1"]), turn=True)
        y = norm(x, l["n2"])
        return x + (jax.nn.silu(y @ l["gate"]) * (y @ l["up"])) @ l["down"], None

    x, _ = jax.lax.scan(step, p["embed"][tokens], p["layers"])
    return norm(x, p["n1"]) @ p["head"]


def vit(p, image, size=WIDTH // HEADS):
    x = convolution(image, p["patch"], p["patch"].shape[-1])
    x = x.reshape(*x.shape[:2], -1).swapaxes(1, 2) + p["places"]
    for l in p["layers"]:
        x = x + attention(l, layer_norm(x, l["n1"], l["b1"]), causal=False, size=size)
        x = x + jax.nn.gelu(layer_norm(x, l["n2"], l["b2"]) @ l["up"]) @ l["down"]
    return jnp.mean(x, 1) @ p["head"]


def pool(x, size, stride):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, size, size), (1, 1, stride, stride), "SAME")


def convolution(x, weight, stride=1):
    return jax.lax.conv_general_dilated(x, weight, (stride, stride), "SAME")


def batch_norm(x, scale, shift):
    return x * scale[:, None, None] + shift[:, None, None]


def resnet(p, image):
    x = jax.nn.relu(batch_norm(convolution(image, p["stem"], 2), p["s"], p["t"]))
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    for l in p["layers"]:
        y = jax.nn.relu(batch_norm(convolution(x, l["c1"]), l["s1"], l["t1"]))
        x = jax.nn.relu(x + batch_norm(convolution(y, l["c2"]), l["s2"], l["t2"]))
    return jnp.mean(x, (2, 3)) @ p["head"]


def unet(p, image):
    high = jax.nn.relu(convolution(image, p["stem"]))
    low = jax.nn.relu(convolution(high, p["down"], 2))
    low = jax.nn.relu(convolution(low, p["middle"]))
    grown = jnp.repeat(jnp.repeat(low, 2, 2), 2, 3)
    return convolution(jnp.concatenate([high, grown], 1), p["out"])


def resnet_50(p, image):
    """The published one, with the means and variances of its norms in their weights."""

    def normed(x, weight, n, stride=1):
        return batch_norm(convolution(x, weight, stride), n["scale"], n["shift"])

    x = pool(jax.nn.relu(normed(image, p["stem"], p["norm"], 2)), 3, 2)
    for stage, blocks in enumerate(p["stages"]):
        for i, l in enumerate(blocks):
            stride = 2 if stage and not i else 1
            y = jax.nn.relu(normed(x, l["in"], l["n1"]))
            y = jax.nn.relu(normed(y, l["middle"], l["n2"], stride))
            skipped = normed(x, l["skip"], l["n4"], stride) if "skip" in l else x
            x = jax.nn.relu(normed(y, l["out"], l["n3"]) + skipped)
    return jnp.mean(x, (2, 3)) @ p["head"]


def unet_5(p, image):
    """The published one: five levels of two convolutions each."""
    x, levels = image, []
    for level in p["down"]:
        if levels:
            x = pool(x, 2, 2)
        for weight in level:
            x = jax.nn.relu(convolution(x, weight))
        levels.append(x)
    levels.pop()
    for grown, level in zip(p["grown"], p["up"]):
        x = convolution(jnp.repeat(jnp.repeat(x, 2, 2), 2, 3), grown)
        x = jnp.concatenate([levels.pop(), x], 1)
        for weight in level:
            x = jax.nn.relu(convolution(x, weight))
    return convolution(x, p["last"])


def mamba(p, x):
    """A selective state space of one block, by an associative scan over positions."""
    inner, gate = jnp.split(norm(x, p["n1"]) @ p["in"], 2, -1)
    padded = jnp.pad(inner, ((0, 0), (3, 0), (0, 0)))
    length = inner.shape[1]
    inner = jax.nn.silu(sum(padded[:, i : i + length] * p["conv"][i] for i in range(4)))
    step = jax.nn.softplus(inner @ p["step"])
    decay = jnp.exp(step[..., None] * -jnp.exp(p["a"]))
    grown = (step * inner)[..., None] * (inner @ p["b"])[:, :, None]
    join = lambda one, other: (one[0] * other[0], other[0] * one[1] + other[1])
    state = jax.lax.associative_scan(join, (decay, grown), axis=1)[1]
    y = jnp.einsum("bldn,bln->bld", state, inner @ p["c"]) * jax.nn.silu(gate)
    return x + y @ p["out"]


def encoder_decoder(p, source, target):
    memory, x = p["embed"][source], p["embed"][target]
    for l in p["encoder"]:
        memory = memory + attention(l, norm(memory, l["n1"]), causal=False)
        memory = memory + jax.nn.relu(norm(memory, l["n2"]) @ l["up"]) @ l["down"]
    for l, other in zip(p["layers"], p["cross"]):
        x = x + attention(l, norm(x, l["n1"]))
        x = x + attention(other, norm(x, other["n1"]), memory, causal=False)
        x = x + jax.nn.relu(norm(x, l["n2"]) @ l["up"]) @ l["down"]
    return x @ p["embed"].T


def array(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def tokens(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.int32)


def layer(keys=WIDTH, inner=4 * WIDTH, count=0):
    found = {"q": array(WIDTH, WIDTH), "k": array(WIDTH, keys), "v": array(WIDTH, keys), "o": array(WIDTH, WIDTH)}
    found |= {name: array(WIDTH) for name in ("n1", "n2", "b1", "b2")}
    stack = (count,) if count else ()
    found |= {"gate": array(*stack, WIDTH, inner), "up": array(*stack, WIDTH, inner), "down": array(*stack, inner, WIDTH)}
    return found | ({"router": array(WIDTH, count)} if count else {})


def resnet_50_shapes():
    norm_of = lambda count: {"scale": array(count), "shift": array(count)}
    stages, before = [], 64
    for depth, width in ((3, 64), (4, 128), (6, 256), (3, 512)):
        blocks = []
        for i in range(depth):
            block = {"in": array(width, before, 1, 1), "middle": array(width, width, 3, 3), "out": array(4 * width, width, 1, 1)}
            block |= {"n1": norm_of(width), "n2": norm_of(width), "n3": norm_of(4 * width)}
            if not i:
                block |= {"skip": array(4 * width, before, 1, 1), "n4": norm_of(4 * width)}
            before = 4 * width
            blocks.append(block)
        stages.append(blocks)
    return {"stem": array(64, 3, 7, 7), "norm": norm_of(64), "stages": stages, "head": array(2048, 1000)}


def unet_5_shapes():
    widths = [64 << level for level in range(5)]
    pairs = lambda before, width: [array(width, before, 3, 3), array(width, width, 3, 3)]
    return {
        "down": [pairs(before, width) for before, width in zip([3, *widths], widths)],
        "grown": [array(width, 2 * width, 3, 3) for width in widths[-2::-1]],
        "up": [pairs(2 * width, width) for width in widths[-2::-1]],
        "last": array(2, 64, 1, 1),
    }


def vit_shapes(width, depth, patch, places, classes):
    weights = {name: array(width, width) for name in "qkvo"} | {name: array(width) for name in ("n1", "n2", "b1", "b2")}
    weights |= {"up": array(width, 4 * width), "down": array(4 * width, width)}
    return {"patch": array(width, 3, patch, patch), "places": array(places, width), "head": array(width, classes), "layers": [weights] * depth}


def published(batch, pixels):
    """Networks of published sizes, on images of so many pixels."""
    image = array(batch, 3, pixels, pixels)
    return {
        "resnet_50": (resnet_50, resnet_50_shapes(), image),
        "unet_5": (unet_5, unet_5_shapes(), image),
        "vit_b16": (functools.partial(vit, size=64), vit_shapes(768, 12, 16, (pixels // 16) ** 2, 1000), image),
    }


def models():
    """The function and the shapes of its arguments, by name."""
    embed, head = array(WORDS, WIDTH), array(WIDTH, WORDS)
    text = tokens(2, 8)
    image = array(2, 8, 16, 16)
    block = {name: array(16, 16, 3, 3) for name in ("c1", "c2")} | {n: array(16) for n in ("s1", "t1", "s2", "t2")}
    decoder = {"embed": embed, "n1": array(WIDTH), "head": head}
    return {
        "gpt2": (gpt2, {"embed": embed, "places": array(8, WIDTH), "layers": [layer()]}, text),
        "llama": (llama, {**decoder, "layers": [layer(WIDTH // 2)] * 2}, text),
        "mixtral": (llama, {**decoder, "layers": [layer(WIDTH // 2, 2 * WIDTH, 4)]}, text),
        "scan": (scan, {**decoder, "layers": {name: array(3, *one.shape) for name, one in layer(WIDTH // 2).items()}}, text),
        "vit": (vit, {"patch": array(WIDTH, 8, 4, 4), "places": array(16, WIDTH), "head": head, "layers": [layer()]}, image),
        "resnet": (resnet, {"stem": array(16, 8, 3, 3), "s": array(16), "t": array(16), "head": array(16, WORDS), "layers": [block] * 2}, image),
        "unet": (unet, {"stem": array(16, 8, 3, 3), "down": array(32, 16, 3, 3), "middle": array(32, 32, 3, 3), "out": array(8, 48, 3, 3)}, image),
        "mamba": (mamba, {"n1": array(WIDTH), "in": array(WIDTH, 4 * WIDTH), "conv": array(4, 2 * WIDTH), "step": array(2 * WIDTH, 2 * WIDTH), "a": array(2 * WIDTH, 4), "b": array(2 * WIDTH, 4), "c": array(2 * WIDTH, 4), "out": array(2 * WIDTH, WIDTH)}, array(2, 8, WIDTH)),
        "encoder_decoder": (encoder_decoder, {"embed": embed, "encoder": [layer()], "layers": [layer()], "cross": [layer()]}, text, text),
        **published(8, 64),
    }


def write(folder, wanted=None):
    for name, (function, *shapes) in (wanted or models()).items():
        module = jax.jit(function).lower(*shapes).compiler_ir("stablehlo")
        Path(folder, f"{name}.single.mlir").write_text(str(module))
        Path(folder, f"{name}.mlir").write_text(module.operation.get_asm(print_generic_op_form=True))


# --- what was annotated -------------------------------------------------------------------


def specs(part):
    """Shape, type and PartitionSpec of each tensor of a signature."""
    for text in part.split("tensor<")[1:]:
        *sizes, kind = text.split(">")[0].split("x")
        found = re.search(r"sdy\.sharding = #sdy\.sharding<@\w+, \[([^\]]*)\]>", text)
        dims = re.findall(r"\{([^}]*)\}", found.group(1)) if found else []
        axes = [tuple(re.findall(r'"(\w+)"', dim)) or None for dim in dims]
        yield tuple(map(int, sizes)), kind, PartitionSpec(*axes)


def compiled(text, count, shardy=True, **flags):
    from jax._src import compiler, xla_bridge
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jaxlib.mlir import ir

    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        assert module.operation.verify()
        options = compiler.get_compile_options(
            num_replicas=1, num_partitions=count, device_assignment=np.arange(count)[None],
            env_options_overrides={name: str(value) for name, value in flags.items()},
        )
        options.executable_build_options.use_shardy_partitioner = shardy
        devices = xla_client.DeviceList(tuple(jax.devices()[:count]))
        return xla_bridge.get_backend().compile_and_load(module, devices, options)


def executed(text, values, module=None, shardy=True):
    """The results, and the collectives, of `module`: what `text` is without some annotations."""
    mesh = dict(re.findall(r'"(\w+)"=(\d+)', text[: text.find("func.func")])) or {"x": 1}
    sizes = tuple(map(int, mesh.values()))
    mesh = Mesh(np.array(jax.devices()[: np.prod(sizes)]).reshape(sizes), tuple(mesh))
    taken, made = re.search(r"func\.func public @main\((.*)\) -> (.*) \{$", text, re.M).groups()
    program = compiled(module or text, mesh.size, shardy)
    arrays = [
        jax.device_put(value, NamedSharding(mesh, spec)) for value, (_, _, spec) in zip(values, specs(taken))
    ]
    shards = program.execute_sharded(arrays).disassemble_into_single_device_arrays()
    results = [
        np.asarray(jax.make_array_from_single_device_arrays(shape, NamedSharding(mesh, spec), each))
        for (shape, _, spec), each in zip(specs(made), shards)
    ]
    return results, collectives(program.hlo_modules()[0].to_string())


def of_arguments(text):
    """The module with the shardings of arguments and results alone."""
    text = re.sub(r"sdy\.sharding = #sdy\.sharding_per_value<[^\n]*?>\]>,? ?", "", text).replace(" {} ", " ")
    return re.sub(r'"sdy\.sharding_constraint"(\(%[\w#]+\)) <\{.*?\}> :', r'"stablehlo.reshape"\1 :', text)


def of_gspmd(text):
    """The same in the form of XLA's former partitioner: tiles of devices."""
    mesh = re.findall(r'"(\w+)"=(\d+)', text[: text.find("func.func")])

    def tiled(found):
        dims = [re.findall(r'"(\w+)"', dim) for dim in re.findall(r"\{([^}]*)\}", found.group(1))]
        used = [axis for dim in dims for axis in dim]
        order = [*used, *(axis for axis, _ in mesh if axis not in used)]
        sizes = {axis: int(size) for axis, size in mesh}
        tiles = [int(np.prod([sizes[axis] for axis in dim] or [1])) for dim in dims]
        rest = int(np.prod([sizes[axis] for axis in order if axis not in used] or [1]))
        if not used:
            return 'mhlo.sharding = "{replicated}"'
        turned = [[axis for axis, _ in mesh].index(axis) for axis in order]
        listed = ",".join(str(sizes[axis]) for axis, _ in mesh)
        turn = f"T({','.join(map(str, turned))})" if turned != sorted(turned) else ""
        behind = " last_tile_dim_replicate" if rest > 1 else ""
        return f'mhlo.sharding = "{{devices=[{",".join(map(str, tiles + [rest] * (rest > 1)))}]<=[{listed}]{turn}{behind}}}"'

    text = re.sub(r'^ *"sdy\.mesh".*\n', "", of_arguments(text), flags=re.M)
    return re.sub(r"sdy\.sharding = #sdy\.sharding<@\w+, \[([^\]]*)\]>", tiled, text)


def propagations(text):
    """What XLA's partitioners make of the shardings of arguments alone: name, module, and whether it is Shardy."""
    return [("shardy", of_arguments(text), True), ("gspmd", of_gspmd(text), False)]


def apart(found, wanted):
    """The largest distance, as a fraction of the largest value."""
    return float(max(np.abs(a - b).max() / np.abs(b).max() for a, b in zip(found, wanted)))


def spread(shape):
    """Half the width of random values: sums of products stay small in deep networks."""
    inputs = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0] if len(shape) == 2 else 1
    return min(0.3, np.sqrt(3 / max(1, inputs)))


def run(folder, propagated=False):
    jax.config.update("jax_enable_x64", True)  # indices of PyTorch
    for path in sorted(Path(folder).glob("*.annotated.mlir")):
        name = path.name.split(".")[0]
        text = path.read_text()
        taken = re.search(r"func\.func public @main\((.*)\) -> ", text).group(1)
        rng = np.random.default_rng(0)
        if Path(folder, f"{name}.npz").exists():
            known = np.load(Path(folder, f"{name}.npz"))
            values, wanted = (
                [known[f"{kind}{index}"] for index in range(sum(each.startswith(kind) for each in known.files))]
                for kind in ("argument", "result")
            )
        else:
            values = [
                rng.integers(0, WORDS, shape).astype(np.int32)
                if kind == "i32"
                else (spread(shape) * rng.uniform(-1, 1, shape)).astype(np.float32)
                for shape, kind, _ in specs(taken)
            ]
            wanted, _ = executed(Path(folder, f"{name}.single.mlir").read_text(), values)
        found, moved = executed(text, values)
        row = {"place": name, "error": apart(found, wanted), "collectives": moved}
        for kind, module, shardy in propagations(text) if propagated else ():
            row[kind] = apart(executed(text, values, module, shardy)[0], wanted)
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    {"--write": write, "--run": run}[sys.argv[1]](sys.argv[2])
