//===- Module.cpp - The planner for Python --------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The private module `_shardopt`: a few functions over numbers, strings and
// JSON. What users see are the Python classes around it (python/shardopt). What
// is wrong with an input is a ValueError with the message of our own.
//
//===----------------------------------------------------------------------===//

#include "AskTell.h"
#include "DegreeTable.h"
#include "Interrupt.h"
#include "NumberColumns.h"
#include "Rows.h"
#include "Settings.h"

#include "shardopt/Model/DegreeList.h"
#include "shardopt/Model/Machine/Machine.h"
#include "shardopt/Model/Machine/MachineWriter.h"
#include "shardopt/Planning/Planner.h"
#include "shardopt/Planning/ServiceAdvice.h"
#include "shardopt/Planning/ServiceEvaluation.h"
#include "shardopt/Planning/ServiceFrontier.h"
#include "shardopt/Planning/ServicePlan.h"
#include "shardopt/Search/Agent/Registration.h"
#include "shardopt/Support/Choice.h"
#include "shardopt/Support/Suggest.h"
#include "shardopt/Target/ModelFile.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <future>
#include <mutex>
#include <optional>

namespace py = pybind11;
using namespace shardopt;

namespace {

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

LoadedModel importConfig(const std::string &path, const std::string &phase,
                         int64_t context, const std::string &weights,
                         const std::string &caches) {
  cost::Workload workload;
  workload.phase = orRaise(parseChoice<cost::Phase>(
      "phase", phase,
      {{"decode", cost::Phase::Decode}, {"prefill", cost::Phase::Prefill}}));
  workload.context = context;
  return orRaise(importConfigFile(path, workload, {weights, caches}));
}

using Choices = std::vector<std::pair<int, std::string>>;

/// Each op with the dims that it has, and what they cut.
std::vector<std::pair<std::string, Choices>> opsOf(const LoadedModel &model) {
  std::vector<std::pair<std::string, Choices>> ops;
  for (const cost::Node *node : model.costs.nodesByVariable()) {
    Choices choices;
    for (const cost::DimChoice &choice : node->op->choices())
      choices.emplace_back(int(choice.dim), choice.name);
    ops.emplace_back(node->name, std::move(choices));
  }
  return ops;
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

class NativeProblem {
public:
  NativeProblem(const LoadedModel &model, const py::dict &settings);

  py::tuple plan(const py::dict &settings) const;
  py::tuple planService(const py::dict &settings) const;
  py::tuple evaluateService(const py::dict &settings) const;
  py::list replayService(const py::dict &settings,
                         const std::vector<std::array<double, 4>> &requests,
                         double concurrency) const;
  py::tuple sizeService(const py::dict &settings) const;
  std::string adviseService(const py::dict &settings) const;
  py::tuple serviceFrontier(const py::dict &settings) const;
  py::tuple describe(const Numbers &strategy) const;
  std::vector<std::pair<std::string, Numbers>>
  space(const py::dict &settings) const;
  py::list evaluate(const py::list &rows, const py::type &metricsType,
                    const py::type &strategyType,
                    const py::object &numbersOf) const {
    return evaluateRows(*scenario, rows, metricsType, strategyType, numbersOf);
  }
  std::map<std::string, uint64_t> failures() const;
  std::optional<std::string> breakdown() const;
  std::optional<std::string> whyNotRun(const std::string &engine,
                                       const Numbers &strategy) const;
  std::optional<std::string> whyNoTransfer(const std::string &engine,
                                           const RoleNumbers &prefill,
                                           const RoleNumbers &decode) const;
  Numbers engineDims(const std::string &engine, const Numbers &strategy) const;

  Strategy readStrategy(const Numbers &numbers) const {
    return shardopt::readStrategy(*scenario, numbers);
  }

  /// Before the scenario, which polls it and goes first.
  std::shared_ptr<Interrupt> interrupt = std::make_shared<Interrupt>();
  std::shared_ptr<const Scenario> scenario;

private:
  friend class NativeSearch;
  struct Told;

  PlanRequest readRequest(const py::dict &settings) const;
  template <typename Work>
  auto searched(const py::dict &settings, Work work) const;
};

class NativeSearch {
public:
  /// What a searcher plans before it is asked takes a moment.
  NativeSearch(const NativeProblem &problem, const py::dict &settings)
      : problem(problem),
        search(orRaise(problem.interrupt->finish(
            [&problem, request = problem.readRequest(settings)] {
              return AskTell::create(problem.scenario, request);
            }))) {}

  std::string name() const { return search->name(); }
  bool done() const { return search->done(); }
  std::vector<Numbers> ask(size_t n);
  void tell(const Numbers &strategy, const py::tuple &metrics) {
    search->tell(problem.readStrategy(strategy), readMetrics(metrics));
  }
  bool better(const py::tuple &a, const py::tuple &b) const {
    return search->better(readMetrics(a), readMetrics(b));
  }

private:
  static Evaluation readMetrics(const py::tuple &metrics);

  const NativeProblem problem;
  const std::unique_ptr<AskTell> search;
};

} // namespace

NativeProblem::NativeProblem(const LoadedModel &model,
                             const py::dict &settings) {
  ScenarioOptions options;
  options.timing.machine = model.machine;
  take(settings, "machine", options.timing.machine);
  take(settings, "comm_model", options.timing.commModel);
  take(settings, "imbalance", options.timing.imbalance);
  take(settings, "max_devices", options.maxDevices);
  take(settings, "tpot_ms", options.sloTpotMs);
  take(settings, "ttft_ms", options.sloTtftMs);
  take(settings, "simulator", options.simulator);
  take(settings, "partition", options.partition);
  take(settings, "count_idle", options.countIdle);
  take(settings, "simulator_timeout_s", options.simulatorTimeoutSeconds);
  // Of a process of its own the first failure of each kind, as it happens.
  bool isTold = options.simulator.rfind("exec:", 0) == 0 ||
                options.simulator.rfind("plugin:", 0) == 0;
  options.warn = [isTold](const std::string &message) {
    if (isTold)
      std::fprintf(stderr, "shardopt: %s\n", message.c_str());
  };
  options.stop = interrupt->token();
  auto create = [&] {
    return Scenario::create(model.name, model.costs, options);
  };
  scenario = orRaise(isTold ? interrupt->finish(create) : create());
}

/// How often a simulator in a process of its own has failed, by kind.
std::map<std::string, uint64_t> NativeProblem::failures() const {
  std::map<std::string, uint64_t> counts;
  if (!scenario->external())
    return counts;
  blackbox::FailureCounts found = scenario->external()->failures();
  for (size_t kind = 0; kind < blackbox::numFailures; ++kind)
    if (found.counts[kind])
      counts[spell(blackbox::Failure(kind))] = found.counts[kind];
  return counts;
}

/// Why it cannot be started any more, or None.
std::optional<std::string> NativeProblem::breakdown() const {
  if (scenario->external())
    if (std::optional<Error> error = scenario->external()->breakdown())
      return error->message;
  return std::nullopt;
}

std::optional<std::string>
NativeProblem::whyNotRun(const std::string &engine,
                         const Numbers &strategy) const {
  return shardopt::whyNotRun(orRaise(parseRunner(engine)),
                             readStrategy(strategy),
                             EngineFacts(scenario->model()));
}

/// The dim that `engine` gives to each op under the degrees of `strategy`.
Numbers NativeProblem::engineDims(const std::string &engine,
                                  const Numbers &strategy) const {
  std::vector<Dim> dims = shardopt::engineDims(orRaise(parseRunner(engine)),
                                               readStrategy(strategy).degrees,
                                               EngineFacts(scenario->model()));
  Numbers numbers;
  for (Dim dim : dims)
    numbers.push_back(int64_t(dim));
  return numbers;
}

PlanRequest NativeProblem::readRequest(const py::dict &settings) const {
  PlanRequest request;
  std::map<std::string, std::string> lists;
  take(settings, "lists", lists);
  for (const auto &[name, text] : lists) {
    std::optional<Degree> degree = parseDegree(name);
    if (!degree)
      throw py::value_error("unknown degree '" + abbreviate(name) + "'; " +
                            listKnown(name, degreeNames()));
    request.space.lists[*degree] = orRaise(parseDegreeList(*degree, text));
  }
  std::map<std::string, int> dims;
  take(settings, "dims", dims);
  const std::vector<std::string> &names = scenario->opNames();
  request.space.pinnedDims.resize(names.size());
  for (const auto &[name, dim] : dims) {
    auto op = std::find(names.begin(), names.end(), name);
    if (op == names.end())
      throw py::value_error("unknown op '" + abbreviate(name) + "'; " +
                            listKnown(name, names));
    request.space.pinnedDims[op - names.begin()] = Dim(dim);
  }
  take(settings, "stages", request.space.pinned.stages.layers);
  std::string engine, space = "uniform", objective = "throughput";
  take(settings, "engine", engine);
  if (!engine.empty()) {
    request.engine = orRaise(parseRunner(engine));
    space = "serving";
  }
  take(settings, "space", space);
  request.space.kind = orRaise(parseChoice<search::SpaceKind>(
      "space", space,
      {{"uniform", search::SpaceKind::Uniform},
       {"serving", search::SpaceKind::Serving}}));
  take(settings, "objective", objective);
  request.goal = orRaise(
      parseChoice<search::Goal>("objective", objective,
                                {{"throughput", search::Goal::Throughput},
                                 {"latency", search::Goal::Latency}}));
  if (scenario->maxDevices())
    request.space.maxDevices = scenario->maxDevices();
  take(settings, "runnable_loss", request.runnableLoss);
  take(settings, "searcher", request.searcher);
  take(settings, "seed", request.seed);
  take(settings, "budget", request.budget);
  take(settings, "threads", request.threads);
  take(settings, "checkpoint", request.checkpoint);
  take(settings, "program", request.program);
  request.stop = interrupt->token();
  return request;
}

/// What a search has found so far, told by its thread.
struct NativeProblem::Told {
  std::mutex mutex;
  uint64_t charged = 0;
  std::optional<Evaluation> best;

