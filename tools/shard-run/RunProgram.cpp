//===- RunProgram.cpp - Runs a program on given or random inputs ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "shardopt/Dialect/LLM/IR/ModuleAttributes.h"
#include "shardopt/Execution/Feeds.h"
#include "shardopt/Execution/Tensors/Npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <filesystem>
#include <map>

using namespace shardopt;
using namespace shardopt::execution;
using namespace shardopt::run;
using namespace shardopt::tensors;

namespace {

/// What a program is fed.
struct Session {
  RunRequest request;
  bool isPrefill = false;
  int64_t begin = 0; ///< the first position of every prompt, with --tokens
  int64_t end = 0;   ///< that behind the last one
};

} // namespace

/// The tensor `name` of a checkpoint-like file, with `rank` dims.
static ErrorOr<Tensor> readTensor(const std::string &path,
                                  const std::string &name, size_t rank,
                                  const char *dims) {
  ErrorOr<SafeTensors> file = SafeTensors::open(path);
  if (!file)
    return file.error();
  ErrorOr<Tensor> tensor = file->read(name);
  if (!tensor)
    return Error{path + ": " + tensor.error().message};
  if (tensor->shape().size() != rank)
    return Error{path + ": '" + name + "' has the shape " +
                 toString(tensor->shape()) + ", expected " + dims};
  return tensor;
}

/// Feeds the tokens of a file from `session.begin` on: decode all of them, from
/// an empty cache or what a program before has left; prefill its context.
static std::optional<Error> feedTokens(const Options &options,
                                       const ProgramWorkload &workload,
                                       int64_t vocabulary, Session &session) {
  ErrorOr<Tensor> tokens =
      readTensor(options.tokens, "tokens", 2, "[prompts, length]");
  if (!tokens)
    return tokens.error();
  if (tokens->element() != Element::I32)
    return Error{options.tokens + ": 'tokens' are no integers"};
  for (int32_t token : tokens->ints())
    if (token < 0 || (vocabulary > 0 && token >= vocabulary))
      return Error{options.tokens + ": token " + std::to_string(token) +
                   ", expected 0 to " + std::to_string(vocabulary - 1)};
  if (tokens->size() == 0)
    return Error{options.tokens + ": 'tokens' has the shape " +
                 toString(tokens->shape()) + ", expected at least one token"};
  RunRequest &request = session.request;
  request.prompts = tokens->shape()[0];
  int64_t length = tokens->shape()[1];
  request.cachePositions = length;
  request.areCachesRandom = false;
  if (!session.isPrefill) {
    if (session.begin >= length)
      return Error{options.tokens + ": prompts of " + std::to_string(length) +
                   " tokens, and none is left behind the " +
                   std::to_string(session.begin) + " of the program before"};
    request.steps = stepsOf(*tokens, session.begin);
    session.end = length;
    return std::nullopt;
  }
  if (session.begin > 0)
    return Error{"--then is a program of prefill, expected one of decode"};
  int64_t context = workload.context;
  if (context > length)
    return Error{options.tokens + ": prompts of " + std::to_string(length) +
                 " tokens, the program wants " + std::to_string(context)};
  request.rowsPerPrompt = context;
  request.steps = {promptsOf(*tokens, context)};
  session.end = context;
  return std::nullopt;
}

/// What is wrong with tokens or positions in a file: `rows` integers from
/// `least` to `end` - 1 are expected; `end` 0 is no limit.
static std::optional<Error> checkRows(const std::string &path,
                                      const Tensor &tensor, int64_t rows,
                                      int64_t least, int64_t end) {
  if (tensor.element() != Element::I32 || tensor.shape() != Shape{rows})
    return Error{path + ": a tensor of " +
                 (tensor.element() == Element::I32 ? "integers" : "floats") +
                 " of the shape " + toString(tensor.shape()) +
                 ", expected integers of the shape " + std::to_string(rows)};
  for (int32_t value : tensor.ints())
    if (value < least || (end > 0 && value >= end))
      return Error{path + ": " + std::to_string(value) + ", expected " +
                   std::to_string(least) + " to " + std::to_string(end - 1)};
  return std::nullopt;
}

