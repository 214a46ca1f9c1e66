//===- Network.h - What a module of networks offers -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The boundary between the agents, which see nothing but the standard library,
// and the module that holds their networks, a shared library that is opened
// when it is asked for. Only numbers, arrays and C strings cross it: a LibTorch
// build may have another std::string. Exceptions end inside the module.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_AGENT_NETWORK_H
#define SHARDOPT_SEARCH_AGENT_NETWORK_H

#include "shardopt/Support/Span.h"

#include <cstddef>
#include <cstdint>

namespace shardopt::agent {

/// Raised whenever anything in this header changes. A module of another version
/// is refused.
inline constexpr uint32_t interfaceVersion = 2;

/// Null, or what went wrong: a text of the module, valid until the next call
/// into it on the same thread.
using Failure = const char *;

/// Of the numbers inside a network; Double is for tests.
enum class Precision { Single, Double };

/// A named block of parameters, row by row.
struct ParameterBlock {
  const char *name; ///< lives as long as the network
  size_t size;
};

/// A network and the state of its optimiser (Adam). Parameters are doubles
/// here, whatever the precision inside.
class Network {
public:
  virtual ~Network() = default;

  /// Draws new parameters and forgets what the optimiser knows. The same seed
  /// gives the same parameters.
  virtual Failure reset(uint64_t seed) = 0;

  virtual size_t numBlocks() const = 0;
  virtual ParameterBlock block(size_t index) const = 0;
  virtual Failure readParameters(size_t index, Span<double> values) const = 0;
  virtual Failure writeParameters(size_t index, Span<const double> values) = 0;
  /// The gradients that the last loss left behind.
  virtual Failure readGradients(size_t index, Span<double> values) const = 0;

  /// One step of Adam with the gradients that the last loss left behind, scaled
  /// down to the norm `maxGradNorm` if theirs is larger.
  virtual Failure step(double learningRate, double maxGradNorm) = 0;
};

/// Sizes of the network of "Learning to Shard", section 3.
struct HistoryShape {
  size_t records = 3;           ///< T, elites observed
  size_t recordSize = 0;        ///< A, numbers a record
  size_t width = 256;           ///< d, of an embedded record
  size_t attentionHeads = 8;    ///< divides `width`
  size_t feedForward = 256;     ///< inside the encoder block
  size_t hidden = 256;          ///< of the two small MLPs
  Span<const uint32_t> choices; ///< the number of values of every variable
  double adamEpsilon = 1e-5;
};

/// Steps of a rollout, n of them.
struct HistoryRollout {
  Span<const double> observations; ///< n x records x recordSize
  Span<const uint32_t> actions;    ///< n x variables, indices of values
  Span<const double> logProbs;     ///< n, when the actions were drawn
  Span<const double> advantages;   ///< n
  Span<const double> returns;      ///< n
};

/// Weights of the terms of PPO's loss.
struct PpoWeights {
  double clip = 0.2;
  double value = 0.5;
  double entropy = 0;
};

/// Terms of a loss, each before its weight.
struct PpoLoss {
  double policy = 0; ///< - mean min(ratio A, clip(ratio) A)
  double value = 0;  ///< mean squared error
  double entropy = 0;
};

/// Actor and critic that attend over the elite history: every record is
/// embedded (linear), one Transformer encoder block follows, the mean over the
/// records, then one small MLP with a categorical head a variable, and one for
/// the value.
class HistoryNetwork : public Network {
public:
  /// Of one observation [records x recordSize]: the logits of all heads one
  /// after the other, and the value.
  virtual Failure evaluate(Span<const double> observation, Span<double> logits,
                           double &value) = 0;

  /// The loss of PPO and its gradients.
  virtual Failure computeLoss(const HistoryRollout &rollout,
                              const PpoWeights &weights, PpoLoss &loss) = 0;
};

/// Sizes of the network of `searcher=ppo`, in the terms of `EditNetwork`.
struct EditShape {
  Span<const uint32_t> choices; ///< V variables: the number of values of each
  size_t ordered = 0;           ///< the first so many also have steps
  size_t hidden = 64;           ///< H
  size_t elites = 10;           ///< K, attended to at most; 0: no attention
  double adamEpsilon = 1e-5;

