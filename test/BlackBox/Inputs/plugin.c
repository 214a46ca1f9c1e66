/* A plugin in C99, the source of several, whose ways depend on the stages. */

#include "shardopt/Search/BlackBox/SimulatorPlugin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int count; /* what `create` returns a pointer to */

static void *create(const ShardOptProblem *problem, char *error, size_t size) {
  /* What a plugin prints does not disturb the protocol. */
  printf("creating for %d ops, %s, context %ld, slo %g ms, %g GB\n",
         (int)problem->num_ops, problem->ops[0], (long)problem->context,
         problem->slo_ms, problem->memory_capacity_gb);
  fflush(stdout);
  if (!strstr(problem->hello, "\"protocol\": 1")) {
    snprintf(error, size, "no hello");
    return NULL;
  }
  if (getenv("TEST_PLUGIN_REFUSES")) {
    snprintf(error, size, "no licence");
    return NULL;
  }
  return &count;
}

static int evaluate(void *simulator, const ShardOptStrategy *strategy,
                    ShardOptEvaluation *evaluation) {
  ++*(int *)simulator;
  evaluation->valid = 1;
  evaluation->throughput = (double)strategy->degrees[0];
  evaluation->latency_ms = 10;
  evaluation->memory_gb = 1;
  switch (strategy->degrees[1]) {
  case 2:
    abort();
  case 3:
    return 5;
  case 4:
    evaluation->latency_ms = NAN;
    break;
  case 6:
    evaluation->valid = 0;
    evaluation->memory_gb = 1e3;
    evaluation->reason = "memory";
    break;
  case 8:
    evaluation->valid = 0;
    evaluation->reason = "structural";
    break;
  }
  return 0;
}

static void destroy(void *simulator) {
  printf("destroyed after %d\n", *(int *)simulator);
  fflush(stdout);
}

#ifndef VERSION
#define VERSION SHARDOPT_SIMULATOR_PLUGIN_VERSION
#endif

#ifndef DEGREES
#define DEGREES "tp", "pp", "batch", "ep"
#endif

#ifndef WITHOUT_ENTRY
const ShardOptSimulatorPlugin *shardoptSimulatorPlugin(void) {
  static const char *const degrees[] = {DEGREES, NULL};
  static const ShardOptSimulatorPlugin plugin = {
      VERSION, "test", degrees, create, evaluate, destroy};
  return &plugin;
}
#else
void *useOf[] = {(void *)create, (void *)evaluate, (void *)destroy};
#endif
