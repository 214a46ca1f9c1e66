"""A worker that misbehaves on strategies of two pipeline stages.

    misbehave.py <kind> [file]

The file gets a line for every worker that starts, with its process id.
"""

import json
import os
import signal
import sys
import time

KIND = sys.argv[1]


def good(request):
    return {
        "id": request["id"],
        "valid": True,
        "throughput": 1.0 + request["strategy"]["tp"],
        "tpot_ms": 10.5,
        "memory_gb": 3.25,
        "reason": "",
        "unknown_key": [1, {"a": None}],
    }


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def misbehave(request):
    answer = good(request)
    if KIND == "crash":
        print("about to crash", file=sys.stderr, flush=True)
        os._exit(3)
    elif KIND == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif KIND == "half":
        say('{"id": 1, "va')
        os._exit(0)
    elif KIND == "close":
        os.close(1)
        time.sleep(1000)
    elif KIND == "hang":
        time.sleep(1000)
    elif KIND == "silent":
        return None
    elif KIND == "text":
        return "hello, world"
    elif KIND == "id":
        answer["id"] += 1
    elif KIND == "missing":
        del answer["memory_gb"]
    elif KIND == "type":
        answer["throughput"] = "fast"
    elif KIND == "negative":
        answer["tpot_ms"] = -1.0
    elif KIND == "nan":
        answer["throughput"] = float("nan")
    elif KIND == "inf":
        answer["memory_gb"] = float("inf")
    elif KIND == "huge":
        return json.dumps(answer).replace("10.5", "1e999")
    elif KIND == "null":
        answer["tpot_ms"] = None
    elif KIND == "error":
        answer = {"id": request["id"], "error": "no such schedule"}
    elif KIND == "endless":
        while True:
            say("x" * 65536)
    return json.dumps(answer)


def main():
    started = 0
    if len(sys.argv) > 2:
        with open(sys.argv[2], "a+") as file:
            file.seek(0)
            started = len(file.readlines())
            print(os.getpid(), file=file)
    for line in sys.stdin:
        message = json.loads(line)
        if "protocol" in message:
            if KIND == "greet-version":
                say('{"protocol": 7, "name": "future"}\n')
            elif KIND == "greet-error":
                say('{"error": "no licence"}\n')
            elif KIND == "greet-text":
                say("Welcome!\n")
            elif KIND == "greet-exit" or (KIND == "once" and started > 0):
                print("cannot find the tables", file=sys.stderr)
                sys.exit(4)
            else:
                say('{"protocol": 1, "name": "misbehaving", "more": 1}\n')
            continue
        if KIND == "once" and message["strategy"]["pp"] == 2:
            os._exit(3)
        misbehaves = message["strategy"]["pp"] == 2
        text = misbehave(message) if misbehaves else json.dumps(good(message))
        if text is not None:
            say(text + "\n")


if __name__ == "__main__":
    main()
