//===- Hash.h - A hash of words and of text ------------------- -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_HASH_H
#define SHARDOPT_SUPPORT_HASH_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shardopt {

/// FNV-1a of 64 bits, over whole words. The same everywhere, so that it may be
/// written to a file.
class WordHash {
public:
  void add(uint64_t word) { state = (state ^ word) * 0x100000001b3; }

  /// With a shift at the end, because the high bits mix best.
  uint64_t value() const { return state ^ (state >> 32); }

private:
  uint64_t state = 0xcbf29ce484222325;
};

/// The hash of the bytes of `text`.
inline uint64_t hashText(std::string_view text) {
  WordHash hash;
  for (unsigned char byte : text)
    hash.add(byte);
  return hash.value();
}

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_HASH_H
