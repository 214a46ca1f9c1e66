"""Families that others of tiny_families.py cover, of small sizes."""

GEMMA = {"head_dim": 8, "query_pre_attn_scalar": 5, "sliding_window": 5}


def longrope(pairs, original):
    """Factors that differ from pair to pair, and more so in long sequences."""
    return {
        "original_max_position_embeddings": original,
        "rope_parameters": {
            "rope_type": "longrope",
            "rope_theta": 1e4,
            "original_max_position_embeddings": original,
            "short_factor": [1 + 0.25 * i for i in range(pairs)],
            "long_factor": [1.5 + 0.75 * i for i in range(pairs)],
        },
    }


# Of families that others cover: as little as their facts need.
SMALL = {
    "vocab_size": 23,
    "hidden_size": 16,
    "intermediate_size": 10,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "head_dim": 4,
}
SMALL_EXPERTS = {
    **SMALL,
    "moe_intermediate_size": 5,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_shared_experts": 1,
    "routed_scaling_factor": 1.5,
}
SMALL_ROUTED = {
    **SMALL,
    "moe_intermediate_size": 5,
    "num_experts": 4,
    "num_experts_per_tok": 2,
}
SMALL_SHARED = {**SMALL_ROUTED, "num_shared_experts": 1}
SMALL_WIDTHS = {**SMALL, "intermediate_size": 6}
SMALL_LATENT = {
    "head_dim": None,
    "num_key_value_heads": 4,
    "q_lora_rank": 6,
    "kv_lora_rank": 8,
    "qk_nope_head_dim": 6,
    "qk_rope_head_dim": 4,
    "v_head_dim": 5,
}
SMALL_STATES = {
    **SMALL,
    "head_dim": 8,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "partial_rotary_factor": 0.5,
    "linear_num_key_heads": 1,
    "linear_num_value_heads": 2,
    "linear_key_head_dim": 4,
    "linear_value_head_dim": 6,
    "layer_types": ["linear_attention", "full_attention"],
    "moe_intermediate_size": 6,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "shared_expert_intermediate_size": 7,
}
MIXED = ["sliding_attention", "full_attention"]
SCALED = {
    "rope_type": "llama3",
    "rope_theta": 1e4,
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
SIGHT = {"hidden_size": 4, "intermediate_size": 4, "num_attention_heads": 1}
LLAMA4_SIGHT = {
    **SIGHT,
    "num_hidden_layers": 1,
    "image_size": 4,
    "patch_size": 2,
    "vision_output_dim": 4,
    "projector_input_dim": 4,
    "projector_output_dim": 4,
}
QWEN_SIGHT = {
    "depth": 1,
    "hidden_size": 4,
    "intermediate_size": 4,
    "num_heads": 1,
    "patch_size": 2,
    "temporal_patch_size": 1,
    "out_hidden_size": 16,
    "num_position_embeddings": 4,
    "deepstack_visual_indexes": [0],
}
SECTIONS = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 1, 0]}
LLAMA4_SMALL = {
    **SMALL,
    "intermediate_size": 6,
    "intermediate_size_mlp": 10,
    "num_local_experts": 4,
    "attention_chunk_size": 5,
    "floor_scale": 3,
    "attn_scale": 0.5,
}
# Fewer positions than prompts have; heads enough that few scores are zero, all alike.
INDEXED = {
    **SMALL_EXPERTS,
    **SMALL_LATENT,
    "n_group": 2,
    "topk_group": 1,
    "first_k_dense_replace": 1,
    "index_topk": 5,
    "index_n_heads": 6,
    "index_head_dim": 10,
}
SMALL_SPACES = {
    **SMALL,
    "head_dim": None,
    "num_key_value_heads": 2,
    "mamba_n_heads": 8,
    "mamba_d_state": 5,
    "mamba_chunk_size": 4,
    "attn_layer_indices": [1],
}
# As in tiny_families.py.
SMALL_FAMILIES = {
    "arcee": (
        "ArceeConfig",
        None,
        {**SMALL, "num_key_value_heads": 2},
        {**SMALL, "head_dim": 6, "attention_bias": True, "mlp_bias": True},
    ),
    "bamba": (
        "BambaConfig",
        {**SMALL_SPACES, "mamba_n_groups": 2},
        {
            **SMALL_SPACES,
            "attention_bias": True,
            "mlp_bias": True,
            "mamba_proj_bias": True,
            "mamba_conv_bias": False,
            "tie_word_embeddings": True,
        },
    ),
    "deepseek_v32": (
        "DeepseekV32Config",
        {**INDEXED},
        {
            **INDEXED,
            "index_head_dim": 4,
            "index_topk": 3,
            "index_n_heads": 8,
            "mlp_layer_types": ["sparse", "dense"],
            "rope_parameters": {
                "rope_type": "yarn",
                "rope_theta": 1e4,
                "factor": 4.0,
                "original_max_position_embeddings": 16,
                "mscale": 1.0,
                "mscale_all_dim": 1.0,
            },
        },
    ),
    "glm_moe_dsa": (
        "GlmMoeDsaConfig",
        None,
        {**INDEXED, "index_topk": 4},
        {**INDEXED, "n_group": 1, "index_head_dim": 6, "index_n_heads": 7},
    ),
    "seed_oss": (
        "SeedOssConfig",
        {**SMALL, "attention_out_bias": True, "mlp_bias": True},
        {**SMALL, "attention_bias": False, "tie_word_embeddings": True},
    ),
    "exaone4": (
        "Exaone4Config",
        {**SMALL, "sliding_window": 5, "layer_types": MIXED},
        {**SMALL, "sliding_window": None, "layer_types": ["full_attention"] * 2},
    ),
    "glm": (
        "GlmConfig",
        None,
        {**SMALL, "head_dim": 8, "attention_bias": True},
        {**SMALL, "attention_bias": False, "tie_word_embeddings": True},
    ),
    "cwm": (
        "CwmConfig",
        {**SMALL, "sliding_window": 5, "rope_parameters": SCALED},
        {**SMALL, "sliding_window": 3, "rope_parameters": SCALED, "layer_types": MIXED},
    ),
    "vaultgemma": (
        "VaultGemmaConfig",
        None,
        {
            **SMALL,
            **GEMMA,
            "attn_logit_softcapping": 0.8,
            "final_logit_softcapping": 1.5,
        },
        {
            **SMALL,
            **GEMMA,
            "attn_logit_softcapping": None,
            "layer_types": MIXED[::-1],
        },
    ),
    "ministral": (
        "MinistralConfig",
        None,
        {**SMALL, "sliding_window": 5, "layer_types": MIXED},
        {**SMALL, "sliding_window": 4, "tie_word_embeddings": True},
    ),
    "youtu": (
        "YoutuConfig",
        None,
        {**SMALL, **SMALL_LATENT, "tie_word_embeddings": False},
        {**SMALL, **SMALL_LATENT, "q_lora_rank": None, "rope_interleave": False},
    ),
    "minicpm3": (
        "MiniCPM3Config",
        {**SMALL, **SMALL_LATENT, "scale_emb": 3, "scale_depth": 0.9, "dim_model_base": 40},
        {
            **SMALL,
            **SMALL_LATENT,
            **longrope(2, 5),
            "scale_emb": 2.5,
            "scale_depth": None,
            "dim_model_base": None,
            "tie_word_embeddings": False,
        },
    ),
    "dots1": (
        "Dots1Config",
        {
            **SMALL_EXPERTS,
            "first_k_dense_replace": 1,
            "sliding_window": 5,
            "max_window_layers": 1,
            "norm_topk_prob": True,
        },
        {
            **SMALL_EXPERTS,
            "n_routed_experts": 6,
            "n_group": 2,
            "topk_group": 1,
            "sliding_window": None,
            "attention_bias": True,
        },
    ),
    "exaone_moe": (
        "ExaoneMoeConfig",
        {**SMALL_SHARED, "sliding_window": 5, "layer_types": MIXED},
        {
            **SMALL_SHARED,
            "sliding_window": 3,
            "layer_types": MIXED[::-1],
            "mlp_layer_types": ["sparse", "dense"],
            "norm_topk_prob": False,
            "num_shared_experts": 2,
        },
    ),
    "glm4_moe_lite": (
        "Glm4MoeLiteConfig",
        None,
        {**SMALL_EXPERTS, **SMALL_LATENT},
        {
            **SMALL_EXPERTS,
            **SMALL_LATENT,
            "mlp_layer_types": ["sparse", "dense"],
            "n_group": 2,
            "topk_group": 1,
        },
    ),
    "solar_open": (
        "SolarOpenConfig",
        None,
        {**SMALL_EXPERTS, "attention_bias": True},
        {
            **SMALL_EXPERTS,
            "head_dim": 8,
            "n_shared_experts": 2,
            "norm_topk_prob": False,
            "rope_parameters": {
                "rope_type": "yarn",
                "rope_theta": 1e4,
                "factor": 4.0,
                "original_max_position_embeddings": 16,
            },
        },
    ),
    "hy_v3": (
        "HYV3Config",
        {**SMALL_SHARED, "router_scaling_factor": 1.5},
        {
            **SMALL_SHARED,
            "router_scaling_factor": 2.5,
            "mlp_layer_types": ["sparse", "dense"],
            "num_shared_experts": 2,
            "attention_bias": True,
        },
    ),
    "olmoe": (
        "OlmoeConfig",
        {**SMALL_WIDTHS, "head_dim": None, "num_experts": 4, "num_experts_per_tok": 2},
        {
            **SMALL_WIDTHS,
            "head_dim": None,
            "num_experts": 6,
            "num_experts_per_tok": 3,
            "norm_topk_prob": True,
        },
    ),
    "flex_olmo": (
        "FlexOlmoConfig",
        None,
        {**SMALL_WIDTHS, "num_experts": 4, "num_experts_per_tok": 2},
        {**SMALL_WIDTHS, "num_experts": 5, "num_experts_per_tok": 3, "norm_topk_prob": True},
    ),
    "granitemoe": (
        "GraniteMoeConfig",
        None,
        {
            **SMALL_WIDTHS,
            "head_dim": None,
            "num_local_experts": 4,
            "embedding_multiplier": 3.0,
            "attention_multiplier": 0.3,
            "residual_multiplier": 0.6,
            "logits_scaling": 2.5,
        },
        {**SMALL_WIDTHS, "num_local_experts": 5, "num_experts_per_tok": 3, "attention_bias": True},
    ),
    "granitemoeshared": (
        "GraniteMoeSharedConfig",
        {
            **SMALL_WIDTHS,
            "num_local_experts": 4,
            "shared_intermediate_size": 7,
            "attention_multiplier": 0.3,
            "residual_multiplier": 0.6,
        },
        {**SMALL_WIDTHS, "num_local_experts": 5, "tie_word_embeddings": True},
    ),
    "qwen3_5_moe": (
        "Qwen3_5MoeTextConfig",
        {**SMALL_STATES},
        {
            **SMALL_STATES,
            "layer_types": ["full_attention", "linear_attention"],
            "num_experts": 5,
            "num_experts_per_tok": 3,
            "linear_num_key_heads": 2,
            "attention_bias": True,
        },
    ),
    "qwen3_5_moe_sees": (
        "Qwen3_5MoeConfig",
        None,
        {**SMALL_STATES, "vision_config": QWEN_SIGHT},
        {**SMALL_STATES, "vision_config": QWEN_SIGHT, "tie_word_embeddings": True},
    ),
    "llama4_sees": (
        "Llama4Config",
        {
            **LLAMA4_SMALL,
            "vision_config": LLAMA4_SIGHT,
            "interleave_moe_layer_step": 2,
            "num_experts_per_tok": 2,
        },
        {**LLAMA4_SMALL, "vision_config": LLAMA4_SIGHT, "no_rope_layers": [1, 0]},
    ),
    "gemma3_sees": (
        "Gemma3Config",
        None,
        {
            **SMALL,
            **GEMMA,
            "layer_types": MIXED,
            "vision_config": {**SIGHT, "num_hidden_layers": 1, "image_size": 4, "patch_size": 2},
            "mm_tokens_per_image": 1,
        },
        {
            **SMALL,
            **GEMMA,
            "layer_types": MIXED[::-1],
            "vision_config": {**SIGHT, "num_hidden_layers": 1, "image_size": 4, "patch_size": 2},
            "mm_tokens_per_image": 1,
        },
    ),
    "mistral3": (
        "Mistral3Config",
        None,
        {
            **SMALL,
            "vision_config": {**SIGHT, "num_hidden_layers": 1, "image_size": 4, "patch_size": 2},
            "tie_word_embeddings": False,
        },
        {
            **SMALL,
            "sliding_window": 5,
            "vision_config": {**SIGHT, "num_hidden_layers": 1, "image_size": 4, "patch_size": 2},
            "tie_word_embeddings": True,
        },
    ),
    "qwen2_5_vl": (
        "Qwen2_5_VLConfig",
        {
            **SMALL,
            "head_dim": None,
            "vision_config": QWEN_SIGHT,
            "rope_parameters": SECTIONS,
        },
        {
            **SMALL,
            "head_dim": None,
            "num_attention_heads": 2,
            "vision_config": QWEN_SIGHT,
            "rope_parameters": {**SECTIONS, "mrope_section": [2, 1, 1]},
            "use_sliding_window": True,
            "sliding_window": 4,
            "max_window_layers": 1,
            "tie_word_embeddings": True,
        },
    ),
    "qwen3_vl": (
        "Qwen3VLConfig",
        None,
        {**SMALL, "vision_config": QWEN_SIGHT, "rope_parameters": SECTIONS},
        {
            **SMALL,
            "head_dim": 8,
            "attention_bias": True,
            "vision_config": QWEN_SIGHT,
            "rope_parameters": {**SECTIONS, "mrope_section": [2, 1, 1]},
            "tie_word_embeddings": True,
        },
    ),
    "qwen3_vl_moe": (
        "Qwen3VLMoeConfig",
        {**SMALL_ROUTED, "vision_config": QWEN_SIGHT, "rope_parameters": SECTIONS},
        {
            **SMALL_ROUTED,
            "mlp_only_layers": [1],
            "vision_config": QWEN_SIGHT,
            "rope_parameters": SECTIONS,
        },
    ),
}
