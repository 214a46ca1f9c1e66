//===- Server.cpp - The worker's side of the protocol ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/BlackBox/Server.h"
#include "LineBuffer.h"

#include <cerrno>
#include <unistd.h>

using namespace shardopt;
using namespace shardopt::blackbox;

Service::~Service() = default;

/// A strategy of a hundred thousand ops takes about four megabytes.
static constexpr size_t maxRequestBytes = size_t(64) << 20;

static std::string greetingLine(const Service &service) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject()
      .member("protocol", protocolVersion)
      .member("name", service.name());
  service.describe(writer);
  std::vector<Degree> read = service.degrees();
  if (!read.empty() || service.readsStages()) {
    writer.key("degrees").beginArray();
    for (Degree degree : read)
      writer.value(std::string(spell(degree)));
    if (service.readsStages())
      writer.value(std::string(StageCut::key));
    writer.endArray();
  }
  writer.endObject();
  return text;
}

static std::string answerLine(int64_t id, const Answer &answer,
                              LatencyKey latency) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject().member("id", id);
  writeMetrics(writer, answer.evaluation, latency);
  if (answer.masked)
    writer.member("masked", true);
  writer.endObject();
  return text;
}

/// The answer to one line of the client.
static std::string respond(Service &service, std::string_view line) {
  auto message = parseMessage(line, service.opNames());
  if (const auto *refusal = std::get_if<Refusal>(&message))
    return errorLine(*refusal);
  if (const auto *hello = std::get_if<Hello>(&message)) {
    if (std::optional<Error> error = service.greet(*hello))
      return errorLine({std::nullopt, *error});
    return greetingLine(service);
  }
  const Request &request = std::get<Request>(message);
  ErrorOr<Answer> answer = service.evaluate(request.strategy);
  if (!answer)
    return errorLine({request.id, answer.error()});
  return answerLine(request.id, *answer, service.latencyKey());
}

bool blackbox::writeAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    text.remove_prefix(written);
  }
  return true;
}

bool blackbox::serve(Service &service, int in, int out) {
  LineBuffer lines(maxRequestBytes);
  auto fill = LineBuffer::Fill::Read;
  while (true) {
    // Answers leave together where requests came together.
    std::string answers;
    while (std::optional<LineBuffer::Line> line = lines.take()) {
      answers += line->tooLong
                     ? errorLine({std::nullopt, Error{"line too long"}})
                     : respond(service, line->text);
      answers += '\n';
    }
    if (!writeAll(out, answers))
      return false;
    if (fill == LineBuffer::Fill::End || fill == LineBuffer::Fill::Error)
      return fill == LineBuffer::Fill::End;
    fill = lines.fillFrom(in);
  }
}
