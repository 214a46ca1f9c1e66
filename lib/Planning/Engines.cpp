//===- Engines.cpp - What serving engines can run -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Engines.h"

#include "shardopt/Model/Ops/Ffn.h"
#include "shardopt/Model/Ops/GqaAttention.h"
#include "shardopt/Model/Ops/MlaAttention.h"
#include "shardopt/Model/Ops/StateModel.h"
#include "shardopt/Model/StageGrid.h"
#include "shardopt/Search/Megatron.h"
#include "shardopt/Support/Choice.h"

#include <algorithm>

using namespace shardopt;

const char *shardopt::spell(Runner runner) {
  return runner ? spell(*runner) : noEngine;
}

ErrorOr<Runner> shardopt::parseRunner(const std::string &text) {
  if (text == anyEngine)
    return Error{
        "'engine' is any, which compares engines of a service: expected "
        "one of them, or none"};
  std::vector<std::string> known = {noEngine, anyEngine};
  for (Engine engine : allEngines) {
    if (text == spell(engine))
      return Runner(engine);
    known.push_back(spell(engine));
  }
  return text == noEngine ? ErrorOr<Runner>(Runner())
                          : unknownChoice("engine", text, known);
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

EngineFacts::EngineFacts(const cost::Model &model)
    : ops(model.opNames()), isInDenseStack(ops.size()),
      isPrefill(model.workload.phase == cost::Phase::Prefill) {
  for (const cost::Body &body : model.bodies) {
    experts = std::max(experts, body.experts);
    for (const cost::Node &node : body.nodes) {
      isInDenseStack[node.variable] = body.experts == 0;
      const cost::OpModel *op = node.op.get();
      if (auto *gqa = dynamic_cast<const cost::GqaAttention *>(op)) {
        heads = gqa->heads;
        kvHeads = gqa->kvHeads;
      } else if (dynamic_cast<const cost::StateModel *>(op)) {
        hasStates = true;
      } else if (auto *mla = dynamic_cast<const cost::MlaAttention *>(op)) {
        heads = mla->heads;
      } else if (auto *up = dynamic_cast<const cost::FfnUp *>(op)) {
        if (up->kind == cost::FfnKind::Grouped)
          expertWeights = up->weights;
        if (up->weights == cost::WeightType::Fp8Block)
          (up->kind == cost::FfnKind::Dense    ? denseFp8
           : up->kind == cost::FfnKind::Shared ? sharedFp8
                                               : expertFp8) = up->inner;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static std::string number(int64_t value) { return std::to_string(value); }

/// Attention by heads: of all engines.
static std::optional<std::string> whyNotHeads(const Degrees &degrees,
                                              const EngineFacts &facts) {
  int64_t tp = degrees.tp, kv = facts.kvHeads;
  if (facts.heads && facts.heads % tp != 0)
    return "tp " + number(tp) + " does not divide the " + number(facts.heads) +
           " query heads";
  if (kv && kv % tp != 0 && tp % kv != 0)
    return "of tp " + number(tp) + " and the " + number(kv) +
           " kv heads neither divides the other";
  return std::nullopt;
}

/// Blocks of 128 columns of fp8 weights stay whole.
static std::optional<std::string> whyNotBlocks(const char *what,
                                               int64_t columns, int64_t parts) {
  constexpr int64_t block = 128;
  if (columns % (parts * block) == 0)
    return std::nullopt;
  return number(columns) + " columns of " + what + " over " + number(parts) +
         " devices leave no whole fp8 blocks of " + number(block);
}

/// Experts placed by their load.
static std::optional<std::string>
whyNotEplb(Engine engine, const Degrees &degrees, const EngineFacts &facts) {
  std::string eplb = "eplb " + spell(Degree::Eplb, degrees.eplb);
  // Its methods for weights of these types move no experts.
  if (engine == Engine::Vllm &&
      (facts.expertWeights == cost::WeightType::Mxfp4 ||
       cost::isInt4(facts.expertWeights)))
    return eplb + " moves no experts of " + spell(facts.expertWeights);
  // Its balancer is of the experts that it exchanges copies with.
  if (engine == Engine::Trtllm && degrees.gathers())
    return eplb + " needs exchange=all_to_all, found gather";
  return std::nullopt;
}

static std::optional<std::string> whyNotVllm(const Degrees &degrees,
                                             const EngineFacts &facts) {
  int64_t tp = degrees.tp, ep = degrees.ep, cp = degrees.cp;
  int64_t all = tp * degrees.dp;
  if (facts.experts) {
    if (ep != 1 && ep != all)
      return "ep " + number(ep) + " is neither 1 nor tp * dp " + number(all);
    if (all > 1 && (ep == 1 || degrees.dp == 1) && !degrees.gathers())
      return std::string("with ") + (ep == 1 ? "ep" : "dp") +
             " 1 the engine uses exchange=gather, found all_to_all";
  }
  if (cp > 1 && facts.kvHeads) {
    int64_t kv = facts.kvHeads;
    if (tp <= kv || cp > tp / kv)
      return "cp " + number(cp) + " exceeds tp / kv heads, " + number(tp) +
             " / " + number(kv);
    if (facts.heads / kv % cp != 0)
      return "cp " + number(cp) + " does not divide the " +
             number(facts.heads / kv) + " query heads of a kv head";
  }
  if (facts.denseFp8)
    if (auto reason = whyNotBlocks("dense layers", facts.denseFp8, tp))
      return reason;
  if (facts.sharedFp8)
    if (auto reason = whyNotBlocks("shared experts", facts.sharedFp8, tp))
      return reason;
  if (facts.expertFp8)
    return whyNotBlocks("experts", facts.expertFp8, StageGrid(degrees).etp());
  return std::nullopt;
}

static std::optional<std::string> whyNotSglang(const Degrees &degrees,
                                               const EngineFacts &facts) {
  int64_t ep = degrees.ep, all = degrees.tp * degrees.dp;
  if (degrees.cp > 1)
    return "cp " + number(degrees.cp) + " is not 1";
  if (!facts.experts)
    return std::nullopt;
  if (facts.experts % ep != 0 && !degrees.hasEplb()) // with it slots are even
    return "ep " + number(ep) + " does not divide the " +
           number(facts.experts) + " experts";
  if (!degrees.gathers() && ep != all)
    return "exchange=all_to_all needs all devices, and ep " + number(ep) +
           " is not tp * dp " + number(all);
  return std::nullopt;
}

static std::optional<std::string> whyNotTrtllm(const Degrees &degrees,
                                               const EngineFacts &facts) {
  int64_t dp = degrees.dp, all = degrees.tp * dp;
  if (facts.experts && dp != 1 && dp != all)
    return "dp " + number(dp) + " is neither 1 nor tp * dp " + number(all);
  if (degrees.cp > 1 && (dp > 1 || facts.isPrefill))
    return "cp " + number(degrees.cp) +
           (facts.isPrefill ? " is for decode only" : " needs dp 1");
  if (facts.experts && dp == 1 && all > 1 && !degrees.gathers())
    return "with dp 1 the engine uses exchange=gather, found all_to_all";
  return std::nullopt;
}

std::optional<std::string> shardopt::whyNotRun(Runner runner,
                                               const Degrees &degrees,
                                               const EngineFacts &facts) {
  if (!runner)
    return std::nullopt;
  if (degrees.tp2 > 1)
    return "tp2 is " + number(degrees.tp2) +
           ", and no engine shards weights on both dims";
  if (auto reason = whyNotHeads(degrees, facts))
    return reason;
  if (degrees.hasEplb())
    if (auto reason = whyNotEplb(*runner, degrees, facts))
      return reason;
  switch (*runner) {
  case Engine::Vllm:
    return whyNotVllm(degrees, facts);
  case Engine::Sglang:
    return whyNotSglang(degrees, facts);
  case Engine::Trtllm:
    return whyNotTrtllm(degrees, facts);
  }
  return std::nullopt;
}

/// vLLM's dual-batch overlap, from 0.11 on, and SGLang's two-batch overlap,
/// from 0.4.7 on: both of them with DeepEP alone.
std::optional<std::string> shardopt::whyNotOverlap(Runner runner,
                                                   const Degrees &degrees,
                                                   const EngineFacts &facts) {
  if (!facts.experts)
    return "the model has no experts, whose exchange it hides";
  if (runner == Engine::Trtllm)
    return "'" + std::string(spell(runner)) +
           "' has no two micro-batches in a step";
  if (degrees.pp > 1)
    return "pp is " + number(degrees.pp) + ", and it needs 1";
  if (degrees.gathers())
    return std::string("exchange is gather, and it needs all_to_all");
  if (degrees.tp * degrees.dp == 1)
    return std::string("one device exchanges nothing");
  return std::nullopt;
}

static bool divideOneAnother(int64_t a, int64_t b) {
  return a % b == 0 || b % a == 0;
}

/// The rules of "transfer" in python/shardopt/engines.json, which the files of
/// a launch are held to.
std::optional<std::string> shardopt::whyNoTransfer(Runner runner,
                                                   const Degrees &prefill,
                                                   const Degrees &decode,
                                                   const EngineFacts &facts) {
  if (!runner)
    return std::nullopt;
  auto both = [&](const char *what, int64_t p, int64_t d) {
    return std::string(what) + " of prefill and decode are " + number(p) +
           " and " + number(d);
  };
  if (*runner != Engine::Trtllm && !divideOneAnother(prefill.tp, decode.tp))
    return both("tp", prefill.tp, decode.tp) + ": neither divides the other";
  switch (*runner) {
  case Engine::Vllm: {
    bool isLatent = facts.kvHeads == 0;
    if (facts.hasStates && prefill.tp != decode.tp)
      return both("tp", prefill.tp, decode.tp) + ", and layers have states";
    if (!isLatent && !facts.hasStates && prefill.tp > decode.tp &&
        prefill.tp > facts.kvHeads)
      return both("tp", prefill.tp, decode.tp) + ", with copies of " +
             number(facts.kvHeads) + " kv heads";
    if (prefill.pp > 1 || decode.pp > 1)
      return both("pp", prefill.pp, decode.pp) + ", expected 1";
    if (!divideOneAnother(prefill.cp, decode.cp))
      return both("cp", prefill.cp, decode.cp) + ": neither divides the other";
    return std::nullopt;
  }
  case Engine::Sglang:
    if (decode.pp > 1 && decode.pp != prefill.pp)
      return both("pp", prefill.pp, decode.pp);
    if (decode.cp > 1)
      return "cp of decode is " + number(decode.cp) + ", expected 1";
    return std::nullopt;
  case Engine::Trtllm:
    if (prefill.cp > 1)
      return "cp of prefill is " + number(prefill.cp) + ", expected 1";
    return std::nullopt;
  }
  return std::nullopt;
}

/// Gathered rows are replicated, copies that are sent are sharded on tokens.
Dim shardopt::engineDim(Runner runner, const Degrees &degrees, size_t op,
                        const EngineFacts &facts) {
  const std::string &name = facts.ops[op];
  std::string last = name.substr(name.rfind('.') + 1);
  // Its data parallel attention leaves dense layers on single devices.
  if (runner == Engine::Sglang && degrees.dp > 1 && facts.experts &&
      facts.isInDenseStack[op]) {
    if (last == "ffn_norm")
      return Dim::Zero;
    if (last == "ffn_up" || last == "ffn_down")
      return Dim::None;
  }
  return search::megatronDim(facts.experts && !degrees.gathers()
                                 ? search::MegatronVariant::Slice
                                 : search::MegatronVariant::Classic,
                             name);
}

std::vector<Dim> shardopt::engineDims(Runner runner, const Degrees &degrees,
                                      const EngineFacts &facts) {
  std::vector<Dim> dims;
  for (size_t op = 0; op < facts.ops.size(); ++op)
    dims.push_back(engineDim(runner, degrees, op, facts));
  return dims;
}

static std::string spellDimValue(Dim dim) {
  return dim == Dim::None ? "none" : std::to_string(int(dim));
}

std::optional<std::string> shardopt::whyNotRun(Runner runner,
                                               const Strategy &strategy,
                                               const EngineFacts &facts) {
  if (auto reason = whyNotRun(runner, strategy.degrees, facts))
    return reason;
  for (size_t op = 0; runner && op < strategy.dims.size(); ++op) {
    Dim dim = engineDim(runner, strategy.degrees, op, facts);
    if (strategy.dims[op] != dim)
      return "'" + facts.ops[op] + "' has dim " +
             spellDimValue(strategy.dims[op]) + ", expected " +
             spellDimValue(dim);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The simulator
//===----------------------------------------------------------------------===//

ErrorOr<search::StrategySpace>
EngineSimulator::narrowed(const search::StrategySpace &space) const {
  std::string reason;
  std::optional<search::StrategySpace> part =
      space.where([&](const Degrees &degrees) {
        std::optional<std::string> found = whyNotRun(engine, degrees, facts);
        if (found && reason.empty())
          reason = spell(degrees) + ": " + *found;
        return !found;
      });
  std::string name = spell(engine);
  if (!part)
    return Error{"'engine' is '" + name +
                 "', which runs no degrees of the space; of the first, " +
                 reason};
  search::DimDomains domains = part->dimDomains();
  for (size_t op = 0; op < domains.size(); ++op) {
    std::vector<bool> isRun(maxDims);
    Dim wanted = Dim::None;
    for (size_t grid = 0; grid < part->numGrids(); ++grid) {
      wanted = engineDim(engine, part->degreesOf(grid, 0), op, facts);
      isRun[size_t(wanted)] = true;
    }
    search::DimDomain kept;
    for (Dim dim : domains[op])
      if (isRun[size_t(dim)])
        kept.push_back(dim);
    if (kept.empty())
      return Error{"'" + facts.ops[op] + "' is pinned to dim " +
                   spellDimValue(domains[op].front()) + ", which '" + name +
                   "' cannot run: expected " + spellDimValue(wanted)};
    domains[op] = std::move(kept);
  }
  return part->withDims(std::move(domains));
}

std::optional<search::DimDomains>
EngineSimulator::dimsOf(const Degrees &degrees,
                        const search::DimDomains &domains) const {
  if (whyNotRun(engine, degrees, facts))
    return std::nullopt;
  search::DimDomains narrowed;
  for (size_t op = 0; op < domains.size(); ++op) {
    Dim dim = engineDim(engine, degrees, op, facts);
    if (std::find(domains[op].begin(), domains[op].end(), dim) ==
        domains[op].end())
      return std::nullopt;
    narrowed.push_back({dim});
  }
  return narrowed;
}

Evaluation EngineSimulator::evaluate(const Strategy &strategy) const {
  return whyNotRun(engine, strategy, facts) ? Evaluation()
                                            : simulator.evaluate(strategy);
}

search::DegreeBound EngineSimulator::bound(const Degrees &degrees,
                                           const search::DimDomains &domains,
                                           search::Goal goal) const {
  auto dims = dimsOf(degrees, domains);
  return dims ? simulator.decomposition()->bound(degrees, *dims, goal)
              : search::DegreeBound{Reason::Structural, 0};
}

std::optional<search::DegreeBound>
EngineSimulator::boundBatches(const Degrees &least, int64_t most,
                              const search::DimDomains &domains,
                              search::Goal goal, bool isQuick) const {
  auto dims = dimsOf(least, domains);
  return dims ? simulator.decomposition()->boundBatches(least, most, *dims,
                                                        goal, isQuick)
              : search::DegreeBound{Reason::Structural, 0};
}

std::optional<search::Plan>
EngineSimulator::solve(const Degrees &degrees,
                       const search::DimDomains &domains, search::Goal goal,
                       std::optional<double> incumbent) const {
  auto dims = dimsOf(degrees, domains);
  if (!dims)
    return std::nullopt;
  return simulator.decomposition()->solve(degrees, *dims, goal, incumbent);
}
