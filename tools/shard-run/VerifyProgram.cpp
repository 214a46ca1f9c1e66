//===- VerifyProgram.cpp - Verifies programs ------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "shardopt/Dialect/LLM/Analysis/StrategyAttributes.h"
#include "shardopt/Dialect/LLM/Analysis/StructuralCheck.h"
#include "shardopt/Dialect/LLM/IR/ModuleAttributes.h"
#include "shardopt/Model/StrategyJson.h"
#include "shardopt/Planning/StrategyList.h"
#include "shardopt/Support/Files.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstring>
#include <deque>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace shardopt;
using namespace shardopt::execution;
using namespace shardopt::run;

static void printResults(const Verdict &verdict) {
  for (const ResultError &result : verdict.results) {
    llvm::outs() << result.name << ": ";
    if (result.isInteger && result.unequal == 0)
      llvm::outs() << "equal\n";
    else if (result.isInteger)
      llvm::outs() << result.unequal << " of " << result.count
                   << " differ, first in " << result.where << '\n';
    else
      llvm::outs() << llvm::format("max_abs=%.2e max_rel=%.2e", result.maxAbs,
                                   result.maxRel)
                   << (result.where.empty() ? "" : " in ") << result.where
                   << '\n';
  }
}

int run::verifyProgram(const Options &options,
                       const std::vector<mlir::ModuleOp> &modules,
                       World &world) {
  for (mlir::ModuleOp module : modules) {
    if (llm::isPartitioned(module))
      return fail("the module is partitioned already, and its unsharded form "
                  "is lost: --verify wants an annotated one");
    if (!isAnnotated(module))
      return fail(
          "the module has no 'llm.strategy' to verify: run shard-opt "
          "with --llm-search-sharding or --llm-apply-strategy first, or "
          "give --strategies=");
  }
  ErrorOr<std::unique_ptr<Weights>> weights = openWeights(options);
  if (!weights)
    return fail(weights.error().message);
  ErrorOr<Verdict> verdict = verify(modules, options.verify, **weights, world);
  if (!verdict)
    return fail(verdict.error().message);
  if (!world.isLeader())
    return verdict->isEqual ? 0 : 1;
  printResults(*verdict);
  if (verdict->failure.find('\n') != std::string::npos)
    llvm::outs() << verdict->failure << '\n';
  llvm::outs() << verdict->line() << '\n';
  return verdict->isEqual ? 0 : 1;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// What a child finds: the line to print, and whether all is well.
static std::pair<std::string, bool>
verifyLine(const Options &options, const std::vector<mlir::ModuleOp> &modules,
           const std::vector<const Executable *> &wholes,
           const std::string &line, World &world) {
  auto failed = [](const std::string &message) {
    return std::pair<std::string, bool>("verify: FAILED " + message, false);
  };
  std::string message; // of the first error, which goes into the line
  mlir::ModuleOp first = modules.front();
  mlir::ScopedDiagnosticHandler handler(
      first.getContext(), [&](mlir::Diagnostic &diagnostic) {
        if (message.empty() &&
            diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          message = diagnostic.str();
      });
  for (mlir::ModuleOp module : modules) {
    mlir::FailureOr<ModuleModel> program = buildModuleModel(module);
    if (mlir::failed(program))
      return failed(message);
    ErrorOr<Strategy> strategy = parseStrategyLine(
        line, program->model.opNames(), dimReader(program->model));
    if (!strategy)
      return failed(strategy.error().message);
    if (mlir::failed(checkStructure(module, *program, *strategy)))
      return failed(message);
    writeAnnotation(module, *program, Annotation(*strategy));
  }
  ErrorOr<std::unique_ptr<Weights>> weights = openWeights(options);
  if (!weights)
    return failed(weights.error().message);
  ErrorOr<Verdict> verdict =
      options.expect.empty()
          ? verify(modules, options.verify, **weights, world, wholes)
          : expectLogits(options, modules, world);
  if (!verdict)
    return failed(verdict.error().message +
                  (message.empty() ? "" : ": " + message));
  return {verdict->line(), verdict->isEqual};
}

namespace {

/// A child at work on a line.
struct Child {
  int64_t line = 0;
  pid_t process = -1;
  int pipe = -1;
};

} // namespace

/// Starts a child; its answer comes through a pipe.
static ErrorOr<Child> startChild(const Options &options,
                                 const std::vector<mlir::ModuleOp> &modules,
                                 const std::vector<const Executable *> &wholes,
                                 const std::string &line, int64_t number) {
  int ends[2];
  if (pipe(ends) < 0)
    return Error{std::string("no pipe: ") + std::strerror(errno)};
  llvm::outs().flush();
  pid_t process = fork();
  if (process < 0)
    return Error{std::string("no process: ") + std::strerror(errno)};
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL})
      std::signal(signal, SIG_DFL); // the parent reports it in a line
    close(ends[0]);
    auto [text, isEqual] =
        verifyLine(options, modules, wholes, line, *createThreadWorld());
    const char *from = text.data();
    for (size_t left = text.size(); left > 0;) {
      ssize_t written = write(ends[1], from, left);
      if (written <= 0)
        break;
      from += written;
      left -= size_t(written);
    }
    _exit(isEqual ? 0 : 1);
  }
  close(ends[1]);
  return Child{number, process, ends[0]};
}

