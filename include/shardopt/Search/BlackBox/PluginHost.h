//===- PluginHost.h - Where simulator plugins run ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BLACKBOX_PLUGINHOST_H
#define SHARDOPT_SEARCH_BLACKBOX_PLUGINHOST_H

#include "shardopt/Support/Error.h"

#include <string>
#include <vector>

namespace shardopt::blackbox {

/// The command of `simulator=plugin:<file>`: the tool `shard-plugin-host` and
/// the file. The tool is looked for where `SHARDOPT_PLUGIN_HOST` says, next to
/// the program or library that this function is in, in a folder `bin` above
/// that, and on `PATH`. If either is missing, that is an
/// error.
ErrorOr<std::vector<std::string>> pluginCommand(const std::string &file);

/// Loads the plugin in `file` and serves it on the descriptors `in` and `out`
/// until `in` ends: what `shard-plugin-host` does. False if a descriptor fails,
/// or after an error line in the place of the greeting where the file is no
/// plugin, or one of another interface version.
bool servePlugin(const std::string &file, int in, int out);

} // namespace shardopt::blackbox

#endif // SHARDOPT_SEARCH_BLACKBOX_PLUGINHOST_H
