"""Published models of the families: their sizes, and a proved plan of each.

    published_families.py FOLDER [--times]    (shard-translate and shard-opt are on the path)

The sizes are those of their configs on the hub; the numbers of parameters those of their
model cards, in billions. With `--times` the CPU seconds of every plan stand behind it.
"""

import json
import pathlib
import re
import resource
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
INDEXED = {
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "n_shared_experts": 1,
    "moe_intermediate_size": 2048,
    "first_k_dense_replace": 3,
    "norm_topk_prob": True,
    "routed_scaling_factor": 2.5,
    "index_head_dim": 128,
    "index_topk": 2048,
}
SIGMOIDS = {"n_group": 1, "topk_group": 1, "norm_topk_prob": True}
# name: (architecture, vocabulary, hidden, inner, layers, heads, kv heads, other keys, billions)
MODELS = {
    "mistral-7b-v0.3": ("Mistral", 32768, 4096, 14336, 32, 32, 8, {"rope_theta": 1e6}, 7.25),
    "phi-4": ("Phi3", 100352, 5120, 17920, 40, 40, 10, {"rope_theta": 250000.0}, 14.7),
    "phi-4-mini": (
        *("Phi3", 200064, 3072, 8192, 32, 24, 8),
        {
            "partial_rotary_factor": 0.75,
            "tie_word_embeddings": True,
            "max_position_embeddings": 131072,
            "original_max_position_embeddings": 4096,
            "sliding_window": 262144,
            "rope_scaling": {
                "type": "longrope",
                "short_factor": [1.0] * 48,
                "long_factor": [1 + i / 2 for i in range(48)],
            },
        },
        3.84,
    ),
    "qwen1.5-moe-a2.7b": (
        *("Qwen2Moe", 151936, 2048, 5632, 24, 16, 16),
        {
            "num_experts": 60,
            "num_experts_per_tok": 4,
            "moe_intermediate_size": 1408,
            "shared_expert_intermediate_size": 5632,
            "decoder_sparse_step": 1,
            "norm_topk_prob": False,
            "use_sliding_window": False,
            "sliding_window": 32768,
            "max_window_layers": 21,
        },
        14.3,
    ),
    "ernie-4.5-21b-a3b": (
        *("Ernie4_5_Moe", 103424, 2560, 12288, 28, 20, 4),
        {
            "moe_num_experts": 64,
            "moe_num_shared_experts": 2,
            "moe_k": 6,
            "moe_intermediate_size": 1536,
            "moe_layer_start_index": 1,
            "moe_layer_interval": 1,
            "use_bias": False,
            "tie_word_embeddings": True,
        },
        21.8,
    ),
    "kimi-k2": (
        *("DeepseekV3", 163840, 7168, 18432, 61, 64, 64),
        {
            "q_lora_rank": 1536,
            "kv_lora_rank": 512,
            "qk_nope_head_dim": 128,
            "qk_rope_head_dim": 64,
            "v_head_dim": 128,
            "n_routed_experts": 384,
            "num_experts_per_tok": 8,
            "n_shared_experts": 1,
            "moe_intermediate_size": 2048,
            "first_k_dense_replace": 1,
            "n_group": 1,
            "topk_group": 1,
            "norm_topk_prob": True,
            "routed_scaling_factor": 2.827,
            "rope_theta": 50000.0,
            "rope_scaling": {
                "type": "yarn",
                "factor": 32.0,
                "original_max_position_embeddings": 4096,
                "beta_fast": 1.0,
                "beta_slow": 1.0,
                "mscale": 1.0,
                "mscale_all_dim": 1.0,
            },
            "quantization_config": {
                "quant_method": "fp8",
                "fmt": "e4m3",
                "activation_scheme": "dynamic",
                "weight_block_size": [128, 128],
            },
        },
        1026.5,
    ),
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
    "qwen3-next-80b-a3b": (
        *("Qwen3Next", 151936, 2048, 5120, 48, 16, 2),
        {
            **DELTA_NET,
            "num_experts": 512,
            "num_experts_per_tok": 10,
            "norm_topk_prob": True,
            "moe_intermediate_size": 512,
            "shared_expert_intermediate_size": 512,
            "decoder_sparse_step": 1,
            "mlp_only_layers": [],
        },
        80.0,
    ),
    "qwen3.5-9b": ("Qwen3_5", 248320, 4096, 12288, 32, 16, 4, DELTA_NET, 9.0),
    "qwen3.5-27b": (
        *("Qwen3_5", 248320, 5120, 17408, 64, 24, 4),
        {**DELTA_NET, "linear_num_value_heads": 48},
        27.0,
    ),
    "nemotron-h-8b": (
        *("NemotronH", 131072, 4096, 21504, 52, 32, 8),
        {
            "hybrid_override_pattern": "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-",
            "attention_head_dim": 128,
            "mamba_num_heads": 128,
            "mamba_head_dim": 64,
            "n_groups": 8,
            "ssm_state_size": 128,
            "conv_kernel": 4,
            "expand": 2,
            "layer_norm_epsilon": 1e-5,
            "mlp_hidden_act": "relu2",
        },
        8.1,
    ),
    "granite-4.0-h-small": (
        *("GraniteMoeHybrid", 100352, 4096, 768, 40, 32, 8),
        {
            "layer_types": [("attention" if i % 10 == 5 else "mamba") for i in range(40)],
            "mamba_n_heads": 128,
            "mamba_d_head": 64,
            "mamba_n_groups": 1,
            "mamba_d_state": 128,
            "mamba_d_conv": 4,
            "mamba_expand": 2,
            "num_local_experts": 72,
            "num_experts_per_tok": 10,
            "shared_intermediate_size": 1536,
            "position_embedding_type": "nope",
            "embedding_multiplier": 12.0,
            "attention_multiplier": 0.0078125,
            "residual_multiplier": 0.22,
            "logits_scaling": 16.0,
            "tie_word_embeddings": True,
        },
        32.2,
    ),
    "olmo-2-7b": ("Olmo2", 100352, 4096, 11008, 32, 32, 32, {"rope_theta": 5e5}, 7.3),
    "olmo-3-7b": (
        *("Olmo3", 100278, 4096, 11008, 32, 32, 32),
        {
            "sliding_window": 4096,
            "rope_theta": 5e5,
            "rope_scaling": {
                "rope_type": "yarn",
                "factor": 8.0,
                "original_max_position_embeddings": 8192,
                "attention_factor": 1.2079441541679836,
            },
        },
        7.3,
    ),
    "minimax-m2": (
        *("MiniMaxM2", 200064, 3072, 1536, 62, 48, 8),
        {
            "head_dim": 128,
            "rotary_dim": 64,
            "rope_theta": 5e6,
            "num_local_experts": 256,
            "num_experts_per_tok": 8,
        },
        229.0,
    ),
    "command-r-plus": (
        *("Cohere", 256000, 12288, 33792, 64, 96, 8),
        {"layer_norm_eps": 1e-5, "use_qk_norm": True, "logit_scale": 0.8333333, "rope_theta": 75e6},
        104.0,
    ),
    "command-a": (
        *("Cohere2", 256000, 12288, 36864, 64, 96, 8),
        {
            "head_dim": 128,
            "layer_norm_eps": 1e-5,
            "logit_scale": 0.25,
            "sliding_window": 4096,
            "rope_theta": 5e4,
        },
        111.0,
    ),
    # The text of it; the model card counts 109e9 with the vision tower.
    "llama-4-scout": (
        *("Llama4", 202048, 5120, 8192, 48, 40, 8),
        {
            "head_dim": 128,
            "intermediate_size_mlp": 16384,
            "num_local_experts": 16,
            "num_experts_per_tok": 1,
            "interleave_moe_layer_step": 1,
            "attention_chunk_size": 8192,
            "use_qk_norm": True,
            "rope_theta": 5e5,
            "rope_scaling": {
                "rope_type": "llama3",
                "factor": 16.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 1.0001,
                "original_max_position_embeddings": 8192,
            },
        },
        107.8,
    ),
    "deepseek-v2": (
        *("DeepseekV2", 102400, 5120, 12288, 60, 128, 128),
        {
            "q_lora_rank": 1536,
            "kv_lora_rank": 512,
            "qk_nope_head_dim": 128,
            "qk_rope_head_dim": 64,
            "v_head_dim": 128,
            "n_routed_experts": 160,
            "num_experts_per_tok": 6,
            "n_shared_experts": 2,
            "moe_intermediate_size": 1536,
            "first_k_dense_replace": 1,
            "topk_method": "group_limited_greedy",
            "n_group": 8,
            "topk_group": 3,
            "routed_scaling_factor": 16.0,
        },
        236.0,
    ),
    "seed-oss-36b": (
        *("SeedOss", 155136, 5120, 27648, 64, 80, 8),
        {"head_dim": 128, "attention_bias": True, "attention_out_bias": False, "rope_theta": 1e7},
        36.2,
    ),
    "exaone-4.0-32b": (
        *("Exaone4", 102400, 5120, 27392, 64, 40, 8),
        {
            "head_dim": 128,
            "sliding_window": 4096,
            "layer_types": (["sliding_attention"] * 3 + ["full_attention"]) * 16,
            "rope_theta": 1e6,
            "rope_scaling": {
                "rope_type": "llama3",
                "factor": 16.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192,
            },
        },
        32.0,
    ),
    "glm-4-9b-chat": (
        *("Glm", 151552, 4096, 13696, 40, 32, 2),
        {"head_dim": 128, "attention_bias": True, "partial_rotary_factor": 0.5},
        9.4,
    ),
    "ministral-8b": (
        *("Ministral", 131072, 4096, 12288, 36, 32, 8),
        {"head_dim": 128, "sliding_window": 32768, "rope_theta": 1e8},
        8.02,
    ),
    "youtu-llm-2b": (
        *("Youtu", 128256, 2048, 6144, 32, 16, 16),
        {
            "q_lora_rank": 1536,
            "kv_lora_rank": 512,
            "qk_nope_head_dim": 128,
            "qk_rope_head_dim": 64,
            "v_head_dim": 128,
            "rope_theta": 1.6e6,
        },
        1.96,
    ),
    "minicpm3-4b": (
        *("MiniCPM3", 73448, 2560, 6400, 62, 40, 40),
        {
            "q_lora_rank": 768,
            "kv_lora_rank": 256,
            "qk_nope_head_dim": 64,
            "qk_rope_head_dim": 32,
            "v_head_dim": 64,
            "scale_emb": 12,
            "scale_depth": 1.4,
            "dim_model_base": 256,
            "tie_word_embeddings": True,
        },
        4.07,
    ),
    "dots.llm1": (
        *("Dots1", 152064, 4096, 10944, 62, 32, 32),
        {
            **SIGMOIDS,
            "head_dim": 128,
            "n_routed_experts": 128,
            "num_experts_per_tok": 6,
            "n_shared_experts": 2,
            "moe_intermediate_size": 1408,
            "first_k_dense_replace": 1,
            "routed_scaling_factor": 2.5,
            "sliding_window": None,
            "rope_theta": 1e7,
        },
        142.0,
    ),
    "k-exaone-236b": (
        *("ExaoneMoe", 153600, 6144, 18432, 48, 64, 8),
        {
            **SIGMOIDS,
            "head_dim": 128,
            "num_experts": 128,
            "num_experts_per_tok": 8,
            "num_shared_experts": 1,
            "moe_intermediate_size": 2048,
            "first_k_dense_replace": 1,
            "routed_scaling_factor": 2.5,
            "sliding_window": 128,
            "layer_types": (["sliding_attention"] * 3 + ["full_attention"]) * 12,
            "rope_theta": 1e6,
        },
        236.0,
    ),
    "glm-4.7-flash": (
        *("Glm4MoeLite", 154880, 2048, 10240, 47, 20, 20),
        {
            **SIGMOIDS,
            "q_lora_rank": 768,
            "kv_lora_rank": 512,
            "qk_nope_head_dim": 192,
            "qk_rope_head_dim": 64,
            "v_head_dim": 256,
            "n_routed_experts": 64,
            "num_experts_per_tok": 4,
            "n_shared_experts": 1,
            "moe_intermediate_size": 1536,
            "routed_scaling_factor": 1.8,
            "rope_theta": 1e6,
        },
        30.0,
    ),
    "solar-open-100b": (
        *("SolarOpen", 196608, 4096, 10240, 48, 64, 8),
        {
            **SIGMOIDS,
            "head_dim": 128,
            "n_routed_experts": 128,
            "num_experts_per_tok": 8,
            "n_shared_experts": 1,
            "moe_intermediate_size": 1280,
            "routed_scaling_factor": 1.0,
        },
        102.0,
    ),
    "hy3": (
        *("HYV3", 120832, 4096, 13312, 80, 64, 8),
        {
            "head_dim": 128,
            "num_experts": 192,
            "num_experts_per_tok": 8,
            "num_shared_experts": 1,
            "moe_intermediate_size": 1536,
            "router_scaling_factor": 2.826,
        },
        295.0,
    ),
    "olmoe-1b-7b": (
        *("Olmoe", 50304, 2048, 1024, 16, 16, 16),
        {"num_experts": 64, "num_experts_per_tok": 8, "norm_topk_prob": False, "clip_qkv": None},
        6.92,
    ),
    "granite-3.1-3b-a800m": (
        *("GraniteMoe", 49155, 1536, 512, 32, 24, 8),
        {
            "num_local_experts": 40,
            "num_experts_per_tok": 8,
            "embedding_multiplier": 12.0,
            "attention_multiplier": 0.015625,
            "residual_multiplier": 0.22,
            "logits_scaling": 6.0,
            "tie_word_embeddings": True,
        },
        3.3,
    ),
    "deepseek-v3.2": (
        *("DeepseekV32", 129280, 7168, 18432, 61, 128, 128),
        {
            **INDEXED,
            "q_lora_rank": 1536,
            "qk_nope_head_dim": 128,
            "v_head_dim": 128,
            "n_group": 8,
            "topk_group": 4,
            "index_n_heads": 64,
        },
        671.9,  # 685 with the layer that predicts further tokens
    ),
    "glm-5": (
        *("GlmMoeDsa", 154880, 6144, 12288, 78, 64, 64),
        {
            **INDEXED,
            "q_lora_rank": 2048,
            "qk_nope_head_dim": 192,
            "v_head_dim": 256,
            "n_group": 1,
            "topk_group": 1,
            "index_n_heads": 32,
        },
        744.0,
    ),
    "bamba-9b": (
        *("Bamba", 128256, 4096, 14336, 32, 32, 8),
        {
            "mamba_n_heads": 128,
            "mamba_d_head": 64,
            "mamba_n_groups": 1,
            "mamba_d_state": 128,
            "mamba_d_conv": 4,
            "mamba_expand": 2,
            "attn_layer_indices": [9, 18, 27],
        },
        9.78,
    ),
    "afm-4.5b": (
        *("Arcee", 128004, 2560, 18432, 36, 20, 4),
        {"head_dim": 128, "hidden_act": "relu2"},
        4.62,
    ),
    "qwen3.5-35b-a3b": (
        *("Qwen3_5Moe", 248320, 2048, 5632, 40, 16, 2),
        {
            **DELTA_NET,
            "num_experts": 256,
            "num_experts_per_tok": 8,
            "moe_intermediate_size": 512,
            "shared_expert_intermediate_size": 512,
        },
        34.7,
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


def run(*command, check=True):
    return subprocess.run(command, check=check, capture_output=True, text=True)


def seconds():
    """CPU seconds of the commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
            search = f"--llm-search-sharding=simulator=roofline machine=h100_sxm space=serving max-devices={devices}"
            before = seconds()
            # Where no strategy fits, the search ends with an error, and a proof.
            table = run("shard-opt", module, search, "-o", "/dev/null", check=False).stderr
            proof = re.search("exact, (proved optimal|proved infeasible)", table)
            words = {"proved optimal": "proved", "proved infeasible": "infeasible"}
            took = f" {seconds() - before:.2f} s" if "--times" in sys.argv else ""
            proved.append(f"{devices} devices {words[proof[1]] if proof else 'OPEN'}{took}")
        size = "" if near else f" FAR from {billions}e9"
        print(f"{name}: {count} parameters{size}, {', '.join(proved)}", flush=True)


main()
