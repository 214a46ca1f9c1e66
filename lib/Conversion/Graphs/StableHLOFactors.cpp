//===- StableHLOFactors.cpp - Factors of ops of StableHLO -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules by name. What a rule does not state is replicated: the dim of a sort,
// the spatial dims of a convolution, a slice that is cut out of a dim.
//
//===----------------------------------------------------------------------===//

#include "ForeignOp.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <set>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::graphs;

static bool contains(ArrayRef<int64_t> dims, int64_t dim) {
  return llvm::is_contained(dims, dim);
}

//===----------------------------------------------------------------------===//
// Ops whose results are shaped like their operands
//===----------------------------------------------------------------------===//

/// Operands of rank 0 are those of clamp and select.
static void addElementwise(ForeignOp &op) {
  ArrayRef<int64_t> shape = op.result();
  op.want(op.numResults() == 1, "expected one result");
  for (auto [dim, size] : llvm::enumerate(shape)) {
    Factor &factor = op.add(size);
    factor.results.assign(op.numResults(), int(dim));
    for (unsigned i : llvm::seq(op.numOperands()))
      if (!op.operand(i).empty() &&
          op.want(op.operand(i) == shape, "expected operands of one shape"))
        factor.operands[i] = int(dim);
  }
  for (unsigned i : llvm::seq(op.numResults()))
    op.want(op.result(i) == shape, "expected results of one shape");
  op.found.work = Work::Fused;
  op.found.arithmetic = elementsOf(shape);
}

static void addTranspose(ForeignOp &op) {
  SmallVector<int64_t> dims = op.dims("permutation", op.operand(0).size());
  std::set<int64_t> distinct(dims.begin(), dims.end());
  if (op.want(distinct.size() == dims.size(),
              "expected each dim once in 'permutation'") &&
      op.want(dims.size() == op.result().size(),
              "expected as many dims in 'permutation' as in the result"))
    for (auto [dim, from] : llvm::enumerate(dims)) {
      Factor &factor = op.add(op.result()[dim]);
      factor.operands[0] = int(from);
      factor.results[0] = int(dim);
    }
  op.found.work = Work::Fused;
}

static void addBroadcast(ForeignOp &op) {
  ArrayRef<int64_t> from = op.operand(0), to = op.result();
  SmallVector<int64_t> dims = op.dims("broadcast_dimensions", to.size());
  op.want(dims.size() == from.size(),
          "expected a dim in 'broadcast_dimensions' for each of the operand");
  for (auto [dim, size] : llvm::enumerate(to)) {
    Factor &factor = op.add(size);
    factor.results[0] = int(dim);
    for (auto [i, each] : llvm::enumerate(dims))
      if (each == int64_t(dim) && i < from.size() && from[i] == size)
        factor.operands[0] = int(i);
  }
  op.found.work = Work::Fused;
}

/// All dims but some, which operands and results have in common.
static void addOthers(ForeignOp &op, ArrayRef<int64_t> without) {
  for (auto [dim, size] : llvm::enumerate(op.result())) {
    if (contains(without, int64_t(dim)))
      continue;
    Factor &factor = op.add(size);
    factor.results.assign(op.numResults(), int(dim));
    for (unsigned i : llvm::seq(op.numOperands()))
      if (dim < op.operand(i).size() && op.operand(i)[dim] == size)
        factor.operands[i] = int(dim);
  }
}

/// The dim that an op is about. Sorts count from the end, too.
static int64_t ownDim(ForeignOp &op, bool countsFromEnd) {
  auto rank = int64_t(op.result().size());
  int64_t dim = op.integer("dimension", -1);
  if (countsFromEnd && dim < 0)
    dim += rank;
  op.want(dim >= 0 && dim < rank,
          "expected a dim of the result in 'dimension'");
  return dim;
}

static void addConcatenate(ForeignOp &op) {
  addOthers(op, {ownDim(op, /*countsFromEnd=*/false)});
  op.found.work = Work::Fused;
}

static void addReverse(ForeignOp &op) {
  addOthers(op, op.dims("dimensions", op.result().size()));
  op.found.work = Work::Fused;
}

static void addSort(ForeignOp &op) {
  addOthers(op, {ownDim(op, /*countsFromEnd=*/true)});
  op.found.arithmetic = elementsOf(op.result());
}

/// The last dim is the one whose largest are found.
static void addTopK(ForeignOp &op) {
  addOthers(op, {int64_t(op.result().size()) - 1});
  op.found.arithmetic = elementsOf(op.operand(0));
}

