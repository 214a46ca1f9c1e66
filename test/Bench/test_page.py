"""What the page says of given results."""

import unittest

from search import manifest, parts, paper, searchers, targets, verdict
from search.measured import Measured
from search.reference import References
from search.results import Results
from search.workloads import GROUPS

SEEDS = range(4)


def rows(group, searcher, steps, seeds=SEEDS):
    """A row a seed on the first workload of a group; `steps` maps a seed to text."""
    workload = GROUPS[group].workloads[0]
    for seed in seeds if searcher.has_seeds else (0,):
        budget = 4000 if searcher.has_seeds else 0
        job = manifest.Job(workload, searcher, (manifest.FREE,), seed, budget)
        text = steps(seed)
        fields = ("workload", "simulator", "slo_ms", "searcher", "variant", "accounting")
        row = dict(zip((*fields, "seed", "budget"), next(job.keys())))
        best = text.split(":")[-1] if text else "0"
        yield {**row, "steps": text, "best": best, "wall_s": "2"}


def measured(*groups_of_rows):
    flat = [row for group in groups_of_rows for row in group]
    results = Results(None, dict(enumerate(flat)))
    return Measured(results, References(results, {}))


def proof(group="moe-50"):
    return rows(group, searchers.EXACT, lambda seed: "1:100")


class Verdict(unittest.TestCase):
    def test_names_a_simple_method_that_beats_the_agent_first(self):
        text = verdict.paragraph(
            measured(
                proof("moe-50"),
                proof("moe-25"),
                rows("moe-50", searchers.PPO, lambda seed: "10:100"),
                rows("moe-50", searchers.RANDOM, lambda seed: "900:50"),
                rows("moe-25", searchers.PPO, lambda seed: f"{30 + seed}:99"),
                rows("moe-25", searchers.SURROGATE, lambda seed: f"{20 + seed}:100"),
            )
        )
        first = text.split("**")[1]
        self.assertEqual(first, GROUPS["moe-25"].title)
        self.assertIn("is beaten by `surrogate` in the mean (1.0000 against 0.9900", text)
        self.assertIn("in calls to 99 % (median 22 against 32", text)
        self.assertIn("no simple method beats `ppo`; it beats `random`", text)

    def test_says_when_the_default_of_black_boxes_is_beaten(self):
        both = [
            rows("fixed", searchers.SURROGATE, lambda seed: "9:90"),
            rows("fixed", searchers.PPO, lambda seed: "9:100"),
        ]
        text = verdict.paragraph(measured(*both))
        self.assertIn("the default, `surrogate`, is beaten in the mean by `ppo`", text)

    def test_claims_nothing_without_a_rival(self):
        alone = measured(proof(), rows("moe-50", searchers.PPO, lambda seed: "9:100"))
        self.assertIn("compared with nothing yet", verdict.paragraph(alone))
        self.assertIn("not measured yet", verdict.paragraph(measured(proof())))


class Sections(unittest.TestCase):
    def test_promises_are_met_or_missed(self):
        fast = measured(proof(), rows("moe-50", searchers.PPO, lambda s: "400:100"))
        slow = measured(proof(), rows("moe-50", searchers.PPO, lambda s: "401:100"))
        line = "median calls to 99 %; GPT-MoE, SLO 50 ms | ≤ 400 |"
        self.assertIn(f"{line} 400 | met", targets.section(fast))
        self.assertIn(f"{line} 401 | **missed**", targets.section(slow))

    def test_parts_are_compared_with_the_default(self):
        variant = searchers.PPO_PARTS[0]
        text = parts.section(
            measured(
                proof(),
                rows("moe-50", searchers.PPO, lambda seed: "100:100"),
                rows("moe-50", variant, lambda seed: "300:100"),
            )
        )
        self.assertIn("| **+200 [+200, +200]** |", text)

    def test_ratio_to_random_walk_has_the_ceiling_beside_it(self):
        text = paper.table_1_section(
            measured(
                proof(),
                rows("moe-50", searchers.RANDOM_WALK, lambda seed: "9:50"),
                rows("moe-50", searchers.PPO, lambda seed: "9:90"),
            )
        )
        row = "| gpt-moe-1.2T-16k | 1.19× | 2.76× | – | – | 1.80× | 2.00× |"
        self.assertIn(row, text)

    def test_megatron_ratios_are_of_the_best_seed(self):
        styles = [
            rows("moe-50", style, lambda seed, best=best: f"1:{best}")
            for style, best in zip(searchers.MEGATRON, (80, 90, 96))
        ]
        text = paper.figure_3_section(
            measured(
                proof(), *styles, rows("moe-50", searchers.PPO, lambda s: f"1:{93 + s}")
            )
        )
        self.assertIn("| 1.20× (1.25×) | 1.07× (1.11×) | 1.00× (1.04×) |", text)


if __name__ == "__main__":
    unittest.main()
