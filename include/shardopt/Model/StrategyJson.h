//===- StrategyJson.h - Strategies and metrics as JSON ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one spelling of strategies and metrics in reports, evaluated lists,
// traces and the protocol of external simulators. Reading and writing build no
// tree: lists have millions of lines.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_STRATEGYJSON_H
#define SHARDOPT_MODEL_STRATEGYJSON_H

#include "shardopt/Model/Strategy.h"
#include "shardopt/Support/Error.h"
#include "shardopt/Support/Json.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace shardopt {

/// The dim of op `op` that a string stands for, or what would do instead: "0
/// (heads), 1 (head_dim) or none".
using DimReader = std::function<ErrorOr<Dim>(size_t op, std::string_view text)>;

/// Reads one strategy, `{"tp":8,"ep":16,"pp":4,"batch":8192,"dims":[0,0,1]}`,
/// with `"stages":[8,7,9,8]` where layers are not divided evenly.
/// `dims` holds 0, 1 or 2 (none) for every op: an array in the order of
/// `opNames`, or an object by op name; strings too, if there is a `reader` of
/// them. Nothing may be missing, unknown or given
/// twice; degrees and batch are integers from 1 to `maxDegree` and `maxBatch`.
/// Messages start with the column (syntax) or the JSON pointer of the value:
/// the caller knows the file and line.
ErrorOr<Strategy> parseStrategyLine(std::string_view text,
                                    const std::vector<std::string> &opNames,
                                    const DimReader &reader = nullptr);

/// Reads the strategy at a place of a document, of the same form but that keys
/// it does not know are ignored. What is wrong becomes the document's error.
Strategy readStrategy(const json::Value &value,
                      const std::vector<std::string> &opNames);

/// Writes the member `stages` of the object being written, unless `cut` is
/// empty.
void writeStages(json::Writer &writer, const StageCut &cut);

/// Writes `strategy` as an object, its dims as an object by op name:
/// {"tp": 8, "ep": 16, "pp": 4, "batch": 8192, "dims": {"embed": 0, …}}.
/// `opNames` has one name a dim.
void writeStrategy(json::Writer &writer, const Strategy &strategy,
                   const std::vector<std::string> &opNames);

/// The same on a line of its own, without the line break.
std::string strategyToJson(const Strategy &strategy,
                           const std::vector<std::string> &opNames);

/// What `Evaluation::latencyMs` is called: `tpot_ms` (decode) or `ttft_ms`
/// (prefill).
enum class LatencyKey : uint8_t { Tpot, Ttft };

/// Writes the five metrics as members of the object being written:
/// `throughput` (tokens/s per device), `tpot_ms` or `ttft_ms`, `memory_gb`
/// (1e9 bytes), `valid`, `reason`.
void writeMetrics(json::Writer &writer, const Evaluation &evaluation,
                  LatencyKey latency);

} // namespace shardopt

#endif // SHARDOPT_MODEL_STRATEGYJSON_H
