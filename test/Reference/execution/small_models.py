"""Configs of models small enough to execute anywhere, with sizes that few degrees divide.

Between them they have every option that the importer knows. Their weights are
random: `Weights` makes up the params of a program.
"""

import zlib

import numpy as np

COMMON = {
    "hidden_act": "silu",
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "torch_dtype": "float32",
    "vocab_size": 53,
}

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 36,
    "intermediate_size": 50,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 8,
}

MIXTRAL = {
    "architectures": ["MixtralForCausalLM"],
    "model_type": "mixtral",
    "hidden_size": 20,
    "intermediate_size": 26,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "num_local_experts": 5,
    "num_experts_per_tok": 2,
}

QWEN3_MOE = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "hidden_size": 24,
    "intermediate_size": 30,
    "moe_intermediate_size": 14,
    "num_hidden_layers": 4,
    "num_attention_heads": 6,
    "num_key_value_heads": 3,
    "head_dim": 12,
    "num_experts": 7,
    "num_experts_per_tok": 3,
    "norm_topk_prob": True,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
}

DEEPSEEK = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "hidden_size": 28,
    "intermediate_size": 34,
    "moe_intermediate_size": 10,
    "num_hidden_layers": 3,
    "num_attention_heads": 3,
    "num_key_value_heads": 3,
    "q_lora_rank": 18,
    "kv_lora_rank": 14,
    "qk_nope_head_dim": 6,
    "qk_rope_head_dim": 4,
    "v_head_dim": 10,
    "n_routed_experts": 6,
    "num_experts_per_tok": 2,
    "n_group": 3,
    "topk_group": 2,
    "n_shared_experts": 2,
    "first_k_dense_replace": 1,
    "routed_scaling_factor": 2.5,
    "norm_topk_prob": True,
    "scoring_func": "sigmoid",
    "topk_method": "noaux_tc",
    "rope_scaling": {
        "type": "yarn",
        "factor": 4.0,
        "beta_fast": 32,
        "beta_slow": 1,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
        "original_max_position_embeddings": 16,
    },
}

GPT_OSS = {
    "architectures": ["GptOssForCausalLM"],
    "model_type": "gpt_oss",
    "hidden_size": 22,
    "intermediate_size": 18,
    "num_hidden_layers": 4,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "attention_bias": True,
    "sliding_window": 3,
    "layer_types": ["sliding_attention", "full_attention"] * 2,
    "swiglu_limit": 0.5,
    "rope_scaling": {
        "rope_type": "yarn",
        "factor": 32.0,
        "beta_fast": 32.0,
        "beta_slow": 1.0,
        "original_max_position_embeddings": 16,
        "truncate": False,
    },
}

STARCODER2 = {
    "architectures": ["Starcoder2ForCausalLM"],
    "model_type": "starcoder2",
    "hidden_act": "gelu_pytorch_tanh",
    "hidden_size": 30,
    "intermediate_size": 46,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "norm_epsilon": 1e-3,
    "sliding_window": 3,
    "use_bias": True,
    "tie_word_embeddings": True,
}

GPT_MOE = {
    "architectures": ["GptMoeForCausalLM"],
    "model_type": "gpt_moe",
    "hidden_act": "gelu",
    "hidden_size": 26,
    "intermediate_size": 21,
    "num_hidden_layers": 2,
    "num_attention_heads": 5,
    "num_key_value_heads": 1,
    "head_dim": 6,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "norm_topk_prob": True,
}

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
QWEN2 = {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2"}
QWEN3 = {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3"}

CONFIGS = {
    "llama": {**LLAMA, "rope_scaling": LLAMA3},
    "llama-tied": {**LLAMA, "tie_word_embeddings": True, "num_key_value_heads": 6},
    "qwen2": {**LLAMA, **QWEN2, "num_attention_heads": 5, "num_key_value_heads": 1},
    "qwen3": {**LLAMA, **QWEN3, "head_dim": 12, "tie_word_embeddings": True},
    "mixtral": MIXTRAL,
    "mixtral-window": {**MIXTRAL, "sliding_window": 3},
    "qwen3-moe": QWEN3_MOE,
    "qwen3-moe-mixed": {**QWEN3_MOE, "mlp_only_layers": [0, 2], "norm_topk_prob": False},
    "deepseek": DEEPSEEK,
    "deepseek-q-proj": {**DEEPSEEK, "q_lora_rank": None, "n_group": 1, "topk_group": 1},
    "gpt-oss": GPT_OSS,
    "gpt-moe": GPT_MOE,
    "starcoder2": STARCODER2,
}
CONFIGS = {name: {**COMMON, **config} for name, config in CONFIGS.items()}


class Weights:
    """Random values of params, the same for a name and layer in every program."""

    def assemble(self, name, source, layer, shape):
        rng = np.random.default_rng(zlib.crc32(f"{name} {layer}".encode()))
        if len(shape) == 1:  # norms, biases, sinks
            return 1 + 0.3 * rng.normal(size=shape)
        return rng.normal(size=shape) / np.sqrt(shape[-2])
