//===- MpiWorldTest.cpp - What is said where no mpirun helps --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Runtime/MpiWorld.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace shardopt;
using namespace shardopt::runtime;

namespace {

/// The variables of both mpiruns, unset for a test.
class MpiWorldOpen : public testing::Test {
protected:
  void SetUp() override { unset(); }
  void TearDown() override { unset(); }

  static void unset() {
    unsetenv("OMPI_COMM_WORLD_SIZE");
    unsetenv("PMI_SIZE");
  }

  static std::string errorOf(MpiKind kind) {
    ErrorOr<std::unique_ptr<MpiWorld>> world = MpiWorld::open(kind);
    return world ? "" : world.error().message;
  }
};

TEST_F(MpiWorldOpen, WithoutAnMpirunNobodyKnowsWhichMpi) {
  EXPECT_EQ(errorOf(MpiKind::Automatic),
            "this process was not started by an mpirun: neither "
            "OMPI_COMM_WORLD_SIZE nor PMI_SIZE is set");
}

TEST_F(MpiWorldOpen, AnotherMpirunIsRefused) {
  setenv("OMPI_COMM_WORLD_SIZE", "8", 1);
  EXPECT_EQ(errorOf(MpiKind::Mpich),
            "this process was started by the mpirun of openmpi, expected that "
            "of mpich");
  unset();
  setenv("PMI_SIZE", "8", 1);
  EXPECT_EQ(errorOf(MpiKind::OpenMpi),
            "this process was started by the mpirun of mpich, expected that of "
            "openmpi");
}

TEST(ParseMpiKind, KnowsTwoAndTheEnvironments) {
  EXPECT_EQ(*parseMpiKind("auto"), MpiKind::Automatic);
  EXPECT_EQ(*parseMpiKind("openmpi"), MpiKind::OpenMpi);
  EXPECT_EQ(*parseMpiKind("mpich"), MpiKind::Mpich);
  EXPECT_NE(parseMpiKind("intel").error().message.find("unknown MPI 'intel'"),
            std::string::npos);
}

} // namespace
