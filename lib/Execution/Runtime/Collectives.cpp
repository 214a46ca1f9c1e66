//===- Collectives.cpp - What collectives mean ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Runtime/Collectives.h"
#include "Reduce.h"

#include <numeric>

using namespace shardopt;
using namespace shardopt::runtime;

using Shared = std::shared_ptr<const Tensor>;

static Shared share(Tensor tensor) {
  return std::make_shared<const Tensor>(std::move(tensor));
}

//===----------------------------------------------------------------------===//
// One call of one rank
//===----------------------------------------------------------------------===//

namespace {

/// A call while it lasts. It ends as done unless it fails.
class Running {
public:
  Running(Process &process, const Call &call) : process(process), call(call) {
    if (!process.failure())
      process.begin(call);
  }

  /// The group of the call, or why there is none. A rank that failed stays so.
  ErrorOr<const Group *> group() {
    if (process.failure())
      return *process.failure();
    if (process.grid().hasAxes(call.axes))
      return &process.group(call.axes);
    return fail("expected different axes of a grid of " +
                std::to_string(process.grid().shape().size()));
  }

  Error fail(const std::string &problem) const {
    return process.report({"rank " + std::to_string(process.rank()) + ": " +
                           process.describe(call) + ": " + problem});
  }

  void post(const Group &group, size_t to, Channel channel, Shared tensor) {
    process.transport().post(group, to, channel, {call, std::move(tensor)});
  }

  /// The next message of a member, whatever it called.
  ErrorOr<Message> fetch(const Group &group, size_t from, Channel channel) {
    ErrorOr<Message> message = process.transport().fetch(group, from, channel);
    if (!message)
      process.report(message.error());
    return message;
  }

  /// The next message of a member, which has to have called the same.
  ErrorOr<Shared> fetchSame(const Group &group, size_t from, Channel channel) {
    ErrorOr<Message> message = fetch(group, from, channel);
    if (!message)
      return message.error();
    if (message->call != call)
      return failBecauseOf(group.members[from], message->call);
    return message->tensor;
  }

  /// A member called something else.
  Error failBecauseOf(int64_t rank, const Call &theirs) const {
    std::string text = process.describe(theirs);
    // What the texts leave out is the dims, or the root.
    if (text == process.describe(call))
      text += " with " + arguments(theirs) + " instead of " + arguments(call);
    return fail("rank " + std::to_string(rank) + " called " + text);
  }

  /// Gives member i `outgoing[i]`, and returns what each member has for this
  /// rank, in the order of the group.
  ErrorOr<std::vector<Shared>> exchange(const Group &group,
                                        std::vector<Shared> outgoing) {
    for (size_t to = 0; to < group.size(); ++to)
      if (to != group.own)
        post(group, to, Channel::Collective, outgoing[to]);
    std::vector<Shared> incoming(group.size());
    for (size_t from = 0; from < group.size(); ++from) {
      if (from == group.own) {
        incoming[from] = std::move(outgoing[from]);
        continue;
      }
      ErrorOr<Shared> tensor = fetchSame(group, from, Channel::Collective);
      if (!tensor)
        return tensor.error();
      incoming[from] = std::move(*tensor);
    }
    return incoming;
  }

  /// Gives the tensor to all members; what each of them has, which is alike.
  ErrorOr<std::vector<Shared>> exchangeWhole(Tensor input) {
    ErrorOr<const Group *> members = group();
    if (!members)
      return members.error();
    std::string wanted = tensors::describe(input);
    Shared own = share(std::move(input));
    return exchangeAlike(**members,
                         std::vector<Shared>((*members)->size(), own), wanted);
  }

