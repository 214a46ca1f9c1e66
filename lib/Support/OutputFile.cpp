//===- OutputFile.cpp - Output that appears whole or not at all -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/OutputFile.h"

#include "shardopt/Support/Files.h"
#include "shardopt/Support/Signals.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace shardopt;

/// Text is handed to the system in pieces of about this size.
static constexpr size_t bufferBytes = 1 << 16;

static Error cannotWrite(const std::string &path, int code) {
  return Error{path + ": cannot write: " + std::strerror(code)};
}

/// The folder part of `path` with its '/', "" for the working folder.
static std::string folderOf(const std::string &path) {
  return path.substr(0, path.rfind('/') + 1); // npos + 1 == 0
}

/// The descriptor that `path` names, where it is a name for one that is open
/// already; opening it by name would truncate or rename what is behind it.
static std::optional<int> openDescriptor(const std::string &path) {
  if (path == "-" || path == "/dev/stdout")
    return STDOUT_FILENO;
  if (path == "/dev/stderr")
    return STDERR_FILENO;
  std::string folder = "/dev/fd/";
  if (path.compare(0, folder.size(), folder) != 0)
    return std::nullopt;
  char *end = nullptr;
  const char *digits = path.c_str() + folder.size();
  errno = 0;
  long number = std::strtol(digits, &end, 10);
  if (end == digits || *end || errno || number < 0 || number > INT_MAX)
    return std::nullopt;
  return int(number);
}

/// Follows `path` through symbolic links. The last one may lead to a file
/// that does not exist yet. Returns an errno, or 0.
static int followLinks(std::string &path) {
  constexpr int maxLinks = 40;
  for (int links = 0; links < maxLinks; ++links) {
    char text[PATH_MAX];
    ssize_t length = ::readlink(path.c_str(), text, sizeof(text));
    if (length < 0)
      return errno == EINVAL || errno == ENOENT ? 0 : errno;
    std::string next(text, length);
    path = next.front() == '/' ? next : folderOf(path).append(next);
  }
  return ELOOP;
}

/// Creates a file of a fresh name in `folder`, with `mode`. Returns its
/// descriptor and its path, or -1 with errno set.
static int createBeside(const std::string &folder, mode_t mode,
                        std::string &path) {
  static std::atomic<unsigned> counter{0};
  constexpr int attempts = 1000;
  std::string prefix = folder + ".shardopt-" + std::to_string(::getpid()) + "-";
  for (int i = 0; i < attempts; ++i) {
    path = prefix;
    path.append(std::to_string(counter++)).append(".tmp");
    int descriptor =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor >= 0 || errno != EEXIST)
      return descriptor;
  }
  return -1;
}

//===----------------------------------------------------------------------===//
// Files that are being replaced
//===----------------------------------------------------------------------===//

namespace {
/// The targets of all outputs that will be renamed, under one name each.
struct OpenTargets {
  std::mutex mutex;
  std::set<std::string> names;
};
} // namespace

static OpenTargets &openTargets() {
  static OpenTargets targets;
  return targets;
}

bool OutputFile::isOpen(const std::string &path) {
  OpenTargets &targets = openTargets();
  std::lock_guard lock(targets.mutex);
  return std::any_of(
      targets.names.begin(), targets.names.end(),
      [&](const std::string &name) { return isSameFile(name, path); });
}

