//===- Run.cpp - Runs a program, rank by rank -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Run.h"

#include "shardopt/Pipelines/Pipelines.h"

#include <cstdlib>
#include <cstring>

using namespace shardopt;
using namespace shardopt::execution;
using namespace shardopt::tensors;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

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
/// A whole one may have as many rows as it likes: nothing is cut by them.
static bool fits(const Operand &operand, const Tensor &tensor, Shape shape) {
  if (tensor.element() != operand.element ||
      tensor.shape().size() != shape.size())
    return false;
  if (operand.role == Role::Other && operand.slice.shape.empty())
    for (size_t i = 0; i < shape.size(); ++i)
      if (operand.shape[i] < 0)
        shape[i] = tensor.shape()[i];
  return tensor.shape() == shape;
}

/// An argument of a stage as a global tensor: the request's, or else random
/// numbers for its name, or zeros for a cache that begins empty.
static ErrorOr<Tensor> makeArgument(const Operand &operand,
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
// Memrefs
//===----------------------------------------------------------------------===//

/// Words of a memref descriptor: allocated, aligned, offset, sizes, strides.
static constexpr size_t sizesAt = 3;

static std::vector<int64_t> describe(void *data, const Shape &shape) {
  std::vector<int64_t> words(sizesAt + 2 * shape.size());
  words[0] = words[1] = int64_t(reinterpret_cast<intptr_t>(data));
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) {
    words[sizesAt + i] = shape[i];
    words[sizesAt + shape.size() + i] = stride;
  }
  return words;
}

/// A copy of what a descriptor of a result describes, which is then freed.
static Tensor takeResult(const int64_t *words, const Operand &result) {
  size_t rank = result.shape.size();
  Shape shape(words + sizesAt, words + sizesAt + rank);
  const int64_t *strides = words + sizesAt + rank;
  Tensor tensor(result.element, shape);
  const auto *base = reinterpret_cast<const uint32_t *>(words[1]) + words[2];
  auto *to = static_cast<uint32_t *>(tensor.data());
  auto copy = [&](auto &self, size_t dim, const uint32_t *from) -> void {
    if (dim == rank) {
      *to++ = *from;
      return;
    }
    for (int64_t i = 0; i < shape[dim]; ++i)
      self(self, dim + 1, from + i * strides[dim]);
  };
  copy(copy, 0, base);
  std::free(reinterpret_cast<void *>(words[0]));
  return tensor;
}

//===----------------------------------------------------------------------===//
// A rank
//===----------------------------------------------------------------------===//

namespace {

class Rank {
public:
  Rank(runtime::Process &process, const Executable &program,
       const RunRequest &request)
      : process(process), request(request),
        place(program.interface.place(process.rank(), request.prompts)),
        stage(program.interface.stages[place.coordinate[GridAxis::Pp]]) {}

  std::optional<Error> prepare(const Executable &program,
                               const Weights &weights);
  std::optional<Error> step(const Feed &feed);
  RankOutcome finish();

private:
  Place placeOf(int64_t microBatch) const;
  Tensor cut(const Tensor &global, const Operand &operand,
             int64_t microBatch) const;
  std::optional<Error> call(std::vector<Tensor *> &arguments,
                            std::vector<Tensor> &results);

  runtime::Process &process;
  const RunRequest &request;
  Place place;
  const Entry &stage;
  EntryPoint entry = nullptr;
  /// By argument of the stage: params, and what does not change.
  std::vector<Tensor> fixed;
  /// By micro-batch, cache of the stage.
  std::vector<std::vector<Tensor>> caches;
  int64_t microBatch = 0; ///< that is being run
  RankOutcome outcome;
};

} // namespace

Place Rank::placeOf(int64_t index) const {
  Place result = place;
  result.microBatch = index;
  return result;
}

Tensor Rank::cut(const Tensor &global, const Operand &operand,
                 int64_t index) const {
  return take(global, entriesOf(operand.slice, global.shape(), request.prompts,
                                placeOf(index)));
}