/// Takes arguments from the folder of --inputs. Tokens and positions in it are
/// those of one step.
static std::optional<Error> readInputs(const Options &options,
                                       const ProgramInterface &interface,
                                       int64_t vocabulary,
                                       RunRequest &request) {
  namespace fs = std::filesystem;
  std::error_code code;
  if (!fs::is_directory(options.inputs, code))
    return Error{options.inputs + ": not a folder"};
  std::optional<Feed> feed;
  bool isAny = false;
  for (const Entry &stage : interface.stages)
    for (const Operand &operand : stage.arguments) {
      std::string path =
          (fs::path(options.inputs) / (operand.name + ".npy")).string();
      if (!fs::exists(path, code))
        continue;
      ErrorOr<Tensor> tensor = readNpy(path);
      if (!tensor)
        return tensor.error();
      isAny = true;
      if (operand.role == Role::Tokens || operand.role == Role::Positions) {
        if (!feed)
          feed = request.steps.front();
        bool isTokens = operand.role == Role::Tokens;
        if (auto error =
                checkRows(path, *tensor, feed->tokens.size(), isTokens ? 0 : -1,
                          isTokens ? vocabulary : request.cachePositions))
          return error;
        (isTokens ? feed->tokens : feed->positions) = std::move(*tensor);
        continue;
      }
      request.arguments[operand.name] = std::move(*tensor);
    }
  if (!isAny)
    return Error{options.inputs +
                 ": no file in it is named after an argument, as arg0.npy"};
  if (feed)
    request.steps = {std::move(*feed)};
  else
    request.steps.resize(1);
  return std::nullopt;
}

/// Logits of steps as one tensor: [prompts, steps, vocabulary] in decode,
/// [prompts, vocabulary] in prefill. Token ids likewise. All are of one shape.
static Tensor stackSteps(const std::vector<const Tensor *> &steps,
                         bool isPrefill) {
  const Tensor &first = *steps.front();
  if (isPrefill || first.shape().empty())
    return first;
  Shape shape = first.shape();
  shape.insert(shape.begin() + 1, int64_t(steps.size()));
  Tensor stacked(first.element(), shape);
  int64_t prompts = shape[0],
          width = first.size() / std::max<int64_t>(1, prompts);
  int64_t bytes = width * sizeOf(first.element());
  std::byte *to = stacked.data();
  for (int64_t p = 0; p < prompts; ++p)
    for (const Tensor *step : steps) {
      const std::byte *from = step->data() + p * bytes;
      to = std::copy(from, from + bytes, to);
    }
  return stacked;
}

/// Results of all steps by name. Errors: one that has another shape in another
/// step.
static ErrorOr<std::map<std::string, Tensor>>
stackResults(const Expected &whole, const ProgramInterface &interface,
             bool isPrefill) {
  std::map<std::string, Tensor> tensors;
  const std::vector<Operand> &results = interface.stages.back().results;
  for (size_t i = 0; i < results.size(); ++i) {
    std::vector<const Tensor *> steps;
    for (const auto &step : whole.results) {
      steps.push_back(&step[i]);
      if (step[i].shape() != steps.front()->shape())
        return Error{"'" + results[i].name + "' has the shape " +
                     toString(step[i].shape()) + " in step " +
                     std::to_string(steps.size() - 1) + ", expected " +
                     toString(steps.front()->shape()) + " as in step 0"};
    }
    tensors[results[i].name] = stackSteps(steps, isPrefill);
  }
  return tensors;
}

