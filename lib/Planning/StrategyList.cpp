//===- StrategyList.cpp - Files with a strategy on every line -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/StrategyList.h"
#include "LineReader.h"
#include "shardopt/Support/Json.h"

#include <thread>

using namespace shardopt;

namespace {

/// Lines of one block that one thread evaluates.
class Part {
public:
  Part(const Scenario &scenario, const std::string &path)
      : scenario(scenario), path(path), reader(dimReader(scenario.model())) {}

  /// Evaluates `lines`, from number `first` of the file on.
  void run(Span<const std::string_view> lines, uint64_t first);

  std::string text; ///< the output
  ListSummary summary;

private:
  void evaluate(std::string_view line, uint64_t number);

  const Scenario &scenario;
  const std::string &path;
  DimReader reader;
};

} // namespace

void Part::run(Span<const std::string_view> lines, uint64_t first) {
  text.clear();
  summary = ListSummary();
  for (size_t i = 0; i < lines.size(); ++i)
    evaluate(lines[i], first + i);
}

void Part::evaluate(std::string_view line, uint64_t number) {
  ++summary.lines;
  json::Writer writer(text);
  writer.beginObject();
  ErrorOr<Strategy> strategy =
      parseStrategyLine(line, scenario.opNames(), reader);
  if (strategy) {
    Evaluation evaluation = scenario.simulator().evaluate(*strategy);
    summary.valid += evaluation.valid;
    writeMetrics(writer, evaluation, scenario.latencyKey());
  } else {
    ++summary.unreadable;
    writer.member("error", path + ":" + std::to_string(number) + ": " +
                               strategy.error().message);
  }
  writer.endObject();
  text += '\n';
}

ErrorOr<ListSummary> shardopt::evaluateList(const Scenario &scenario,
                                            const std::string &path,
                                            OutputFile &out, unsigned threads,
                                            const StopToken *stop) {
  ErrorOr<LineReader> reader = LineReader::open(path);
  if (!reader)
    return reader.error();
  ListSummary all;
  std::vector<Part> parts(std::max(1u, threads), Part(scenario, path));
  while (true) {
    if (stop && stop->requested())
      return Error{"interrupted after line " + std::to_string(all.lines) +
                   " of '" + path + "'"};
    if (scenario.external())
      if (std::optional<Error> error = scenario.external()->breakdown())
        return *error;
    ErrorOr<std::vector<std::string_view>> lines = reader->next();
    if (!lines)
      return lines.error();
    if (lines->empty())
      return all;

    // Each part takes consecutive lines, so that the order stays.
    auto begin = [&](size_t part) {
      return lines->size() * part / parts.size();
    };
    auto runPart = [&](size_t part) {
      size_t first = begin(part);
      parts[part].run({lines->data() + first, begin(part + 1) - first},
                      all.lines + first + 1);
    };
    std::vector<std::thread> helpers;
    for (size_t part = 1; part < parts.size(); ++part)
      helpers.emplace_back(runPart, part);
    runPart(0);
    for (std::thread &helper : helpers)
      helper.join();

    for (const Part &part : parts) {
      out.write(part.text);
      all.lines += part.summary.lines;
      all.valid += part.summary.valid;
      all.unreadable += part.summary.unreadable;
    }
  }
}

/// The strategy in the plan file at `path` (docs/Quickstart.md).
static ErrorOr<Strategy> readPlanFile(const std::string &path,
                                      const cost::Model &model) {
  ErrorOr<json::Document> document = json::Document::parseFile(path);
  if (!document)
    return document.error();
  json::Value root = document->root();
  root["shardopt_plan"].integer(std::nullopt, 1, 1);
  Strategy strategy = readStrategy(root["strategy"], model.opNames());
  if (document->failed())
    return document->error();
  return strategy;
}

ErrorOr<Strategy> shardopt::readListLine(const std::string &path, int64_t line,
                                         const cost::Model &model) {
  ErrorOr<LineReader> reader = LineReader::open(path);
  if (!reader)
    return reader.error();
  int64_t before = 0; // lines of earlier blocks
  while (true) {
    ErrorOr<std::vector<std::string_view>> lines = reader->next();
    if (!lines)
      return lines.error();
    if (lines->empty())
      return Error{"'" + path + "' has " + std::to_string(before) +
                   " lines, but 'line' is " + std::to_string(line) +
                   " (the first is 0)"};
    // A list has a whole object on its line.
    if (before == 0 && line == 0 && lines->front() == "{")
      return readPlanFile(path, model);
    int64_t count = lines->size();
    if (line - before >= count) {
      before += count;
      continue;
    }
    ErrorOr<Strategy> strategy = parseStrategyLine(
        (*lines)[line - before], model.opNames(), dimReader(model));
    if (!strategy)
      return Error{path + ":" + std::to_string(line + 1) + ": " +
                   strategy.error().message};
    return strategy;
  }
}

DimReader shardopt::dimReader(const cost::Model &model) {
  return [&model](size_t op, std::string_view text) -> ErrorOr<Dim> {
    Span<const cost::DimChoice> choices =
        model.nodesByVariable()[op]->op->choices();
    if (std::optional<Dim> dim = cost::parseDim(text, choices))
      return *dim;
    return Error{cost::listChoices(choices)};
  };
}
