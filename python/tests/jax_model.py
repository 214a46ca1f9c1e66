"""A decoder-only model in plain JAX, under the names of its checkpoint, sharded as
exported files say.

Run as `jax_model.py MODEL PLACE…`: a row of JSON for each place with the distance of the
logits from those of Transformers, the collectives of the compiled program, and the
share of the weights that a device holds. `--stablehlo MODEL FILE` writes the program of
one device, `--sdy PLACE N` parses the files of `PLACE` and compiles its module for N devices.
"""

import json
import os
import re
import runpy
import sys
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np


def safetensors(path):
    """The tensors of a file, of f32 and i64."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    found = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        types = {"F32": np.float32, "I64": np.int64}
        raw = data[8 + size + begin : 8 + size + end]
        found[name] = np.frombuffer(raw, types[entry["dtype"]]).reshape(entry["shape"])
    return found


def norm(x, weight, epsilon):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + epsilon) * weight


def rotate(x, theta):
    """x is [batch, position, head, features]."""
    half = x.shape[-1] // 2
    turns = jnp.arange(x.shape[1])[:, None] * theta ** (-jnp.arange(half) / half)
    sin, cos = jnp.sin(turns)[:, None], jnp.cos(turns)[:, None]
    low, high = x[..., :half], x[..., half:]
    return jnp.concatenate([low * cos - high * sin, high * cos + low * sin], -1)


def linear(params, name, x):
    y = x @ params[name + ".weight"].T
    return y + params[name + ".bias"] if name + ".bias" in params else y


def attention(params, place, x, config):
    batch, length, hidden = x.shape
    heads = config["num_attention_heads"]
    size = config.get("head_dim") or hidden // heads
    q, k, v = (
        linear(params, f"{place}.{name}_proj", x).reshape(batch, length, -1, size) for name in "qkv"
    )
    theta = config["rope_parameters"]["rope_theta"]
    q, k = rotate(q, theta), rotate(k, theta)
    groups = q.shape[2] // k.shape[2]
    k, v = jnp.repeat(k, groups, 2), jnp.repeat(v, groups, 2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(size)
    behind = jnp.arange(length)[:, None] - jnp.arange(length)
    window = config.get("sliding_window") or length
    scores = jnp.where((behind >= 0) & (behind < window), scores, -1e30)
    found = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return linear(params, f"{place}.o_proj", found.reshape(batch, length, heads * size))


def network(params, place, x):
    gate, up = (linear(params, f"{place}.{name}_proj", x) for name in ("gate", "up"))
    return linear(params, f"{place}.down_proj", jax.nn.silu(gate) * up)


def experts(params, place, x, config):
    """Every expert sees every row: the weight of most rows is 0."""
    odds = jax.nn.softmax(linear(params, f"{place}.gate", x))
    best, chosen = jax.lax.top_k(odds, config["num_experts_per_tok"])
    best = best / jnp.sum(best, -1, keepdims=True)
    count = config["num_experts"]
    weights = jnp.sum(jax.nn.one_hot(chosen, count) * best[..., None], -2)
    stack = {name: params[f"{place}.experts.*.{name}_proj.weight"] for name in ("gate", "up", "down")}
    gate, up = (jnp.einsum("blh,eih->ebli", x, stack[name]) for name in ("gate", "up"))
    found = jnp.einsum("ebli,ehi->eblh", jax.nn.silu(gate) * up, stack["down"])
    shared = network(params, f"{place}.shared_expert", x)
    shared *= jax.nn.sigmoid(linear(params, f"{place}.shared_expert_gate", x))
    return jnp.einsum("ble,eblh->blh", weights, found) + shared


def model(params, tokens, config):
    """The logits of [batch, position] tokens."""
    x = params["model.embed_tokens.weight"][tokens]
    for layer in range(config["num_hidden_layers"]):
        place = f"model.layers.{layer}"
        epsilon = config["rms_norm_eps"]
        y = norm(x, params[f"{place}.input_layernorm.weight"], epsilon)
        x = x + attention(params, f"{place}.self_attn", y, config)
        y = norm(x, params[f"{place}.post_attention_layernorm.weight"], epsilon)
        is_routed = f"{place}.mlp.gate.weight" in params
        x = x + (
            experts(params, f"{place}.mlp", y, config)
            if is_routed
            else network(params, f"{place}.mlp", y)
        )
    return linear(params, "lm_head", norm(x, params["model.norm.weight"], config["rms_norm_eps"]))


def stacked(weights):
    """The tensors of experts as stacks, with `*` in their names."""
    found = {}
    for name, weight in weights.items():
        glob = re.sub(r"\.experts\.\d+\.", ".experts.*.", name)
        found.setdefault(glob, []).append((name, weight))
    return {
        glob: np.stack([w for _, w in sorted(each, key=lambda one: int(one[0].split("experts.")[1].split(".")[0]))])
        if "*" in glob
        else each[0][1]
        for glob, each in found.items()
    }


def collectives(text):
    """Kinds in compiled HLO, with the bytes of their results."""
    found = {}
    kinds = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
    for shape, kind in re.findall(rf"= (\(?[a-z0-9]+\[[^=]*?) ({kinds})(?:-start)?\(", text):
        size = 0
        for _, dims in re.findall(r"(f32|s32|pred)\[([0-9,]*)\]", shape):
            size += 4 * int(np.prod([int(dim) for dim in dims.split(",") if dim] or [1]))
        count, total = found.get(kind, (0, 0))
        found[kind] = (count + 1, total + size)
    return found


def read(folder):
    """Config, weights, tokens and known logits."""
    folder = Path(folder)
    config = json.loads((folder / "config.json").read_text())
    known = safetensors(folder / "io.safetensors")
    weights = stacked(safetensors(folder / "model.safetensors"))
    return config, weights, known["tokens"].astype(np.int32), known["logits"]


def execute(folder, *places):
    config, weights, tokens, logits = read(folder)
    named = jax.sharding.NamedSharding
    for place in places:
        shardings = runpy.run_path(place + "/shardings.py")
        mesh = shardings["mesh"]()
        params = {
            name: jax.device_put(
                weight, named(mesh, shardings["expert_spec" if "*" in name else "spec"](name))
            )
            for name, weight in weights.items()
        }
        norm_first = next(op for op in shardings["TABLE"]["activations"] if op.endswith("attn_norm"))
        rows = jax.sharding.PartitionSpec(shardings["activation"](norm_first)[0])
        fed = jax.device_put(tokens, named(mesh, rows))
        run = jax.jit(lambda params, fed: model(params, fed, config)).lower(params, fed).compile()
        error = np.abs(np.asarray(run(params, fed)) - logits).max() / np.abs(logits).max()
        held = sum(p.addressable_shards[0].data.size for p in params.values())
        share = held / sum(weight.size for weight in weights.values())
        row = {"place": Path(place).name, "error": float(error), "held": share, "devices": mesh.size}
        print(json.dumps({**row, "collectives": collectives(run.as_text())}), flush=True)


def write_stablehlo(folder, path):
    config, weights, tokens, _ = read(folder)
    lowered = jax.jit(lambda params, fed: model(params, fed, config)).lower(weights, tokens)
    Path(path).write_text(lowered.as_text(debug_info=True))


def compile_sdy(place, count):
    from jax._src import compiler, xla_bridge
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jaxlib.mlir import ir

    with mlir.make_ir_context():
        texts = [path.read_text() for path in sorted(Path(place).glob("*.mlir"))]
        modules = [ir.Module.parse(text) for text in texts]  # module.mlir is the first
        assert all(module.operation.verify() for module in modules)
        devices = jax.devices()[: int(count)]
        options = compiler.get_compile_options(
            num_replicas=1, num_partitions=len(devices), device_assignment=np.arange(len(devices))[None]
        )
        options.executable_build_options.use_shardy_partitioner = True
        loaded = xla_bridge.get_backend().compile_and_load(
            modules[0], xla_client.DeviceList(tuple(devices)), options
        )
        found = collectives(loaded.hlo_modules()[0].to_string())
    print(json.dumps({"place": Path(place).name, "parsed": len(modules), "collectives": found}))


if __name__ == "__main__":
    modes = {"--stablehlo": write_stablehlo, "--sdy": compile_sdy}
    if sys.argv[1] in modes:
        modes[sys.argv[1]](*sys.argv[2:])
    else:
        execute(*sys.argv[1:])
