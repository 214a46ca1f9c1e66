"""Options of tiny models at random, of what their class of configs has."""

from dataclasses import fields

# What a key may be, where a config has it. Sizes that few degrees divide are among them.
CHOICES = {
    "vocab_size": (17, 31, 40),
    "hidden_size": (16, 24, 40, 48),
    "intermediate_size": (6, 9, 14, 30),
    "num_hidden_layers": (1, 2, 3, 5),
    "rms_norm_eps": (1e-6, 1e-5, 1e-2),
    "tie_word_embeddings": (False, True),
    "attention_bias": (False, True),
    "mlp_bias": (False, True),
    "use_bias": (False, True),
    "hidden_act": ("silu", "gelu", "gelu_pytorch_tanh", "relu", "gelu_new"),
    "sliding_window": (1, 2, 7, 20),
    "norm_topk_prob": (False, True),
    "num_experts_per_tok": (1, 2, 3),
    "moe_intermediate_size": (3, 6, 11),
    "n_shared_experts": (1, 2, 3),
    "num_shared_experts": (1, 2),
    "routed_scaling_factor": (1.0, 0.7, 2.5),
    "q_lora_rank": (None, 5, 12),
    "kv_lora_rank": (6, 14),
    "v_head_dim": (4, 7, 10),
    "conv_kernel": (2, 3, 5),
    "mamba_d_conv": (2, 3, 5),
    "linear_conv_kernel_dim": (2, 3, 5),
    "index_topk": (1, 3, 30),
    "use_qk_norm": (False, True),
    "partial_rotary_factor": (0.5, 1.0),
    "logit_scale": (0.3, 2.0),
    "final_logit_softcapping": (None, 1.2),
    "attn_logit_softcapping": (None, 0.7),
    "rope_theta": (100.0, 5e5),
    "head_dim": (4, 6, 12),
    "num_experts": (4, 5, 7),
    "num_local_experts": (4, 5, 7),
    "n_routed_experts": (4, 6, 8),
    "moe_num_experts": (4, 5, 7),
    "moe_k": (1, 2, 3),
    "moe_num_shared_experts": (0, 1, 3),
    "moe_layer_interval": (1, 2),
    "moe_latent_size": (None, 7),
    "moe_shared_expert_intermediate_size": (5, 9),
    "shared_expert_intermediate_size": (5, 9),
    "shared_intermediate_size": (5, 9),
    "n_group": (1, 2),
    "first_k_dense_replace": (0, 1, 2),
    "decoder_sparse_step": (1, 2),
    "interleave_moe_layer_step": (1, 2),
    "router_scaling_factor": (0.6, 2.0),
    "attention_chunk_size": (1, 3, 8),
    "attn_temperature_tuning": (False, True),
    "floor_scale": (2, 5),
    "no_rope_layer_interval": (1, 2, 3),
    "position_embedding_type": (None, "rope"),
    "query_pre_attn_scalar": (3, 30),
    "qk_nope_head_dim": (2, 5, 8),
    "qk_rope_head_dim": (2, 6),
    "rope_interleave": (False, True),
    "index_n_heads": (5, 8),
    "index_head_dim": (8, 12),
    "qkv_bias": (False, True),
    "attention_out_bias": (False, True),
    "use_sliding_window": (False, True),
    "max_window_layers": (0, 1, 2),
    "linear_num_value_heads": (3, 6, 12),
    "linear_key_head_dim": (3, 5),
    "linear_value_head_dim": (3, 8),
    "mamba_d_state": (3, 8),
    "mamba_conv_bias": (False, True),
    "mamba_proj_bias": (False, True),
    "mamba_head_dim": (3, 6),
    "ssm_state_size": (3, 8),
    "use_conv_bias": (False, True),
    "embedding_multiplier": (0.5, 4.0),
    "attention_multiplier": (0.2, 0.9),
    "residual_multiplier": (0.3, 1.4),
    "logits_scaling": (0.5, 3.0),
    "scale_emb": (1, 4),
    "scale_depth": (0.7, 2.0),
    "dim_model_base": (7, 50),
}
# Heads of queries, and of keys and values.
HEADS = ((2, 1), (4, 2), (4, 4), (6, 3), (6, 2), (8, 2), (3, 1), (5, 5))
ROPES = (
    {"rope_type": "default", "rope_theta": 500.0},
    {"rope_type": "linear", "rope_theta": 1e4, "factor": 3.0},
    {
        "rope_type": "llama3",
        "rope_theta": 1e4,
        "factor": 4.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 16,
    },
    {
        "rope_type": "yarn",
        "rope_theta": 1e4,
        "factor": 4.0,
        "original_max_position_embeddings": 16,
    },
    {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0},
)


def draw_layers(sizes, random):
    """Draws which layers are of which of the kinds that there are."""
    if sizes.get("layer_types") and random.random() < 0.7:
        kinds = sorted(set(sizes["layer_types"]))
        sizes["layer_types"] = [random.choice(kinds) for _ in range(6)]
    if letters := sizes.get("hybrid_override_pattern"):
        sizes["hybrid_override_pattern"] = "".join(random.choices(letters, k=random.choice((2, 4, 5))))


def draw(kind, sizes, random):
    """`sizes`, with some options of the class of configs `kind` drawn anew."""
    known = {field.name for field in fields(kind)} & set(CHOICES)
    sizes = dict(sizes)
    if "hybrid_override_pattern" in sizes:
        known -= {"num_hidden_layers"}
    for key in random.sample(sorted(known), min(7, len(known))):
        sizes[key] = random.choice(CHOICES[key])
    draw_layers(sizes, random)
    if random.random() < 0.5:
        heads, groups = random.choice(HEADS)
        latent = "kv_lora_rank" in sizes
        sizes.update(num_attention_heads=heads, num_key_value_heads=heads if latent else groups)
    if random.random() < 0.3 and "rope_parameters" in {field.name for field in fields(kind)}:
        sizes["rope_parameters"] = dict(random.choice(ROPES))
    return sizes
