//===- CalibratedForms.h - Formulas of measured kernels ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The forms that utils/calibrate fits, term by term the same: sizes and
// constants to microseconds. Constants are shares of the peaks of a data sheet,
// microseconds, or multiples of bytes, so that they say something of a device
// that nobody measured. docs/Calibration.md tells what the terms are.
//
// `constants` of a form hands out its constants as visit(name, member,
// mayMiss); those that may be missing have a default.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_CALIBRATED_CALIBRATEDFORMS_H
#define SHARDOPT_COST_CALIBRATED_CALIBRATEDFORMS_H

#include "shardopt/Model/Machine/Calibration.h"

#include <array>
#include <cstdint>
#include <string>

namespace shardopt::cost::calibrated {

/// A data sheet per microsecond.
struct Device {
  explicit Device(const DataSheet &sheet);
  Device() = default;

  double flops = 1; ///< bf16
  double fp8 = 1;   ///< times `flops`
  double fp4 = 1;   ///< times `flops`
  double sms = 1;
  double bandwidth = 1;
  double cache = 1;
  double link = 1;
  double network = 1;
};

enum class Peak : uint8_t { Bf16, Fp8, Fp4 };

/// How operands are stored, and at which peak they are multiplied.
struct Element {
  double weightBytes = 2;
  double operandBytes = 2; ///< of an activation; of both in a GEMM's caches
  Peak peak = Peak::Bf16;
};

/// A matrix product: the best of a few tiles and splits of k over the SMs.
struct Gemm {
  double t0 = 0, ec = 0, eb = 0, em = 0, h = 0, l2 = 0, wa = 0, wc = 0, ts = 0;
  double q = 0; ///< dynamic quantisation of the activations
  template <typename Visitor> void constants(Visitor visit) {
    visit("t0", t0, false);
    visit("ec", ec, false);
    visit("eb", eb, false);
    visit("em", em, false);
    visit("h", h, false);
    visit("l2", l2, false);
    visit("wa", wa, false);
    visit("wc", wc, false);
    visit("ts", ts, false);
    visit("q", q, true);
  }
  /// A step over 1 of k, in tiles of each size.
  using Steps = std::array<double, 6>;
  Steps steps(const Device &device, const Element &element) const;

