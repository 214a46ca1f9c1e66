//===- OtherSizes.cpp - Sizes that keys do not say ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A family without a row is read by its keys, where these say its sizes. Of the
// classes of Transformers, utils/class_sizes.py checks that what is planned has
// as many parameters as the class.
//
//===----------------------------------------------------------------------===//

#include "ConfigReaders.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::hf;

namespace {

struct OtherSize {
  std::string_view key;
  const char *what;
};

} // namespace

/// Keys of sizes that are not read.
static constexpr OtherSize otherSizes[] = {
    {"block_auto_adjust_ff_dim", "widths that a class computes"},
    {"compress_ratios", "caches that are compressed"},
    {"full_attn_idxs", "short convolutions"},
    {"global_attn_every_n_layers", "gates of attention of their own"},
    {"hidden_size_per_layer_input", "embeddings of every layer"},
    {"index_topk_blocks", "indexers of blocks"},
    {"moe_hidden_size", "experts on rows of another width"},
    {"num_attention_heads_per_layer", "heads that differ by layer"},
    {"num_layers_per_stack", "stacks of layers that are run several times"},
    {"num_sliding_attention_heads", "heads that differ by layer"},
    {"per_layer_config", "sizes that differ by layer"}};

/// Classes of Transformers 5.23 whose parameters are of other sizes than a
/// model with these keys has: networks without a gate, positions that are
/// learned, attention with experts, other inputs.
static constexpr std::string_view otherSized[] = {
    "AriaForConditionalGeneration",
    "AriaTextForCausalLM",
    "BeamForCausalLM",
    "BertGenerationDecoder",
    "BertLMHeadModel",
    "BigBirdForCausalLM",
    "BioGptForCausalLM",
    "BlipForConditionalGeneration",
    "CamembertForCausalLM",
    "Cosmos3EdgeForConditionalGeneration",
    "Data2VecTextForCausalLM",
    "DogeForCausalLM",
    "ElectraForCausalLM",
    "ErnieForCausalLM",
    "EvollaForProteinText2Text",
    "FuyuForCausalLM",
    "GPTNeoXForCausalLM",
    "GitForCausalLM",
    "IdeficsForVisionText2Text",
    "Jais2ForCausalLM",
    "JanusForConditionalGeneration",
    "JetMoeForCausalLM",
    "MegatronBertForCausalLM",
    "MiMoV2FlashForCausalLM",
    "ModernBertDecoderForCausalLM",
    "MuseGlimmerForConditionalGeneration",
    "PersimmonForCausalLM",
    "PhiForCausalLM",
    "RemBertForCausalLM",
    "RoCBertForCausalLM",
    "RoFormerForCausalLM",
    "RobertaForCausalLM",
    "RobertaPreLayerNormForCausalLM",
    "VideoLlavaForConditionalGeneration",
    "XLMRobertaForCausalLM",
    "XLMRobertaXLForCausalLM",
    "XmodForCausalLM"};

/// Whether a value says "something".
static bool says(const json::Value &value) {
  if (value.isObject())
    return !value.members().empty();
  if (value.isArray())
    return !value.elements().empty();
  return value && !(value.isBoolean() && !value.boolean()) &&
         !(value.isNumber() && value.number() == 0);
}

bool shardopt::hf::hasOtherSizes(const json::Value &root,
                                 const json::Value &architectures) {
  for (const OtherSize &other : otherSizes)
    if (json::Value given = root[other.key].nullAsAbsent(); says(given)) {
      given.fail(std::string(other.what) + " are not read");
      return true;
    }
  json::Value name = architectures.elements().front();
  std::string wanted = name.string();
  if (std::find(std::begin(otherSized), std::end(otherSized), wanted) ==
      std::end(otherSized))
    return false;
  name.fail("'" + wanted +
            "': its class has other sizes than its keys say, and is not read");
  return true;
}
