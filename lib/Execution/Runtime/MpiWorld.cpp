//===- MpiWorld.cpp - Ranks that are processes of MPI ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Runtime/MpiWorld.h"
#include "MpiTransport.h"
#include "shardopt/Execution/Runtime/Backoff.h"
#include "shardopt/Execution/Runtime/Collectives.h"
#include "shardopt/Support/ModuleFiles.h"
#include "shardopt/Support/Suggest.h"

#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>

using namespace shardopt;
using namespace shardopt::runtime;

//===----------------------------------------------------------------------===//
// Which MPI
//===----------------------------------------------------------------------===//

namespace {

/// What is known of an MPI from outside.
struct Flavor {
  MpiKind kind;
  const char *name;     ///< in options
  const char *file;     ///< of its module
  const char *package;  ///< without which the module is not built
  const char *variable; ///< number of processes, as its mpirun tells it
};

} // namespace

static constexpr Flavor flavors[] = {
    {MpiKind::OpenMpi, "openmpi", "libShardOptOpenMpi.so", "libopenmpi-dev",
     "OMPI_COMM_WORLD_SIZE"},
    {MpiKind::Mpich, "mpich", "libShardOptMpich.so", "libmpich-dev",
     "PMI_SIZE"}};

ErrorOr<MpiKind> runtime::parseMpiKind(const std::string &text) {
  if (text == "auto")
    return MpiKind::Automatic;
  std::vector<std::string> known = {"auto"};
  for (const Flavor &flavor : flavors) {
    if (text == flavor.name)
      return flavor.kind;
    known.emplace_back(flavor.name);
  }
  return Error{"unknown MPI '" + abbreviate(text) + "', " +
               listKnown(text, known)};
}

/// The MPI whose mpirun started this process; null if none did.
static const Flavor *starter() {
  for (const Flavor &flavor : flavors)
    if (std::getenv(flavor.variable))
      return &flavor;
  return nullptr;
}

/// Under another MPI's mpirun every process would be alone, rank 0 of 1.
static ErrorOr<const Flavor *> choose(MpiKind kind) {
  const Flavor *started = starter();
  for (const Flavor &flavor : flavors) {
    if (flavor.kind != kind)
      continue;
    if (!started || started->kind == kind || std::getenv(flavor.variable))
      return &flavor;
    return Error{std::string("this process was started by the mpirun of ") +
                 started->name + ", expected that of " + flavor.name};
  }
  if (started)
    return started;
  return Error{
      std::string("this process was not started by an mpirun: neither ") +
      flavors[0].variable + " nor " + flavors[1].variable + " is set"};
}

static ErrorOr<std::unique_ptr<MpiLink>> openLink(const Flavor &flavor) {
  std::string needs =
      std::string(flavor.name) + " needs the module " + flavor.file + ", ";
  std::string file = findModule(flavor.file);
  if (file.empty())
    return Error{needs + "which this build does not have: install " +
                 flavor.package + " and build again"};
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error{needs + "which cannot be opened: " + dlerror()};
  auto *entry = reinterpret_cast<MpiEntry *>(dlsym(library, mpiEntryName));
  MpiLink *link = entry ? entry(mpiLinkVersion) : nullptr;
  if (!link)
    return Error{needs + "and '" + file +
                 "' is of another version: build both from the same sources"};
  return std::unique_ptr<MpiLink>(link);
}

//===----------------------------------------------------------------------===//
// MpiWorld
//===----------------------------------------------------------------------===//

MpiWorld::MpiWorld(std::unique_ptr<MpiLink> opened, double timeLimit)
    : link(std::move(opened)),
      transport(std::make_unique<MpiTransport>(*link, timeLimit)),
      everybody{Grid({link->size()}), {}},
      first(everybody, link->rank(), *transport) {}

MpiWorld::~MpiWorld() = default;

