/*===- SanitizerOptions.c - How sanitizers are to run
 * ------------------------===
 *
 * Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * Compiled into every program of a build with sanitizers, so that it runs the
 * same by hand, by lit and by ctest. The environment (ASAN_OPTIONS, …) adds to
 * it.
 */

/* Headers of LLVM poison the memory of its allocators, which libMLIR, compiled
 * without sanitizers, then fills: all uses of it would be reported.
 * Containers of the standard library that libMLIR changes are the same case. */
const char *__asan_default_options(void) {
  return "allow_user_poisoning=0:detect_container_overflow=0:"
         "strict_string_checks=1:detect_stack_use_after_return=1";
}

const char *__ubsan_default_options(void) { return "print_stacktrace=1"; }

const char *__tsan_default_options(void) { return "second_deadlock_stack=1"; }
