//===- NestedArchitectures.cpp - Models within what sees ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What sees images or hears sound is left out: the program is the language
// model that `text_config` describes, for tokens of text.
//
//===----------------------------------------------------------------------===//

#include "Architecture.h"

using namespace shardopt::hf;

namespace {

struct Nesting {
  std::string_view name;
  std::string_view text;  ///< the family of the language model
  std::string_view model; ///< in front of its tensors
  std::string_view head;
  void (*change)(Architecture &row); ///< what else is otherwise
};

} // namespace

static void changeNothing(Architecture &) {}

static void changeToGemma3(Architecture &row) {
  row.capsLogits = false;
  row.wholeTies = true;
}

/// Its language model is one with a head of its own.
static void changeToLlama4(Architecture &row) { row.tie = TieRule::Text; }

static void changeToQwen2Vl(Architecture &row) { row.tie = TieRule::Either; }

static void changeToQwen3Vl(Architecture &row) {
  row.windows = WindowRule::Never;
}

/// Weights of experts sum to 1 whatever the file says.
static void changeToQwen3VlMoe(Architecture &row) {
  changeToQwen3Vl(row);
  row.router = RouterRule::Normalized;
  fuseExperts(row.names, "gate_up_proj", "down_proj");
}

/// Its language models of later families are other ones.
static void changeToMistral3(Architecture &row) {
  row.textType = "mistral";
  row.wholeTies = true;
}

static constexpr Nesting nestings[] = {
    {"Gemma3ForConditionalGeneration", "Gemma3ForCausalLM",
     "language_model.model", "language_model.lm_head", changeToGemma3},
    {"Llama4ForConditionalGeneration", "Llama4ForCausalLM",
     "language_model.model", "language_model.lm_head", changeToLlama4},
    {"Mistral3ForConditionalGeneration", "MistralForCausalLM",
     "language_model.model", "language_model.lm_head", changeToMistral3},
    {"Qwen2VLForConditionalGeneration", "Qwen2ForCausalLM", "model", "lm_head",
     changeToQwen2Vl},
    {"Qwen2_5_VLForConditionalGeneration", "Qwen2ForCausalLM", "model",
     "lm_head", changeToQwen2Vl},
    {"Qwen3VLForConditionalGeneration", "Qwen3ForCausalLM",
     "model.language_model", "lm_head", changeToQwen3Vl},
    {"Qwen3VLMoeForConditionalGeneration", "Qwen3MoeForCausalLM",
     "model.language_model", "lm_head", changeToQwen3VlMoe},
    {"Qwen3_5ForConditionalGeneration", "Qwen3_5ForCausalLM",
     "model.language_model", "lm_head", changeNothing},
    {"Qwen3_5MoeForConditionalGeneration", "Qwen3_5MoeForCausalLM",
     "model.language_model", "lm_head", changeNothing}};

void shardopt::hf::addNestedArchitectures(std::vector<Architecture> &rows) {
  for (const Nesting &nesting : nestings) {
    Architecture &row = addLike(rows, nesting.text, nesting.name);
    row.isNested = true;
    row.names.model = nesting.model;
    row.names.head = nesting.head;
    nesting.change(row);
  }
}
