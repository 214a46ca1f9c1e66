//===- Npy.cpp - Files of NumPy arrays ------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Tensors/Npy.h"

#include "shardopt/Support/Files.h"
#include "shardopt/Support/OutputFile.h"

#include <charconv>
#include <cstring>

using namespace shardopt;
using namespace shardopt::tensors;

static constexpr std::string_view magic = "\x93NUMPY";
static constexpr size_t prefixBytes = 10; ///< magic, version, header length

/// The text after "'key':" in a header, which is a Python dictionary.
static std::string_view findValue(std::string_view header,
                                  std::string_view key) {
  std::string quoted = "'" + std::string(key) + "':";
  size_t at = header.find(quoted);
  if (at == std::string_view::npos)
    return {};
  std::string_view rest = header.substr(at + quoted.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

/// The sizes of "(2, 3)", or nothing.
static std::optional<Shape> parseShape(std::string_view text) {
  if (text.empty() || text.front() != '(')
    return std::nullopt;
  Shape shape;
  for (text.remove_prefix(1); !text.empty() && text.front() != ')';) {
    if (text.front() == ' ' || text.front() == ',') {
      text.remove_prefix(1);
      continue;
    }
    int64_t size;
    auto [end, code] =
        std::from_chars(text.data(), text.data() + text.size(), size);
    if (code != std::errc() || size < 0)
      return std::nullopt;
    shape.push_back(size);
    text.remove_prefix(end - text.data());
  }
  return shape;
}

template <typename From, typename To>
static void convert(const char *bytes, Span<To> to) {
  for (size_t i = 0; i < to.size(); ++i) {
    From value;
    std::memcpy(&value, bytes + i * sizeof(From), sizeof(From));
    to[i] = To(value);
  }
}

ErrorOr<Tensor> tensors::readNpy(const std::string &path) {
  ErrorOr<std::string> content = readFile(path, uint64_t(1) << 34);
  if (!content)
    return content.error();
  std::string_view text = *content;
  auto fail = [&](const std::string &message) {
    return Error{path + ": " + message};
  };
  if (text.size() < prefixBytes || text.substr(0, magic.size()) != magic)
    return fail("not a .npy file");
  if (text[6] != 1)
    return fail("version " + std::to_string(int(text[6])) +
                " of the .npy format, expected 1");
  size_t headerBytes = uint8_t(text[8]) + 256 * size_t(uint8_t(text[9]));
  std::string_view header = text.substr(prefixBytes, headerBytes);
  std::string_view data =
      text.substr(std::min(text.size(), prefixBytes + headerBytes));

  std::optional<Shape> shape = parseShape(findValue(header, "shape"));
  if (!shape)
    return fail("its header has no shape");
  if (findValue(header, "fortran_order").substr(0, 4) == "True")
    return fail("columns first, expected rows first (fortran_order False)");
  std::string_view type = findValue(header, "descr").substr(0, 5);
  bool isFloat = type == "'<f4'" || type == "'<f8'";
  bool isWide = type == "'<f8'" || type == "'<i8'";
  if (!isFloat && type != "'<i4'" && type != "'<i8'")
    return fail("elements of type " + std::string(type) +
                ", expected one of <f4, <f8, <i4, <i8");
  int64_t wanted = isWide ? 8 : 4;
  for (int64_t size : *shape)
    if (__builtin_mul_overflow(wanted, size, &wanted))
      return fail("the shape " + toString(*shape) + " for " +
                  std::to_string(data.size()) + " bytes of data");
  if (int64_t(data.size()) != wanted)
    return fail(std::to_string(data.size()) + " bytes of data, expected " +
                std::to_string(wanted));

  Tensor tensor(isFloat ? Element::F32 : Element::I32, *shape);
  if (isFloat && isWide)
    convert<double>(data.data(), tensor.floats());
  else if (isFloat)
    convert<float>(data.data(), tensor.floats());
  else if (isWide)
    convert<int64_t>(data.data(), tensor.ints());
  else
    convert<int32_t>(data.data(), tensor.ints());
  return tensor;
}

std::optional<Error> tensors::writeNpy(const std::string &path,
                                       const Tensor &tensor) {
  std::string header = "{'descr': '";
  header += tensor.element() == Element::F32 ? "<f4" : "<i4";
  header += "', 'fortran_order': False, 'shape': (";
  for (int64_t size : tensor.shape())
    header += std::to_string(size) + ",";
  header += "), }";
  // The data begins at a multiple of 64 bytes.
  header.append(63 - (prefixBytes + header.size()) % 64, ' ');
  header += '\n';

  ErrorOr<OutputFile> file = OutputFile::open(path);
  if (!file)
    return file.error();
  std::string prefix(magic);
  prefix +=
      {'\x01', '\x00', char(header.size() % 256), char(header.size() / 256)};
  file->write(prefix);
  file->write(header);
  file->write(tensor.text());
  return file->keep();
}
