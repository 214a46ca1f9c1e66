//===- PlanServing.cpp - Plan the replicas of a service -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassOptions.h"
#include "shardopt/Dialect/LLM/Analysis/StrategyAttributes.h"
#include "shardopt/Dialect/LLM/Transforms/ServingPasses.h"
#include "shardopt/Planning/ServicePlan.h"
#include "shardopt/Support/Suggest.h"
#include "shardopt/Support/WriteFile.h"

#include "mlir/IR/Remarks.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shardopt::llm {
#define GEN_PASS_DEF_PLANSERVINGPASS
#include "shardopt/Dialect/LLM/Transforms/ServingPasses.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

namespace {

class PlanServingPass
    : public HostedPass<llm::impl::PlanServingPassBase<PlanServingPass>> {
public:
  using HostedPass::HostedPass;
  explicit PlanServingPass(PlanningHost host) : HostedPass(std::move(host)) {}

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

private:
  LogicalResult run();
  /// Where the module is of a service on two machines, and no option says on
  /// which one it decodes, that is the service's, and not the one of the
  /// module's own replicas; the other one, too, where it is not said either.
  void completeMachines();
  /// What the options and the module's workload say: one request for each
  /// choice of what is listed, the first of each list first.
  ErrorOr<std::vector<ServiceRequest>> readRequests();
  ErrorOr<std::vector<RequestLoad>> readLoads();
  ErrorOr<std::vector<double>> readChunks() const;
  /// The options that list types say what to use: a module has its own.
  std::optional<Error> refuseTypes() const;
  void sayChoice(const ServiceSummary &service);
  LogicalResult annotate(const ServiceSummary &service,
                         const ModuleModel &program);
  ServiceAttr describe(const ServiceSummary &service, StrategyAttr found);
  StringAttr machineAttr(const std::string &nameOrFile) {
    return StringAttr::get(&getContext(), lastingName(nameOrFile));
  }
  std::string decodeMachine, readMachine;
};

} // namespace

void PlanServingPass::completeMachines() {
  decodeMachine = machine;
  readMachine = prefillMachine;
  auto service = getOperation()->getAttrOfType<ServiceAttr>(serviceAttrName);
  if (!service || !service.getPrefillMachine() || !decodeMachine.empty())
    return;
  decodeMachine = service.getDecodeMachine().str();
  if (readMachine.empty())
    readMachine = service.getPrefillMachine().str();
}

std::optional<Error> PlanServingPass::refuseTypes() const {
  for (auto [name, types] : {std::pair("weight-type", &weightType.getValue()),
                             std::pair("kv-type", &kvType.getValue())})
    if (!types->empty())
      return Error{std::string("'") + name + "' is '" + abbreviate(*types) +
                   "', expected none: a module has its types; 'shardopt plan "
                   "--" +
                   name + "=" + abbreviate(*types) +
                   "' chooses types, for a config or a module"};
  return std::nullopt;
}

static std::vector<std::string> splitList(const std::string &text) {
  SmallVector<StringRef> parts;
  StringRef(text).split(parts, ',');
  std::vector<std::string> all;
  for (StringRef part : parts)
    all.push_back(part.trim().str());
  return all;
}

ErrorOr<std::vector<double>> PlanServingPass::readChunks() const {
  std::vector<double> chunks;
  if (chunk.empty())
    return std::vector<double>{0};
  for (const std::string &text : splitList(chunk)) {
    int64_t tokens = 0;
    if (StringRef(text).getAsInteger(10, tokens) || tokens < 1)
      return Error{"'chunk' has '" + abbreviate(text) +
                   "', expected a whole number of tokens from 1 to 1000000"};
    chunks.push_back(double(tokens));
  }
  return chunks;
}

