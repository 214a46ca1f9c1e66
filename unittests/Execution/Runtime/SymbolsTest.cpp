//===- SymbolsTest.cpp - Calls as compiled code makes them ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeTest.h"

#include "shardopt/Execution/Runtime/Symbols.h"
#include "shardopt/Execution/Runtime/ThreadWorld.h"

#include "gtest/gtest.h"

#include <map>

using namespace shardopt;
using namespace shardopt::runtime;

namespace {

/// MLIR's descriptor of a memref<?x?xf32>.
struct Matrix {
  float *allocated;
  float *aligned;
  int64_t offset;
  int64_t sizes[2];
  int64_t strides[2];
};

template <typename Function> Function *find(const std::string &name) {
  static const std::vector<std::pair<std::string, void *>> all = symbols();
  for (const auto &[known, address] : all)
    if (known == "_mlir_ciface_shardopt_" + name)
      return reinterpret_cast<Function *>(address);
  return nullptr;
}

using Gather = void(Matrix *, const Matrix *, int64_t, int64_t, int64_t);
using Keep = void(const Matrix *, int64_t);

TEST(Symbols, OneForEachCollectiveTypeAndRank) {
  std::map<std::string, void *> byName;
  for (const auto &[name, address] : symbols())
    EXPECT_TRUE(byName.emplace(name, address).second) << name;
  EXPECT_EQ(byName.size(), size_t(9 * 4 * 2 + 2 + 1));
  for (const char *name :
       {"all_reduce_sum_f32_2", "all_reduce_max_i32_1", "all_gather_i32_3",
        "reduce_scatter_f32_4", "all_to_all_i32_3", "all_to_all_v_f32_2",
        "broadcast_f32_1", "send_f32_2", "recv_f32_2", "keep_f32_4",
        "process_index"})
    EXPECT_TRUE(byName.count(std::string("_mlir_ciface_shardopt_") + name))
        << name;
}

TEST(Symbols, ReadStridesAndAllocateResults) {
  ThreadWorld world({2});
  std::optional<Error> error = world.run([](Process &process) {
    // The two columns 1 and 3 of a 2x4 matrix, from an offset.
    float base = 10.0f * float(process.rank());
    float memory[] = {base,     base + 1, base + 2, base + 3,
                      base + 4, base + 5, base + 6, base + 7};
    Matrix input = {nullptr, memory, 1, {2, 2}, {4, 2}};
    Matrix result;
    find<Gather>("all_gather_f32_2")(&result, &input, 0, packAxes({0}), 0);
    EXPECT_EQ(result.sizes[0], 4);
    EXPECT_EQ(result.sizes[1], 2);
    EXPECT_EQ(result.strides[0], 2);
    std::vector<float> found(result.aligned, result.aligned + 8);
    EXPECT_EQ(found, (std::vector<float>{1, 3, 5, 7, 11, 13, 15, 17}));
    std::free(result.allocated);
    EXPECT_EQ(find<int64_t(int64_t)>("process_index")(0), process.rank());
  });
  EXPECT_FALSE(error) << error->message;
}

TEST(Symbols, KeepGivesAValueToTheSinkOfItsRank) {
  ThreadWorld world({2});
  std::vector<float> kept;
  world.process(1).setKeepSink([&](int64_t site, Tensor value) {
    EXPECT_EQ(site, 6);
    kept = values(value);
  });
  std::optional<Error> error = world.run([](Process &process) {
    float memory[] = {float(process.rank()), 5};
    Matrix input = {memory, memory, 0, {1, 2}, {2, 1}};
    find<Keep>("keep_f32_2")(&input, 6);
  });
  EXPECT_FALSE(error);
  EXPECT_EQ(kept, (std::vector<float>{1, 5}));
}

TEST(Symbols, AFailureLeavesCompiledCode) {
  ThreadWorld world({2});
  std::vector<int> returned(2);
  std::optional<Error> error = world.run([&](Process &process) {
    float memory[] = {1, 2};
    Matrix input = {memory, memory, 0, {1, 2}, {2, 1}};
    // What is skipped over must own nothing, so it is made outside.
    Gather *gather = find<Gather>("all_gather_f32_2");
    int64_t axes = packAxes({0});
    std::optional<Error> failure = process.protect([&] {
      Matrix result;
      gather(&result, &input, 0, axes, process.rank());
      returned[process.rank()] = 1;
    });
    EXPECT_TRUE(failure);
  });
  EXPECT_TRUE(error);
  EXPECT_EQ(returned, (std::vector<int>{0, 0}));
}

} // namespace
