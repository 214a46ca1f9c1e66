//===- Gantt.cpp - Pictures of schedules ----------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/ScheduleText.h"

#include <algorithm>
#include <map>

using namespace shardopt;
using namespace shardopt::schedule;

static std::string escape(const std::string &text) {
  std::string result;
  for (char c : text)
    result += c == '<'   ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '&' ? "&amp;"
              : c == '"' ? "&quot;"
                         : std::string(1, c);
  return result;
}

template <typename... Values>
static void append(std::string &text, const char *format, Values... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof(buffer), format, values...);
  text += buffer;
}

static constexpr double pictureWidth = 1280, margin = 70, rowHeight = 20,
                        titleHeight = 26;

/// Of a phase; the second direction's is darker.
static const char *colourOf(const PlanOp &op) {
  bool isSecond = op.microbatch > 0;
  switch (op.phase) {
  case Phase::Forward:
    return isSecond ? "#5b8dd6" : "#9dc3f2";
  case Phase::InputGradient:
    return isSecond ? "#d99a2b" : "#f4c56e";
  case Phase::WeightGradient:
    return isSecond ? "#5fa35a" : "#a5d6a0";
  case Phase::Other:
    return isSecond ? "#9a9a9a" : "#cfcfcf";
  }
  return "#cfcfcf";
}

/// With one digit behind the point, or none.
static std::string shorten(double number) {
  std::string text;
  append(text, "%.1f", number);
  if (text.back() == '0')
    text.resize(text.size() - 2);
  return text;
}

/// The row of each machine; -1 for those that nothing stands on.
static std::vector<int32_t> findRows(const Instance &instance,
                                     const Schedule &schedule, int32_t &count) {
  std::vector<int32_t> rows(instance.numMachines(), -1);
  for (int32_t op = 0; op < instance.numOps(); ++op)
    rows[schedule.deviceOf(instance, op) * numMachineKinds +
         int32_t(instance.at(op).machine)] = 0;
  count = 0;
  for (int32_t &row : rows)
    if (row == 0)
      row = count++;
  return rows;
}

/// One path for each colour, and one text for the micro-batches of each row.
static void drawOps(std::string &text, const Instance &instance,
                    const Schedule &schedule, const std::vector<int32_t> &rows,
                    double top, double scale) {
  constexpr double leastForText = 14;
  std::map<std::string, std::string> paths;
  std::map<int32_t, std::string> numbers;
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    const PlanOp &planOp = instance.at(op);
    const int64_t start = schedule.starts[op];
    const double x = margin + double(start) * scale,
                 width = double(schedule.end(instance, op) - start) * scale;
    const int32_t row = rows[schedule.deviceOf(instance, op) * numMachineKinds +
                             int32_t(planOp.machine)];
    append(paths[colourOf(planOp)], "M%s %.0fh%sv%.0fh-%sz", shorten(x).c_str(),
           top + row * rowHeight, shorten(width).c_str(), rowHeight - 2,
           shorten(width).c_str());
    if (width >= leastForText)
      append(numbers[row], "<tspan x=\"%s\">%d</tspan>",
             shorten(x + width / 2).c_str(), int(instance.microbatchOf(op)));
  }
  text += "<g stroke=\"#555\" stroke-width=\"0.4\">\n";
  for (const auto &[colour, path] : paths)
    text += "<path fill=\"" + colour + "\" d=\"" + path + "\"/>\n";
  text += "</g>\n<g text-anchor=\"middle\" font-size=\"9\">\n";
  for (const auto &[row, number] : numbers) {
    append(text, "<text y=\"%.0f\">", top + row * rowHeight + 13);
    text += number + "</text>\n";
  }
  text += "</g>\n";
}

std::string schedule::toGantt(const Instance &instance,
                              const std::vector<GanttPanel> &panels) {
  int64_t length = 1;
  double height = 0;
  for (const GanttPanel &panel : panels) {
    length = std::max(length, makespanOf(instance, *panel.schedule));
    int32_t count = 0;
    findRows(instance, *panel.schedule, count);
    height += titleHeight + count * rowHeight + 10;
  }
  double scale = (pictureWidth - margin - 10) / double(length);
  std::string text;
  append(text,
         "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
         "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"11\">\n"
         "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
         pictureWidth, height);
  double top = 0;
  for (const GanttPanel &panel : panels) {
    int32_t count = 0;
    std::vector<int32_t> rows = findRows(instance, *panel.schedule, count);
    append(text, "<text x=\"4\" y=\"%.0f\" font-size=\"13\">", top + 18);
    text += escape(panel.title) + "</text>\n";
    top += titleHeight;
    for (size_t m = 0; m < rows.size(); ++m)
      if (rows[m] >= 0)
        append(text, "<text x=\"4\" y=\"%.0f\">device %d%s</text>\n",
               top + rows[m] * rowHeight + 14, int(m / numMachineKinds),
               m % numMachineKinds ? " comm" : "");
    drawOps(text, instance, *panel.schedule, rows, top, scale);
    top += count * rowHeight + 10;
  }
  return text + "</svg>\n";
}
