//===- Descriptors.cpp - Tensors as compiled code sees them ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Descriptors.h"

#include <cstdlib>
#include <cstring>
#include <set>

using namespace shardopt;
using namespace shardopt::execution;
using namespace shardopt::tensors;

template <int rank> void Descriptor::describe(Tensor &tensor) {
  auto &ref = memref.emplace<rank>();
  ref.basePtr = ref.data = reinterpret_cast<uint32_t *>(tensor.data());
  ref.offset = 0;
  if constexpr (rank > 0) {
    int64_t stride = 1;
    for (int dim = rank; dim-- > 0; stride *= tensor.shape()[dim]) {
      ref.sizes[dim] = tensor.shape()[dim];
      ref.strides[dim] = stride;
    }
  }
}

Descriptor::Descriptor(Tensor &tensor) {
  using Describe = void (Descriptor::*)(Tensor &);
  static constexpr Describe byRank[] = {
      &Descriptor::describe<0>, &Descriptor::describe<1>,
      &Descriptor::describe<2>, &Descriptor::describe<3>,
      &Descriptor::describe<4>, &Descriptor::describe<5>,
      &Descriptor::describe<6>};
  static_assert(std::size(byRank) == maxOperandRank + 1);
  (this->*byRank[tensor.shape().size()])(tensor);
}

void *Descriptor::address() {
  return std::visit([](auto &ref) -> void * { return &ref; }, memref);
}

/// The words of a descriptor of that rank.
static size_t wordsOf(size_t rank) {
  return sizeof(StridedMemRefType<uint32_t, 0>) / sizeof(int64_t) + 2 * rank;
}

ResultSpace::ResultSpace(const std::vector<Operand> &results)
    : results(results) {
  size_t size = 0;
  for (const Operand &result : results)
    size += wordsOf(result.shape.size());
  words.resize(size);
}

std::vector<Tensor> ResultSpace::take() {
  std::vector<Tensor> tensors;
  std::set<uint32_t *> memory;
  size_t at = 0;
  for (const Operand &result : results) {
    auto rank = int64_t(result.shape.size());
    DynamicMemRefType<uint32_t> ref(
        ::UnrankedMemRefType<uint32_t>{rank, &words[at]});
    Tensor &tensor = tensors.emplace_back(result.element,
                                          Shape(ref.sizes, ref.sizes + rank));
    auto *to = reinterpret_cast<uint32_t *>(tensor.data());
    if (tensor.size() > 0)
      for (uint32_t word : ref)
        *to++ = word;
    memory.insert(ref.basePtr);
    at += wordsOf(result.shape.size());
  }
  for (uint32_t *each : memory)
    std::free(each);
  return tensors;
}
