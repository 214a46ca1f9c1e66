#!/usr/bin/env bash
# Installs the build into a scratch prefix, builds the project in this folder
# against it, and runs what it builds.
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
"$scratch/build/describe-machine" | grep -x "h100_sxm: domains of 8 devices"
"$scratch/build/insert-collectives" | grep "shard.all_reduce %.* on @grid grid_axes = \[2\]"

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