/// Waits for a child and prints its line; whether all was well.
static bool finishChild(const Child &child) {
  std::string text;
  char buffer[512];
  for (ssize_t count; (count = read(child.pipe, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, size_t(count));
  close(child.pipe);
  int status = 0;
  waitpid(child.process, &status, 0);
  if (WIFSIGNALED(status))
    text =
        std::string("verify: FAILED crashed: ") + strsignal(WTERMSIG(status));
  llvm::outs() << text << " line=" << child.line << '\n';
  llvm::outs().flush();
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

namespace {

/// The strategies of a list.
struct ListedLine {
  int64_t number = 0; ///< from 0
  std::string text;
};

} // namespace

static std::vector<ListedLine> splitLines(std::string_view text) {
  std::vector<ListedLine> lines;
  for (int64_t number = 0; !text.empty(); ++number) {
    std::string line(takeLine(text));
    if (line.find_first_not_of(" \t\r") != std::string::npos)
      lines.push_back({number, std::move(line)});
  }
  return lines;
}

/// Verifies lines in processes of their own, as many at a time as there are
/// processors; how many failed.
static ErrorOr<int64_t>
verifyInChildren(const Options &options,
                 const std::vector<mlir::ModuleOp> &modules,
                 const std::vector<const Executable *> &wholes,
                 const std::vector<ListedLine> &lines) {
  size_t most = std::max(1u, std::thread::hardware_concurrency());
  std::deque<Child> children;
  int64_t wrong = 0;
  auto finishOldest = [&] {
    wrong += !finishChild(children.front());
    children.pop_front();
  };
  for (const ListedLine &line : lines) {
    if (children.size() == most)
      finishOldest();
    ErrorOr<Child> child =
        startChild(options, modules, wholes, line.text, line.number);
    if (!child)
      return child.error();
    children.push_back(*child);
  }
  while (!children.empty())
    finishOldest();
  return wrong;
}

/// Verifies lines one after the other on the ranks of `world`; how many failed.
static int64_t verifyInTurn(const Options &options,
                            const std::vector<mlir::ModuleOp> &modules,
                            const std::vector<const Executable *> &wholes,
                            const std::vector<ListedLine> &lines,
                            World &world) {
  int64_t wrong = 0;
  for (const ListedLine &line : lines) {
    std::vector<mlir::OwningOpRef<mlir::ModuleOp>> copies;
    std::vector<mlir::ModuleOp> own;
    for (mlir::ModuleOp module : modules)
      own.push_back(*copies.emplace_back(module.clone()));
    auto [text, isEqual] = verifyLine(options, own, wholes, line.text, world);
    wrong += !isEqual;
    if (world.isLeader())
      llvm::outs() << text << " line=" << line.number << '\n';
  }
  return wrong;
}

int run::verifyList(const Options &options,
                    const std::vector<mlir::ModuleOp> &modules, World *world) {
  for (mlir::ModuleOp module : modules)
    if (llm::isPartitioned(module))
      return fail("the module is partitioned already: --strategies wants a "
                  "plain one");
  ErrorOr<std::string> text = readFile(options.strategies, uint64_t(1) << 32);
  if (!text)
    return fail(text.error().message);

  // What each line is compared with: the unsharded program, or a file.
  std::vector<Executable> wholes;
  if (options.expect.empty())
    for (mlir::ModuleOp module : modules) {
      std::unique_ptr<World> here = createThreadWorld();
      ErrorOr<Executable> whole =
          (world ? world : here.get())->load([&](Codegen codegen) {
            return buildWhole(module, options.verify.build, codegen);
          });
      if (!whole)
        return fail(whole.error().message);
      wholes.push_back(std::move(*whole));
    }
  std::vector<const Executable *> pointers;
  for (const Executable &whole : wholes)
    pointers.push_back(&whole);

  std::vector<ListedLine> lines = splitLines(*text);
  if (lines.empty())
    return fail("'" + options.strategies +
                "' has no strategies, expected one "
                "a line");
  ErrorOr<int64_t> wrong =
      world ? verifyInTurn(options, modules, pointers, lines, *world)
            : verifyInChildren(options, modules, pointers, lines);
  if (!wrong)
    return fail(wrong.error().message);
  if (!world || world->isLeader())
    llvm::outs() << "verified " << lines.size() << " strategies, " << *wrong
                 << " failed\n";
  return *wrong == 0 ? 0 : 1;
}
