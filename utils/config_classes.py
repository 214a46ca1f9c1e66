#!/usr/bin/env python3
"""Writes what the config classes of Transformers read, and what holds where a file is silent.

    build/transformers-venv/bin/python utils/config_classes.py [--check]

A row of lib/Target/HuggingFace/ConfigClasses.inc is a family that is executed: the keys that its
config class reads, and the class's defaults. Only keys that our readers name are listed. `--check`
writes nothing, and fails if the table would change.
"""

import argparse
import ast
import inspect
import json
import math
import pathlib
import re
import sys
import textwrap
from dataclasses import MISSING, fields

import transformers
from transformers.configuration_utils import PreTrainedConfig
from transformers.models.auto import configuration_auto, modeling_auto

READERS = pathlib.Path(__file__).resolve().parents[1] / "lib" / "Target" / "HuggingFace"
TABLE = READERS / "ConfigClasses.inc"
# Families of our own, which no class of Transformers reads.
OURS = {"GptMoeForCausalLM"}
# Read of every config, by what loads a model.
GENERAL = {"architectures", "dtype", "quantization_config", "text_config", "torch_dtype"}
# Sizes, norms and routing of one checkpoint rather than of a family: a file that leaves them out
# is refused, although its class has a default.
NEVER_GUESSED = {
    "first_k_dense_replace",
    "hidden_size",
    "intermediate_size",
    "intermediate_size_mlp",
    "kv_lora_rank",
    "layer_norm_epsilon",
    "mamba_d_conv",
    "mamba_d_head",
    "mamba_d_state",
    "mamba_head_dim",
    "mamba_n_groups",
    "mamba_n_heads",
    "mamba_num_heads",
    "moe_intermediate_size",
    "moe_k",
    "moe_num_experts",
    "moe_num_shared_experts",
    "moe_shared_expert_intermediate_size",
    "n_group",
    "n_groups",
    "n_routed_experts",
    "n_shared_experts",
    "norm_topk_prob",
    "num_attention_heads",
    "num_experts",
    "num_experts_per_tok",
    "num_hidden_layers",
    "num_local_experts",
    "num_shared_experts",
    "q_lora_rank",
    "qk_nope_head_dim",
    "qk_rope_head_dim",
    "rms_norm_eps",
    "routed_scaling_factor",
    "router_scaling_factor",
    "shared_expert_intermediate_size",
    "shared_intermediate_size",
    "ssm_state_size",
    "conv_kernel",
    "topk_group",
    "v_head_dim",
    "vocab_size",
    "index_head_dim",
    "index_n_heads",
    "index_topk",
}
# But published files of these classes leave them out.
GUESSED = {
    "GemmaConfig": {"num_attention_heads", "vocab_size"},
    "Gemma2Config": {"num_attention_heads", "vocab_size"},
    "Gemma3TextConfig": {"num_attention_heads", "rms_norm_eps", "vocab_size"},
    "VaultGemmaConfig": {"num_attention_heads", "vocab_size"},
    "Llama4TextConfig": {"rms_norm_eps"},
    "DeepseekV32Config": {"first_k_dense_replace"},
    "GlmMoeDsaConfig": {"first_k_dense_replace"},
}


def architectures():
    """The families of our tables of architectures, in their order."""
    found = []
    for path in ("", "Derived", "Nested"):
        text = (READERS / f"{path}Architecture{'s' if path else ''}.cpp").read_text()
        found += re.findall(r'"(\w+For(?:CausalLM|ConditionalGeneration))"', text)
    return [name for name in dict.fromkeys(found) if name not in OURS]


def asked_keys():
    """The keys that our readers name."""
    paths = [path for path in READERS.glob("*.[ch]*") if path.stem not in ("ConfigKeys", "ExplainImport")]
    text = "".join(path.read_text() for path in sorted(paths))
    return set(re.findall(r'"([a-z][a-z_0-9]*)"', text))


def config_class(architecture):
    """(config class of the language model of this class of models, that of the whole,
    class of models)."""
    names = {
        **modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
        **modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    }
    kinds = [kind for kind, name in names.items() if name == architecture]
    module = getattr(transformers, architecture)
    kind = module.config_class or configuration_auto.CONFIG_MAPPING[kinds[0]]
    spec = kind.sub_configs_defaults.get("text_config")
    if spec is None:
        return kind, kind, module
    text = spec.config_class
    if spec.model_type:
        text = configuration_auto.CONFIG_MAPPING[spec.model_type]
    return text, kind, module


