//===- shard-reduce.cpp - Makes failing programs smaller ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests are those of mlir-reduce: a command that gets the name of a file, and
// exits with 0 where it is not interesting. Upstream's own reduction of
// programs erases ops whose results are used, of which there are no others
// here.
//
//===----------------------------------------------------------------------===//

#include "Reducer.h"

#include "shardopt/Dialect/LLM/Transforms/Passes.h"
#include "shardopt/Support/OutputFile.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Reducer/Tester.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"

using namespace shardopt;

namespace cl = llvm::cl;

static cl::OptionCategory category("Options of shard-reduce");

static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("<module.mlir>"), cl::cat(category));
static cl::opt<std::string>
    test("test", cl::Required, cl::value_desc("command"),
         cl::desc("What is run on a file with a smaller module, its last "
                  "argument; any exit code but 0 says that it is interesting"),
         cl::cat(category));
static cl::list<std::string>
    testArguments("test-arg", cl::value_desc("argument"),
                  cl::desc("An argument of the command; may be given often"),
                  cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("Output file"),
                                   cl::value_desc("file"), cl::init("-"),
                                   cl::cat(category));

static int fail(const std::string &message) {
  llvm::errs() << "error: " << message << '\n';
  return 1;
}

static unsigned countOps(mlir::ModuleOp module) {
  unsigned ops = 0;
  module.walk([&](mlir::Operation *) { ++ops; });
  return ops - 1; // the module is none
}

static int run() {
  if (!llvm::sys::fs::can_execute(test))
    return fail("cannot execute '" + test + "', expected a command");
  mlir::DialectRegistry registry;
  llm::registerPassDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(input, &context);
  if (!module)
    return 1;
  std::vector<std::string> arguments(testArguments.begin(),
                                     testArguments.end());
  mlir::Tester tester(test, arguments);
  auto isInteresting = [&](mlir::ModuleOp candidate) {
    return tester.isInteresting(candidate).first ==
           mlir::Tester::Interestingness::True;
  };
  if (!isInteresting(*module))
    return fail("'" + input + "' is not interesting: '" + test +
                "' exits with 0");

  unsigned before = countOps(*module);
  Reducer reducer(std::move(module), isInteresting);
  mlir::ModuleOp smallest = reducer.run();
  llvm::errs() << "shard-reduce: " << before << " ops, " << countOps(smallest)
               << " are left after " << reducer.getNumTests() << " tests\n";

  ErrorOr<OutputFile> file = OutputFile::open(output);
  if (!file)
    return fail(file.error().message);
  std::string text;
  llvm::raw_string_ostream(text) << smallest << '\n';
  file->write(text);
  if (std::optional<Error> error = file->keep())
    return fail(error->message);
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Makes failing programs smaller\n");
  return run();
}