std::optional<Error> Rank::prepare(const Executable &program,
                                   const Weights &weights) {
  ErrorOr<EntryPoint> found = program.code.find(entryName(stage.name));
  if (!found)
    return found.error();
  entry = *found;
  caches.resize(place.microBatches);
  for (const Operand &operand : stage.arguments) {
    Tensor &slot = fixed.emplace_back();
    if (operand.role == Role::Tokens || operand.role == Role::Positions)
      continue;
    bool isGiven = request.arguments.count(operand.name);
    if (operand.role == Role::Param && !isGiven) {
      ErrorOr<Tensor> param = weights.load(operand, place);
      if (!param)
        return param.error();
      slot = std::move(*param);
      continue;
    }
    ErrorOr<Tensor> global = makeArgument(operand, request);
    if (!global)
      return global.error();
    if (operand.role != Role::Cache) {
      slot = cut(*global, operand, 0);
      continue;
    }
    for (int64_t i = 0; i < place.microBatches; ++i)
      caches[i].push_back(cut(*global, operand, i));
  }
  if (request.wantsValues)
    process.setKeepSink([this](int64_t site, runtime::Tensor value) {
      Tensor copy(Element::F32, value.shape());
      std::memcpy(copy.data(), value.data(), size_t(value.bytes()));
      outcome.values.push_back({site, microBatch, std::move(copy)});
    });
  return std::nullopt;
}

std::optional<Error> Rank::call(std::vector<Tensor *> &arguments,
                                std::vector<Tensor> &results) {
  std::vector<std::vector<int64_t>> descriptors;
  for (Tensor *argument : arguments)
    descriptors.push_back(describe(argument->data(), argument->shape()));
  size_t resultWords = 0;
  for (const Operand &result : stage.results)
    resultWords += sizesAt + 2 * result.shape.size();
  std::vector<int64_t> space(resultWords);

  // All arguments are pointers: to the results, then to the descriptors.
  std::vector<void *> pointers;
  if (!stage.results.empty())
    pointers.push_back(space.data());
  for (std::vector<int64_t> &descriptor : descriptors)
    pointers.push_back(descriptor.data());
  if (auto error = process.protect([&] { entry(pointers.data()); }))
    return error;

  const int64_t *words = space.data();
  for (const Operand &result : stage.results) {
    results.push_back(takeResult(words, result));
    words += sizesAt + 2 * result.shape.size();
  }
  return std::nullopt;
}

std::optional<Error> Rank::step(const Feed &feed) {
  auto &results = outcome.results.emplace_back(place.microBatches);
  for (microBatch = 0; microBatch < place.microBatches; ++microBatch) {
    Tensor tokens, positions;
    std::vector<Tensor *> arguments;
    size_t cache = 0;
    for (size_t i = 0; i < stage.arguments.size(); ++i) {
      const Operand &operand = stage.arguments[i];
      if (operand.role == Role::Tokens)
        tokens = cut(feed.tokens, operand, microBatch);
      if (operand.role == Role::Positions)
        positions = cut(feed.positions, operand, microBatch);
      arguments.push_back(operand.role == Role::Tokens      ? &tokens
                          : operand.role == Role::Positions ? &positions
                          : operand.role == Role::Cache
                              ? &caches[microBatch][cache++]
                              : &fixed[i]);
    }
    if (auto error = call(arguments, results[microBatch]))
      return error;
  }
  return std::nullopt;
}

RankOutcome Rank::finish() {
  process.setKeepSink(nullptr);
  outcome.statistics = process.statistics().sites();
  if (request.wantsCaches)
    outcome.caches = std::move(caches);
  return std::move(outcome);
}

