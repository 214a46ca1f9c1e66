//===- ConfigKeys.cpp - Keys of a config that nobody read -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigKeys.h"

#include <algorithm>
#include <initializer_list>

using namespace shardopt;
using namespace shardopt::hf;

using Fate = UnreadKey::Fate;

namespace {

struct Words {
  const char *why;
  std::initializer_list<std::string_view> keys;
};

/// Where the config has `other`, it says what `key` would.
struct Repetition {
  std::string_view key, other;
};

/// A key that the class of a family does not read, and a value that says what
/// it computes all the same. Of any other value nothing is known.
struct Restatement {
  std::string_view family; ///< how the names of its classes begin
  std::string_view key, value;
};

} // namespace

/// Keys that change no number of a model that is served.
static const Words harmless[] = {
    {"training only",
     {"aux_loss_alpha",
      "attention_dropout",
      "attention_probs_dropout_prob",
      "classifier_dropout",
      "dropout",
      "embd_pdrop",
      "embedding_dropout",
      "embedding_initializer_range",
      "ffn_dropout",
      "gradient_checkpointing",
      "hidden_dropout",
      "hidden_dropout_prob",
      "init_std",
      "init_method",
      "initializer_factor",
      "initializer_range",
      "input_jitter_noise",
      "layerdrop",
      "moe_aux_loss_coeff",
      "moe_capacity",
      "moe_gate",
      "moe_use_aux_free",
      "output_router_logits",
      "resid_pdrop",
      "rescale_prenorm_residual",
      "residual_dropout",
      "residue_dropout",
      "router_aux_loss_coef",
      "router_jitter_noise",
      "router_z_loss_coef",
      "seq_aux",
      "time_step_floor",
      "time_step_max",
      "time_step_rank",
      "z_loss_coefficient"}},
    {"how Transformers loads and runs it",
     {"_attn_implementation",
      "_attn_implementation_autoset",
      "_experts_implementation",
      "_name_or_path",
      "add_cross_attention",
      "architectures",
      "attn_implementation",
      "auto_map",
      "cache_implementation",
      "chunk_size",
      "chunk_size_feed_forward",
      "enable_moe_fp32_combine",
      "ep_size",
      "experts_implementation",
      "is_decoder",
      "is_encoder_decoder",
      "is_llama_config",
      "mamba_chunk_size",
      "mamba_ssm_cache_dtype",
      "mamba_ssm_dtype",
      "model_type",
      "moe_shared_expert_overlap",
      "name_or_path",
      "normalization_function",
      "num_logits_to_keep",
      "output_attentions",
      "output_hidden_states",
      "pretraining_tp",
      "problem_type",
      "residual_in_fp32",
      "return_dict",
      "tf_legacy_loss",
      "tokenizer_class",
      "torchscript",
      "transformers.js_config",
      "transformers_version",
      "unsloth_fixed",
      "unsloth_version",
      "use_bfloat16",
      "use_cache",
      "use_mamba_kernels",
      "use_parallel_embedding"}},
    {"how tokens are chosen from the logits",
     {"begin_suppress_tokens", "do_sample", "length_penalty", "max_length",
      "max_new_tokens", "min_length", "num_beams", "repetition_penalty",
      "suppress_tokens", "temperature", "top_p", "typical_p"}},
    {"names of classes", {"id2label", "label2id", "num_labels"}},
    {"a limit of positions, which changes no number below it",
     {"initial_context_length", "max_position_embeddings", "max_seq_len",
      "max_sequence_length", "model_max_length", "seq_length"}}};

/// Parts of a checkpoint that are no part of the program.
static const Words leftOut[] = {
    {"layers that predict further tokens are left out",
     {"mtp_hybrid_override_pattern", "mtp_layers_block_type", "mtp_num_layers",
      "mtp_num_hidden_layers", "mtp_transformer_layers", "num_mtp_layers",
      "num_mtp_modules", "num_nextn_predict_layers", "use_mtp"}},
    {"what sees images or hears sound is left out",
     {"audio_config", "image_size", "mm_hidden_size", "mm_projector_type",
      "mm_tokens_per_image", "mrope_interleaved", "mrope_section",
      "multimodal_projector_bias", "projector_hidden_act", "spatial_merge_size",
      "speech_config", "use_unified_vision_chunk", "video_placeholder",
      "vision_config", "vision_feature_layer", "vision_feature_select_strategy",
      "vision_tower"}}};