/// Drafts and what is accepted of them are listed together; no draft is none of
/// both.
ErrorOr<std::vector<RequestLoad>> PlanServingPass::readLoads() {
  RequestLoad held;
  if (auto workload =
          getOperation()->getAttrOfType<WorkloadAttr>(workloadAttrName))
    held = workload.getRequests();
  const std::string *options[] = {
#define SHARDOPT_REQUEST_FIELD(name, Name, ...) &request##Name.getValue(),
#include "shardopt/Model/RequestFields.def"
  };
  const std::string *formers[] = {
#define SHARDOPT_FORMER_REQUEST_NAME(name, Name, ...) &former##Name.getValue(),
#include "shardopt/Model/FormerRequestNames.def"
  };
  auto asOption = [](std::string name) {
    std::replace(name.begin(), name.end(), '_', '-');
    return "'" + name + "'";
  };
  for (auto [text, entry] : llvm::zip_equal(formers, formerRequestNames)) {
    const auto &[former, field] = entry;
    if (text->empty())
      continue;
    if (!options[size_t(field)]->empty())
      return Error{asOption(former) + " is the former name of " +
                   asOption(spell(field)) + ", which is given too"};
    options[size_t(field)] = text;
  }
  const std::string &drafts = *options[size_t(RequestField::DraftTokens)],
                    &accepted = *options[size_t(RequestField::AcceptedTokens)];
  size_t count = splitList(drafts).size();
  if (count != splitList(accepted).size() && !drafts.empty() &&
      !accepted.empty())
    return Error{"'draft-tokens' is '" + drafts + "' and 'accepted-tokens' '" +
                 accepted + "', expected as many of each"};
  std::vector<RequestLoad> said(count);
  for (const RequestFieldInfo &info : requestFields) {
    const std::string &text = *options[size_t(info.field)];
    if (text.empty())
      continue;
    bool isListed = info.field == RequestField::DraftTokens ||
                    info.field == RequestField::AcceptedTokens;
    std::vector<std::string> texts =
        isListed ? splitList(text) : std::vector<std::string>{text};
    for (size_t i = 0; i < said.size(); ++i) {
      const std::string &one = texts[std::min(i, texts.size() - 1)];
      if (isListed && one == "0" && count > 1)
        continue;
      ErrorOr<double> value = parseRequestValue(info.field, one);
      if (!value)
        return value.error();
      said[i][info.field] = *value;
      const std::optional<double> &has = held[info.field];
      if (i == 0 && has && *has != *value)
        print("  note      option " + std::string(info.name) + " " +
              spell(info.field, *value) + " counts, not " +
              spell(info.field, *has) + " of llm.workload\n");
    }
  }
  std::vector<RequestLoad> loads(said.size(), held);
  for (size_t i = 0; i < said.size(); ++i) {
    loads[i].replaceBy(said[i]);
    if (count > 1 && !loads[i][RequestField::DraftTokens])
      loads[i][RequestField::DraftLayers] =
          loads[i][RequestField::DraftParameters] = std::nullopt;
  }
  return loads;
}

ErrorOr<std::vector<ServiceRequest>> PlanServingPass::readRequests() {
  if (std::optional<Error> why = refuseTypes())
    return *why;
  ErrorOr<std::vector<RequestLoad>> loads = readLoads();
  if (!loads)
    return loads.error();
  ErrorOr<std::vector<double>> chunks = readChunks();
  if (!chunks)
    return chunks.error();
  ErrorOr<std::optional<ServiceMode>> chosen = parseServiceMode(mode);
  if (!chosen)
    return chosen.error();
  ServiceRequest request;
  request.mode = *chosen;
  request.engine = engine;
  request.devices = devices;
  request.prefillMachine = readMachine;
  request.prefillDevices = prefillDevices;
  std::vector<ServiceRequest> requests;
  for (double tokens : *chunks)
    for (const RequestLoad &load : *loads) {
      request.chunkTokens = tokens;
      request.load = load;
      if (std::optional<std::string> why = request.error())
        return Error{*why};
      requests.push_back(request);
    }
  return requests;
}

/// What was taken of lists.
void PlanServingPass::sayChoice(const ServiceSummary &service) {
  std::string text = "  chosen    chunk " + formatNumber(service.chunkTokens);
  for (RequestField field :
       {RequestField::DraftTokens, RequestField::AcceptedTokens})
    if (const std::optional<double> &value = service.load[field])
      text += std::string(", ") + spell(field) + " " + spell(field, *value);
  print(text + "\n");
}

