/*===- SimulatorPlugin.h - The C interface of simulators --------*- C -*-===*\
|*                                                                            *|
|* Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.      *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/*
 * A simulator plugin is a shared library that defines shardoptSimulatorPlugin
 * (below), for simulator=plugin:<file>. It is loaded into a process of its own,
 * one a worker, so that a plugin that crashes or hangs costs an evaluation and
 * not the search. C99 or any C++; it links nothing of shardopt.
 *
 * docs/BlackBox.md explains it and shows an example.
 */

#ifndef SHARDOPT_SEARCH_BLACKBOX_SIMULATORPLUGIN_H
#define SHARDOPT_SEARCH_BLACKBOX_SIMULATORPLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this interface. A plugin of another one is refused. */
#define SHARDOPT_SIMULATOR_PLUGIN_VERSION 2

/** What a plugin is told before the first strategy. All of it stays where it is
 * until the simulator is destroyed. */
typedef struct ShardOptProblem {
  /** The hello line of the protocol of external simulators, JSON: the model,
   * the whole machine, and the following once more. */
  const char *hello;
  const char *const *ops; /**< names of the ops, in the order of their dims */
  size_t num_ops;
  int is_prefill;            /**< 0: decode */
  int64_t context;           /**< tokens */
  double slo_ms;             /**< TPOT or TTFT; infinity: none */
  double memory_capacity_gb; /**< usable, 1e9 bytes a device */
} ShardOptProblem;

typedef struct ShardOptStrategy {
  /** Values of the degrees that the plugin lists, in that order. */
  const int64_t *degrees;
  int64_t devices;     /**< that they take */
  const uint8_t *dims; /**< num_ops of them: 0, 1, or 2 for none */
} ShardOptStrategy;

typedef struct ShardOptEvaluation {
  int valid;
  double throughput; /**< tokens/s per device (prompt tokens in prefill) */
  double latency_ms; /**< TPOT (decode) or TTFT (prefill) */
  double memory_gb;  /**< the fullest device, 1e9 bytes */
  /** Why it is not valid: "structural", "memory" or "slo"; else null. */
  const char *reason;
} ShardOptEvaluation;

typedef struct ShardOptSimulatorPlugin {
  /** SHARDOPT_SIMULATOR_PLUGIN_VERSION. Stays the first field in every version
   * of this interface. */
  uint32_t version;
  const char *name; /**< for reports */
  /** The names of the degrees that it reads ("tp", "ep", "pp" and "batch", the
   * sequences or prompts over all devices; "dp", "cp", "exchange" and "eplb"
   * if it knows them: an exchange is 1 for an all-to-all and 2 for a gather,
   * eplb 1 for off and else two more than the redundant experts of a rank),
   * with a null at the end. A strategy that needs another one is a failure; one
   * whose degrees left out have their defaults is not. */
  const char *const *degrees;

  /** Makes a simulator, or returns null after writing why, with a final NUL,
   * into the `error_size` bytes at `error`. */
  void *(*create)(const ShardOptProblem *problem, char *error,
                  size_t error_size);
  /** Evaluates a strategy into `evaluation`, which is zero before. Anything but
   * 0 is a failure on this strategy, counted as such; the next one is asked. */
  int (*evaluate)(void *simulator, const ShardOptStrategy *strategy,
                  ShardOptEvaluation *evaluation);
  void (*destroy)(void *simulator);
} ShardOptSimulatorPlugin;

/** What every plugin defines: its description, which is never freed. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const ShardOptSimulatorPlugin *shardoptSimulatorPlugin(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SHARDOPT_SEARCH_BLACKBOX_SIMULATORPLUGIN_H */
