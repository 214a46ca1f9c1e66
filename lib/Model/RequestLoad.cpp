//===- RequestLoad.cpp - The requests of a service ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/RequestLoad.h"
#include "shardopt/Support/Suggest.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace shardopt;

std::optional<RequestField> shardopt::parseRequestField(std::string_view name) {
  std::string spelled(name);
  for (char &letter : spelled)
    if (letter == '-')
      letter = '_';
  for (const RequestFieldInfo &info : requestFields)
    if (spelled == info.name)
      return info.field;
  for (const auto &[former, field] : formerRequestNames)
    if (spelled == former)
      return field;
  return std::nullopt;
}

std::vector<std::string> shardopt::requestFieldNames() {
  std::vector<std::string> names;
  for (const RequestFieldInfo &info : requestFields)
    names.push_back(info.name);
  return names;
}

std::string shardopt::spell(RequestField field, double value) {
  char text[64];
  double most = infoOf(field).isWhole() ? 1e15 : 1e6;
  if (std::abs(value) < most && value == std::floor(value)) {
    std::snprintf(text, sizeof(text), "%.0f", value);
    return text;
  }
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value)
      break;
  }
  return text;
}

std::string shardopt::wantedOf(RequestField field) {
  const RequestFieldInfo &info = infoOf(field);
  std::string least = spell(field, info.least), most = spell(field, info.most);
  if (info.isWhole())
    return "a whole number from " + least + " to " + most;
  return info.kind == RequestKind::Share
             ? "a number from " + least + " to " + most
             : "a number above " + least + ", and at most " + most;
}

static bool isInRange(const RequestFieldInfo &info, double value) {
  bool isAbove = info.kind == RequestKind::Above ? value > info.least
                                                 : value >= info.least;
  return isAbove && value <= info.most &&
         (!info.isWhole() || value == std::floor(value));
}

ErrorOr<double> shardopt::parseRequestValue(RequestField field,
                                            const std::string &text) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  bool isNumber = !text.empty() && *end == '\0';
  if (isNumber && isInRange(infoOf(field), value))
    return value;
  return Error{"'" + std::string(spell(field)) + "' is '" + abbreviate(text) +
               "', expected " + wantedOf(field)};
}

void RequestLoad::replaceBy(const RequestLoad &said) {
  if (said[RequestField::Concurrency] || said[RequestField::Rate])
    (*this)[RequestField::Concurrency] = (*this)[RequestField::Rate] =
        std::nullopt;
  for (size_t i = 0; i != numRequestFields; ++i)
    if (said.values[i])
      values[i] = said.values[i];
}

std::optional<std::string> RequestLoad::error() const {
  const RequestLoad &self = *this;
  auto valueOf = [&](RequestField field) { return spell(field, *self[field]); };
  for (const RequestFieldInfo &info : requestFields) {
    const std::optional<double> &value = self[info.field];
    if (!value)
      continue;
    if (!isInRange(info, *value)) // (C1)
      return "'" + std::string(info.name) + "' is " + valueOf(info.field) +
             ", expected " + wantedOf(info.field);
  }
  bool hasIsl = self[RequestField::Isl].has_value(),
       hasOsl = self[RequestField::Osl].has_value();
  if (hasIsl != hasOsl) // (C2)
    return std::string("'isl' and 'osl' go together, and '") +
           (hasIsl ? "osl" : "isl") + "' is missing";
  for (const RequestFieldInfo &info : requestFields)
    if (self[info.field] && !hasIsl && info.field != RequestField::TpotMs &&
        info.field != RequestField::TtftMs) // (C3)
      return "'" + std::string(info.name) +
             "' is given without 'isl' and 'osl', the lengths of requests";
  if (self[RequestField::Concurrency] && self[RequestField::Rate]) // (C4)
    return "'concurrency' is " + valueOf(RequestField::Concurrency) +
           " and 'rate' " + valueOf(RequestField::Rate) +
           ", expected one of them";
  for (auto [percentile, limit] :
       {std::pair(RequestField::TpotPercentile, RequestField::TpotMs),
        std::pair(RequestField::TtftPercentile,
                  RequestField::TtftMs)}) { // (C6)
    double at = self[percentile].value_or(50);
    if (at != 50 && at != 90 && at != 99)
      return "'" + std::string(spell(percentile)) + "' is " +
             spell(percentile, at) + ", expected 50, 90 or 99";
    if (self[percentile] && !self[limit])
      return "'" + std::string(spell(percentile)) + "' is given without '" +
             spell(limit) + "'";
  }
  double drafts = self[RequestField::DraftTokens].value_or(0),
         accepted = self[RequestField::AcceptedTokens].value_or(0);
  if (accepted > drafts && drafts == 0) // (C5)
    return "'accepted_tokens' is " +
           spell(RequestField::AcceptedTokens, accepted) +
           " and 'draft_tokens' is missing, expected both";
  if (accepted > drafts) // (C5)
    return "'accepted_tokens' is " +
           spell(RequestField::AcceptedTokens, accepted) +
           ", expected at most 'draft_tokens', " +
           spell(RequestField::DraftTokens, drafts);
  for (RequestField head :
       {RequestField::DraftLayers, RequestField::DraftParameters}) // (C7)
    if (self[head] && drafts == 0)
      return "'" + std::string(spell(head)) + "' is " + valueOf(head) +
             " and 'draft_tokens' is missing, expected both";
  if (self[RequestField::DraftLayers] &&
      self[RequestField::DraftParameters]) // (C7)
    return "'draft_layers' is " + valueOf(RequestField::DraftLayers) +
           " and 'draft_parameters' " + valueOf(RequestField::DraftParameters) +
           ", expected one of them";
  return std::nullopt;
}
