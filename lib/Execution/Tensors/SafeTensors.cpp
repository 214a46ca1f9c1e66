//===- SafeTensors.cpp - Checkpoints --------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Tensors/SafeTensors.h"

#include "shardopt/Support/Json.h"
#include "shardopt/Support/OutputFile.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace shardopt;
using namespace shardopt::tensors;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

int64_t tensors::bytesOf(StoredType type) {
  switch (type) {
  case StoredType::F64:
  case StoredType::I64:
    return 8;
  case StoredType::F32:
  case StoredType::I32:
    return 4;
  case StoredType::F16:
  case StoredType::BF16:
    return 2;
  case StoredType::F8E4M3:
  case StoredType::F8E5M2:
  case StoredType::U8:
    return 1;
  }
  return 0;
}

/// The value of a small IEEE-like number: a sign, exponent bits, mantissa bits.
/// Without infinities (E4M3FN) only all ones in both fields is not a number.
static double decode(uint32_t bits, int exponentBits, int mantissaBits,
                     bool hasInfinities) {
  uint32_t mantissa = bits & ((1u << mantissaBits) - 1);
  int most = (1 << exponentBits) - 1, bias = most / 2;
  int exponent = int(bits >> mantissaBits) & most;
  double sign = bits >> (exponentBits + mantissaBits) ? -1 : 1;
  double scale = std::ldexp(1.0, -mantissaBits);
  if (exponent == most && hasInfinities)
    return mantissa ? NAN : sign * INFINITY;
  if (exponent == most && mantissa == (1u << mantissaBits) - 1)
    return NAN;
  if (exponent == 0)
    return sign * std::ldexp(mantissa * scale, 1 - bias);
  return sign * std::ldexp(1 + mantissa * scale, exponent - bias);
}