  double us(const Device &device, const Element &element, double m, double n,
            double k) const {
    return us(device, element, steps(device, element), m, n, k);
  }
  double us(const Device &device, const Element &element, const Steps &steps,
            double m, double n, double k) const;
};

/// What dynamic quantisation of m x k activations takes more than static.
struct QuantizationScale {
  double t0 = 0, w = 0, v = 0;
  template <typename Visitor> void constants(Visitor visit) {
    visit("t0", t0, false);
    visit("w", w, false);
    visit("v", v, false);
  }
  double us(const Device &device, double m, double k) const;
};

/// Attention of whole prompts; of latent attention `dims` are those of a query
/// and a value together, and `rowDims` those that memory holds of a head.
struct PromptAttention {
  double t0 = 0, ec = 0, cr = 0, co = 0, me = 0, c1 = 0, tau = 0;
  template <typename Visitor> void constants(Visitor visit) {
    visit("t0", t0, false);
    visit("ec", ec, false);
    visit("cr", cr, false);
    visit("co", co, false);
    visit("me", me, false);
    visit("c1", c1, false);
    visit("tau", tau, false);
  }
  /// Grouped heads of size `dim`; no window: 0.
  double us(const Device &device, double batch, double heads, double kvHeads,
            double dim, double length, double window) const;
  /// Latent heads whose query and value have `dims` numbers.
  double latentUs(const Device &device, double batch, double heads, double dims,
                  double length) const;

private:
  double us(const Device &device, double share, double blocks, double seen,
            double step, double bytes) const;
};

/// Attention of one new token a sequence.
struct TokenAttention {
  double t0 = 0, tg = 0, qo = 0, em = 0, ec = 0, cb = 0, cg = 0, cw = 0, c1 = 0,
         tau = 0, u = 0, r0 = 0, r1 = 0;
  template <typename Visitor> void constants(Visitor visit) {
    visit("t0", t0, false);
    visit("tg", tg, false);
    visit("qo", qo, false);
    visit("em", em, false);
    visit("ec", ec, false);
    visit("cb", cb, false);
    visit("cg", cg, false);
    visit("cw", cw, false);
    visit("c1", c1, false);
    visit("tau", tau, false);
    visit("u", u, false);
    visit("r0", r0, false);
    visit("r1", r1, false);
  }
  double us(const Device &device, double batch, double heads, double kvHeads,
            double dim, double length, double cacheBytes) const;
  double latentUs(const Device &device, double batch, double heads,
                  double latent, double rope, double length,
                  double cacheBytes) const;

private:
  double us(const Device &device, double caches, double group, double length,
            double bytes, double flops) const;
};

/// How tokens are dealt out to experts.
enum class Load : uint8_t { Balanced, PowerLaw };

/// Tokens of a whole expert-parallel group, and what one rank holds.
struct ExpertShape {
  double hidden = 0;
  double inner = 0; ///< columns of a rank
  double topk = 0;
  double experts = 0; ///< of the model
  double ep = 1;
  double tokens = 0;
  double gates = 2; ///< matrices of the first product
};

/// Experts of a rank that get a token.
double activeExperts(const ExpertShape &shape, Load load);

/// Routing, the two grouped GEMMs on a rank, and the weighted sum.
struct Experts {
  double t0 = 0, em = 0, ec = 0, cs = 0, ca = 0, cr = 0, ci = 0, ck = 0, ce = 0,
         c2 = 0;
  template <typename Visitor> void constants(Visitor visit) {
    visit("t0", t0, false);
    visit("em", em, false);
    visit("ec", ec, false);
    visit("cs", cs, false);
    visit("ca", ca, false);
    visit("cr", cr, false);
    visit("ci", ci, false);
    visit("ck", ck, false);
    visit("ce", ce, false);
    visit("c2", c2, false);
  }
  double us(const Device &device, const Element &element,
            const ExpertShape &shape, double active) const;
  /// One grouped product of `rows` rows in `active` experts.
  double productUs(const Device &device, const Element &element, double rows,
                   double active, double columns, double k) const;
};

/// NCCL: the best of its protocols.
struct Nccl {
  struct Protocol {
    double a = 0, b = 0, y = 0, e = 0, x = 0;
  };
  static constexpr size_t numProtocols = 4;
  std::array<Protocol, numProtocols> protocols;
  template <typename Visitor> void constants(Visitor visit) {
    for (size_t i = 0; i != numProtocols; ++i) {
      std::string number = std::to_string(i);
      Protocol &p = protocols[i];
      visit("a" + number, p.a, false);
      visit("b" + number, p.b, false);
      visit("y" + number, p.y, false);
      visit("e" + number, p.e, false);
      visit("x" + number, p.x, false);
    }
  }
  /// What the protocols take and attain among a number of ranks, of any bytes.
  struct Among {
    double gpus = 1;
    std::array<double, numProtocols> latency, rate;
  };
  Among among(const Device &device, double gpus) const;
  static double us(const Among &ranks, double bytes);
  double us(const Device &device, double gpus, double bytes) const {
    return us(among(device, gpus), bytes);
  }
};

/// All-reduce of a serving engine: one shot, two shots or a ring.
struct CustomAllReduce {
  double y0 = 1;
  double f0 = 0, a0 = 0, b0 = 0, e0 = 0, a1 = 0, b1 = 0, e1 = 0, a2 = 0, b2 = 0,
         e2 = 0, x2 = 0;
  template <typename Visitor> void constants(Visitor visit) {
    visit("f0", f0, false);
    visit("y0", y0, true);
    visit("a0", a0, false);
    visit("b0", b0, false);
    visit("e0", e0, false);
    visit("a1", a1, false);
    visit("b1", b1, false);
    visit("e1", e1, false);
    visit("a2", a2, false);
    visit("b2", b2, false);
    visit("e2", e2, false);
    visit("x2", x2, false);
  }
  double us(const Device &device, double gpus, double bytes) const;
};

/// DeepEP, within a node of 8 or between nodes.
struct Exchange {
  double t0 = 0, el = 0, cl = 0;
  double rs = 0; ///< 1e3 bytes/us of an SM; 0: low latency
  double tn = 0, yn = 1, en = 0, xn = 1;
  template <typename Visitor> void constants(Visitor visit) {
    visit("t0", t0, false);
    visit("el", el, false);
    visit("cl", cl, false);
    visit("rs", rs, true);
    visit("tn", tn, true);
    visit("yn", yn, true);
    visit("en", en, true);
    visit("xn", xn, true);
  }
  double us(const Device &device, double nodes, double hidden, double topk,
            double tokens, double elementBytes, double sms) const;
};

} // namespace shardopt::cost::calibrated

#endif // SHARDOPT_COST_CALIBRATED_CALIBRATEDFORMS_H
