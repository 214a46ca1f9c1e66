//===- Protocol.h - Messages with a simulator process -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Version 1 of the protocol of external simulators, docs/BlackBox.md: one JSON
// object a line. The client (a search) says hello, the worker (a simulator)
// greets back; then each request for a strategy is answered by its evaluation.
// Both sides ignore keys that they do not know.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BLACKBOX_PROTOCOL_H
#define SHARDOPT_SEARCH_BLACKBOX_PROTOCOL_H

#include "shardopt/Model/Machine/Machine.h"
#include "shardopt/Model/Strategy.h"
#include "shardopt/Model/StrategyJson.h"
#include "shardopt/Search/BlackBox/Failure.h"
#include "shardopt/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace shardopt::blackbox {

constexpr int64_t protocolVersion = 1;

//===----------------------------------------------------------------------===//
// Of the client
//===----------------------------------------------------------------------===//

/// What a simulator is told before the first strategy.
struct SimulatedProblem {
  std::string model;
  LatencyKey latency = LatencyKey::Tpot; ///< says the phase too
  int64_t context = 0;                   ///< tokens
  Machine machine;
  double sloMs = 0;             ///< infinity: none
  std::vector<std::string> ops; ///< in the order of Strategy::dims
};

/// The first line to a worker, without its end:
/// {"protocol": 1, "model": …, "workload": {"phase": …, "context": …},
///  "machine": {…}, "slo_ms": …, "ops": […]}; an SLO of infinity is null.
std::string helloLine(const SimulatedProblem &problem);

/// A line that asks for an evaluation: {"id": …, "strategy": {…}}.
std::string requestLine(int64_t id, const Strategy &strategy,
                        const std::vector<std::string> &opNames);

/// How a worker introduces itself.
struct Greeting {
  std::string name;
  /// The degrees that it reads in addition to those that every strategy has:
  /// members `degrees` of the greeting. It is asked about defaults of all
  /// others.
  std::vector<Degree> degrees;
  bool readsStages = false; ///< likewise: the layers of each stage
};

/// Reads a worker's greeting. An error is what the worker says is wrong, or
/// what is wrong with the line.
ErrorOr<Greeting> parseGreeting(std::string_view line);

/// The first that a strategy needs to be another than its default and that is
/// not one of `read`, with its value: "'dp', which is 4".
std::optional<std::string> findUnread(const Degrees &degrees,
                                      const std::vector<Degree> &read,
                                      bool readsStages);

/// The limits that tell the reason of an invalid answer which gives none that
/// is known.
struct Limits {
  double memoryCapacityGb = 0;
  double sloMs = 0;
};

/// An answer without an evaluation in it.
struct BadAnswer {
  Failure kind = Failure::Nonsense;
  std::string message;
  /// The answer is to this request, so that the next one is to the next.
  bool isInStep = false;
};

/// Reads the answer to request `id`.
///
/// Metrics of a valid strategy are finite numbers, throughput and latency above
/// 0, memory at least 0. An invalid one whose latency or memory is missing or 0
/// is structural, whatever its reason; metrics of structural ones are taken for
/// 0. An unknown reason is read as "memory", "slo" or "structural", the first
/// whose limit is exceeded.
std::variant<Evaluation, BadAnswer> parseAnswer(std::string_view line,
                                                int64_t id, LatencyKey latency,
                                                const Limits &limits);

//===----------------------------------------------------------------------===//
// Of the worker
//===----------------------------------------------------------------------===//

/// What a worker reads of a hello. All that a client left out is empty.
struct Hello {
  std::string text; ///< the line
  std::string model;
  std::optional<LatencyKey> latency;
  std::optional<int64_t> context;
  std::string machine;                    ///< its name
  std::optional<double> memoryCapacityGb; ///< usable, 1e9 bytes a device
  std::optional<double> sloMs;            ///< infinity: none
  std::vector<std::string> ops;
};

/// What a worker reads of a request.
struct Request {
  int64_t id = 0;
  Strategy strategy;
};

/// A line that a worker cannot serve.
struct Refusal {
  std::optional<int64_t> id; ///< of the request, where it could be read
  Error error;
};

/// Reads a line to a worker, a hello if it has the key `protocol`. Dims are an
/// object by op name or an array in the order of `opNames`. A hello of another
/// version, and whatever is wrong or missing, is refused.
std::variant<Hello, Request, Refusal>
parseMessage(std::string_view line, const std::vector<std::string> &opNames);

/// {"id": …, "error": …}; the id is null where it is not known.
std::string errorLine(const Refusal &refusal);

} // namespace shardopt::blackbox

#endif // SHARDOPT_SEARCH_BLACKBOX_PROTOCOL_H
