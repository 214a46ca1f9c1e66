//===- ConfigClasses.h - What classes of configs read -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which keys the config class of a family reads in Transformers, and what holds
// where a file is silent. The table is made from these classes by
// utils/config_classes.py.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_TARGET_HUGGINGFACE_CONFIGCLASSES_H
#define SHARDOPT_LIB_TARGET_HUGGINGFACE_CONFIGCLASSES_H

#include "shardopt/Support/Json.h"

#include <string>
#include <string_view>
#include <unordered_set>

namespace shardopt::hf {

/// The config class of a family.
struct ConfigClass {
  std::unordered_set<std::string> keys; ///< that it reads
  json::Document defaults;              ///< an object
};

/// The class of the family `architecture`, or null where Transformers has none.
const ConfigClass *findConfigClass(std::string_view architecture);

/// The config of a language model, as the class of its family reads it.
class ConfigRoot {
public:
  /// Without a class, every key is read and there are no defaults.
  ConfigRoot(json::Value given, const ConfigClass *kind)
      : given(std::move(given)), kind(kind) {}

  /// What the class has for `key`: the file's value if the class reads the key,
  /// else the default of the class. Absent if there is neither.
  json::Value operator[](std::string_view key) const;

  /// What the file says, whether the class reads it or not: for names of older
  /// files, and for keys that may only repeat what the class does.
  const json::Value &file() const { return given; }

  void fail(const std::string &message) const { given.fail(message); }

private:
  json::Value given;
  const ConfigClass *kind;
};

} // namespace shardopt::hf

#endif // SHARDOPT_LIB_TARGET_HUGGINGFACE_CONFIGCLASSES_H