  void tell(const search::TraceEntry &entry) {
    std::lock_guard lock(mutex);
    charged = entry.charged;
    if (entry.best)
      best = *entry.best;
  }

  /// Tells `show` of it, in the thread of Python; the search goes on meanwhile.
  void show(const py::object &show) {
    std::unique_lock lock(mutex);
    uint64_t count = charged;
    std::optional<Evaluation> found = best;
    lock.unlock();
    if (found)
      show(count, found->throughput, found->latencyMs);
    else
      show(count, py::none(), py::none());
  }
};

/// The table, the report as JSON, why there is no plan (or None), and whether
/// an interrupt ended the search.
static py::tuple describePlan(const PlanSummary &summary, bool isInterrupted) {
  std::optional<std::string> why;
  if (std::optional<Error> error = failureOf(summary))
    why = error->message;
  return py::make_tuple(summary.emptySpace ? "" : planTable(summary),
                        reportJson(summary), why, isInterrupted);
}

/// Opens what a searcher is made with, before an exception can wait for it.
static void openFirst(const PlanRequest &request) {
  const py::gil_scoped_release release;
  agent::openNetworks(request.searcher);
}

py::tuple NativeProblem::plan(const py::dict &settings) const {
  PlanRequest request = readRequest(settings);
  openFirst(request);
  py::object progress = py::none();
  take(settings, "progress", progress);
  Told told;
  if (!progress.is_none())
    request.progress = [&](const search::TraceEntry &entry, auto) {
      told.tell(entry);
    };
  auto [found, isInterrupted] =
      interrupt->run([&] { return makePlan(scenario, request); },
                     [&] {
                       if (!progress.is_none())
                         told.show(progress);
                     });
  return describePlan(orRaise(std::move(found)), isInterrupted);
}

/// Why `engine` sends no caches between workers of these degrees, or None.
std::optional<std::string>
NativeProblem::whyNoTransfer(const std::string &engine,
                             const RoleNumbers &prefill,
                             const RoleNumbers &decode) const {
  return shardopt::whyNoTransfer(
      orRaise(parseRunner(engine)), readRole("prefill", prefill).degrees,
      readRole("decode", decode).degrees, EngineFacts(scenario->model()));
}

/// A service that is given as a table and as JSON, and what it does not keep,
/// or None.
py::tuple NativeProblem::evaluateService(const py::dict &settings) const {
  ServiceSummary service = orRaise(shardopt::evaluateService(
      scenario, readService(settings), readGiven(settings)));
  return py::make_tuple(serviceTable(service), serviceJson(service),
                        whyNotKept(service));
}

/// Seconds of arrival, first token and end of each of `requests`, which are
/// (arrival in seconds, tokens in, tokens out, tokens in the prefix cache), in
/// the workers of a service that is given.
py::list
NativeProblem::replayService(const py::dict &settings,
                             const std::vector<std::array<double, 4>> &requests,
                             double concurrency) const {
  ServiceRequest asked = readService(settings);
  asked.stop = interrupt->token();
  GivenService given = readGiven(settings);
  std::vector<cost::TracedRequest> traced;
  for (const auto &[arrival, input, output, cached] : requests)
    traced.push_back({arrival, input, output, cached});
  auto served = orRaise(interrupt->finish([&] {
    return shardopt::replayService(scenario, asked, given, traced, concurrency);
  }));
  py::list rows;
  for (const cost::ServedRequest &one : served)
    rows.append(py::make_tuple(one.arrivalS, one.firstTokenS, one.endS));
  return rows;
}

/// What `work` makes of the request of `settings`. It is interrupted as a plan
/// is, and tells `progress` of `settings` how many loads were evaluated, and
/// the tokens a second per GPU and the TPOT of the best, or None.
template <typename Work>
auto NativeProblem::searched(const py::dict &settings, Work work) const {
  ServiceRequest asked = readService(settings);
  asked.stop = interrupt->token();
  ServiceWatch watch;
  asked.watch = &watch;
  py::object progress = py::none();
  take(settings, "progress", progress);
  auto [found, isInterrupted] = interrupt->run(
      [&] { return work(asked); },
      [&] {
        if (progress.is_none())
          return;
        if (auto best = watch.best())
          progress(watch.evaluations(), best->tokensPerDevice, best->tpotMs);
        else
          progress(watch.evaluations(), py::none(), py::none());
      });
  if (isInterrupted && !found) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw py::error_already_set();
  }
  return orRaise(std::move(found));
}

