//===- RequestLoad.h - The requests of a service ----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What users say of the requests that a service answers: how long they are, how
// many, and what they need. The table of numbers is RequestFields.def.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_REQUESTLOAD_H
#define SHARDOPT_MODEL_REQUESTLOAD_H

#include "shardopt/Support/Error.h"
#include "shardopt/Support/Limits.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardopt {

enum class RequestField : uint8_t {
#define SHARDOPT_REQUEST_FIELD(name, Name, ...) Name,
#include "shardopt/Model/RequestFields.def"
};

enum class RequestKind : uint8_t { Whole, Share, Above };

/// An entry of the table; RequestFields.def says what the fields mean.
struct RequestFieldInfo {
  RequestField field;
  const char *name;
  RequestKind kind;
  double least, most;
  const char *summary;

  bool isWhole() const { return kind == RequestKind::Whole; }
};

inline constexpr RequestFieldInfo requestFields[] = {
#define SHARDOPT_REQUEST_FIELD(name, Name, kind, least, most, Summary)         \
  {RequestField::Name, #name,        RequestKind::kind,                        \
   double(least),      double(most), Summary},
#include "shardopt/Model/RequestFields.def"
};
inline constexpr size_t numRequestFields = std::size(requestFields);

constexpr const RequestFieldInfo &infoOf(RequestField field) {
  return requestFields[size_t(field)];
}
constexpr const char *spell(RequestField field) { return infoOf(field).name; }

/// Former names, which are read and never written.
inline constexpr std::pair<const char *, RequestField> formerRequestNames[] = {
#define SHARDOPT_FORMER_REQUEST_NAME(former, Name, current)                    \
  {#former, RequestField::Name},
#include "shardopt/Model/FormerRequestNames.def"
};

/// The field called `name`, now or formerly, with '-' or '_'.
std::optional<RequestField> parseRequestField(std::string_view name);
/// All names, in the order of the table.
std::vector<std::string> requestFieldNames();
/// "a whole number from 1 to 64", or "a number above 0, and at most 64".
std::string wantedOf(RequestField field);

/// What is said of requests. Without `isl` and `osl` there is no more than
/// limits.
struct RequestLoad {
  std::array<std::optional<double>, numRequestFields> values = {};

  std::optional<double> &operator[](RequestField field) {
    return values[size_t(field)];
  }
  const std::optional<double> &operator[](RequestField field) const {
    return values[size_t(field)];
  }
  bool isEmpty() const { return *this == RequestLoad(); }
  /// Whether requests have lengths, so that a service can be planned.
  bool hasRequests() const { return (*this)[RequestField::Isl].has_value(); }

  /// Replaces what `said` says too. Of `concurrency` and `rate` either is
  /// replaced by the other.
  void replaceBy(const RequestLoad &said);

  /// Why these numbers cannot be, as a phrase with those found; none: they can.
  /// (C1) each is in its range; (C2) `isl` and `osl` come together; (C3) what
  /// is not a limit needs them; (C4) `concurrency` and `rate` exclude each
  /// other; (C5) no more draft tokens are accepted than there are;
  /// (C6) percentiles are of limits, and known; (C7) one head drafts.
  std::optional<std::string> error() const;

  friend bool operator==(const RequestLoad &a, const RequestLoad &b) {
    return a.values == b.values;
  }
};

/// The number that `text` spells for `field`; an error where it spells none, or
/// one that is out of range.
ErrorOr<double> parseRequestValue(RequestField field, const std::string &text);

/// How `value` is written: "512", "0.25".
std::string spell(RequestField field, double value);

} // namespace shardopt

#endif // SHARDOPT_MODEL_REQUESTLOAD_H
