//===- Constants.cpp - Named constants of a solver ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Constants.h"
#include "shardopt/Support/Suggest.h"

#include <array>
#include <cassert>
#include <charconv>

namespace shardopt {

//===----------------------------------------------------------------------===//
// Numbers as text
//===----------------------------------------------------------------------===//

/// The fewest digits that give the same number back.
template <typename T> static std::string spell(T number) {
  std::array<char, 32> text;
  auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), number);
  assert(error == std::errc() && "a number longer than 32 characters");
  return {text.data(), end};
}

static std::string spell(bool truth) { return truth ? "true" : "false"; }

/// The whole of `text` as a number within [least, most].
template <typename T>
static std::optional<T> readNumber(std::string_view text, T least, T most) {
  T number{};
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  bool isRead = error == std::errc() && end == text.data() + text.size();
  // Not a number is in no range.
  if (!isRead || !(number >= least && number <= most))
    return std::nullopt;
  return number;
}

//===----------------------------------------------------------------------===//
// One constant
//===----------------------------------------------------------------------===//

std::optional<ConstantTable::Number>
ConstantTable::Constant::read(std::string_view text) const {
  if (std::holds_alternative<bool *>(place)) {
    if (text == "true" || text == "false")
      return text == "true";
    return std::nullopt;
  }
  if (std::holds_alternative<int64_t *>(place))
    return readNumber(text, std::get<int64_t>(least), std::get<int64_t>(most));
  return readNumber(text, std::get<double>(least), std::get<double>(most));
}

std::string ConstantTable::Constant::wanted() const {
  if (std::holds_alternative<bool *>(place))
    return "true or false";
  auto spelled = [](const Number &number) {
    return std::visit([](auto value) { return spell(value); }, number);
  };
  bool isInteger = std::holds_alternative<int64_t *>(place);
  return std::string(isInteger ? "an integer" : "a number") + " from " +
         spelled(least) + " to " + spelled(most);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

void ConstantTable::real(std::string name, double &value, double least,
                         double most, std::string sentence) {
  assert(value >= least && value <= most && "default out of range");
  constants.push_back(
      {std::move(name), &value, least, most, std::move(sentence)});
}

void ConstantTable::integer(std::string name, int64_t &value, int64_t least,
                            int64_t most, std::string sentence) {
  assert(value >= least && value <= most && "default out of range");
  constants.push_back(
      {std::move(name), &value, least, most, std::move(sentence)});
}

void ConstantTable::flag(std::string name, bool &value, std::string sentence) {
  constants.push_back(
      {std::move(name), &value, false, true, std::move(sentence)});
}

Error ConstantTable::fail(const std::string &problem) const {
  return {subject + ": " + problem};
}

const ConstantTable::Constant *
ConstantTable::find(std::string_view name) const {
  for (const Constant &constant : constants)
    if (constant.name == name)
      return &constant;
  return nullptr;
}

std::vector<std::string> ConstantTable::names() const {
  std::vector<std::string> names;
  for (const Constant &constant : constants)
    names.push_back(constant.name);
  return names;
}

std::optional<Error> ConstantTable::set(std::string_view text) {
  if (text.empty())
    return std::nullopt;
  std::vector<std::pair<const Constant *, Number>> changes;
  for (std::string_view item : splitAtCommas(text)) {
    size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      return fail("expected name=value,name=value, found '" + abbreviate(item) +
                  "'");
    std::string_view name = item.substr(0, equals);
    std::string_view value = item.substr(equals + 1);
    const Constant *constant = find(name);
    if (!constant)
      return fail("no constant '" + abbreviate(name) + "'; " +
                  listKnown(name, names()));
    for (const auto &[changed, to] : changes)
      if (changed == constant)
        return fail("'" + constant->name + "' is given twice");
    std::optional<Number> number = constant->read(value);
    if (!number)
      return fail("'" + constant->name + "' is '" + abbreviate(value) +
                  "', expected " + constant->wanted());
    changes.emplace_back(constant, *number);
  }
  for (const auto &[constant, number] : changes)
    std::visit(
        [&value = number](auto *place) {
          *place = std::get<std::remove_reference_t<decltype(*place)>>(value);
        },
        constant->place);
  return std::nullopt;
}

std::string ConstantTable::markdown() const {
  std::string text =
      "| constant | default | range | what |\n|---|---|---|---|\n";
  for (const Constant &constant : constants) {
    std::string value = std::visit(
        [](const auto *place) { return spell(*place); }, constant.place);
    text += "| `" + constant.name + "` | " + value + " | " + constant.wanted() +
            " | " + constant.sentence + " |\n";
  }
  return text;
}

} // namespace shardopt