/// The table, JSON, and why there is no plan, or None.
static py::tuple describeService(const ServiceSummary &service) {
  std::optional<std::string> why;
  if (!service.best())
    why = whyNoService(service);
  return py::make_tuple(serviceTable(service), serviceJson(service), why);
}

/// The "variants" of `settings`, each a problem and its settings.
static std::vector<ServiceVariant> variantsOf(const py::dict &settings) {
  std::vector<ServiceVariant> variants;
  if (settings.contains("variants"))
    for (const py::handle &one : settings["variants"]) {
      auto [problem, own] = one.cast<std::pair<py::object, py::dict>>();
      variants.push_back(
          {problem.cast<const NativeProblem &>().scenario, readService(own)});
    }
  return variants;
}

/// They are stopped and watched as `asked` is.
static void follow(std::vector<ServiceVariant> &variants,
                   const ServiceRequest &asked) {
  for (ServiceVariant &variant : variants) {
    variant.request.stop = asked.stop;
    variant.request.watch = asked.watch;
  }
}

/// The best of the "variants" of `settings`, where there are some, and its
/// number; with "bands" the one for them.
py::tuple NativeProblem::planService(const py::dict &settings) const {
  std::vector<ServiceVariant> variants = variantsOf(settings);
  std::vector<std::tuple<std::string, double, double>> said;
  take(settings, "bands", said);
  std::vector<ServiceBand> bands;
  for (const auto &[name, low, high] : said)
    bands.push_back({name, low, high});
  ServiceSummary found = searched(settings, [&](const ServiceRequest &asked) {
    if (settings.contains("bands"))
      return shardopt::planRobust(scenario, asked, bands);
    follow(variants, asked);
    return variants.empty() ? shardopt::planService(scenario, asked)
                            : planVariants(variants);
  });
  return describeService(found) + py::make_tuple(found.variant);
}

