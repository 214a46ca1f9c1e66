//===- SafeTensors.h - Checkpoints ------------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The safetensors format: the length of a header as a 64-bit number, the header
// (JSON: name -> dtype, shape, data_offsets), the data. A file is mapped, so
// that only what is looked at is read.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_TENSORS_SAFETENSORS_H
#define SHARDOPT_EXECUTION_TENSORS_SAFETENSORS_H

#include "shardopt/Execution/Tensors/Tensor.h"
#include "shardopt/Support/Error.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shardopt::tensors {

/// Element types of checkpoints that can be read.
enum class StoredType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3,
  F8E5M2,
  I64,
  I32,
  U8
};

/// Bytes of an element.
int64_t bytesOf(StoredType type);

/// One tensor of a checkpoint, where it lies.
struct StoredTensor {
  StoredType type;
  Shape shape;
  const std::byte *data; ///< little endian, not aligned

  /// Element `index` in row-major order.
  double at(int64_t index) const;
};

/// The tensors of one file, or of the files of a folder or an index
/// (`*.safetensors.index.json`).
class SafeTensors {
public:
  /// Errors name the file and what is wrong with it.
  static ErrorOr<SafeTensors> open(const std::string &path);

  /// Null where there is none of that name.
  const StoredTensor *find(const std::string &name) const;
  /// As a tensor on the host; an error names what is missing.
  ErrorOr<Tensor> read(const std::string &name) const;
  /// Names in alphabetical order.
  std::vector<std::string> names() const;

private:
  std::optional<Error> openFile(const std::string &path);

  std::map<std::string, StoredTensor> tensors;
  std::vector<std::shared_ptr<void>> mappings;
};

/// Writes tensors as F32 and I32. The file appears whole or not at all.
std::optional<Error>
writeSafeTensors(const std::string &path,
                 const std::map<std::string, Tensor> &tensors);

} // namespace shardopt::tensors

#endif // SHARDOPT_EXECUTION_TENSORS_SAFETENSORS_H
