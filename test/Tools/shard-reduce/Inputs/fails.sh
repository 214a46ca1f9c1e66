#!/bin/sh
# Stands for shard-run on a program that is wrong.
[ "$1" = --verify ] && [ "$2" = --seed=7 ] && echo "verify: FAILED max_abs=1 max_rel=1"
exit 1
