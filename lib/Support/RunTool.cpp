//===- RunTool.cpp - The main of a tool without LLVM ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/RunTool.h"

#include "shardopt/Support/CommandLine.h"
#include "shardopt/Support/Signals.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

using namespace shardopt;

int shardopt::runTool(const std::function<int()> &body) {
  endWithoutMemory();
  int code = body();
  errno = 0;
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return code;
  // An earlier flush may have failed, whose reason is gone.
  std::string reason = errno ? ": " + std::string(std::strerror(errno)) : "";
  return fail("cannot write to the standard output" + reason);
}
