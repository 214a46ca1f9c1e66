"""Services: one plan file, and one set of numbers in every verb."""

import dataclasses
import json
import math
import os
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import shardopt as so
from shardopt import deployments
from shardopt._tools import run_tool
from shardopt.deployments.service import Deployment
from shardopt.engine_table import table
from shardopt.models import parameters_of
from shardopt.service_advice import advised, retyped
from shardopt.service_tables import three
from shardopt.services import evaluate_service, most_of
from commands import run

ROOT = Path(__file__).resolve().parents[2]
MOE = ROOT / "examples/models/small-moe.json"
LLAMA = ROOT / "examples/configs/llama-3.1-70b.json"
OLD = Path(__file__).with_name("plans_of_version_1.json")


def small(**others):
    asked = {"devices": 4, "isl": 16, "osl": 8, "tpot_ms": 30, "ttft_ms": 1000, "engine": "vllm"}
    return so.Problem(so.load_model(MOE), **{**asked, **others})


def loaded(**others):
    """A toy alone has plans of thousands of requests, which take their time."""
    return small(concurrency=64, **others)


def llama(**others):
    asked = dict(
        machine="h100_sxm", devices=8, isl=4096, osl=512, tpot_ms=30, ttft_ms=1000, engine="vllm"
    )
    return so.Problem(so.load_model(LLAMA), **{**asked, **others})


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def kept(self, service):
        path = self.folder / "service.json"
        service.to_json(path)
        return path


