//===- ResearchFile.h - The module of what is compared with -----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_RESEARCHFILE_H
#define SHARDOPT_SUPPORT_RESEARCHFILE_H

#include "shardopt/Support/ModuleFiles.h"

namespace shardopt {

/// Opens the research module for `user` ("searcher 'random'"). `Interface` is
/// what its entry returns, and names it.
template <typename Interface>
ErrorOr<const Interface *> openResearch(const std::string &user) {
  ModuleFile research = {
      "libShardOptResearch.so", "SHARDOPT_RESEARCH", Interface::entry,
      Interface::layout,
      "install all of shardopt ('pip install shardopt', or 'cmake --install' "
      "of a build), run './dev build ShardOptResearchModule' in a checkout, "
      "or set SHARDOPT_RESEARCH to the file"};
  ErrorOr<const void *> opened = openModule(research, user);
  if (!opened)
    return opened.error();
  return static_cast<const Interface *>(*opened);
}

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_RESEARCHFILE_H
