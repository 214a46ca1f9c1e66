//===- OutcomeBytes.cpp - Outcomes on their way between processes ---------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/OutcomeBytes.h"

#include <algorithm>
#include <cstring>

using namespace shardopt;
using namespace shardopt::execution;
using namespace shardopt::tensors;

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
    bytes += tensor.text();
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
    // Nothing is read for an empty tensor, however large its other sizes are.
    bool isEmpty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    for (int64_t size : shape)
      if (size < 0 || (!isEmpty && uint64_t(size) > room))
        failed = true;
    if (failed || (!isEmpty && uint64_t(countElements(shape)) > room)) {
      failed = true;
      return {};
    }
    Tensor tensor(element, std::move(shape));
    copy(tensor.data(), size_t(tensor.bytes()));
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
    to.list(site, [&](const runtime::CallCounts &part) {
      to.number(part.calls);
      to.number(part.elements);
      to.number(part.bytes);
    });
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
  outcome.statistics.resize(from.count(sizeof(int64_t)));
  for (runtime::SiteStatistics &site : outcome.statistics) {
    site.resize(from.count(3 * sizeof(int64_t)));
    for (runtime::CallCounts &part : site)
      part = {from.number(), from.number(), from.number()};
  }
  if (!from.isFine())
    return Error{"a rank's outcome of " + std::to_string(bytes.size()) +
                 " bytes is not whole"};
  return outcome;
}
