"""Strategies follow the planner's table of degrees, with one more of them too."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

import shardopt as so
from shardopt.degrees import filled, table, unsaid

OPS = {"embed": {0: "vocab", 2: "none"}, "lm_head": {0: "vocab", 2: "none"}}
SAID = {"tp": 8, "ep": 4, "pp": 2, "batch": 64, "dims": [0, 2]}

# The first row of the further table is `copies`, as many as ep where nothing is said.
FURTHER = """
import dataclasses, json, pickle
import shardopt as so
from shardopt.frames import numbers_of

ops = {"embed": {0: "vocab", 2: "none"}, "lm_head": {0: "vocab", 2: "none"}}
said = {"tp": 8, "ep": 4, "pp": 2, "batch": 64, "dims": [0, 2]}

class Frame:
    def __init__(self, columns):
        self.data, self.columns = columns, list(columns)
    def __len__(self):
        return 2
    def __getitem__(self, name):
        return type("Column", (), {"to_list": lambda _: self.data[name]})()

usual = so.Strategy.from_dict(said, ops)
twice = so.Strategy.from_dict({**said, "copies": 2}, ops)
columns = {"tp": [8, 8], "ep": [4, 1], "pp": [2, 2], "batch": [64, 64], "embed": [0, 0],
           "lm_head": [2, 2]}
try:
    so.Strategy.from_dict({**said, "copie": 2}, ops)
except so.UnknownName as error:
    unknown = str(error)
print(json.dumps({
    "fields": [each.name for each in dataclasses.fields(so.Strategy)],
    "usual": usual.numbers(), "twice": twice.numbers(),
    "said": [usual.to_dict(), twice.to_dict()],
    "same": so.Strategy.from_dict({**said, "copies": 4}, ops) == usual,
    "read": so.Strategy.from_numbers(twice.numbers(), ops) == twice,
    "pickled": pickle.loads(pickle.dumps(twice)) == twice,
    "unknown": unknown,
    "rows": numbers_of(Frame(columns), ops),
    "rows of two": numbers_of(Frame({**columns, "copies": [2, 1]}), ops),
}))
"""


class DegreesTest(unittest.TestCase):
    def test_what_is_not_said_has_its_fallback(self):
        strategy = so.Strategy.from_dict(SAID, OPS)
        self.assertEqual(
            strategy.degrees(),
            {"tp": 8, "dp": 4, "ep": 4, "pp": 2, "cp": 1, "tp2": 1,
             "exchange": "all_to_all", "eplb": "off", "batch": 64},
        )
        self.assertEqual(strategy, so.Strategy(8, 4, 2, 64, (("embed", 0), ("lm_head", 2))))
        self.assertEqual(unsaid({**SAID, "dp": 4}), SAID)
        self.assertEqual(unsaid({**SAID, "dp": 2})["dp"], 2)

    def test_numbers_are_read_back(self):
        for more in ({}, {"dp": 2}, {"tp2": 2}, {"cp": 2, "exchange": "gather", "eplb": "1"}, {"stages": [3, 5]}):
            strategy = so.Strategy.from_dict({**SAID, **more}, OPS)
            self.assertEqual(so.Strategy.from_numbers(strategy.numbers(), OPS), strategy)
            self.assertEqual(so.Strategy.from_dict(strategy.to_dict(), OPS), strategy)

    def test_defaults_are_those_of_the_table(self):
        values = so.Strategy.from_dict(SAID, OPS)
        for row in table():
            if not row.is_required:
                self.assertEqual(getattr(values, row.name), row.default)
        self.assertEqual(list(filled({})), [row.name for row in table()])

    def test_a_further_degree_is_one_row(self):
        build = Path(os.environ["SHARDOPT_BUILD"])
        done = subprocess.run(
            [sys.executable, "-B", "-c", FURTHER],
            env={**os.environ, "PYTHONPATH": str(build / "python-further")},
            capture_output=True,
            text=True,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads(done.stdout)
        self.assertIn("copies", found["fields"])
        self.assertEqual(found["usual"], [4, 8, 4, 4, 2, 1, 1, 1, 1, 64, 0, 2])
        self.assertEqual(found["twice"], [2, 8, 4, 4, 2, 1, 1, 1, 1, 64, 0, 2])
        usual, twice = found["said"]
        self.assertNotIn("copies", usual)
        self.assertEqual(twice, {"copies": 2, **usual})
        self.assertTrue(found["same"] and found["read"] and found["pickled"])
        self.assertIn("known: copies", found["unknown"])
        self.assertEqual([row[:4] for row in found["rows"]], [[4, 8, 4, 4], [1, 8, 1, 1]])
        self.assertEqual([row[0] for row in found["rows of two"]], [2, 1])


if __name__ == "__main__":
    unittest.main()
