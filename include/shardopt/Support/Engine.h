//===- Engine.h - The serving engines that are known ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_ENGINE_H
#define SHARDOPT_SUPPORT_ENGINE_H

#include "shardopt/Support/Error.h"

#include <cstdint>
#include <string>

namespace shardopt {

enum class Engine : uint8_t { Vllm, Sglang, Trtllm };
inline constexpr Engine allEngines[] = {Engine::Vllm, Engine::Sglang,
                                        Engine::Trtllm};

/// "vllm", "sglang" or "trtllm".
const char *spell(Engine engine);
/// What `text`, which was given as `option`, is; an error says what there is.
ErrorOr<Engine> parseEngine(const std::string &text,
                            const std::string &option = "engine");
/// The version whose rules are planned with: the first of `versions` in
/// python/shardopt/engines.json.
const char *engineVersion(Engine engine);

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_ENGINE_H
