"""What the page says of given results."""

import pathlib
import re
import unittest

from search import advice, dims_pay, groups, manifest, paper_agent, parts, reproduction, searchers
from search import sensitivity, targets, verdict
from search.measured import Measured
from search.reference import References
from search.results import Results
from search.workloads import GROUPS

SEEDS = range(6)


def rows(group, searcher, steps, seeds=SEEDS, workload=0, accounting=manifest.ASKED):
    """A row a seed on a workload of a group; `steps` maps a seed to text."""
    of = GROUPS[group].workloads[workload]
    for seed in seeds if searcher.has_seeds else (0,):
        budget = 4000 if searcher.has_seeds else 0
        counted = accounting if searcher.has_seeds else manifest.FREE
        job = manifest.Job(of, searcher, (counted,), seed, budget)
        text = steps(seed)
        fields = ("workload", "simulator", "slo_ms", "searcher", "variant", "accounting")
        row = dict(zip((*fields, "seed", "budget"), next(job.keys())))
        best = text.split(":")[-1] if text else "0"
        yield {**row, "steps": text, "best": best, "wall_s": "2", "cpu_s": "2"}


def measured(*groups_of_rows):
    flat = [row for group in groups_of_rows for row in group]
    results = Results(None, dict(enumerate(flat)))
    return Measured(results, References(results, {}))


def proof(group="moe-50", workload=0):
    return rows(group, searchers.EXACT, lambda seed: "1:100", workload=workload)


class Advice(unittest.TestCase):
    def test_learning_is_said_where_dims_pay_once_all_of_it_is_measured(self):
        found = [
            *map(list, (proof(), proof("dims"))),
            *(
                list(rows("moe-50", searcher, lambda seed: "9:90"))
                for searcher in (searchers.PPO_RIDGE, searchers.PPO_PARTS[1], searchers.PPO_PAPER)
            ),
            *(
                list(rows("dims", searcher, lambda seed: "9:95", range(2)))
                for searcher in (searchers.PPO, searchers.PPO_UNTRAINED)
            ),
        ]
        self.assertIn("**Learning a policy**", advice.lines(measured(*found)))
        self.assertNotIn("untrained 0.9500", advice.lines(measured(*found)))
        found.append(rows("dims", searchers.PPO_TAUGHT, lambda seed: "9:80", range(2)))
        self.assertIn("other models first 0.8000 (n = 2).", advice.lines(measured(*found)))


class Verdict(unittest.TestCase):
    def test_what_is_ahead_is_bold(self):
        text = verdict.section(
            measured(
                proof("moe-25"),
                rows("moe-25", searchers.SURROGATE, lambda seed: f"{20 + seed}:{98 + seed % 2}"),
                rows("moe-25", searchers.PPO, lambda seed: f"20:{98 + (seed + 1) % 2}"),
                rows("moe-25", searchers.RANDOM, lambda seed: f"900:{50 + seed % 2}"),
            )
        )
        self.assertIn("divided by the 3 comparisons", text)
        self.assertRegex(text, r"`surrogate` − `random` \| \*\*\+0.4800 .*\*\* \(n = 6\)")
        self.assertRegex(text, r"`surrogate` − `ppo` \| [+−]0.0000")

    def test_black_boxes_count_what_is_new(self):
        both = [
            rows("fixed", s, lambda seed: "9:90", accounting=manifest.FREE)
            for s in (searchers.SURROGATE, searchers.COORDINATE)
        ]
        self.assertIn("`surrogate` − `coordinate`", verdict.section(measured(*both)))

    def test_claims_nothing_without_a_rival(self):
        alone = measured(proof(), rows("moe-50", searchers.PPO, lambda seed: "9:100"))
        self.assertIn("Not measured yet", verdict.section(alone))


