//===- Entries.h - Entries that update caches in place ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_ENTRIES_H
#define SHARDOPT_LIB_CONVERSION_ENTRIES_H

#include "shardopt/Conversion/Pipelines.h"

namespace shardopt {

/// On tensors: makes functions with bodies private and gives each an entry that
/// returns what is not a cache.
std::unique_ptr<mlir::Pass> createOutlineEntriesPass();

/// On buffers: an error where a cache is returned, which means it was copied.
/// Drops the attributes of arguments and results.
std::unique_ptr<mlir::Pass> createFinishEntriesPass();

} // namespace shardopt

#endif // SHARDOPT_LIB_CONVERSION_ENTRIES_H
