//===- RunTool.h - The main of a tool without LLVM --------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_RUNTOOL_H
#define SHARDOPT_SUPPORT_RUNTOOL_H

#include <functional>

namespace shardopt {

/// Runs `body`, which returns the exit code of the tool. The exit code is 1,
/// with a message, where the standard output could not be written, and where
/// there is not enough memory.
int runTool(const std::function<int()> &body);

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_RUNTOOL_H
