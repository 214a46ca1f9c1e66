//===- RopeConfig.cpp - Rotary embedding of a config ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transformers 5 has one object, `rope_parameters`, with `rope_theta` in it;
// Transformers 4 has `rope_theta` beside `rope_scaling`, which is null for the
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

/// The object with the parameters of the embedding, absent for the plain one.
/// As in Transformers, that of version 4 wins if both are there. `kind` are the
/// layers for which they are, where the families' layers differ.
static json::Value ropeParameters(const json::Value &root, const char *kind) {
  json::Value scaling = root["rope_scaling"].nullAsAbsent();
  if (scaling)
    return scaling;
  json::Value parameters = root["rope_parameters"].nullAsAbsent();
  if (kind && parameters)
    if (json::Value own = parameters[kind].nullAsAbsent())
      return own;
  return parameters;
}

static void readLlama3(const json::Value &parameters, RopeConfig &rope) {
  rope.factor = parameters["factor"].positiveNumber();
  rope.lowFreqFactor = parameters["low_freq_factor"].positiveNumber();
  rope.highFreqFactor = parameters["high_freq_factor"].positiveNumber();
  if (rope.highFreqFactor <= rope.lowFreqFactor)
    parameters["high_freq_factor"].failExpected(
        "a number above low_freq_factor");
}

static void readYarn(const json::Value &root, const json::Value &parameters,
                     const Architecture &architecture, RopeConfig &rope) {
  json::Value factor = parameters["factor"].nullAsAbsent();
  rope.factor = factor ? factor.positiveNumber()
                       : double(readSize(root["max_position_embeddings"])) /
                             double(rope.originalContext);
  rope.betaFast =
      parameters["beta_fast"].nullAsAbsent().positiveNumber(/*otherwise=*/32);
  rope.betaSlow =
      parameters["beta_slow"].nullAsAbsent().positiveNumber(/*otherwise=*/1);
  rope.truncate = readFlag(parameters["truncate"], /*otherwise=*/true);

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
static void readLongRope(const json::Value &root, const json::Value &parameters,
                         RopeConfig &rope) {
  rope.shortDivisors = readDivisors(parameters["short_factor"]);
  rope.longDivisors = readDivisors(parameters["long_factor"]);
  const double original = double(rope.originalContext);
  json::Value given = parameters["factor"].nullAsAbsent();
  const double factor =
      given ? given.positiveNumber()
            : double(readSize(root["max_position_embeddings"])) / original;
  if (json::Value magnitude = parameters["attention_factor"].nullAsAbsent())
    rope.magnitude = magnitude.positiveNumber();
  else if (factor > 1 && original > 1)
    rope.magnitude = std::sqrt(1 + std::log(factor) / std::log(original));
}

/// Which share of a head turns.
static double readShare(const json::Value &root, const json::Value &parameters,
                        const Architecture &architecture) {
  double share = architecture.ropeShare.value_or(1);
  // The older form of MiniMax-M2.
  if (json::Value turned = root["rotary_dim"].nullAsAbsent();
      turned && architecture.ropeShare)
    share = double(readSize(turned)) / double(readSize(root["head_dim"]));
  for (const json::Value &holder : {root, parameters}) {
    json::Value part = holder["partial_rotary_factor"].nullAsAbsent();
    if (!part)
      continue;
    share = part.positiveNumber();
    if (share != 1 && !architecture.ropeShare)
      part.failExpected("1: " + std::string(architecture.name) +
                        " turns whole heads");
    else if (share > 1)
      part.failExpected("a number of at most 1");
  }
  return share;
}

/// `thetaKey` holds the base where the parameters do not.
static RopeConfig readRope(const json::Value &root,
                           const json::Value &parameters, const char *thetaKey,
                           double otherwise, const Architecture &architecture) {
  RopeConfig rope;
  json::Value theta = parameters["rope_theta"].nullAsAbsent();
  if (!theta)
    theta = root[thetaKey].nullAsAbsent();
  rope.theta = theta.positiveNumber(otherwise);
  if (rope.theta <= 1)
    theta.failExpected("a number above 1");
  rope.interleaved =
      architecture.ropeInterleaved ||
      (architecture.latentAttention && architecture.latentInterleaves &&
       readFlag(root["rope_interleave"], /*otherwise=*/true));
  rope.share = readShare(root, parameters, architecture);
  if (!parameters) {
    if (architecture.ropeScaled)
      root["rope_parameters"].failExpected("the scaling of rotary frequencies");
    return rope;
  }

  for (const auto &[key, value] : parameters.members())
    if (value.isObject())
      value.failExpected("a number: rotary parameters by kind of layer are not "
                         "supported");
  json::Value type = parameters["rope_type"].nullAsAbsent();
  if (!type)
    type = parameters["type"].nullAsAbsent();
  using Scaling = RopeConfig::Scaling;
  rope.scaling = type.choice<Scaling>({{"default", Scaling::None},
                                       {"linear", Scaling::Linear},
                                       {"llama3", Scaling::Llama3},
                                       {"yarn", Scaling::Yarn},
                                       {"longrope", Scaling::LongRope},
                                       {"su", Scaling::LongRope},
                                       // Of text, all of whose positions agree.
                                       {"mrope", Scaling::None}},
                                      /*otherwise=*/Scaling::None);
  // Of old files of Phi-3.
  if (rope.scaling == Scaling::Yarn && parameters["short_factor"].present())
    rope.scaling = Scaling::LongRope;

  if (rope.scaling == Scaling::Llama3 || rope.scaling == Scaling::Yarn ||
      rope.scaling == Scaling::LongRope) {
    json::Value original =
        parameters["original_max_position_embeddings"].nullAsAbsent();
    if (!original && rope.scaling == Scaling::LongRope)
      original = root["original_max_position_embeddings"].nullAsAbsent();
    rope.originalContext =
        readSize(original ? original : root["max_position_embeddings"]);
  }
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

void shardopt::hf::readRopes(const json::Value &root,
                             const Architecture &architecture,
                             AttentionConfig &attention) {
  const bool hasLocal = architecture.layerRopes == LayerRopes::LocalInWindows;
  json::Value global =
      ropeParameters(root, hasLocal ? "full_attention" : nullptr);
  attention.rope =
      readRope(root, global, "rope_theta", architecture.theta, architecture);
  if (!hasLocal)
    return;
  // The older form has a base for them and no scaling.
  json::Value local = root["rope_parameters"]
                          .nullAsAbsent()["sliding_attention"]
                          .nullAsAbsent();
  attention.localRope = readRope(root, local, "rope_local_base_freq",
                                 architecture.localTheta, architecture);
}

void shardopt::hf::checkRopes(const json::Value &root,
                              const AttentionConfig &attention) {
  const RopeConfig &rope = attention.rope;
  const int64_t dim = attention.latent ? attention.ropeDim : attention.headDim;
  const auto turned = int64_t(double(dim) * rope.share);
  if (turned == 0 || turned % 2 != 0)
    root["head_dim"].fail("expected heads of which an even number of features "
                          "turns, found " +
                          std::to_string(turned) + " of " +
                          std::to_string(dim));
  if (rope.scaling != RopeConfig::Scaling::LongRope)
    return;
  const auto pairs = size_t(turned) / 2;
  const json::Value parameters = ropeParameters(root, nullptr);
  for (const auto &[key, divisors] :
       {std::pair("short_factor", &rope.shortDivisors),
        std::pair("long_factor", &rope.longDivisors)})
    if (divisors->size() != pairs)
      parameters[key].failExpected("a number for each of the " +
                                   std::to_string(pairs) + " rotary pairs");
}
