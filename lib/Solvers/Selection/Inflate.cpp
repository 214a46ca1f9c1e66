//===- Inflate.cpp - Reading compressed files -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inflate.h"

#include <algorithm>
#include <climits>

#include <zlib.h>

using namespace shardopt;
using namespace shardopt::solve;

bool solve::isGzip(std::string_view text) {
  return text.size() >= 2 && text[0] == '\x1f' && text[1] == '\x8b';
}

/// What the last four bytes say of the size of the last member, modulo 2^32; a
/// hint, not to be trusted beyond what gzip can pack.
static size_t guessSize(std::string_view compressed) {
  constexpr size_t bestRatio = 1032;
  size_t size = 0;
  for (size_t i = 4; i > 0 && compressed.size() >= 4; --i)
    size = size << 8 |
           static_cast<unsigned char>(compressed[compressed.size() - 5 + i]);
  return std::min(size, compressed.size() * bestRatio);
}

namespace {
/// A stream of zlib that is ended with its owner.
struct Stream : z_stream {
  Stream() : z_stream() {}
  ~Stream() { inflateEnd(this); }
};
} // namespace

ErrorOr<Bytes> solve::inflateGzip(std::string_view compressed,
                                  uint64_t mostBytes, size_t padding,
                                  const std::string &name) {
  Stream stream;
  constexpr int gzipOnly = 16 + MAX_WBITS;
  Bytes bytes;
  if (inflateInit2(&stream, gzipOnly) != Z_OK ||
      !bytes.grow(guessSize(compressed) + 1 + padding))
    return Error{name + ": not enough memory to decompress it"};
  stream.next_in =
      reinterpret_cast<Bytef *>(const_cast<char *>(compressed.data()));
  size_t left = compressed.size();

  while (true) {
    if (stream.avail_in == 0) {
      stream.avail_in = uInt(std::min<size_t>(left, INT_MAX));
      left -= stream.avail_in;
    }
    if (bytes.capacity() - bytes.size <= padding &&
        !bytes.grow(bytes.capacity() + bytes.capacity() / 2 + (1 << 16)))
      return Error{name + ": not enough memory to decompress it"};
    size_t room =
        std::min<size_t>(bytes.capacity() - bytes.size - padding, INT_MAX);
    stream.next_out = reinterpret_cast<Bytef *>(bytes.begin() + bytes.size);
    stream.avail_out = uInt(room);
    int code = inflate(&stream, Z_NO_FLUSH);
    size_t written = room - stream.avail_out;
    bytes.size += written;
    if (bytes.size > mostBytes)
      return Error{name + ": larger than the limit of " +
                   std::to_string(mostBytes) + " bytes once decompressed"};

    bool atEnd = stream.avail_in == 0 && left == 0;
    if (code == Z_STREAM_END) {
      if (atEnd)
        return bytes;
      // Another member follows.
      if (inflateReset(&stream) != Z_OK)
        return Error{name + ": gzip: cannot go on after a member"};
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      return Error{
          name + ": gzip: " + (stream.msg ? stream.msg : "not a valid stream")};
    } else if (atEnd && stream.avail_out != 0) {
      return Error{name + ": gzip: truncated, it ends after " +
                   std::to_string(compressed.size()) +
                   " bytes in the middle of a stream"};
    }
  }
}
