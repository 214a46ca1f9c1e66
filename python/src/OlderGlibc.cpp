//===- OlderGlibc.cpp - What a wheel does without a newer glibc -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library binds to the newest version of each symbol of the libraries that it
// is linked with. Three of them are newer than all others that a wheel needs.
// With its own, or the former ones, it needs glibc 2.34 and the libstdc++ of
// GCC 11, those of RHEL 9 and Ubuntu 22.04. The linker sends callers of NAME to
// __wrap_NAME.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <sys/random.h>

/// Of 2.36; LLVM names temporary files by it.
extern "C" __attribute__((visibility("hidden"))) uint32_t
arc4random() noexcept {
  uint32_t value = 0;
  while (getrandom(&value, sizeof(value), 0) != ssize_t(sizeof(value)))
    ;
  return value;
}

// std::condition_variable::wait of GCC 12, which differs from the former
// version in noexcept alone.
extern "C" void formerWait(void *condition, void *lock);
__asm__(
    ".symver formerWait,"
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");

extern "C" __attribute__((visibility("hidden"))) void
__wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(
    void *condition, void *lock) {
  formerWait(condition, lock);
}

#ifdef __x86_64__
// Of 2.35, which differs from the former version in errno alone.
extern "C" double formerHypot(double x, double y) noexcept;
__asm__(".symver formerHypot,hypot@GLIBC_2.2.5");

extern "C" __attribute__((visibility("hidden"))) double
__wrap_hypot(double x, double y) noexcept {
  return formerHypot(x, y);
}
#endif