class Kwargs(ast.NodeVisitor):
    """What a class does with the keys that are no fields of it."""

    def __init__(self):
        self.read, self.set, self.defaults, self.calls = set(), set(), {}, set()

    def visit_Call(self, node):
        word = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        second = node.args[1].value if len(node.args) > 1 and isinstance(node.args[1], ast.Constant) else None
        if isinstance(node.func, ast.Attribute):
            self.calls.add(node.func.attr)
            if isinstance(node.func.value, ast.Name) and node.func.value.id == "kwargs" and word:
                self.read.add(word)
                if node.func.attr == "setdefault" and second is not None:
                    self.defaults[word] = second
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "getattr" and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            self.read.add(node.args[1].value)
        self.generic_visit(node)

    def visit_Assign(self, node):
        target = node.targets[0]
        if (
            isinstance(target, ast.Subscript)
            and isinstance(target.value, ast.Name)
            and target.value.id == "kwargs"
            and isinstance(target.slice, ast.Constant)
            and isinstance(node.value, ast.Constant)
        ):
            self.set.add(target.slice.value)
            self.defaults[target.slice.value] = node.value.value
        self.generic_visit(node)


def visit(source):
    found = Kwargs()
    found.visit(ast.parse(textwrap.dedent(source)))
    return found


def rotary(kind):
    """(keys, defaults) of the rotary embedding of a config class."""
    if "rope_parameters" not in {field.name for field in fields(kind)}:
        return set(), {}
    theta = kind.default_theta
    own = kind.convert_rope_params_to_dict
    generic = own is PreTrainedConfig.convert_rope_params_to_dict
    source = inspect.getsource(own)
    keys = {"rope_parameters", "rope_scaling", "rope_theta"} | visit(source).read
    if generic or "super()" in source:
        keys |= {"original_max_position_embeddings", "partial_rotary_factor"}
    if isinstance(theta, dict):
        return keys, {"rope_theta": theta["global"], "rope_local_base_freq": theta["local"]}
    return keys, {"rope_theta": theta, "rope_local_base_freq": theta}


def facts(architecture, asked):
    """(name of the config class, keys that it reads, its defaults)."""
    kind, whole, module = config_class(architecture)
    keys, defaults = rotary(kind)
    known = {field.name: field for field in fields(kind)}
    generic = {field.name for field in fields(PreTrainedConfig)}
    # What loads a model ties its head as any config says.
    keys |= (set(known) - generic) | {"tie_word_embeddings"}
    keys |= set(kind.attribute_map) | set(kind.attribute_map.values())
    for name, field in known.items():
        if field.default is not MISSING:
            defaults[name] = field.default
    for parent in kind.__mro__:
        if not issubclass(parent, PreTrainedConfig) or parent is PreTrainedConfig:
            continue
        found = visit(inspect.getsource(parent))
        keys = (keys | found.read) - found.set
        defaults.update(found.defaults)
    # A head is the embedding where a file is silent if both classes say so.
    if not all(getattr(each, "tie_word_embeddings", False) for each in (kind, whole)):
        defaults["tie_word_embeddings"] = False
    source = inspect.getsource(sys.modules[module.__module__])
    keys |= set(re.findall(r'getattr\((?:self\.)?config, "(\w+)"', source))
    asked = asked - GENERAL
    guessed = asked - (NEVER_GUESSED - GUESSED.get(kind.__name__, set()))
    guessed -= {"rope_parameters"}  # a field of the class, which computes it
    return kind.__name__, keys & asked, {key: defaults[key] for key in sorted(defaults) if key in guessed}


def plain(value):
    """A default as JSON has it: infinity as Transformers writes it."""
    if isinstance(value, (tuple, list)):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and math.isinf(value):
        return {"__float__": "Infinity"}
    return value


def wrapped(entries, separator):
    return "\n".join(textwrap.wrap(separator.join(entries), 78, break_long_words=False, break_on_hyphens=False))


def table():
    asked = asked_keys()
    version = ".".join(transformers.__version__.split(".")[:2])
    text = f"// Config classes of Transformers {version}, by utils/config_classes.py: do not edit.\n"
    for architecture in architectures():
        kind, keys, defaults = facts(architecture, asked)
        entries = [f'"{key}": {json.dumps(plain(value))}' for key, value in defaults.items()]
        text += f'\n// {kind}\n{{"{architecture}",\n R"({wrapped(sorted(keys), " ")})",\n'
        text += f' R"({{{wrapped(entries, ", ")}}})"}},\n'
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    args = parser.parse_args()
    text = table()
    if not args.check:
        TABLE.write_text(text)
    elif TABLE.read_text() != text:
        sys.exit(f"{TABLE}: not what the config classes of Transformers say; run {sys.argv[0]}")


main()
