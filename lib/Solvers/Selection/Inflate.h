//===- Inflate.h - Reading compressed files ---------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SOLVERS_SELECTION_INFLATE_H
#define SHARDOPT_LIB_SOLVERS_SELECTION_INFLATE_H

#include "shardopt/Support/Error.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace shardopt::solve {

/// Bytes on the heap, not initialised, and returned to the system at the end.
class Bytes {
public:
  /// Makes room for `capacity` bytes; false if there is no memory.
  bool grow(size_t capacity) {
    void *moved = std::realloc(data.get(), capacity);
    if (!moved)
      return false;
    (void)data.release();
    data.reset(static_cast<char *>(moved));
    reserved = capacity;
    return true;
  }
  char *begin() { return data.get(); }
  size_t capacity() const { return reserved; }
  std::string_view view() const { return {data.get(), size}; }

  size_t size = 0;

private:
  struct Free {
    void operator()(char *pointer) const { std::free(pointer); }
  };
  std::unique_ptr<char, Free> data;
  size_t reserved = 0;
};

/// Whether `text` begins as gzip does.
bool isGzip(std::string_view text);

/// What gzip made `compressed` of, any number of members, followed by at least
/// `padding` bytes of capacity; more than `mostBytes` are an error. Errors name
/// the file `name`.
ErrorOr<Bytes> inflateGzip(std::string_view compressed, uint64_t mostBytes,
                           size_t padding, const std::string &name);

} // namespace shardopt::solve

#endif // SHARDOPT_LIB_SOLVERS_SELECTION_INFLATE_H
