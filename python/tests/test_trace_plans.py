"""Plans for requests of several lengths, for traces, and for bands of numbers."""

import json
import random
import tempfile
import unittest
from pathlib import Path

import shardopt as so
from shardopt.lengths import lengths_of, mean_lengths
from commands import run

ROOT = Path(__file__).resolve().parents[2]
LLAMA = ROOT / "examples/configs/llama-3.1-70b.json"


def problem(**others):
    asked = {"machine": "h200_sxm", "devices": 4, "engine": "vllm", "tpot_ms": 40, **others}
    return so.Problem(so.load_model(LLAMA), **asked)


def drawn(count, rate, seed=1):
    """Requests of which a few are long."""
    rng, now, requests = random.Random(seed), 0.0, []
    for _ in range(count):
        now += rng.expovariate(rate)
        is_long = rng.random() < 0.2
        isl = rng.randint(8000, 16000) if is_long else rng.randint(200, 1000)
        requests.append(so.Request(now, isl, rng.randint(20, 500), isl // 2 if is_long else 0))
    return requests


class LengthsTest(unittest.TestCase):
    def test_one_length_is_that_length(self):
        one = so.plan(problem(lengths=[[2000, 200, 1]]))
        same = so.plan(problem(isl=2000, osl=200))
        self.assertEqual(one.found, same.found)

    def test_lengths_are_kept(self):
        lengths = ((4096, 500, 0.3), (512, 500, 0.7))
        service = so.plan(problem(lengths=lengths))
        self.assertEqual((service.problem.isl, service.problem.osl), (1587, 500))
        self.assertEqual(service.problem.longest_request, 4596)
        self.assertNotEqual(service.found, so.plan(problem(isl=1587, osl=500)).found)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "service.json")
            service.to_json(path)
            again = so.Service.from_json(path)
            self.assertEqual(again.problem.lengths, lengths)
            self.assertEqual(again.found, service.found)
            code, out, err = run("plan", LLAMA, "--machine", "h200_sxm", "--devices", 4, "--engine",
                                 "vllm", "--tpot", 40, "--isl", "4096:0.3,512:0.7", "--osl", 500, "--json")
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(json.loads(out)["report"][service.mode], service.found)

    def test_what_is_no_distribution(self):
        for words, why in [
            (("--isl", "512:0.5,64:0.4", "--osl", 9), "the shares of 'isl' sum to 0.9, expected 1"),
            (("--isl", "0:1", "--osl", 9), "'isl' of the lengths has 0, expected tokens from 1"),
            (("--isl", "x:1", "--osl", 9), "'isl' has 'x:1', expected tokens and their share"),
            (("--isl", "512:1"), "'isl' and 'osl' go together, and 'osl' is missing"),
        ]:
            code, out, err = run("plan", LLAMA, "--devices", 4, *words)
            with self.subTest(why):
                self.assertEqual((code, out, len(err.splitlines())), (2, "", 1))
                self.assertIn(why, err)
        with self.assertRaisesRegex(so.ShardoptError, "'isl' is 7, and that of 'lengths' 1587"):
            problem(isl=7, lengths=((4096, 500, 0.3), (512, 500, 0.7)))

    def test_intervals_keep_the_means(self):
        requests = drawn(2000, 1)
        lengths = lengths_of(requests)
        self.assertLess(len(lengths), 100)
        isl = sum(each.isl for each in requests) / len(requests)
        self.assertEqual(mean_lengths(lengths)[0], round(isl))
        square = sum(each.isl ** 2 for each in requests) / len(requests)
        kept = sum(share * tokens ** 2 for tokens, _, share in lengths)
        self.assertLess(abs(kept / square - 1), 0.02)


class TraceTest(unittest.TestCase):
    def test_the_plan_has_the_highest_goodput_of_those_replayed(self):
        requests = drawn(600, 4)
        asked = problem(**so.load_of_requests(requests))
        self.assertGreater(asked.prefix_cache_hit_rate, 0.3)
        service = so.plan_for_requests(asked, requests)
        trace = service.report["trace"]
        goodputs = [row["goodput_requests_per_s"] for row in trace["plans"]]
        chosen = goodputs[trace["chosen"]]
        self.assertGreaterEqual(chosen * 1.001, max(goodputs))
        self.assertEqual(so.replay(service, requests).goodput, chosen)
        means = trace["plan_for_means"]["goodput_requests_per_s"]
        self.assertAlmostEqual(trace["plan_for_means_loses"], 1 - means / chosen)
        self.assertIn("the plan for mean lengths", service.table)
        self.assertEqual(so.plan_for_requests(asked, requests).to_dict(), service.to_dict())

    def test_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder, "trace.csv")
            rows = [",".join(map(str, row)) for row in drawn(50, 4)]
            trace.write_text("\n".join(["arrival_s,isl,osl,cached", *rows]))
            words = ("plan", LLAMA, "--machine", "h200_sxm", "--devices", 4, "--requests", trace)
            code, out, err = run(*words, "--output-dir", folder)
            self.assertEqual((code, err), (0, ""))
            self.assertLessEqual(max(map(len, out.splitlines())), 100)
            code, out, err = run("evaluate", Path(folder, "service.json"))
            self.assertIn("50 of 50 requests replayed", out)
            for more, why in [(("--isl", 9), "'--isl' and '--requests' are given"),
                              (("--robust", "times=1:2"), "'--requests' and '--robust'"),
                              (("--engine", "any"), "is of one engine")]:
                code, out, err = run(*words, *more)
                self.assertEqual((code, out, len(err.splitlines())), (2, "", 1))
                self.assertIn(why, err)
            trace.write_text("isl,osl\n1,2\n")
            code, out, err = run(*words)
            self.assertEqual((code, out, len(err.splitlines())), (2, "", 1))


