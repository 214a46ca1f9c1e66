//===- Process.cpp - What a rank knows ------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Runtime/Process.h"

#include <cstdio>
#include <cstdlib>

using namespace shardopt;
using namespace shardopt::runtime;

const char *runtime::spell(Op op) {
  switch (op) {
  case Op::AllReduceSum:
    return "all_reduce_sum";
  case Op::AllReduceMax:
    return "all_reduce_max";
  case Op::AllGather:
    return "all_gather";
  case Op::ReduceScatter:
    return "reduce_scatter";
  case Op::AllToAll:
    return "all_to_all";
  case Op::AllToAllV:
    return "all_to_all_v";
  case Op::Broadcast:
    return "broadcast";
  case Op::Send:
    return "send";
  case Op::Recv:
    return "recv";
  case Op::HostBroadcast:
    return "a broadcast of the host";
  case Op::HostGather:
    break;
  }
  return "a gather of the host";
}

/// The counts that include the next call at `site`.
CallCounts &Statistics::next(int64_t site) {
  if (site >= int64_t(counts.size()))
    counts.resize(site + 1);
  SiteStatistics &found = counts[site];
  if (site >= int64_t(parts.size()) || parts[site].empty()) {
    found.resize(1);
    return found.front();
  }
  const std::vector<int64_t> &runs = parts[site];
  found.resize(runs.size());
  int64_t turn = 0, calls = 0;
  for (int64_t run : runs)
    turn += run;
  for (const CallCounts &part : found)
    calls += part.calls;
  size_t part = 0;
  for (calls %= turn; calls >= runs[part]; ++part)
    calls -= runs[part];
  return found[part];
}

void Statistics::add(int64_t site, int64_t elements, int64_t elementBytes) {
  if (site < 0)
    return;
  CallCounts &count = next(site);
  ++count.calls;
  count.elements += elements;
  count.bytes += elements * elementBytes;
}

const Group &Process::group(int64_t axes) {
  auto found = groups.find(axes);
  if (found == groups.end())
    found = groups.emplace(axes, grid().group(number, axes)).first;
  return found->second;
}

std::string Process::describe(const Call &call) const {
  std::string text = spell(call.op);
  if (call.axes)
    text += " over axes " + describeAxes(call.axes);
  if (call.site < 0)
    return text;
  text += " at site " + std::to_string(call.site);
  if (call.site < int64_t(shared.sites.size()))
    text += " (" + shared.sites[call.site] + ")";
  return text;
}

std::string Process::describePosition(std::optional<int64_t> awaited) const {
  std::string text = "rank " + std::to_string(number);
  std::string done = std::to_string(place.done) + " done";
  if (awaited)
    return text + " waits for rank " + std::to_string(*awaited) + " in " +
           describe(*place.call) + ", " + done + " before";
  if (!cause)
    return text + " has finished, " + done;
  if (!place.call)
    return text + " failed before its first collective";
  return text + " failed in " + describe(*place.call) + ", " + done + " before";
}

//===----------------------------------------------------------------------===//
// Failure
//===----------------------------------------------------------------------===//

Error Process::report(Error error) {
  if (!cause)
    cause = error;
  return error;
}

void Process::reset() {
  cause.reset();
  place = Position();
}

std::optional<Error> Process::protect(const std::function<void()> &body) {
  std::jmp_buf here;
  std::jmp_buf *const outer = landing;
  if (setjmp(here) == 0) {
    landing = &here;
    body();
    landing = outer;
    return std::nullopt;
  }
  landing = outer;
  return cause;
}

void Process::suspend(const std::function<void()> &wait) {
  std::jmp_buf *const mine = landing;
  wait();
  landing = mine;
}

void Process::unwind() {
  if (landing)
    std::longjmp(*landing, 1);
  std::fprintf(stderr, "error: %s\n",
               cause ? cause->message.c_str() : "a rank was left");
  std::abort();
}

//===----------------------------------------------------------------------===//
// The process of a thread
//===----------------------------------------------------------------------===//

static thread_local Process *currentProcess = nullptr;

Process *Process::current() { return currentProcess; }

ProcessScope::ProcessScope(Process &process) : outer(currentProcess) {
  currentProcess = &process;
}

ProcessScope::~ProcessScope() { currentProcess = outer; }