/// Writes results, caches and kept values as .npy.
static std::optional<Error> dump(const Options &options,
                                 const ProgramInterface &interface,
                                 const Expected &whole,
                                 const std::vector<RankOutcome> &outcomes) {
  namespace fs = std::filesystem;
  std::error_code code;
  fs::create_directories(options.dump, code);
  if (code)
    return Error{options.dump + ": cannot make the folder: " + code.message()};
  auto write = [&](const std::string &name, const Tensor &tensor) {
    std::string file = name + ".npy";
    std::replace(file.begin(), file.end(), '/', '_'); // ops may be named so
    return writeNpy((fs::path(options.dump) / file).string(), tensor);
  };
  const std::vector<Operand> &results = interface.stages.back().results;
  for (size_t step = 0; step < whole.results.size(); ++step)
    for (size_t i = 0; i < results.size(); ++i) {
      std::string name = results[i].name;
      if (whole.results.size() > 1)
        name += ".step" + std::to_string(step);
      if (auto error = write(name, whole.results[step][i]))
        return error;
    }
  for (const auto &[name, cache] : whole.caches)
    if (auto error = write(name, cache))
      return error;
  for (size_t rank = 0; rank < outcomes.size(); ++rank) {
    std::map<std::string, int64_t> runs;
    for (const KeptValue &value : outcomes[rank].values) {
      const std::string &op = interface.sites[value.site].kept->op;
      std::string name = op + "." + std::to_string(runs[op]++);
      if (outcomes.size() > 1)
        name += ".rank" + std::to_string(rank);
      if (auto error = write(name, value.value))
        return error;
    }
  }
  return std::nullopt;
}

/// Compares logits with the file's.
static std::optional<Error>
compareLogits(const Options &options, const Session &session,
              const std::map<std::string, Tensor> &results, Verdict &verdict) {
  auto found = results.find("logits");
  if (found == results.end())
    return Error{"the program has no logits to compare, and was partitioned "
                 "without them: give the annotated module, or import it with "
                 "--logits"};
  ErrorOr<Tensor> expected =
      readTensor(options.expect, "logits", 3, "[prompts, length, vocabulary]");
  if (!expected)
    return expected.error();
  if (expected->element() != Element::F32)
    return Error{options.expect + ": 'logits' are integers, expected floats"};
  const Tensor &logits = found->second;
  int64_t length = expected->shape()[1];
  // The positions that the program gives: of prefill, the last of the prompt.
  int64_t begin = session.isPrefill ? session.end - 1 : session.begin;
  int64_t end = session.end;
  if (end > length)
    return Error{options.expect + ": logits of " + std::to_string(length) +
                 " positions, the program gives those of position " +
                 std::to_string(end - 1)};
  std::vector<Entries> entries = entriesOf({}, expected->shape(), 1, Place());
  entries[1] = Entries(entries[1].begin() + begin, entries[1].begin() + end);
  Tensor wanted = take(*expected, entries);
  if (wanted.size() != logits.size() || wanted.size() == 0)
    return Error{options.expect + ": logits of shape " +
                 toString(expected->shape()) + ", the program gives " +
                 toString(logits.shape())};
  ResultError error;
  error.name = "logits";
  accumulate(wanted, logits, largest(wanted), "the file's order", error);
  verdict.add({std::move(error)}, options.verify.tolerance);
  return std::nullopt;
}

ErrorOr<std::unique_ptr<Weights>> run::openWeights(const Options &options) {
  if (options.weights.empty())
    return std::unique_ptr<Weights>(
        std::make_unique<RandomWeights>(options.verify.seed));
  ErrorOr<SafeTensors> checkpoint = SafeTensors::open(options.weights);
  if (!checkpoint)
    return checkpoint.error();
  return std::unique_ptr<Weights>(
      std::make_unique<CheckpointWeights>(std::move(*checkpoint)));
}

/// Warns of tensors of the checkpoint that no param reads.
static void nameUnread(const Options &options,
                       const std::vector<std::string> &names) {
  if (names.empty())
    return;
  constexpr size_t shown = 8;
  llvm::errs() << "warning: " << options.weights << ": " << names.size()
               << " tensors that no param reads: ";
  llvm::interleaveComma(llvm::ArrayRef(names).take_front(shown), llvm::errs());
  llvm::errs() << (names.size() > shown ? ", ...\n" : "\n");
}

