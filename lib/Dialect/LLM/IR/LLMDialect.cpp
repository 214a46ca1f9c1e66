//===- LLMDialect.cpp - The llm dialect and its attributes===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/IR/LLMDialect.h"

#include "OpSyntax.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Model/RequestContext.h"
#include "shardopt/Support/Engine.h"
#include "shardopt/Support/Limits.h"
#include "shardopt/Support/Suggest.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

#include "shardopt/Dialect/LLM/IR/LLMDialect.cpp.inc"
#include "shardopt/Dialect/LLM/IR/LLMEnums.cpp.inc"

static ParseResult parseRequests(AsmParser &parser, RequestLoad &load);
static void printRequests(AsmPrinter &printer, const RequestLoad &load);

#define GET_ATTRDEF_CLASSES
#include "shardopt/Dialect/LLM/IR/LLMAttributes.cpp.inc"

namespace {

/// Long lists of runs, which many slices share, are written once in front of
/// the module.
struct LLMAsmInterface : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attribute, raw_ostream &os) const override {
    auto ranks = dyn_cast<ArrayAttr>(attribute);
    if (!ranks || ranks.size() < 2)
      return AliasResult::NoAlias;
    auto runs = dyn_cast<ArrayAttr>(ranks[0]);
    if (!runs || runs.empty() || !isa<DenseI64ArrayAttr>(runs[0]))
      return AliasResult::NoAlias;
    os << "runs";
    return AliasResult::OverridableAlias;
  }
};

} // namespace

void LLMDialect::initialize() {
  addInterfaces<LLMAsmInterface>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "shardopt/Dialect/LLM/IR/LLMAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "shardopt/Dialect/LLM/IR/LLMOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// #llm.dim
//===----------------------------------------------------------------------===//

Attribute DimAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  Dim dim = Dim::None;
  if (failed(parser.parseOptionalKeyword("none"))) {
    int64_t value;
    OptionalParseResult number = parser.parseOptionalInteger(value);
    if (!number.has_value() || failed(*number) || value < 0 ||
        value >= int64_t(maxDims) || value == int64_t(Dim::None)) {
      parser.emitError(loc, "expected a sharding dim: 0, 1, none or 3 to ")
          << maxDims - 1;
      return {};
    }
    dim = Dim(value);
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), dim);
}

void DimAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (getValue() == Dim::None)
    printer << "none";
  else
    printer << int(getValue());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// #llm.strategy
//===----------------------------------------------------------------------===//

/// What follows "stages": " = [8, 8, 7]".
static ParseResult parseStages(AsmParser &parser, StageCut &cut) {
  if (parser.parseEqual())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(cut.layers.emplace_back());
      }))
    return failure();
  if (cut.isEmpty())
    return parser.emitError(loc, "'")
           << StageCut::key << "' is empty, expected " << StageCut::wanted;
  return success();
}

/// One "tp = 8".
static ParseResult parseDegree(AsmParser &parser, PartialDegrees &degrees) {
  SMLoc loc = parser.getCurrentLocation();
  std::string name, spelling;
  int64_t value;
  if (parser.parseKeywordOrString(&name))
    return failure();
  std::optional<Degree> degree = parseDegree(name);
  bool isStages = name == StageCut::key;
  if (!degree && !isStages) {
    std::vector<std::string> known = degreeNames();
    known.push_back(StageCut::key);
    return parser.emitError(loc, "unknown degree '")
           << abbreviate(name) << "'; " << listKnown(name, known);
  }
  if (isStages ? !degrees.stages.isEmpty() : degrees[*degree].has_value())
    return parser.emitError(loc, "'") << name << "' is given twice";
  if (isStages)
    return parseStages(parser, degrees.stages);
  if (parser.parseEqual())
    return failure();
  if (!infoOf(*degree).names) {
    if (parser.parseInteger(value))
      return failure();
    degrees[*degree] = value;
    return success();
  }
  loc = parser.getCurrentLocation();
  if (parser.parseKeywordOrString(&spelling))
    return failure();
  degrees[*degree] = parseDegreeValue(*degree, spelling);
  if (!degrees[*degree])
    return parser.emitError(loc, "'")
           << name << "' is '" << abbreviate(spelling) << "', expected "
           << wantedOf(*degree);
  return success();
}

Attribute StrategyAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  PartialDegrees degrees;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&] {
        return ::parseDegree(parser, degrees);
      }))
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    degrees);
}

