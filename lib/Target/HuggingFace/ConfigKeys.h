//===- ConfigKeys.h - Keys of a config that nobody read ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reader takes what it knows. What it leaves is either known to leave the
// model's numbers alone, or it may change them: then a model whose readers do
// not understand it is planned, and not executed.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_TARGET_HUGGINGFACE_CONFIGKEYS_H
#define SHARDOPT_LIB_TARGET_HUGGINGFACE_CONFIGKEYS_H

#include "shardopt/Support/Json.h"
#include "shardopt/Target/HuggingFace/ModelConfig.h"

#include <string>
#include <string_view>
#include <vector>

namespace shardopt::hf {

/// The keys of `document` that no reader of `config` read, in the order of the
/// text; of objects that were read, those in them. Of a document that remembers
/// its reads.
std::vector<UnreadKey> findUnreadKeys(const json::Document &document,
                                      const ModelConfig &config);

/// Whether `name` is a class of Transformers 5.23 that generates text.
bool isTransformersClass(std::string_view name);

} // namespace shardopt::hf

#endif // SHARDOPT_LIB_TARGET_HUGGINGFACE_CONFIGKEYS_H