class ServiceTest(FolderTest):
    def test_the_pass_says_the_same(self):
        module, report = self.folder / "m.mlir", self.folder / "report.json"
        for mode in ("best", "disaggregated"):
            problem = llama(engine=None, mode=mode)
            module.write_text(problem.model.mlir)
            options = f"machine=h100_sxm devices=8 isl=4096 osl=512 tpot-ms=30 ttft-ms=1000 mode={mode}"
            done = run_tool(
                "shard-opt",
                [str(module), f"--llm-plan-serving={options} report={report}", "-o", os.devnull],
                str(self.folder),
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            said = json.loads(report.read_text())
            planned = so.plan(problem).report
            self.assertEqual(set(said) - {"model"}, set(planned) - {"model"})
            self.assertEqual("dims" in planned["disaggregated"]["prefill"], mode != "best")
            for name in ("requests", "mode", "certificate", "aggregated", "disaggregated"):
                self.assertEqual(said[name], planned[name], name)

    def test_size_says_the_most_that_its_gpus_serve(self):
        alone = so.plan(llama())
        most = most_of(alone)
        self.assertAlmostEqual(most, alone.metrics.requests_per_s)
        same = dataclasses.replace(alone, problem=llama(rate=most / 2))
        self.assertEqual(most_of(same), most)
        code, out, _ = run("size", LLAMA, "--machine", "h100_sxm", "--isl", 4096, "--osl", 512, "--quiet",
                           "--tpot", 30, "--ttft", 1000, "--requests-per-s", most / 2)
        self.assertEqual(code, 0)
        [said] = re.findall(r"within the SLOs \(maximum ([0-9.]+) req/s\)\. Fewer do not", out)
        self.assertGreater(float(said), most / 2)

    def test_services_are_pinned_sized_and_evaluated(self):
        pins = {"tp": 4, "decode.workers": [1, 2]}
        problem = llama(pins=pins, mode="disaggregated")
        planned = so.plan(problem)
        service, found = planned.report, planned.report["disaggregated"]
        self.assertEqual((found["prefill"]["tp"], found["decode"]["tp"]), (4, 4))
        planned.to_json(self.folder / "pinned.json")
        again = so.Service.from_json(self.folder / "pinned.json")
        self.assertEqual((again.problem.pins, again.report), (pins, service))
        for pins, why in [
            ({"tp": 3}, "'tp' is pinned to 3, which no worker has: expected 1, 2, 4 or 8"),
            ({"x.tp": 3}, "unknown role in the pin 'x.tp'"),
            ({"serve.batch": 3}, "unknown pin 'serve.batch'"),
            ({"tp": []}, "'tp' is ''"), ({"serve.tp": "\n"}, "'serve.tp' is"),
        ]:
            with self.subTest(pins), self.assertRaisesRegex(so.ShardoptError, why):
                so.plan(llama(pins=pins))
        # A plan that is evaluated again has the same digits.
        handle = problem.handle
        names = ("tp", "dp", "ep", "pp", "cp", "exchange", "workers")
        settings = {
            "requests": problem.requests, "devices": 8, "engine": service["engine"],
            "roles": {
                role: {name: found[role][name] for name in names} for role in ("prefill", "decode")
            },
            "concurrency": found["concurrency"],
        }
        _, text, why = handle.evaluate_service(settings)
        again = json.loads(text)
        self.assertEqual((again["disaggregated"], again["breaks"], why), (found, [], None))
        # The size of what a plan serves is no more than it has.
        rate = {**problem.requests, "rate": found["requests_per_s"] * 0.99}
        _, text, why = handle.size_service({"requests": rate, "engine": service["engine"]})
        self.assertLessEqual(json.loads(text)["size"]["devices"], 8)
        text, why = handle.service_frontier({"requests": problem.requests, "devices": 8})
        self.assertGreater(len(json.loads(text)["points"]), 3)
        self.assertIsNone(why)
        advice = json.loads(handle.advise_service({"requests": problem.requests, "devices": 8}))
        self.assertIn(advice["binding"], ("tpot_ms", "ttft_ms", "memory"))
        _, text, why = handle.evaluate_service(
            {**settings, "roles": {"serve": {"tp": 8, "dims": [0]}}, "concurrency": 1}
        )
        self.assertIn("1 dims, expected one for each of 9 ops", why)
        for roles, why in [
            ({}, "the roles are ''"), ({"serve": {"x": 1}}, "unknown 'serve.x'"),
            ({"serve": {"tp": "x"}}, "'serve.tp' is x"), ({"serve": {"workers": 0}}, "from 1 to"),
            ({"serve": {"dims": "x"}}, "'serve.dims' is x, expected a list"),
            ({"serve": {"dims": [1000]}}, "'serve.dims' has 1000, which is no dim"),
        ]:
            with self.subTest(roles), self.assertRaisesRegex(ValueError, why):
                handle.evaluate_service({**settings, "roles": roles})

    def test_a_service_meets_its_slos_and_is_the_best_of_both_modes(self):
        problem = llama()
        service = so.plan(problem)
        self.assertIsInstance(service, so.Service)
        self.assertTrue(service.proved)
        for slo, target in zip(service.slos, (30, 1000)):
            self.assertEqual((slo.statistic, slo.target_ms, slo.met), ("mean", target, True))
            self.assertLessEqual(slo.attained.p50, slo.attained.p90)
        metrics = service.metrics
        self.assertAlmostEqual(metrics.tokens_per_s_per_user, 1e3 / metrics.tpot_ms)
        self.assertAlmostEqual(
            metrics.tokens_per_s_per_gpu, metrics.requests_per_s * 512 / service.gpus_available
        )
        self.assertEqual(metrics.gpus, sum(role.gpus for role in service.roles))
        other = service.other
        self.assertGreaterEqual(metrics.tokens_per_s_per_gpu, other.metrics.tokens_per_s_per_gpu)
        self.assertNotEqual(other.mode, service.mode)
        self.assertEqual(other.other, service)
        # Less is asked than there is.
        calm = so.plan(problem.replace(rate=metrics.requests_per_s / 4))
        self.assertLess(calm.metrics.gpus, metrics.gpus)
        # What a cache has is not prefilled, and drafts make tokens.
        for found in ({"prefix_cache_hit_rate": 0.6}, {"draft_tokens": 2, "accepted_tokens": 1.5}):
            richer = so.plan(problem.replace(**found)).metrics
            self.assertGreater(richer.tokens_per_s_per_gpu, metrics.tokens_per_s_per_gpu)

    def test_an_slo_on_a_percentile(self):
        service = so.plan(llama(ttft_percentile=50))
        slo = service.slos[1]
        self.assertEqual((slo.statistic, slo.attained_ms), ("p50", slo.attained.p50))
        self.assertTrue(slo.met and slo.above)
        self.assertIn(f"met, {' and '.join(slo.above)} above it", service.table)
        free = so.plan(llama().replace(tpot_ms=math.inf))
        self.assertTrue(math.isinf(free.slos[0].target_ms) and free.slos[0].met)
        self.assertIn("TPOT, ms    none", free.table)
        usual = so.plan(llama().replace(tpot_ms=None, ttft_ms=None))
        self.assertEqual([slo.target_ms for slo in usual.slos], [50, 2000])

    def test_roles_have_strategies_of_their_engine(self):
        service = so.plan(llama(mode="disaggregated"))
        self.assertEqual([role.name for role in service.roles], ["prefill", "decode"])
        handle = service.problem.handle
        for role in service.roles:
            numbers = role.strategy.numbers()
            self.assertIsNone(handle.why_not_run(service.engine, numbers))
            dims = [dim for _, dim in role.strategy.dims]
            self.assertEqual(dims, handle.engine_dims(service.engine, numbers))
        # The phase evaluator has the same memory for weights.
        for phase in ("prefill", "decode"):
            memory = service.phase_plan(phase).memory
            self.assertAlmostEqual(memory["weights"], service.role(phase).memory["weights"])
        with self.assertRaisesRegex(so.ShardoptError, "no role 'serve'; known: decode"):
            service.role("serve")

    def test_two_machines(self):
        like = self.folder / "like.json"
        text = (ROOT / "machines/h200_sxm.json").read_text()
        like.write_text(text.replace('"h200_sxm"', '"h100_sxm"'))
        for decode, prefill, shown in [
            ("h200_sxm", "h100_sxm", "4 GPUs of h200_sxm and 4 of h100_sxm"),
            ("h100_sxm", str(like), f"4 GPUs of h100_sxm and 4 of {like}"),
        ]:
            service = so.plan(
                llama(mode="disaggregated").replace(
                    machine=decode, devices=4, prefill_machine=prefill, prefill_devices=4
                )
            )
            self.assertIn(shown, service.table)
            self.assertEqual(service.phase_plan("prefill").problem.machine, prefill)
            self.assertEqual(service.phase_plan("decode").problem.machine, decode)
            path = self.kept(service)
            again = so.read_plan(path)
            self.assertEqual(again.to_dict(), service.to_dict())
            self.assertEqual(so.plan(again.problem), service)
            values = json.loads(path.read_text())
            self.assertEqual(list(values["other_machines"]), [prefill])
            values["other_machines"][prefill]["memory"]["capacity_bytes"] = 1e9
            path.write_text(json.dumps(values))
            with self.assertRaisesRegex(so.ShardoptError, f"'{prefill}' is no longer"):
                so.Service.from_json(path)
            del values["other_machines"]
            path.write_text(json.dumps(values))
            with self.assertRaisesRegex(so.ShardoptError, "/other_machines/.*missing"):
                so.Service.from_json(path)
            values["other_machines"] = 3
            path.write_text(json.dumps(values))
            with self.assertRaisesRegex(so.ShardoptError, "/other_machines: expected"):
                so.Service.from_json(path)

    def test_engines_are_compared(self):
        best = so.plan(loaded(engine="any"))
        alone = [so.plan(loaded(engine=engine)) for engine in ("vllm", "sglang", "trtllm")]
        self.assertIn(best.metrics, [service.metrics for service in alone])
        rows = {row["engine"]: row for row in best.report["engines"]}
        for service in alone:
            row, metrics = rows[service.engine], service.metrics
            self.assertEqual(
                (row["mode"], row["devices"], row["tokens_per_s_per_device"], row["tpot_ms"]),
                (service.mode, metrics.gpus, metrics.tokens_per_s_per_gpu, metrics.tpot_ms),
            )
            self.assertLessEqual(
                metrics.tokens_per_s_per_gpu, best.metrics.tokens_per_s_per_gpu
            )
        self.assertIn("recommended", best.table)
        for engine, row in rows.items():
            # The rules of the planner and the flags of exports are of one version.
            self.assertEqual(row["engine_version"], table()[engine]["versions"][-1])
        front = so.pareto(loaded(engine="any"), step=0.5)
        self.assertEqual(front[0].metrics, best.metrics)
        self.assertLessEqual({each.engine for each in front}, set(table()))

    def test_any_takes_an_engine_whose_service_can_be_exported(self):
        asked = so.Problem(so.load_model("deepseek-v3"), "h100_sxm", devices=16, isl=1000, osl=1000,
                           engine="any")
        free = so.plan(asked)
        self.assertEqual(free.engine, free.report["engines"][0]["engine"])
        check = Deployment.check

        def refuse(deployment):
            if deployment.engine == free.engine:
                raise so.Inexpressible("it is refused", ["serve: it is refused"], None)
            check(deployment)

        with mock.patch.object(Deployment, "check", refuse):
            service = so.plan(asked)
            self.assertIsNone(deployments.why_not_exported(service))
        best = service.report["engines"][0]
        self.assertEqual((best["engine"], best["why_not_exported"]),
                         (free.engine, "serve: it is refused"))
        self.assertIn("not exported: serve: it is refused", " ".join(service.table.split()))
        self.assertNotEqual(service.engine, free.engine)
        self.assertEqual(so.read_plan(self.kept(service)), service)
        # Its checkpoint is fp8 already.
        self.assertIsNone(retyped(asked, "weight_type", "fp8"))

    def test_lines_of_requests_add_up(self):
        service = so.plan(llama(mode="disaggregated"))
        load = " ".join(service.table.split("\n  load ")[1].split("\n  decode step")[0].split())
        found = re.fullmatch(
            r"(\S+) requests in flight on .*: (\S+) prefill \(\d+% busy\), (\S+) decode, (\S+) sent or waiting",
            load,
        )
        self.assertIsNotNone(found, load)
        total, *parts = map(float, found.groups())
        self.assertAlmostEqual(total, sum(parts), delta=0.2)
        busy = llama(mode="disaggregated", ttft_ms=100000, tpot_ms=1000)
        self.assertIn("equal in the model (TPOT, TTFT)", so.plan(busy).table)
        self.assertNotIn("equal in the model", so.plan(llama(mode="aggregated")).table)

    def test_a_toy_is_not_among_the_measured_models(self):
        self.assertIn("fitted to no run of small-moe", so.plan(small()).table)
        self.assertIn("fitted to measured runs of", so.plan(llama(mode="aggregated")).table)

    def test_why_there_is_none(self):
        with self.assertRaises(so.Infeasible) as caught:
            so.plan(llama(rate=20))
        error = caught.exception
        self.assertEqual(error.binding["kind"], "rate")
        fewest = error.next_feasible["change"]["to"]
        self.assertIn(f"{fewest} GPUs would do", error.table)
        self.assertEqual(so.plan(llama(rate=20).replace(devices=fewest)).metrics.gpus, fewest)
        # Of SLOs, too, beyond 64 GPUs: a domain less does not do.
        busy = llama(concurrency=800).replace(devices=64)
        with self.assertRaises(so.Infeasible) as caught:
            so.plan(busy)
        fewest = caught.exception.next_feasible["change"]["to"]
        self.assertGreater(fewest, 64)
        so.plan(busy.replace(devices=fewest))
        with self.assertRaises(so.Infeasible):
            so.plan(busy.replace(devices=fewest - 8))
        for limits, kind, key in [
            ({"tpot_ms": 6}, "tpot", "nearest_tpot_ms"), ({"ttft_ms": 20}, "ttft", "nearest_ttft_ms"),
            ({"rate": 3.2}, "rate", "nearest_tpot_ms"), ({"rate": 3.2}, "rate", "nearest_ttft_ms"),
        ]:
            problem = llama().replace(**limits)
            with self.assertRaises(so.Infeasible) as caught:
                so.plan(problem)
            shortage = caught.exception.report["service"]["infeasible"]
            nearest = shortage[key]
            self.assertEqual(shortage["binding"], kind)
            self.assertIn(f"of {three(nearest)} ms", caught.exception.table)
            name = key.removeprefix("nearest_")
            self.assertTrue(so.plan(problem.replace(**{name: nearest * (1 + 1e-9)})).slos[0].met)
            with self.assertRaises(so.Infeasible):
                so.plan(problem.replace(**{name: nearest * 0.98}))
        with self.assertRaises(so.Infeasible) as caught:
            so.plan(llama().replace(devices=1))
        error = caught.exception
        self.assertEqual(error.binding["kind"], "memory")
        fewest = error.next_feasible["change"]["to"]
        so.plan(llama().replace(devices=fewest))

    def test_what_would_help(self):
        service = advised(so.plan(llama()))
        self.assertIn("would help", service.table)
        options = {option["what"]: option for option in service.report["advice"]["options"]}
        self.assertLessEqual(
            {"tpot_ms", "ttft_ms", "devices", "machine", "engine", "weight_type"}, set(options)
        )
        fp8 = so.plan(llama().replace(model=service.problem.model.retyped(weight_type="fp8")))
        self.assertEqual(
            options["weight_type"]["tokens_per_s_per_device"], fp8.metrics.tokens_per_s_per_gpu
        )
        looser = so.plan(llama().replace(ttft_ms=options["ttft_ms"]["value"]))
        self.assertEqual(options["ttft_ms"]["requests_per_s"], looser.metrics.requests_per_s)
        self.assertEqual(so.read_plan(self.kept(service)), service)
        code, out, err = run("plan", LLAMA, "--devices", 8, "--isl", 4096, "--osl", 512, "--tpot",
                             6, "--ttft", 1000, "--advice")
        self.assertEqual(code, 1)
        self.assertIn("would do    a TPOT SLO of", out)

    def test_workers_that_span_domains_are_set_beside_islands(self):
        model = so.load_model(ROOT / "examples/configs/qwen3-235b-a22b.json")
        asked = so.Problem(model, "h200_sxm", devices=16, isl=1000, osl=4000, tpot_ms=30)
        service = so.plan(asked)
        widest = max(role.gpus_each for role in service.roles)
        found = service.report.get("inside_nvlink_domain")
        self.assertEqual(widest > 8, found is not None)
        self.assertIsNotNone(found)
        self.assertLessEqual(
            found["tokens_per_s_per_device"], service.metrics.tokens_per_s_per_gpu
        )
        self.assertIn("workers inside a domain of 8 GPUs reach", service.table)


class FileTest(FolderTest):
    def test_a_file_holds_the_service(self):
        service = so.plan(small(mode="disaggregated"))
        path = self.kept(service)
        again = so.read_plan(path)
        self.assertEqual(again, service)
        self.assertEqual(again.to_dict(), service.to_dict())
        values = json.loads(path.read_text())
        self.assertEqual(list(values["roles"]), ["prefill", "decode"])
        with self.assertRaisesRegex(so.ShardoptError, "expected Service.from_json"):
            so.Plan.from_json(path)
        for changes, message in [
            ({"shardopt_plan": 4}, "is 4, expected 1 .a phase., 2 or 3 .a service."),
            ({"shardopt_plan": True}, "is True, expected 1"),
            ({"report": None}, "/report: missing"),
            ({"mode": "x"}, "no mode 'x'"),
            ({"command": 3}, "/command: expected a list"),
            ({"problem": {**values["problem"], "isl": None, "osl": None}}, "which 'isl' and"),
        ]:
            path.write_text(json.dumps({**values, **changes}))
            with self.subTest(changes), self.assertRaisesRegex(so.ShardoptError, message):
                so.read_plan(path)

    def test_what_is_edited_is_evaluated(self):
        service = so.plan(llama())
        values = service.to_dict()
        found = values["report"][service.mode]
        wrong = json.loads(json.dumps(values))
        wrong["report"][service.mode]["tpot_ms"] = 1.0
        path = self.folder / "service.json"
        path.write_text(json.dumps(wrong))
        self.assertEqual(so.read_plan(path).metrics, service.metrics)
        self.assertFalse(so.read_plan(path).proved)
        # Twice as many requests in flight take longer, and break the SLO.
        wrong["report"][service.mode]["concurrency"] = 2 * found["concurrency"]
        path.write_text(json.dumps(wrong))
        again = so.read_plan(path)
        self.assertEqual(again.metrics.in_flight, 2 * found["concurrency"])
        self.assertFalse(again.slos[0].met)
        self.assertIn("NOT MET", again.table)
        # A worker has no room for its weights.
        wrong["report"][service.mode]["serve"].update(tp=1, workers=8)
        path.write_text(json.dumps(wrong))
        with self.assertRaisesRegex(so.Infeasible, "the service is invalid: .*GB"):
            so.read_plan(path)

    def test_a_page_holds_the_service(self):
        service = so.plan(llama())
        changes = [so.Change("none", service), so.Change("engine sglang", None)]
        path = self.folder / "page.html"
        with mock.patch("shardopt.pages._bundle", return_value=""):
            so.report(service, path, so.Frontier((service, service)), changes)
        self.assertEqual(so.read_plan(path), service)
        text = path.read_text()
        self.assertLess(text.index("tokens/s per GPU"), text.index("<figure"))
        figures = re.findall(r'<figure id="(.*?)">', text)
        self.assertEqual(figures, ["front", "steps", "layer", "memory", "sensitivity"])
        self.assertIn("shardopt export PAGE.html --target shell -o launch", text)
        steps = service.chart("steps")["data"]["values"]
        self.assertAlmostEqual(sum(row["us"] for row in steps), sum(service.step_us.values()))
        with self.assertRaisesRegex(so.ShardoptError, "unknown chart 'sharding' of a service"):
            service.chart("sharding")

    def test_files_of_version_1_hold_the_whole_service(self):
        for name, values in json.loads(OLD.read_text()).items():
            # The parameters of machines are today's: what is tested is the form.
            own = values["problem"].get("machine") or "h100_sxm"
            other = "h200_sxm" if own == "h100_sxm" else "h100_sxm"
            values["machine"] = parameters_of(own)
            values["other_machines"] = {other: parameters_of(other)}
            path = self.folder / f"{name}.json"
            path.write_text(json.dumps(values))
            service = so.read_plan(path)
            self.assertIsInstance(service, so.Service)
            self.assertEqual([role.workers for role in service.roles], [2, 2])
            self.assertEqual(service.roles[0].machine, "h200_sxm")
            self.assertEqual(service.problem.machine_name, "h100_sxm")
            made = deployments.deployment_of(service)
            self.assertEqual([role.name for role in made.roles], ["prefill", "decode"])
            # The phase alone is read as it was.
            phase = so.Plan.from_json(path)
            self.assertEqual((phase.problem.phase, phase.problem.isl), (name, None))
            self.assertEqual(phase.strategy.to_dict(), values["strategy"])
            # And what is kept of it is of today's form.
            self.assertEqual(so.read_plan(self.kept(service)).roles, service.roles)


class ModuleTest(FolderTest):
    def test_a_module_plans_the_service_of_its_config(self):
        service = so.plan(small())
        path = self.folder / "model.mlir"
        path.write_text(so.load_model(MOE, so.Decode(24)).mlir)
        code, out, err = run("plan", path, "--devices", 4, "--isl", 16, "--osl", 8,
                             "--tpot", 30, "--ttft", 1000, "--format", "json")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(json.loads(out)["metrics"], service.metrics.to_dict())

    def test_flags_count_before_what_a_module_says(self):
        path = self.folder / "model.mlir"
        text = so.load_model(MOE, so.Decode(24)).mlir
        said = "#llm.workload<phase = decode, context = 24, isl = 16, osl = 8, tpot_ms = 30>"
        path.write_text(re.sub(r"#llm\.workload<[^>]*>", said, text))
        code, out, err = run("plan", path, "--devices", 4, "--ttft", 1000, "--format", "json")
        self.assertEqual((code, err), (0, ""))
        found = json.loads(out)
        self.assertEqual(found["metrics"], so.plan(small()).metrics.to_dict())
        code, out, err = run("plan", path, "--devices", 4, "--isl", 12, "--format", "json")
        self.assertEqual(code, 0)
        self.assertIn(f"'isl' is 12, which counts; the module '{path}' says 16", err)
        self.assertEqual(json.loads(out)["problem"]["isl"], 12)
        code, out, err = run("plan", path, "--devices", 4, "--context", 20)
        self.assertEqual(code, 0)
        self.assertIn("decode at 20 tokens counts; the module", err)
        self.assertIn("decode at a context of 20 tokens", out)


def cases():
    """Services of several models, engines, modes and loads."""
    yield "small", small()
    yield "apart", small(mode="disaggregated", engine="sglang", concurrency=64)
    yield "rate", small(rate=50.0, engine="trtllm")
    yield "llama", llama(ttft_percentile=50)
    yield "llama apart", llama(mode="disaggregated", engine="sglang")
    yield "dims of its own", llama(mode="disaggregated", engine="none")


class LawTest(FolderTest):
    """The same digits of a service wherever they are told."""

    def numbers(self, text):
        """What a table or a page says: name to digits."""
        text = re.sub("<[^>]*>", " ", text)
        patterns = {
            "tokens_per_s_per_gpu": r"([0-9.]+) tokens/s per GPU, ",
            "tokens_per_s_per_user": r"([0-9.]+) tokens/s per user",
            "requests_per_s": r"per user, ([0-9.]+) req/s",
            "gpus": r"requests in flight on ([0-9]+) of",
        }
        found = {name: re.search(each, text).group(1) for name, each in patterns.items()}
        for slo in ("TPOT", "TTFT"):
            line = re.search(slo + r", ms +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +"
                             r"(\S+) - (\S+)", text)
            names = ("target", "on", "attained", "mean", "p50", "p90", "p99", "low", "high")
            found.update({f"{slo} {name}": text for name, text in zip(names, line.groups())})
        return found

    def digits(self, service):
        """The same of the typed service."""
        metrics = service.metrics
        found = {
            name: three(getattr(metrics, name))
            for name in ("tokens_per_s_per_gpu", "tokens_per_s_per_user", "requests_per_s")
        }
        found["gpus"] = str(metrics.gpus)
        for slo in service.slos:
            values = {"attained": slo.attained_ms, **slo.attained._asdict()}
            found.update({f"{slo.name} {name}": three(value) for name, value in values.items()})
            found[f"{slo.name} on"] = slo.statistic
            found[f"{slo.name} target"] = f"{slo.target_ms:g}"
        return found

    def test_every_verb_tells_the_same(self):
        for name, problem in cases():
            with self.subTest(name):
                service = so.plan(problem)
                path = self.kept(service)
                self.assertEqual(self.numbers(service.table), self.digits(service))
                self.assertEqual(self.numbers(service._repr_html_()), self.digits(service))
                code, out, err = run("plan", path)
                self.assertEqual((code, err), (0, ""))
                self.assertEqual(self.numbers(out), self.digits(service))
                code, out, _ = run("plan", path, "--format", "json")
                self.assertEqual(json.loads(out)["metrics"], service.metrics.to_dict())
                self.assertEqual(json.loads(path.read_text())["metrics"],
                                 service.metrics.to_dict())
                code, out, err = run("evaluate", path)
                self.assertEqual((code, err), (0, ""))
                self.assertEqual(self.numbers(out), self.digits(service))
                # Computed again, to the last digit.
                self.assertEqual(service.evaluate(), service)
                with mock.patch("shardopt.pages._bundle", return_value=""):
                    page = so.page(service)
                shown = page[: page.index('<script type="application/json"')]
                self.assertEqual(self.numbers(shown), self.digits(service))
                self.check_lists(service, path)
                self.check_launch(service, path)

    def check_launch(self, service, path):
        """What is exported is read as the plan; dims that no engine has are refused."""
        folder = self.folder / "launch" / str(path.stat().st_mtime_ns)
        code, _, err = run("export", path, "--target", "shell", "-o", folder, "--json")
        if service.engine == "none":
            self.assertEqual(code, 2, err)
            return
        self.assertEqual(code, 0, err)
        found = so.check(service.problem, folder, explain=False)
        self.assertEqual(found.optimum.metrics, service.metrics)
        self.assertAlmostEqual(found.share, 1, places=2)
        _, out, _ = run("explain", path)
        self.assertIn(service.binding["why"], " ".join(out.split()))

    def check_lists(self, service, path):
        """The first rows of the frontier and of a sweep are the plan."""
        row = service.to_row()
        code, out, _ = run("pareto", path, "--step", 0.7, "--format", "json")
        front = json.loads(out)
        self.assertEqual(code, 0)
        if service.proved:  # a frontier has no dims of its own
            same = {**row, "engine": service.engine, "proved": True}
            self.assertEqual(front[0] | same, front[0])
        speeds = [each["tokens_per_s_per_user"] for each in front]
        self.assertEqual(speeds, sorted(speeds))
        self.assertEqual(so.diff(service, service).summary[0][1:], (service.mode,) * 2)
        differing = [each for each in so.diff(service, service).summary if each[1] != each[2]]
        self.assertEqual(differing, [])

    def test_the_first_row_of_a_sweep_is_the_plan(self):
        service = so.plan(loaded())
        code, out, _ = run("sweep", self.kept(service), "--format", "json")
        rows = json.loads(out)
        first = {name: value for name, value in rows[0].items() if name in service.to_row()}
        self.assertEqual(
            first, {name: value for name, value in service.to_row().items() if name in first}
        )
        self.assertEqual((rows[0]["change"], rows[0]["gain"]), ("none", "+0.00%"))
        kinds = {row["change"].split()[0] for row in rows[1:]}
        self.assertLessEqual(
            {"devices", "machine", "engine", "tpot_ms", "ttft_ms", "isl", "osl"}, kinds
        )
        by_change = {row["change"]: row for row in rows}
        shorter, longer = by_change["tpot_ms 24"], by_change["tpot_ms 36"]
        self.assertLessEqual(shorter["requests_per_s"], longer["requests_per_s"])

    def test_no_explanation_beats_the_plan(self):
        for problem in (llama(), llama(mode="disaggregated"), small()):
            service = so.plan(problem)
            kind, why = service.binding["kind"], service.binding["why"]
            self.assertIn(kind, ("tpot", "ttft", "memory", "throughput"))
            self.assertIn(f"bound by    {why}", service.table)
            found = service.explain()
            self.assertTrue(found.alternatives)
            for each in found.alternatives:
                if each.breaks or each.service is None:
                    continue
                # Every service that meets the SLOs is one that the search has ruled out.
                self.assertTrue(all(slo.met for slo in each.service.slos))
                self.assertLessEqual(
                    each.service.metrics.tokens_per_s_per_gpu,
                    service.metrics.tokens_per_s_per_gpu * (1 + 1e-9),
                    f"{each.role} {each.change}",
                )
        code, out, err = run("explain", self.kept(service))
        self.assertEqual((code, err), (0, ""))
        self.assertIn(service.binding["why"], out)
        code, out, err = run("explain", self.kept(service), "attention", "--role", "prefill")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("attention:", out)

    def test_sizes_are_plans_of_so_many_gpus(self):
        code, out, err = run("size", LLAMA, "--isl", 4096, "--osl", 512, "--tpot", 30,
                             "--ttft", 1000, "--requests-per-s", 9, "--format", "json")
        self.assertEqual((code, err), (0, ""))
        found = json.loads(out)
        gpus = found["metrics"]["gpus"]
        problem = llama(rate=9.0).replace(devices=gpus)
        self.assertEqual(found["metrics"], so.plan(problem).metrics.to_dict())
        with self.assertRaises(so.Infeasible):
            so.plan(problem.replace(devices=gpus - 1))
        # So is a rate in tokens.
        self.assertEqual(so.min_devices(llama(), 9 * 512).metrics.gpus, gpus)


class PriceTest(FolderTest):
    """Services of least cost."""

    def test_two_machines_of_unlike_prices(self):
        asked = llama(rate=6.0).replace(
            devices=None, machine="h200_sxm", prefill_machine="h100_sxm"
        )
        found = []
        for prices in ({"h200_sxm": 3.0, "h100_sxm": 3.0}, {"h200_sxm": 9.0, "h100_sxm": 1.0}):
            offer, = so.least_cost(asked, None, prices)
            service = offer.plan
            cost = sum(role.gpus * prices[role.machine] for role in service.roles)
            self.assertAlmostEqual(offer.price, cost)
            self.assertAlmostEqual(service.found["dollars_per_hour"], cost)
            self.assertIn(f"${three(cost)} an hour", service.table)
            self.assertGreaterEqual(service.metrics.requests_per_s, 6 * (1 - 1e-9))
            # What is written is evaluated, prices included.
            self.assertEqual(so.read_plan(self.kept(service)), service)
            found.append((cost, service))
            # One machine alone is a service of both, too.
            for machine, price in prices.items():
                alone = so.least_cost(
                    llama(rate=6.0).replace(devices=None, machine=machine), None, {machine: price}
                )[0]
                if alone.plan is not None and alone.plan.mode == service.mode:
                    self.assertLessEqual(cost, alone.price * (1 + 1e-9))
        used = [{role.machine for role in service.roles} for _, service in found]
        self.assertIn("h100_sxm", used[1])
        for prices, why in [
            ({"h200_sxm": 3.0}, "one of each machine of the service, h200_sxm and h100_sxm"),
            ({"h200_sxm": 3.0, "h100_sxm": -1}, "the price of 'h100_sxm' is -1"),
        ]:
            with self.assertRaisesRegex(so.ShardoptError, why):
                so.least_cost(asked, None, prices)

    def test_a_machine_says_its_price(self):
        machine = self.folder / "mine.json"
        values = json.loads((ROOT / "machines/h100_sxm.json").read_text())
        machine.write_text(json.dumps({**values, "price_per_hour": 2.5}))
        service = so.plan(llama().replace(machine=str(machine)))
        self.assertEqual(service.found["dollars_per_hour"], 2.5 * service.metrics.gpus)
        other = so.plan(llama().replace(machine=str(machine), price=5.0))
        self.assertEqual(
            other.found["dollars_per_hour"], 2 * service.found["dollars_per_hour"]
        )
        self.assertNotIn("an hour", so.plan(llama()).table)
        for price in (0, -1, "x", 1e7):
            machine.write_text(json.dumps({**values, "price_per_hour": price}))
            with self.assertRaisesRegex(so.ShardoptError, "/price_per_hour"):
                so.plan(llama().replace(machine=str(machine)))
        with self.assertRaisesRegex(so.ShardoptError, "'price' is 0, expected"):
            llama(price=0)


class FreeTest(FolderTest):
    """Plans that no engine has to run."""

    @staticmethod
    def qwen(**others):
        config = ROOT / "examples/configs/qwen3-235b-a22b.json"
        return so.Problem(so.load_model(config), machine="h200_sxm", isl=2000, osl=500, **others)

    def test_an_engine_runs_the_plan_unless_another_sharding_gains_more(self):
        for devices, tpot, engine in [(12, 15, "vllm"), (6, 30, "none")]:
            with self.subTest(devices):
                asked = {"devices": devices, "tpot_ms": tpot}
                plan, runs, free = (
                    so.plan(self.qwen(**asked, engine=name)) for name in (None, "vllm", "none")
                )
                gain = free.metrics.tokens_per_s_per_gpu / runs.metrics.tokens_per_s_per_gpu - 1
                self.assertEqual((plan.engine, gain > 0.01), (engine, engine == "none"))
                self.assertEqual(plan.metrics, (free if engine == "none" else runs).metrics)
                key = "runnable" if engine == "none" else "free_optimum"
                self.assertAlmostEqual(plan.report[key]["gain"], gain)
                self.assertIn(f"gains {100 * gain:.2f} %", plan.report["optimum"])
                for text in (plan.table, plan._repr_html_()):
                    self.assertIn(plan.report["optimum"], text)
                self.assertEqual("shardopt export" in plan._repr_html_(), engine != "none")
                self.assertEqual(evaluate_service(plan).metrics, plan.metrics)
        self.assertIsNotNone(free.engines["vllm"])
        code, out, err = run("export", self.kept(free), "--target", "shell", "-o", self.folder)
        self.assertEqual((code, out), (2, ""), err)
        self.assertIn("the plan names no engine", err)
        code, _, err = run("evaluate", self.kept(free))
        self.assertEqual((code, err), (0, ""))

    def test_a_plan_has_dims_that_no_engine_gives_if_they_gain(self):
        problem = so.Problem(
            so.load_model(ROOT / "examples/configs/llama-3.1-70b.json"),
            machine="h100_sxm", devices=8, isl=4096, osl=512, tpot_ms=30,
        )
        plan, free, vllm = (
            so.plan(problem.replace(engine=engine)) for engine in (None, "none", "vllm")
        )
        own = plan.report["own_dims"]
        self.assertEqual((plan.engine, plan.metrics), ("none", free.metrics))
        self.assertNotIn("own_dims", vllm.report)
        gain = plan.metrics.tokens_per_s_per_gpu / vllm.metrics.tokens_per_s_per_gpu - 1
        self.assertGreater(gain, 0.01)
        self.assertAlmostEqual(plan.report["runnable"]["gain"], gain)
        self.assertIn(f"{100 * own['gain']:.2f} % (", plan.report["optimum"])
        self.assertEqual({one["role"] for one in own["dims"]} - {"prefill", "decode"}, set())
        self.assertEqual((plan.proved, plan.bound), (False, None))
        # Every verb has the same digits, and an engine refuses it.
        file = self.kept(plan)
        self.assertEqual(json.loads(Path(file).read_text())["shardopt_plan"], 3)
        self.assertEqual(so.read_plan(file), plan)
        again = evaluate_service(plan)
        self.assertEqual((again.metrics, again.roles), (plan.metrics, plan.roles))
        changed = [role for role in plan.roles if role.has_own_dims]
        for role in changed:
            alone = plan.phase_plan(role.name)
            self.assertEqual(alone.strategy.dims, role.strategy.dims)
        self.assertTrue(changed)
        for engine in ("vllm", "sglang", "trtllm"):
            self.assertIsNotNone(plan.engines[engine])
            code, out, err = run("export", file, "--engine", engine, "--target", "shell", "-o", self.folder)
            self.assertEqual((code, out), (1, ""), err)
            self.assertIn(f"{engine} cannot run this service: ", err)
        _, out, _ = run("explain", file)
        self.assertIn("workers", out)
        broken = json.loads(Path(file).read_text())
        found = broken["report"][plan.mode][changed[0].name]["dims"]
        for dims, why in ((dict(found, embed=7), "embed"), ({}, "lacks 'embed'")):
            broken["report"][plan.mode][changed[0].name]["dims"] = dims
            wrong = self.folder / "wrong.json"
            wrong.write_text(json.dumps(broken))
            with self.assertRaisesRegex(so.ShardoptError, why):
                so.read_plan(wrong)

    def test_within_domains_the_rules_are_those_of_the_plan(self):
        plan, free = (
            so.plan(self.qwen(devices=14, tpot_ms=20, engine=name)) for name in (None, "none")
        )
        self.assertEqual(plan.engine, "none")
        self.assertEqual(plan.report["inside_nvlink_domain"], free.report["inside_nvlink_domain"])



class BadInputTest(FolderTest):
    """Each is one line that names the value and what would be valid."""

    def test_what_commands_refuse(self):
        lengths = ["--isl", 16, "--osl", 8]
        for code, words, why in [
            (2, ["--isl", 0, "--osl", 8], "'isl' is 0, expected a whole number of tokens from 1"),
            (2, ["--isl", 16, "--osl", -5], "'osl' is -5, expected"),
            (2, ["--isl", "nan", "--osl", 8], "--isl: 'nan', expected a whole number"),
            (2, ["--isl", 10**30, "--osl", 8], f"'isl' is {10**30}, expected"),
            (2, ["--isl", 2**31 - 1, "--osl", 2], "'isl' and 'osl' are 2147483647 and 2, expected"),
            (2, ["--isl", 16], "'osl' is missing"),
            (2, [*lengths, "--set", "isl=nan"], "'isl' is nan, expected"),
            (2, [*lengths, "--tpot", "30@p95"], "'30@p95' is on 'p95', expected p50, p90, p99"),
            (2, [*lengths, "--tpot", "30@"], "expected p50, p90, p99 or mean"),
            (2, [*lengths, "--ttft", "nan"], "--ttft: 'nan', expected milliseconds above 0, such as 30"),
            (2, [*lengths, "--tpot", "30", "--set", "tpot_percentile=95"],
             "'tpot_percentile' is 95, expected 50, 90 or 99"),
            (2, [*lengths, "--requests-per-s", 3, "--concurrency", 4],
             "'--requests-per-s' is 3 and '--concurrency' 4, expected one of them"),
            (2, [*lengths, "--requests-per-s", 3, "--set", "concurrency=4"],
             "'concurrency' is 4 and 'rate' 3, expected one of them"),
            (2, [*lengths, "--requests-per-s", "1e300"], "'rate' is 1e+300, expected"),
            (2, [*lengths, "--concurrency", 0], "'concurrency' is 0, expected"),
            (2, [*lengths, "--engine", "vllm,sglang"], "unknown engine 'vllm,sglang'; known: "),
            (2, [*lengths, "--set", "decode.engine=vllm"], "unknown setting 'decode.engine'"),
            (2, [*lengths, "--engine", "vllm", "--engine", "sglang"],
             "'sglang' comes after 'vllm', expected one engine, or any"),
            (2, [*lengths, "--engine", "nobody"], "unknown engine 'nobody'; known: none, any, "),
            (2, [*lengths, "--set", "pins.tp=3"], "which no worker has: expected 1 or 2"),
            (2, [*lengths, "--set", "pins.decode.tp=64"], "'decode.tp' is pinned to 64, which no"),
            (2, [*lengths, "--set", "pins.workers=99"], "expected at most 4 on 4 GPUs"),
            (2, [*lengths, "--set", "pins.foo=3"], "unknown pin 'foo'; known: tp"),
            (2, [*lengths, "--set", "mode=both"], "unknown mode 'both'; known: best"),
            (2, [*lengths, "--prefill-devices", 2], "expected 'prefill-machine'"),
            (1, [*lengths, "--tpot", "0.001"], "a TPOT of 0.001 ms (mean) is missed: the least is"),
        ]:
            with self.subTest(words):
                found, out, err = run("plan", MOE, "--devices", 4, *words)
                self.assertEqual(found, code, err)
                self.assertIn(why, err)
                self.assertEqual(err.count("\n"), 1, err)


class OverlapTest(FolderTest):
    """Steps on two micro-batches."""

    def test_they_are_searched_where_that_is_asked_for(self):
        plain = so.plan(loaded())
        self.assertNotIn('"overlap"', json.dumps(plain.report))
        either = so.plan(loaded(pins={"overlap": ["off", "on"]}))
        rates = [each.metrics.tokens_per_s_per_gpu for each in (plain, either)]
        self.assertLessEqual(rates[0], rates[1] * (1 + 1e-9))
        for engine in ("vllm", "sglang"):
            service = so.plan(loaded(engine=engine, mode="aggregated", pins={"overlap": "on"}))
            role = service.roles[0]
            self.assertEqual((role.overlap, role.strategy.exchange), (True, "all_to_all"))
            self.assertEqual(so.read_plan(self.kept(service)), service)
            self.assertIn("overlapped", service.table)
            flag = {"vllm": "--enable-dbo", "sglang": "--enable-two-batch-overlap"}[engine]
            made = deployments.deployment_of(service, engine)
            self.assertIn(flag, made.command(made.roles[0], 8000).args)
            folder = self.folder / engine
            deployments.write(made, "shell", folder)
            found = so.check(service.problem, folder, explain=False, plan=service)
            self.assertEqual(found.differences, ())
            self.assertEqual(found.outcome.service["serve"]["overlap"], "on")
            self.assertAlmostEqual(found.outcome.throughput, service.metrics.tokens_per_s_per_gpu)
            other = so.check(service.problem, folder, explain=False, plan=so.plan(
                loaded(engine=engine, mode="aggregated", pins={"overlap": "off"})))
            self.assertIn("two micro-batches planned off, stated ", str(other.differences))

    def test_what_cannot_be(self):
        lengths = ["--isl", 16, "--osl", 8, "--devices", 4, "--overlap"]
        for words, why in [
            ([MOE, *lengths, "on", "--engine", "trtllm"], "'trtllm' has no two micro-batches"),
            ([MOE, *lengths, "on", "--set", "pins.pp=2"], "pp is 2, and it needs 1: expected off"),
            ([LLAMA, *lengths, "on"], "the model has no experts, whose exchange it hides: expected off"),
            ([MOE, *lengths, "maybe"], "'maybe', expected on, off or any"),
            ([MOE, *lengths[:-1], "--set", "pins.overlap=2"], "'overlap' is '2', expected on, off, or both"),
        ]:
            with self.subTest(words):
                code, _, err = run("plan", *words)
                self.assertEqual((code, err.count("\n")), (2, 1), err)
                self.assertIn(why, err)


class ListTest(FolderTest):
    """What the planner chooses from lists."""

    def test_the_best_of_a_list_is_the_best_of_its_values(self):
        lists = {"chunk": [8192, 1024], "draft_tokens": [0, 3], "accepted_tokens": [0, 1.2]}
        for problem in (llama(), llama(rate=2.0), llama(mode="disaggregated", engine="sglang")):
            found = so.plan(problem.replace(**lists, kv_types=("bf16", "fp8")))
            alone = []
            for kind in ("bf16", "fp8"):
                for chunk in lists["chunk"]:
                    for drafts, accepted in ((0, 0), (3, 1.2)):
                        one = problem.replace(
                            model=problem.model.retyped(kv_type=kind), chunk=chunk,
                            draft_tokens=drafts, accepted_tokens=accepted,
                        )
                        alone.append(so.plan(one))
            def worth(service):
                metrics = service.metrics
                if problem.rate is None:
                    return metrics.tokens_per_s_per_gpu
                return 1 / (metrics.gpus + 1e-3 * metrics.tpot_ms)
            best = max(map(worth, alone))
            self.assertGreaterEqual(worth(found), best * (1 - 1.1e-3))
            # It is the plan of what it chose, and its file says so.
            same = so.plan(found.problem)
            self.assertEqual(same.metrics, found.metrics)
            self.assertEqual(same.other and same.other.metrics, found.other and found.other.metrics)
            again = so.read_plan(self.kept(found))
            self.assertEqual(again, found)
            self.assertEqual(again.problem.lists, {})
            self.assertIn("  chosen      chunk", found.table)
            effort = sum(one.proof["evaluations"] + one.proof["intervals"] for one in alone)
            own = found.proof["evaluations"] + found.proof["intervals"]
            self.assertLess(own, effort)

    def test_lists_of_commands(self):
        code, out, err = run(
            "plan", LLAMA, "--devices", 8, "--isl", 4096, "--osl", 512, "--tpot", 30, "--ttft",
            1000, "--chunk", "2048,8192", "--kv-type", "bf16,fp8", "--drafts", "0,2:1.1",
            "--output-dir", self.folder,
        )
        self.assertEqual((code, err), (0, ""))
        self.assertIn("of 2048, 8192", out)
        service = so.read_plan(self.folder / "service.json")
        self.assertIn(service.chunk_tokens, (2048, 8192))
        self.assertEqual(service.problem.draft_tokens, 2)
        self.assertEqual(service.problem.accepted_tokens, 1.1)
        for words, why in [
            (["--chunk", "0"], "'chunk' is 0"), (["--chunk", "x"], "'chunk' is 'x'"),
            (["--chunk", "1,1"], "each value once"), (["--drafts", "x"], "no number of drafts"),
            (["--drafts", "2:3"], "accepted_tokens"), (["--kv-type", "bf16,x"], "kv"),
        ]:
            with self.subTest(words):
                code, out, err = run("plan", LLAMA, "--isl", 4096, "--osl", 512, *words)
                self.assertEqual(code, 2)
                self.assertIn(why, err)
        with self.assertRaisesRegex(so.ShardoptError, "expected as many of each"):
            llama(draft_tokens=[0, 1], accepted_tokens=0.5)
        code, out, err = run("plan", LLAMA, "--context", 4096, "--chunk", "2048")
        self.assertEqual(code, 2)
        self.assertIn("'chunk' is of a service", err)

    def test_drafts_are_chosen_by_their_acceptance(self):
        config = json.loads(MOE.read_text()) | {"num_nextn_predict_layers": 1}
        path = self.folder / "drafting.json"
        path.write_text(json.dumps(config))
        problem = loaded().replace(model=so.load_model(path))
        self.assertEqual(problem.model.draft_layers, 1)
        one = so.plan(problem.replace(draft_tokens=2, accepted_tokens=1.4))
        self.assertEqual(one.report["requests"]["draft_layers"], 1)
        free = so.plan(small(concurrency=64, draft_tokens=2, accepted_tokens=1.4))
        self.assertNotIn("draft_layers", free.report["requests"])
        self.assertLess(one.metrics.tokens_per_s_per_gpu, free.metrics.tokens_per_s_per_gpu)
        found = so.plan(problem.replace(acceptance=[0.8, 0.6]))
        each = [so.plan(problem.replace(**said)) for said in (
            {}, {"draft_tokens": 1, "accepted_tokens": 0.8}, {"draft_tokens": 2, "accepted_tokens": 1.4}
        )]
        best = max(service.metrics.tokens_per_s_per_gpu for service in each)
        self.assertGreaterEqual(found.metrics.tokens_per_s_per_gpu, best * (1 - 1.1e-3))
        again = so.read_plan(self.kept(found))
        self.assertEqual((again, again.problem.acceptance), (found, None))
        chance = problem.replace(acceptance=0.5, draft_tokens=[0, 2])
        self.assertEqual((chance.draft_tokens, chance.accepted_tokens), ([0, 2], [0, 0.75]))
        for said, why in [
            ({"acceptance": [0.8, 1.2]}, "'acceptance' has 1.2 at token 2, expected a share from 0 to 0.8"),
            ({"acceptance": [0.8, 0.9]}, "0.9 at token 2"),
            ({"acceptance": 1.5}, "'acceptance' is 1.5, expected a share"),
            ({"acceptance": [0.8, 0.6], "draft_tokens": 1}, "has 2 shares, expected as many as"),
            ({"acceptance": [0.8], "draft_tokens": 2}, "has 1 shares, expected as many as"),
            ({"acceptance": 0.8, "accepted_tokens": 1.0}, "expected one of them"),
            ({"draft_layers": 1}, "'draft_tokens' is missing"),
        ]:
            with self.subTest(said), self.assertRaisesRegex(so.ShardoptError, why):
                problem.replace(**said)

    def test_frontiers_and_sizes_of_lists(self):
        front = so.pareto(llama(kv_types=("bf16", "fp8")), step=0.3)
        tpots = [each.metrics.tpot_ms for each in front]
        rates = [each.metrics.tokens_per_s_per_gpu for each in front]
        self.assertEqual(tpots, sorted(tpots, reverse=True))
        self.assertEqual(rates, sorted(rates, reverse=True))
        sized = so.min_devices(llama(rate=5.0, kv_types=("bf16", "fp8")))
        alone = so.min_devices(llama(rate=5.0))
        self.assertLessEqual(sized.metrics.gpus, alone.metrics.gpus)


if __name__ == "__main__":
    unittest.main()
