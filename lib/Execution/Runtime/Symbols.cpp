//===- Symbols.cpp - Functions that compiled code calls -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Runtime/Symbols.h"
#include "shardopt/Execution/Runtime/Collectives.h"

using namespace shardopt;
using namespace shardopt::runtime;

//===----------------------------------------------------------------------===//
// Memrefs
//===----------------------------------------------------------------------===//

namespace {

/// A memref as compiled code passes it (MLIR, "LLVM IR Target", ranked
/// memrefs). `offset` and `strides` are in elements; `allocated` is what gets
/// freed.
template <int rank> struct MemRef {
  std::byte *allocated;
  std::byte *aligned;
  int64_t offset;
  int64_t sizes[rank];
  int64_t strides[rank];
};

} // namespace

template <Element type, int rank>
static Tensor read(const MemRef<rank> &memref) {
  return pack(type, memref.aligned + memref.offset * sizeOf(type), memref.sizes,
              memref.strides, rank);
}

template <int rank> static void write(MemRef<rank> &memref, Tensor tensor) {
  int64_t stride = 1;
  for (int dim = rank - 1; dim >= 0; --dim) {
    memref.sizes[dim] = tensor.shape()[dim];
    memref.strides[dim] = stride;
    stride *= tensor.shape()[dim];
  }
  memref.offset = 0;
  memref.allocated = memref.aligned = tensor.release();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static Process &self() { return *Process::current(); }

/// Whether a call came back with a result, which then is written.
template <int rank>
static bool finish(ErrorOr<Tensor> result, MemRef<rank> &memref) {
  if (!result)
    return false;
  write(memref, std::move(*result));
  return true;
}

/// The functions for one element type and rank. After a failure each leaves
/// compiled code for good; by then all that it owned is gone, for temporaries
/// end with the condition that they stand in.
template <Element type, int rank> struct Entry {
  using Ref = MemRef<rank>;

  template <Reduction reduction>
  static void allReduce(Ref *result, const Ref *input, int64_t axes,
                        int64_t site) {
    if (!finish(runtime::allReduce(self(), read<type>(*input), reduction, axes,
                                   site),
                *result))
      self().unwind();
  }

  static void allGather(Ref *result, const Ref *input, int64_t dim,
                        int64_t axes, int64_t site) {
    if (!finish(runtime::allGather(self(), read<type>(*input), dim, axes, site),
                *result))
      self().unwind();
  }

  static void reduceScatter(Ref *result, const Ref *input, int64_t dim,
                            int64_t axes, int64_t site) {
    if (!finish(
            runtime::reduceScatter(self(), read<type>(*input), dim, axes, site),
            *result))
      self().unwind();
  }

  static void allToAll(Ref *result, const Ref *input, int64_t split,
                       int64_t concat, int64_t axes, int64_t site) {
    if (!finish(runtime::allToAll(self(), read<type>(*input), split, concat,
                                  axes, site),
                *result))
      self().unwind();
  }

  static void allToAllV(Ref *result, const Ref *rows, const MemRef<3> *send,
                        const MemRef<3> *recv, int64_t axes, int64_t site) {
    if (!finish(runtime::allToAllV(self(), read<type>(*rows),
                                   read<Element::I32>(*send),
                                   read<Element::I32>(*recv), axes, site),
                *result))
      self().unwind();
  }

  static void broadcast(Ref *result, const Ref *input, int64_t root,
                        int64_t axes, int64_t site) {
    if (!finish(
            runtime::broadcast(self(), read<type>(*input), root, axes, site),
            *result))
      self().unwind();
  }

  static void send(const Ref *input, int64_t destination, int64_t axes,
                   int64_t site) {
    if (runtime::send(self(), read<type>(*input), destination, axes, site))
      self().unwind();
  }

  static void recv(Ref *result, const Ref *like, int64_t source, int64_t axes,
                   int64_t site) {
    if (!finish(runtime::receive(self(), read<type>(*like), source, axes, site),
                *result))
      self().unwind();
  }

  static void keep(const Ref *input, int64_t site) {
    self().keep(site, read<type>(*input));
    if (self().failure())
      self().unwind();
  }
};

static int64_t processIndex(int64_t axis) { return self().coordinate(axis); }

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {

/// Names and addresses as they are collected.
struct Table {
  std::vector<std::pair<std::string, void *>> entries;

  template <typename Function>
  void add(const std::string &name, Function *function) {
    entries.emplace_back("_mlir_ciface_shardopt_" + name,
                         reinterpret_cast<void *>(function));
  }

  template <Element type, int rank> void addAll() {
    using Functions = Entry<type, rank>;
    std::string suffix =
        std::string("_") + spell(type) + "_" + std::to_string(rank);
    add(spell(Op::AllReduceSum) + suffix,
        &Functions::template allReduce<Reduction::Sum>);
    add(spell(Op::AllReduceMax) + suffix,
        &Functions::template allReduce<Reduction::Max>);
    add(spell(Op::AllGather) + suffix, &Functions::allGather);
    add(spell(Op::ReduceScatter) + suffix, &Functions::reduceScatter);
    add(spell(Op::AllToAll) + suffix, &Functions::allToAll);
    if constexpr (rank == 2)
      add(spell(Op::AllToAllV) + suffix, &Functions::allToAllV);
    add(spell(Op::Broadcast) + suffix, &Functions::broadcast);
    add(spell(Op::Send) + suffix, &Functions::send);
    add(spell(Op::Recv) + suffix, &Functions::recv);
    add("keep" + suffix, &Functions::keep);
  }

  template <Element type> void addRanks() {
    addAll<type, 1>();
    addAll<type, 2>();
    addAll<type, 3>();
    addAll<type, 4>();
  }
};

} // namespace

std::vector<std::pair<std::string, void *>> runtime::symbols() {
  Table table;
  table.addRanks<Element::F32>();
  table.addRanks<Element::I32>();
  table.add("process_index", &processIndex);
  return std::move(table.entries);
}
