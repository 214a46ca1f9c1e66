"""The table of results: what is kept, what is measured again, what counts."""

import pathlib
import tempfile
import unittest

from search import bench, manifest, reference, searchers
from search.results import FIELDS, Results, key_of
from search.workloads import GROUPS

WORKLOAD = GROUPS["moe-50"].workloads[0]
BLACK_BOX = GROUPS["fixed"].workloads[0]


def job(searcher=searchers.RANDOM, seed=0, workload=WORKLOAD):
    return manifest.Job(workload, searcher, (manifest.FREE,), seed, 4000)


def row(of, best=50.0, **changes):
    fields = dict(zip(FIELDS, next(of.keys())))
    rest = {field: "" for field in FIELDS[len(fields) :]}
    return {**fields, **rest, "best": best, "steps": f"1:{best}", **changes}


class Table(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "results.csv"

    def test_a_stopped_bench_continues(self):
        Results.load(self.path).append(row(job(seed=0), version="v1"))
        results = Results.load(self.path)
        self.assertTrue(bench.is_measured(job(seed=0), results))
        self.assertFalse(bench.is_measured(job(seed=1), results))

    def test_other_versions_can_be_measured_again(self):
        results = Results.load(self.path)
        results.append(row(job(), version="v1"))
        self.assertTrue(bench.is_measured(job(), results, "v1"))
        self.assertFalse(bench.is_measured(job(), results, "v2"))

    def test_the_last_of_equal_keys_counts(self):
        results = Results.load(self.path)
        results.append(row(job(), best=50.0))
        results.append(row(job(), best=60.0))
        rows = Results.load(self.path).rows
        self.assertEqual([row["best"] for row in rows.values()], ["60"])

    def test_what_is_measured_again_is_the_newest(self):
        results = Results.load(self.path)
        for version in ("v1", "v2"):
            for seed in (0, 1):
                results.append(row(job(seed=seed), version=version))
        results.append(row(job(seed=0), version="v3"))
        for table in (results, Results.load(self.path)):
            self.assertEqual([row["version"] for row in table.rows.values()], ["v2", "v3"])

    def test_a_run_that_asked_for_nothing_free_counts_both_ways(self):
        both, asked = (
            manifest.Job(WORKLOAD, searchers.RANDOM, (kind,), 0, 4000)
            for kind in (manifest.FREE, manifest.ASKED)
        )
        results = Results.load(self.path)
        results.append(row(both, evaluations=9, charged=8))
        self.assertFalse(bench.is_measured(asked, results))
        results.append(row(both, evaluations=8, charged=8))
        self.assertTrue(bench.is_measured(asked, results))
        self.assertTrue(bench.is_measured(asked, Results.load(self.path)))
        self.assertEqual(len(self.path.read_text().splitlines()), 3)

    def test_packing_keeps_every_row_and_new_ones_follow(self):
        results = Results.load(self.path)
        for seed in (0, 1):
            results.append(row(job(seed=seed), evaluations=8, charged=8, version="v1"))
        before = Results.load(self.path).rows
        results.pack()
        self.assertFalse(self.path.exists())
        self.assertEqual(Results.load(self.path).rows, before)
        results.append(row(job(seed=0), version="v2"))
        results.pack()
        rows = Results.load(self.path).rows
        self.assertEqual(rows[next(job(seed=0).keys())]["version"], "v2")
        self.assertEqual(rows[next(job(seed=1).keys())]["version"], "v1")

    def test_a_torn_line_is_dropped(self):
        results = Results.load(self.path)
        results.append(row(job(seed=0)))
        results.append(row(job(seed=1)))
        text = self.path.read_text()
        self.path.write_text(text[:-3])
        results = Results.load(self.path)
        self.assertEqual(list(results.rows), list(job(seed=0).keys()))
        results.append(row(job(seed=1)))
        self.assertEqual(self.path.read_text(), text)

    def test_variants_are_kept_apart(self):
        variant = searchers.SURROGATE_CRITICS[0]
        keys = {next(job(s).keys()) for s in (searchers.SURROGATE, variant)}
        self.assertEqual(len(keys), 2)

    def test_the_key_is_that_of_the_job(self):
        written = row(job(searchers.PPO, seed=7))
        self.assertEqual(key_of(written), next(job(searchers.PPO, seed=7).keys()))


class Reference(unittest.TestCase):
    def of(self, rows, workload, known={}):
        results = Results(None, dict(enumerate(rows)))
        return reference.References(results, known).of(workload)

    def test_the_roofline_needs_a_proof(self):
        self.assertIsNone(self.of([row(job(), best=70.0)], WORKLOAD))
        proof = row(job(searchers.EXACT), best=60.0)
        self.assertEqual(self.of([row(job(), best=70.0), proof], WORKLOAD), 60.0)

    def test_a_black_box_takes_the_best_of_all(self):
        found = row(job(workload=BLACK_BOX), best=70.0)
        known = {BLACK_BOX.key: {"best": "65"}}
        self.assertEqual(self.of([found], BLACK_BOX, known), 70.0)
        known = {BLACK_BOX.key: {"best": "75"}}
        self.assertEqual(self.of([found], BLACK_BOX, known), 75.0)

    def test_scores_of_a_row(self):
        scored = bench.scored({"best": 99.0, "steps": "3:50 8:99"}, 100.0)
        self.assertEqual((scored["ratio"], scored["calls_to_99"]), (0.99, 8))
        self.assertIsNone(bench.scored({"best": 98.0, "steps": "3:98"}, 100.0)["calls_to_99"])


class Manifest(unittest.TestCase):
    def test_no_run_comes_twice(self):
        keys = [key for _, job in manifest.jobs() for key in job.keys()]
        self.assertEqual(len(keys), len(set(keys)))

    def test_all_rows_get_a_seed_before_one_gets_two(self):
        of_batch = {}
        for batch, job in manifest.jobs():
            of_batch.setdefault(batch.title, []).append(job.seed)
        for seeds in of_batch.values():
            self.assertEqual(seeds, sorted(seeds))

    def test_exact_search_comes_before_what_it_measures(self):
        chosen = bench.select(manifest.jobs(), ["annealing", "gpt-moe-1.2T-16k"], range(1))
        self.assertEqual(chosen[0].searcher, searchers.EXACT)
        self.assertIn(job(searchers.ANNEALING), chosen)

    def test_black_boxes_have_no_exact_search(self):
        for _, job in manifest.jobs():
            if job.searcher == searchers.EXACT:
                self.assertFalse(job.workload.is_black_box)


if __name__ == "__main__":
    unittest.main()
