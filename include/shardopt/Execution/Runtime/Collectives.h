//===- Collectives.h - What collectives mean --------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rank of a group calls the same function with the same axes, site and
// dims. Reductions go in the order of the group, so that every rank, every
// backend and every run has the same bits. An error (a group that does not
// agree, sizes that do not fit, a wait that cannot end) is also reported to the
// process.
//
// `axes` is packed as in Grid.h; `site` says which call of the program this is,
// for statistics and messages.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_RUNTIME_COLLECTIVES_H
#define SHARDOPT_EXECUTION_RUNTIME_COLLECTIVES_H

#include "shardopt/Execution/Runtime/Process.h"

namespace shardopt::runtime {

enum class Reduction { Sum, Max };

/// The sum, or the largest (NaN where one is), of equally large tensors.
ErrorOr<Tensor> allReduce(Process &process, Tensor input, Reduction reduction,
                          int64_t axes, int64_t site);

/// Equally large tensors one after the other along `dim`.
ErrorOr<Tensor> allGather(Process &process, Tensor input, int64_t dim,
                          int64_t axes, int64_t site);

/// The rank's block along `dim` of the sum; the group divides that size.
ErrorOr<Tensor> reduceScatter(Process &process, Tensor input, int64_t dim,
                              int64_t axes, int64_t site);

/// Block i along `split` goes to member i; what arrives is put together along
/// `concat`, in the order of the group. The group divides the split size.
ErrorOr<Tensor> allToAll(Process &process, Tensor input, int64_t split,
                         int64_t concat, int64_t axes, int64_t site);

/// Sends to member i as many rows as `send[i]` adds up to, in order, and
/// receives from member i as many as `recv[i]` adds up to. Counts are i32, the
/// group's size in front; rows are of one width.
ErrorOr<Tensor> allToAllV(Process &process, Tensor rows, const Tensor &send,
                          const Tensor &recv, int64_t axes, int64_t site);

/// What member `root` has; the others give a tensor of the same size.
ErrorOr<Tensor> broadcast(Process &process, Tensor input, int64_t root,
                          int64_t axes, int64_t site);

/// Hands a tensor to member `destination`, and does not wait for it to be
/// taken.
std::optional<Error> send(Process &process, Tensor input, int64_t destination,
                          int64_t axes, int64_t site);

/// Waits for what member `source` sends; it has to be as large as `like`.
ErrorOr<Tensor> receive(Process &process, const Tensor &like, int64_t source,
                        int64_t axes, int64_t site);

/// Between programs: what rank 0 has, on all ranks.
ErrorOr<std::string> broadcastBytes(Process &process, std::string bytes);

/// Between programs: on rank 0 what every rank has, in order; empty elsewhere.
ErrorOr<std::vector<std::string>> gatherBytes(Process &process,
                                              std::string bytes);

} // namespace shardopt::runtime

#endif // SHARDOPT_EXECUTION_RUNTIME_COLLECTIVES_H
