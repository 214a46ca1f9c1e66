//===- ConstantsTest.cpp - Named constants of a searcher ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Constants.h"

#include "gtest/gtest.h"

using namespace shardopt;

namespace {

struct Toy {
  double rate = 0.003;
  int64_t elites = 10;
  bool niches = true;

  ConstantTable table() {
    ConstantTable table("'agent-options' of searcher 'toy'");
    table.real("rate", rate, 0, 1, "Step of the optimiser.");
    table.integer("elites", elites, 1, 1000, "Strategies that are kept.");
    table.flag("niches", niches, "Whether degrees are kept apart.");
    return table;
  }

  /// The message of the error that `text` gives, or "".
  std::string error(const std::string &text) {
    std::optional<Error> error = table().set(text);
    return error ? error->message : "";
  }
};

} // namespace

TEST(ConstantsTest, an_empty_text_changes_nothing) {
  Toy toy;
  EXPECT_EQ(toy.error(""), "");
  EXPECT_EQ(toy.rate, 0.003);
  EXPECT_EQ(toy.elites, 10);
  EXPECT_TRUE(toy.niches);
}

TEST(ConstantsTest, sets_values_of_every_kind) {
  Toy toy;
  EXPECT_EQ(toy.error("niches=false,rate=1e-2,elites=7"), "");
  EXPECT_EQ(toy.rate, 0.01);
  EXPECT_EQ(toy.elites, 7);
  EXPECT_FALSE(toy.niches);
}

TEST(ConstantsTest, an_unknown_name_lists_the_closest_first) {
  EXPECT_EQ(Toy().error("elits=3"),
            "'agent-options' of searcher 'toy': no constant 'elits'; known: "
            "elites, rate, niches; did you mean 'elites'?");
}

TEST(ConstantsTest, a_value_out_of_range_says_what_is_wanted) {
  EXPECT_EQ(Toy().error("rate=1.5"),
            "'agent-options' of searcher 'toy': 'rate' is '1.5', expected a "
            "number from 0 to 1");
  EXPECT_EQ(Toy().error("elites=0"),
            "'agent-options' of searcher 'toy': 'elites' is '0', expected an "
            "integer from 1 to 1000");
  EXPECT_EQ(Toy().error("niches=yes"),
            "'agent-options' of searcher 'toy': 'niches' is 'yes', expected "
            "true or false");
}

TEST(ConstantsTest, values_are_read_to_their_end) {
  EXPECT_NE(Toy().error("elites=3.5"), "");
  EXPECT_NE(Toy().error("elites=99999999999999999999"), "");
  EXPECT_NE(Toy().error("rate=0.1x"), "");
  EXPECT_NE(Toy().error("rate=nan"), "");
  EXPECT_NE(Toy().error("rate="), "");
}

TEST(ConstantsTest, text_that_is_no_list_is_refused) {
  EXPECT_EQ(Toy().error("rate"), "'agent-options' of searcher 'toy': expected "
                                 "name=value,name=value, found 'rate'");
  EXPECT_NE(Toy().error("rate=0.1,"), "");
  EXPECT_NE(Toy().error(",rate=0.1"), "");
  EXPECT_NE(Toy().error("rate=0.1,,elites=3"), "");
  EXPECT_EQ(Toy().error("rate=0.1,rate=0.2"),
            "'agent-options' of searcher 'toy': 'rate' is given twice");
}

TEST(ConstantsTest, an_error_leaves_all_values_alone) {
  Toy toy;
  EXPECT_NE(toy.error("rate=0.5,elites=0"), "");
  EXPECT_EQ(toy.rate, 0.003);
}

TEST(ConstantsTest, prints_a_row_a_constant) {
  EXPECT_EQ(Toy().table().markdown(),
            "| constant | default | range | what |\n"
            "|---|---|---|---|\n"
            "| `rate` | 0.003 | a number from 0 to 1 | Step of the optimiser. "
            "|\n"
            "| `elites` | 10 | an integer from 1 to 1000 | Strategies that are "
            "kept. |\n"
            "| `niches` | true | true or false | Whether degrees are kept "
            "apart. |\n");
}
