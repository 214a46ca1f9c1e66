//===- LLMOpBase.td - Classes and types of the ops -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMOPBASE_TD
#define SHARDOPT_DIALECT_LLM_IR_LLMOPBASE_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "shardopt/Dialect/LLM/IR/LLMAttributes.td"
include "shardopt/Dialect/LLM/IR/LLMInterfaces.td"

def LLM_Structure : OpDocGroup {
  let summary = "Structure of a program";
  let description = "Weights, layers, residuals. These have no sharding.";
}

def LLM_Fused : OpDocGroup {
  let summary = "Fused operators";
  let description = [{
    What a model consists of. Each is written with its name and its sharding in
    front, `llm.out_proj "out_proj" dim<0> %attention, %weight {heads = 64}`, and
    with the types from which the others follow. Where they do not follow, all
    types are written, as of a function. A weight of another element type is
    written `weights f8E4M3FN` behind the types.
  }];
}

// No static size of an operand or a result is beyond what passes can list.
def LLM_BoundedSizes : NativeOpTrait<"BoundedSizes"> {
  let cppNamespace = "::shardopt::llm";
}

// Row r of the first result is made of row r of the first operand.
def LLM_RowByRow : NativeOpTrait<"RowByRow"> {
  let cppNamespace = "::shardopt::llm";
}

class LLM_Op<string mnemonic, list<Trait> traits = []>
    : Op<LLM_Dialect, mnemonic, !listconcat(traits, [LLM_BoundedSizes])> {
  let opDocGroup = LLM_Structure;
}

// An op that is written as `OpSyntax.h` says.
class LLM_WrittenOp<string mnemonic, list<Trait> traits = []>
    : LLM_Op<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>])> {
  // How each operand is written: "" is the first, "," another one after a
  // comma, "word" one as `word(%a)`, "word?" one that may be absent and "word*"
  // several.
  list<string> operandSyntax;
  // The operands whose types are written, where they are present, and how many
  // results' types are. The other types follow by `typeRule`.
  list<int> writtenOperands = [0];
  string writtenResults = "1";
  string typeRule;
  // The operand whose element type may be another one, -1 for none.
  int weightOperand = -1;
  // Results after the first, which is called as the op is.
  list<string> moreResults = [];
  bit isNamed = false;
  // Whether the op's kind of attention stands in front.
  bit hasKind = false;

  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = [{
    void }] # typeRule # [{(::shardopt::llm::OpTypes &types);
    }] # !if(isNamed, "::shardopt::Span<const ::shardopt::cost::DimChoice> choicesOf($cppClass);", "") # [{
    static const ::shardopt::llm::OpSyntax &syntaxOf($cppClass) {
      static constexpr ::llvm::StringLiteral operands[] = {
          }] # !interleave(!foreach(word, operandSyntax, "\"" # word # "\""), ", ") # [{};
      static constexpr unsigned written[] = {
          }] # !interleave(writtenOperands, ", ") # [{};
      static constexpr ::shardopt::llm::OpSyntax syntax = {
          }] # !if(isNamed, "true, ", "false, ") # !if(hasKind, "true", "false") # [{, operands, written,
          }] # writtenResults # ", " # weightOperand # ", " # typeRule # ", " #
          !if(isNamed, "[] { return choicesOf($cppClass()); }", "nullptr") # [{};
      return syntax;
    }
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser,
                                         ::mlir::OperationState &state) {
      return ::shardopt::llm::parseOp(parser, state, syntaxOf($cppClass()));
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) {
      ::shardopt::llm::printOp(printer, *this, syntaxOf(*this));
    }
    void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) {
      ::shardopt::llm::nameResults(*this, setName, {
          }] # !interleave(!foreach(word, moreResults, "\"" # word # "\""), ", ") # [{});
    }
  }];
}

// An op with a name and a sharding dim, and a cost. `says` are the methods of
// `ShardableOpInterface` that it implements in addition to `getActivations`.
class LLM_FusedOp<string mnemonic, list<Trait> traits = [],
                  list<string> says = []>
    : LLM_WrittenOp<mnemonic, !listconcat(traits, [
        Pure,
        DeclareOpInterfaceMethods<LLM_ShardableOpInterface,
            !listconcat(["getActivations"], says)>,
        DeclareOpInterfaceMethods<LLM_CostOpInterface>])> {
  // Every fused op has these two among its arguments.
  dag common = (ins StrAttr:$name, OptionalAttr<LLM_DimAttr>:$sharding);
  let isNamed = true;
  let hasVerifier = 1;
  let opDocGroup = LLM_Fused;
}

// Sizes are static but for rows, sequences and positions: a verifier compares
// them, and costs are computed from them.
class LLM_StaticFrom<int dim, Type base, string desc> : ConfinedType<base, [
    CPred<"!::mlir::ShapedType::isDynamicShape("
          "::llvm::cast<::mlir::ShapedType>($_self).getShape().drop_front("
          # dim # "))">], desc>;

def LLM_Activation2D : LLM_StaticFrom<1, TensorRankOf<[AnyFloat], [2]>,
    "2D tensor of floating-point values with a static number of columns">;
def LLM_Vector : LLM_StaticFrom<0, TensorRankOf<[AnyFloat], [1]>,
    "statically shaped 1D tensor of floating-point values">;
def LLM_Matrix : LLM_StaticFrom<0, TensorRankOf<[AnyFloat], [2]>,
    "statically shaped 2D tensor of floating-point values">;
def LLM_Weight : LLM_StaticFrom<0, TensorRankOf<[AnyFloat], [2, 3]>,
    "statically shaped 2D or 3D tensor of floating-point values">;
def LLM_Bias : LLM_StaticFrom<0, TensorRankOf<[AnyFloat], [1, 2]>,
    "statically shaped 1D or 2D tensor of floating-point values">;
def LLM_Indices1D : TensorRankOf<[I32], [1]>;
def LLM_Indices2D : LLM_StaticFrom<1, TensorRankOf<[I32], [2]>,
    "2D tensor of 32-bit integers with a static number of columns">;
def LLM_Counts : LLM_StaticFrom<0, TensorRankOf<[I32], [3]>,
    "statically shaped 3D tensor of 32-bit integers">;
def LLM_RoutingWeights : LLM_StaticFrom<1, TensorRankOf<[F32], [2]>,
    "2D tensor of 32-bit floats with a static number of columns">;
def LLM_Cache : LLM_StaticFrom<2, TensorRankOf<[AnyFloat], [3, 4]>,
    "3D or 4D tensor of floating-point values, static but for sequences and positions">;
def LLM_State : LLM_StaticFrom<1, TensorRankOf<[AnyFloat], [3, 4]>,
    "3D or 4D tensor of floating-point values, static but for sequences">;

#endif // SHARDOPT_DIALECT_LLM_IR_LLMOPBASE_TD
