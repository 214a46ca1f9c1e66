//===- Surrogate.cpp - searcher=surrogate ---------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Searchers.h"
#include "shardopt/Search/Bayesian/ScreenedSearch.h"

namespace shardopt::search {

/// Names `constants`, which must outlive the table.
static ConstantTable tableOf(ScreenedConstants &constants) {
  ConstantTable table("'agent-options' of searcher 'surrogate'");
  constants.addTo(table);
  return table;
}

std::string describeSurrogateConstants() {
  ScreenedConstants constants;
  return tableOf(constants).markdown();
}

ErrorOr<SearcherPtr> makeSurrogate(const SearcherContext &context) {
  ScreenedConstants constants;
  ConstantTable table = tableOf(constants);
  if (std::optional<Error> error = table.set(context.options.constants))
    return *error;
  return makeScreenedSearch(context, constants, /*policy=*/nullptr);
}

} // namespace shardopt::search
