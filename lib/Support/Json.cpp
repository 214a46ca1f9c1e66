//===- Json.cpp - Reading JSON --------------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Json.h"

#include "JsonSax.h"
#include "shardopt/Support/Files.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <unordered_set>
#include <variant>

using namespace shardopt;
using namespace shardopt::json;

namespace shardopt::json {

/// A number with a fraction or an exponent, or beyond int64.
struct Real {
  double value = 0;
  std::string spelling;
};

struct Member;
using Array = std::vector<Node>;
using Object = std::vector<Member>;

/// A value of the tree.
struct Node {
  std::variant<std::nullptr_t, bool, int64_t, Real, std::string, Array, Object>
      content;
};

struct Member {
  std::string key;
  Node value;
};

struct DocumentState {
  std::string name;
  Node root;
  std::optional<Error> firstError;
  /// What was read, where somebody wants to know.
  std::optional<std::unordered_set<const Node *>> reads;
};

} // namespace shardopt::json

//===----------------------------------------------------------------------===//
// Text to tree
//===----------------------------------------------------------------------===//

namespace {

/// Builds the tree. `open` holds the objects and arrays that enclose the next
/// value, outermost first. Their addresses hold: a container grows only while
/// it is the innermost one.
class TreeBuilder : public EventHandler {
public:
  explicit TreeBuilder(Node &root) : root(root) {}

  bool onNull() { return add(Node{nullptr}); }
  bool onBoolean(bool truth) { return add(Node{truth}); }
  bool onInteger(int64_t number) { return add(Node{number}); }
  bool onReal(double number, const std::string &spelling) {
    return add(Node{Real{number, spelling}});
  }
  bool onString(std::string &text) { return add(Node{std::move(text)}); }
  bool beginObject() {
    keys.emplace_back();
    return enter(Node{Object()});
  }
  bool beginArray() { return enter(Node{Array()}); }
  bool endObject() {
    keys.pop_back();
    open.pop_back();
    return true;
  }
  bool endArray() {
    open.pop_back();
    return true;
  }
  bool onKey(std::string &name) {
    if (!keys.back().insert(name).second)
      return refuse("key " + quotedText(abbreviate(name)) + " given twice");
    pendingKey = std::move(name);
    return true;
  }

private:
  // Readers walk the tree by recursion, and so does its destructor.
  static constexpr size_t maxLevels = 128;

  Node &place(Node node) {
    if (open.empty())
      return root = std::move(node);
    if (Array *array = std::get_if<Array>(&open.back()->content))
      return array->emplace_back(std::move(node));
    Object &object = std::get<Object>(open.back()->content);
    return object.emplace_back(Member{std::move(pendingKey), std::move(node)})
        .value;
  }
  bool add(Node node) {
    place(std::move(node));
    return true;
  }
  bool enter(Node node) {
    if (open.size() == maxLevels)
      return refuse("more than " + std::to_string(maxLevels) +
                    " levels of objects and arrays");
    open.push_back(&place(std::move(node)));
    return true;
  }

  Node &root;
  std::vector<Node *> open;
  /// The keys seen in each open object.
  std::vector<std::unordered_set<std::string>> keys;
  std::string pendingKey;
};

} // namespace

/// "name:line:column: message", both counted from 1, columns in bytes.
static Error atOffset(const std::string &name, std::string_view text,
                      const Refusal &refusal) {
  std::string_view before = text.substr(0, refusal.offset);
  size_t line = 1 + std::count(before.begin(), before.end(), '\n');
  size_t lineStart = before.rfind('\n') + 1; // npos + 1 == 0: the first line
  return Error{name + ":" + std::to_string(line) + ":" +
               std::to_string(before.size() - lineStart + 1) + ": " +
               refusal.message};
}

ErrorOr<Document> Document::parse(std::string_view text, std::string name) {
  auto state = std::make_unique<DocumentState>();
  state->name = std::move(name);
  TreeBuilder builder(state->root);
  if (std::optional<Refusal> refusal = parseEvents(text, builder))
    return atOffset(state->name, text, *refusal);
  return Document(std::move(state));
}

ErrorOr<Document> Document::parseFile(const std::string &path,
                                      uint64_t limitBytes) {
  ErrorOr<std::string> text = readFile(path, limitBytes);
  if (!text)
    return text.error();
  return parse(*text, path);
}

