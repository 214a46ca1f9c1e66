"""Commands against the engines' own parsers: their answers, which are kept, and, where
SHARDOPT_ENGINES names a Python that has the engines, the parsers themselves.

`./dev test --engines --record` keeps new answers.
"""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from engine_cases import CONFIGS, DENSE, cases, commands, meaning, programs
from shardopt.engine_table import known_version

ANSWERS = Path(__file__).with_name("engine_answers.json")
ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SHARDOPT_DATA", ROOT.parent / "shared/data"))
ASKING = DATA / "engines/check_launch.py"
PYTHON = os.environ.get("SHARDOPT_ENGINES")

_STARTED = "export PORT=8100 SIDE_PORT=5600 HOST=10.0.0.2\n"


def others(asked):
    """What the parsers of other programs than engines say of "words", with the "config" of
    their model where they read it, and of a "graph"."""
    asked = [{**one, "config": str(one["config"])} if "config" in one else one for one in asked]
    ran = subprocess.run(
        [PYTHON, Path(__file__).with_name("other_parsers.py"), ASKING.parent],
        input=json.dumps(asked), capture_output=True, text=True,
    )
    if ran.returncode:
        raise AssertionError(ran.stderr[-2000:])
    return json.loads(ran.stdout.strip().splitlines()[-1])


def installed(packages):
    """The version of each package where the engines are."""
    script = "import json, sys; from importlib.metadata import version; " \
        "print(json.dumps({name: version(name) for name in sys.argv[1:]}))"
    ran = subprocess.run([PYTHON, "-c", script, *packages], capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


class RecordedTest(unittest.TestCase):
    def test_commands_are_those_that_engines_accepted(self):
        kept = json.loads(ANSWERS.read_text(encoding="utf-8"))
        for engine in ("vllm", "sglang"):
            version = kept["versions"][engine]
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

    def test_other_commands_are_those_that_their_parsers_accepted(self):
        kept = json.loads(ANSWERS.read_text(encoding="utf-8"))["programs"]
        found = {key: {"words": words, "means": wanted} for key, words, wanted in programs()}
        self.assertEqual(found, kept)


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
        self.hold("answers", answers)

    def test_other_programs_accept_their_commands(self):
        found = list(programs())
        answers = {}
        asked = [{"words": words, "config": CONFIGS / f"{DENSE}.json"} for _, words, _ in found]
        for (key, words, wanted), answer in zip(found, others(asked), strict=True):
            with self.subTest(key):
                self.assertEqual(answer, {"means": wanted})
                answers[key] = {"words": words, **answer}
        self.hold("programs", answers)

    def hold(self, part, answers):
        """Holds the kept part to these answers and its versions to what is installed, or,
        where it is asked for, keeps them."""
        kept = json.loads(ANSWERS.read_text(encoding="utf-8"))
        asked = {"versions": installed(kept["versions"]), part: answers}
        if not os.environ.get("SHARDOPT_RECORD"):
            self.assertEqual(asked, {name: kept[name] for name in asked})
            return
        lines = []
        for name, said in {**kept, **asked}.items():
            rows = [f"{json.dumps(key)}: {json.dumps(one)}" for key, one in said.items()]
            lines.append(f"{json.dumps(name)}: {{\n" + ",\n".join(rows) + "\n}")
        ANSWERS.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    unittest.main()