/// Whether what is sliced out of `from` lies in one block of memory: all dims
/// before the last one that shrinks have one index.
static bool isOneBlock(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  bool isInside = false;
  for (auto [before, now] : llvm::reverse(llvm::zip(from, to))) {
    if (isInside && now != 1)
      return false;
    isInside |= before != now;
  }
  return true;
}

/// A slice: the dims that keep their size are all of what was there.
static void addSlice(ForeignOp &op) {
  ArrayRef<int64_t> from = op.operand(0), to = op.result();
  op.want(from.size() == to.size(), "expected a result of the operand's rank");
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip(from, to)))
    if (std::get<0>(sizes) == std::get<1>(sizes))
      op.addAlike(int64_t(dim));
  op.found.work = isOneBlock(from, to) ? Work::View : Work::Fused;
  op.found.inPlace = true;
}

static void addPad(ForeignOp &op) {
  auto low = op.integers("edge_padding_low");
  auto high = op.integers("edge_padding_high");
  size_t rank = op.operand(0).size();
  op.want(op.result().size() == rank && low.size() == rank &&
              high.size() == rank,
          "expected a padding of each dim");
  for (auto [dim, sizes] :
       llvm::enumerate(llvm::zip(op.operand(0), op.result(), low, high))) {
    auto [from, to, below, above] = sizes;
    if (from == to && below == 0 && above == 0)
      op.addAlike(int64_t(dim));
  }
  op.found.work = Work::Fused;
}

static void addUpdateSlice(ForeignOp &op) {
  ArrayRef<int64_t> whole = op.operand(0), part = op.operand(1);
  op.want(whole.size() == part.size(), "expected an update of the same rank");
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip(whole, part)))
    if (std::get<0>(sizes) == std::get<1>(sizes)) {
      Factor &factor = op.add(std::get<0>(sizes));
      factor.operands[0] = factor.operands[1] = factor.results[0] = int(dim);
    }
  op.found.inPlace = true;
}

//===----------------------------------------------------------------------===//
// Contractions and reductions
//===----------------------------------------------------------------------===//

static void addDot(ForeignOp &op) {
  ArrayRef<int64_t> left = op.operand(0), right = op.operand(1);
  auto dimsOf = [&](StringRef member, size_t rank) {
    std::string name = ("dot_dimension_numbers." + member).str();
    return op.has(name) ? op.dims(name, rank) : SmallVector<int64_t>();
  };
  SmallVector<int64_t> batchLeft, batchRight, sumLeft, sumRight;
  if (op->getName().getStringRef().ends_with(".dot")) {
    op.want(!left.empty() && !right.empty(), "expected vectors or matrices");
    if (!left.empty() && !right.empty()) {
      sumLeft.push_back(int64_t(left.size()) - 1);
      sumRight.push_back(0);
    }
  } else {
    op.want(!op.text("dot_dimension_numbers").empty(),
            "expected #stablehlo.dot in 'dot_dimension_numbers'");
    batchLeft = dimsOf("lhs_batching_dimensions", left.size());
    batchRight = dimsOf("rhs_batching_dimensions", right.size());
    sumLeft = dimsOf("lhs_contracting_dimensions", left.size());
    sumRight = dimsOf("rhs_contracting_dimensions", right.size());
  }
  op.found.arithmetic = 2 * elementsOf(op.result());
  int made = 0;
  auto pair = [&](ArrayRef<int64_t> ofLeft, ArrayRef<int64_t> ofRight,
                  bool isReduced) {
    op.want(ofLeft.size() == ofRight.size(),
            "expected as many dims of both operands");
    for (auto [a, b] : llvm::zip(ofLeft, ofRight)) {
      op.want(left[size_t(a)] == right[size_t(b)],
              "expected dims of equal sizes");
      Factor &factor = op.add(left[size_t(a)], isReduced);
      factor.operands[0] = int(a);
      factor.operands[1] = int(b);
      factor.results[0] = isReduced ? -1 : made++;
      if (isReduced)
        op.found.arithmetic *= double(left[size_t(a)]);
    }
  };
  pair(batchLeft, batchRight, false);
  for (unsigned side : {0u, 1u})
    for (auto [dim, size] : llvm::enumerate(op.operand(side)))
      if (!contains(side ? batchRight : batchLeft, int64_t(dim)) &&
          !contains(side ? sumRight : sumLeft, int64_t(dim))) {
        Factor &factor = op.add(size);
        factor.operands[side] = int(dim);
        factor.results[0] = made++;
      }
  pair(sumLeft, sumRight, true);
  op.want(made == int(op.result().size()),
          "expected a result with the batch dims and those of one operand");
}

