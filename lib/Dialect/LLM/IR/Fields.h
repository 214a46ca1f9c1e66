//===- Fields.h - Fields of dictionaries, checked ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_DIALECT_LLM_IR_FIELDS_H
#define SHARDOPT_LIB_DIALECT_LLM_IR_FIELDS_H

#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"

namespace shardopt::llm {

/// Reads fields of a dictionary attribute, which is called `what` in errors.
/// The first field that is wrong is reported; from then on nothing is read, and
/// `finish` fails:
///
///   Fields fields(attribute, "'shardopt.stage'", emitError);
///   stage.count = fields.integer("count", 1, maxDegree);
///   return fields.finish(stage);
class Fields {
public:
  Fields(mlir::Attribute attribute, llvm::StringRef what,
         lowered::EmitError emitError)
      : what(what), emitError(emitError),
        dictionary(llvm::dyn_cast_or_null<mlir::DictionaryAttr>(attribute)) {
    if (!dictionary)
      fail() << what << " must be a dictionary, found " << attribute;
  }

  /// Whether there is such a field. All other members want it to be there,
  /// those with `otherwise` but for.
  bool has(llvm::StringRef name) const {
    return !failed && dictionary.get(name);
  }

  /// A 64-bit integer in [`least`, `most`].
  int64_t integer(llvm::StringRef name, int64_t least, int64_t most);
  int64_t integer(llvm::StringRef name, int64_t least, int64_t most,
                  int64_t otherwise) {
    return has(name) ? integer(name, least, most) : otherwise;
  }
  /// A finite number that is not negative.
  double number(llvm::StringRef name);
  bool boolean(llvm::StringRef name);
  /// Whether a unit attribute is there.
  bool flag(llvm::StringRef name);
  /// A string that is not empty.
  std::string text(llvm::StringRef name, llvm::StringRef wanted);
  std::string text(llvm::StringRef name, llvm::StringRef wanted,
                   llvm::StringRef otherwise) {
    return has(name) ? text(name, wanted) : otherwise.str();
  }
  /// The position of a string in `known`.
  size_t choice(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known);
  /// An array of 64-bit integers.
  std::vector<int64_t> integers(llvm::StringRef name);
  /// An attribute of class `Attr`, called `wanted` in errors.
  template <typename Attr>
  Attr get(llvm::StringRef name, llvm::StringRef wanted) {
    mlir::Attribute found = lookup(name);
    auto attribute = llvm::dyn_cast_or_null<Attr>(found);
    if (!attribute)
      failField(name, wanted, found);
    return attribute;
  }

  /// Reports that field `name` should be `wanted`.
  void failField(llvm::StringRef name, const llvm::Twine &wanted,
                 mlir::Attribute found);
  /// Begins the error, where there was none before.
  mlir::InFlightDiagnostic fail() {
    failed = true;
    return emitError();
  }

  bool hasFailed() const { return failed; }
  template <typename T> mlir::FailureOr<T> finish(T value) const {
    if (failed)
      return mlir::failure();
    return value;
  }

private:
  mlir::Attribute lookup(llvm::StringRef name) const {
    return failed ? mlir::Attribute() : dictionary.get(name);
  }

  std::string what;
  lowered::EmitError emitError;
  mlir::DictionaryAttr dictionary;
  bool failed = false;
};

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_IR_FIELDS_H
