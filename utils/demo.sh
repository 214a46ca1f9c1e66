#!/usr/bin/env bash
# The main job, step by step: plan a service, write its launch, execute the sharded
# program of its decode workers, emit it, and draw the HTML report.
#
# usage: utils/demo.sh <build folder> [config.json]

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=$1
config=${2:-examples/configs/qwen3-235b-a22b.json}
out=$build/demo
rm -rf "$out"
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
  --isl 4000 --osl 1000 --tpot 30@p90 --ttft 2000@p90 --engine vllm --output-dir "$out"
run "$build/bin/shardopt" export "$out/service.json" --target shell --output-dir "$out/launch"
run "$build/bin/shardopt" verify "$out/service.json"
run "$build/bin/shardopt" lower "$out/service.json" -o "$out/sharded.mlir"

# What draws the report is in the environment of the build where it could be installed.
for packages in "$build"/venv/lib/python3*/site-packages; do
  export PYTHONPATH=$packages${PYTHONPATH:+:$PYTHONPATH}
done
if /usr/bin/python3 -c 'import vl_convert' 2>/dev/null; then
  run "$build/bin/shardopt" report "$out/service.json" --no-front --no-sweep -o "$out/plan.html"
else
  printf '(no report, plan.html: vl-convert-python is not installed)\n'
fi

printf '\nplan            %s\nlaunch          %s\nsharded module  %s\nHTML report     %s\n' \
  "$out/service.json" "$out/launch" "$out/sharded.mlir" "$out/plan.html"
