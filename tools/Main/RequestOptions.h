//===- RequestOptions.h - What requests are like, as options ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TOOLS_MAIN_REQUESTOPTIONS_H
#define SHARDOPT_TOOLS_MAIN_REQUESTOPTIONS_H

#include "shardopt/Model/RequestLoad.h"
#include "shardopt/Support/Error.h"

#include "llvm/Support/CommandLine.h"

#include <memory>
#include <vector>

namespace shardopt::tool {

/// An option of a tool for each number of RequestFields.def.
class RequestOptions {
public:
  explicit RequestOptions(llvm::cl::OptionCategory &category);

  /// What is given, with prompts and answers of `length` tokens where neither
  /// is said; an error for what cannot be, alone or together.
  ErrorOr<RequestLoad> read(std::optional<double> length = std::nullopt) const;
  /// The first option that is given; null: none is.
  const llvm::cl::Option *firstGiven() const;

private:
  std::vector<std::unique_ptr<llvm::cl::opt<std::string>>> options;
  /// Former names of options.
  std::vector<std::unique_ptr<llvm::cl::alias>> aliases;
};

} // namespace shardopt::tool

#endif // SHARDOPT_TOOLS_MAIN_REQUESTOPTIONS_H
