"""Published models of the families: their sizes, and a proved plan of each.

    published_families.py FOLDER    (shard-translate and shard-opt are on the path)

The sizes are those of their configs on the hub; the numbers of parameters those of their
model cards, in billions.
"""

import json
import pathlib
import subprocess
import sys

GEMMA = {"hidden_activation": "gelu_pytorch_tanh", "vocab_size": 256000, "head_dim": 256}
GEMMA2 = {
    **GEMMA,
    "query_pre_attn_scalar": 256,
    "attn_logit_softcapping": 50.0,
    "final_logit_softcapping": 30.0,
    "sliding_window": 4096,
}
DELTA_NET = {
    "head_dim": 256,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4,
    "full_attention_interval": 4,
    "partial_rotary_factor": 0.25,
    "rope_theta": 1e7,
}
# name: (architecture, vocabulary, hidden, inner, layers, heads, kv heads, other keys, billions)
MODELS = {
    "mistral-7b-v0.3": ("Mistral", 32768, 4096, 14336, 32, 32, 8, {"rope_theta": 1e6}, 7.25),
    "phi-4": ("Phi3", 100352, 5120, 17920, 40, 40, 10, {"rope_theta": 250000.0}, 14.7),
    "granite-3.3-8b": (
        *("Granite", 49159, 4096, 12800, 40, 32, 8),
        {
            "embedding_multiplier": 12.0,
            "attention_multiplier": 0.0078125,
            "residual_multiplier": 0.22,
            "logits_scaling": 16.0,
            "tie_word_embeddings": True,
        },
        8.17,
    ),
    "smollm3-3b": ("SmolLM3", 128256, 2048, 11008, 36, 16, 4, {}, 3.08),
    "ernie-4.5-0.3b": ("Ernie4_5", 103424, 1024, 3072, 18, 16, 2, {"head_dim": 128}, 0.36),
    "gemma-7b": ("Gemma", 256000, 3072, 24576, 28, 16, 16, GEMMA, 8.54),
    "gemma-2-9b": ("Gemma2", 256000, 3584, 14336, 42, 16, 8, GEMMA2, 9.24),
    "gemma-3-1b": (
        *("Gemma3", 262144, 1152, 6912, 26, 4, 1),
        {
            **GEMMA,
            "vocab_size": 262144,
            "query_pre_attn_scalar": 256,
            "sliding_window": 512,
            "rope_theta": 1e6,
            "rope_local_base_freq": 1e4,
        },
        1.0,
    ),
    "glm-4-9b-0414": (
        *("Glm4", 151552, 4096, 13696, 40, 32, 2),
        {"head_dim": 128, "attention_bias": True, "partial_rotary_factor": 0.5},
        9.4,
    ),
    "glm-4.5-air": (
        *("Glm4Moe", 151552, 4096, 10944, 46, 96, 8),
        {
            "head_dim": 128,
            "attention_bias": True,
            "use_qk_norm": False,
            "partial_rotary_factor": 0.5,
            "n_routed_experts": 128,
            "num_experts_per_tok": 8,
            "n_shared_experts": 1,
            "moe_intermediate_size": 1408,
            "first_k_dense_replace": 1,
            "n_group": 1,
            "topk_group": 1,
            "norm_topk_prob": True,
            "routed_scaling_factor": 1.0,
        },
        106.0,
    ),
    "qwen3.5-9b": ("Qwen3_5", 248320, 4096, 12288, 32, 16, 4, DELTA_NET, 9.0),
    "qwen3.5-27b": (
        *("Qwen3_5", 248320, 5120, 17408, 64, 24, 4),
        {**DELTA_NET, "linear_num_value_heads": 48},
        27.0,
    ),
}


def config_of(architecture, vocab, hidden, inner, layers, heads, kv_heads, more):
    return {
        "architectures": [f"{architecture}ForCausalLM"],
        "vocab_size": vocab,
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "rms_norm_eps": 1e-5,
        "torch_dtype": "bfloat16",
        **more,
    }


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, (*sizes, billions) in MODELS.items():
        config, module = folder / f"{name}.json", folder / f"{name}.mlir"
        config.write_text(json.dumps(config_of(*sizes)))
        importing = ["shard-translate", "--import-hf", config, "--phase=decode", "--context=8192"]
        count = int(run(*importing, "--parameter-count").stdout)
        near = abs(count / 1e9 - billions) <= 0.01 * billions
        run(*importing, "-o", module)
        proved = []
        for devices in (8, 64):
            search = f"--llm-search-sharding=machine=h100_sxm space=serving max-devices={devices}"
            table = run("shard-opt", module, search, "-o", "/dev/null").stderr
            proved.append(f"{devices} devices {'proved' if 'proved optimal' in table else 'OPEN'}")
        size = "" if near else f" FAR from {billions}e9"
        print(f"{name}: {count} parameters{size}, {', '.join(proved)}", flush=True)


main()
