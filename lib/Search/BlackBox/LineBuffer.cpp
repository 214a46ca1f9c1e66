//===- LineBuffer.cpp - Lines that come in pieces -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LineBuffer.h"

#include <cerrno>
#include <unistd.h>

using namespace shardopt::blackbox;

static constexpr size_t readBytes = size_t(64) << 10;

std::optional<LineBuffer::Line> LineBuffer::take() {
  size_t end = buffer.find('\n', searched);
  bool isWhole = end != std::string::npos;
  if (!isWhole) {
    searched = end = buffer.size();
    if (!ended || (begin == end && !dropping))
      return std::nullopt;
  }
  Line line;
  line.tooLong = dropping || end - begin > maxLineBytes;
  if (!line.tooLong)
    line.text = std::string_view(buffer).substr(begin, end - begin);
  if (!line.text.empty() && line.text.back() == '\r')
    line.text.remove_suffix(1);
  dropping = false;
  begin = searched = isWhole ? end + 1 : end;
  return line;
}

LineBuffer::Fill LineBuffer::fillFrom(int descriptor) {
  buffer.erase(0, begin);
  begin = 0;
  if (buffer.size() > maxLineBytes) {
    buffer.clear();
    dropping = true;
  }
  size_t kept = searched = buffer.size();
  buffer.resize(kept + readBytes);
  ssize_t count;
  do
    count = ::read(descriptor, buffer.data() + kept, readBytes);
  while (count < 0 && errno == EINTR);
  buffer.resize(kept + (count > 0 ? count : 0));
  if (count > 0)
    return Fill::Read;
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    return Fill::Again;
  ended = true;
  return count == 0 ? Fill::End : Fill::Error;
}