namespace {

/// A run that is over.
struct Run {
  Session session;
  ProgramInterface interface;
  std::vector<RankOutcome> outcomes; ///< empty but for the leader
  Expected whole;
};

} // namespace

/// Runs `module` as the options say, on the caches of `before` where there is
/// one. Its own are kept where the run `goesOn`.
static ErrorOr<Run> execute(const Options &options, mlir::ModuleOp module,
                            World &world, const Run *before, bool goesOn) {
  Run run;
  Session &session = run.session;
  ErrorOr<int64_t> vocabulary = findVocabulary(module);
  if (!vocabulary)
    return vocabulary.error();
  ErrorOr<ProgramWorkload> workload = readProgramWorkload(module);
  if (!workload)
    return workload.error();
  session.isPrefill = workload->isPrefill;
  ErrorOr<std::vector<RunRequest>> requests =
      planRequests({module}, options.verify);
  if (!requests)
    return requests.error();
  session.request = std::move(requests->front());
  if (before) {
    session.begin = before->session.end;
    session.request.arguments = before->whole.caches;
  }
  if (!options.tokens.empty())
    if (auto error = feedTokens(options, *workload, *vocabulary, session))
      return *error;
  ErrorOr<std::unique_ptr<Weights>> weights = openWeights(options);
  if (!weights)
    return weights.error();

  if (!llm::isPartitioned(module)) {
    if (!options.expect.empty() || !options.output.empty())
      requestLogits(module);
    if (isAnnotated(module))
      if (auto error = partition(module, options.verify.partition))
        return *error;
  }
  BuildOptions building = options.verify.build;
  building.lowering.keepValues =
      options.keepsValues || !options.schedule.empty();
  session.request.wantsValues = options.keepsValues;
  session.request.wantsCaches = goesOn || !options.dump.empty();
  ErrorOr<Executable> program = world.load(
      [&](Codegen codegen) { return build(module, building, codegen); });
  if (!program)
    return program.error();
  run.interface = program->interface;
  if (world.isLeader() && !before)
    nameUnread(options, (*weights)->findUnread(run.interface));
  if (!options.inputs.empty())
    if (auto error =
            readInputs(options, run.interface, *vocabulary, session.request))
      return *error;
  std::optional<PlannedOrder> plan;
  if (!options.schedule.empty()) {
    ErrorOr<PlannedOrder> read = PlannedOrder::read(options.schedule);
    if (!read)
      return read.error();
    plan = std::move(*read);
    if (auto error = plan->fit(run.interface, session.request.prompts))
      return *error;
    session.request.plan = &*plan;
  }
  auto outcomes = world.run(*program, **weights, session.request);
  session.request.plan = nullptr;
  if (!outcomes)
    return outcomes.error();
  run.outcomes = std::move(*outcomes);
  if (!world.isLeader())
    return run;
  ErrorOr<Expected> whole =
      assemble(run.interface, run.outcomes, session.request);
  if (!whole)
    return whole.error();
  run.whole = std::move(*whole);
  return run;
}

ErrorOr<Verdict> run::expectLogits(const Options &options,
                                   const std::vector<mlir::ModuleOp> &modules,
                                   World &world) {
  Verdict verdict;
  std::optional<Run> before;
  for (mlir::ModuleOp module : modules) {
    ErrorOr<Run> run =
        execute(options, module, world, before ? &*before : nullptr,
                /*goesOn=*/module != modules.back());
    if (!run)
      return run.error();
    before = std::move(*run);
    if (!world.isLeader())
      continue;
    auto results = stackResults(before->whole, before->interface,
                                before->session.isPrefill);
    if (!results)
      return results.error();
    if (auto error = compareLogits(options, before->session, *results, verdict))
      return *error;
  }
  return verdict;
}

