"""The client of a simulator that answers on a pipe (protocol 1)."""

import json
import subprocess


class Server:
    """A simulator in a process of its own: strategies in, metrics out."""

    def __init__(self, command):
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.hello = self._exchange({"protocol": 1})
        if self.hello.get("protocol") != 1:
            raise RuntimeError(f"'{command[0]}' speaks no protocol 1: {self.hello}")
        self._asked = 0

    def evaluate(self, strategy):
        """The answer to {"tp", "ep", "pp", "batch", "dims": {name: dim}}."""
        self._asked += 1
        answer = self._exchange({"id": self._asked, "strategy": strategy})
        if answer.get("id") != self._asked:
            raise RuntimeError(f"question {self._asked} was answered by {answer}")
        return answer

    def close(self):
        """Ends the process, as the end of its input does."""
        with self._process:
            self._process.stdin.close()

    def _exchange(self, message):
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the simulator ended early")
        return json.loads(line)
