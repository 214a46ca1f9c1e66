//===- JsonSax.h - Events of JSON text --------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only place that sees the parser of nlohmann-json. It is driven through
// its event interface, which neither throws nor recurses.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SUPPORT_JSONSAX_H
#define SHARDOPT_LIB_SUPPORT_JSONSAX_H

#include <nlohmann/json.hpp>

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace shardopt::json {

/// Where and why a text was refused.
struct Refusal {
  size_t offset = 0; ///< bytes before the place
  std::string message;
  bool syntax = false; ///< refused by the grammar, not by the handler
};

/// `text` between double quotes, escaped, as JSON writes it; bytes that are not
/// UTF-8 become U+FFFD.
std::string quotedText(std::string_view text);

/// What nlohmann-json says in `error` about the place `offset` of `text`,
/// shortened.
std::string describeSyntaxError(const nlohmann::json::exception &error,
                                std::string_view text, size_t offset);

/// Base of the handlers of `parseEvents`. A handler returns true to go on or
/// `refuse(...)`. The names of the events are those of nlohmann-json.
class EventHandler {
public:
  bool binary(nlohmann::json::binary_t &) { return refuse("binary value"); }
  bool parse_error(size_t position, const std::string &,
                   const nlohmann::json::exception &error) {
    size_t offset = position ? position - 1 : 0;
    refusal = Refusal{offset, describeSyntaxError(error, text, offset),
                      /*syntax=*/true};
    return false;
  }

  std::optional<Refusal> refusal;
  std::string_view text;
  /// The next character of `text`, for the place of a refusal.
  const char *next = nullptr;

protected:
  bool refuse(std::string message) {
    refusal = Refusal{0, std::move(message), /*syntax=*/false};
    return false;
  }
};

/// Iterates over characters and tells its handler how far it came.
class TrackingIterator {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  TrackingIterator(const char *at, EventHandler &handler)
      : at(at), handler(&handler) {}
  reference operator*() const { return *at; }
  TrackingIterator &operator++() {
    handler->next = ++at;
    return *this;
  }
  bool operator!=(const TrackingIterator &other) const {
    return at != other.at;
  }
  bool operator==(const TrackingIterator &other) const {
    return at == other.at;
  }

private:
  const char *at;
  EventHandler *handler;
};

/// Sends the events of `text` to `handler`. Returns where and why the text was
/// refused, by the grammar or by the handler; nothing if it was taken.
template <typename Handler>
std::optional<Refusal> parseEvents(std::string_view text, Handler &handler) {
  // The parser takes a NUL for the end of its input.
  if (size_t nul = text.find('\0'); nul != std::string_view::npos)
    return Refusal{nul, "not a text: holds a NUL byte", /*syntax=*/true};
  handler.text = text;
  handler.next = text.data();
  const char *end = text.data() + text.size();
  if (nlohmann::json::sax_parse(TrackingIterator(text.data(), handler),
                                TrackingIterator(end, handler), &handler))
    return std::nullopt;
  Refusal refusal = std::move(*handler.refusal);
  if (!refusal.syntax && handler.next != text.data())
    refusal.offset = handler.next - text.data() - 1;
  return refusal;
}

} // namespace shardopt::json

#endif // SHARDOPT_LIB_SUPPORT_JSONSAX_H
