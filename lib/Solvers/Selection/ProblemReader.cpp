//===- ProblemReader.cpp - Problems in files ------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text is parsed on demand: numbers go from it into their rows, without a
// tree in between.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/ProblemReader.h"

#include "Inflate.h"
#include "shardopt/Support/Files.h"
#include "shardopt/Support/Json.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <simdjson.h>

using namespace shardopt;
using namespace shardopt::solve;

namespace ondemand = simdjson::ondemand;

namespace {

/// Reads one document. The first error is kept; every read returns whether
/// there is none so far.
class Reader {
public:
  Reader(const std::string &name, Problem &problem)
      : name(name), problem(problem) {}

  std::optional<Error> read(simdjson::padded_string_view text);

private:
  /// Notes the first failure. Nobody leaves its place after it.
  bool fail(const std::string &what) {
    if (!failure)
      failure = what;
    return false;
  }
  /// An error of the library. Those about types say what was wanted.
  bool fail(simdjson::error_code code, const std::string &wanted) {
    switch (code) {
    case simdjson::INCORRECT_TYPE:
    case simdjson::NUMBER_ERROR:
    case simdjson::NUMBER_OUT_OF_RANGE:
      return fail("expected " + wanted);
    case simdjson::CAPACITY:
      return fail("larger than 4 GB of text");
    case simdjson::MEMALLOC:
      return fail("not enough memory to parse it");
    default:
      return fail(std::string("not valid JSON: ") +
                  simdjson::error_message(code));
    }
  }

  static std::string_view tokenOf(ondemand::value &value) {
    return value.raw_json_token();
  }

  template <typename T, typename V>
  bool integer(V &&value, T &result, int64_t most) {
    int64_t number = 0;
    auto code = value.get_int64().get(number);
    if (code || number < 0 || number > most) {
      std::string_view token = tokenOf(value);
      while (!token.empty() && std::strchr(" \n\r\t", token.back()))
        token.remove_suffix(1);
      bool isNumber = !token.empty() && std::strchr("-0123456789", token[0]);
      if (code && !isNumber && code != simdjson::INCORRECT_TYPE)
        return fail(code, "an integer");
      return fail("expected an integer in [0, " + std::to_string(most) +
                  "], found " + abbreviate(token));
    }
    result = T(number);
    return true;
  }

  /// Calls `each(element)` for the elements of an array; their index is in the
  /// place of an error.
  template <typename V, typename Each> bool array(V &&value, Each each) {
    ondemand::array elements;
    if (auto code = value.get_array().get(elements))
      return fail(code, "an array");
    size_t index = 0;
    for (auto element : elements) {
      ondemand::value inner;
      if (auto code = element.get(inner)) {
        descend(std::to_string(index));
        return fail(code, "an element");
      }
      if (!each(inner)) {
        return false;
      }
      ++index;
    }
    return true;
  }

  /// Calls `each(key, value)` for the members of an object.
  template <typename V, typename Each> bool object(V &&value, Each each) {
    ondemand::object members;
    if (auto code = value.get_object().get(members))
      return fail(code, "an object");
    std::vector<std::string> seen;
    for (auto member : members) {
      std::string_view key;
      ondemand::value inner;
      if (auto code = member.unescaped_key().get(key))
        return fail(code, "a key");
      if (auto code = member.value().get(inner))
        return fail(code, "a value");
      size_t length = place.size();
      std::string text(key);
      descend(abbreviate(text));
      if (std::find(seen.begin(), seen.end(), text) != seen.end())
        return fail("given twice");
      if (!each(text, inner))
        return false;
      seen.push_back(std::move(text));
      place.resize(length);
    }
    return true;
  }

  template <typename T>
  bool rows(ondemand::value &value, Rows<T> &result, int64_t most) {
    size_t length = place.size();
    return array(value, [&](ondemand::value &row) {
      size_t first = result.values.size();
      bool good = array(row, [&](ondemand::value &element) {
        T number;
        if (!integer(element, number, most))
          return false;
        result.values.push_back(number);
        return true;
      });
      if (!good) {
        place.insert(length, "/" + std::to_string(result.size()) + "/" +
                                 std::to_string(result.values.size() - first));
        return false;
      }
      result.endRow();
      return true;
    });
  }

  bool unknown(const std::string &key, std::vector<std::string> known) {
    return fail("unknown key, " + listKnown(key, std::move(known)));
  }
  void descend(const std::string &step) { place += "/" + step; }

  bool readIntervals(ondemand::value &value);
  bool readNodes(ondemand::value &value);
  bool readEdges(ondemand::value &value);
  bool readMembers(ondemand::value &value);

  const std::string &name;
  Problem &problem;
  std::string place;
  std::optional<std::string> failure;
};

} // namespace

/// Of a problem; what the library that parses it can hold.
static constexpr uint64_t mostTextBytes = uint64_t(1) << 32;
static constexpr int64_t mostInt64 = std::numeric_limits<int64_t>::max();
static constexpr int64_t mostInt32 = std::numeric_limits<int32_t>::max();