void StrategyAttr::print(AsmPrinter &printer) const {
  // Of a complete strategy, what says no more than the default is not written.
  PartialDegrees written = getDegrees();
  if (!written.firstMissing())
    written = PartialDegrees(written.filled());
  printer << '<';
  const char *separator = "";
  for (Degree degree : allDegrees)
    if (std::optional<int64_t> value = written[degree]) {
      printer << separator << spell(degree) << " = " << spell(degree, *value);
      separator = ", ";
    }
  if (!written.stages.isEmpty())
    printer << separator << StageCut::key << " = [" << spell(written.stages)
            << ']';
  printer << '>';
}

//===----------------------------------------------------------------------===//
// #llm.workload
//===----------------------------------------------------------------------===//

/// A number, whole or real, of either sign. Truth values, which the parser
/// takes for integers, are none.
static ParseResult parseRequestNumber(AsmParser &parser, RequestField field,
                                      double &value) {
  SMLoc loc = parser.getCurrentLocation();
  bool isNegative = succeeded(parser.parseOptionalMinus());
  if (isNegative && succeeded(parser.parseOptionalMinus()))
    return parser.emitError(loc, "'")
           << spell(field) << "' has a second sign, expected "
           << wantedOf(field);
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word)))
    return parser.emitError(loc, "'")
           << spell(field) << "' is '" << abbreviate(word.str())
           << "', expected " << wantedOf(field);
  int64_t whole = 0;
  OptionalParseResult number = parser.parseOptionalInteger(whole);
  if (number.has_value() ? failed(*number) : failed(parser.parseFloat(value)))
    return failure();
  if (number.has_value())
    value = double(whole);
  if (isNegative && value != 0) // which has no sign
    value = -value;
  return success();
}

/// What follows the context: ", isl = 4096, osl = 512".
static ParseResult parseRequests(AsmParser &parser, RequestLoad &load) {
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return failure();
    std::optional<RequestField> field = parseRequestField(name);
    if (!field)
      return parser.emitError(loc, "unknown number of requests '")
             << abbreviate(name) << "'; "
             << listKnown(name, requestFieldNames());
    if (load[*field])
      return parser.emitError(loc, "'") << name << "' is given twice";
    double value = 0;
    if (parser.parseEqual() || parseRequestNumber(parser, *field, value))
      return failure();
    load[*field] = value;
  }
  return success();
}

static void printRequests(AsmPrinter &printer, const RequestLoad &load) {
  for (const RequestFieldInfo &info : requestFields) {
    const std::optional<double> &value = load[info.field];
    if (!value)
      continue;
    std::string text = spell(info.field, *value);
    // A literal with an exponent has a point.
    if (size_t at = text.find('e');
        at != std::string::npos && text.find('.') == std::string::npos)
      text.insert(at, ".0");
    printer << ", " << info.name << " = " << text;
  }
}

//===----------------------------------------------------------------------===//
// The workers of a service
//===----------------------------------------------------------------------===//

Attribute ServiceAttr::parse(AsmParser &parser, Type) {
  StringAttr engine, decodeMachine, prefillMachine;
  std::optional<int64_t> concurrency, decodeWorkers, prefillWorkers;
  StrategyAttr decode, prefill;
  SMLoc start = parser.getCurrentLocation();
  auto once = [&](StringRef name, auto &into) -> ParseResult {
    using Value = std::decay_t<decltype(into)>;
    if (into)
      return parser.emitError(parser.getCurrentLocation(), "'")
             << name << "' is given twice";
    if constexpr (std::is_same_v<Value, std::optional<int64_t>>)
      return parser.parseInteger(into.emplace());
    else
      return parser.parseCustomAttributeWithFallback(into);
  };
  ParseResult members = parser.parseCommaSeparatedList(
      AsmParser::Delimiter::LessGreater, [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        std::string name;
        if (parser.parseKeywordOrString(&name) || parser.parseEqual())
          return failure();
        if (name == "engine")
          return once(name, engine);
        if (name == "concurrency")
          return once(name, concurrency);
        if (name == "decode_workers" || name == "decoders")
          return once(name, decodeWorkers);
        if (name == "decode")
          return once(name, decode);
        if (name == "prefill_workers" || name == "readers")
          return once(name, prefillWorkers);
        if (name == "prefill")
          return once(name, prefill);
        if (name == "decode_machine")
          return once(name, decodeMachine);
        if (name == "prefill_machine")
          return once(name, prefillMachine);
        return parser.emitError(loc, "unknown member '")
               << abbreviate(name) << "'; "
               << listKnown(name, {"engine", "concurrency", "decode_workers",
                                   "decode", "prefill_workers", "prefill",
                                   "decode_machine", "prefill_machine"});
      });
  if (members)
    return {};
  for (auto [name, isGiven] : {std::pair("engine", bool(engine)),
                               std::pair("concurrency", bool(concurrency)),
                               std::pair("decode_workers", bool(decodeWorkers)),
                               std::pair("decode", bool(decode))})
    if (!isGiven) {
      parser.emitError(start, "'") << name << "' is missing";
      return {};
    }
  return parser.getChecked<ServiceAttr>(
      start, parser.getContext(), engine, *concurrency, *decodeWorkers, decode,
      prefillWorkers.value_or(0), prefill, decodeMachine, prefillMachine);
}