  /// Gives block i along `dim` to member i; the own block of each of them. The
  /// group divides that size.
  ErrorOr<std::vector<Shared>> exchangeBlocks(const Tensor &input,
                                              int64_t dim) {
    ErrorOr<const Group *> members = group();
    if (!members)
      return members.error();
    if (std::optional<Error> error = expectDivisible(**members, input, dim))
      return *error;
    auto count = int64_t((*members)->size());
    int64_t size = input.shape()[dim] / count;
    std::vector<Shared> blocks;
    for (int64_t i = 0; i < count; ++i)
      blocks.push_back(share(slice(input, dim, i * size, size)));
    std::string wanted = tensors::describe(*blocks.front());
    return exchangeAlike(**members, std::move(blocks), wanted);
  }

  /// What member `root` gives; the others' tensors are dropped.
  ErrorOr<Shared> fromRoot(const Group &group, size_t root, Channel channel,
                           Tensor input) {
    if (group.own != root)
      return fetchSame(group, root, channel);
    Shared own = share(std::move(input));
    for (size_t to = 0; to < group.size(); ++to)
      if (to != root)
        post(group, to, channel, own);
    return own;
  }

  /// An error unless all tensors are like `wanted`.
  std::optional<Error> expectAlike(const Group &group,
                                   const std::vector<Shared> &tensors,
                                   const std::string &wanted) const {
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors::describe(*tensors[i]) != wanted)
        return fail("expected " + wanted + " from rank " +
                    std::to_string(group.members[i]) + ", found " +
                    tensors::describe(*tensors[i]));
    return std::nullopt;
  }

  /// An error unless the tensor has the dim and the group divides its size.
  std::optional<Error> expectDivisible(const Group &group, const Tensor &tensor,
                                       int64_t dim) const {
    int64_t members = int64_t(group.size());
    if (tensor.shape()[dim] % members == 0)
      return std::nullopt;
    return fail("a group of " + std::to_string(members) +
                " does not divide dim " + std::to_string(dim) + " of " +
                tensors::describe(tensor));
  }

  /// An error unless the group has a member of that index.
  std::optional<Error> expectMember(const Group &group, int64_t member) const {
    if (member >= 0 && member < int64_t(group.size()))
      return std::nullopt;
    return fail("a group of " + std::to_string(group.size()) +
                " has no member " + std::to_string(member));
  }

  /// Counts the call, of that many elements, and ends it.
  void done(int64_t elements, Element type) {
    process.statistics().add(call.site, elements, sizeOf(type));
    process.end();
  }

private:
  /// Exchanges tensors; those that arrive have to be like `wanted`.
  ErrorOr<std::vector<Shared>> exchangeAlike(const Group &group,
                                             std::vector<Shared> outgoing,
                                             const std::string &wanted) {
    ErrorOr<std::vector<Shared>> incoming =
        exchange(group, std::move(outgoing));
    if (!incoming)
      return incoming;
    if (std::optional<Error> error = expectAlike(group, *incoming, wanted))
      return *error;
    return incoming;
  }

  static std::string arguments(const Call &call) {
    return "[" + std::to_string(call.first) + ", " +
           std::to_string(call.second) + "]";
  }

  Process &process;
  Call call;
};

} // namespace

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

ErrorOr<Tensor> runtime::allReduce(Process &process, Tensor input,
                                   Reduction reduction, int64_t axes,
                                   int64_t site) {
  Op op = reduction == Reduction::Sum ? Op::AllReduceSum : Op::AllReduceMax;
  Running running(process, {op, axes, site});
  int64_t elements = input.size();
  Element type = input.element();
  ErrorOr<std::vector<Shared>> all = running.exchangeWhole(std::move(input));
  if (!all)
    return all.error();
  running.done(elements, type);
  return reduce(*all, reduction);
}

ErrorOr<Tensor> runtime::reduceScatter(Process &process, Tensor input,
                                       int64_t dim, int64_t axes,
                                       int64_t site) {
  Running running(process, {Op::ReduceScatter, axes, site, dim});
  ErrorOr<std::vector<Shared>> parts = running.exchangeBlocks(input, dim);
  if (!parts)
    return parts.error();
  running.done(input.size(), input.element());
  return reduce(*parts, Reduction::Sum);
}

//===----------------------------------------------------------------------===//
// Gather and exchange
//===----------------------------------------------------------------------===//