static constexpr Repetition repetitions[] = {
    {"_sliding_window_pattern", "layer_types"},
    {"expand", "mamba_num_heads"},
    {"experts_per_token", "num_experts_per_tok"},
    {"first_k_dense_replace", "mlp_layer_types"},
    {"full_attention_interval", "layer_types"},
    {"head_dim", "kv_lora_rank"},
    {"hidden_act", "hidden_activation"},
    {"hybrid_override_pattern", "layers_block_type"},
    {"interleave_moe_layer_step", "moe_layers"},
    {"intermediate_size", "shared_intermediate_size"},
    {"layer_switch", "sliding_window_pattern"},
    {"layer_types", "layers_block_type"},
    {"max_window_layers", "layer_types"},
    {"moe_layer_freq", "mlp_layer_types"},
    {"n_shared_experts", "moe_shared_expert_intermediate_size"},
    {"no_rope_layer_interval", "no_rope_layers"},
    {"norm_eps", "layer_norm_epsilon"},
    {"num_query_groups", "num_key_value_heads"},
    {"qk_head_dim", "qk_nope_head_dim"},
    {"rms_norm_eps", "layer_norm_epsilon"},
    {"rope_local_base_freq", "rope_parameters"},
    {"rope_parameters", "rope_scaling"},
    {"rope_theta", "rope_parameters"},
    {"rope_theta", "rope_scaling"},
    {"sliding_window_pattern", "layer_types"},
    {"sliding_window_size", "sliding_window"},
    {"time_step_limit", "time_step_min"},
    {"torch_dtype", "dtype"},
    {"type", "rope_type"}};

static constexpr Restatement restatements[] = {
    {"Cohere", "order_of_interleaved_layers", "\"local_attn_first\""},
    {"Cohere", "position_embedding_type", "\"rope_gptj\""},
    {"Cohere", "rotary_pct", "1.0"},
    {"Cohere", "use_embedding_sharing", "true"},
    {"Cohere", "use_gated_activation", "true"},
    {"Cohere", "use_parallel_block", "true"},
    {"DeepseekV2", "scoring_func", "\"softmax\""},
    {"Ernie4_5", "compression_ratio", "1.0"},
    {"MiniMaxM2", "layernorm_full_attention_beta", "1.0"},
    {"MiniMaxM2", "layernorm_linear_attention_beta", "1.0"},
    {"MiniMaxM2", "layernorm_mlp_beta", "1.0"},
    {"MiniMaxM2", "qk_norm_type", "\"per_layer\""},
    {"MiniMaxM2", "scoring_func", "\"sigmoid\""},
    {"MiniMaxM2", "shared_moe_mode", "\"sigmoid\""},
    {"MiniMaxM2", "use_qk_norm", "true"},
    {"MiniMaxM2", "use_routing_bias", "true"},
    {"Phi3", "full_attn_mod", "1"},
    {"Qwen3Moe", "use_qk_norm", "true"}};

static bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

template <size_t Size>
static const char *findWhy(const Words (&table)[Size], std::string_view key) {
  for (const Words &words : table)
    if (std::find(words.keys.begin(), words.keys.end(), key) !=
        words.keys.end())
      return words.why;
  return nullptr;
}

