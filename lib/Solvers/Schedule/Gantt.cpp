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
                        titleHeight = 26, axisHeight = 30, legendHeight = 24;

namespace {
/// How the ops of a phase are drawn: those of the first direction, those of the
/// second one, and what the legend calls them.
struct Look {
  PlanOpPhase phase;
  const char *first, *second, *name;
};
} // namespace

static constexpr Look looks[] = {
    {PlanOpPhase::Forward, "#9dc3f2", "#5b8dd6", "forward"},
    {PlanOpPhase::InputGradient, "#f4c56e", "#d99a2b", "backward (input)"},
    {PlanOpPhase::WeightGradient, "#a5d6a0", "#5fa35a", "backward (weight)"},
    {PlanOpPhase::Other, "#cfcfcf", "#9a9a9a", "other"},
};

static bool isOfSecondDirection(const PlanOp &op) { return op.microbatch > 0; }

static const Look &lookOf(const PlanOp &op) {
  return *std::find_if(
      std::begin(looks), std::end(looks) - 1,
      [&](const Look &look) { return look.phase == op.phase; });
}

static const char *colourOf(const PlanOp &op) {
  return isOfSecondDirection(op) ? lookOf(op).second : lookOf(op).first;
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
    int64_t start = schedule.starts[op];
    double x = margin + double(start) * scale,
           width = double(schedule.end(instance, op) - start) * scale;
    int32_t row = rows[schedule.deviceOf(instance, op) * numMachineKinds +
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

/// A square of each colour that ops of `instance` have, and what it stands for.
static void drawLegend(std::string &text, const Instance &instance,
                       double top) {
  double x = margin;
  auto draw = [&](const char *colour, const std::string &name) {
    append(text,
           "<rect x=\"%.0f\" y=\"%.0f\" width=\"12\" height=\"12\" "
           "fill=\"%s\" stroke=\"#555\" stroke-width=\"0.4\"/>\n"
           "<text x=\"%.0f\" y=\"%.0f\">",
           x, top + 6, colour, x + 17, top + 16);
    text += name + "</text>\n";
    x += 17 + 5.6 * double(name.size()) + 22;
  };
  for (const Look &look : looks) {
    bool hasFirst = false, hasSecond = false;
    for (int32_t op = 0; op < instance.numOps(); ++op)
      if (&lookOf(instance.at(op)) == &look)
        (isOfSecondDirection(instance.at(op)) ? hasSecond : hasFirst) = true;
    if (hasFirst)
      draw(look.first, look.name);
    if (hasSecond)
      draw(look.second, std::string(look.name) + ", 2nd direction");
  }
  append(text, "<text x=\"%.0f\" y=\"%.0f\">", x, top + 16);
  text += "numbers: micro-batches</text>\n";
}

/// The distance of about ten ticks from 0 to `length`: 1, 2 or 5 times a power
/// of ten.
static int64_t tickOf(int64_t length) {
  int64_t power = 1;
  while (length / power >= 100)
    power *= 10;
  int64_t steps = length / power;
  return power * (steps < 10 ? 1 : steps < 20 ? 2 : steps < 50 ? 5 : 10);
}

/// The axis of time below all panels, from 0 to `length`.
static void drawAxis(std::string &text, int64_t length, double top,
                     double scale) {
  append(text, "<path stroke=\"#555\" fill=\"none\" d=\"M%.0f %.0fH%s", margin,
         top, shorten(margin + double(length) * scale).c_str());
  int64_t tick = tickOf(length);
  std::string numbers;
  for (int64_t time = 0; time <= length; time += tick) {
    std::string x = shorten(margin + double(time) * scale);
    append(text, "M%s %.0fv4", x.c_str(), top);
    append(numbers, "<tspan x=\"%s\">%lld</tspan>", x.c_str(),
           static_cast<long long>(time));
  }
  append(text, "\"/>\n<text y=\"%.0f\" text-anchor=\"middle\" font-size=\"9\">",
         top + 15);
  text += numbers + "</text>\n";
  append(text, "<text x=\"4\" y=\"%.0f\">time units</text>\n", top + 15);
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
  height += axisHeight + legendHeight;
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
  drawAxis(text, length, top, scale);
  drawLegend(text, instance, top + axisHeight);
  return text + "</svg>\n";
}
