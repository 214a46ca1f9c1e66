//===- Wide.h - Wider vectors where the processor has them ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_WIDE_H
#define SHARDOPT_SUPPORT_WIDE_H

/// Before a function: compiles it for wider vectors, too, which are used where
/// the processor has them. None of the versions contracts (the build says so of
/// such sources, `shardopt_inner_loops`) or reorders, so that all give the same
/// bits. Sanitizers are not ready yet when a program chooses its versions.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SHARDOPT_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define SHARDOPT_WIDE
#endif

#endif // SHARDOPT_SUPPORT_WIDE_H
