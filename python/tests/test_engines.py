"""Commands against the engines' own parsers: their answers, which are kept, and, where
SHARDOPT_ENGINES names a Python that has the engines, the parsers themselves.

SHARDOPT_RECORD=1 keeps new answers.
"""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from engine_cases import cases, commands, meaning
from shardopt.engine_table import known_version

ANSWERS = Path(__file__).with_name("engine_answers.json")
ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SHARDOPT_DATA", ROOT.parent / "shared/data"))
ASKING = DATA / "engines/check_launch.py"
PYTHON = os.environ.get("SHARDOPT_ENGINES")

_STARTED = "export PORT=8100 SIDE_PORT=5600 HOST=10.0.0.2\n"


class RecordedTest(unittest.TestCase):
    def test_commands_are_those_that_engines_accepted(self):
        kept = json.loads(ANSWERS.read_text(encoding="utf-8"))
        for engine, version in kept["versions"].items():
            self.assertEqual(known_version(f"{engine}=={version}"), version)
        asked = 0
        for key, _, role, _, script in cases():
            with self.subTest(key):
                answer = kept["answers"].get(key)
                self.assertIsNotNone(answer, "no engine was asked: record the answers again")
                self.assertEqual(commands(script), answer["commands"])
                self.assertEqual(answer["means"], meaning(role))
                asked += 1
        self.assertEqual(asked, len(kept["answers"]))


@unittest.skipUnless(PYTHON, "SHARDOPT_ENGINES names no Python that has the engines")
@unittest.skipUnless(ASKING.exists(), f"{ASKING} is not there")
class ParserTest(unittest.TestCase):
    def test_engines_accept_the_commands_and_mean_the_degrees(self):
        found = {key: rest for key, *rest in cases()}
        scripts = [
            [key, f"# run on {made.nodes(role)} nodes\n{_STARTED}{script}", str(config), 8]
            for key, (made, role, config, script) in found.items()
        ]
        with tempfile.TemporaryDirectory() as place:
            listed = Path(place, "list.json")
            listed.write_text(json.dumps(scripts))
            ran = subprocess.run([PYTHON, ASKING, "--json", "--list", listed],
                                 capture_output=True, text=True)
        rows = json.loads(ran.stdout[ran.stdout.index("[{"):])
        answers = {}
        for row in rows:
            _, role, _, script = found[row["name"]]
            with self.subTest(row["name"], rank=row["rank"]):
                self.assertTrue(row["ok"], row["meaning"])
                said = {name: row["meaning"][name] for name in meaning(role)}
                self.assertEqual(said, meaning(role))
                self.assertNotIn("warning", row["meaning"])
                answers[row["name"]] = {"commands": commands(script), "means": said}
        self.assertEqual(set(answers), set(found))
        if os.environ.get("SHARDOPT_RECORD"):
            versions = {"vllm": "0.33.0", "sglang": "0.5.23"}
            lines = [f"{json.dumps(key)}: {json.dumps(one)}" for key, one in answers.items()]
            kept = ",\n".join(lines)
            ANSWERS.write_text(
                f'{{"versions": {json.dumps(versions)}, "answers": {{\n{kept}\n}}}}\n',
                encoding="utf-8",
            )


if __name__ == "__main__":
    unittest.main()
