"""Measurements that decide, and what constants and plans they lead to, on simulated nodes."""

import csv
import dataclasses
import io
import json
import math
import random
import subprocess
import tempfile
import unittest
from pathlib import Path

import shardopt as so
from shardopt import calibration
from shardopt.calibration import Node, fitted, machine_of, propose
from shardopt.measurements import FILE
from shardopt.refits import refit
from shardopt.services import given_role
from commands import run

ROOT = Path(__file__).resolve().parents[2]
LLAMA = ROOT / "examples/configs/llama-3.1-70b.json"


def problem(**others):
    asked = dict(machine="h100_sxm", devices=8, isl=4096, osl=512, tpot_ms=30, ttft_ms=1000, engine="vllm")
    return so.Problem(so.load_model(LLAMA), **{**asked, **others})


class NodeTest(unittest.TestCase):
    """A node whose constants differ from ours answers what is proposed."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.problem = problem()
        cls.found = propose(cls.problem, most=6)

    def node(self, options):
        path = self.folder / "truth.json"
        path.write_text(json.dumps(fitted(machine_of("h100_sxm"), "vllm", options, "a simulated node")))
        return Node(self.found.study.service.problem, "vllm", str(path))

    def answered(self, node, seed, noise=0.02):
        """The proposed measurements with what a node takes."""
        rng = random.Random(seed)
        return [
            dataclasses.replace(
                each,
                **{name: math.exp(log + rng.gauss(0, noise)) for name, log in node.log_times(each).items()},
            )
            for each in self.found.measurements
        ]

    def test_each_proposal_lowers_what_is_expected_to_be_lost(self):
        found = self.found
        self.assertGreaterEqual(len(found.proposals), 3)
        self.assertGreater(len(found.study.layouts), 1)
        deviations = [found.deviation, *(each.deviation for each in found.proposals)]
        self.assertEqual(deviations, sorted(deviations, reverse=True))
        self.assertLess(deviations[-1], 0.8 * deviations[0])
        self.assertLessEqual(found.proposals[-1].regret, found.regret)
        self.assertEqual(propose(self.problem, most=2).rows(), found.rows()[:2])

    def test_regret_falls_and_bands_tighten_on_nodes_that_differ(self):
        constants = self.found.study.constants
        before, after, widths, errors = [], [], [], []
        for seed in range(3):
            rng = random.Random(seed)
            shifts = [rng.gauss(0, 2 * each) for each in constants.deviations]
            node = self.node(constants.at(shifts))
            fit = refit(self.problem, self.answered(node, seed))
            best = max(
                filter(None, (node.worth(each.roles) for each in self.found.study.layouts))
            )
            old = node.worth(self.found.study.layouts[0].roles)
            new = node.worth({role.name: given_role(role) for role in fit.service.roles})
            before.append(best - old)
            after.append(best - new)
            low, high = fit.bands["tpot_ms"]
            less, more = fit.shipped["tpot_ms"]
            widths.append(math.log(high / low) / math.log(more / less))
            errors.append(fit.errors["tpot_ms"])
            self.assertLess(fit.regret[1], fit.regret[0] + 1e-3)
            self.assertLess(fit.deviation[1], fit.deviation[0])
        self.assertLessEqual(sum(after), sum(before) + 1e-3, (before, after))
        self.assertLess(max(widths), 1, widths)
        first, last = map(sum, zip(*errors))
        self.assertLess(last, first / 2, errors)

    def test_the_file_is_a_machine_of_every_verb(self):
        constants = self.found.study.constants
        truth = {"memory_scale": 0.85, "launch_us": 900.0}
        fit = refit(self.problem, self.answered(self.node(truth), 1))
        self.assertLess(fit.constants["memory_scale"], 1)
        self.assertGreater(fit.constants["launch_us"], constants.values["launch_us"])
        path = self.folder / "mine.json"
        path.write_text(fit.machine_text())
        planned = so.plan(self.problem.replace(machine=str(path)))
        self.assertEqual(planned.metrics, fit.service.metrics)
        self.assertGreater(planned.metrics.tpot_ms / so.plan(self.problem).metrics.tpot_ms, 1 / 2)
        planned.to_json(self.folder / "service.json")
        self.assertEqual(so.evaluate_service(so.Service.from_json(self.folder / "service.json")).report,
                         planned.report)
        low, high = fit.bands["tpot_ms"]
        self.assertAlmostEqual(planned.metrics.tpot.low / planned.metrics.tpot.mean, low, 2)
        self.assertAlmostEqual(planned.metrics.tpot.high / planned.metrics.tpot.mean, high, 2)
        # It is where the next calibration begins.
        known = calibration.native().engine_constants("vllm", str(path))
        self.assertAlmostEqual(known["memory_scale"], fit.constants["memory_scale"], 3)

    def test_a_measurement_that_is_ten_times_off_is_named_and_left_out(self):
        measured = self.answered(self.node({}), 1)
        wrong = dataclasses.replace(measured[1], tpot_ms=14 * measured[1].tpot_ms)
        fit = refit(self.problem, [measured[0], wrong, *measured[2:]])
        (named, why), = fit.left_out
        self.assertEqual(named, wrong)
        self.assertRegex(why, "TPOT is .* ms, 1[345] times off the others")
        self.assertAlmostEqual(fit.constants["memory_scale"], 1, 1)

    def test_the_command(self):
        place, fitted_at = self.folder / "node", self.folder / "fitted"
        words = ["calibrate", LLAMA, "--machine", "h100_sxm", "--devices", 8, "--isl", 4096, "--osl", 512,
                 "--tpot", 30, "--ttft", 1000, "--engine", "vllm"]
        code, out, err = run(*words, "--measurements", 2, "--output-dir", place)
        self.assertEqual((code, err), (0, ""), out)
        script = (place / "measure.sh").read_text()
        self.assertEqual(subprocess.run(["sh", "-n", place / "measure.sh"]).returncode, 0)
        self.assertEqual(script.count("vllm bench serve"), 2)
        self.assertIn("--result-filename m01.json", script)
        self.assertIn("exec vllm serve", (place / "server-1/serve.sh").read_text())
        rows = list(csv.DictReader(io.StringIO((place / FILE).read_text())))
        self.assertEqual([row["name"] for row in rows], ["m01", "m02"])
        self.assertEqual(run(*words, "--answers", place)[0], 2)  # nobody measured
        for row in rows:
            (place / "results").mkdir(exist_ok=True)
            value = {"mean_tpot_ms": 24.0, "mean_ttft_ms": 400.0}
            (place / f"results/{row['name']}.json").write_text(json.dumps(value))
        code, out, err = run(*words, "--answers", place, "--output-dir", fitted_at)
        self.assertEqual((code, err), (0, ""), out)
        self.assertIn("fitted/machine.json", out)
        self.assertTrue((fitted_at / "machine.json").is_file())
        code, out, err = run("evaluate", fitted_at / "service.json", "--json")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(json.loads(out)["problem"]["machine"], str(fitted_at / "machine.json"))
        said = json.loads((fitted_at / "machine.json").read_text())["calibration"]["data"]
        self.assertEqual(said, "2 measurements of llama-3.1-70b, vllm")

    def test_bad_questions(self):
        for others, why in [
            ({"prefill_machine": "h200_sxm"}, "'prefill_machine' is 'h200_sxm', expected none"),
            ({"isl": None, "osl": None, "lengths": [(4096, 512, 0.5), (100, 10, 0.5)]}, "'lengths' are given"),
            ({"engine": "none"}, "no engine runs, expected an engine"),
        ]:
            with self.subTest(others), self.assertRaisesRegex(so.ShardoptError, why):
                propose(problem(**others))
        far = self.found.measurements[0]
        with self.assertRaisesRegex(so.ShardoptError, "no measurement can be used: m01: "):
            refit(self.problem, [dataclasses.replace(far, concurrency=10**8, layout=(
                ("tp", 1), ("dp", 1), ("ep", 1), ("pp", 1)))])


if __name__ == "__main__":
    unittest.main()
