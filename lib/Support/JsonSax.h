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
#include <limits>
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

/// Base of the handlers of `parseEvents`, which define, each returning true to
/// go on or `refuse(...)`:
///   onNull(), onBoolean(bool), onInteger(int64_t), onString(std::string &),
///   onReal(double, const std::string &spelling) for all other numbers,
///   beginObject(), onKey(std::string &), endObject(), beginArray(), endArray()
/// Strings may be moved from.
class EventHandler {
public:
  std::string refusal;

protected:
  bool refuse(std::string message) {
    refusal = std::move(message);
    return false;
  }
};

/// Translates the events of nlohmann-json, whose names these are.
// NOLINTBEGIN(readability-identifier-naming)
template <typename Handler> class EventAdapter {
public:
  EventAdapter(std::string_view text, Handler &handler)
      : handler(handler), text(text) {}

  bool null() { return handler.onNull(); }
  bool boolean(bool truth) { return handler.onBoolean(truth); }
  bool number_integer(int64_t number) { return handler.onInteger(number); }
  bool number_unsigned(uint64_t number) {
    if (number <= uint64_t(std::numeric_limits<int64_t>::max()))
      return handler.onInteger(int64_t(number));
    return handler.onReal(double(number), std::to_string(number));
  }
  bool number_float(double number, const std::string &spelling) {
    return handler.onReal(number, spelling);
  }
  bool string(std::string &content) { return handler.onString(content); }
  bool start_object(size_t) { return handler.beginObject(); }
  bool key(std::string &name) { return handler.onKey(name); }
  bool end_object() { return handler.endObject(); }
  bool start_array(size_t) { return handler.beginArray(); }
  bool end_array() { return handler.endArray(); }

  /// JSON text has no binary values.
  bool binary(nlohmann::json::binary_t &) { return false; }

  bool parse_error(size_t position, const std::string &,
                   const nlohmann::json::exception &error) {
    size_t offset = position ? position - 1 : 0;
    syntaxError = Refusal{offset, describeSyntaxError(error, text, offset),
                          /*syntax=*/true};
    return false;
  }

  Handler &handler;
  std::string_view text;
  size_t consumed = 0; ///< bytes of `text` that the parser has taken
  std::optional<Refusal> syntaxError;
};
// NOLINTEND(readability-identifier-naming)

/// Iterates over characters and counts those taken in `consumed`.
class CountingIterator {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  CountingIterator(const char *at, size_t &consumed)
      : at(at), consumed(&consumed) {}
  reference operator*() const { return *at; }
  CountingIterator &operator++() {
    ++at;
    ++*consumed;
    return *this;
  }
  bool operator!=(const CountingIterator &other) const {
    return at != other.at;
  }
  bool operator==(const CountingIterator &other) const {
    return at == other.at;
  }

private:
  const char *at;
  size_t *consumed;
};

/// Sends the events of `text` to `handler`. Returns where and why the text was
/// refused, by the grammar or by the handler; nothing if it was taken.
template <typename Handler>
std::optional<Refusal> parseEvents(std::string_view text, Handler &handler) {
  // The parser takes a NUL for the end of its input.
  if (size_t nul = text.find('\0'); nul != std::string_view::npos)
    return Refusal{nul, "not a text: holds a NUL byte", /*syntax=*/true};
  EventAdapter<Handler> adapter(text, handler);
  const char *first = text.data(), *last = first + text.size();
  if (nlohmann::json::sax_parse(CountingIterator(first, adapter.consumed),
                                CountingIterator(last, adapter.consumed),
                                &adapter))
    return std::nullopt;
  if (adapter.syntaxError)
    return adapter.syntaxError;
  size_t offset = adapter.consumed ? adapter.consumed - 1 : 0;
  return Refusal{offset, std::move(handler.refusal), /*syntax=*/false};
}

} // namespace shardopt::json

#endif // SHARDOPT_LIB_SUPPORT_JSONSAX_H
