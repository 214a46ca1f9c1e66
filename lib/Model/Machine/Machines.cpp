//===- Machines.cpp - Machines by name or file ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShippedMachines.h"
#include "shardopt/Model/Machine/MachinePrice.h"
#include "shardopt/Model/Machine/MachineReader.h"
#include "shardopt/Support/Files.h"
#include "shardopt/Support/Suggest.h"

using namespace shardopt;

/// A description of a machine takes about a thousand bytes.
static constexpr uint64_t maxFileBytes = 1 << 20;

bool shardopt::isMachineFile(const std::string &name) {
  std::string_view extension = ".json";
  bool endsInJson = name.size() >= extension.size() &&
                    name.compare(name.size() - extension.size(),
                                 extension.size(), extension) == 0;
  return endsInJson || name.find('/') != std::string::npos;
}

std::vector<std::string> shardopt::knownMachines() {
  std::vector<std::string> names;
  for (const ShippedMachine &machine : shippedMachines())
    names.push_back(machine.name);
  return names;
}

ErrorOr<Machine> shardopt::loadMachine(const std::string &nameOrFile) {
  if (isMachineFile(nameOrFile)) {
    ErrorOr<std::string> text = readFile(nameOrFile, maxFileBytes);
    if (!text)
      return text.error();
    return parseMachine(*text, nameOrFile);
  }
  for (const ShippedMachine &machine : shippedMachines())
    if (nameOrFile == machine.name)
      return parseMachine(machine.json, "machines/" + nameOrFile + ".json");
  return Error{"unknown machine '" + abbreviate(nameOrFile) +
               "' (a file is named by a path with '/' or ending in '.json'); " +
               listKnown(nameOrFile, knownMachines())};
}

ErrorOr<std::optional<double>>
shardopt::loadPrice(const std::string &nameOrFile) {
  for (const ShippedMachine &machine : shippedMachines())
    if (nameOrFile == machine.name)
      return parsePrice(machine.json, "machines/" + nameOrFile + ".json");
  std::error_code error;
  if (!std::filesystem::is_regular_file(nameOrFile, error))
    return std::optional<double>(); // not a file that is read again
  ErrorOr<std::string> text = readFile(nameOrFile, maxFileBytes);
  if (!text)
    return text.error();
  return parsePrice(*text, nameOrFile);
}

std::string shardopt::lastingName(const std::string &nameOrFile) {
  std::error_code error; // what is a pipe now, nobody reads again
  return isMachineFile(nameOrFile) &&
                 std::filesystem::is_regular_file(nameOrFile, error)
             ? canonicalPath(nameOrFile).string()
             : nameOrFile;
}