/// The taken plan as an attribute; `found` is the strategy of the module's
/// phase.
ServiceAttr PlanServingPass::describe(const ServiceSummary &service,
                                      StrategyAttr found) {
  const ServicePlan &plan = *service.best();
  bool isApart = !plan.prefillMachine.empty();
  auto strategyOf = [&](const ServiceRole &role, bool isPrefill) {
    if (isPrefill == service.scenario->isPrefill() &&
        &workersOf(service) == &role)
      return found;
    return StrategyAttr::get(&getContext(), PartialDegrees(role.degrees));
  };
  return ServiceAttr::get(
      &getContext(), StringAttr::get(&getContext(), spell(service.engine)),
      std::max<int64_t>(1, std::llround(plan.concurrency)), plan.decode.workers,
      strategyOf(plan.decode, false), plan.prefill ? plan.prefill->workers : 0,
      plan.prefill ? strategyOf(*plan.prefill, true) : StrategyAttr(),
      isApart ? machineAttr(givenMachine(*service.scenario)) : StringAttr(),
      isApart ? machineAttr(readMachine) : StringAttr());
}

/// Writes the strategy of the workers that run the module.
LogicalResult PlanServingPass::annotate(const ServiceSummary &service,
                                        const ModuleModel &program) {
  ModuleOp module = getOperation();
  PlanRequest search;
  search.threads = threadCount(threads);
  search.stop = host.stop;
  ErrorOr<PlanSummary> found = planWorkers(service, search);
  if (!found)
    return emitError(module.getLoc(), found.error().message);
  if (host.planned)
    host.planned(*found);
  if (std::optional<Error> why = failureOf(*found))
    return emitError(module.getLoc(), why->message);
  print("\n" + planTable(*found));
  writeAnnotation(module, program, Annotation(found->plan->strategy));
  module->setAttr(
      serviceAttrName,
      describe(service, module->getAttrOfType<StrategyAttr>(strategyAttrName)));
  // A later pass must not take another machine for this one.
  if (const std::string &mine =
          isOnPrefillMachine(service) ? readMachine : decodeMachine;
      !mine.empty())
    module->setAttr(machineAttrName, machineAttr(mine));
  remark::passed(module.getLoc(),
                 remark::RemarkOpts::name("annotated").category(getArgument()))
      << remark::metric("mode", spell(*service.mode))
      << remark::metric("throughput", service.best()->tokensPerDevice);
  return success();
}

LogicalResult PlanServingPass::run() {
  ModuleOp module = getOperation();
  completeMachines();
  ScenarioOptions options;
  options.timing.machine = decodeMachine;
  options.simulator = "calibrated";
  options.stop = host.stop;
  // Those of a service are not those of a step alone.
  auto workload = module->getAttrOfType<WorkloadAttr>(workloadAttrName);
  bool isPrefill = workload && workload.getPhase() == Phase::Prefill;
  (isPrefill ? options.sloTtftMs : options.sloTpotMs) =
      std::numeric_limits<double>::infinity();
  ErrorOr<std::vector<ServiceRequest>> requests = readRequests();
  if (!requests)
    return emitError(module.getLoc(), requests.error().message);
  FileRoles files = inputFiles(module, decodeMachine, options.simulator);
  if (!readMachine.empty())
    files.reads("'prefill-machine'", readMachine);
  files.writes("'report'", report);
  if (std::optional<Error> error = files.check())
    return emitError(module.getLoc(), error->message);
  FailureOr<ModuleScenario> planned = createScenario(module, options);
  if (failed(planned))
    return failure();
  std::vector<ServiceVariant> variants;
  for (ServiceRequest &request : *requests)
    variants.push_back({planned->scenario, std::move(request)});
  bool hasLists = variants.size() > 1;
  ErrorOr<ServiceSummary> service =
      hasLists ? planVariants(variants)
               : planService(planned->scenario, variants.front().request);
  if (!service)
    return emitError(module.getLoc(), service.error().message);
  if (hasLists && service->best())
    sayChoice(*service);
  print(serviceTable(*service));
  if (!report.empty())
    if (std::optional<Error> error = writeFile(report, serviceJson(*service)))
      return emitError(module.getLoc(), error->message);
  if (!service->best())
    return emitError(module.getLoc(), whyNoService(*service));
  return annotate(*service, planned->program);
}

std::unique_ptr<Pass> llm::createPlanServingPass(PlanningHost host) {
  return std::make_unique<PlanServingPass>(std::move(host));
}