void ServiceAttr::print(AsmPrinter &printer) const {
  printer << "<engine = " << getEngine()
          << ", concurrency = " << getConcurrency()
          << ", decode_workers = " << getDecodeWorkers() << ", decode = ";
  printer.printStrippedAttrOrType(getDecode());
  if (getPrefill()) {
    printer << ", prefill_workers = " << getPrefillWorkers() << ", prefill = ";
    printer.printStrippedAttrOrType(getPrefill());
  }
  for (auto [name, machine] :
       {std::pair("decode_machine", getDecodeMachine()),
        std::pair("prefill_machine", getPrefillMachine())})
    if (machine)
      printer << ", " << name << " = " << machine;
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Verifiers of attributes
//===----------------------------------------------------------------------===//

LogicalResult StrategyAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   PartialDegrees degrees) {
  for (Degree degree : allDegrees) {
    std::optional<int64_t> value = degrees[degree];
    if (value && *value < 1)
      return emitError() << "'" << spell(degree) << "' must be positive, found "
                         << *value;
    if (value && *value > infoOf(degree).most)
      return emitError() << "'" << spell(degree) << "' must be at most "
                         << infoOf(degree).most << ", found " << *value;
  }
  if (std::optional<std::string> error = degrees.stagesError())
    return emitError() << *error;
  return success();
}

FailureOr<Phase> llm::parsePhase(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (failed(parser.parseKeyword(&name)))
    return failure();
  for (Phase phase : {Phase::Decode, Phase::Prefill})
    if (name == cost::spell(phase))
      return phase;
  return parser.emitError(loc, "expected a phase: decode or prefill");
}

LogicalResult WorkloadAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   Phase phase, int64_t contextLength,
                                   RequestLoad requests) {
  if (contextLength < 1)
    return emitError() << "'context' must be positive, found " << contextLength;
  if (contextLength > maxContext)
    return emitError() << "'context' must be at most " << maxContext
                       << ", found " << contextLength;
  if (std::optional<std::string> why = requests.error())
    return emitError() << *why;
  if (std::optional<std::string> why =
          cost::contextError({phase, contextLength}, requests)) // (C6)
    return emitError() << *why;
  return success();
}

/// A strategy of a service, called `name`. (C3)
static LogicalResult verifyWorkers(function_ref<InFlightDiagnostic()> emitError,
                                   StringRef name,
                                   const PartialDegrees &degrees) {
  std::optional<Degree> missing = degrees.firstMissing();
  if (!missing)
    return success();
  return emitError() << "'" << name << "' must be a complete strategy, '"
                     << spell(*missing) << "' is missing";
}

LogicalResult ServiceAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  StringAttr engine, int64_t concurrency,
                                  int64_t decodeWorkers, StrategyAttr decode,
                                  int64_t prefillWorkers, StrategyAttr prefill,
                                  StringAttr decodeMachine,
                                  StringAttr prefillMachine) {
  // (C5): workers that no engine has to run have none.
  if (auto known = parseEngine(engine.str()); !known && engine != "none")
    return emitError() << known.error().message;
  for (auto [name, value] : {std::pair("concurrency", concurrency),
                             std::pair("decode_workers", decodeWorkers)})
    if (value < 1) // (C1)
      return emitError() << "'" << name << "' must be positive, found "
                         << value;
  if (prefillWorkers < 0 || (prefillWorkers > 0) != bool(prefill)) // (C2)
    return emitError() << "'prefill_workers' is " << prefillWorkers
                       << " and 'prefill' is "
                       << (prefill ? "given" : "missing")
                       << ", expected a positive number and a strategy, or "
                          "neither";
  if (bool(decodeMachine) != bool(prefillMachine)) // (C4)
    return emitError() << "'decode_machine' and 'prefill_machine' go together, "
                          "and '"
                       << (decodeMachine ? "prefill" : "decode")
                       << "_machine' is missing";
  for (auto [name, machine] : {std::pair("decode_machine", decodeMachine),
                               std::pair("prefill_machine", prefillMachine)})
    if (machine && machine.empty()) // (C4)
      return emitError() << "'" << name
                         << "' is empty, expected a machine or its file";
  if (prefillMachine && !prefill) // (C4)
    return emitError() << "'prefill_machine' is " << prefillMachine
                       << ", and there are no 'prefill_workers'";
  if (failed(verifyWorkers(emitError, "decode", decode.getDegrees())))
    return failure();
  return prefill ? verifyWorkers(emitError, "prefill", prefill.getDegrees())
                 : success();
}

