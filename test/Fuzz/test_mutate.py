"""Mutations depend on the generator alone, and keep what they are told to keep."""

import json
import random
import unittest

from fuzz import mutate

TEXT = "func.func @f(%x: tensor<4xf32>) {\n  return\n}\n"
DOCUMENT = json.dumps({"sizes": [1, 2.5, {"deep": "text"}], "name": None})


class Mutate(unittest.TestCase):
    def test_same_generator_same_result(self):
        for change, original in ((mutate.text, TEXT), (mutate.document, DOCUMENT)):
            one = [change(random.Random(seed), original) for seed in range(200)]
            other = [change(random.Random(seed), original) for seed in range(200)]
            self.assertEqual(one, other)
            self.assertGreater(len(set(one)), 100)

    def test_tokens_cover_a_text(self):
        text = TEXT + '"a string" // é ->\n!llm.x<#y> 1.5e-3 \x00'
        self.assertEqual("".join(mutate.TOKEN.findall(text)), text)

    def test_nothing_stays_nothing(self):
        rng = random.Random(1)
        self.assertEqual(mutate.text(rng, ""), "")
        self.assertIsInstance(mutate.data(rng, b""), bytes)

    def test_signed_lines(self):
        line = (
            '{"strategy": {"tp": 1}, "throughput": 0, "tpot_ms": 0, "memory_gb": 0, '
            '"valid": false, "reason": "structural", "check": "LINE"}'
        )
        right = line.replace("LINE", "b0cda516d8fa5f57")
        wrong = line.replace("LINE", "0123456789abcdef")
        text = '{"checkpoint": 2}\n' + wrong + "\n"
        self.assertEqual(mutate.signed(text), text.replace(wrong, right))
        self.assertEqual(mutate.signed(mutate.signed(text)), mutate.signed(text))

    def test_bytes(self):
        results = {mutate.data(random.Random(seed), b"0123456789") for seed in range(100)}
        self.assertGreater(len(results), 50)


if __name__ == "__main__":
    unittest.main()
