//===- PlanServing.cpp - Plan the replicas of a service -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassOptions.h"
#include "shardopt/Analysis/StrategyAttributes.h"
#include "shardopt/Dialect/LLM/Transforms/ServingPasses.h"
#include "shardopt/Planning/ServicePlan.h"
#include "shardopt/Support/WriteFile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"

#include <cmath>

namespace shardopt::llm {
#define GEN_PASS_DEF_PLANSERVINGPASS
#include "shardopt/Dialect/LLM/Transforms/ServingPasses.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// Of a module: the replicas of the service that it was planned for.
static constexpr StringLiteral plannedServiceAttrName = "shardopt.service";

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
  /// What the options say.
  ErrorOr<ServiceRequest> readRequest();
  LogicalResult annotate(const ServiceSummary &service,
                         const ModuleModel &program);
  DictionaryAttr describe(const ServiceSummary &service, const Degrees &found);
};

} // namespace

ErrorOr<ServiceRequest> PlanServingPass::readRequest() {
  ServiceRequest request;
  const std::string *options[] = {
#define SHARDOPT_REQUEST_FIELD(name, Name, ...) &request##Name.getValue(),
#include "shardopt/Support/RequestFields.def"
  };
  for (const RequestFieldInfo &info : requestFields) {
    const std::string &text = *options[size_t(info.field)];
    if (text.empty())
      continue;
    ErrorOr<double> value = parseRequestValue(info.field, text);
    if (!value)
      return value.error();
    request.load[info.field] = *value;
  }
  ErrorOr<std::optional<ServiceMode>> chosen = parseServiceMode(mode);
  if (!chosen)
    return chosen.error();
  request.mode = *chosen;
  request.engine = engine;
  request.devices = devices;
  if (std::optional<std::string> why = request.error())
    return Error{*why};
  return request;
}

/// The degrees of a replica.
static DictionaryAttr describeReplica(Builder &builder,
                                      const Degrees &degrees) {
  NamedAttrList fields;
  visitWritten(degrees, [&](Degree degree, int64_t value) {
    Attribute written = builder.getI64IntegerAttr(value);
    if (infoOf(degree).names)
      written = builder.getStringAttr(spell(degree, value));
    fields.set(spell(degree), written);
  });
  return fields.getDictionary(builder.getContext());
}

/// The taken plan as an attribute; `found` is the strategy of the module's
/// phase.
DictionaryAttr PlanServingPass::describe(const ServiceSummary &service,
                                         const Degrees &found) {
  const cost::ServingPlan &plan = *service.best();
  const bool isFoundRead = service.scenario->isPrefill();
  Builder builder(&getContext());
  NamedAttrList fields;
  auto add = [&](const char *count, const char *strategy,
                 const cost::ServingWorkers &workers, bool isReading) {
    const bool isFound =
        isReading == isFoundRead && &workersOf(service) == &workers;
    fields.set(count, builder.getI64IntegerAttr(int64_t(workers.count)));
    fields.set(
        strategy,
        describeReplica(
            builder,
            isFound ? found : degreesOf(workers, batchOf(service, isReading))));
  };
  fields.set("engine", builder.getStringAttr(spell(service.engine)));
  fields.set("mode", builder.getStringAttr(spell(*service.mode)));
  fields.set("concurrency", builder.getI64IntegerAttr(std::max<int64_t>(
                                1, std::llround(plan.concurrency))));
  add("decoders", "decode", plan.decoders, /*isReading=*/false);
  if (plan.readers)
    add("readers", "prefill", *plan.readers, /*isReading=*/true);
  return fields.getDictionary(&getContext());
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
  module->setAttr(plannedServiceAttrName,
                  describe(service, found->plan->strategy.degrees));
  // A later pass must not take another machine for this one.
  if (!machine.empty())
    module->setAttr(machineAttrName,
                    StringAttr::get(&getContext(), lastingName(machine)));
  remark::passed(module.getLoc(),
                 remark::RemarkOpts::name("annotated").category(getArgument()))
      << remark::metric("mode", spell(*service.mode))
      << remark::metric("throughput", service.best()->tokensPerDevice);
  return success();
}

LogicalResult PlanServingPass::run() {
  ModuleOp module = getOperation();
  ScenarioOptions options;
  options.timing.machine = machine;
  options.simulator = "calibrated";
  options.stop = host.stop;
  ErrorOr<ServiceRequest> request = readRequest();
  if (!request)
    return emitError(module.getLoc(), request.error().message);
  FileRoles files = inputFiles(module, machine, options.simulator);
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
