//===- ModuleFiles.h - Where modules that are opened on demand lie --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_MODULEFILES_H
#define SHARDOPT_SUPPORT_MODULEFILES_H

#include <string>
#include <vector>

namespace shardopt {

/// Where the module of that file name is looked for: beside the program or the
/// shared library that holds this code, as the build tree and as an
/// installation have it.
std::vector<std::string> moduleCandidates(const std::string &file);

/// The first candidate that exists; empty if there is none.
std::string findModule(const std::string &file);

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_MODULEFILES_H
