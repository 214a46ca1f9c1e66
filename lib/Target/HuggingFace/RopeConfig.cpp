//===- RopeConfig.cpp - Rotary embedding of a config ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transformers 5 has one object, `rope_parameters`, with `rope_theta` in it;
// Transformers 4 has `rope_theta` next to `rope_scaling`, which is null for the
// plain embedding and calls the kind `type` in old files. Defaults are those of
// transformers/modeling_rope_utils.py.
//
//===----------------------------------------------------------------------===//

#include "ConfigReaders.h"

#include <cmath>

using namespace shardopt;
using namespace shardopt::hf;

/// Yarn's attention temperature (arXiv 2309.00071, section 3.4), with the
/// coefficient `mscale` of DeepSeek.
static double yarnTemperature(double factor, double mscale) {
  return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
}

namespace {

/// The parameters of the embedding: a key of `over` wins over one of `under`.
/// Plain ones may have neither.
struct RopeParameters {
  json::Value over, under;
  bool byKind = false; ///< whether kinds of layers have parameters of their own

  bool present() const { return over || under; }
  json::Value operator[](std::string_view key) const {
    return over ? over[key].orElse(under[key]) : under[key];
  }
};

} // namespace

/// The parameters of all layers. As in Transformers, those of version 4 win
/// where both are there, unless they are empty.
static RopeParameters ropeParameters(const ConfigRoot &root) {
  json::Value scaling = root["rope_scaling"].nullAsAbsent();
  json::Value parameters = root["rope_parameters"].nullAsAbsent();
  bool isEmpty = scaling.isObject() && scaling.members().empty();
  return {scaling.asAbsent(), scaling && !isEmpty ? scaling : parameters};
}

/// Those of the layers of `kind`, where kinds have their own: version 4 changes
/// those of full attention. What stands next to the kinds is not read.
static RopeParameters ropeParameters(const ConfigRoot &root,
                                     std::string_view kind) {
  json::Value scaling = root["rope_scaling"].nullAsAbsent();
  json::Value all = root["rope_parameters"].nullAsAbsent();
  bool isScaled = kind == "full_attention";
  return {isScaled ? scaling : scaling.asAbsent(), all[kind].nullAsAbsent(),
          /*byKind=*/true};
}

static void readLlama3(const RopeParameters &parameters, RopeConfig &rope) {
  rope.factor = parameters["factor"].positiveNumber();
  rope.lowFreqFactor = parameters["low_freq_factor"].positiveNumber();
  rope.highFreqFactor = parameters["high_freq_factor"].positiveNumber();
  if (rope.highFreqFactor <= rope.lowFreqFactor)
    parameters["high_freq_factor"].failExpected(
        "a number above low_freq_factor");
}

static void readYarn(const ConfigRoot &root, const RopeParameters &parameters,
                     const Architecture &architecture, RopeConfig &rope) {
  json::Value factor = parameters["factor"].nullAsAbsent();
  rope.factor = factor ? factor.positiveNumber()
                       : double(readSize(root["max_position_embeddings"])) /
                             double(rope.originalContext);
  rope.betaFast =
      parameters["beta_fast"].nullAsAbsent().positiveNumber(/*otherwise=*/32);
  rope.betaSlow =
      parameters["beta_slow"].nullAsAbsent().positiveNumber(/*otherwise=*/1);
  // Of parameters by kind, Transformers looks for it next to the kinds.
  if (!parameters.byKind)
    rope.truncate = !parameters["truncate"].isNull() &&
                    parameters["truncate"].boolean(/*otherwise=*/true);

  double mscale =
      parameters["mscale"].nullAsAbsent().nonNegativeNumber(/*otherwise=*/0);
  double mscaleAllDim =
      parameters["mscale_all_dim"].nullAsAbsent().nonNegativeNumber(
          /*otherwise=*/0);
  if (json::Value given = parameters["attention_factor"].nullAsAbsent())
    rope.magnitude = given.positiveNumber();
  else if (mscale != 0 && mscaleAllDim != 0)
    rope.magnitude = yarnTemperature(rope.factor, mscale) /
                     yarnTemperature(rope.factor, mscaleAllDim);
  else
    rope.magnitude = yarnTemperature(rope.factor, 1);
  if (architecture.latentAttention && mscaleAllDim != 0) {
    double temperature = yarnTemperature(rope.factor, mscaleAllDim);
    rope.scaleFactor = temperature * temperature;
  }
}

static std::vector<double> readDivisors(const json::Value &list) {
  std::vector<double> divisors;
  for (const json::Value &divisor : list.elements())
    divisors.push_back(divisor.positiveNumber());
  return divisors;
}

/// LongRoPE (arXiv 2402.13753), with the magnitude that Transformers gives it.
static void readLongRope(const ConfigRoot &root,
                         const RopeParameters &parameters, RopeConfig &rope) {
  rope.shortDivisors = readDivisors(parameters["short_factor"]);
  rope.longDivisors = readDivisors(parameters["long_factor"]);
  double original = double(rope.originalContext);
  json::Value given = parameters["factor"].nullAsAbsent();
  double factor =
      given ? given.positiveNumber()
            : double(readSize(root["max_position_embeddings"])) / original;
  if (json::Value magnitude = parameters["attention_factor"].nullAsAbsent())
    rope.magnitude = magnitude.positiveNumber();
  else if (factor > 1 && original > 1)
    rope.magnitude = std::sqrt(1 + std::log(factor) / std::log(original));
}

