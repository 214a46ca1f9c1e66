#!/bin/sh
# Interesting: a valid module with this text in it. Arguments: the text, the file.
if shard-opt "$2" 2>/dev/null | grep -qF "$1"; then
  exit 1
fi
exit 0
