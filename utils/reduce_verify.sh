#!/bin/sh
# A test for shard-reduce: a module is interesting where its sharded program does
# not compute what the unsharded one does. Arguments before the file go to shard-run.
#
#   shard-reduce wrong.mlir --test=utils/reduce_verify.sh --test-arg=--seed=7 -o small.mlir
#
# SHARD_RUN names another shard-run than the one on PATH. A program that takes
# longer than SECONDS_EACH (60) hangs, and is not interesting.

if timeout "${SECONDS_EACH:-60}" "${SHARD_RUN:-shard-run}" --verify "$@" 2>/dev/null | grep -q '^verify: FAILED'; then
  exit 1
fi
exit 0
