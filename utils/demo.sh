#!/usr/bin/env bash
# The main job, step by step: plan a model, write the launch of an engine, execute
# the sharded program of the plan, emit it, and draw a page. Then the same kind of
# search by the learning agent, with a thousand calls of the simulator and its
# distance to the proved optimum.
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
run "$build/bin/shardopt" plan "$config" --machine h100_sxm --devices 64 \
  --context 16384 --tpot 50 --engine vllm --output-dir "$out"
run "$build/bin/shardopt" export "$out/decode.json" --engine vllm
run "$build/bin/shardopt" verify "$out/decode.json"
run "$build/bin/shardopt" lower "$out/decode.json" -o "$out/sharded.mlir"

# What draws the page is in the environment of the build where it could be installed.
for packages in "$build"/venv/lib/python3*/site-packages; do
  export PYTHONPATH=$packages${PYTHONPATH:+:$PYTHONPATH}
done
if /usr/bin/python3 -c 'import vl_convert' 2>/dev/null; then
  run "$build/bin/shardopt" report "$out/decode.json" --no-front -o "$out/plan.html"
else
  printf '(no page, plan.html: vl-convert-python is not installed)\n'
fi

# Without LibTorch, the same search with a policy that does not learn.
agent=ppo
[[ -e $build/lib/libShardOptAgentTorch.so ]] || agent=surrogate
printf '\nA search by an agent that asks the simulator (searcher=%s):\n' "$agent"
run "$build/bin/shard-translate" --import-hf "$config" \
  --phase=decode --context=16384 -o "$out/model.mlir"
run "$build/bin/shard-opt" "$out/model.mlir" \
  "--llm-search-sharding=machine=h100_sxm max-devices=64 searcher=$agent budget=1000 progress=lines" \
  -o "$out/agent.mlir" 2>&1 | grep -E '^\$|^  (evaluations|search) '

printf '\nplan            %s\nsharded module  %s\npage            %s\n' \
  "$out/decode.json" "$out/sharded.mlir" "$out/plan.html"