Document::Document(std::unique_ptr<DocumentState> state)
    : state(std::move(state)) {}
Document::Document(Document &&) noexcept = default;
Document &Document::operator=(Document &&) noexcept = default;
Document::~Document() = default;

Value Document::root() const {
  return Value(state.get(), &state->root, /*path=*/"");
}

void Document::rememberReads() const { state->reads.emplace(); }

bool Document::failed() const { return state->firstError.has_value(); }

const Error &Document::error() const {
  assert(failed() && "no error");
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): the caller checked.
  return *state->firstError;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// What stands at `node`, for messages.
static std::string describe(const Node &node) {
  struct {
    std::string operator()(std::nullptr_t) { return "null"; }
    std::string operator()(bool truth) { return truth ? "true" : "false"; }
    std::string operator()(int64_t number) { return std::to_string(number); }
    std::string operator()(const Real &number) {
      return abbreviate(number.spelling);
    }
    std::string operator()(const std::string &text) {
      return quotedText(abbreviate(text));
    }
    std::string operator()(const Array &array) {
      return "an array of length " + std::to_string(array.size());
    }
    std::string operator()(const Object &) { return "an object"; }
  } describer;
  return std::visit(describer, node.content);
}

/// `path` and one more token, escaped as RFC 6901 has it.
static std::string childPath(const std::string &path, std::string_view token) {
  std::string child = path + '/';
  for (char c : token) {
    if (c == '~')
      child += "~0";
    else if (c == '/')
      child += "~1";
    else
      child += c;
  }
  return child;
}

template <typename T> static const T *as(const Node *node) {
  return node ? std::get_if<T>(&node->content) : nullptr;
}

bool Value::isNull() const {
  bool isNull = as<std::nullptr_t>(node);
  if (isNull)
    markRead();
  return isNull;
}
bool Value::isBoolean() const { return as<bool>(node); }
bool Value::isNumber() const { return as<int64_t>(node) || as<Real>(node); }
bool Value::isInteger() const { return as<int64_t>(node); }
bool Value::isString() const { return as<std::string>(node); }
bool Value::isArray() const { return as<Array>(node); }
bool Value::isObject() const { return as<Object>(node); }

void Value::markRead() const {
  if (state->reads && node)
    state->reads->insert(node);
}

static bool containsRead(const std::unordered_set<const Node *> &reads,
                         const Node &node) {
  if (reads.count(&node))
    return true;
  if (const Object *object = as<Object>(&node))
    return std::any_of(object->begin(), object->end(), [&](const Member &m) {
      return containsRead(reads, m.value);
    });
  if (const Array *array = as<Array>(&node))
    return std::any_of(array->begin(), array->end(), [&](const Node &element) {
      return containsRead(reads, element);
    });
  return false;
}

bool Value::wasRead() const {
  return state->reads && node && containsRead(*state->reads, *node);
}

void Value::fail(const std::string &message) const {
  if (state->firstError)
    return;
  std::string place = path.empty() ? "" : " " + path + ":";
  state->firstError = Error{state->name + ":" + place + " " + message};
}

void Value::failBelow(const std::string &message) const {
  size_t end = message.empty() || message[0] != '/' ? 0 : message.find(": ");
  if (end == 0 || end == std::string::npos)
    return fail(message);
  Value(state, node, path + message.substr(0, end))
      .fail(message.substr(end + 2));
}

std::string Value::found() const { return describe(*node); }

void Value::failExpected(std::string_view wanted) const {
  if (!present())
    return fail("missing, expected " + std::string(wanted));
  fail("expected " + std::string(wanted) + ", found " + describe(*node));
}

Value Value::nullAsAbsent() const {
  return Value(state, isNull() ? nullptr : node, path);
}

Value Value::operator[](std::string_view key) const {
  const Node *found = nullptr;
  if (const Object *object = as<Object>(node)) {
    for (const Member &member : *object)
      if (member.key == key)
        found = &member.value;
  } else if (present()) {
    failExpected("an object");
  }
  return Value(state, found, childPath(path, key));
}

std::vector<std::pair<std::string, Value>> Value::members() const {
  std::vector<std::pair<std::string, Value>> result;
  const Object *object = as<Object>(node);
  if (!object) {
    failExpected("an object");
    return result;
  }
  for (const Member &member : *object)
    result.emplace_back(
        member.key, Value(state, &member.value, childPath(path, member.key)));
  return result;
}

