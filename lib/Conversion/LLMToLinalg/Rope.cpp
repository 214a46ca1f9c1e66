//===- Rope.cpp - Rotary position embedding -------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rope.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

//===----------------------------------------------------------------------===//
// Frequencies
//===----------------------------------------------------------------------===//

/// Llama 3: long wavelengths slowed down, short ones kept, a ramp between.
static void scaleLlama3(std::vector<double> &frequencies, RopeAttr rope) {
  double factor = rope.getFactor().convertToDouble();
  double low = rope.getLowFreqFactor().convertToDouble();
  double high = rope.getHighFreqFactor().convertToDouble();
  for (double &frequency : frequencies) {
    double wavelength = 2 * llvm::numbers::pi / frequency;
    double turns = rope.getOriginalContext() / wavelength;
    double smooth = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    frequency = (1 - smooth) * frequency / factor + smooth * frequency;
  }
}

/// YaRN (arXiv 2309.00071): interpolation of the slow pairs only.
static void scaleYarn(std::vector<double> &frequencies, RopeAttr rope) {
  double dim = rope.getDim(), theta = rope.getTheta().convertToDouble();
  double factor = rope.getFactor().convertToDouble();
  auto pairThatTurns = [&](const APFloat &times) {
    double wavelength = rope.getOriginalContext() /
                        (times.convertToDouble() * 2 * llvm::numbers::pi);
    return dim * std::log(wavelength) / (2 * std::log(theta));
  };
  double low = pairThatTurns(rope.getBetaFast());
  double high = pairThatTurns(rope.getBetaSlow());
  if (rope.getTruncate()) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, dim - 1);
  if (low == high)
    high += 0.001;
  for (auto [pair, frequency] : llvm::enumerate(frequencies)) {
    double ramp = std::clamp((pair - low) / (high - low), 0.0, 1.0);
    frequency = frequency / factor * ramp + frequency * (1 - ramp);
  }
}

std::vector<double> llm::ropeFrequencies(RopeAttr rope) {
  double theta = rope.getTheta().convertToDouble();
  std::vector<double> frequencies;
  for (int64_t j = 0; j < rope.getDim(); j += 2)
    frequencies.push_back(std::pow(theta, -double(j) / rope.getDim()));
  switch (rope.getScaling()) {
  case RopeScaling::None:
    break;
  case RopeScaling::Linear:
    for (double &frequency : frequencies)
      frequency /= rope.getFactor().convertToDouble();
    break;
  case RopeScaling::Llama3:
    scaleLlama3(frequencies, rope);
    break;
  case RopeScaling::Yarn:
    scaleYarn(frequencies, rope);
    break;
  case RopeScaling::LongRope:
    for (auto [frequency, divisor] :
         llvm::zip_equal(frequencies, rope.getDivisors().asArrayRef()))
      frequency /= divisor;
    break;
  }
  return frequencies;
}

//===----------------------------------------------------------------------===//
// Cosines and sines
//===----------------------------------------------------------------------===//

static Value constant(LoopBuilder &b, ArrayRef<double> values) {
  auto type = RankedTensorType::get(values.size(), b.getF64Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, values));
}

/// `frequencies` and `magnitudes` have an entry a pair. Angles are f64: those
/// of late positions have no digits left after the point in f32.
static Rotation makeRotation(LoopBuilder &b, Value positions, RopeStyle style,
                             Value frequencies, Value magnitudes) {
  Sizes sizes = {sizeOf(b, positions, 0), sizeOf(b, frequencies, 0)};
  Value table = empty(b, sizes, b.getF32Type());
  Values turns =
      nest(b, {{positions, {0}}, {frequencies, {1}}, {magnitudes, {1}}},
           {whole(table), whole(table)}, [](LoopBuilder &b, ValueRange e) {
             Value position = arith::SIToFPOp::create(b, b.getF64Type(), e[0]);
             Value angle = multiply(b, position, e[1]);
             auto narrow = [&](Value x) -> Value {
               return arith::TruncFOp::create(b, b.getF32Type(),
                                              multiply(b, x, e[2]));
             };
             return Values{narrow(math::CosOp::create(b, angle)),
                           narrow(math::SinOp::create(b, angle))};
           });
  return {turns[0], turns[1], style};
}

Rotation llm::makeRotation(LoopBuilder &b, Value positions, RopeAttr rope) {
  std::vector<double> frequencies = ropeFrequencies(rope);
  std::vector<double> magnitudes(frequencies.size(),
                                 rope.getMagnitude().convertToDouble());
  return ::makeRotation(b, positions, rope.getStyle(), constant(b, frequencies),
                        constant(b, magnitudes));
}

Rotation llm::makeRotation(LoopBuilder &b, Value positions, RopeAttr rope,
                           Value first, int64_t pairs) {
  std::vector<double> frequencies = ropeFrequencies(rope);
  int64_t real = frequencies.size();
  std::vector<double> magnitudes(real, rope.getMagnitude().convertToDouble());
  frequencies.resize(real + pairs, 0.0);
  magnitudes.resize(real + pairs, 0.0);
  // A device may lie beyond all rotary pairs.
  OpFoldResult begin =
      arith::MinSIOp::create(b, first, index(b, real)).getResult();
  OpFoldResult size = b.getIndexAttr(pairs);
  return ::makeRotation(b, positions, rope.getStyle(),
                        slice(b, constant(b, frequencies), begin, size),
                        slice(b, constant(b, magnitudes), begin, size));
}

Value llm::rotate(LoopBuilder &b, Value x, const Rotation &rotation) {
  int64_t pairs = staticSize(rotation.cosines, 1), size = staticSize(x, 2);
  bool interleaved = rotation.style == RopeStyle::Interleaved;
  Value first = columns(b, x, 0, pairs, interleaved ? 2 : 1);
  Value second =
      columns(b, x, interleaved ? 1 : pairs, pairs, interleaved ? 2 : 1);
  Value half = empty(b, sizesOf(b, first), b.getF32Type());
  Values parts =
      nest(b,
           {whole(first),
            whole(second),
            {rotation.cosines, {0, 2}},
            {rotation.sines, {0, 2}}},
           {whole(half), whole(half)}, [](LoopBuilder &b, ValueRange e) {
             return Values{
                 subtract(b, multiply(b, e[0], e[2]), multiply(b, e[1], e[3])),
                 add(b, multiply(b, e[1], e[2]), multiply(b, e[0], e[3]))};
           });
  if (2 * pairs < size)
    parts.push_back(columns(b, x, 2 * pairs, size - 2 * pairs));
  return beside(b, parts);
}