bool Reader::readIntervals(ondemand::value &value) {
  Rows<int64_t> pairs;
  if (!rows(value, pairs, mostInt64))
    return false;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].size() != 2) {
      descend(std::to_string(i));
      return fail("expected [begin, end], found " +
                  std::to_string(pairs[i].size()) + " elements");
    }
    problem.intervals.push_back({pairs[i][0], pairs[i][1]});
  }
  return true;
}

bool Reader::readNodes(ondemand::value &value) {
  return object(value, [&](const std::string &key, ondemand::value &inner) {
    if (key == "intervals")
      return readIntervals(inner);
    if (key == "costs")
      return rows(inner, problem.costs, mostInt64);
    if (key == "usages")
      return rows(inner, problem.usages, mostInt64);
    return unknown(key, {"intervals", "costs", "usages"});
  });
}

bool Reader::readEdges(ondemand::value &value) {
  return object(value, [&](const std::string &key, ondemand::value &inner) {
    if (key == "nodes")
      return rows(inner, problem.edgeNodes, mostInt32);
    if (key == "costs")
      return rows(inner, problem.edgeCosts, mostInt64);
    return unknown(key, {"nodes", "costs"});
  });
}

bool Reader::readMembers(ondemand::value &value) {
  return object(value, [&](const std::string &key, ondemand::value &inner) {
    if (key == "nodes")
      return readNodes(inner);
    if (key == "edges")
      return readEdges(inner);
    if (key == "usage_limit")
      return integer(inner, problem.usageLimit.emplace(), mostInt64);
    if (key != "name")
      return unknown(key, {"name", "nodes", "edges", "usage_limit"});
    std::string_view text;
    if (auto code = inner.get_string().get(text))
      return fail(code, "a string");
    problem.name = text;
    return true;
  });
}

std::optional<Error> Reader::read(simdjson::padded_string_view text) {
  ondemand::parser parser;
  ondemand::document document;
  if (auto code = parser.iterate(text).get(document)) {
    fail(code, "an object");
    return Error{name + ": " + *failure};
  }
  bool seen = false;
  bool good =
      object(document, [&](const std::string &key, ondemand::value &inner) {
        if (key != "problem")
          return unknown(key, {"problem"});
        seen = true;
        return readMembers(inner);
      });
  if (good && !seen)
    fail("expected an object with the key 'problem', found none");
  if (!failure &&
      document.current_location().error() != simdjson::OUT_OF_BOUNDS)
    fail("not valid JSON: text after the end of the object");
  if (!failure)
    return std::nullopt;
  return Error{name + ": " + place + (place.empty() ? "" : ": ") + *failure};
}

static ErrorOr<Problem> parsePadded(simdjson::padded_string_view text,
                                    const std::string &name) {
  Problem problem;
  if (auto error = Reader(name, problem).read(text))
    return *error;
  if (auto error = problem.check())
    return Error{name + ": " + error->message};
  return problem;
}

/// `text`, which has the capacity for the padding.
static simdjson::padded_string_view pad(const std::string &text) {
  return simdjson::padded_string_view(text.data(), text.size(),
                                      text.capacity());
}

ErrorOr<Problem> solve::parseProblem(std::string_view text,
                                     const std::string &name) {
  std::string padded(text);
  padded.reserve(padded.size() + simdjson::SIMDJSON_PADDING);
  return parsePadded(pad(padded), name);
}

/// Whether a file can be JSON or gzip by how it begins, so that devices are not
/// read to the limit.
static bool mayBeProblem(std::string_view beginning) {
  size_t first = beginning.find_first_not_of(" \n\r\t");
  // An object, a mark of byte order, or gzip.
  constexpr std::string_view begins = "{\xef\x1f";
  return first == std::string_view::npos ||
         begins.find(beginning[first]) != std::string_view::npos;
}

ErrorOr<Problem> solve::readProblem(const std::string &path) {
  ErrorOr<std::string> text =
      readFile(path, mostTextBytes, simdjson::SIMDJSON_PADDING, mayBeProblem);
  if (!text)
    return text.error();
  if (!isGzip(*text)) {
    text->reserve(text->size() + simdjson::SIMDJSON_PADDING);
    return parsePadded(pad(*text), path);
  }
  ErrorOr<Bytes> bytes =
      inflateGzip(*text, mostTextBytes, simdjson::SIMDJSON_PADDING, path);
  if (!bytes)
    return bytes.error();
  text->clear();
  text->shrink_to_fit();
  return parsePadded(simdjson::padded_string_view(bytes->begin(), bytes->size,
                                                  bytes->capacity()),
                     path);
}

ErrorOr<Solution> solve::readSolution(const std::string &path) {
  ErrorOr<json::Document> document = json::Document::parseFile(path);
  if (!document)
    return document.error();
  Solution solution;
  for (json::Value element : document->root().elements())
    solution.push_back(int32_t(element.integer(std::nullopt, 0, mostInt32)));
  if (document->failed())
    return document->error();
  return solution;
}

std::string solve::toJson(const Solution &solution) {
  std::string text = "[";
  for (size_t i = 0; i < solution.size(); ++i)
    text.append(i ? ", " : "").append(std::to_string(solution[i]));
  return text + "]";
}
