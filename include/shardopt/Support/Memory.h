//===- Memory.h - How much memory there is ----------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_MEMORY_H
#define SHARDOPT_SUPPORT_MEMORY_H

#include <cstdint>
#include <string>

namespace shardopt {

/// Bytes that this process can still take, of the machine and of what its
/// control group is granted; the largest number where nothing says.
int64_t availableMemory();

/// "1.5 GB", in units of 1e9 bytes.
std::string toGigabytes(double bytes);

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_MEMORY_H