/// The service of fewest GPUs, or of least cost, at a rate.
py::tuple NativeProblem::sizeService(const py::dict &settings) const {
  return describeService(searched(settings, [&](const ServiceRequest &asked) {
    return shardopt::sizeService(scenario, asked);
  }));
}

/// The Pareto frontier of tokens a second per GPU and of a user, over the
/// "variants" of `settings`, as JSON, and why it is empty, or None.
py::tuple NativeProblem::serviceFrontier(const py::dict &settings) const {
  double step = defaultFrontierStep;
  take(settings, "step", step);
  std::vector<ServiceVariant> variants = variantsOf(settings);
  ServiceFrontier frontier =
      searched(settings, [&](const ServiceRequest &asked) {
        if (variants.empty())
          variants.push_back({scenario, asked});
        follow(variants, asked);
        return shardopt::serviceFrontier(variants, step);
      });
  std::optional<std::string> why;
  if (!frontier.points.front().best())
    why = whyNoService(frontier.points.front());
  return py::make_tuple(frontierJson(frontier), why);
}

/// What binds, and what would help, as JSON.
std::string NativeProblem::adviseService(const py::dict &settings) const {
  return adviceJson(searched(settings, [&](const ServiceRequest &asked) {
    return shardopt::adviseService(scenario, asked);
  }));
}

