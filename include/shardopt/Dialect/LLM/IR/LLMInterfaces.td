//===- LLMInterfaces.td - Interfaces of shardable ops -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMINTERFACES_TD
#define SHARDOPT_DIALECT_LLM_IR_LLMINTERFACES_TD

include "mlir/IR/OpBase.td"

def LLM_ShardableOpInterface : OpInterface<"ShardableOpInterface"> {
  let cppNamespace = "::shardopt::llm";
  let description = [{
    An op whose sharding dim is a decision. It has a `name` that is the key of
    the decision in strategies and reports, an optional `sharding`, and operands
    that the dim places.
  }];
  let verify = "return ::shardopt::llm::verifyNames($_op);";
  let methods = [
    InterfaceMethod<"The name of the op, unique within its stack.",
      "::llvm::StringRef", "getShardingName", (ins), [{}],
      [{ return $_op.getName(); }]>,
    InterfaceMethod<"The dim that is annotated, if any.",
      "std::optional<::shardopt::Dim>", "getShardingDim", (ins), [{}], [{
        if (auto dim = $_op.getShardingAttr())
          return dim.getValue();
        return std::nullopt;
      }]>,
    InterfaceMethod<"Annotates the op with `dim`, or removes the annotation.",
      "void", "setShardingDim", (ins "std::optional<::shardopt::Dim>":$dim), [{}], [{
        if (dim)
          $_op.setShardingAttr(
              ::shardopt::llm::DimAttr::get($_op->getContext(), *dim));
        else
          $_op.removeShardingAttr();
      }]>,
    InterfaceMethod<[{
        The operands that have a placement over the tensor-parallel group, in
        the order in which they are read: activations, never weights, caches,
        positions or routing metadata.
      }],
      "::llvm::SmallVector<::mlir::OpOperand *>", "getActivations">,
    InterfaceMethod<[{
        What the op says of its layer, and so to the cost of all ops there: the
        window that it attends to, or the experts that it sends rows to. Zeros
        where it says nothing.
      }],
      "::shardopt::cost::LayerFacts", "getLayerFacts", (ins), [{}],
      [{ return {}; }]>,
    InterfaceMethod<[{
        The number of rows of a prompt, of an op for which rows belong to
        prompts; none of one that works row by row.
      }],
      "std::optional<int64_t>", "getPromptRows", (ins), [{}],
      [{ return std::nullopt; }]>,
    InterfaceMethod<[{
        Whether a row of the results depends on other rows of its prompt, so
        that a device which has some rows must have whole prompts.
      }],
      "bool", "mixesRows", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Whether the annotated dim cuts the features of every head, so that what
        projects to the op must give a device some of each.
      }],
      "bool", "cutsInsideHeads", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Whether the first result is what comes back from the experts of the
        layer.
      }],
      "bool", "returnsFromExperts", (ins), [{}], [{ return false; }]>,
  ];
}

def LLM_NormOpInterface : OpInterface<"NormOpInterface"> {
  let cppNamespace = "::shardopt::llm";
  let description = [{
    A norm of rows, which are the residual where the norm begins a layer, and are
    added to it where there is one. Operands and results have one type.
  }];
  let methods = [
    InterfaceMethod<"What is normed, but for a residual.",
      "::mlir::OpOperand &", "getNormed", (ins), [{}],
      [{ return $_op.getInputMutable(); }]>,
    InterfaceMethod<[{
        The residual that is added, first or behind the norm; null where the norm
        begins a layer.
      }],
      "::mlir::OpOperand *", "getAddedResidual", (ins), [{}], [{
        ::mlir::MutableOperandRange residual = $_op.getResidualMutable();
        return residual.empty() ? nullptr : &*residual.begin();
      }]>,
    InterfaceMethod<"The sum, which is the residual from here on, or null.",
      "::mlir::Value", "getNewResidual", (ins), [{}], [{
        if ($_op.getSum() || !$_op.getResidual())
          return $_op.getSum();
        return $_op.getResult();
      }]>,
  ];
}

def LLM_CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::shardopt::llm";
  let description = [{
    An op that says what its dims mean and cost. Its model has a rule (the
    placements that a dim needs of the operands that `getActivations` lists, and
    gives to the results, or why the dim is illegal) and a cost (its kernels in
    order, the collectives inside it, the bytes of its weights and of its cache,
    all a device and a layer). Reshards of its operands are not its own.
  }];
  let methods = [
    InterfaceMethod<[{
        The facts on which rule and cost depend, read out of the IR once: what
        it returns can be asked thousands of times, from any thread, and after
        the op is gone.
      }],
      "::std::shared_ptr<const ::shardopt::cost::OpModel>", "getOpModel">,
  ];
}

#endif // SHARDOPT_DIALECT_LLM_IR_LLMINTERFACES_TD
