//===- Model.h - A model as the cost model sees it --------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_MODEL_H
#define SHARDOPT_MODEL_MODEL_H

#include "shardopt/Model/OpModel.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shardopt::cost {

/// A value of a body, by number.
using ValueId = unsigned;

/// A shardable op.
struct Node {
  std::string name;      ///< unique in the model, key of reports
  unsigned variable = 0; ///< its index in Strategy::dims
  std::shared_ptr<const OpModel> op;
  std::vector<ValueId> operands; ///< activation operands, as OpModel::rule
  /// Results in the order of Rule::results; trailing ones may be left out.
  std::vector<ValueId> results;
};

/// One layer of a stack. It starts with a residual, in the layout that the op
/// that reads it first requires (the *anchor*), and ends with a sum. In between
/// ops may be connected in any way.
struct Body {
  /// Values that are needed at a time, at most, where a trellis is made of it.
  static constexpr size_t maxLiveValues = 9;
  static constexpr size_t maxSummands = 16;

  std::vector<Node> nodes; ///< in program order; the first one sets the anchor
  unsigned numValues = 0;  ///< ids are 0 .. numValues - 1
  ValueId residual = 0;    ///< what enters the layer

  // What is added up where the layer is left, at least one summand and at most
  // `maxSummands`.
  std::vector<ValueId> exitResiduals; ///< the layer's, or what norms made
  std::vector<ValueId> exitOutputs;   ///< what all other ops made

  int64_t experts = 0; ///< routed experts; 0: a dense stack
  int64_t topK = 0;    ///< experts a token visits
};

/// Consecutive layers with one body. Several segments may have the same body,
/// and so share its dims.
struct Segment {
  unsigned body = 0;            ///< index into Model::bodies
  std::vector<int64_t> windows; ///< one entry a layer; 0: full attention
};

/// A limit that degrees exceed.
struct DegreeExcess {
  const char *part = ""; ///< for reports: "devices", "stages" or "experts"
  std::string what;      ///< "pp", or what the number of devices is
  int64_t found = 0;
  const char *limit = ""; ///< "number of layers"
  int64_t most = 0;
};

/// A whole model and its workload, without degrees or dims. Made from a module;
/// plain data. Variables number embedding, body ops and head without gaps; at
/// least one layer. A trellis is made of at most `maxBodies` bodies.
struct Model {
  static constexpr size_t maxBodies = 8;

  /// Class of Transformers that it was made of; empty: not known.
  std::string architecture;
  Workload workload;
  Node embed; ///< no operands; its result becomes the first residual
  Node head;  ///< one operand: the sum that leaves the last layer
  std::vector<Body> bodies;
  std::vector<Segment> segments; ///< in program order

  /// Bytes of a row of the residual: hidden size times activation bytes.
  double rowBytes = 0;

  /// The head's weight is the embedding's: where one device has both, cut
  /// alike, it is held once.
  bool tiedEmbeddings = false;

  int64_t numLayers() const;
  /// Whether any layer has routed experts.
  bool hasExperts() const;
  /// Whether a device that has embedding and head holds one table for both.
  bool sharesTable(Dim embed, Dim head) const;
  unsigned numVariables() const;
  /// Embedding, body ops and head in the order of Strategy::dims.
  std::vector<const Node *> nodesByVariable() const;
  /// Their names.
  std::vector<std::string> opNames() const;

  /// How much there is of what degrees divide; 0: none of it, so no limit.
  int64_t amountOf(Divides what) const;

  /// The first limit that `degrees` exceed, whatever the dims: `maxDevices` (0:
  /// no limit), or how much there is of what a degree divides.
  std::optional<DegreeExcess> findExcess(const Degrees &degrees,
                                         int64_t maxDevices) const;
  /// Whether the degrees group the devices of a stage, and this model in them.
  bool hasGrid(const Degrees &degrees) const;
  /// Whether the stages of the degrees divide the layers.
  bool hasStages(const Degrees &degrees) const;
  /// Why they are invalid, whatever the dims, as a phrase with the values
  /// found.
  std::optional<std::string> structuralError(const Degrees &degrees,
                                             int64_t maxDevices) const;
};

/// Whether a cache holds one latent row for all heads.
bool hasLatentAttention(const Model &model);
/// What the ops of `model` have, of each kind the first.
OpTypes typesOf(const Model &model);
/// `model` with weights and caches of `types`. Embedding and head keep theirs.
Model retyped(Model model, const OpTypes &types);

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_MODEL_H