class Sections(unittest.TestCase):
    def test_promises_are_met_or_missed(self):
        fast = measured(proof(), rows("moe-50", searchers.PPO, lambda s: "400:100"))
        slow = measured(proof(), rows("moe-50", searchers.PPO, lambda s: "401:100"))
        line = "median calls to 99 %; GPT-MoE, SLO 50 ms | ≤ 400 |"
        self.assertIn(f"{line} 400 | met (n = 6)", targets.section(fast))
        self.assertIn(f"{line} 401 | **missed**", targets.section(slow))

    def test_few_seeds_leave_an_aim_open(self):
        few = measured(
            proof(), rows("moe-50", searchers.PPO, lambda s: "401:100", seeds=range(2))
        )
        self.assertIn("401 | open (n = 2)", targets.section(few))

    def test_time_is_that_of_the_last_version(self):
        def of(version, seconds, seeds):
            for row in rows("moe-50", searchers.RANDOM, lambda seed: "9:50", seeds):
                yield {**row, "version": version, "cpu_s": seconds}

        found = measured(proof(), of("v1", "9", range(6)), of("v2", "2", range(6, 8)))
        runs = found.of_group("moe-50", searchers.RANDOM, manifest.ASKED)
        self.assertEqual(groups.summary_row("random", runs, 0)[-2:], ["2.0", "v1, v2"])

    def test_constants_of_the_paper_are_compared_and_exits_counted(self):
        def counted(counts, *of):
            for row in rows("moe-50", *of):
                yield {**row, "counts": counts}

        variant = searchers.PAPER_CONSTANTS[0]
        found = measured(
            proof(),
            counted("agents=9 early_exits=6", searchers.PPO_PAPER, lambda seed: "9:75"),
            counted("agents=5 early_exits=0", variant, lambda seed: "9:50"),
        )
        text = sensitivity.section(found)
        self.assertIn("| α = 0 | 6 | 0.5000 [0.5000, 0.5000] | 0.5000 | **−0.2500", text)
        self.assertIn("36 of 54 agents ended", sensitivity.early_exits(found))
        self.assertIsNone(sensitivity.section(measured(proof())))

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

    def reproduction(self, *more):
        """The page of runs at 50 ms, where the optimum is twice random walk, and `more`."""
        best = {
            searchers.RANDOM_WALK: 50,
            searchers.PAPER_ANNEALING: 60,
            searchers.ANNEALING: 80,
            searchers.PPO_PAPER: 70,
            searchers.PPO: 100,
            **dict(zip(searchers.MEGATRON, (80, 90, 96))),
        }
        found = measured(
            *(proof(workload=index) for index in range(6)),
            *(
                rows("moe-50", searcher, lambda seed, top=top: f"9:{top}", workload=index)
                for searcher, top in best.items()
                for index in range(6)
            ),
            *more,
        )
        return reproduction.text(found, pathlib.Path("nowhere"))

    def test_reproduction_says_what_is_not_there(self):
        text = self.reproduction()
        self.assertIn("2.00× at 50 ms | not at these settings |", text)
        row = "| 1.20× [1.20, 1.20] | 1.60× [1.60, 1.60] | 1.40× [1.40, 1.40] | 2.00×"
        self.assertIn(f"| gpt-moe-1.2T-16k | 1.19× | 2.76× {row}", text)
        self.assertIn("| gpt-moe-1.2T-16k | 1.25× | 1.11× | 1.04× | 0.62×", text)

    def test_reproduction_says_what_depends_on_the_slo(self):
        tight = [
            rows("moe-25", searchers.RANDOM_WALK, lambda seed: "9:25", workload=index)
            for index in range(6)
        ]
        proofs = [proof("moe-25", workload=index) for index in range(6)]
        text = self.reproduction(*tight, *proofs)
        self.assertIn("the optimum itself 2.00× at 50 ms, 4.00× at 25 ms | depends on the SLO |", text)

    def test_reproduction_counts_its_verdicts(self):
        text = self.reproduction()
        verdicts = [line.split(" | ")[2] for line in text.splitlines() if line.count(" | ") == 3]
        tally = re.search(r"- Verdicts on (\d+) claims: (.*)\.", text)
        counts = list(map(int, re.findall(r"\d+", tally[2])))
        self.assertEqual([int(tally[1]), sum(counts)], [len(verdicts[2:])] * 2)

    def test_reproduction_has_a_table_of_each_slo(self):
        tops = {searchers.RANDOM_WALK: 25, searchers.PPO_PAPER: 80, searchers.ANNEALING: 0}
        tight = [
            rows("moe-25", searcher, lambda seed, top=top: f"9:{top}" if top else "", workload=index)
            for searcher, top in tops.items()
            for index in range(6)
        ]
        outside = rows("moe-25", searchers.SB3_PPO, lambda seed: "9:50", range(1))
        proofs = [proof("moe-25", workload=index) for index in range(6)]
        text = self.reproduction(*tight, *proofs, outside)
        self.assertIn("| `annealing` (n = 6) | `ppo-paper` (n = 6) | `sb3-ppo` (n = 1) | ceiling |", text)
        self.assertIn("| gpt-moe-1.2T-16k | 0.00× | 3.20× [3.20, 3.20] | 2.00× | 4.00× |", text)
        self.assertIn("| gpt-moe-1.2T-32k | 0.00× | 3.20× [3.20, 3.20] | – | 4.00× |", text)
        self.assertIn("`ppo-paper` 1.40× at 50 ms (n = 6), 3.20× at 25 ms (n = 6)", text)

    def test_the_agent_is_compared_with_megatron_where_dims_pay(self):
        found = measured(
            *(proof("dims", workload=index) for index in range(2)),
            *(
                rows("dims", searcher, lambda seed, top=top: f"9:{top}", workload=index)
                for searcher, top in ((searchers.MEGATRON[0], 80), (searchers.MEGATRON[2], 50))
                for index in (0, 1)
            ),
            rows("dims", searchers.PPO_PAPER, lambda seed: f"9:{61 + 4 * seed}"),
            rows("dims", searchers.RANDOM_WALK, lambda seed: ""),
        )
        text = dims_pay.section(found)
        self.assertIn("2 % or more above 1 in 2 of 2. `ppo-paper` is below", text)
        self.assertIn("best in 1 of 1 in the mean of its seeds (n = 6)", text)
        self.assertIn("every seed it is in 0 of 1", text)
        self.assertRegex(text, r"\| 1\.25× \| 0\.00× \[0\.00, 0\.00\] \| 0\.89× \[")
        self.assertIsNone(dims_pay.section(measured(proof())))

    def test_the_agent_from_outside_stands_beside_ours(self):
        runs = (
            (searchers.PPO_PAPER, 0, 70),
            (searchers.PPO_PAPER, 1, 60),
            (searchers.SB3_PPO, 0, 80),
        )
        found = measured(
            *(proof(workload=index) for index in range(2)),
            *(
                rows("moe-50", agent, lambda seed, top=top: f"9:{top}", range(2), workload=index)
                for agent, index, top in runs
            ),
        )
        text = paper_agent.section(found)
        self.assertIn("| gpt-moe-1.2T-16k, 50 ms | 0.7000 (min 0.7000; 2) | 0.8000 (min 0.8000; 2) |", text)
        self.assertNotIn("gpt-moe-1.2T-32k", text)
        self.assertIsNone(paper_agent.section(measured(proof())))

    def test_reproduction_waits_for_its_rows(self):
        text = reproduction.text(measured(proof()), pathlib.Path("nowhere"))
        self.assertIn("Not measured yet", text)


if __name__ == "__main__":
    unittest.main()
