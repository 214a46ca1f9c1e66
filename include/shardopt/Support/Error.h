//===- Error.h - Errors with a place, without exceptions --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_ERROR_H
#define SHARDOPT_SUPPORT_ERROR_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace shardopt {

/// An error that a user can act on. `message` is lower case without a full
/// stop and already names the place ("machines/x.json:3:14: …" for syntax,
/// "machines/x.json: /memory/capacity_bytes: …" for a value), what was found
/// and what was wanted.
struct Error {
  std::string message;
};

/// A value, or the error that stands in its place.
template <typename T> class [[nodiscard]] ErrorOr {
public:
  ErrorOr(T value) : value(std::move(value)) {}
  ErrorOr(Error error) : failure(std::move(error)) {}

  explicit operator bool() const { return value.has_value(); }
  // NOLINTBEGIN(bugprone-unchecked-optional-access): the caller checked.
  T &operator*() { return assert(value && "no value"), *value; }
  const T &operator*() const { return assert(value && "no value"), *value; }
  // NOLINTEND(bugprone-unchecked-optional-access)
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }
  const Error &error() const { return failure; }

private:
  std::optional<T> value;
  Error failure;
};

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_ERROR_H
