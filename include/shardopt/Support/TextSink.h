//===- TextSink.h - Where text for people goes ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_TEXTSINK_H
#define SHARDOPT_SUPPORT_TEXTSINK_H

#include <functional>
#include <string_view>

namespace shardopt {

/// Takes text for a person, a whole line or a few at a time, and shows it at
/// once.
using TextSink = std::function<void(std::string_view)>;

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_TEXTSINK_H
