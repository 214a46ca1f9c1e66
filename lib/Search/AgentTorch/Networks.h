//===- Networks.h - The networks of this module -----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_AGENTTORCH_NETWORKS_H
#define SHARDOPT_LIB_SEARCH_AGENTTORCH_NETWORKS_H

#include "shardopt/Search/Agent/Network.h"

namespace shardopt::agent {

Failure makeHistoryNetwork(const HistoryShape &shape, Precision precision,
                           HistoryNetwork *&network);
Failure makeEditNetwork(const EditShape &shape, Precision precision,
                        EditNetwork *&network);

} // namespace shardopt::agent

#endif // SHARDOPT_LIB_SEARCH_AGENTTORCH_NETWORKS_H
