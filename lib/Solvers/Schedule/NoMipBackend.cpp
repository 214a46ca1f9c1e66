//===- NoMipBackend.cpp - A build without CBC -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Backends.h"

using namespace shardopt;
using namespace shardopt::schedule;

std::unique_ptr<Backend> schedule::makeMipBackend() { return nullptr; }