int run::runProgram(const Options &options,
                    const std::vector<mlir::ModuleOp> &modules, World &world) {
  if (modules.size() > 1) {
    ErrorOr<Verdict> verdict = expectLogits(options, modules, world);
    if (!verdict)
      return fail(verdict.error().message);
    if (world.isLeader())
      llvm::outs() << verdict->line() << '\n';
    return verdict->isEqual ? 0 : 1;
  }
  ErrorOr<Run> run = execute(options, modules.front(), world,
                             /*before=*/nullptr, /*goesOn=*/false);
  if (!run)
    return fail(run.error().message);
  if (!world.isLeader())
    return 0;
  if (options.countsCollectives)
    printStatistics(run->interface, run->outcomes);
  if (!options.schedule.empty() && options.output != "-")
    printOrder(run->interface, run->outcomes);
  if (!options.dump.empty())
    if (auto error = dump(options, run->interface, run->whole, run->outcomes))
      return fail(error->message);
  auto results =
      stackResults(run->whole, run->interface, run->session.isPrefill);
  if (!results)
    return fail(results.error().message);
  if (!options.output.empty())
    if (auto error = writeSafeTensors(options.output, *results))
      return fail(error->message);
  if (options.output == "-")
    return 0; // the standard output is the file
  for (const auto &[name, tensor] : *results)
    llvm::outs() << name << ": " << toString(tensor.shape()) << '\n';
  if (options.expect.empty())
    return 0;
  Verdict verdict;
  if (auto error = compareLogits(options, run->session, *results, verdict))
    return fail(error->message);
  llvm::outs() << verdict.line() << '\n';
  return verdict.isEqual ? 0 : 1;
}

void run::printOrder(const ProgramInterface &interface,
                     const std::vector<RankOutcome> &outcomes) {
  for (size_t rank = 0; rank < outcomes.size(); ++rank) {
    // A run of turns of one micro-batch ends where another one goes on.
    size_t turns = 0, switches = 0;
    for (const std::vector<runtime::Turn> &step : outcomes[rank].turns) {
      turns += step.size();
      for (size_t k = 1; k < step.size(); ++k)
        switches += step[k].program != step[k - 1].program;
    }
    llvm::outs() << "order: rank=" << rank << " stage="
                 << interface.place(int64_t(rank), 1).coordinate(Axis::Pp)
                 << " turns=" << turns << " switches=" << switches
                 << " as planned\n";
  }
}

void run::printStatistics(const ProgramInterface &interface,
                          const std::vector<RankOutcome> &outcomes) {
  for (size_t rank = 0; rank < outcomes.size(); ++rank) {
    // Those of one op and kind together, in the order of the first.
    struct Row {
      const CollectiveSite *site;
      const CollectiveSite::Part *part;
      int64_t calls = 0, bits = 0;
    };
    std::vector<Row> rows;
    const auto &counts = outcomes[rank].statistics;
    for (size_t i = 0; i < counts.size(); ++i) {
      const auto &site = interface.sites[i].collective;
      for (size_t j = 0; site && j < counts[i].size(); ++j) {
        const CollectiveSite::Part &part = site->parts[j];
        if (counts[i][j].calls == 0)
          continue;
        auto row = std::find_if(rows.begin(), rows.end(), [&](const Row &row) {
          return row.site->kind == site->kind &&
                 row.part->cause == part.cause &&
                 row.part->isCharged == part.isCharged;
        });
        if (row == rows.end())
          row = rows.insert(row, Row{&*site, &part});
        row->calls += counts[i][j].calls;
        row->bits += counts[i][j].elements * site->elementBits;
      }
    }
    for (const Row &row : rows)
      llvm::outs() << "statistics: rank=" << rank << " op=" << row.part->cause
                   << " kind=" << row.site->kind
                   << " charged=" << (row.part->isCharged ? "true" : "false")
                   << " calls=" << row.calls << " bytes=" << row.bits / 8
                   << '\n';
  }
}