static void addReduce(ForeignOp &op) {
  ArrayRef<int64_t> shape = op.operand(0);
  SmallVector<int64_t> dims = op.dims("dimensions", shape.size());
  unsigned count = op.numResults();
  op.want(op.numOperands() == 2 * count,
          "expected an initial value for each operand");
  int made = 0;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    bool isReduced = contains(dims, int64_t(dim));
    // Of several results at once, partial ones cannot be all-reduced.
    if (isReduced && count > 1)
      continue;
    Factor &factor = op.add(size, isReduced);
    for (unsigned i : llvm::seq(std::min(count, op.numOperands())))
      factor.operands[i] = int(dim);
    if (!isReduced)
      factor.results.assign(count, made++);
  }
  op.want(made == int(op.result().size()),
          "expected a result without the dims in 'dimensions'");
  op.found.arithmetic = elementsOf(shape);
}

/// Pooling: dims whose window is one element.
static void addWindows(ForeignOp &op) {
  ArrayRef<int64_t> shape = op.operand(0);
  SmallVector<int64_t> window = op.integers("window_dimensions");
  SmallVector<int64_t> padding = op.has("padding")
                                     ? op.integers("padding")
                                     : SmallVector<int64_t>(2 * shape.size());
  op.want(padding.size() == 2 * shape.size(),
          "expected two sizes in 'padding' for each dim");
  op.want(window.size() == shape.size() && op.result().size() == shape.size(),
          "expected a size in 'window_dimensions' for each dim");
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (dim >= window.size() || dim >= op.result().size() ||
        2 * dim + 1 >= padding.size() || window[dim] != 1 ||
        padding[2 * dim] != 0 || padding[2 * dim + 1] != 0 ||
        op.result()[dim] != size)
      continue;
    Factor &factor = op.add(size);
    factor.results.assign(op.numResults(), int(dim));
    for (unsigned i : llvm::seq(op.numOperands()))
      if (op.operand(i).size() == shape.size())
        factor.operands[i] = int(dim);
  }
  op.found.arithmetic = elementsOf(op.result()) * elementsOf(window);
}

