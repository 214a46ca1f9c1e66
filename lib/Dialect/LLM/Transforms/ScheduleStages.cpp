//===- ScheduleStages.cpp - When stages run which op ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassOptions.h"
#include "shardopt/Dialect/LLM/Analysis/StrategyAttributes.h"
#include "shardopt/Dialect/LLM/Analysis/StructuralCheck.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/Transforms/Passes.h"
#include "shardopt/Planning/Ordering/OrderReport.h"
#include "shardopt/Solvers/Schedule/ScheduleText.h"
#include "shardopt/Support/CommandLine.h"
#include "shardopt/Support/WriteFile.h"

#include "mlir/IR/Builders.h"

#include <map>

namespace shardopt::llm {
#define GEN_PASS_DEF_SCHEDULESTAGESPASS
#include "shardopt/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using ordering::OrderedRing;
using ordering::OrderedStep;
using schedule::Instance;
using schedule::MachineOrders;
using schedule::Schedule;

constexpr llvm::StringLiteral deviceAttrName = "shardopt.device";
constexpr llvm::StringLiteral orderAttrName = "shardopt.order";
constexpr llvm::StringLiteral scheduleAttrName = "shardopt.schedule";

namespace {

class ScheduleStagesPass
    : public ScenarioPass<
          llm::impl::ScheduleStagesPassBase<ScheduleStagesPass>> {
public:
  using ScenarioPass::ScenarioPass;
  explicit ScheduleStagesPass(PlanningHost host)
      : ScenarioPass(std::move(host)) {}

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

private:
  LogicalResult run();
  std::optional<Error> checkOptions();
  ErrorOr<std::vector<int64_t>> readRing() const;
  ErrorOr<ordering::OrderOptions> orderOptions() const;
  std::optional<Error> orderStep(const ModuleModel &program,
                                 const cost::CostModel &costs,
                                 const Strategy &strategy,
                                 const ordering::OrderOptions &options);
  std::optional<Error> orderRing(const ModuleModel &program,
                                 const cost::CostModel &costs,
                                 const Strategy &strategy,
                                 const ordering::OrderOptions &options,
                                 std::vector<int64_t> inFlight);
  std::optional<Error> planJointly(const ModuleScenario &planned,
                                   const Strategy &strategy,
                                   const ordering::OrderOptions &options,
                                   std::vector<int64_t> inFlight);
  void describeRing(const OrderedRing &ring);
  void annotate(const ModuleModel &program, const cost::CostModel &costs,
                const std::vector<ordering::StepOrigin> &origins,
                const Instance &instance, const MachineOrders &orders);
  void describe(std::initializer_list<std::pair<const char *, int64_t>> facts);
  std::optional<Error> write(const std::string &reportText,
                             const Instance &instance,
                             const Schedule &planned) const;
};

} // namespace

std::optional<Error> ScheduleStagesPass::checkOptions() {
  FileRoles files = inputFiles(getOperation());
  files.writes("'report'", report);
  files.writes("'schedule'", schedule);
  files.writes("'trace'", trace);
  if (timeLimitS < 0)
    return Error{"'time-limit-s' is " + std::to_string(timeLimitS) +
                 ", expected seconds of at least 0"};
  if (rounds < 0)
    return Error{"'rounds' is " + std::to_string(rounds) +
                 ", expected at least 0"};
  if (timeLimitS == 0 && rounds == 0)
    return Error{"'time-limit-s' and 'rounds' are 0, expected one of them "
                 "to end the search"};
  if (joint && reorder)
    return Error{"'joint' keeps the order of programs, found 'reorder'"};
  return files.check();
}

ErrorOr<ordering::OrderOptions> ScheduleStagesPass::orderOptions() const {
  ordering::OrderOptions options;
  constexpr size_t mostTried = 16;
  if (std::optional<Error> error =
          takeIntegers(options.chunks, 1, mostTried, 1)(chunks))
    return Error{"'chunks' " + error->message};
  options.reorders = reorder;
  options.solver.timeLimit = timeLimitS;
  options.solver.rounds = rounds;
  options.solver.seed = seed;
  options.solver.threads = int(threadCount(threads));
  options.solver.stop = host.stop;
  return options;
}

/// The micro-batches of rings; none: steps are ordered.
ErrorOr<std::vector<int64_t>> ScheduleStagesPass::readRing() const {
  std::vector<int64_t> inFlight;
  constexpr size_t mostTried = 16;
  if (ring.empty())
    return inFlight;
  if (std::optional<Error> error =
          takeIntegers(inFlight, 1, mostTried, 1)(ring))
    return Error{"'ring' " + error->message};
  return inFlight;
}

/// By variable, its layers in the order of the program; embedding and head have
/// one, -1.
static std::vector<std::vector<int32_t>>
layersByVariable(const cost::CostModel &costs) {
  const cost::Model &model = costs.model();
  std::vector<std::vector<int32_t>> layers(model.numVariables(), {-1});
  for (const cost::Body &body : model.bodies)
    for (const cost::Node &node : body.nodes)
      layers[node.variable].clear();
  for (int64_t layer = 0; layer < costs.layers().numLayers(); ++layer)
    for (const cost::Node &node :
         model.bodies[costs.layers().kindOfLayer(layer).body].nodes)
      layers[node.variable].push_back(int32_t(layer));
  return layers;
}

/// How many layers an op stands for.
static int64_t countLayers(Operation *op) {
  auto repeat = op->getParentOfType<RepeatOp>();
  return repeat ? int64_t(repeat.getCount()) : 1;
}

/// Writes where and when the kernels of each op run: for each of its layers the
/// stage, and for each of its layers and of their copies the position among the
/// kernels of that stage.
///
/// `origins`: of the operators of `instance`, copy after copy.
void ScheduleStagesPass::annotate(
    const ModuleModel &program, const cost::CostModel &costs,
    const std::vector<ordering::StepOrigin> &origins, const Instance &instance,
    const MachineOrders &machineOrders) {
  std::vector<int32_t> position(instance.numOps(), 0);
  for (const std::vector<int32_t> &order : machineOrders)
    for (size_t k = 0; k < order.size(); ++k)
      position[order[k]] = int32_t(k);
  // By variable and layer, -1 coming first: the operator of the graph.
  std::map<std::pair<int32_t, int32_t>, int32_t> kernels;
  auto count = int32_t(origins.size());
  for (int32_t i = 0; i < count; ++i) {
    const ordering::StepOrigin &origin = origins[i];
    if (origin.part == ordering::StepOrigin::Part::Kernels)
      kernels[{origin.variable, origin.layer}] = i;
  }
  std::vector<std::vector<int32_t>> layersOf = layersByVariable(costs);
  Builder builder(&getContext());
  for (auto [variable, ops] : llvm::enumerate(program.ops)) {
    const std::vector<int32_t> &layers = layersOf[variable];
    size_t next = 0;
    for (ShardableOpInterface op : ops) {
      SmallVector<int32_t> devices, orders;
      for (int64_t i = countLayers(op); i > 0; --i) {
        int32_t plan = kernels.at({int32_t(variable), layers[next++]});
        devices.push_back(instance.graph().ops[plan].stage);
        for (int32_t copy = plan; copy < instance.numOps(); copy += count)
          orders.push_back(position[copy]);
      }
      op->setAttr(deviceAttrName, builder.getDenseI32ArrayAttr(devices));
      op->setAttr(orderAttrName, builder.getDenseI32ArrayAttr(orders));
    }
  }
}

/// What the module says of the schedule.
void ScheduleStagesPass::describe(
    std::initializer_list<std::pair<const char *, int64_t>> facts) {
  Builder builder(&getContext());
  SmallVector<NamedAttribute> attributes;
  for (auto [name, value] : facts)
    attributes.push_back(
        builder.getNamedAttr(name, builder.getI64IntegerAttr(value)));
  getOperation()->setAttr(scheduleAttrName,
                          builder.getDictionaryAttr(attributes));
}

std::optional<Error> ScheduleStagesPass::write(const std::string &reportText,
                                               const Instance &instance,
                                               const Schedule &planned) const {
  std::optional<Error> error;
  auto put = [&](const std::string &path, auto text) {
    if (!error && !path.empty())
      error = writeFile(path, text());
  };
  put(report, [&] { return reportText; });
  put(schedule, [&] { return shardopt::schedule::toJson(instance, planned); });
  put(trace,
      [&] { return shardopt::schedule::toChromeTrace(instance, planned); });
  return error;
}

std::optional<Error> ScheduleStagesPass::orderStep(
    const ModuleModel &program, const cost::CostModel &costs,
    const Strategy &strategy, const ordering::OrderOptions &options) {
  ErrorOr<std::vector<OrderedStep>> steps =
      ordering::orderStep(costs, strategy, options);
  if (!steps)
    return steps.error();
  size_t best = ordering::fastest(*steps);
  const OrderedStep &chosen = (*steps)[best];
  annotate(program, costs, chosen.step.origins, chosen.instance,
           chosen.orders());
  describe({{"chunks", chosen.step.chunks},
            {"lower_bound_ns", chosen.result.bound},
            {"makespan_ns", chosen.result.value}});
  print(ordering::orderTable(*steps, best));
  return write(ordering::orderJson(*steps, best), chosen.instance,
               *chosen.result.schedule);
}

std::optional<Error> ScheduleStagesPass::orderRing(
    const ModuleModel &program, const cost::CostModel &costs,
    const Strategy &strategy, const ordering::OrderOptions &options,
    std::vector<int64_t> inFlight) {
  ordering::RingOptions own;
  own.solver = options.solver;
  own.chunks = options.chunks;
  own.reorders = options.reorders;
  own.inFlight = std::move(inFlight);
  ErrorOr<std::vector<OrderedRing>> rings =
      ordering::orderRings(costs, strategy, own);
  if (!rings)
    return rings.error();
  size_t best = ordering::fastest(*rings);
  const OrderedRing &chosen = (*rings)[best];
  const Instance &instance = chosen.frame.instance;
  annotate(program, costs, chosen.step.origins, instance, chosen.turn.orders);
  describeRing(chosen);
  print(ordering::ringTable(*rings, best));
  return write(ordering::ringJson(*rings, best), instance,
               {instance.placement(), chosen.turn.starts});
}

void ScheduleStagesPass::describeRing(const OrderedRing &ring) {
  describe({{"chunks", ring.step.chunks},
            {"lower_bound_ns", ring.bound},
            {"micro_batches", ring.inFlight},
            {"turn_ns", ring.turn.period}});
}

/// Writes the strategy that is found in place of `strategy`.
std::optional<Error> ScheduleStagesPass::planJointly(
    const ModuleScenario &planned, const Strategy &strategy,
    const ordering::OrderOptions &options, std::vector<int64_t> inFlight) {
  const Scenario &scenario = *planned.scenario;
  const cost::CostModel &costs = scenario.costs();
  ordering::JointOptions wanted;
  wanted.chunks = options.chunks;
  wanted.inFlight = inFlight.empty()
                        ? ordering::usualInFlight(costs, strategy.degrees)
                        : std::move(inFlight);
  wanted.rounds = options.solver.rounds;
  wanted.timeLimit = options.solver.timeLimit;
  wanted.stop = options.solver.stop;
  ErrorOr<ordering::JointPlan> plan = ordering::planJointly(
      {planned.scenario, &costs}, scenario.expertSkew(), strategy, wanted);
  if (!plan)
    return plan.error();
  const ordering::JointChoice &joint = plan->joint;
  writeAnnotation(getOperation(), planned.program, Annotation(joint.strategy));
  annotate(planned.program, costs, joint.ring->step.origins, joint.instance(),
           joint.ring->turn.orders);
  describeRing(*joint.ring);
  const std::string &simulator = scenario.simulatorName();
  print(ordering::jointTable(*plan, simulator));
  return write(ordering::jointJson(*plan, simulator, scenario.opNames()),
               joint.instance(), joint.schedule());
}

LogicalResult ScheduleStagesPass::run() {
  ModuleOp module = getOperation();
  auto fail = [&](const std::string &message) {
    return emitError(module.getLoc(), message);
  };
  if (std::optional<Error> error = checkOptions())
    return fail(error->message);
  ErrorOr<ordering::OrderOptions> options = orderOptions();
  if (!options)
    return fail(options.error().message);
  ErrorOr<std::vector<int64_t>> inFlight = readRing();
  if (!inFlight)
    return fail(inFlight.error().message);
  FailureOr<ModuleScenario> planned = createScenario(module, scenarioOptions());
  if (failed(planned))
    return failure();
  const Scenario &scenario = *planned->scenario;
  if (std::optional<Error> error = checkCanBeOpened(scenario))
    return fail(error->message);
  Annotation annotation = readAnnotation(module, planned->program);
  std::optional<Strategy> strategy = annotation.strategy();
  if (!strategy)
    return fail("the strategy is incomplete: " +
                annotation.firstMissing(planned->program) + " is missing");
  if (failed(checkStructure(module, planned->program, *strategy,
                            scenario.maxDevices())))
    return failure();
  const ModuleModel &program = planned->program;
  const cost::CostModel &costs = scenario.costs();
  if (std::optional<Error> error =
          joint ? planJointly(*planned, *strategy, *options, *inFlight)
          : inFlight->empty()
              ? orderStep(program, costs, *strategy, *options)
              : orderRing(program, costs, *strategy, *options, *inFlight))
    return fail(error->message);
  return success();
}

std::unique_ptr<Pass> llm::createScheduleStagesPass(PlanningHost host) {
  return std::make_unique<ScheduleStagesPass>(std::move(host));
}
