//===- FilesTest.cpp - Tests of files of tensors --------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Tensors/Npy.h"
#include "shardopt/Execution/Tensors/SafeTensors.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace shardopt;
using namespace shardopt::tensors;

namespace {

/// A folder of its own, removed at the end.
class Files : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() /
             ("shardopt-tensors-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string &name) const {
    return (folder / name).string();
  }
  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  /// A safetensors file with this header and data.
  std::string writeHeader(const std::string &header,
                          const std::string &data) const {
    uint64_t length = header.size();
    std::string bytes(reinterpret_cast<const char *>(&length), sizeof(length));
    return write("x.safetensors", bytes + header + data);
  }

  std::filesystem::path folder;
};

} // namespace

TEST_F(Files, NpyKeepsShapesAndElements) {
  for (Shape shape :
       {Shape{}, Shape{0}, Shape{3}, Shape{2, 0, 4}, Shape{2, 3}}) {
    Tensor tensor(Element::F32, shape);
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.floats()[i] = float(i) - 0.5f;
    ASSERT_FALSE(writeNpy(path("x.npy"), tensor));
    ErrorOr<Tensor> again = readNpy(path("x.npy"));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->shape(), shape);
    EXPECT_EQ(again->text(), tensor.text());
  }
}

TEST_F(Files, NpyOfTheWrongKindIsRefused) {
  auto message = [&](const std::string &bytes) {
    ErrorOr<Tensor> tensor = readNpy(write("x.npy", bytes));
    return tensor ? std::string("no error") : tensor.error().message;
  };
  EXPECT_NE(message("hello").find("not a .npy file"), std::string::npos);
  std::string start("\x93NUMPY\x01\x00\x40\x00", 10);
  auto header = [&](std::string text) {
    text.resize(64, ' ');
    return start + text;
  };
  EXPECT_NE(message(header("{'descr': '<c8', 'shape': (1,)}")).find("<c8"),
            std::string::npos);
  EXPECT_NE(message(header("{'descr': '<f4', 'fortran_order': True, 'shape': "
                           "(1,)}"))
                .find("rows first"),
            std::string::npos);
  EXPECT_NE(message(header("{'descr': '<f4', 'shape': (2,)}") + "1234")
                .find("4 bytes of data, expected 8"),
            std::string::npos);
  EXPECT_NE(
      message(header("{'descr': '<f4', 'shape': (4611686018427387904,4)}"))
          .find("bytes of data"),
      std::string::npos);
}

TEST_F(Files, SafeTensorsComeBack) {
  Tensor floats(Element::F32, {2, 2}), ints(Element::I32, {3});
  floats.floats()[3] = 2.5f;
  ints.ints()[1] = -7;
  ASSERT_FALSE(
      writeSafeTensors(path("x.safetensors"), {{"a", floats}, {"b.c", ints}}));
  ErrorOr<SafeTensors> file = SafeTensors::open(path("x.safetensors"));
  ASSERT_TRUE(file) << file.error().message;
  ErrorOr<Tensor> a = file->read("a"), b = file->read("b.c");
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->floats()[3], 2.5f);
  EXPECT_EQ(b->ints()[1], -7);
  EXPECT_EQ(file->find("d"), nullptr);
}

TEST_F(Files, NarrowTypesAreWidened) {
  std::string data("\x80\x3f\x00\x3c\x38\xfe\x00\x00", 8);
  std::string file =
      writeHeader(R"({"b":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]},)"
                  R"("h":{"dtype":"F16","shape":[1],"data_offsets":[2,4]},)"
                  R"("f":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[4,6]},)"
                  R"("u":{"dtype":"U8","shape":[2],"data_offsets":[6,8]}})",
                  data);
  ErrorOr<SafeTensors> tensors = SafeTensors::open(file);
  ASSERT_TRUE(tensors) << tensors.error().message;
  EXPECT_EQ(tensors->find("b")->at(0), 1.0);
  EXPECT_EQ(tensors->find("h")->at(0), 1.0);
  EXPECT_EQ(tensors->find("f")->at(0), 1.0);
  EXPECT_EQ(tensors->find("f")->at(1), -448.0);
}

TEST_F(Files, SafeTensorsThatLieAreRefused) {
  auto message = [&](const std::string &header, const std::string &data) {
    ErrorOr<SafeTensors> file = SafeTensors::open(writeHeader(header, data));
    return file ? std::string("no error") : file.error().message;
  };
  EXPECT_NE(message(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",
                    "1234")
                .find("has 4 bytes, its shape wants 8"),
            std::string::npos);
  EXPECT_NE(message(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,9]}})",
                    "1234")
                .find("/a/data_offsets/1"),
            std::string::npos);
  EXPECT_NE(
      message(R"({"a":{"dtype":"X9","shape":[],"data_offsets":[0,4]}})", "1234")
          .find("/a/dtype"),
      std::string::npos);
  EXPECT_NE(SafeTensors::open(write("y.safetensors", "1234567"))
                .error()
                .message.find("not a safetensors file"),
            std::string::npos);
}
