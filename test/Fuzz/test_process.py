"""What a command is blamed for."""

import concurrent.futures
import os
import sys
import tempfile
import unittest

from fuzz import process


def blame(program, **limits):
    limits = process.Limits(**{"address_bytes": 0, **limits})
    command = [sys.executable, "-c", program]
    with tempfile.TemporaryDirectory() as folder:
        what = process.blame(command, process.run(command, folder, limits), limits)
    return what and what.partition(": ")[2]


class Blame(unittest.TestCase):
    def test_success_and_errors_with_a_message_are_fine(self):
        self.assertIsNone(blame("print('well')"))
        self.assertIsNone(blame("import sys; sys.exit('error: x')"))

    def test_crashes(self):
        self.assertEqual(blame("import os; os.abort()"), "SIGABRT")
        says = "a.cpp:7: Assertion `x > 3' failed."
        program = f'import sys, os; sys.stderr.write("{says}"); sys.stderr.flush(); os.abort()'
        self.assertEqual(blame(program), "Assertion `x > N' failed")

    def test_other_ends(self):
        self.assertEqual(blame("import sys; sys.exit(3)"), "exit code N")
        self.assertEqual(blame("import sys; sys.exit(1)"), "a failure without a word")
        self.assertEqual(blame("import time; time.sleep(60)", seconds=0.2), "no end within N s")
        self.assertEqual(blame("while True: pass", seconds=1), "no end within N s")
        self.assertEqual(blame("x = b'1' * (300 << 20)", peak_bytes=200 << 20), "more than N MB")
        self.assertEqual(blame("print('verify: FAILED max_abs=1')"), "verify: FAILED max_abs")
        self.assertEqual(blame("print('FINDING a file was lost: x')"), "FINDING a file was lost")
        self.assertIsNone(blame("print('verify: FAILED the module cannot be lowered')"))

    def test_a_busy_machine_makes_no_findings(self):
        # Eight on one processor: each waits for it longer than it may wait for anything else.
        program = "import os, time\n"
        program += f"os.sched_setaffinity(0, {{{min(os.sched_getaffinity(0))}}})\n"
        program += "while time.process_time() < 0.4: pass"
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            said = list(pool.map(lambda _: blame(program, seconds=0.5), range(8)))
        self.assertEqual(said, [None] * 8)


if __name__ == "__main__":
    unittest.main()