/// Whether a value says "nothing": null, false, 0, or no entries;
/// or 1 for a factor.
static bool saysNothing(const std::string &key, const json::Value &value) {
  std::string found = value.found();
  if (found == "null" || found == "false" || found == "\"\"" || found == "0" ||
      found == "0.0" || found == "an array of length 0")
    return true;
  if (value.isObject())
    return value.members().empty();
  for (std::string_view end : {"_factor", "_multiplier", "_scale", "_scaling"})
    if (endsWith(key, end) && (found == "1" || found == "1.0"))
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Keys that say nothing of some models
//===----------------------------------------------------------------------===//

/// Whether the name of the class of `config` begins with `family`.
static bool isOfFamily(const ModelConfig &config, std::string_view family) {
  return config.architecture.rfind(family, 0) == 0;
}

namespace {

/// Where a key stands: in `holder`, of the config of a language model, `top`,
/// that became `config`.
struct Place {
  const json::Value &holder, &top;
  const ModelConfig &config;

  template <typename Predicate> bool anyLayer(Predicate holds) const {
    return std::any_of(config.layers.begin(), config.layers.end(), holds);
  }
  bool isText(const char *key, std::string_view text) const {
    json::Value value = holder[key];
    return value.isString() && value.string() == text;
  }
  bool isListOf(const char *key, int64_t entry) const {
    json::Value value = holder[key];
    if (!value.isArray())
      return false;
    std::vector<json::Value> entries = value.elements();
    return std::all_of(entries.begin(), entries.end(),
                       [&](const json::Value &given) {
                         return given.found() == std::to_string(entry);
                       });
  }
};

/// Keys that change no number of a model if `holds` is true of it; what ends in
/// "_" are all that begin so.
struct Idle {
  const char *why;
  bool (*holds)(const Place &);
  std::initializer_list<std::string_view> keys;
};

} // namespace

/// Of the rows that have a key, the first that holds is the reason.
static const Idle idle[] = {
    {"no layer is dense",
     [](const Place &at) {
       return !at.anyLayer([](const LayerConfig &layer) {
         return layer.network && !layer.experts;
       });
     },
     {"decoder_sparse_step", "intermediate_size", "intermediate_size_mlp",
      "mlp_intermediate_size"}},
    {"no layer has experts",
     [](const Place &at) {
       return !at.anyLayer(
           [](const LayerConfig &layer) { return layer.experts; });
     },
     {"decoder_sparse_step", "mlp_only_layers", "moe_", "n_group",
      "n_routed_experts", "n_shared_experts", "norm_topk_prob", "num_experts",
      "num_experts_per_tok", "num_local_experts", "num_shared_experts",
      "routed_scaling_factor", "router_scaling_factor",
      "shared_expert_intermediate_size", "topk_group"}},
    {"no layer is a state space",
     [](const Place &at) {
       return !at.anyLayer([](const LayerConfig &layer) {
         return layer.mixer == Mixer::Mamba2;
       });
     },
     {"conv_kernel", "mamba_", "n_groups", "ssm_state_size", "time_step_",
      "use_conv_bias"}},
    {"no layer turns its heads",
     [](const Place &at) {
       return !at.anyLayer([](const LayerConfig &layer) {
         return layer.rope != LayerRope::None;
       });
     },
     {"partial_rotary_factor", "rope_parameters", "rope_theta"}},
    {"weights of experts sum to 1 in any case",
     [](const Place &at) { return at.config.feedForward.router.normalize; },
     {"norm_topk_prob"}},
    {"use_sliding_window is false",
     [](const Place &at) {
       json::Value uses = at.top["use_sliding_window"];
       return uses.isBoolean() && !uses.boolean();
     },
     {"max_window_layers", "sliding_window"}},
    {"there is no window",
     [](const Place &at) { return at.holder["sliding_window"].isNull(); },
     {"max_window_layers", "sliding_window_pattern"}},
    {"queries do not grow",
     [](const Place &at) { return at.config.attention.temperatureFloor == 0; },
     {"attn_scale", "floor_scale"}},
    {"experts are chosen from all",
     [](const Place &at) { return at.isText("topk_method", "greedy"); },
     {"n_group", "topk_group"}},
    {"norms subtract the mean",
     [](const Place &at) { return at.config.layerNorm; },
     {"rms_norm_eps"}},
    {"its class does not look at it",
     [](const Place &at) { return isOfFamily(at.config, "NemotronH"); },
     {"attention_bias", "mamba_proj_bias", "sliding_window", "use_bias"}},
    {"every layer attends",
     [](const Place &at) { return at.isListOf("attn_type_list", 1); },
     {"attn_type_list"}},
    {"another key says it",
     [](const Place &at) {
       const AttentionConfig &attention = at.config.attention;
       json::Value turned = at.holder["attn_rotary_emb"];
       return turned.isNumber() &&
              turned.number() ==
                  attention.rope.share * double(attention.headDim);
     },
     {"attn_rotary_emb"}},
    {"another key says it",
     [](const Place &at) {
       return at.holder["attention_head_dim"].found() ==
              std::to_string(at.config.attention.headDim);
     },
     {"attention_head_dim"}},
    {"another key says it",
     [](const Place &at) {
       return at.top["dtype"].present() || at.top["torch_dtype"].present();
     },
     {"dtype", "torch_dtype"}},
    {"its class does not look at it",
     [](const Place &at) {
       return at.config.architecture == "GemmaForCausalLM";
     },
     {"hidden_activation"}},
    {"its class does not look at it",
     [](const Place &at) { return isOfFamily(at.config, "DeepseekV2"); },
     {"norm_topk_prob"}},
    // The parameters of scaled frequencies say it where it is not read.
    {"rotary frequencies are not scaled",
     [](const Place &at) {
       return at.config.attention.rope.scaling == RopeConfig::Scaling::None;
     },
     {"original_max_position_embeddings"}},
    {"the key next to these parameters holds",
     [](const Place &at) {
       return at.top["original_max_position_embeddings"].wasRead();
     },
     {"original_max_position_embeddings"}},
    {"the parameters of the scaling say it",
     [](const Place &) { return true; },
     {"original_max_position_embeddings"}}};

static bool isOf(const Idle &row, const std::string &key) {
  return std::any_of(
      row.keys.begin(), row.keys.end(), [&](std::string_view known) {
        return known.back() == '_' ? key.rfind(known, 0) == 0 : key == known;
      });
}

/// Why `key` changes no number of the model, or null.
static const char *whyIgnored(const std::string &key, const Place &at) {
  if (const char *why = findWhy(harmless, key))
    return why;
  for (std::string_view end : {"_token_id", "_token_ids", "_token_index",
                               "_tokens_id", "_placeholder_token"})
    if (endsWith(key, end))
      return "a token";
  for (const Repetition &repetition : repetitions)
    if (key == repetition.key && at.holder[repetition.other].present())
      return "another key says it";
  for (const Idle &row : idle)
    if (isOf(row, key) && row.holds(at))
      return row.why;
  return nullptr;
}

/// What `key` says again of a model, or null.
static const Restatement *findRestatement(const std::string &key,
                                          const ModelConfig &config) {
  for (const Restatement &restatement : restatements)
    if (key == restatement.key && isOfFamily(config, restatement.family))
      return &restatement;
  return nullptr;
}

static UnreadKey describe(const std::string &path, const std::string &key,
                          const json::Value &value, const json::Value &holder,
                          const json::Value &top, const ModelConfig &config) {
  UnreadKey unread{path, value.found(), Fate::Ignored, ""};
  if (const char *why = findWhy(leftOut, key)) {
    unread.fate = saysNothing(key, value) ? Fate::Ignored : Fate::LeftOut;
    unread.why = why;
  } else if (const Restatement *restated = findRestatement(key, config);
             restated && !value.isNull()) {
    bool isSame = unread.value == restated->value;
    unread.fate = isSame ? Fate::Ignored : Fate::NotUnderstood;
    unread.why = isSame ? "the model does so in any case"
                        : "the model has " + std::string(restated->value);
  } else if (const char *why = whyIgnored(key, {holder, top, config})) {
    unread.why = why;
  } else if (path.find("quantization_config/") != std::string::npos) {
    unread.why = "how the weights were made";
  } else if (saysNothing(key, value)) {
    unread.why = "its value turns it off";
  } else {
    unread.fate = Fate::NotUnderstood;
    unread.why = "nothing here knows whether it changes numbers";
  }
  return unread;
}

static void collect(const json::Value &object, const std::string &prefix,
                    const json::Value &top, const ModelConfig &config,
                    std::vector<UnreadKey> &unread) {
  for (const auto &[key, value] : object.members()) {
    if (value.isObject() && value.wasRead())
      collect(value, prefix + key + "/", top, config, unread);
    else if (!value.wasRead())
      unread.push_back(describe(prefix + key, key, value, object, top, config));
  }
}

std::vector<UnreadKey>
shardopt::hf::findUnreadKeys(const json::Document &document,
                             const ModelConfig &config) {
  std::vector<UnreadKey> unread;
  json::Value root = document.root(), text = root["text_config"];
  bool nests = config.isNested && text.isObject();
  collect(root, "", nests ? text : root, config, unread);
  return unread;
}
