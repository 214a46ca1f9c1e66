//===- RequestOptions.cpp - What requests are like, as options ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RequestOptions.h"

#include <algorithm>
#include <set>

using namespace shardopt;

/// "tpot-ms". Options keep no copy of their names, so that these stay.
static llvm::StringRef optionName(std::string name) {
  static std::set<std::string> names;
  std::replace(name.begin(), name.end(), '_', '-');
  return *names.insert(std::move(name)).first;
}

tool::RequestOptions::RequestOptions(llvm::cl::OptionCategory &category) {
  for (const RequestFieldInfo &info : requestFields)
    options.push_back(std::make_unique<llvm::cl::opt<std::string>>(
        optionName(info.name), llvm::cl::cat(category),
        llvm::cl::desc(info.summary), llvm::cl::value_desc("number")));
  for (const auto &[former, field] : formerRequestNames)
    aliases.push_back(std::make_unique<llvm::cl::alias>(
        optionName(former), llvm::cl::cat(category), llvm::cl::Hidden,
        llvm::cl::desc("Former name"),
        llvm::cl::aliasopt(*options[size_t(field)])));
}

ErrorOr<RequestLoad>
tool::RequestOptions::read(std::optional<double> length) const {
  RequestLoad load;
  for (const RequestFieldInfo &info : requestFields) {
    const llvm::cl::opt<std::string> &option = *options[size_t(info.field)];
    if (option.getNumOccurrences() == 0)
      continue;
    ErrorOr<double> value = parseRequestValue(info.field, option);
    if (!value)
      return value.error();
    load[info.field] = *value;
  }
  if (!load[RequestField::Isl] && !load[RequestField::Osl])
    load[RequestField::Isl] = load[RequestField::Osl] = length;
  if (std::optional<std::string> why = load.error())
    return Error{*why};
  return load;
}

const llvm::cl::Option *tool::RequestOptions::firstGiven() const {
  for (const auto &option : options)
    if (option->getNumOccurrences() > 0)
      return option.get();
  return nullptr;
}
