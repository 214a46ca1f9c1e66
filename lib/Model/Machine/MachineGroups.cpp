//===- MachineGroups.cpp - Clusters of unlike devices ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Machine/MachineGroups.h"

#include "shardopt/Model/Degrees.h"
#include "shardopt/Model/Machine/Machine.h"
#include "shardopt/Support/Json.h"

using namespace shardopt;

ErrorOr<std::vector<MachineGroup>>
shardopt::loadMachineGroups(const std::string &nameOrFile) {
  std::vector<MachineGroup> groups;
  if (!isMachineFile(nameOrFile))
    return groups;
  ErrorOr<json::Document> document = json::Document::parseFile(nameOrFile);
  if (!document)
    return document.error();
  json::Value root = document->root();
  if (!root.isObject() || !root["groups"])
    return groups;
  root.refuseOtherKeys({"name", "source", "groups"});
  for (const json::Value &entry : root["groups"].elements()) {
    entry.refuseOtherKeys({"machine", "devices"});
    groups.push_back({entry["machine"].string(),
                      entry["devices"].integer(std::nullopt, 1, maxDegree)});
  }
  if (groups.empty())
    root["groups"].failExpected("at least one group");
  if (document->failed())
    return document->error();
  return groups;
}
