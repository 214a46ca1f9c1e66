#!/usr/bin/env python3
"""Prints a list of strategies of dense.mlir, good, invalid and unreadable.

usage: make_list.py [--crlf]
"""

import sys

GOOD = '{"tp":4,"ep":1,"pp":2,"batch":64,"dims":[0,0,1,0,0,0,1,0,1]}'
LINES = [
    GOOD,
    "",
    "tp=4",
    GOOD.replace('"pp":2', '"pp":3'),
    GOOD.replace('"batch":64', '"batch":100000000'),
    '{"tp":4,"ep":1,"pp":2,"batch":64,"dims":{"ffnup":1}}',
    GOOD.replace("[0,", "["),
    GOOD.replace("[0,", "[3,"),
    GOOD.replace('"tp":4', '"tp":0'),
    "x" * (3 << 20),  # longer than what is read at a time
    GOOD,
]

sys.stdout.buffer.write(("\r\n" if "--crlf" in sys.argv else "\n").join(LINES).encode())