LogicalResult RopeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t dim, APFloat theta, RopeStyle,
                               RopeScaling scaling, APFloat factor,
                               APFloat lowFreqFactor, APFloat highFreqFactor,
                               APFloat betaFast, APFloat betaSlow,
                               int64_t originalContext, bool, APFloat magnitude,
                               DenseF64ArrayAttr divisors) {
  if (dim < 2 || dim % 2 != 0)
    return emitError() << "'dim' must be even and positive, found " << dim;
  std::pair<StringRef, const APFloat *> reals[] = {
      {"theta", &theta},
      {"factor", &factor},
      {"low_freq_factor", &lowFreqFactor},
      {"high_freq_factor", &highFreqFactor},
      {"beta_fast", &betaFast},
      {"beta_slow", &betaSlow},
      {"magnitude", &magnitude}};
  for (auto [name, value] : reals)
    if (!value->isFinite() || value->isZero() || value->isNegative())
      return emitError() << "'" << name
                         << "' must be a positive finite number, found "
                         << value->convertToDouble();
  bool needsContext =
      scaling == RopeScaling::Llama3 || scaling == RopeScaling::Yarn;
  if (needsContext && originalContext < 1)
    return emitError() << "'original_context' must be positive for scaling '"
                       << stringifyRopeScaling(scaling) << "', found "
                       << originalContext;
  if ((scaling == RopeScaling::LongRope) != bool(divisors))
    return emitError() << "'divisors' belong to scaling 'longrope', found "
                       << (divisors ? "them" : "none") << " with '"
                       << stringifyRopeScaling(scaling) << "'";
  if (!divisors)
    return success();
  if (divisors.size() != dim / 2)
    return emitError() << "'divisors' must have " << dim / 2
                       << " entries, one a rotary pair, found "
                       << divisors.size();
  for (double divisor : divisors.asArrayRef())
    if (!(divisor > 0) || !std::isfinite(divisor))
      return emitError() << "'divisors' must be positive finite numbers, found "
                         << divisor;
  return success();
}

LogicalResult
TemperatureAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        int64_t floor, APFloat scale) {
  if (floor < 1)
    return emitError() << "'floor' must be positive, found " << floor;
  if (!scale.isFinite() || scale.isNegative())
    return emitError() << "'scale' must be a finite number and not negative, "
                          "found "
                       << scale.convertToDouble();
  return success();
}

LogicalResult IndexerAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t heads, int64_t dim, int64_t topK,
                                  APFloat epsilon, RopeStyle) {
  for (auto [name, size] :
       {std::pair(StringRef("heads"), heads), std::pair(StringRef("dim"), dim),
        std::pair(StringRef("top_k"), topK)})
    if (size < 1)
      return emitError() << "'" << name << "' must be positive, found " << size;
  if (!epsilon.isFiniteNonZero() || epsilon.isNegative())
    return emitError() << "'epsilon' must be a positive finite number, found "
                       << epsilon.convertToDouble();
  return success();
}

LogicalResult
ActivationAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       ActivationKind kind, bool gated, APFloat alpha,
                       APFloat limit, APFloat shift) {
  if (!limit.isFinite() || limit.isNegative())
    return emitError() << "'limit' must be a finite number and not negative, "
                          "found "
                       << limit.convertToDouble();
  if (!alpha.isFinite() || !shift.isFinite())
    return emitError() << "'alpha' and 'shift' must be finite";
  bool plainAlpha = alpha.convertToDouble() == 1.0;
  bool isCap = kind == ActivationKind::SoftCap;
  if (kind != ActivationKind::Silu && !isCap && !plainAlpha)
    return emitError() << "'alpha' belongs to silu and soft_cap, found it on "
                       << stringifyActivationKind(kind);
  if (isCap && gated)
    return emitError() << "soft_cap is not gated";
  if (!gated && ((!limit.isZero() && !isCap) || !shift.isZero()))
    return emitError() << "'limit' and 'shift' belong to a gated activation";
  return success();
}
