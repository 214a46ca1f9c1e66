//===- GridPictureTest.cpp - The pictures of docs/Degrees.md --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/figures/grid-*.svg show the groups that StageGrid makes of a stage.
// SHARDOPT_WRITE_FIGURES=1 in the environment writes them anew.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/StageGrid.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

using namespace shardopt;

namespace {

struct Picture {
  const char *name;
  const char *title;
  int64_t tp, dp, ep, cp;
};

/// Eight devices in the words of each.
constexpr Picture pictures[] = {
    {"vllm", "vLLM: -tp 2 -dp 4 --enable-expert-parallel", 2, 4, 8, 1},
    {"sglang", "SGLang: --tp-size 8 --attn-dp-size 2 --ep-size 4", 4, 2, 4, 1},
    {"trtllm",
     "TensorRT-LLM: attention DP, moe_tensor_parallel_size 2, "
     "moe_expert_parallel_size 4",
     1, 8, 4, 1},
    {"helix", "Helix: heads over 2, the cache of each over 4, experts over 2",
     8, 1, 2, 4},
};

constexpr int box = 52, row = 30, labels = 150, top = 40;

std::string text(int x, int y, const char *anchor, const std::string &words) {
  return "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) +
         "\" text-anchor=\"" + anchor + "\">" + words + "</text>\n";
}

/// Which of the groups along an axis device `rank` is in.
int64_t groupNumber(const AxisGroup &along, int64_t rank) {
  return rank / (along.size * along.stride) * along.stride +
         rank % along.stride;
}

/// A box for each device, those of one group in one colour, with its number.
std::string rowOf(const std::string &label, int y, const AxisGroup &along,
                  int64_t devices) {
  static constexpr const char *colours[] = {"#8dd3c7", "#ffed6f", "#bebada",
                                            "#fb8072", "#80b1d3", "#fdb462",
                                            "#b3de69", "#fccde5"};
  std::string svg = text(10, y + 20, "start", label);
  for (int64_t rank = 0; rank < devices; ++rank) {
    int64_t group = groupNumber(along, rank);
    int x = labels + box * int(rank);
    svg += "<rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) +
           "\" width=\"" + std::to_string(box - 4) + "\" height=\"" +
           std::to_string(row - 4) + "\" fill=\"" +
           colours[size_t(group) % std::size(colours)] + "\"/>\n" +
           text(x + box / 2 - 2, y + 18, "middle", std::to_string(group));
  }
  return svg;
}

std::string draw(const Picture &picture) {
  Degrees degrees(picture.tp, picture.ep, 1, 1);
  degrees.dp = picture.dp;
  degrees.cp = picture.cp;
  EXPECT_TRUE(hasGrid(degrees, /*hasExperts=*/true));
  StageGrid grid(degrees);
  int64_t devices = degrees.devices();
  const struct {
    Axis axis;
    const char *label;
  } rows[] = {{Axis::Tp, "along tp"},
              {Axis::Dp, "along dp"},
              {Axis::Cp, "along cp"},
              {Axis::Etp, "along etp"},
              {Axis::Ep, "along ep"}};
  std::string body;
  int y = top;
  for (const auto &[axis, label] : rows) {
    AxisGroup along = grid.group(axis);
    if (along.size == 1)
      continue;
    body += rowOf(std::string(label) + " " + std::to_string(along.size), y,
                  along, devices);
    y += row;
  }
  std::string width = std::to_string(labels + box * int(devices) + 10);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width +
         "\" height=\"" + std::to_string(y + 10) +
         "\" font-family=\"sans-serif\" font-size=\"13\">\n" +
         "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
         text(10, 24, "start", picture.title) + body + "</svg>\n";
}

TEST(GridPictures, AreThoseOfTheAxes) {
  for (const Picture &picture : pictures) {
    std::string path =
        std::string(SHARDOPT_DOCS "/figures/grid-") + picture.name + ".svg";
    std::string wanted = draw(picture);
    if (std::getenv("SHARDOPT_WRITE_FIGURES"))
      std::ofstream(path) << wanted;
    std::ifstream file(path);
    std::string found((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(found, wanted)
        << path << " is not current: SHARDOPT_WRITE_FIGURES=1 writes it";
  }
}

} // namespace