template <typename T> static T load(const std::byte *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

double StoredTensor::at(int64_t index) const {
  const std::byte *place = data + index * bytesOf(type);
  switch (type) {
  case StoredType::F64:
    return load<double>(place);
  case StoredType::F32:
    return load<float>(place);
  case StoredType::F16:
    return decode(load<uint16_t>(place), 5, 10, true);
  case StoredType::BF16:
    return decode(load<uint16_t>(place), 8, 7, true);
  case StoredType::F8E4M3:
    return decode(load<uint8_t>(place), 4, 3, false);
  case StoredType::F8E5M2:
    return decode(load<uint8_t>(place), 5, 2, true);
  case StoredType::I64:
    return double(load<int64_t>(place));
  case StoredType::I32:
    return load<int32_t>(place);
  case StoredType::U8:
    return load<uint8_t>(place);
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Maps a file; its size is left in `bytes`.
static ErrorOr<std::shared_ptr<void>> mapFile(const std::string &path,
                                              uint64_t &bytes) {
  auto fail = [&] { return Error{path + ": " + std::strerror(errno)}; };
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return fail();
  struct stat status;
  if (fstat(descriptor, &status) < 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    return Error{path + ": not a file"};
  }
  bytes = uint64_t(status.st_size);
  if (bytes == 0) {
    close(descriptor);
    return Error{path + ": empty, expected a safetensors file"};
  }
  void *address = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  if (address == MAP_FAILED)
    return fail();
  return std::shared_ptr<void>(
      address, [size = bytes](void *mapped) { munmap(mapped, size); });
}

std::optional<Error> SafeTensors::openFile(const std::string &path) {
  uint64_t bytes = 0;
  ErrorOr<std::shared_ptr<void>> mapping = mapFile(path, bytes);
  if (!mapping)
    return mapping.error();
  mappings.push_back(*mapping);
  const auto *base = static_cast<const std::byte *>(mapping->get());
  uint64_t headerBytes = bytes < 8 ? 0 : load<uint64_t>(base);
  if (bytes < 8 || headerBytes > bytes - 8)
    return Error{path + ": not a safetensors file: a header of " +
                 std::to_string(headerBytes) + " bytes in a file of " +
                 std::to_string(bytes)};
  ErrorOr<json::Document> header = json::Document::parse(
      {reinterpret_cast<const char *>(base) + 8, size_t(headerBytes)}, path);
  if (!header)
    return header.error();
  const std::byte *data = base + 8 + headerBytes;
  int64_t dataBytes = int64_t(bytes - 8 - headerBytes);
  for (auto &[name, entry] : header->root().members()) {
    if (name == "__metadata__")
      continue;
    StoredTensor tensor;
    tensor.type =
        entry["dtype"].choice<StoredType>({{"F64", StoredType::F64},
                                           {"F32", StoredType::F32},
                                           {"F16", StoredType::F16},
                                           {"BF16", StoredType::BF16},
                                           {"F8_E4M3", StoredType::F8E4M3},
                                           {"F8_E5M2", StoredType::F8E5M2},
                                           {"I64", StoredType::I64},
                                           {"I32", StoredType::I32},
                                           {"U8", StoredType::U8}});
    int64_t wanted = bytesOf(tensor.type);
    for (json::Value size : entry["shape"].elements()) {
      tensor.shape.push_back(size.integer({}, 0));
      if (__builtin_mul_overflow(wanted, tensor.shape.back(), &wanted))
        size.failExpected("a size that fits into the file");
    }
    std::vector<json::Value> offsets = entry["data_offsets"].elements();
    if (header->failed())
      return header->error();
    if (offsets.size() != 2)
      return Error{path + ": '" + name + "' has no data_offsets"};
    int64_t begin = offsets[0].integer({}, 0, dataBytes);
    int64_t end = offsets[1].integer({}, begin, dataBytes);
    if (header->failed())
      return header->error();
    if (end - begin != wanted)
      return Error{path + ": '" + name + "' has " +
                   std::to_string(end - begin) + " bytes, its shape wants " +
                   std::to_string(wanted)};
    tensor.data = data + begin;
    tensors[name] = std::move(tensor);
  }
  return header->failed() ? std::optional(header->error()) : std::nullopt;
}

/// The files that `path` stands for: itself, those of an index, or those of a
/// folder.
static ErrorOr<std::set<std::string>> listFiles(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code code;
  std::set<std::string> files;
  if (fs::is_directory(path, code)) {
    for (const fs::directory_entry &entry : fs::directory_iterator(path, code))
      if (entry.path().extension() == ".safetensors")
        files.insert(entry.path().string());
    if (files.empty())
      return Error{path + ": no .safetensors file in this folder"};
    return files;
  }
  if (fs::path(path).extension() != ".json")
    return std::set<std::string>{path};
  ErrorOr<json::Document> index = json::Document::parseFile(path);
  if (!index)
    return index.error();
  for (auto &[name, file] : index->root()["weight_map"].members())
    files.insert((fs::path(path).parent_path() / file.string()).string());
  if (index->failed())
    return index->error();
  return files;
}

ErrorOr<SafeTensors> SafeTensors::open(const std::string &path) {
  ErrorOr<std::set<std::string>> files = listFiles(path);
  if (!files)
    return files.error();
  SafeTensors result;
  for (const std::string &file : *files)
    if (std::optional<Error> error = result.openFile(file))
      return *error;
  return result;
}

const StoredTensor *SafeTensors::find(const std::string &name) const {
  auto entry = tensors.find(name);
  return entry == tensors.end() ? nullptr : &entry->second;
}

ErrorOr<Tensor> SafeTensors::read(const std::string &name) const {
  const StoredTensor *stored = find(name);
  if (!stored) {
    std::string known;
    for (const auto &[other, tensor] : tensors)
      known += (known.empty() ? "" : ", ") + other;
    return Error{"no tensor '" + name + "', there are: " + known};
  }
  bool isInteger =
      stored->type == StoredType::I64 || stored->type == StoredType::I32;
  Tensor tensor(isInteger ? Element::I32 : Element::F32, stored->shape);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    double value = stored->at(i);
    if (isInteger &&
        value != double(int32_t(std::clamp(value, -0x1p31, 0x1p31 - 1))))
      return Error{"'" + name + "' has the element " + std::to_string(value) +
                   ", expected integers of 32 bits"};
    if (isInteger)
      tensor.ints()[i] = int32_t(value);
    else
      tensor.floats()[i] = float(value);
  }
  return tensor;
}

std::vector<std::string> SafeTensors::names() const {
  std::vector<std::string> names;
  for (const auto &[name, tensor] : tensors)
    names.push_back(name);
  return names;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::optional<Error>
tensors::writeSafeTensors(const std::string &path,
                          const std::map<std::string, Tensor> &tensors) {
  std::string header;
  json::Writer writer(header);
  writer.beginObject();
  int64_t offset = 0;
  for (const auto &[name, tensor] : tensors) {
    writer.key(name).beginObject();
    writer.member("dtype", tensor.element() == Element::F32 ? "F32" : "I32");
    writer.key("shape").beginArray();
    for (int64_t size : tensor.shape())
      writer.value(size);
    writer.endArray().key("data_offsets").beginArray().value(offset);
    offset += tensor.size() * 4;
    writer.value(offset).endArray().endObject();
  }
  writer.endObject();
  header.append((8 - header.size() % 8) % 8, ' ');

  ErrorOr<OutputFile> file = OutputFile::open(path);
  if (!file)
    return file.error();
  uint64_t length = header.size();
  file->write({reinterpret_cast<const char *>(&length), sizeof(length)});
  file->write(header);
  for (const auto &[name, tensor] : tensors)
    file->write(tensor.text());
  return file->keep();
}
