//===- ProgressPrinter.cpp - How far a search is, for people --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgressPrinter.h"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

using namespace shardopt::solve;

ProgressPrinter::ProgressPrinter(const std::string &how, double timeLimit)
    : isSilent(how == "none"),
      isBar(how == "bar" || (how == "auto" && isatty(STDERR_FILENO))),
      line([](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stderr);
      }),
      timeLimit(timeLimit) {}

static std::string gapText(const Progress &progress) {
  if (!progress.cost || !progress.bound || *progress.cost <= 0 ||
      progress.isForbidden)
    return "-";
  double gap =
      double(*progress.cost - *progress.bound) / double(*progress.cost);
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f %%", 100 * gap);
  return text;
}

static std::string numberText(const std::optional<Int128> &number) {
  return number ? toString(*number) : "-";
}

void ProgressPrinter::print(const Progress &progress) {
  if (isSilent)
    return;
  std::string cost =
      progress.isForbidden ? "none yet" : numberText(progress.cost);
  std::string text = "cost " + cost + ", bound " + numberText(progress.bound) +
                     ", gap " + gapText(progress) + ", " + progress.phase;
  if (isBar) {
    constexpr int width = 20;
    double part =
        timeLimit > 0 ? std::min(1.0, progress.seconds / timeLimit) : 0;
    int full = int(part * width);
    char seconds[32];
    std::snprintf(seconds, sizeof(seconds), "] %.0f s, ", progress.seconds);
    line.show('[' + std::string(full, '#') + std::string(width - full, ' ') +
              seconds + text);
    return;
  }
  // More and more rarely, but the beginning of each phase.
  if (progress.seconds < nextLine && progress.phase == lastPhase)
    return;
  lastPhase = progress.phase;
  nextLine = progress.seconds * 1.2 + 0.5;
  std::fprintf(stderr, "  %.1f s, %s\n", progress.seconds, text.c_str());
}
