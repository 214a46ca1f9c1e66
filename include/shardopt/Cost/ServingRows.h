//===- ServingRows.h - Predictions for measured serving runs ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SERVINGROWS_H
#define SHARDOPT_COST_SERVINGROWS_H

#include "shardopt/Cost/ServedModel.h"
#include "shardopt/Cost/ServingEngine.h"
#include "shardopt/Support/Error.h"

#include <functional>
#include <string>
#include <string_view>

namespace shardopt::cost {

/// Finds a model by the name that a row gives it ("Qwen/Qwen3-32B").
using ModelLoader = std::function<ErrorOr<ServedModel>(const std::string &)>;

/// Writes the table `text` of serving runs (docs/Serving.md tells its columns)
/// with predicted TPOT and TTFT behind each row, their bands and a reason,
/// which says what is wrong where there are no numbers. `options` change the
/// engines of all rows. `fileName` stands for the text in messages. Errors are
/// those of the table as a whole.
ErrorOr<std::string>
predictServing(std::string_view text, const std::string &fileName,
               const ModelLoader &loadModel,
               const std::vector<ServingOption> &options = {});

} // namespace shardopt::cost

#endif // SHARDOPT_COST_SERVINGROWS_H