class GoodputTest(unittest.TestCase):
    def test_more_requests_are_in_time(self):
        usual = so.plan(problem(isl=4000, osl=300, ttft_ms=600))
        service = so.plan(problem(isl=4000, osl=300, ttft_ms=600, objective="goodput"))
        goodput = service.found["goodput_requests_per_s"]
        self.assertTrue(service.proved)
        self.assertLessEqual(goodput, service.metrics.requests_per_s)
        self.assertEqual(service.report["certificate"]["objective"], "goodput_requests_per_s")
        self.assertEqual(so.evaluate_service(service).found, service.found)
        alone = usual.problem.replace(objective="goodput")
        same, _ = so.services.evaluate_roles(
            so.Service(alone, usual.report, usual.mode), so.services.given_roles(usual)
        )
        self.assertLessEqual(same[usual.mode]["goodput_requests_per_s"], goodput * (1 + 1e-9))
        self.assertIn("within both SLOs", service.table)

    def test_what_has_no_goodput(self):
        words = ("plan", LLAMA, "--devices", 4, "--isl", 1000, "--osl", 100, "--objective", "goodput")
        for more, why in [(("--requests-per-s", 1), "expected no request rate"),
                          (("--tpot", "30@p90"), "expected SLOs without percentiles"),
                          (("--robust", "times=1:2"), "expected no request rate and no goodput")]:
            code, out, err = run(*words, *more)
            with self.subTest(why):
                self.assertEqual((code, out, len(err.splitlines())), (2, "", 1))
                self.assertIn(why, err)


class RobustTest(unittest.TestCase):
    def test_the_worst_share_is_told(self):
        asked = problem(isl=4000, osl=300)
        bands = {"prefix_cache_hit_rate": (0, 0.9), "times": (0.8, 1.3)}
        service = so.plan_robust(asked, bands)
        robust = service.report["robust"]
        self.assertEqual(len(robust["scenarios"]), 5)
        self.assertTrue(service.proved)
        shares = [one["plan_requests_per_s"] / one["optimum_requests_per_s"]
                  for one in robust["scenarios"]]
        self.assertAlmostEqual(min(shares), robust["worst_share_of_optimum"])
        self.assertLessEqual(robust["worst_share_of_usual_plan"], min(shares) * (1 + 1e-9))
        best = so.plan(asked)
        self.assertAlmostEqual(robust["scenarios"][0]["optimum_requests_per_s"],
                               best.metrics.requests_per_s)
        self.assertEqual(so.evaluate_service(service).found, service.found)
        self.assertIn("the worst of 5 scenarios", service.table)

    def test_what_is_no_band(self):
        words = ("plan", LLAMA, "--devices", 4, "--isl", 1000, "--osl", 100, "--engine", "vllm")
        for more, why in [
            (("--robust",), "is no band, expected a name and two numbers"),
            (("--robust", "times=1"), "is no band, expected a name and two numbers"),
            (("--robust", "times=2:1"), "the band of 'times' is from 2 to 1"),
            (("--robust", "hits=0:1"), "unknown band 'hits', nor is it a constant"),
            (("--robust", "times=1:2", "--requests-per-s", 1), "expected no request rate"),
            (("--robust", "times=1:9", "--tpot", 40), "meets the SLOs with times 9"),
        ]:
            code, out, err = run(*words, *more)
            with self.subTest(why):
                self.assertEqual((code, out, len(err.splitlines())), (2, "", 1))
                self.assertIn(why, err)


if __name__ == "__main__":
    unittest.main()