/// Tensors that are equal but for dim `dim`, one after the other along it.
static Tensor concatenate(const std::vector<Shared> &parts, int64_t dim) {
  std::vector<int64_t> shape = parts.front()->shape();
  shape[dim] = 0;
  for (const Shared &part : parts)
    shape[dim] += part->shape()[dim];
  Tensor whole(parts.front()->element(), std::move(shape));
  int64_t start = 0;
  for (const Shared &part : parts) {
    place(*part, whole, dim, start);
    start += part->shape()[dim];
  }
  return whole;
}

ErrorOr<Tensor> runtime::allGather(Process &process, Tensor input, int64_t dim,
                                   int64_t axes, int64_t site) {
  Running running(process, {Op::AllGather, axes, site, dim});
  ErrorOr<std::vector<Shared>> parts = running.exchangeWhole(std::move(input));
  if (!parts)
    return parts.error();
  Tensor whole = concatenate(*parts, dim);
  running.done(whole.size(), whole.element());
  return whole;
}

ErrorOr<Tensor> runtime::allToAll(Process &process, Tensor input, int64_t split,
                                  int64_t concat, int64_t axes, int64_t site) {
  Running running(process, {Op::AllToAll, axes, site, split, concat});
  ErrorOr<std::vector<Shared>> parts = running.exchangeBlocks(input, split);
  if (!parts)
    return parts.error();
  running.done(input.size(), input.element());
  return concatenate(*parts, concat);
}

/// What the counts of each member add up to; empty where one is negative or the
/// first size is not that of the group.
static std::vector<int64_t> totals(const Tensor &counts, size_t members) {
  std::vector<int64_t> sums(members);
  if (counts.element() != Element::I32 ||
      counts.shape().front() != int64_t(members))
    return {};
  int64_t each = counts.size() / int64_t(members);
  const int32_t *count = counts.ints().data();
  for (int64_t &sum : sums)
    for (int64_t i = 0; i < each; ++i, ++count) {
      if (*count < 0)
        return {};
      sum += *count;
    }
  return sums;
}

ErrorOr<Tensor> runtime::allToAllV(Process &process, Tensor rows,
                                   const Tensor &send, const Tensor &recv,
                                   int64_t axes, int64_t site) {
  Running running(process, {Op::AllToAllV, axes, site});
  ErrorOr<const Group *> group = running.group();
  if (!group)
    return group.error();
  size_t members = (*group)->size();
  std::vector<int64_t> leaving = totals(send, members);
  std::vector<int64_t> arriving = totals(recv, members);
  if (leaving.empty() || arriving.empty())
    return running.fail("expected counts of a group of " +
                        std::to_string(members) + ", found " +
                        describe(leaving.empty() ? send : recv) +
                        ", or a negative one");
  int64_t announced = std::accumulate(leaving.begin(), leaving.end(), 0L);
  if (announced != rows.shape()[0])
    return running.fail(std::to_string(announced) + " rows announced, " +
                        std::to_string(rows.shape()[0]) + " held");

  std::vector<Shared> outgoing;
  int64_t start = 0;
  for (int64_t size : leaving) {
    outgoing.push_back(share(slice(rows, 0, start, size)));
    start += size;
  }
  ErrorOr<std::vector<Shared>> parts =
      running.exchange(**group, std::move(outgoing));
  if (!parts)
    return parts.error();
  for (size_t i = 0; i < members; ++i) {
    std::vector<int64_t> shape = rows.shape();
    shape[0] = arriving[i];
    const Tensor &part = *(*parts)[i];
    if (part.element() != rows.element() || part.shape() != shape)
      return running.fail("rank " + std::to_string((*group)->members[i]) +
                          " sent " + describe(part) + ", expected " +
                          std::to_string(arriving[i]) + " rows as in " +
                          describe(rows));
  }
  running.done(rows.size(), rows.element());
  return concatenate(*parts, 0);
}

//===----------------------------------------------------------------------===//
// From one to others
//===----------------------------------------------------------------------===//