bool OutputFile::claim() {
  std::string name = canonicalPath(target).string();
  std::lock_guard lock(openTargets().mutex);
  if (!openTargets().names.insert(name).second)
    return false;
  claimed = std::move(name);
  return true;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

ErrorOr<OutputFile> OutputFile::open(const std::string &path) {
  OutputFile file;
  file.path = path;
  if (std::optional<int> descriptor = openDescriptor(path)) {
    file.isStandard = *descriptor == STDOUT_FILENO;
    file.descriptor = ::fcntl(*descriptor, F_DUPFD_CLOEXEC, 0);
    if (file.descriptor < 0)
      return cannotWrite(path, errno);
    return file;
  }

  if (path.empty())
    return Error{"cannot write: the name of the file is empty"};
  file.target = path;
  if (int code = followLinks(file.target))
    return cannotWrite(path, code);
  struct stat status;
  bool exists = ::stat(file.target.c_str(), &status) == 0;
  if (!exists && errno != ENOENT)
    return cannotWrite(path, errno);
  if (exists && S_ISDIR(status.st_mode))
    return cannotWrite(path, EISDIR);

  if (exists && !S_ISREG(status.st_mode)) {
    file.descriptor =
        ::open(file.target.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (file.descriptor < 0)
      return cannotWrite(path, errno);
    return file;
  }

  if (!file.claim())
    return Error{path + ": cannot write: it is another output too"};
  // Renaming over a file asks no permission of the file itself.
  if (exists &&
      ::faccessat(AT_FDCWD, file.target.c_str(), W_OK, AT_EACCESS) != 0)
    return cannotWrite(path, errno);
  // What replaces a private file is private from the start.
  mode_t mode = exists ? 0600 : 0666;
  file.descriptor = createBeside(folderOf(file.target), mode, file.temporary);
  if (file.descriptor < 0) {
    int code = errno;
    file.temporary.clear();
    return cannotWrite(path, code);
  }
  removeOnSignal(file.temporary);
  if (exists) {
    // Only root may give a file away; for others the file stays their own.
    if (::fchown(file.descriptor, status.st_uid, status.st_gid) != 0)
      errno = 0;
    if (::fchmod(file.descriptor, status.st_mode & 07777) != 0)
      return cannotWrite(path, errno);
  }
  return file;
}

OutputFile::OutputFile(OutputFile &&other) noexcept {
  *this = std::move(other);
}

OutputFile &OutputFile::operator=(OutputFile &&other) noexcept {
  if (this == &other)
    return *this;
  release();
  path = std::move(other.path);
  target = std::move(other.target);
  temporary = std::move(other.temporary);
  buffer = std::move(other.buffer);
  descriptor = std::exchange(other.descriptor, -1);
  isStandard = other.isStandard;
  writeError = other.writeError;
  other.temporary.clear();
  claimed = std::exchange(other.claimed, {});
  return *this;
}

OutputFile::~OutputFile() { release(); }

void OutputFile::release() {
  if (descriptor >= 0)
    ::close(descriptor);
  descriptor = -1;
  if (!temporary.empty()) {
    ::unlink(temporary.c_str());
    keepOnSignal(temporary);
  }
  temporary.clear();
  if (claimed.empty())
    return;
  std::lock_guard lock(openTargets().mutex);
  openTargets().names.erase(claimed);
  claimed.clear();
}

void OutputFile::write(std::string_view text) {
  assert(descriptor >= 0 && "written after keep()");
  buffer += text;
  if (buffer.size() >= bufferBytes)
    drain();
}

void OutputFile::drain() {
  // The reader of a pipe may leave, and what else the program does goes on.
  // That of the standard output ends it, as of any program.
  std::optional<BrokenPipesIgnored> ignored;
  if (!isStandard)
    ignored.emplace();
  std::string_view rest = buffer;
  while (!rest.empty() && !writeError) {
    ssize_t count = ::write(descriptor, rest.data(), rest.size());
    if (count >= 0)
      rest.remove_prefix(count);
    else if (errno != EINTR)
      writeError = errno;
  }
  buffer.clear();
}

std::optional<Error> OutputFile::flush() {
  assert(descriptor >= 0 && "flushed after keep()");
  drain();
  if (writeError)
    return cannotWrite(path, writeError);
  return std::nullopt;
}

std::optional<Error> OutputFile::keep() {
  assert(descriptor >= 0 && "kept twice");
  drain();
  if (::close(std::exchange(descriptor, -1)) != 0 && !writeError)
    writeError = errno;
  if (!writeError && !temporary.empty()) {
    if (std::rename(temporary.c_str(), target.c_str()) == 0)
      keepOnSignal(std::exchange(temporary, {}));
    else
      writeError = errno;
  }
  release();
  if (writeError)
    return cannotWrite(path, writeError);
  return std::nullopt;
}
