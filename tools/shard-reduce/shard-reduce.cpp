//===- shard-reduce.cpp - Makes failing programs smaller ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests are those of mlir-reduce: a command that gets the name of a file, and
// exits with 0 where it is not interesting. Upstream's own reduction of
// programs erases ops whose results are used; there are no others
// here.
//
//===----------------------------------------------------------------------===//

#include "../Main/ToolMain.h"
#include "Reducer.h"

#include "shardopt/Dialect/LLM/Transforms/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Reducer/Tester.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

using namespace shardopt;

namespace cl = llvm::cl;

static cl::OptionCategory category("Options of shard-reduce");

static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("<module.mlir>"), cl::cat(category));
static cl::opt<std::string>
    test("test", cl::Required, cl::value_desc("command"),
         cl::desc("Test command; the module file is its last "
                  "argument, and a nonzero exit code keeps the module"),
         cl::cat(category));
static cl::list<std::string>
    testArguments("test-arg", cl::value_desc("argument"),
                  cl::desc("Argument of the test command; repeatable"),
                  cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("Output file"),
                                   cl::value_desc("file"), cl::init("-"),
                                   cl::cat(category));

static unsigned countOps(mlir::ModuleOp module) {
  unsigned ops = 0;
  module.walk([&](mlir::Operation *) { ++ops; });
  return ops - 1; // the module is none
}

static int run() {
  if (!llvm::sys::fs::can_execute(test))
    return tool::fail("cannot execute '" + test + "', expected a command");
  mlir::DialectRegistry registry;
  llm::registerPassDialects(registry);
  mlir::MLIRContext context(registry);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = tool::readModule(input, sources, context);
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
    return tool::fail("'" + input + "' is not interesting: '" + test +
                      "' exits with 0");

  unsigned before = countOps(*module);
  Reducer reducer(std::move(module), isInteresting);
  mlir::ModuleOp smallest = reducer.run();
  llvm::errs() << "shard-reduce: " << before << " ops, " << countOps(smallest)
               << " are left after " << reducer.getNumTests() << " tests\n";

  std::string text;
  llvm::raw_string_ostream(text) << smallest << '\n';
  return tool::writeOutput(output, text);
}

int main(int argc, char **argv) {
  return tool::toolMain(argc, argv, [&] {
    tool::parseOptions(argc, argv, category,
                       "Makes failing programs smaller\n");
    return run();
  });
}