/// The values of each degree that is open, and the dims of each op, that a
/// search chooses from.
std::vector<std::pair<std::string, Numbers>>
NativeProblem::space(const py::dict &settings) const {
  auto space = orRaise(search::StrategySpace::create(
      scenario->spaceFacts(), readRequest(settings).space));
  std::vector<std::pair<std::string, Numbers>> values;
  for (Degree degree : space.openDegrees())
    values.emplace_back(spell(degree), space.degreeDomain(degree));
  for (size_t op = 0; op < space.ops().size(); ++op) {
    Numbers dims;
    for (Dim dim : space.dimDomains()[op])
      dims.push_back(int64_t(dim));
    values.emplace_back(space.ops()[op], std::move(dims));
  }
  return values;
}

/// The table, the report as JSON, and why a strategy of the user's is invalid
/// (or None).
py::tuple NativeProblem::describe(const Numbers &numbers) const {
  Strategy strategy = readStrategy(numbers);
  PlanSummary summary(scenario);
  summary.planName = "given";
  summary.tellsEngines = !strategy.degrees.isUniform();
  summary.plan =
      search::Plan{strategy, scenario->simulator().evaluate(strategy)};
  summary.search.evaluations = summary.search.distinctEvaluations = 1;
  std::optional<std::string> why;
  if (!summary.plan->evaluation.valid) {
    summary.binding = explainInvalid(*scenario, *summary.plan);
    why = "the strategy is invalid: " +
          shardopt::describe(summary.binding, *scenario);
  }
  return py::make_tuple(planTable(summary), reportJson(summary), why);
}

/// A searcher may think for long; it knows nothing of Python.
std::vector<Numbers> NativeSearch::ask(size_t n) {
  std::vector<Strategy> asked;
  {
    py::gil_scoped_release release;
    asked = search->ask(n);
  }
  std::vector<Numbers> numbers;
  for (const Strategy &strategy : asked)
    numbers.push_back(numbersOf(strategy));
  return numbers;
}

/// The first five fields of a `Metrics`.
Evaluation NativeSearch::readMetrics(const py::tuple &metrics) {
  Evaluation evaluation;
  evaluation.valid = metrics[0].cast<bool>();
  auto reason = metrics[1].cast<std::string>();
  for (Reason known : {Reason::None, Reason::Structural, Reason::Memory,
                       Reason::Slo, Reason::Failed})
    if (reason == spell(known))
      evaluation.reason = known;
  evaluation.throughput = metrics[2].cast<double>();
  evaluation.latencyMs = metrics[3].cast<double>();
  evaluation.memoryGb = metrics[4].cast<double>();
  return evaluation;
}

/// When the constants of measured kernels of a machine were fitted, and their
/// fingerprint; None where it has none.
static std::optional<std::pair<std::string, std::string>>
constantsOf(const std::string &nameOrFile) {
  Machine machine = orRaise(loadMachine(nameOrFile));
  if (!machine.calibration)
    return std::nullopt;
  return std::pair(machine.calibration->date,
                   fingerprintOf(*machine.calibration));
}

/// The constants of an engine on a machine, by the names of its options.
static std::map<std::string, double>
engineConstants(const std::string &name, const std::string &nameOrFile) {
  cost::ServingEngine engine =
      orRaise(cost::findEngine(name, /*version=*/"", /*isTuned=*/true));
  Machine machine = orRaise(loadMachine(nameOrFile));
  if (auto wrong = cost::applyCalibration(machine, engine))
    throw py::value_error(wrong->message);
  return cost::constantsOf(engine);
}

static std::string machineJson(const std::string &nameOrFile) {
  std::string text;
  json::Writer writer(text);
  writeMachine(writer, orRaise(loadMachine(nameOrFile)));
  return text;
}

