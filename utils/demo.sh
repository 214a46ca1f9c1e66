#!/usr/bin/env bash
# The main job, step by step: import a model, search its sharding exactly,
# insert the collectives. Then the same search by the learning agent, with a
# thousand calls of the simulator and its distance to the proved optimum.
#
# usage: utils/demo.sh <build folder> [config.json]

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=$1
config=${2:-examples/configs/qwen3-235b-a22b.json}
out=$build/demo
mkdir -p "$out"

# Prints a command as a user would type it, then runs it.
run() {
  local word line='$'
  for word in "$@"; do
    [[ $word != *' '* ]] || word="'$word'"
    line+=" $word"
  done
  printf '%s\n' "$line"
  "$@"
}

# The plan is printed on stderr; here it belongs to the story.
exec 2>&1
run "$build/bin/shard-translate" --import-hf "$config" \
  --phase=decode --context=16384 -o "$out/model.mlir"
run "$build/bin/shard-opt" "$out/model.mlir" \
  "--llm-search-sharding=machine=h100_sxm max-devices=64 report=$out/report.json" \
  -o "$out/annotated.mlir"
run "$build/bin/shard-opt" "$out/annotated.mlir" \
  --llm-insert-collectives --llm-optimize-collectives -o "$out/sharded.mlir"

# Without LibTorch, the same search with a policy that does not learn.
agent=ppo
[[ -e $build/lib/libShardOptAgentTorch.so ]] || agent=surrogate
printf '\nThe same search by an agent that asks the simulator (searcher=%s):\n' "$agent"
run "$build/bin/shard-opt" "$out/model.mlir" \
  "--llm-search-sharding=machine=h100_sxm max-devices=64 searcher=$agent budget=1000 progress=lines" \
  -o "$out/agent.mlir" 2>&1 | grep -E '^\$|^  (evaluations|search) '

printf '\nplan as JSON      %s\nannotated module  %s\nsharded module    %s\n' \
  "$out/report.json" "$out/annotated.mlir" "$out/sharded.mlir"
