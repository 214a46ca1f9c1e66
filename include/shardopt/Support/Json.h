//===- Json.h - Reading and writing JSON ------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one JSON library of the project. Reading: a `Document` is parsed text, a
// `Value` a place in it. Reads never fail at once; the document keeps the first
// error, so that a reader is a plain list of reads with one check at its end:
//
//   ErrorOr<json::Document> document = json::Document::parseFile(path);
//   if (!document)
//     return document.error();
//   json::Value root = document->root();
//   config.hidden = root["hidden_size"].positiveInteger();
//   config.headDim = root["head_dim"].nullAsAbsent().positiveInteger(
//       /*otherwise=*/config.hidden / config.heads);
//   if (document->failed())
//     return document->error();
//
// Writing: a `Writer` appends to a string; the same calls give the same bytes.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_JSON_H
#define SHARDOPT_SUPPORT_JSON_H

#include "shardopt/Support/Error.h"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardopt::json {

struct Node;
struct DocumentState;
class Value;

/// The text of a JSON document as a tree, and the first error of its readers.
/// Its values stay good for as long as the document, moved or not, lives.
class Document {
public:
  /// Parses `text`; `name` stands for the file in messages. Errors read
  /// "name:line:column: message". Refused in addition to syntax errors: text
  /// that is not UTF-8, a key given twice in an object, more than 128 levels,
  /// numbers beyond double. A byte order mark is skipped.
  static ErrorOr<Document> parse(std::string_view text, std::string name);

  /// Parses the file at `path`, of at most `limitBytes`.
  static ErrorOr<Document> parseFile(const std::string &path,
                                     uint64_t limitBytes = uint64_t(1) << 28);

  Document(Document &&) noexcept;
  Document &operator=(Document &&) noexcept;
  ~Document();

  Value root() const;

  /// Remembers, from here on, which values are read; see `Value::wasRead`.
  void rememberReads() const;

  /// Whether a read of one of its values failed.
  bool failed() const;
  /// The first such error, "name: /json/pointer: message". Only if `failed()`.
  const Error &error() const;

private:
  explicit Document(std::unique_ptr<DocumentState> state);
  std::unique_ptr<DocumentState> state;
};

/// A value at a place in a document, or the absence of one there. A read of the
/// wrong type or range records an error in the document and returns
/// `otherwise`, or else a harmless value (0, "", the first choice).
///
/// Absent values: reads that give `otherwise` return it, all others record that
/// the value is missing. A member of an absent value is absent.
class Value {
public:
  /// Whether there is a value here (null is one).
  bool present() const { return node; }
  explicit operator bool() const { return present(); }

  bool isNull() const;
  bool isBoolean() const;
  bool isNumber() const;
  bool isInteger() const; ///< written without fraction and exponent
  bool isString() const;
  bool isArray() const;
  bool isObject() const;

  /// Whether something read this value, or anything in it, since the document's
  /// `rememberReads`. Null is read by asking whether it is null; an object by
  /// reading a member.
  bool wasRead() const;

  /// This value, or an absent one at the same place if it is null.
  Value nullAsAbsent() const;
  /// An absent value at the same place.
  Value asAbsent() const { return Value(state, nullptr, path); }
  /// This value, or where it is absent, what `other` is, as if it stood here:
  /// errors name this place. `other` is of a document that lives as long.
  Value orElse(const Value &other) const {
    return Value(state, node ? node : other.node, path);
  }

  /// The member `key`; absent if there is none. Anything but an object or an
  /// absent value is an error.
  Value operator[](std::string_view key) const;

  /// The members of an object, in the order of the text.
  std::vector<std::pair<std::string, Value>> members() const;
  /// The elements of an array.
  std::vector<Value> elements() const;