PYBIND11_MODULE(_shardopt, module) {
  module.doc() = "The planner, behind shardopt's classes.";
  module.attr("version") = SHARDOPT_VERSION;
  addDegrees(module);
  module.attr("usual_engine") = spell(usualEngine);
  module.attr("runnable_loss") = runnableLoss;
  module.attr("requests") = requestFieldNames();
  py::dict former;
  for (const auto &[name, field] : formerRequestNames)
    former[name] = spell(field);
  module.attr("former_requests") = former;
  py::dict parts;
  for (const cost::StepPart &part : cost::stepParts)
    parts[part.key] = part.label;
  module.attr("step_parts") = parts;
  module.def("machines", &knownMachines);
  module.def("constants_of", &constantsOf);
  module.def("engine_constants", &engineConstants);
  module.def(
      "check_requests",
      [](const std::map<std::string, double> &numbers) { readLoad(numbers); });
  module.def("check_lengths",
             [](const std::vector<std::array<double, 3>> &lengths) {
               if (auto why = cost::whyNoLengths(readLengths(lengths)))
                 throw py::value_error(*why);
             });
  module.def("number_columns", &numberColumns);
  module.def("machine_json", &machineJson);
  module.def("list_known", [](const std::string &name,
                              std::vector<std::string> known, size_t most) {
    return listKnown(name, std::move(known), most);
  });
  module.def("import_config", &importConfig);
  module.def("read_module",
             [](const std::string &path, const std::string &weights,
                const std::string &caches) {
               return orRaise(readModuleFile(path, {weights, caches}));
             });
  module.def("read_module_text",
             [](const std::string &text, const std::string &name,
                const std::string &weights, const std::string &caches) {
               return orRaise(readModuleText(text, name, {weights, caches}));
             });
  py::class_<LoadedModel>(module, "Model")
      .def_readonly("name", &LoadedModel::name)
      .def_readonly("machine", &LoadedModel::machine)
      .def_readonly("module", &LoadedModel::module)
      .def_property_readonly("phase",
                             [](const LoadedModel &model) {
                               return std::string(
                                   spell(model.costs.workload.phase));
                             })
      .def_property_readonly(
          "context",
          [](const LoadedModel &model) { return model.costs.workload.context; })
      .def_property_readonly(
          "layers",
          [](const LoadedModel &model) { return model.costs.numLayers(); })
      .def_property_readonly("experts",
                             [](const LoadedModel &model) {
                               return EngineFacts(model.costs).experts;
                             })
      .def_property_readonly("has_dense_layers",
                             [](const LoadedModel &model) {
                               EngineFacts facts(model.costs);
                               return std::find(facts.isInDenseStack.begin(),
                                                facts.isInDenseStack.end(),
                                                true) !=
                                      facts.isInDenseStack.end();
                             })
      .def_property_readonly("ops", &opsOf);
  py::class_<NativeProblem>(module, "Problem")
      .def(py::init<const LoadedModel &, const py::dict &>())
      .def_property_readonly("machine",
                             [](const NativeProblem &problem) {
                               return problem.scenario->machine().name;
                             })
      .def_property_readonly("slo_ms",
                             [](const NativeProblem &problem) {
                               return problem.scenario->sloMs();
                             })
      .def_property_readonly("memory_gb",
                             [](const NativeProblem &problem) {
                               return problem.scenario->memoryCapacityGb();
                             })
      .def("plan", &NativeProblem::plan)
      .def("plan_service", &NativeProblem::planService)
      .def("evaluate_service", &NativeProblem::evaluateService)
      .def("replay_service", &NativeProblem::replayService)
      .def("size_service", &NativeProblem::sizeService)
      .def("advise_service", &NativeProblem::adviseService)
      .def("service_frontier", &NativeProblem::serviceFrontier)
      .def("describe", &NativeProblem::describe)
      .def("space", &NativeProblem::space)
      .def("evaluate", &NativeProblem::evaluate)
      .def_property_readonly("failures", &NativeProblem::failures)
      .def_property_readonly("breakdown", &NativeProblem::breakdown)
      .def("why_not_run", &NativeProblem::whyNotRun)
      .def("why_no_transfer", &NativeProblem::whyNoTransfer)
      .def("engine_dims", &NativeProblem::engineDims);
  py::class_<NativeSearch>(module, "Search")
      .def(py::init<const NativeProblem &, const py::dict &>())
      .def_property_readonly("name", &NativeSearch::name)
      .def_property_readonly("done", &NativeSearch::done)
      .def("ask", &NativeSearch::ask)
      .def("tell", &NativeSearch::tell)
      .def("better", &NativeSearch::better);
}
