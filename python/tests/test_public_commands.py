"""Commands and documents that others have published, held against their own words.

`public_commands.txt` and `public_documents.txt` have them with their source, documents
without probes and the like; the expectations were written by hand.
"""

import json
import unittest
from pathlib import Path

from shardopt.checking.documents import read_stated, read_text_of

try:
    import yaml
except ImportError:
    yaml = None

FACTS = {"has_dense_layers": True, "context": 0, "phase": "decode", "longest": None,
         "latent": True, "kv_heads": 1 << 20, "hybrid": False}
USUAL = {"name": "serve", "workers": 1, "tp": 1, "dp": 1, "ep": 1, "pp": 1, "cp": 1, "cap": 0,
         "cache": "", "drafts": 0}


def records(name):
    """The source, the expectation and the text of each record of a file."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    for record in text.split("%% ")[1:]:
        source, expected, command = record.split("\n", 2)
        yield source, json.loads(expected), command


def said(meaning):
    role = meaning.role
    cap = 0 if role.name == "prefill" and role.in_flight == role.ranks else role.in_flight
    return {"name": role.name, "workers": role.workers, "tp": role.tp, "dp": role.ranks,
            "ep": role.ep, "pp": role.pp, "cp": role.cp, "cap": cap, "cache": role.cache_type,
            "drafts": meaning.draft_tokens, "weights": role.quantization,
            "exchange": meaning.exchange}


class PublicTest(unittest.TestCase):
    def facts(self, expected):
        return {**FACTS, "experts": 256 if expected["moe"] else 0}

    def hold(self, stated, expected):
        self.assertEqual(len(stated.roles), len(expected["roles"]))
        for one, wanted in zip(stated.roles, expected["roles"]):
            found = said(one)
            wanted = {**USUAL, **wanted}
            self.assertEqual({key: found[key] for key in wanted}, wanted)
        if "model" in expected:
            self.assertEqual(stated.model, expected["model"])
        findings = [f"{one.kind}: {one}" for one in stated.all_findings]
        findings = [one for one in findings if "side of a service alone" not in one]
        wanted = expected.get("says", [])
        for one in findings:  # no wrong word
            self.assertTrue(any(one.startswith(text) for text in wanted), findings)
        if not expected.get("any"):
            for text in wanted:
                self.assertTrue(any(one.startswith(text) for one in findings), findings)

    def test_degrees_of_commands_are_those_of_the_words(self):
        read = 0
        for number, (source, expected, command) in enumerate(records("public_commands.txt")):
            with self.subTest(f"{number}: {source}"):
                self.hold(read_stated(command, self.facts(expected)), expected)
                read += 1
        self.assertGreaterEqual(read, 85)

    @unittest.skipUnless(yaml, "PyYAML is not installed")
    def test_degrees_of_documents_are_those_of_the_words(self):
        for source, expected, text in records("public_documents.txt"):
            with self.subTest(source):
                stated = read_text_of(text, "x.yaml", self.facts(expected), 0, {})
                self.hold(stated, expected)
                self.assertEqual(stated.kind, expected["kind"])
                if "load" in expected:
                    load = stated.load
                    self.assertEqual([load.isl, load.osl, load.concurrency], expected["load"])


if __name__ == "__main__":
    unittest.main()
