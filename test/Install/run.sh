#!/usr/bin/env bash
# Installs the build into scratch prefixes, builds the projects in this folder
# against them, and runs what they build.
#
# usage: run.sh <build folder> <scratch folder>

set -euo pipefail
source=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
build=$1
scratch=$2

rm -rf "$scratch"
mkdir -p "$scratch"
cmake --install "$build" --prefix "$scratch/prefix" >"$scratch/install.log"
cmake -G Ninja -S "$source" -B "$scratch/build" -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_PREFIX_PATH="$scratch/prefix"
cmake --build "$scratch/build"

echo 'module {}' | "$scratch/prefix/bin/shard-opt" - >/dev/null
# Where the build has networks, searchers find those of the installation.
if [[ -e $build/lib/libShardOptAgentTorch.so ]]; then
  env -u SHARDOPT_AGENT_TORCH "$scratch/prefix/bin/shard-opt" -o /dev/null \
    "$source/../Dialect/LLM/Transforms/Inputs/dense.mlir" \
    --llm-search-sharding="simulator=roofline max-devices=8 searcher=ppo budget=20" 2>&1 |
    grep "search    ppo"
fi
"$scratch/build/describe-machine" | grep -x "h100_sxm: domains of 8 devices"
"$scratch/build/insert-collectives" | grep "shard.all_reduce %.* on @grid grid_axes = \[2\]"
"$scratch/build/annotate-graph" "$source/../../examples/graphs/mlp.mlir" |
  mlir-opt-22 --pass-pipeline='builtin.module(func.func(sharding-propagation{traversal=forward-backward},shard-partition),canonicalize,cse)' |
  grep "shard.all_reduce %.* on @grid grid_axes = \[0\]"

# A plan made without LLVM, of what its component alone installs, is the one that
# the compiler finds, to the last digit; so is that of a host of the passes.
cmake --install "$build" --prefix "$scratch/planning-prefix" --component Planning \
  >>"$scratch/install.log"
cmake -G Ninja -S "$source/planning" -B "$scratch/planning" -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_PREFIX_PATH="$scratch/planning-prefix"
cmake --build "$scratch/planning"
"$scratch/planning/planner" | tee "$scratch/plan.txt" | grep "search    exact, proved optimal"
grep "search    genetic" "$scratch/plan.txt"
"$scratch/prefix/bin/shard-translate" --phase=decode --context=8192 \
  --import-hf "$source/../../examples/configs/llama-3.1-70b.json" -o "$scratch/llama.mlir"
"$scratch/build/compiler" "$scratch/llama.mlir" >"$scratch/embedded.txt"
grep "lines of the table: [1-9]" "$scratch/embedded.txt"
diff <(grep "^throughput" "$scratch/plan.txt") <(grep "^throughput" "$scratch/embedded.txt")

# The simulators of the examples build against the installed tree, whose tools
# find the host of plugins.
cmake -G Ninja -S "$source/../../examples/simulators" -B "$scratch/simulators" \
  -DCMAKE_PREFIX_PATH="$scratch/prefix"
cmake --build "$scratch/simulators"
"$scratch/prefix/bin/shard-translate" --phase=decode --context=4096 \
  --import-hf "$source/../../examples/configs/llama-3.1-70b.json" -o "$scratch/model.mlir"
for simulator in exec:"$scratch/simulators/toy-simulator" plugin:"$scratch/simulators/toy-plugin.so"; do
  "$scratch/prefix/bin/shard-opt" "$scratch/model.mlir" -o /dev/null \
    --llm-search-sharding="simulator=$simulator searcher=random budget=10" 2>&1 |
    grep "simulator $simulator"
done
