//===- EvaluationLog.cpp - Evaluations in a file --------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/EvaluationLog.h"
#include "shardopt/Search/EvaluationCache.h"
#include "shardopt/Support/Files.h"
#include "shardopt/Support/Fingerprint.h"
#include "shardopt/Support/Suggest.h"

#include <cerrno>
#include <cstring>
#include <unordered_set>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shardopt::search {

/// The version of the format.
static constexpr int64_t version = 2;
/// Far more than a search can use.
static constexpr uint64_t maxBytes = uint64_t(1) << 34;

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

static std::string headerLine(const SearchIdentity &identity) {
  std::string line;
  json::Writer writer(line);
  writer.beginObject().member("checkpoint", version).key("search");
  writer.beginObject();
  for (const auto &[name, value] : identity)
    writer.member(name, value);
  writer.endObject().endObject();
  return line + '\n';
}

/// The end of a line, which tells whether `begin`, all before it, is as it was
/// written: `, "check": "0123456789abcdef"}`.
static std::string checkOf(std::string_view begin) {
  return ", \"check\": \"" + fingerprint(begin) + "\"}";
}

static bool isIntact(std::string_view line) {
  size_t size = checkOf("").size();
  if (line.size() < size)
    return false;
  std::string_view begin = line.substr(0, line.size() - size);
  return line.substr(begin.size()) == checkOf(begin);
}

static std::string evaluationLine(const Plan &plan,
                                  const EvaluationLog::Format &format) {
  std::string line;
  json::Writer writer(line);
  writer.beginObject().key("strategy");
  writeStrategy(writer, plan.strategy, format.opNames);
  writeMetrics(writer, plan.evaluation, format.latency);
  return line + checkOf(line) + '\n';
}

static Evaluation readEvaluation(const json::Value &value, LatencyKey latency) {
  Evaluation evaluation;
  evaluation.throughput = value["throughput"].number();
  evaluation.latencyMs =
      value[latency == LatencyKey::Tpot ? "tpot_ms" : "ttft_ms"].number();
  evaluation.memoryGb = value["memory_gb"].number();
  if (json::Value activations = value["activations_gb"])
    evaluation.activationsGb = activations.number();
  evaluation.valid = value["valid"].boolean();
  evaluation.reason = value["reason"].choice<Reason>(
      {{spell(Reason::None), Reason::None},
       {spell(Reason::Structural), Reason::Structural},
       {spell(Reason::Memory), Reason::Memory},
       {spell(Reason::Activations), Reason::Activations},
       {spell(Reason::Slo), Reason::Slo},
       {spell(Reason::Failed), Reason::Failed}});
  return evaluation;
}

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

/// How the search of a file differs from `identity`: "'seed' is '3', expected
/// '4'; …". Empty if it does not.
static std::string describeDifferences(const json::Value &found,
                                       const SearchIdentity &identity) {
  std::string text;
  for (const auto &[name, wanted] : identity) {
    json::Value value = found[name];
    std::string there =
        value ? "'" + abbreviate(value.string()) + "'" : "missing";
    if (value && value.string() == wanted)
      continue;
    text += (text.empty() ? "'" : "; '") + name + "' is " + there +
            ", expected '" + abbreviate(wanted) + "'";
  }
  return text;
}

/// Why `line`, the first of the file `path`, is not the header of `identity`.
static std::optional<std::string> findMismatch(std::string_view line,
                                               const std::string &path,
                                               const SearchIdentity &identity) {
  std::string noCheckpoint =
      "is there already and is no checkpoint of a search";
  ErrorOr<json::Document> document = json::Document::parse(line, path);
  if (!document || !document->root().isObject() ||
      !document->root()["checkpoint"].isNumber())
    return noCheckpoint;
  json::Value root = document->root();
  int64_t found = root["checkpoint"].integer();
  if (found != version)
    return "is a checkpoint of version " + std::to_string(found) +
           ", expected version " + std::to_string(version);
  if (!root["search"].isObject())
    return noCheckpoint;
  std::string differences = describeDifferences(root["search"], identity);
  if (document->failed())
    return noCheckpoint;
  if (differences.empty())
    return std::nullopt;
  return "is the checkpoint of another search: " + differences;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

Error EvaluationLog::fail(const std::string &problem) const {
  return {"checkpoint '" + abbreviate(path, 200) + "': " + problem};
}

std::optional<Error> EvaluationLog::openFile() {
  struct stat status;
  // Asked before it is opened, because opening a pipe waits for its writer.
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return fail("expected a regular file");
  descriptor =
      ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return fail(std::string("cannot open: ") + std::strerror(errno));
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0)
    return fail(errno == EWOULDBLOCK
                    ? "another search is writing it"
                    : std::string("cannot lock: ") + std::strerror(errno));
  return std::nullopt;
}

