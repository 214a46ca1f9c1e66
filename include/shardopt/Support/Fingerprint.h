//===- Fingerprint.h - Telling texts apart ----------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_FINGERPRINT_H
#define SHARDOPT_SUPPORT_FINGERPRINT_H

#include "shardopt/Support/Hash.h"

#include <cstdio>
#include <string>

namespace shardopt {

/// 16 hexadecimal digits that differ where `text` does.
inline std::string fingerprint(std::string_view text) {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx",
                static_cast<unsigned long long>(hashText(text)));
  return digits;
}

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_FINGERPRINT_H
