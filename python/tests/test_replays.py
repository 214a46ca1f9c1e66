"""Traces of requests: how they are read, and what services attain on them."""

import contextlib
import io
import json
import random
import statistics
import tempfile
import unittest
from pathlib import Path

import shardopt as so
from shardopt.cli import main
from shardopt.deployments import deployment_of
from shardopt.replays import spread_of

ROOT = Path(__file__).resolve().parents[2]
LLAMA = ROOT / "examples/configs/llama-3.1-70b.json"


def planned(**others):
    model = so.load_model(LLAMA)
    asked = {"isl": 2000, "osl": 200, "tpot_ms": 40, "ttft_ms": 2000, **others}
    return so.plan(so.Problem(model, machine="h200_sxm", devices=8, engine="vllm", **asked))


def drawn(count, rate, seed=1):
    """Poisson arrivals, and lengths around those of the plan."""
    rng, now, requests = random.Random(seed), 0.0, []
    for _ in range(count):
        requests.append(so.Request(now, rng.randint(1000, 3000), rng.randint(100, 300)))
        now += rng.expovariate(rate)
    return requests


class ReadingTest(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "trace")
            path.write_text(text)
            try:
                return so.read_requests(path)
            except so.ShardoptError as error:
                raise so.ShardoptError(str(error).replace(str(path), "trace")) from None

    def test_formats(self):
        wanted = [so.Request(0, 100, 10), so.Request(1.5, 2000, 20)]
        for text in (
            "arrival_s,isl,osl\n3,100,10\n4.5,2000,20\n",
            "osl,arrival_s,other,isl\n20,4.5,x,2000\n10,3,y,100\n\n",
            "arrival_s,isl,osl,other\n3,1e2,10,-1\n4.50,2000.0,20,0",
            'arrival_s,isl,osl\r\n3,"100",10\r\n\r\n 4.5, 2000,+20\r\n',
            "TIMESTAMP,ContextTokens,GeneratedTokens\n"
            "2023-11-16 18:15:46.0000000,100,10\n2023-11-16 18:15:47.5000000,2000,20\n",
            "Timestamp,Model,Request tokens,Response tokens\n3,GPT-4,100,10\n4.5,GPT-4,2000,20\n",
            '{"timestamp": 0, "input_length": 100, "output_length": 10}\n\n'
            '{"timestamp": 1500, "input_length": 2000, "output_length": 20}\n',
        ):
            with self.subTest(text):
                self.assertEqual(self.read(text), wanted)

    def test_cached_prefixes(self):
        self.assertEqual(self.read("arrival_s,isl,osl,cached\n0,100,10,60\n")[0].cached, 60)
        rows = [[1, 2, 3], [1, 2, 4], [5, 2], [1, 2, 3]]
        lines = [
            json.dumps({"timestamp": i, "input_length": 1400, "output_length": 1, "hash_ids": ids})
            for i, ids in enumerate(rows)
        ]
        cached = [request.cached for request in self.read("\n".join(lines))]
        self.assertEqual(cached, [0, 1024, 0, 1399])  # one token is always computed

    def test_errors_have_a_place(self):
        for text, why in [
            ("", "trace:1: the columns are '', expected arrival_s, isl, osl"),
            ("isl,osl\n1,2\n", "trace:1: the columns are 'isl, osl', expected arrival_s"),
            ("arrival_s,isl,osl\n", "trace: no requests"),
            ("arrival_s,isl,osl\n0,1,1\n0,1\n", "trace:3: 2 fields, expected 3"),
            ("arrival_s,isl,osl\n-1,1,1\n", "trace:2: 'arrival_s' is -1, expected seconds"),
            ("arrival_s,isl,osl\nnan,1,1\n", "trace:2: 'arrival_s' is nan"),
            ("arrival_s,isl,osl\n0,0,1\n", "trace:2: 'isl' is 0, expected tokens from 1"),
            ("arrival_s,isl,osl\n0,1,1e9\n", "trace:2: 'osl' is 1e\\+09, expected tokens"),
            ("arrival_s,isl,osl\n0,x,1\n", "trace:2: '0,x,1', expected numbers"),
            ("arrival_s,isl,osl,cached\n0,8,1,8\n", "trace:2: 'cached' is 8, expected tokens"),
            ('{"timestamp": 1}\n', "trace:1: no 'input_length', expected timestamp"),
            ('{"timestamp": 1, "input_length": "x", "output_length": 1}', "trace:1: 'input_length'"),
            ('{"timestamp": 0, "input_length": 9, "output_length": 1, "hash_ids": [[]]}', "ids"),
            ("{]\n", "trace:1: "),
            ('arrival_s,isl,osl\n0,"' + 200_000 * "1" + '",1\n', "trace: field larger"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(so.ShardoptError, why):
                self.read(text)

    def test_percentiles_are_of_the_nearest_rank(self):
        self.assertEqual(spread_of(range(1, 101)), (50.5, 50, 90, 99))
        self.assertEqual(spread_of([7.0]), (7, 7, 7, 7))


class ReplayTest(unittest.TestCase):
    def test_requests_in_flight_take_what_the_plan_says(self):
        for mode in ("aggregated", "disaggregated"):
            service = planned(mode=mode)
            flying = int(service.metrics.in_flight)
            found = so.replay(service, drawn(8 * flying, 1), concurrency=flying)
            steady = slice(2 * flying, 7 * flying)  # without the first and the last
            with self.subTest(mode):
                tpot = statistics.mean(found.tpot_ms[steady])
                self.assertLess(abs(tpot / service.metrics.tpot.mean - 1), 0.1)
                rate = found.requests_per_s / service.metrics.requests_per_s
                self.assertLess(abs(rate - 1), 0.2)
                self.assertIsNone(found.offered_requests_per_s)

    def test_goodput_is_a_share_of_what_arrives(self):
        service = planned()
        most = service.metrics.requests_per_s
        for share in (0.3, 0.8, 3):
            found = so.replay(service, drawn(400, share * most))
            said = found.to_dict()
            with self.subTest(share):
                self.assertLessEqual(found.goodput, found.requests_per_s)
                self.assertLessEqual(found.requests_per_s, 1.1 * most)
                self.assertEqual(said["within_slos"] > 0.9, share < 1)
                self.assertEqual(said["ttft_ms"]["p99"], found.ttft.p99)
                # Without ramp and drain what arrives is served, or what can be.
                steady, offered = said["steady_requests_per_s"], said["offered_requests_per_s"]
                self.assertGreater(steady, found.requests_per_s)
                self.assertLess(abs(steady / min(offered, most) - 1), 0.1)
                self.assertEqual(said, so.replay(service, drawn(400, share * most)).to_dict())
        self.assertEqual(len(found.rows()), 400)
        cached = [request._replace(cached=900) for request in drawn(400, most)]
        self.assertLess(so.replay(service, cached).ttft.mean,
                        so.replay(service, drawn(400, most)).ttft.mean)

    def test_what_cannot_be_replayed(self):
        service = planned()
        one = so.Request(0, 2000, 200)
        for requests, options, why in [
            ([], {}, "0 requests, expected"),
            ([one._replace(arrival_s=1), one], {}, "not in order of arrival"),
            ([one], {"concurrency": 2}, "'concurrency' is 2, expected a number from 1 to the 1"),
            ([one._replace(isl=1e8)], {}, "1 request, each of more than the 131072 tokens"),
            ([one._replace(isl=0)], {}, "'isl' is 0"),
        ]:
            with self.subTest(why), self.assertRaisesRegex(so.ShardoptError, why):
                so.replay(service, requests, **options)
        with self.assertRaisesRegex(so.ShardoptError, "expected a Service"):
            so.replay("service", [one])

    def test_what_servers_refuse_is_outside_of_the_slos(self):
        service = planned()
        deployment = deployment_of(service)
        fitting = drawn(100, service.metrics.requests_per_s / 2)
        longest = so.Request(fitting[-1].arrival_s, deployment.max_length - 200, 200)
        served = so.replay(service, [*fitting, longest])
        self.assertEqual((served.refused, served.longest), (0, deployment.max_length))
        refused = longest._replace(isl=longest.isl + 1)
        found = so.replay(service, [*fitting, refused])
        without = so.replay(service, fitting)
        self.assertTrue(without.met and not found.met)
        self.assertEqual((found.refused, found.ttft_ms), (1, without.ttft_ms))
        self.assertAlmostEqual(found.within, without.within * 100 / 101)
        self.assertIn("1 more request, which servers of at most 131072 tokens refuse", found.table)

    def test_the_command(self):
        def run(*words):
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(list(map(str, words)))
            return code, out.getvalue(), err.getvalue()

        with tempfile.TemporaryDirectory() as folder:
            plan, trace = Path(folder, "service.json"), Path(folder, "trace.csv")
            service = planned()
            service.to_json(plan)
            rows = drawn(50, service.metrics.requests_per_s / 2)
            lines = [",".join(map(str, row[:3])) for row in rows]
            trace.write_text("\n".join(["arrival_s,isl,osl", *lines]))
            code, out, err = run("evaluate", plan, "--requests", trace)
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(out, so.replay(service, so.read_requests(trace)).table)
            self.assertLessEqual(max(map(len, out.splitlines())), 100)
            code, out, err = run("evaluate", plan, "--requests", trace, "--json")
            self.assertEqual(json.loads(out)["requests"], 50)
            # More than the service serves in a second, within a second.
            rows = drawn(200, 40 * service.metrics.requests_per_s)
            lines = [",".join(map(str, row[:3])) for row in rows]
            trace.write_text("\n".join(["arrival_s,isl,osl", *lines]))
            code, out, err = run("evaluate", plan, "--requests", trace)
            self.assertEqual((code, err), (1, ""))
            self.assertRegex(out, "TTFT, ms +2000  mean .*  NOT MET\n")
            trace.write_text("x\n1\n")
            code, out, err = run("evaluate", plan, "--requests", trace)
            self.assertEqual((code, out, len(err.splitlines())), (2, "", 1))
            phase = Path(folder, "decode.json")
            so.plan(so.Problem(so.load_model(LLAMA, so.Decode(4096)), devices=8)).to_json(phase)
            code, out, err = run("evaluate", phase, "--requests", trace)
            self.assertEqual((code, out), (2, ""))
            self.assertIn("the plan file holds one phase", err)


if __name__ == "__main__":
    unittest.main()
