//===- PolicyFile.cpp - Weights of a policy in a file ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Agent/PolicyFile.h"
#include "shardopt/Support/Json.h"

#include <cmath>
#include <vector>

namespace shardopt::agent {

static constexpr int64_t schema = 1;

std::string describeVariables(const search::StrategySpace &space) {
  std::string text;
  for (size_t i = 0; i < space.numVariables(); ++i) {
    text += (i == 0 ? "" : "; ") + space.variableName(i);
    const char *separator = " ";
    for (size_t j = 0; j < space.domainSize(i); ++j) {
      bool isDegree = i < space.firstDim();
      int64_t value =
          isDegree ? space.degreeDomain(space.openDegrees()[i])[j]
                   : int64_t(space.dimDomains()[i - space.firstDim()][j]);
      text += separator + std::to_string(value);
      separator = ",";
    }
  }
  return text;
}

static Error failed(const std::string &path, const std::string &problem) {
  return {"policy '" + path + "': " + problem};
}

std::optional<Error> savePolicy(OutputFile &file, const Network &network,
                                const search::StrategySpace &space) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject(json::Style::Block);
  writer.key("schema").value(schema);
  writer.key("variables").value(describeVariables(space));
  writer.key("parameters").beginObject(json::Style::Block);
  std::vector<double> numbers;
  for (size_t i = 0; i < network.numBlocks(); ++i) {
    ParameterBlock block = network.block(i);
    numbers.resize(block.size);
    if (Failure failure = network.readParameters(i, numbers))
      return Error{"the policy cannot be saved: " + std::string(failure)};
    writer.key(block.name).beginArray();
    for (double number : numbers) {
      if (!std::isfinite(number))
        return Error{"the policy cannot be saved: " + std::string(block.name) +
                     " has a value that is not finite, so it has diverged; a "
                     "lower 'learning-rate' would help"};
      writer.value(number);
    }
    writer.endArray();
  }
  writer.endObject().endObject();
  file.write(text + "\n");
  return file.keep();
}

/// The parameters in a document, one vector a block of `network`.
static std::vector<std::vector<double>> readBlocks(json::Value parameters,
                                                   const Network &network) {
  std::vector<std::vector<double>> blocks;
  size_t expected = network.numBlocks();
  for (size_t i = 0; i < expected; ++i) {
    ParameterBlock block = network.block(i);
    json::Value array = parameters[block.name];
    std::vector<double> &numbers = blocks.emplace_back();
    for (json::Value element : array.elements())
      numbers.push_back(element.number());
    if (numbers.size() != block.size)
      array.fail("expected " + std::to_string(block.size) + " numbers, found " +
                 std::to_string(numbers.size()) +
                 ": the policy has another shape");
  }
  if (parameters.members().size() > expected)
    parameters.fail("expected " + std::to_string(expected) + " blocks, found " +
                    std::to_string(parameters.members().size()) +
                    ": the policy has another shape");
  return blocks;
}

std::optional<Error> loadPolicy(const std::string &path, Network &network,
                                const search::StrategySpace &space) {
  auto document = json::Document::parseFile(path);
  if (!document)
    return document.error();
  json::Value root = document->root();
  root["schema"].integer(std::nullopt, schema, schema);
  std::string variables = root["variables"].string();
  if (document->failed())
    return document->error();
  if (variables != describeVariables(space))
    return failed(path, "is for the variables '" + variables +
                            "', and this search has '" +
                            describeVariables(space) + "'");
  auto blocks = readBlocks(root["parameters"], network);
  if (document->failed())
    return document->error();
  for (size_t i = 0; i < blocks.size(); ++i)
    if (Failure failure = network.writeParameters(i, blocks[i]))
      return failed(path, failure);
  return std::nullopt;
}

} // namespace shardopt::agent
