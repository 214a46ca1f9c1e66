//===- Arguments.cpp - What the functions of a program are given ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Arguments.h"

#include "shardopt/Support/Memory.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::execution;
using namespace shardopt::tensors;

Shape execution::resolveShape(const Operand &operand,
                              const RunRequest &request) {
  Shape shape = operand.globalShape();
  if (operand.isStacked)
    shape.insert(shape.begin(), operand.shape.front());
  bool isFirst = true;
  for (int64_t &size : shape) {
    if (size >= 0)
      continue;
    if (operand.role == Role::Cache)
      size = isFirst ? request.prompts : request.cachePositions;
    else
      size = operand.role == Role::TokenIds || operand.role == Role::Logits
                 ? request.prompts
                 : request.prompts * request.rowsPerPrompt;
    isFirst = false;
  }
  return shape;
}

/// Whether a tensor that the user gives can be `operand`, resolved to `shape`.
/// A whole one may have as many rows as it likes: nothing is sharded on them.
static bool fits(const Operand &operand, const Tensor &tensor, Shape shape) {
  if (tensor.element() != operand.element ||
      tensor.shape().size() != shape.size())
    return false;
  if (!operand.role && operand.slice.shape.empty())
    for (size_t i = 0; i < shape.size(); ++i)
      if (operand.shape[i] < 0)
        shape[i] = tensor.shape()[i];
  return tensor.shape() == shape;
}

ErrorOr<Tensor> execution::makeArgument(const Operand &operand,
                                        const RunRequest &request) {
  Shape shape = resolveShape(operand, request);
  auto given = request.arguments.find(operand.name);
  if (given != request.arguments.end()) {
    if (!fits(operand, given->second, shape))
      return Error{"argument '" + operand.name + "' is given as " +
                   toString(given->second.shape()) + ", expected " +
                   toString(shape)};
    return given->second;
  }
  Tensor tensor(operand.element, shape);
  if (operand.element != Element::F32 ||
      (operand.role == Role::Cache && !request.areCachesRandom))
    return tensor;
  RandomStream stream(request.seed, operand.name);
  Span<float> values = tensor.floats();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(stream[int64_t(i)]);
  return tensor;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// `total` plus `count` times `bytes`; nothing where that cannot be counted.
static std::optional<int64_t> addBytes(std::optional<int64_t> total,
                                       std::optional<int64_t> bytes,
                                       int64_t count = 1) {
  int64_t product, sum;
  if (!total || !bytes || __builtin_mul_overflow(*bytes, count, &product) ||
      __builtin_add_overflow(*total, product, &sum))
    return std::nullopt;
  return sum;
}

/// What a rank holds of its arguments, and of the largest as a whole. It takes
/// its part of that.
static std::optional<int64_t> countBytes(const ProgramInterface &interface,
                                         const RunRequest &request,
                                         int64_t rank) {
  Place place = interface.place(rank, request.prompts);
  std::optional<int64_t> total = 0;
  int64_t largest = 0;
  for (const Operand &operand :
       interface.stages[place.coordinate(Axis::Pp)].arguments) {
    if (operand.role == Role::Param) {
      total = addBytes(total, countBytes(operand.element, operand.shape));
      continue;
    }
    Shape global = resolveShape(operand, request);
    std::optional<int64_t> whole = countBytes(operand.element, global);
    if (!whole)
      return std::nullopt;
    largest = std::max(largest, *whole);
    total = addBytes(
        total,
        countBytes(operand.element,
                   localShape(operand.slice, global, request.prompts, place)),
        operand.role == Role::Cache ? place.microBatches : 1);
  }
  return addBytes(total, largest);
}

std::optional<Error> execution::expectRoom(const std::string &what,
                                           std::optional<int64_t> bytes) {
  int64_t available = availableMemory();
  if (bytes && *bytes <= available)
    return std::nullopt;
  return Error{what + " need " +
               (bytes ? toGigabytes(double(*bytes))
                      : std::string("more than 2^63 bytes")) +
               " of memory, and " + toGigabytes(double(available)) +
               " are available"};
}

std::optional<Error> execution::expectRoom(const ProgramInterface &interface,
                                           const RunRequest &request,
                                           Span<const int64_t> ranks) {
  std::optional<int64_t> total = 0;
  for (int64_t rank : ranks)
    total = addBytes(total, countBytes(interface, request, rank));
  return expectRoom("the weights, caches and inputs of " +
                        std::to_string(ranks.size()) +
                        (ranks.size() == 1 ? " rank" : " ranks"),
                    total);
}
