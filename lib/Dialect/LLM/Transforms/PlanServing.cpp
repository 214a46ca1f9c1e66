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
#include "shardopt/Support/WriteFile.h"

#include "mlir/IR/Remarks.h"

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
  /// What the options and the module's workload say.
  ErrorOr<ServiceRequest> readRequest();
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

ErrorOr<ServiceRequest> PlanServingPass::readRequest() {
  ServiceRequest request;
  if (auto workload =
          getOperation()->getAttrOfType<WorkloadAttr>(workloadAttrName))
    request.load = workload.getRequests();
  const std::string *options[] = {
#define SHARDOPT_REQUEST_FIELD(name, Name, ...) &request##Name.getValue(),
#include "shardopt/Model/RequestFields.def"
  };
  RequestLoad said;
  for (const RequestFieldInfo &info : requestFields) {
    const std::string &text = *options[size_t(info.field)];
    if (text.empty())
      continue;
    ErrorOr<double> value = parseRequestValue(info.field, text);
    if (!value)
      return value.error();
    said[info.field] = *value;
    const std::optional<double> &held = request.load[info.field];
    if (held && *held != *value)
      print("  note      option " + std::string(info.name) + " " +
            spell(info.field, *value) + " counts, not " +
            spell(info.field, *held) + " of llm.workload\n");
  }
  request.load.replaceBy(said);
  ErrorOr<std::optional<ServiceMode>> chosen = parseServiceMode(mode);
  if (!chosen)
    return chosen.error();
  request.mode = *chosen;
  request.engine = engine;
  request.devices = devices;
  request.prefillMachine = readMachine;
  request.prefillDevices = prefillDevices;
  if (std::optional<std::string> why = request.error())
    return Error{*why};
  return request;
}

/// The taken plan as an attribute; `found` is the strategy of the module's
/// phase.
ServiceAttr PlanServingPass::describe(const ServiceSummary &service,
                                      StrategyAttr found) {
  const ServicePlan &plan = *service.best();
  const bool isApart = !plan.prefillMachine.empty();
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
  const bool isPrefill = workload && workload.getPhase() == Phase::Prefill;
  (isPrefill ? options.sloTtftMs : options.sloTpotMs) =
      std::numeric_limits<double>::infinity();
  ErrorOr<ServiceRequest> request = readRequest();
  if (!request)
    return emitError(module.getLoc(), request.error().message);
  FileRoles files = inputFiles(module, decodeMachine, options.simulator);
  if (!readMachine.empty())
    files.reads("'prefill-machine'", readMachine);
  files.writes("'report'", report);
  if (std::optional<Error> error = files.check())
    return emitError(module.getLoc(), error->message);
  FailureOr<ModuleScenario> planned = createScenario(module, options);
  if (failed(planned))
    return failure();
  ErrorOr<ServiceSummary> service = planService(planned->scenario, *request);
  if (!service)
    return emitError(module.getLoc(), service.error().message);
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