/// Which share of a head turns.
static double readShare(const ConfigRoot &root,
                        const RopeParameters &parameters,
                        const Architecture &architecture) {
  double share = 1;
  // The older form of MiniMax-M2.
  if (json::Value turned = root["rotary_dim"].nullAsAbsent();
      turned && architecture.ropeShares)
    share = double(readSize(turned)) / double(readSize(root["head_dim"]));
  for (json::Value part :
       {root["partial_rotary_factor"], parameters["partial_rotary_factor"]}) {
    part = part.nullAsAbsent();
    if (!part)
      continue;
    share = part.positiveNumber();
    if (share != 1 && !architecture.ropeShares)
      part.failExpected("1: " + std::string(architecture.name) +
                        " turns whole heads");
    else if (share > 1)
      part.failExpected("a number of at most 1");
  }
  return share;
}

/// How frequencies are scaled.
static RopeConfig::Scaling readScaling(const RopeParameters &parameters,
                                       const Architecture &architecture) {
  using Scaling = RopeConfig::Scaling;
  json::Value type = parameters["rope_type"].nullAsAbsent();
  // The older word; full attention is plain unless `rope_type` says otherwise.
  if (!type && (!parameters.byKind || parameters.under))
    type = parameters["type"].nullAsAbsent();
  auto scaling = type.choice<Scaling>({{"default", Scaling::None},
                                       {"linear", Scaling::Linear},
                                       {"llama3", Scaling::Llama3},
                                       {"yarn", Scaling::Yarn},
                                       {"longrope", Scaling::LongRope},
                                       {"su", Scaling::LongRope},
                                       // Of text, all of whose positions agree.
                                       {"mrope", Scaling::None}},
                                      /*otherwise=*/Scaling::None);
  return scaling == Scaling::Yarn && architecture.yarnIsLong ? Scaling::LongRope
                                                             : scaling;
}

/// How many tokens there were before frequencies were scaled.
static int64_t readOriginalContext(const ConfigRoot &root,
                                   const RopeParameters &parameters) {
  static constexpr std::string_view key = "original_max_position_embeddings";
  for (json::Value original : {root[key], parameters[key]})
    if ((original = original.nullAsAbsent()))
      return readSize(original);
  return readSize(root["max_position_embeddings"]);
}

/// `thetaKey` holds the base where the parameters do not.
static RopeConfig readRope(const ConfigRoot &root,
                           const RopeParameters &parameters,
                           const char *thetaKey,
                           const Architecture &architecture) {
  RopeConfig rope;
  json::Value theta = parameters["rope_theta"].nullAsAbsent();
  if (!theta)
    theta = root[thetaKey].nullAsAbsent();
  rope.theta = theta.positiveNumber(/*otherwise=*/1e4);
  if (rope.theta <= 1)
    theta.failExpected("a number above 1");
  rope.interleaved =
      architecture.ropeInterleaved ||
      (architecture.latentAttention && architecture.latentInterleaves &&
       readFlag(root["rope_interleave"], /*otherwise=*/true));
  rope.share = readShare(root, parameters, architecture);
  if (!parameters.present()) {
    if (architecture.ropeScaled)
      root["rope_parameters"].failExpected("the scaling of rotary frequencies");
    return rope;
  }

  for (const json::Value &holder : {parameters.over, parameters.under})
    if (holder)
      for (const auto &[key, value] : holder.members())
        if (value.isObject())
          value.failExpected("a number: rotary parameters by kind of layer are "
                             "not supported");
  using Scaling = RopeConfig::Scaling;
  rope.scaling = readScaling(parameters, architecture);
  if (rope.scaling != Scaling::None && rope.scaling != Scaling::Linear)
    rope.originalContext = readOriginalContext(root, parameters);
  switch (rope.scaling) {
  case Scaling::None:
    break;
  case Scaling::Linear:
    rope.factor = parameters["factor"].positiveNumber();
    break;
  case Scaling::Llama3:
    readLlama3(parameters, rope);
    break;
  case Scaling::Yarn:
    readYarn(root, parameters, architecture, rope);
    break;
  case Scaling::LongRope:
    readLongRope(root, parameters, rope);
    break;
  }
  return rope;
}

void shardopt::hf::readRopes(const ConfigRoot &root,
                             const Architecture &architecture,
                             AttentionConfig &attention) {
  if (architecture.layerRopes != LayerRopes::LocalInWindows) {
    attention.rope =
        readRope(root, ropeParameters(root), "rope_theta", architecture);
    return;
  }
  attention.rope = readRope(root, ropeParameters(root, "full_attention"),
                            "rope_theta", architecture);
  // The older form has a base for them and no scaling.
  attention.localRope =
      readRope(root, ropeParameters(root, "sliding_attention"),
               "rope_local_base_freq", architecture);
}

void shardopt::hf::checkRopes(const ConfigRoot &root,
                              const AttentionConfig &attention) {
  const RopeConfig &rope = attention.rope;
  int64_t dim = attention.latent ? attention.ropeDim : attention.headDim;
  auto turned = int64_t(double(dim) * rope.share);
  if (turned == 0 || turned % 2 != 0)
    root["head_dim"].fail("expected an even number of features per head that "
                          "rotary embedding turns, found " +
                          std::to_string(turned) + " of " +
                          std::to_string(dim));
  if (rope.scaling != RopeConfig::Scaling::LongRope)
    return;
  auto pairs = size_t(turned) / 2;
  RopeParameters parameters = ropeParameters(root);
  for (const auto &[key, divisors] :
       {std::pair("short_factor", &rope.shortDivisors),
        std::pair("long_factor", &rope.longDivisors)})
    if (divisors->size() != pairs)
      parameters[key].failExpected("a number for each of the " +
                                   std::to_string(pairs) + " rotary pairs");
}