  /// An integer in [least, most], written without fraction and exponent.
  int64_t integer(std::optional<int64_t> otherwise = std::nullopt,
                  int64_t least = std::numeric_limits<int64_t>::min(),
                  int64_t most = std::numeric_limits<int64_t>::max()) const;
  /// An integer of at least 1.
  int64_t
  positiveInteger(std::optional<int64_t> otherwise = std::nullopt) const;
  /// A finite number, in either form.
  double number(std::optional<double> otherwise = std::nullopt) const;
  /// A finite number above 0.
  double positiveNumber(std::optional<double> otherwise = std::nullopt) const;
  /// A finite number of at least 0.
  double
  nonNegativeNumber(std::optional<double> otherwise = std::nullopt) const;
  /// A number in (0, 1].
  double fraction(std::optional<double> otherwise = std::nullopt) const;
  bool boolean(std::optional<bool> otherwise = std::nullopt) const;
  std::string string(std::optional<std::string> otherwise = std::nullopt) const;

  /// The choice whose name is the string here; other strings are errors that
  /// list the names, closest first.
  template <typename T>
  T choice(std::initializer_list<std::pair<std::string_view, T>> choices,
           std::optional<T> otherwise = std::nullopt) const {
    if (!present() && otherwise)
      return *otherwise;
    std::vector<std::string_view> names;
    for (const auto &[name, meaning] : choices)
      names.push_back(name);
    return (choices.begin() + choiceIndex(names))->second;
  }

  /// Records an error for the first member whose key is not among `known`,
  /// which it lists, closest first.
  void refuseOtherKeys(std::initializer_list<std::string_view> known) const;

  /// Records `message` as an error at this place, for checks of the caller's.
  void fail(const std::string &message) const;
  /// Records "expected `wanted`, found …", or "missing, expected `wanted`".
  void failExpected(std::string_view wanted) const;

  /// The same for a message that may start with the pointer, from here, of a
  /// place below: "/tp: missing".
  void failBelow(const std::string &message) const;
  /// What stands here, for messages; only where a value is present.
  std::string found() const;

  /// The place, as a JSON pointer (RFC 6901); "" for the root.
  const std::string &pointer() const { return path; }

private:
  friend class Document;
  Value(DocumentState *state, const Node *node, std::string path)
      : state(state), node(node), path(std::move(path)) {}
  void markRead() const;
  size_t choiceIndex(const std::vector<std::string_view> &names) const;
  double numberWhere(bool (*holds)(double), std::string_view wanted,
                     std::optional<double> otherwise) const;

  DocumentState *state;
  const Node *node;
  std::string path;
};

/// How a `Writer` lays out an object or an array and all that it holds.
enum class Style : uint8_t {
  Line, ///< on one line
  Block ///< each member or element on a line of its own, indented by two
};

/// Appends JSON to a string. Members keep the order of the calls. Doubles take
/// the fewest digits that give the same double back (up to 17); NaN and
/// infinities, which JSON has no number for, become null. Strings are taken as
/// UTF-8; bytes that are not become U+FFFD.
class Writer {
public:
  explicit Writer(std::string &out) : out(out) {}

  /// Opens an object or array. A `Block` within a `Line` is laid out as `Line`.
  Writer &beginObject(Style style = Style::Line);
  Writer &endObject();
  Writer &beginArray(Style style = Style::Line);
  Writer &endArray();

  /// The key of the next value; only within an object.
  Writer &key(std::string_view name);

  Writer &value(std::string_view text);
  Writer &value(const char *text) { return value(std::string_view(text)); }
  Writer &value(const std::string &text) {
    return value(std::string_view(text));
  }
  Writer &value(double number);
  Writer &value(int64_t number);
  Writer &value(uint64_t number);
  Writer &value(int number) { return value(int64_t(number)); }
  Writer &value(bool truth);
  Writer &null();

  /// A member of the object being written.
  template <typename T>
  Writer &member(std::string_view name, const T &content) {
    return key(name).value(content);
  }

private:
  struct Level {
    bool block = false; ///< whether its members stand on lines of their own
    bool empty = true;  ///< whether nothing was written in it so far
  };
  void begin(char bracket, Style style);
  void end(char bracket);
  /// Writes what separates the next key or element from the text before it.
  void separate();
  void quote(std::string_view text);
  void breakLine();

  std::string &out;
  std::vector<Level> levels;
  bool afterKey = false;
};

} // namespace shardopt::json

#endif // SHARDOPT_SUPPORT_JSON_H
