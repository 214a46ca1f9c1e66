//===- ConfigClasses.cpp - What classes of configs read -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigClasses.h"

#include <cassert>
#include <map>
#include <sstream>

using namespace shardopt;
using namespace shardopt::hf;

namespace {

struct Row {
  std::string_view architecture;
  const char *keys; ///< with white space between them
  const char *defaults;
};

} // namespace

static constexpr Row rows[] = {
#include "ConfigClasses.inc"
};

using Classes = std::map<std::string_view, ConfigClass>;

static Classes parseRows() {
  Classes classes;
  for (const Row &row : rows) {
    std::string name(row.architecture);
    ErrorOr<json::Document> defaults =
        json::Document::parse(row.defaults, "the defaults of " + name);
    assert(defaults && "the table has an object that is no JSON");
    std::unordered_set<std::string> keys;
    std::istringstream words(row.keys);
    for (std::string key; words >> key;)
      keys.insert(key);
    classes.emplace(row.architecture,
                    ConfigClass{std::move(keys), std::move(*defaults)});
  }
  return classes;
}

const ConfigClass *
shardopt::hf::findConfigClass(std::string_view architecture) {
  static const Classes classes = parseRows();
  auto found = classes.find(architecture);
  return found == classes.end() ? nullptr : &found->second;
}

json::Value ConfigRoot::operator[](std::string_view key) const {
  json::Value value = given[key];
  if (!kind)
    return value;
  bool isRead = kind->keys.count(std::string(key));
  return (isRead ? value : value.asAbsent()).orElse(kind->defaults.root()[key]);
}