static void addBatchNorm(ForeignOp &op) {
  int64_t feature = op.integer("feature_index", -1);
  for (auto [dim, size] : llvm::enumerate(op.operand(0))) {
    Factor &factor = op.add(size);
    factor.operands[0] = factor.results[0] = int(dim);
    for (unsigned i : llvm::seq(1u, op.numOperands()))
      factor.operands[i] = int64_t(dim) == feature ? 0 : -1;
  }
  op.found.work = Work::Fused;
  op.found.arithmetic = 4 * elementsOf(op.operand(0));
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Where a letter stands in "[b, f, 0, 1]"; -1: nowhere.
static int placeOf(StringRef dims, char letter) {
  SmallVector<StringRef> parts;
  dims.split(parts, ',');
  for (auto [i, part] : llvm::enumerate(parts))
    if (part.trim() == StringRef(&letter, 1))
      return int(i);
  return -1;
}

/// `#stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>`, whose spatial
/// dims are replicated. Groups are a factor of features.
static void addConvolution(ForeignOp &op) {
  StringRef dims[3], rest = op.text("dimension_numbers");
  for (StringRef &each : dims) {
    rest = rest.substr(rest.find('[')).drop_front(rest.contains('['));
    each = rest.take_until([](char c) { return c == ']'; });
    rest = rest.drop_front(each.size());
  }
  int batchIn = placeOf(dims[0], 'b'), batchOut = placeOf(dims[2], 'b');
  int in = placeOf(dims[0], 'f'), out = placeOf(dims[2], 'f');
  int kernelIn = placeOf(dims[1], 'i'), kernelOut = placeOf(dims[1], 'o');
  auto fits = [](int dim, ArrayRef<int64_t> shape) {
    return dim >= 0 && size_t(dim) < shape.size();
  };
  ArrayRef<int64_t> input = op.operand(0), kernel = op.operand(1);
  if (!op.want(fits(batchIn, input) && fits(in, input) &&
                   fits(kernelIn, kernel) && fits(kernelOut, kernel) &&
                   fits(batchOut, op.result()) && fits(out, op.result()),
               "expected #stablehlo.conv<[b, f, …]x[o, i, …]->[b, f, …]> in "
               "'dimension_numbers'"))
    return;
  int64_t groups = op.integer("feature_group_count", 1);
  if (!op.want(groups >= 1, "expected 'feature_group_count' of at least 1"))
    return;
  if (op.integer("batch_group_count", 1) == 1) {
    Factor &batch = op.add(input[size_t(batchIn)]);
    batch.operands[0] = batchIn;
    batch.results[0] = batchOut;
  }
  if (groups > 1) {
    Factor &group = op.add(groups);
    group.operands[0] = in;
    group.operands[1] = kernelOut;
    group.results[0] = out;
  } else {
    Factor &features = op.add(kernel[size_t(kernelOut)]);
    features.operands[1] = kernelOut;
    features.results[0] = out;
    Factor &sum = op.add(kernel[size_t(kernelIn)], /*isReduced=*/true);
    sum.operands[0] = in;
    sum.operands[1] = kernelIn;
  }
  op.found.arithmetic = 2 * elementsOf(op.result()) * elementsOf(kernel) /
                        double(std::max<int64_t>(1, kernel[size_t(kernelOut)]));
}

//===----------------------------------------------------------------------===//
// Rows by index
//===----------------------------------------------------------------------===//

static void addGather(ForeignOp &op) {
  ArrayRef<int64_t> table = op.operand(0), indices = op.operand(1),
                    made = op.result();
  std::string name = "dimension_numbers.";
  auto dimsOf = [&](const char *member, size_t rank) {
    return op.has(name + member) ? op.dims(name + member, rank)
                                 : SmallVector<int64_t>();
  };
  auto offsets = dimsOf("offset_dims", made.size());
  auto collapsed = dimsOf("collapsed_slice_dims", table.size());
  auto starts = dimsOf("start_index_map", table.size());
  auto batchTable = dimsOf("operand_batching_dims", table.size());
  auto batchIndex = dimsOf("start_indices_batching_dims", indices.size());
  int64_t vector =
      op.integer(name + "index_vector_dim", int64_t(indices.size()));
  SmallVector<int64_t> slices = op.integers("slice_sizes");
  if (!op.want(slices.size() == table.size(),
               "expected a size in 'slice_sizes' for each dim"))
    return;
  // Dims of the result that are none of the table's are those of the indices.
  SmallVector<int64_t> outer;
  for (int64_t dim : llvm::seq<int64_t>(int64_t(made.size())))
    if (!contains(offsets, dim))
      outer.push_back(dim);
  size_t next = 0;
  for (auto [dim, size] : llvm::enumerate(indices)) {
    if (int64_t(dim) == vector)
      continue;
    if (!op.want(next < outer.size(),
                 "expected the indices' dims in the result"))
      return;
    Factor &factor = op.add(size);
    factor.operands[1] = int(dim);
    factor.results[0] = int(outer[next++]);
    for (auto [a, b] : llvm::zip(batchTable, batchIndex))
      if (b == int64_t(dim))
        factor.operands[0] = int(a);
  }
  next = 0;
  for (auto [dim, size] : llvm::enumerate(table)) {
    if (contains(batchTable, int64_t(dim)))
      continue;
    bool isCollapsed = contains(collapsed, int64_t(dim));
    bool isWhole = slices[dim] == size;
    if (isCollapsed) {
      // Each device looks up the rows that it has; the others are zeros.
      if (collapsed.size() == 1 && starts.size() == 1 && batchTable.empty())
        op.add(size, /*isReduced=*/true).operands[0] = int(dim);
      continue;
    }
    if (!op.want(next < offsets.size(),
                 "expected the table's dims in the result"))
      return;
    int64_t place = offsets[next++];
    if (!isWhole)
      continue;
    Factor &factor = op.add(size);
    factor.operands[0] = int(dim);
    factor.results[0] = int(place);
  }
  op.found.inPlace = true;
}

/// Windows that are whole, and batches; where they go is replicated.
static void addScatter(ForeignOp &op) {
  std::string name = "scatter_dimension_numbers.";
  ArrayRef<int64_t> table = op.operand(0), updates = op.operand(2);
  auto dimsOf = [&](const char *member, size_t rank) {
    return op.has(name + member) ? op.dims(name + member, rank)
                                 : SmallVector<int64_t>();
  };
  op.want(op.numOperands() == 3 && op.numResults() == 1,
          "expected one operand, indices and one update");
  auto windows = dimsOf("update_window_dims", updates.size());
  auto inserted = dimsOf("inserted_window_dims", table.size());
  auto batches = dimsOf("input_batching_dims", table.size());
  auto batchIndex =
      dimsOf("scatter_indices_batching_dims", op.operand(1).size());
  // Dims of the update that are no windows are those of the indices.
  int64_t vector =
      op.integer(name + "index_vector_dim", int64_t(op.operand(1).size()));
  SmallVector<int64_t> outer;
  for (int64_t dim : llvm::seq<int64_t>(int64_t(updates.size())))
    if (!contains(windows, dim))
      outer.push_back(dim);
  for (auto [dim, index] : llvm::zip(batches, batchIndex)) {
    auto place = size_t(index - (index > vector));
    if (!op.want(index != vector && place < outer.size(),
                 "expected the indices' dims in the update"))
      return;
    Factor &factor = op.add(table[size_t(dim)]);
    factor.operands[0] = factor.results[0] = int(dim);
    factor.operands[1] = int(index);
    factor.operands[2] = int(outer[place]);
  }
  size_t next = 0;
  for (auto [dim, size] : llvm::enumerate(table)) {
    if (contains(inserted, int64_t(dim)) || contains(batches, int64_t(dim)))
      continue;
    if (!op.want(next < windows.size(), "expected the operand's dims in "
                                        "'update_window_dims'"))
      return;
    int64_t place = windows[next++];
    if (updates[size_t(place)] != size)
      continue;
    Factor &factor = op.add(size);
    factor.operands[0] = factor.results[0] = int(dim);
    factor.operands[2] = int(place);
  }
  op.found.inPlace = true;
}

/// Another op whose result any device computes alone.
static void addReplicated(ForeignOp &op) {
  op.found.replicated =
      "its factors are not known; 'sdy.sharding_rule' declares them";
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

using AddRule = void (*)(ForeignOp &);

static const llvm::StringMap<AddRule> &rules() {
  static const llvm::StringMap<AddRule> known = [] {
    llvm::StringMap<AddRule> table;
    for (StringRef name : {"abs",
                           "add",
                           "and",
                           "atan2",
                           "bitcast_convert",
                           "cbrt",
                           "ceil",
                           "clamp",
                           "compare",
                           "complex",
                           "convert",
                           "cosine",
                           "count_leading_zeros",
                           "divide",
                           "exponential",
                           "exponential_minus_one",
                           "floor",
                           "imag",
                           "is_finite",
                           "log",
                           "log_plus_one",
                           "logistic",
                           "maximum",
                           "minimum",
                           "multiply",
                           "negate",
                           "not",
                           "or",
                           "popcnt",
                           "power",
                           "real",
                           "reduce_precision",
                           "remainder",
                           "round_nearest_afz",
                           "round_nearest_even",
                           "rsqrt",
                           "select",
                           "shift_left",
                           "shift_right_arithmetic",
                           "shift_right_logical",
                           "sign",
                           "sine",
                           "sqrt",
                           "subtract",
                           "tan",
                           "tanh",
                           "xor"})
      table["stablehlo." + name.str()] = addElementwise;
    for (StringRef name :
         {"acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "digamma",
          "erf", "erf_inv", "erfc", "is_inf", "is_neg_inf", "is_pos_inf",
          "lgamma", "next_after", "sinh", "square", "tan"})
      table["chlo." + name.str()] = addElementwise;
    table["chlo.top_k"] = addTopK;
    table["stablehlo.batch_norm_inference"] = addBatchNorm;
    table["stablehlo.broadcast_in_dim"] = addBroadcast;
    table["stablehlo.concatenate"] = addConcatenate;
    table["stablehlo.convolution"] = addConvolution;
    table["stablehlo.custom_call"] = addReplicated;
    table["stablehlo.optimization_barrier"] = addReplicated;
    table["stablehlo.dot"] = addDot;
    table["stablehlo.dot_general"] = addDot;
    table["stablehlo.dynamic_slice"] = addSlice;
    table["stablehlo.dynamic_update_slice"] = addUpdateSlice;
    table["stablehlo.gather"] = addGather;
    table["stablehlo.pad"] = addPad;
    table["stablehlo.reduce"] = addReduce;
    table["stablehlo.reduce_window"] = addWindows;
    table["stablehlo.reshape"] = addReshape;
    table["stablehlo.reverse"] = addReverse;
    table["stablehlo.scatter"] = addScatter;
    table["stablehlo.slice"] = addSlice;
    table["stablehlo.sort"] = addSort;
    table["stablehlo.transpose"] = addTranspose;
    return table;
  }();
  return known;
}

FailureOr<OpFactors> graphs::stablehloFactors(Operation *op) {
  static const llvm::StringSet<> controlFlow = {"stablehlo.case",
                                                "stablehlo.if"};
  StringRef name = op->getName().getStringRef();
  if (controlFlow.contains(name))
    return op->emitOpError(
        "is control flow, expected one straight block: import each branch "
        "alone");
  auto rule = rules().find(name);
  if (rule == rules().end())
    return op->emitOpError("is not known, expected an op whose factors are, or "
                           "the attribute 'sdy.sharding_rule'");
  ForeignOp foreign(op);
  rule->second(foreign);
  return foreign.finish();
}
