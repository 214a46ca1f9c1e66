//===- CbcProgram.cpp - A mixed-integer program for CBC -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CbcProgram.h"

#include "ChildSolver.h"

#include <algorithm>

#include <coin/Cbc_C_Interface.h>

using namespace shardopt;
using namespace shardopt::schedule;

int32_t CbcProgram::addVariable(double least, double most, bool isInteger,
                                double cost) {
  lower.push_back(least);
  upper.push_back(most);
  costs.push_back(cost);
  integers.push_back(char(isInteger));
  return int32_t(lower.size()) - 1;
}

void CbcProgram::addRow(const std::vector<std::pair<int32_t, double>> &terms,
                        double most) {
  for (auto [variable, factor] : terms) {
    columns.push_back(variable);
    factors.push_back(factor);
  }
  rowStarts.push_back(int32_t(columns.size()));
  limits.push_back(most);
}

CbcProgram::Outcome CbcProgram::solve(const Budget &budget,
                                      int64_t nodes) const {
  // CBC looks at its clock seldom, between long steps; a little before the end,
  // it is asked to say what it has.
  constexpr double ownPart = 0.9;
  double seconds = ownPart * budget.secondsLeft();
  std::vector<double> numbers = runInChild(budget, [&] {
    Outcome outcome = solveHere(seconds, nodes);
    std::vector<double> message = {double(outcome.answer), outcome.bound};
    message.insert(message.end(), outcome.values.begin(), outcome.values.end());
    return message;
  });
  Outcome outcome;
  if (numbers.size() < 2)
    return outcome;
  outcome.answer = Answer(int(numbers[0]));
  outcome.bound = numbers[1];
  outcome.values.assign(numbers.begin() + 2, numbers.end());
  return outcome;
}

CbcProgram::Outcome CbcProgram::solveHere(double seconds, int64_t nodes) const {
  // The C interface takes columns.
  int32_t numColumns = int32_t(lower.size()), numRows = int32_t(limits.size());
  std::vector<int32_t> starts(numColumns + 1, 0), rows(columns.size());
  std::vector<double> values(columns.size());
  for (int32_t column : columns)
    ++starts[column + 1];
  for (int32_t c = 0; c < numColumns; ++c)
    starts[c + 1] += starts[c];
  std::vector<int32_t> next(starts.begin(), starts.end() - 1);
  for (int32_t r = 0; r < numRows; ++r)
    for (int32_t k = rowStarts[r]; k < rowStarts[r + 1]; ++k) {
      int32_t place = next[columns[k]]++;
      rows[place] = r;
      values[place] = factors[k];
    }
  std::vector<double> rowLower(numRows, -1e30);
  Cbc_Model *model = Cbc_newModel();
  Cbc_setParameter(model, "logLevel", "0");
  Cbc_loadProblem(model, numColumns, numRows, starts.data(), rows.data(),
                  values.data(), lower.data(), upper.data(), costs.data(),
                  rowLower.data(), limits.data());
  for (int32_t c = 0; c < numColumns; ++c)
    if (integers[c])
      Cbc_setInteger(model, c);
  Cbc_setParameter(model, "threads", "0");
  Cbc_setParameter(model, "timeMode", "elapsed");
  Cbc_setParameter(model, "seconds", std::to_string(seconds).c_str());
  Cbc_setParameter(model, "maxNodes",
                   std::to_string(std::min<int64_t>(nodes, INT32_MAX)).c_str());
  Cbc_solve(model);

  Outcome outcome;
  bool hasSolution =
      Cbc_numberSavedSolutions(model) > 0 || Cbc_isProvenOptimal(model);
  if (hasSolution) {
    const double *solution = Cbc_getColSolution(model);
    outcome.values.assign(solution, solution + numColumns);
    outcome.answer = Answer::Yes;
    outcome.bound = Cbc_getBestPossibleObjValue(model);
  } else if (Cbc_isProvenInfeasible(model)) {
    outcome.answer = Answer::No;
  }
  Cbc_deleteModel(model);
  return outcome;
}