ErrorOr<RankOutcome> execution::runRank(runtime::Process &process,
                                        const Executable &program,
                                        const Weights &weights,
                                        const RunRequest &request) {
  Rank rank(process, program, request);
  if (auto error = rank.prepare(program, weights))
    return *error;
  for (const Feed &feed : request.steps)
    if (auto error = rank.step(feed))
      return *error;
  return rank.finish();
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

namespace {

class ByteWriter {
public:
  void number(int64_t value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  void tensor(const Tensor &tensor) {
    number(int64_t(tensor.element()));
    number(int64_t(tensor.shape().size()));
    for (int64_t size : tensor.shape())
      number(size);
    bytes.append(static_cast<const char *>(tensor.data()),
                 size_t(tensor.size()) * sizeof(uint32_t));
  }
  void text(const std::string &text) {
    number(int64_t(text.size()));
    bytes += text;
  }
  template <typename List, typename Write>
  void list(const List &list, Write write) {
    number(int64_t(list.size()));
    for (const auto &element : list)
      write(element);
  }

  std::string bytes;
};

class ByteReader {
public:
  explicit ByteReader(std::string_view rest) : rest(rest) {}

  int64_t number() {
    int64_t value = 0;
    copy(&value, sizeof(value));
    return value;
  }
  Tensor tensor() {
    auto element = Element(number());
    Shape shape(count(sizeof(int64_t)));
    uint64_t room = rest.size() / sizeof(uint32_t);
    for (int64_t &size : shape)
      size = number();
    for (int64_t size : shape)
      if (size < 0 || uint64_t(size) > room)
        failed = true;
    if (failed || uint64_t(countElements(shape)) > room) {
      failed = true;
      return {};
    }
    Tensor tensor(element, std::move(shape));
    copy(tensor.data(), size_t(tensor.size()) * sizeof(uint32_t));
    return tensor;
  }
  std::string text() {
    std::string text(count(1), '\0');
    copy(text.data(), text.size());
    return text;
  }
  /// The length of a list whose elements take at least `least` bytes each.
  size_t count(size_t least) {
    uint64_t value = uint64_t(number());
    if (value > rest.size() / least)
      failed = true;
    return failed ? 0 : size_t(value);
  }
  bool isFine() const { return !failed && rest.empty(); }

private:
  void copy(void *to, size_t size) {
    if (size > rest.size()) {
      failed = true;
      return;
    }
    std::memcpy(to, rest.data(), size);
    rest.remove_prefix(size);
  }

  std::string_view rest;
  bool failed = false;
};

} // namespace

std::string execution::serialize(const RankOutcome &outcome) {
  ByteWriter to;
  auto writeTensors = [&](const std::vector<Tensor> &tensors) {
    to.list(tensors, [&](const Tensor &tensor) { to.tensor(tensor); });
  };
  to.list(outcome.results, [&](const auto &microBatches) {
    to.list(microBatches, writeTensors);
  });
  to.list(outcome.caches, writeTensors);
  to.list(outcome.values, [&](const KeptValue &value) {
    to.number(value.site);
    to.number(value.microBatch);
    to.tensor(value.value);
  });
  to.list(outcome.statistics, [&](const runtime::SiteStatistics &site) {
    to.number(site.calls);
    to.number(site.elements);
    to.number(site.bytes);
  });
  return std::move(to.bytes);
}

std::string execution::serialize(const NamedTensors &tensors) {
  ByteWriter to;
  to.list(tensors, [&](const auto &named) {
    to.text(named.first);
    to.tensor(named.second);
  });
  return std::move(to.bytes);
}

ErrorOr<NamedTensors> execution::deserializeTensors(std::string_view bytes) {
  ByteReader from(bytes);
  NamedTensors tensors;
  for (size_t left = from.count(3 * sizeof(int64_t)); left > 0; --left) {
    std::string name = from.text();
    tensors[name] = from.tensor();
  }
  if (!from.isFine())
    return Error{"arguments of " + std::to_string(bytes.size()) +
                 " bytes are not whole"};
  return tensors;
}

ErrorOr<RankOutcome> execution::deserialize(std::string_view bytes) {
  ByteReader from(bytes);
  RankOutcome outcome;
  auto readTensors = [&](std::vector<Tensor> &tensors) {
    tensors.resize(from.count(2 * sizeof(int64_t)));
    for (Tensor &tensor : tensors)
      tensor = from.tensor();
  };
  outcome.results.resize(from.count(sizeof(int64_t)));
  for (auto &microBatches : outcome.results) {
    microBatches.resize(from.count(sizeof(int64_t)));
    for (std::vector<Tensor> &results : microBatches)
      readTensors(results);
  }
  outcome.caches.resize(from.count(sizeof(int64_t)));
  for (std::vector<Tensor> &caches : outcome.caches)
    readTensors(caches);
  outcome.values.resize(from.count(4 * sizeof(int64_t)));
  for (KeptValue &value : outcome.values) {
    value.site = from.number();
    value.microBatch = from.number();
    value.value = from.tensor();
  }
  outcome.statistics.resize(from.count(3 * sizeof(int64_t)));
  for (runtime::SiteStatistics &site : outcome.statistics)
    site = {from.number(), from.number(), from.number()};
  if (!from.isFine())
    return Error{"a rank's outcome of " + std::to_string(bytes.size()) +
                 " bytes is not whole"};
  return outcome;
}
