//===- Surrogate.cpp - searcher=surrogate ---------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Searchers.h"
#include "shardopt/Search/ScreenedSearch.h"

namespace shardopt::search {

ErrorOr<SearcherPtr> makeSurrogate(const SearcherContext &context) {
  ScreenedConstants constants;
  ConstantTable table("surrogate");
  constants.addTo(table);
  if (std::optional<Error> error = table.set(context.options.constants))
    return *error;
  return makeScreenedSearch(context, constants,
                            std::make_unique<UniformEdits>(context.space));
}

} // namespace shardopt::search