std::optional<Error> EvaluationLog::write(std::string_view text) {
  while (!text.empty()) {
    ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count >= 0)
      text.remove_prefix(count);
    else if (errno != EINTR)
      return fail(std::string("cannot write: ") + std::strerror(errno));
  }
  return std::nullopt;
}

std::optional<Error> EvaluationLog::load(const SearchIdentity &identity) {
  ErrorOr<std::string> text = readFile(path, maxBytes);
  if (!text)
    return text.error();
  std::string header = headerLine(identity);
  size_t complete = text->rfind('\n') + 1; // npos + 1 == 0
  bool isCutHeader =
      complete == 0 && header.compare(0, text->size(), *text) == 0;
  if (isCutHeader) { // a new file, or one whose first write was cut short
    if (::ftruncate(descriptor, 0) != 0)
      return fail(std::string("cannot write: ") + std::strerror(errno));
    return write(header);
  }
  std::string_view lines(*text);
  lines = lines.substr(0, complete ? complete : lines.size());
  size_t kept = lines.size();
  if (auto mismatch = findMismatch(takeLine(lines), path, identity))
    return fail(*mismatch);
  if (auto error = readEvaluations(lines))
    return error;
  if (kept < text->size() && ::ftruncate(descriptor, off_t(kept)) != 0)
    return fail(std::string("cannot write: ") + std::strerror(errno));
  return std::nullopt;
}

std::optional<Error> EvaluationLog::readEvaluations(std::string_view lines) {
  std::unordered_set<Strategy, StrategyHash> seen;
  for (int64_t number = 2; !lines.empty(); ++number) {
    std::string place = path + ":" + std::to_string(number);
    std::string_view line = takeLine(lines);
    ErrorOr<json::Document> document = json::Document::parse(line, place);
    if (!document)
      return document.error();
    json::Value root = document->root();
    Plan plan{readStrategy(root["strategy"], format.opNames),
              readEvaluation(root, format.latency)};
    if (!document->failed() && !isIntact(line))
      root["check"].fail("the line is not as it was written; delete it, and it "
                         "will be evaluated again");
    if (!document->failed() && !seen.insert(plan.strategy).second)
      root.fail("a strategy that an earlier line has");
    if (document->failed())
      return document->error();
    evaluations.push_back(std::move(plan));
  }
  return std::nullopt;
}

ErrorOr<std::unique_ptr<EvaluationLog>>
EvaluationLog::open(const std::string &path, const SearchIdentity &identity,
                    Format format) {
  std::unique_ptr<EvaluationLog> log(
      new EvaluationLog(path, std::move(format)));
  if (auto error = log->openFile())
    return *error;
  if (auto error = log->load(identity))
    return *error;
  return log;
}

std::optional<std::string>
EvaluationLog::readIdentity(const std::string &path, const std::string &name) {
  struct stat status; // a pipe would be waited for
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return std::nullopt;
  ErrorOr<std::string> text = readFile(path, maxBytes);
  if (!text)
    return std::nullopt;
  std::string_view lines(*text);
  ErrorOr<json::Document> document =
      json::Document::parse(takeLine(lines), path);
  if (!document || !document->root().isObject() ||
      !document->root()["search"].isObject() ||
      !document->root()["search"][name].isString())
    return std::nullopt;
  return document->root()["search"][name].string();
}

EvaluationLog::~EvaluationLog() {
  if (descriptor >= 0)
    ::close(descriptor);
}

std::optional<Error> EvaluationLog::append(const Plan &plan) {
  return write(evaluationLine(plan, format));
}

} // namespace shardopt::search
