#!/usr/bin/env python3
"""Opens two files in a language server and checks its diagnostics.

usage: language_server.py <server>
"""

import json
import subprocess
import sys

GOOD = (
    'func.func @f(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16> {\n'
    '  %y = llm.add %x, %x : tensor<?x8xbf16>\n'
    '  return %y : tensor<?x8xbf16>\n}\n'
)
WRONG = GOOD.replace("llm.add", "llm.subtract")


def message(**content):
    text = json.dumps({"jsonrpc": "2.0", **content})
    return f"Content-Length: {len(text)}\r\n\r\n{text}"


def open_file(name, text):
    document = {"uri": f"file:///{name}", "languageId": "mlir", "version": 1, "text": text}
    return message(method="textDocument/didOpen", params={"textDocument": document})


session = (
    message(id=1, method="initialize", params={"capabilities": {}})
    + open_file("good.mlir", GOOD)
    + open_file("wrong.mlir", WRONG)
    + message(id=2, method="shutdown", params=None)
    + message(method="exit", params=None)
)
output = subprocess.run(
    sys.argv[1:], input=session, capture_output=True, text=True
).stdout

diagnostics = {}
decoder = json.JSONDecoder()
position = output.find("{")
while position >= 0:
    answer, end = decoder.raw_decode(output, position)
    if answer.get("method") == "textDocument/publishDiagnostics":
        params = answer["params"]
        diagnostics[params["uri"]] = [found["message"] for found in params["diagnostics"]]
    position = output.find("{", end)
assert diagnostics["file:///good.mlir"] == [], diagnostics
assert "llm.subtract" in diagnostics["file:///wrong.mlir"][0], diagnostics
