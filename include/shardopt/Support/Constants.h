//===- Constants.h - Named constants of a solver ----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The constants of a solver are the members of a struct, which a table names,
// bounds and explains:
//
//   struct SurrogateConstants {
//     int64_t elites = 10;
//     double entropy = 0.1;
//
//     ConstantTable table() {
//       ConstantTable table("'agent-options' of searcher 'surrogate'");
//       table.integer("elites", elites, 1, 1000, "Strategies in the archive.");
//       table.real("entropy", entropy, 0, 1, "Weight of the entropy bonus.");
//       return table;
//     }
//   };
//
//   SurrogateConstants constants;
//   if (auto error = constants.table().set(context.options.constants))
//     return *error;
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_CONSTANTS_H
#define SHARDOPT_SUPPORT_CONSTANTS_H

#include "shardopt/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace shardopt {

/// The constants of one solver: the name of each, where its value is, its range
/// and one sentence on what it does. The values must outlive the table.
class ConstantTable {
public:
  /// `subject` begins every error: what gives the constants their values.
  explicit ConstantTable(std::string subject) : subject(std::move(subject)) {}

  /// Adds a constant, whose value is the default and within [least, most].
  void real(std::string name, double &value, double least, double most,
            std::string sentence);
  void integer(std::string name, int64_t &value, int64_t least, int64_t most,
               std::string sentence);
  /// Adds a constant that is true or false.
  void flag(std::string name, bool &value, std::string sentence);

  /// Sets what `text` says, "name=value,name=value"; of an empty text nothing.
  /// An unknown name (answered with the known ones, closest first), a name
  /// given twice and a value of another kind or out of range are errors, after
  /// which no value has changed.
  std::optional<Error> set(std::string_view text);

  /// A table in Markdown, a row a constant: name, value, range, sentence.
  std::string markdown() const;

private:
  /// Where a value is, or one that was read.
  using Place = std::variant<double *, int64_t *, bool *>;
  using Number = std::variant<double, int64_t, bool>;

  struct Constant {
    std::string name;
    Place place;
    Number least, most; ///< of the kind of `place`
    std::string sentence;

    /// The value that `text` spells; none if it has another kind or range.
    std::optional<Number> read(std::string_view text) const;
    /// "a number from 0 to 1", "an integer from 1 to 9", "true or false".
    std::string wanted() const;
  };

  /// The error "`subject`: `problem`".
  Error fail(const std::string &problem) const;
  const Constant *find(std::string_view name) const;
  std::vector<std::string> names() const;

  std::string subject;
  std::vector<Constant> constants;
};

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_CONSTANTS_H