ErrorOr<Tensor> runtime::broadcast(Process &process, Tensor input, int64_t root,
                                   int64_t axes, int64_t site) {
  Running running(process, {Op::Broadcast, axes, site, root});
  ErrorOr<const Group *> group = running.group();
  if (!group)
    return group.error();
  if (std::optional<Error> error = running.expectMember(**group, root))
    return *error;
  std::string wanted = describe(input);
  ErrorOr<Shared> value =
      running.fromRoot(**group, root, Channel::Collective, std::move(input));
  if (!value)
    return value.error();
  if (describe(**value) != wanted)
    return running.fail("expected " + wanted + " from rank " +
                        std::to_string((*group)->members[root]) + ", found " +
                        describe(**value));
  running.done((*value)->size(), (*value)->element());
  return **value;
}

std::optional<Error> runtime::send(Process &process, Tensor input,
                                   int64_t destination, int64_t axes,
                                   int64_t site) {
  Running running(process, {Op::Send, axes, site, destination});
  ErrorOr<const Group *> group = running.group();
  if (!group)
    return group.error();
  if (std::optional<Error> error = running.expectMember(**group, destination))
    return error;
  int64_t elements = input.size();
  Element type = input.element();
  running.post(**group, destination, Channel::PointToPoint,
               share(std::move(input)));
  running.done(elements, type);
  return std::nullopt;
}

ErrorOr<Tensor> runtime::receive(Process &process, const Tensor &like,
                                 int64_t source, int64_t axes, int64_t site) {
  Running running(process, {Op::Recv, axes, site, source});
  ErrorOr<const Group *> group = running.group();
  if (!group)
    return group.error();
  if (std::optional<Error> error = running.expectMember(**group, source))
    return *error;
  ErrorOr<Message> message =
      running.fetch(**group, source, Channel::PointToPoint);
  if (!message)
    return message.error();
  if (message->call.axes != axes)
    return running.failBecauseOf((*group)->members[source], message->call);
  const Tensor &tensor = *message->tensor;
  if (describe(tensor) != describe(like))
    return running.fail("expected " + describe(like) + ", found " +
                        describe(tensor) + " of " +
                        process.describe(message->call));
  running.done(0, tensor.element());
  return tensor;
}

//===----------------------------------------------------------------------===//
// Between programs
//===----------------------------------------------------------------------===//

/// All axes of the grid.
static int64_t allAxes(const Grid &grid) {
  std::vector<int64_t> axes(grid.shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  return packAxes(axes);
}

static Tensor fromBytes(const std::string &bytes) {
  Tensor tensor(Element::Byte, {int64_t(bytes.size())});
  bytes.copy(reinterpret_cast<char *>(tensor.data()), bytes.size());
  return tensor;
}

static std::string toBytes(const Tensor &tensor) {
  return std::string(tensor.text());
}

ErrorOr<std::string> runtime::broadcastBytes(Process &process,
                                             std::string bytes) {
  Running running(process, {Op::HostBroadcast, allAxes(process.grid())});
  ErrorOr<const Group *> group = running.group();
  if (!group)
    return group.error();
  ErrorOr<Shared> value =
      running.fromRoot(**group, 0, Channel::Host, fromBytes(bytes));
  if (!value)
    return value.error();
  return toBytes(**value);
}

ErrorOr<std::vector<std::string>> runtime::gatherBytes(Process &process,
                                                       std::string bytes) {
  Running running(process, {Op::HostGather, allAxes(process.grid())});
  ErrorOr<const Group *> group = running.group();
  if (!group)
    return group.error();
  if ((*group)->own != 0) {
    running.post(**group, 0, Channel::Host, share(fromBytes(bytes)));
    return std::vector<std::string>();
  }
  std::vector<std::string> all = {std::move(bytes)};
  for (size_t from = 1; from < (*group)->size(); ++from) {
    ErrorOr<Shared> part = running.fetchSame(**group, from, Channel::Host);
    if (!part)
      return part.error();
    all.push_back(toBytes(**part));
  }
  return all;
}