  static constexpr size_t slacks = 2; ///< of a state: memory, latency
  static constexpr size_t features =
      4; ///< of an elite in addition to its values
};

/// What edit networks decide on. All values of all variables one after the
/// other are N positions; an action is the position of the value that a
/// variable is given, or N, the end of the edits.
struct EditBatch {
  // Decisions, n of them.
  Span<const uint32_t> positions;  ///< n x V, of the present values
  Span<const double> edited;       ///< n x V, 1 where a variable is edited
  Span<const double> slacks;       ///< n x slacks
  Span<const double> allowed;      ///< n x (N + 1), 1 where an action is
  Span<const uint32_t> actions;    ///< n, those taken
  Span<const uint32_t> histories;  ///< n, the history seen
  Span<const uint32_t> trajectory; ///< n, ascending, below G + I

  // Trajectories: the first G are those of the group, I more are imitated.
  Span<const double> logProbs;   ///< G, when the group was drawn
  Span<const double> advantages; ///< G
  size_t imitated = 0;           ///< I

  // Elites, u different ones, and the histories that hold them, h of them.
  Span<const uint32_t> elites;  ///< u x V, positions of their values
  Span<const uint32_t> members; ///< h x K, which elites; 0 where there is none
  Span<const double> present;   ///< h x K, 1 where there is one
  Span<const double> features;  ///< h x K x features
};

/// Weights of the terms of the loss of an edit network.
struct EditWeights {
  double clip = 0.2;
  double imitation = 0.1;
  double entropy = 0.1;
};

/// Terms of that loss, each before its weight.
struct EditLoss {
  double policy = 0;    ///< - sum over G of min(ratio A, clip(ratio) A) / G
  double imitation = 0; ///< - sum over I of log pi / I
  double entropy = 0;   ///< sum of the entropies of the group's decisions / G
};

/// A policy over edits that attends over the elites. With E_j a table with a
/// row for every value of variable j, x_j the present value, z the state:
///
///   h = b + sum_j E_j[x_j] + sum_(edited j) M_j + S slack
///   k_i, u_i = K f_i + sum_j K_j[x_ij], U f_i + sum_j U_j[x_ij]   of elite i
///   a = softmax_i(h . k_i / sqrt(H))
///   z = relu(h + sum_i a_i u_i)
///   logit of value v of variable j = W_jv z + c_jv
///       + W'_(j, v - x_j) z + c'_(j, v - x_j)       if j is ordered
///       + g_j sum_i a_i [x_ij = v]                  what the elites have
///   logit of the end = w z + c
///
/// One head is enough, so that queries and outputs need no projection of their
/// own. The logarithm of the probability of a trajectory is the sum over its
/// decisions.
class EditNetwork : public Network {
public:
  /// The logarithms of the probabilities of the first G trajectories.
  virtual Failure evaluate(const EditBatch &batch, Span<double> logProbs) = 0;

  /// The clipped objective of PPO over whole trajectories, self-imitation and
  /// entropy, and the gradients.
  virtual Failure computeLoss(const EditBatch &batch,
                              const EditWeights &weights, EditLoss &loss) = 0;
};

/// What the entry of a module returns. The first member never moves.
struct Module {
  uint32_t interfaceVersion;
  const char *library; ///< what stands behind it: "LibTorch 1.13.1"

  /// `network` is set, and owned by the caller, unless this fails.
  Failure (*createHistoryNetwork)(const HistoryShape &shape,
                                  Precision precision,
                                  HistoryNetwork *&network);
  Failure (*createEditNetwork)(const EditShape &shape, Precision precision,
                               EditNetwork *&network);
};

/// The `ModuleEntry` that returns a `Module`.
inline constexpr const char *moduleEntryName = "shardoptAgentModule";

} // namespace shardopt::agent

#endif // SHARDOPT_SEARCH_AGENT_NETWORK_H
