//===- ProgramInterface.h - What a program takes and returns ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Read from the attributes of a module's functions before these are lowered to
// LLVM, which drops them.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_PROGRAMINTERFACE_H
#define SHARDOPT_EXECUTION_PROGRAMINTERFACE_H

#include "shardopt/Dialect/LLM/IR/ArgumentAttributes.h"
#include "shardopt/Execution/Tensors/Slice.h"
#include "shardopt/Support/Error.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace shardopt::execution {

using llm::Role;

/// The largest rank of an argument or a result.
inline constexpr size_t maxOperandRank = 6;

/// An argument or a result of a function.
struct Operand {
  /// Nothing for what only hand-written functions take and return.
  std::optional<llm::Role> role;
  std::string name;
  tensors::Element element = tensors::Element::F32;
  tensors::Shape shape; ///< on one device; -1 where dynamic
  tensors::Slice slice;

  // Params only.
  std::optional<llm::Source> source;
  bool isStacked = false;      ///< whether the leading dim is one of layers
  std::vector<int64_t> layers; ///< their numbers in the checkpoint

  /// Sizes of the global tensor, of one layer where it is stacked; -1 where
  /// dynamic.
  tensors::Shape globalShape() const;
};

/// One function: the program, or one stage of it.
struct Entry {
  std::string name; ///< of the function
  std::vector<Operand> arguments;
  std::vector<Operand> results; ///< all but the caches
  std::vector<Operand> caches;  ///< the arguments that are caches, in order
};

/// A value that the program hands out. In a program on one device all of it is
/// in layout R.
struct KeptSite {
  std::string op;
  cost::Layout layout = cost::Layout::R;
  bool isBetweenExperts = false; ///< rows in the order of experts
  bool isDealt = false; ///< blocks have the positions of prompts in turn
  /// By coordinate along tp, in layout H; along c in T.H.
  std::vector<tensors::Entries> columns;
};

/// A collective.
struct CollectiveSite {
  /// Of consecutive calls.
  struct Part {
    int64_t calls = 1; ///< of the only part, any number
    std::string cause;
    bool isCharged = false;
  };
  std::string kind;        ///< "all_reduce"
  std::vector<Part> parts; ///< in turns
  int64_t elementBits = 0; ///< of the declared type
};

/// What compiled code tells the runtime where it is.
struct Site {
  std::string words;
  std::optional<KeptSite> kept;
  std::optional<CollectiveSite> collective;
};

struct ProgramInterface {
  ProgramGrid grid;
  std::vector<Entry> stages; ///< one a coordinate along pp
  std::vector<Site> sites;   ///< by number

  int64_t ranks() const {
    return grid.groups().size(Axis::Stage) * numStages();
  }
  int64_t numStages() const { return grid.groups().size(Axis::Pp); }
  /// What to call the sites in messages.
  std::vector<std::string> describeSites() const;
  /// How many calls in a row each part of a site has; none for one part.
  std::vector<std::vector<int64_t>> listParts() const;
  /// Micro-batches in flight for `prompts`: min(pp, ceil(prompts / dp)), at
  /// least one.
  int64_t microBatches(int64_t prompts) const;
  /// The place of a rank, for its first micro-batch.
  tensors::Place place(int64_t rank, int64_t prompts) const;
};

/// What a module says that it is for, at any stage of lowering.
struct ProgramWorkload {
  bool isPrefill = false;
  int64_t context = 0; ///< 0: not said
  int64_t batch = 0;   ///< 0: not said
};

/// Errors are reported as diagnostics too.
ErrorOr<ProgramWorkload> readProgramWorkload(mlir::ModuleOp module);

/// Reads the interface of the function `entry`, or of its stages, from a module
/// after `addTensorPasses`. An empty name means the only public function. What
/// attributes have wrong is reported as diagnostics.
ErrorOr<ProgramInterface> readInterface(mlir::ModuleOp module,
                                        const std::string &entry);

} // namespace shardopt::execution

#endif // SHARDOPT_EXECUTION_PROGRAMINTERFACE_H