ErrorOr<std::unique_ptr<MpiWorld>> MpiWorld::open(MpiKind kind,
                                                  double timeLimit) {
  ErrorOr<const Flavor *> flavor = choose(kind);
  if (!flavor)
    return flavor.error();
  ErrorOr<std::unique_ptr<MpiLink>> link = openLink(**flavor);
  if (!link)
    return link.error();
  std::unique_ptr<MpiWorld> world(new MpiWorld(std::move(*link), timeLimit));
  const char *started = std::getenv((*flavor)->variable);
  if (started && std::to_string(world->size()) != started)
    return Error{std::string("mpirun started ") + started + " processes, but " +
                 (*flavor)->name + " sees " + std::to_string(world->size())};
  return world;
}

std::string MpiWorld::concede(const std::string &failure) {
  if (rank() > 0) {
    // What was interrupted is not the cause.
    transport->sayLast(transport->wasInterrupted() ? "" : failure);
    for (Backoff backoff;; backoff.pause()) {
    }
  }
  if (!transport->heardFailure())
    return failure;
  // Those that wait for what never comes say so, and are not waited for.
  transport->endAll();
  return *transport->awaitWords(/*isLimited=*/true);
}

std::optional<Error> MpiWorld::finish() {
  if (rank() > 0) {
    transport->sayLast("");
    return std::nullopt;
  }
  std::optional<std::string> failure =
      transport->awaitWords(/*isLimited=*/false);
  return failure ? std::optional(Error{*failure}) : std::nullopt;
}

/// Waits until the launcher has read what this process wrote, for at most two
/// seconds: one that is told to end all drops what it has not read.
static void awaitReader() {
  using namespace std::chrono_literals;
  for (auto waited = 0ms; waited < 2s; waited += 20ms) {
    int unread = 0;
    bool isTold = ioctl(STDERR_FILENO, FIONREAD, &unread) == 0;
    std::this_thread::sleep_for(20ms);
    // Read and passed on: a few turns of the launcher's.
    if (!isTold || (unread == 0 && waited >= 100ms))
      return;
  }
}

void MpiWorld::abort(int status) {
  awaitReader();
  link->abort(status);
  std::abort();
}

std::optional<Error> MpiWorld::agree(const std::string &failure,
                                     const std::string &position) {
  // Messages that a failed program left to the host are of an earlier epoch.
  transport->beginEpoch();
  ErrorOr<std::vector<std::string>> all = gatherBytes(first, failure);
  if (!all)
    return all.error();
  ErrorOr<std::vector<std::string>> positions = gatherBytes(first, position);
  if (!positions)
    return positions.error();
  std::string cause;
  for (const std::string &one : *all)
    if (cause.empty())
      cause = one;
  if (!cause.empty())
    for (const std::string &one : *positions)
      cause += one;
  ErrorOr<std::string> told = broadcastBytes(first, cause);
  if (!told)
    return told.error();
  if (told->empty())
    return std::nullopt;
  return Error{*told};
}

std::optional<Error> MpiWorld::run(std::vector<int64_t> shape,
                                   std::vector<std::string> sites,
                                   Extent extent,
                                   const std::function<void(Process &)> &body) {
  Program program{Grid(std::move(shape)), std::move(sites)};
  int64_t ranks = program.grid.size();
  bool fits = extent == Extent::Whole ? ranks == size() : ranks <= size();
  if (!fits)
    return Error{"the program has " + std::to_string(ranks) +
                 " ranks, mpirun started " + std::to_string(size())};
  transport->beginEpoch();
  std::string failure, position;
  if (rank() < ranks) {
    Process process(program, rank(), *transport);
    ProcessScope scope(process);
    process.protect([&] { body(process); });
    // What was interrupted is not the cause.
    if (process.failure() && !transport->wasInterrupted()) {
      failure = process.failure()->message;
      transport->interrupt(ranks);
    }
    position = "\n  " + process.describePosition(transport->awaited());
  }
  return agree(failure, position);
}
