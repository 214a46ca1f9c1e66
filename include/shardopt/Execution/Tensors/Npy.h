//===- Npy.h - Files of NumPy arrays ----------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The .npy format, version 1.0 (numpy.lib.format): little endian, row-major.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_TENSORS_NPY_H
#define SHARDOPT_EXECUTION_TENSORS_NPY_H

#include "shardopt/Execution/Tensors/Tensor.h"
#include "shardopt/Support/Error.h"

#include <optional>
#include <string>

namespace shardopt::tensors {

/// Reads an array of <f4, <f8, <i4 or <i8; the wide ones are narrowed. Errors
/// name the file, what was found and what is read.
ErrorOr<Tensor> readNpy(const std::string &path);

/// Writes an array of <f4 or <i4. The file appears whole or not at all.
std::optional<Error> writeNpy(const std::string &path, const Tensor &tensor);

} // namespace shardopt::tensors

#endif // SHARDOPT_EXECUTION_TENSORS_NPY_H
