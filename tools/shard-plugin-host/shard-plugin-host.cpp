//===- shard-plugin-host.cpp - Runs a simulator plugin --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// What `simulator=plugin:` starts: a plugin in a process of its own, as a
// worker of the protocol of external simulators (docs/BlackBox.md).
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/BlackBox/PluginHost.h"

#include <cstdio>
#include <unistd.h>

using namespace shardopt;

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fputs("usage: shard-plugin-host <plugin>\n", stderr);
    return 1;
  }
  // The plugin may print to its standard output, which is not the protocol's.
  int answers = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return blackbox::servePlugin(argv[1], STDIN_FILENO, answers) ? 0 : 1;
}
