"""The families of utils/tiny_models.py, and the options of their models."""

from tiny_small_families import GEMMA, SMALL_EXPERTS, SMALL_FAMILIES, SMALL_LATENT, longrope

# Sizes that few degrees divide, and everything that a config need not leave as
# it is: a window within the prompts, an epsilon that shows.
COMMON = {
    "vocab_size": 61,
    "hidden_size": 36,
    "intermediate_size": 50,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-3,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": 0,
}
# Less of it, for families whose facts do not need more.
LESS = {"vocab_size": 41, "hidden_size": 24, "intermediate_size": 26}
EXPERTS = {
    "moe_intermediate_size": 14,
    "n_routed_experts": 8,
    "num_experts_per_tok": 3,
    "n_shared_experts": 1,
    "first_k_dense_replace": 1,
    "n_group": 2,
    "topk_group": 1,
    "routed_scaling_factor": 1.5,
}
ROUTED = {"moe_intermediate_size": 14, "num_experts": 6, "num_experts_per_tok": 2}
COHERE = {"layer_norm_eps": 1e-3}
LLAMA4 = {
    "head_dim": 8,
    "intermediate_size": 14,
    "intermediate_size_mlp": 22,
    "num_local_experts": 5,
    "num_hidden_layers": 4,
    "attention_chunk_size": 5,
    "floor_scale": 3,
    "attn_scale": 0.5,
}
MINIMAX = {
    "head_dim": 8,
    "intermediate_size": 14,
    "num_local_experts": 6,
    "num_experts_per_tok": 2,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5},
}
SHARED = {**ROUTED, "shared_expert_intermediate_size": 22, "moe_intermediate_size": 10}
ERNIE = {
    "moe_intermediate_size": 10,
    "moe_num_experts": 6,
    "moe_k": 2,
    "moe_num_shared_experts": 2,
    "num_hidden_layers": 3,
}
LATENT = {
    **EXPERTS,
    "kv_lora_rank": 14,
    "qk_nope_head_dim": 6,
    "qk_rope_head_dim": 4,
    "v_head_dim": 10,
    "num_key_value_heads": 6,
}
# Key heads that few degrees divide, with several value heads each.
STATES = {
    "head_dim": 8,
    "partial_rotary_factor": 0.5,
    "linear_num_key_heads": 3,
    "linear_num_value_heads": 6,
    "linear_key_head_dim": 4,
    "linear_value_head_dim": 6,
    "num_hidden_layers": 4,
}
# Groups of heads, or one of many. The least step of Nemotron-H is no part of the steps
# that Transformers decodes one by one, which differ from what it makes at once.
NEMOTRON = {
    "hidden_size": 24,
    "vocab_size": 41,
    "num_hidden_layers": None,
    "intermediate_size": 26,
    "num_attention_heads": 4,
    "head_dim": 8,
    "layer_norm_epsilon": 1e-3,
    "mamba_num_heads": 6,
    "mamba_head_dim": 4,
    "n_groups": 2,
    "ssm_state_size": 5,
    "time_step_min": 0.6,
    "chunk_size": 4,
}
GRANITE_4 = {
    "hidden_size": 18,
    "vocab_size": 41,
    "num_attention_heads": 3,
    "num_key_value_heads": 1,
    "mamba_n_heads": 9,
    "mamba_d_state": 5,
    "mamba_chunk_size": 4,
    "shared_intermediate_size": 14,
    "intermediate_size": 6,
    "embedding_multiplier": 3.0,
    "attention_multiplier": 0.3,
    "residual_multiplier": 0.6,
    "logits_scaling": 2.5,
    "layer_types": ["linear_attention", "full_attention"] * 2,
    "num_hidden_layers": 3,
}
# Family -> its class of configs, and the options of each of its models. The sizes of
# what sees are beside those of the language model. The first is
# part of the sources, unless it is None.
FAMILIES = {
    "llama": ("LlamaConfig", None, {"attention_bias": True, "mlp_bias": True, "head_dim": 10}, {}),
    "qwen2": (
        "Qwen2Config",
        None,
        {},
        {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1},
    ),
    "qwen3": ("Qwen3Config", None, {"head_dim": 8}, {"head_dim": 12, "attention_bias": True}),
    "mixtral": (
        "MixtralConfig",
        None,
        {"num_local_experts": 6, "sliding_window": 5},
        {"num_local_experts": 5, "num_experts_per_tok": 3},
    ),
    "qwen3_moe": (
        "Qwen3MoeConfig",
        None,
        {**ROUTED, "head_dim": 8, "norm_topk_prob": True, "mlp_only_layers": [1]},
        {**ROUTED, "head_dim": 10, "norm_topk_prob": False},
    ),
    "qwen2_moe": (
        "Qwen2MoeConfig",
        {**SHARED, "mlp_only_layers": [1], "norm_topk_prob": True, "num_hidden_layers": 3},
        {**SHARED, "qkv_bias": False, "decoder_sparse_step": 2, "num_hidden_layers": 4},
        {
            **SHARED,
            "use_sliding_window": True,
            "sliding_window": 4,
            "max_window_layers": 2,
            "num_experts_per_tok": 3,
        },
    ),
    "ernie4_5_moe": (
        "Ernie4_5_MoeConfig",
        {**ERNIE, **LESS, "tie_word_embeddings": False, "use_bias": True},
        {**ERNIE, "moe_layer_interval": 2, "moe_num_shared_experts": 1, "num_hidden_layers": 5},
        {**ERNIE, "moe_num_shared_experts": 0, "moe_layer_end_index": 1, "moe_k": 3},
    ),
    "phi3_longrope": (
        "Phi3Config",
        {"partial_rotary_factor": 0.75, "hidden_size": 48, **longrope(3, 5)},
        {"hidden_size": 48, **longrope(4, 32), "tie_word_embeddings": True},
        {"hidden_size": 60, "partial_rotary_factor": 0.8, **longrope(4, 6)},
    ),
    "kimi_k2": (
        "DeepseekV3Config",
        None,
        {
            **LATENT,
            "q_lora_rank": 18,
            "n_routed_experts": 12,
            "n_group": 1,
            "topk_group": 1,
            "routed_scaling_factor": 2.827,
            "rope_parameters": {
                "rope_type": "yarn",
                "rope_theta": 5e4,
                "factor": 4.0,
                "original_max_position_embeddings": 16,
                "beta_fast": 1.0,
                "beta_slow": 1.0,
                "mscale": 1.0,
                "mscale_all_dim": 1.0,
            },
        },
        {
            **LATENT,
            "q_lora_rank": 14,
            "n_routed_experts": 10,
            "num_experts_per_tok": 4,
            "n_group": 1,
            "topk_group": 1,
            "num_attention_heads": 3,
            "num_key_value_heads": 3,
        },
    ),
    "deepseek_v3": (
        "DeepseekV3Config",
        None,
        {**LATENT, "q_lora_rank": 18},
        {**LATENT, "q_lora_rank": None, "n_group": 1, "n_shared_experts": 2},
    ),
    "gpt_oss": (
        "GptOssConfig",
        None,
        {"num_local_experts": 6, "num_experts_per_tok": 2, "head_dim": 8, "sliding_window": 5},
        {"num_local_experts": 5, "num_experts_per_tok": 3, "head_dim": 12, "sliding_window": 3},
    ),
    "starcoder2": (
        "Starcoder2Config",
        {"norm_epsilon": 1e-3, "sliding_window": 5},
        {"sliding_window": None, "use_bias": False, "tie_word_embeddings": False},
    ),
    "mistral": (
        "MistralConfig",
        {**LESS, "sliding_window": 5, "head_dim": 10},
        {"sliding_window": None, "tie_word_embeddings": True},
    ),
    "phi3": (
        "Phi3Config",
        {"head_dim": 8, "partial_rotary_factor": 0.75, "sliding_window": None},
        {"hidden_size": 48, "sliding_window": 4, "tie_word_embeddings": True},
    ),
    "granite": (
        "GraniteConfig",
        {
            "embedding_multiplier": 3.0,
            "attention_multiplier": 0.3,
            "residual_multiplier": 0.6,
            "logits_scaling": 2.5,
            "tie_word_embeddings": True,
        },
        {
            "residual_multiplier": 0.22,
            "attention_bias": True,
            "mlp_bias": True,
            "tie_word_embeddings": False,
        },
    ),
    "smollm3": (
        "SmolLM3Config",
        {**LESS, "num_hidden_layers": 4, "no_rope_layer_interval": 3, "tie_word_embeddings": False},
        {"num_hidden_layers": 5, "no_rope_layers": [0, 1, 1, 0, 1], "attention_bias": True},
    ),
    "ernie4_5": (
        "Ernie4_5Config",
        {"use_bias": True, "tie_word_embeddings": False, "head_dim": 8},
        {"hidden_size": 48},
    ),
    "gemma": (
        "GemmaConfig",
        {"head_dim": 8, "num_key_value_heads": 1},
        {"head_dim": 10, "attention_bias": True, "hidden_act": "gelu"},
    ),
    "gemma2": (
        "Gemma2Config",
        {**GEMMA, "attn_logit_softcapping": 0.8, "final_logit_softcapping": 1.5},
        {**GEMMA, "attn_logit_softcapping": None, "final_logit_softcapping": 3.0},
    ),
    "gemma3": (
        "Gemma3TextConfig",
        {
            **LESS,
            **GEMMA,
            "num_hidden_layers": 4,
            "layer_types": ["sliding_attention", "sliding_attention", "full_attention"] * 2,
        },
        {**GEMMA, "num_hidden_layers": 7, "attn_logit_softcapping": 0.7},
    ),
    "glm4": (
        "Glm4Config",
        {"head_dim": 8, "attention_bias": True},
        {"head_dim": 12, "attention_bias": False, "tie_word_embeddings": True},
    ),
    "olmo2": (
        "Olmo2Config",
        {"attention_bias": True},
        {"num_key_value_heads": 6},
        {"num_key_value_heads": 3, "hidden_size": 48, "tie_word_embeddings": True},
    ),
    "olmo3": (
        "Olmo3Config",
        {**LESS, "sliding_window": 5, "num_hidden_layers": 4},
        {
            "sliding_window": 3,
            "layer_types": ["full_attention", "sliding_attention"] * 2,
            "attention_bias": True,
            "rope_parameters": {
                "full_attention": {
                    "rope_type": "yarn",
                    "rope_theta": 1e4,
                    "factor": 4.0,
                    "original_max_position_embeddings": 16,
                },
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e3},
            },
        },
        {"sliding_window": 4, "hidden_size": 48, "num_key_value_heads": 6},
    ),
    "minimax_m2": (
        "MiniMaxM2Config",
        {**MINIMAX, "vocab_size": 41, "hidden_size": 24},
        {**MINIMAX, "num_attention_heads": 4, "num_key_value_heads": 4, "num_local_experts": 5},
        {**MINIMAX, "rope_parameters": None, "rotary_dim": 4, "num_experts_per_tok": 3},
    ),
    "cohere": (
        "CohereConfig",
        {**COHERE, "use_qk_norm": True, "logit_scale": 0.5},
        {**COHERE, "use_qk_norm": False, "attention_bias": True, "tie_word_embeddings": False},
        {**COHERE, "use_qk_norm": True, "num_key_value_heads": 6, "attention_bias": True},
    ),
    "cohere2": (
        "Cohere2Config",
        {**COHERE, "sliding_window": 5, "num_hidden_layers": 5, "logit_scale": 0.5},
        {
            **COHERE,
            "sliding_window": 3,
            "layer_types": ["full_attention", "sliding_attention"] * 2,
            "num_hidden_layers": 3,
            "attention_bias": True,
        },
        {**COHERE, "sliding_window": 4, "sliding_window_pattern": 2, "logit_scale": 2.0},
    ),
    "llama4": (
        "Llama4TextConfig",
        {**LLAMA4, "interleave_moe_layer_step": 2},
        {
            **LLAMA4,
            "no_rope_layers": [1, 0, 1, 1],
            "moe_layers": [0, 1, 3],
            "attention_bias": True,
            "attention_chunk_size": 4,
        },
        {
            **LLAMA4,
            "use_qk_norm": False,
            "attn_temperature_tuning": False,
            "num_local_experts": 6,
            "num_experts_per_tok": 3,
            "attention_chunk_size": 16,
        },
    ),
    "deepseek_v2": (
        "DeepseekV2Config",
        {
            **SMALL_EXPERTS,
            **SMALL_LATENT,
            "n_routed_experts": 8,
            "n_shared_experts": 2,
            "first_k_dense_replace": 1,
            "topk_method": "group_limited_greedy",
            "n_group": 4,
            "topk_group": 2,
        },
        {
            **LATENT,
            "q_lora_rank": None,
            "topk_method": "greedy",
            "n_group": 1,
            "topk_group": 1,
            "rope_parameters": {
                "rope_type": "yarn",
                "rope_theta": 1e4,
                "factor": 4.0,
                "original_max_position_embeddings": 16,
                "mscale": 0.707,
                "mscale_all_dim": 0.707,
            },
        },
    ),
    "qwen3_next": (
        "Qwen3NextConfig",
        {
            **STATES,
            "mlp_only_layers": [0, 1, 2, 3],
            "layer_types": ["linear_attention", "full_attention"] * 2,
        },
        {
            **STATES,
            "linear_num_value_heads": 3,
            "linear_conv_kernel_dim": 3,
            **SHARED,
            "mlp_only_layers": [1],
            "attention_bias": True,
        },
    ),
    "qwen3_5": (
        "Qwen3_5TextConfig",
        {
            **STATES,
            "num_hidden_layers": 5,
            "layer_types": ["full_attention"] + ["linear_attention"] * 3 + ["full_attention"],
        },
        {**STATES, "linear_num_value_heads": 3, "head_dim": 12, "tie_word_embeddings": True},
    ),
    "nemotron_h": (
        "NemotronHConfig",
        {**NEMOTRON, "hybrid_override_pattern": "MM-*M"},
        {
            **NEMOTRON,
            "hybrid_override_pattern": "ME*-",
            "n_groups": 1,
            "mamba_num_heads": 5,
            "conv_kernel": 3,
            "use_conv_bias": False,
            "use_bias": True,
            "mlp_bias": True,
            "moe_intermediate_size": 10,
            "moe_shared_expert_intermediate_size": 14,
            "n_routed_experts": 6,
            "routed_scaling_factor": 1.5,
            "n_group": 2,
        },
        {
            **NEMOTRON,
            "hybrid_override_pattern": "M*MEE-",
            "n_groups": 6,
            "moe_intermediate_size": 10,
            "moe_shared_expert_intermediate_size": 14,
            "time_step_min": 0.001,
            "tie_word_embeddings": True,
        },
    ),
    "granite_4": (
        "GraniteMoeHybridConfig",
        {**GRANITE_4, "num_local_experts": 5, "num_experts_per_tok": 2},
        {
            **GRANITE_4,
            "num_local_experts": 0,
            "position_embedding_type": "rope",
            "mamba_n_groups": 3,
            "mamba_conv_bias": False,
            "mamba_proj_bias": True,
            "time_step_limit": [0.4, 0.9],
            "tie_word_embeddings": True,
        },
        {**GRANITE_4, "num_local_experts": 4, "mamba_n_groups": 9, "attention_bias": True},
    ),
    "nemotron_h_latent": (
        "NemotronHConfig",
        {
            **NEMOTRON,
            "hidden_size": 16,
            "vocab_size": 23,
            "hybrid_override_pattern": "E*",
            "moe_latent_size": 6,
            "moe_intermediate_size": 5,
            "moe_shared_expert_intermediate_size": 7,
            "n_routed_experts": 4,
            "n_group": 1,
            "topk_group": 1,
            "num_experts_per_tok": 2,
            "mlp_bias": True,
        },
        {
            **NEMOTRON,
            "hybrid_override_pattern": "ME*-",
            "moe_latent_size": 10,
            "moe_intermediate_size": 9,
            "moe_shared_expert_intermediate_size": 14,
            "n_routed_experts": 6,
            "routed_scaling_factor": 2.5,
        },
    ),
    "glm4_moe": (
        "Glm4MoeConfig",
        {
            **SMALL_EXPERTS,
            "n_routed_experts": 6,
            "first_k_dense_replace": 1,
            "n_group": 2,
            "topk_group": 1,
            "head_dim": 8,
            "attention_bias": True,
            "use_qk_norm": True,
        },
        {**EXPERTS, "head_dim": 12, "use_qk_norm": False, "n_group": 1, "topk_group": 1},
    ),
    **SMALL_FAMILIES,
}
