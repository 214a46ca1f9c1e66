#!/usr/bin/env python3
"""Makes small models of the families that are imported, with Transformers.

    pip install torch transformers safetensors
    python utils/tiny_models.py [--only gemma] [--more] [--seed 7] [folder]

A model is a folder: its config, random weights under the hub's names, and for
random tokens [prompts, length] the logits [prompts, length, vocabulary] that
Transformers computes of them, step by step as at once. One model a family is part
of the sources, so that tests need neither the network nor Transformers; `--more`
makes others, with other options. A seed and a version of Torch give the same bytes.
"""

import argparse
import pathlib
import tempfile

import torch
import transformers
from safetensors.torch import save_file

TINY = pathlib.Path(__file__).resolve().parents[1] / "test" / "Target" / "HuggingFace" / "Tiny"
PROMPTS, LENGTH = 4, 12
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
GEMMA = {"head_dim": 8, "query_pre_attn_scalar": 5, "sliding_window": 5}
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
        {**ERNIE, "tie_word_embeddings": False},
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
        {"sliding_window": 5, "head_dim": 10},
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
        {"num_hidden_layers": 4, "no_rope_layer_interval": 3, "tie_word_embeddings": False},
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
            **GEMMA,
            "num_hidden_layers": 4,
            "layer_types": ["sliding_attention", "sliding_attention", "full_attention"] * 2,
        },
        {**GEMMA, "num_hidden_layers": 7, "use_bidirectional_attention": False},
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
        {"sliding_window": 5, "num_hidden_layers": 4},
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
        {**MINIMAX},
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
        {**LLAMA4_SMALL, "vision_config": LLAMA4_SIGHT, "interleave_moe_layer_step": 2},
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
# Keys that stand beside `text_config`.
OUTER = ("vision_config", "tie_word_embeddings", "mm_tokens_per_image")


def fill(model, random):
    """Random weights: all of them matter, and activations stay near one."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            values = torch.randn(weight.shape, generator=random)
            if weight.dim() > 1:
                weight.copy_(values * weight.shape[-1] ** -0.5)
            else:
                weight.copy_(0.3 * values + ("norm.weight" in name))
        for name, buffer in model.named_buffers():
            if "e_score_correction_bias" in name:
                buffer.copy_(0.1 * torch.randn(buffer.shape, generator=random))


def steps(model, tokens):
    """The logits of tokens that are decoded one by one."""
    logits, cache = [], None
    for i in range(tokens.shape[1]):
        step = model(tokens[:, i : i + 1], past_key_values=cache, use_cache=True)
        cache = step.past_key_values
        logits.append(step.logits[:, 0])
    return torch.stack(logits, dim=1)


def make(folder, config, seed):
    sees = hasattr(config, "vision_config")
    auto = transformers.AutoModelForImageTextToText if sees else transformers.AutoModelForCausalLM
    model = auto.from_config(
        config, attn_implementation="eager", experts_implementation="eager"
    )
    model = model.eval().float()
    random = torch.Generator().manual_seed(seed)
    fill(model, random)
    vocabulary = config.get_text_config().vocab_size
    tokens = torch.randint(vocabulary, (PROMPTS, LENGTH), generator=random)
    with torch.no_grad():
        logits = model(tokens, use_cache=False).logits.contiguous()
        gap = (steps(model, tokens) - logits).abs().max().item()
    with tempfile.TemporaryDirectory() as saved:
        model.save_pretrained(saved)
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("config.json", "model.safetensors"):
            (folder / name).write_bytes((pathlib.Path(saved) / name).read_bytes())
    save_file({"tokens": tokens, "logits": logits}, folder / "io.safetensors")
    print(f"{folder.name}: logits of {logits.std():.2f}, step by step within {gap:.1e}", flush=True)


def options_of(sizes):
    options = {**COMMON, **sizes}
    if "layer_types" in options:
        options["layer_types"] = options["layer_types"][: options["num_hidden_layers"]]
    options = {key: value for key, value in options.items() if (key, value) != ("head_dim", None)}
    if "vision_config" in options:
        outer = {key: options.pop(key) for key in OUTER if key in options}
        options = {"text_config": options, **outer}
    return options


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=TINY)
    parser.add_argument("--only", default="", help="families with this in their name, or one of these, by commas")
    parser.add_argument("--more", action="store_true", help="models with other options")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    for family, (kind, first, *others) in FAMILIES.items():
        if not any(part in family for part in args.only.split(",")):
            continue
        models = {f"{family}-{i}": sizes for i, sizes in enumerate(others, 2)}
        shipped = {family: first} if first else {}
        for name, sizes in (models if args.more else shipped).items():
            config = getattr(transformers, kind)(**options_of(sizes))
            make(args.folder / name, config, args.seed)


main()