std::vector<Value> Value::elements() const {
  std::vector<Value> result;
  const Array *array = as<Array>(node);
  if (!array) {
    failExpected("an array");
    return result;
  }
  markRead();
  for (const Node &element : *array)
    result.push_back(
        Value(state, &element, childPath(path, std::to_string(result.size()))));
  return result;
}

/// "an integer from 0 to 7" and its kin.
static std::string integerIn(int64_t least, int64_t most) {
  using Limits = std::numeric_limits<int64_t>;
  if (most != Limits::max())
    return "an integer from " + std::to_string(least) + " to " +
           std::to_string(most);
  if (least == 1)
    return "a positive integer";
  if (least != Limits::min())
    return "an integer of at least " + std::to_string(least);
  return "an integer";
}

int64_t Value::integer(std::optional<int64_t> otherwise, int64_t least,
                       int64_t most) const {
  if (!present() && otherwise)
    return *otherwise;
  markRead();
  const int64_t *number = as<int64_t>(node);
  if (number && least <= *number && *number <= most)
    return *number;
  failExpected(integerIn(least, most));
  return otherwise.value_or(0);
}

int64_t Value::positiveInteger(std::optional<int64_t> otherwise) const {
  return integer(otherwise, /*least=*/1);
}

/// The number at `node`, if there is one. The parser lets only finite ones
/// pass.
static std::optional<double> numberAt(const Node *node) {
  if (const int64_t *number = as<int64_t>(node))
    return double(*number);
  if (const Real *number = as<Real>(node))
    return number->value;
  return std::nullopt;
}

double Value::number(std::optional<double> otherwise) const {
  return numberWhere([](double) { return true; }, "a number", otherwise);
}

double Value::positiveNumber(std::optional<double> otherwise) const {
  return numberWhere([](double x) { return x > 0; }, "a positive number",
                     otherwise);
}

double Value::nonNegativeNumber(std::optional<double> otherwise) const {
  return numberWhere([](double x) { return x >= 0; }, "a number of at least 0",
                     otherwise);
}

double Value::fraction(std::optional<double> otherwise) const {
  return numberWhere([](double x) { return 0 < x && x <= 1; },
                     "a number above 0 and of at most 1", otherwise);
}

double Value::numberWhere(bool (*holds)(double), std::string_view wanted,
                          std::optional<double> otherwise) const {
  if (!present() && otherwise)
    return *otherwise;
  markRead();
  std::optional<double> found = numberAt(node);
  if (found && holds(*found))
    return *found;
  failExpected(wanted);
  return otherwise.value_or(0);
}

bool Value::boolean(std::optional<bool> otherwise) const {
  if (!present() && otherwise)
    return *otherwise;
  markRead();
  if (const bool *truth = as<bool>(node))
    return *truth;
  failExpected("true or false");
  return otherwise.value_or(false);
}

std::string Value::string(std::optional<std::string> otherwise) const {
  if (!present() && otherwise)
    return *otherwise;
  markRead();
  if (const std::string *text = as<std::string>(node))
    return *text;
  failExpected("a string");
  return otherwise.value_or("");
}

size_t Value::choiceIndex(const std::vector<std::string_view> &names) const {
  markRead();
  const std::string *text = as<std::string>(node);
  if (!text) {
    std::string wanted;
    for (std::string_view name : names)
      wanted += (wanted.empty() ? "one of " : ", ") + quotedText(name);
    failExpected(wanted);
    return 0;
  }
  auto found = std::find(names.begin(), names.end(), *text);
  if (found != names.end())
    return found - names.begin();
  fail("unknown value " + describe(*node) + "; " +
       listKnown(*text, {names.begin(), names.end()}));
  return 0;
}

void Value::refuseOtherKeys(
    std::initializer_list<std::string_view> known) const {
  const Object *object = as<Object>(node);
  if (!object)
    return;
  for (const Member &member : *object) {
    if (std::find(known.begin(), known.end(), member.key) != known.end())
      continue;
    Value(state, &member.value, childPath(path, member.key))
        .fail("unknown key; " +
              listKnown(member.key, {known.begin(), known.end()}));
    return;
  }
}
