//===- FrontPlot.cpp - Time against memory --------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SvgText.h"
#include "shardopt/Solvers/Schedule/ScheduleText.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

/// From memory and time to places of the picture.
struct FrontScale {
  static constexpr double width = 640, height = 360, left = 70, right = 20,
                          top = 30, bottom = 45;
  int64_t leastMemory, mostMemory, leastTime, mostTime;

  double x(int64_t memory) const {
    return left + (width - left - right) * double(memory - leastMemory) /
                      double(std::max<int64_t>(1, mostMemory - leastMemory));
  }
  double y(int64_t time) const {
    return height - bottom -
           (height - top - bottom) * double(time - leastTime) /
               double(std::max<int64_t>(1, mostTime - leastTime));
  }
};

} // namespace

/// Steps: what fits into less fits into more.
template <typename Of>
static void appendSteps(std::string &text, const FrontScale &scale,
                        const std::vector<FrontPoint> &points,
                        const char *style, Of of) {
  text += "<polyline fill=\"none\" ";
  text += style;
  text += " points=\"";
  for (size_t k = 0; k < points.size(); ++k) {
    if (k)
      append(text, "%.1f,%.1f ", scale.x(points[k].memory),
             scale.y(of(points[k - 1])));
    append(text, "%.1f,%.1f ", scale.x(points[k].memory),
           scale.y(of(points[k])));
  }
  text += "\"/>\n";
}

std::string schedule::toFrontPlot(const std::vector<FrontPoint> &points) {
  FrontScale scale = {points.front().memory, points.back().memory, INT64_MAX,
                      0};
  for (const FrontPoint &point : points) {
    scale.leastTime = std::min(scale.leastTime, point.bound);
    scale.mostTime = std::max(scale.mostTime, point.makespan);
  }
  std::string text;
  append(text,
         "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
         "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"11\">\n"
         "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
         FrontScale::width, FrontScale::height);
  append(text, "<text x=\"%.0f\" y=\"18\" font-size=\"13\">", FrontScale::left);
  text += "makespan against memory; dashed: bound; filled: proved</text>\n";
  appendSteps(text, scale, points, "stroke=\"#999\" stroke-dasharray=\"5 3\"",
              [](const FrontPoint &point) { return point.bound; });
  appendSteps(text, scale, points, "stroke=\"#2b5f9e\" stroke-width=\"1.5\"",
              [](const FrontPoint &point) { return point.makespan; });
  for (const FrontPoint &point : points) {
    double x = scale.x(point.memory), y = scale.y(point.makespan);
    append(text,
           "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" stroke=\"#2b5f9e\" "
           "fill=\"%s\"/>\n",
           x, y, point.proved ? "#2b5f9e" : "white");
    append(text,
           "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%lld</text>\n",
           x, y - 8, static_cast<long long>(point.makespan));
    append(text,
           "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%lld</text>\n",
           x, FrontScale::height - FrontScale::bottom + 18,
           static_cast<long long>(point.memory));
  }
  append(text,
         "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">memory of a "
         "device</text>\n",
         FrontScale::width / 2, FrontScale::height - 8);
  return text + "</svg>\n";
}
