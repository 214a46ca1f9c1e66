//===- describe-machine.cpp - Uses an installed shardopt, without MLIR ----===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Machine/Machine.h"

#include <cstdio>

int main() {
  shardopt::ErrorOr<shardopt::Machine> machine =
      shardopt::loadMachine("h100_sxm");
  if (!machine) {
    std::fprintf(stderr, "%s\n", machine.error().message.c_str());
    return 1;
  }
  std::printf("%s: domains of %d devices\n", machine->name.c_str(),
              static_cast<int>(machine->domainSize));
}
