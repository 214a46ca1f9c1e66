"""What comes from outside: files that are read and written, programs that files name,
values and texts of every kind."""

import concurrent.futures
import dataclasses
import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import shardopt as so
from shardopt import border, settings
from shardopt.border import is_same, write_whole

from test_cli import MOE, PROBLEM, run

GOOD = {"throughput": 1.0, "tpot_ms": 1.0, "memory_gb": 1.0}


def small(**others):
    model = so.load_model(MOE, so.Decode(context=24))
    return so.Problem(model, **{"max_devices": 4, "simulator": "roofline", **others})


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def planned(self):
        code, _, err = run("plan", *PROBLEM, "--output-dir", self.folder)
        self.assertEqual((code, err), (0, ""))
        return self.folder / "decode.json"


class WriterTest(InFolder):
    def test_a_link_stays_and_its_file_keeps_its_mode(self):
        file, link = self.folder / "file", self.folder / "link"
        file.write_text("old")
        file.chmod(0o640)
        link.symlink_to(file)
        write_whole(link, "new")
        self.assertTrue(link.is_symlink())
        self.assertEqual((file.read_text(), file.stat().st_mode & 0o777), ("new", 0o640))
        self.assertEqual(len(list(self.folder.iterdir())), 2)

    def test_what_cannot_be_written_leaves_what_was_there(self):
        file = self.folder / "file"
        file.write_text("old")
        with mock.patch("os.replace", side_effect=OSError(28, "No space left on device")):
            with self.assertRaisesRegex(so.ShardoptError, "file' cannot be written: No space"):
                write_whole(file, "new")
        self.assertEqual((file.read_text(), len(list(self.folder.iterdir()))), ("old", 1))
        for bad in (self.folder, self.folder / "no/such", "a\0b", ""):
            with self.subTest(bad), self.assertRaises(so.ShardoptError):
                write_whole(bad, "new")

    def test_devices_are_written_directly(self):
        write_whole("/dev/null", "text")
        self.assertFalse(os.path.isfile("/dev/null"))

    def test_what_is_read_has_an_end(self):
        with self.assertRaisesRegex(so.ShardoptError, "more than 256 MB"):
            border.read_text("/dev/zero")
        ours, theirs = os.pipe()
        os.write(theirs, b"text\r\n")
        os.close(theirs)
        self.assertEqual(border.read_text(f"/dev/fd/{ours}"), "text\n")
        os.close(ours)

    def test_names_of_one_file(self):
        file, other = self.folder / "file", self.folder / "other"
        self.assertTrue(is_same(file, self.folder / "." / "file"))  # neither is there
        file.touch()
        other.hardlink_to(file)
        self.assertTrue(is_same(file, other))
        self.assertFalse(is_same(file, self.folder / "third"))


class CommandFilesTest(InFolder):
    def test_nothing_is_written_that_is_read(self):
        config = self.folder / "decode.json"
        config.write_text(Path(MOE).read_text())
        words = ["--max-devices", "4", "--context", "24", "--output-dir", self.folder]
        for name in (config, self.folder / "." / "decode.json"):
            code, _, err = run("plan", name, *words)
            self.assertEqual(code, 2)
            self.assertIn("would be written, and is read too", err)
        self.assertEqual(config.read_text(), Path(MOE).read_text())

        config.unlink()
        plan = self.planned()
        linked = self.folder / "linked.json"
        linked.hardlink_to(plan)
        text = plan.read_text()
        brief = ["--no-front", "--no-sweep", "--no-search"]
        for command in (
            ["lower", plan, "-o", plan],
            ["lower", plan, "-o", linked],
            ["report", plan, *brief, "-o", plan],
            ["report", plan, *brief, "-o", self.folder / "p.html", "--timeline", plan],
            ["report", plan, *brief, "-o", "p.html", "--timeline", "./p.html"],
            ["plan", plan, "--output-dir", self.folder],
            ["plan", *PROBLEM, "--checkpoint", plan, "--output-dir", self.folder],
        ):
            with self.subTest(command):
                code, _, err = run(*command)
                self.assertEqual(code, 2)
                self.assertIn("expected another file", err)
                self.assertEqual(plan.read_text(), text)

    def test_a_full_disk_leaves_the_last_good_file(self):
        plan = self.planned()
        text = plan.read_text()
        program = "import sys; from shardopt.cli import main; sys.exit(main(sys.argv[1:]))"

        def full():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        words = ["plan", *PROBLEM, "--output-dir", str(self.folder)]
        done = subprocess.run(
            [sys.executable, "-B", "-c", program, *words],
            capture_output=True,
            text=True,
            preexec_fn=full,
        )
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^error: .*decode.json' cannot be written: .*\n$")
        self.assertEqual(plan.read_text(), text)
        self.assertEqual([plan], list(self.folder.iterdir()))


class PlanFileTest(InFolder):
    def test_a_report_that_is_another_is_made_anew(self):
        path = self.planned()
        whole = so.Plan.from_json(path)
        for place, value in (
            (("best", "breakdown", 0), 7),
            (("best", "memory_parts_gb"), {"weights": "x"}),
            (("best",), None),
            (("baselines",), []),
            (("binding_constraint", "kind"), {}),
            (("engines",), [1]),
            (("engines", "vllm"), {}),
        ):
            values = json.loads(path.read_text())
            holder = values["report"]
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = value
            odd = self.folder / "odd.json"
            odd.write_text(json.dumps(values))
            with self.subTest(place):
                found = so.Plan.from_json(odd)
                self.assertEqual(found.breakdown, whole.breakdown)
                self.assertEqual(found.memory, whole.memory)
                self.assertEqual(run("export", odd, "--engine", "vllm")[0], 0)


class ProgramsOfFilesTest(InFolder):
    def test_a_plan_file_runs_nothing_by_itself(self):
        plan, evil, ran = self.planned(), self.folder / "evil.json", self.folder / "ran"
        values = json.loads(plan.read_text())
        brief = ["--no-front", "--no-sweep", "--no-search"]
        commands = (
            ["evaluate", evil],
            ["diff", plan, evil],
            ["explain", evil],
            ["verify", evil],
            ["lower", evil],
            ["export", evil, "--engine", "vllm"],
            ["serve", evil, "--engine", "vllm", "--dry-run"],
            ["report", evil, "-o", self.folder / "p.html", *brief],
            ["plan", evil],
            ["pareto", evil],
            ["fit", evil, "--tokens-per-s", "1"],
            ["sweep", evil],
            ["judge", "vllm serve x", evil],
        )
        for simulator in (f"exec:touch {ran}; cat", f"plugin:{ran}.so"):
            values["problem"]["simulator"] = simulator
            evil.write_text(json.dumps(values))
            for command in commands:
                with self.subTest(command):
                    code, _, err = run(*command)
                    self.assertEqual(code, 2)
                    self.assertIn("/problem/simulator: ", err)
                    self.assertIn("--allow-simulator", err)
                    self.assertFalse(ran.exists())
            with self.assertRaisesRegex(so.WrongPlan, "allow_simulator=True"):
                so.Plan.from_json(evil)

    def test_what_the_user_says_runs(self):
        plan, ran = self.planned(), self.folder / "ran"
        values = json.loads(plan.read_text())
        values["problem"]["simulator"] = f"exec:touch {ran}; false"
        values["machine"].pop("constants", None)  # which it does not read
        plan.write_text(json.dumps(values))
        for own in ("roofline", "calibrated"):
            code, _, _ = run("plan", plan, "--set", f"simulator={own}")
            self.assertEqual((code, ran.exists()), (0, False))
        code, _, err = run("evaluate", plan, "--allow-simulator")
        self.assertEqual((code, ran.exists()), (2, True), err)
        ran.unlink()
        run("plan", plan, "--set", f"simulator=exec:touch {ran}; false")
        self.assertTrue(ran.exists())

    def test_plans_say_the_command_of_the_command_alone(self):
        with mock.patch("sys.argv", ["notebook", "--token=SECRET"]):
            plan = so.plan(small())
        self.assertNotIn("SECRET", plan.to_json())
        values = json.loads(self.planned().read_text())
        self.assertEqual(values["command"][:3], ["shardopt", "plan", MOE])


class LogTest(InFolder):
    def test_what_is_no_log_stays_as_it_is(self):
        notes = self.folder / "notes"
        first = json.dumps({"shardopt_search": 1, "budget": 4})
        for text in (
            b'{"precious": 1}',
            b"line one\nthe last line has no newline",
            b"\xff\xfe\n",
            b"[" * 100000 + b"\n",
            f"{first}\nhalf a li".encode(),
            b'{"ask": 1, "strategies": []}\nhalf',
        ):
            notes.write_bytes(text)
            with self.subTest(text[:30]), self.assertRaises(so.ShardoptError):
                so.Search(small(), "random", budget=4, checkpoint=str(notes))
            self.assertEqual(notes.read_bytes(), text)

    def test_any_change_of_a_line_is_refused_or_read(self):
        log = self.folder / "run.jsonl"
        with so.Search(small(), "random", budget=6, checkpoint=str(log)) as search:
            search.run(lambda strategy: GOOD)
        lines = log.read_text().splitlines()
        wrong = (
            '{"ask": "x", "strategies": []}',
            '{"ask": [1], "strategies": [[1]]}',
            '{"tell": [0], "metrics": {}}',
            '{"tell": 0, "metrics": 7}',
            '{"tell": 0, "metrics": {"valid": 1}}',
            lines[2].replace("1.0", '"x"'),
            lines[2].replace("1.0", "1" + "0" * 400),
            json.dumps({**json.loads(lines[2]), "device_seconds": "x"}),
        )
        for line in wrong:
            log.write_text("\n".join([*lines[:2], line, *lines[3:]]) + "\n")
            with self.subTest(line), self.assertRaisesRegex(so.ShardoptError, "jsonl:3: "):
                so.Search(small(), "random", budget=6, checkpoint=str(log))

    def test_after_close(self):
        search = so.Search(small(), "random", budget=4, checkpoint=str(self.folder / "l"))
        (trial,) = search.ask()
        search.close()
        for call in (search.ask, lambda: search.tell(trial, GOOD)):
            with self.assertRaisesRegex(so.ShardoptError, "is closed"):
                call()
        self.assertEqual(search.pending, [trial])


class SettingsTest(InFolder):
    def refused(self, text, message):
        path = self.folder / "s.yaml"
        path.write_text(text)
        with self.assertRaisesRegex(so.ShardoptError, message) as caught:
            settings.problems_of(settings.merged(str(path), {}, []))
        self.assertLess(len(str(caught.exception)), 1000)

    @unittest.skipIf(__import__("importlib").util.find_spec("yaml") is None, "no yaml")
    def test_aliases_of_yaml_are_bounded(self):
        laugh = "a0: &a0 [1, 1]\n" + "".join(
            f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 40)
        )
        self.refused(laugh + "devices: *a39\n", "more than 100000 values")
        merge = "a0: &a0 {x: 1}\n" + "".join(
            f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 40)
        )
        self.refused(merge, "more than 100000 values")
        self.refused("devices: &a [*a]\n", "more than 100000 values")
        path = self.folder / "few.yaml"
        path.write_text(f"model: {MOE}\ncontext: &x 4\nmax_devices: *x\n")
        (problem,) = settings.problems_of(settings.merged(str(path), {}, []))
        self.assertEqual((problem.model.context, problem.max_devices), (4, 4))

    def test_odd_values(self):
        for change in (
            ["pins=1", "pins.tp=1"],
            ["pins.tp=" + "1" * 5000],
            ["draft_tokens=" + "1" * 400],
            ["devices=" + "9" * 5000],
            ["machine=\udc80"],
            ["tpot_ms=nan"],
            ["\udc80=1"],
            ["simulator=exec:true\0; x"],
        ):
            words = [word for each in change for word in ("--set", each)]
            with self.subTest(change[0][:30]):
                code, out, err = run("plan", *PROBLEM, *words)
                self.assertEqual((code, out), (2, ""))
                self.assertRegex(err, r"\Aerror: .*\n\Z")


class ValuesTest(unittest.TestCase):
    def test_huge_numbers_and_half_texts_are_refused(self):
        problem = small()
        for change in (
            {"tpot_ms": 10**400},
            {"devices": 10**5000, "max_devices": None},
            {"machine": "\ud800"},
            {"machine": "a\0b"},
            {"rate": 10**400},
            {"pins": {"tp": 10**5000}},
            {"pins": {"\ud800": 1}},
            {"pins": {"tp": [object()]}},
            {"simulator_timeout_s": 10**400},
            {"isl": 8, "osl": 8, "draft_tokens": [1, 2], "accepted_tokens": [[1], [1]]},
        ):
            with self.subTest(list(change)), self.assertRaises(so.ShardoptError):
                problem.replace(**change)
        plan = so.plan(problem)
        deep = [1]
        for _ in range(40):
            deep = [deep, deep]
        for call in (
            lambda: so.load_model("a\0b", so.Decode(context=4)),
            lambda: so.load_model("\ud800", so.Decode(context=4)),
            lambda: so.pareto(problem, 10**400),
            lambda: so.min_devices(problem, 10**400),
            lambda: so.evaluate(problem, ["\ud800"]),
            lambda: so.Plan.from_json("a\0b"),
            lambda: so.load_model("x" * 5000, so.Decode(context=4)),
            lambda: so.explain(plan, {}),
            lambda: so.chart(plan, {}),
            lambda: so.export(plan, "vllm", "x"),
            lambda: so.judge(problem, 10**5000),
            lambda: so.evaluate(problem, [dataclasses.replace(plan.strategy, exchange=deep)]),
        ):
            with self.assertRaises(so.ShardoptError):
                call()

    def test_odd_commands_of_engines(self):
        for number in ("²", "9" * 5000, "9" * 4000 + "k", "2147483649", "-1", "٣", "1e3"):
            for engine in ("vllm serve x --tensor-parallel-size", "vllm serve x --max-num-seqs"):
                with self.subTest(number[:9]), self.assertRaises(so.ShardoptError) as caught:
                    so.judge(small(), f"{engine}={number}")
                self.assertLess(len(str(caught.exception)), 300)
        with self.assertRaisesRegex(so.ShardoptError, "characters"):
            so.judge(small(), "vllm serve " + "x" * 10**7)

    def test_tells(self):
        search = so.Search(small(), "random", budget=12)
        (trial,) = search.ask()
        for told in (
            {**GOOD, "throughput": 10**400},
            {**GOOD, "valid": False, "reason": "\ud800"},
            {**GOOD, "\ud800": 1},
            so.Failed(["why"]),
            so.Failed("\ud800"),
        ):
            with self.subTest(told), self.assertRaises(so.ShardoptError):
                search.tell(trial, told)
        self.assertEqual(search.pending, [trial])

    def test_a_run_counts_nonsense_as_failures(self):
        number = [0]

        def odd(strategy):
            number[0] += 1
            return {**GOOD, "throughput": 10**400} if number[0] == 3 else GOOD

        found = so.Search(small(), "random", budget=12).run(odd, parallel=2)
        self.assertEqual((found.evaluations, sum(found.failures.values())), (12, 1))

    def test_messages_are_short(self):
        nested = [1]
        for _ in range(60):
            nested = [nested, nested]
        numbers = so.plan(small()).strategy.numbers()
        with self.assertRaisesRegex(so.ShardoptError, "number 0 of a strategy is "):
            so.evaluate(small(), [[nested, *numbers[1:]]])
        for value in (nested, "x" * 10**6, 10**10**5, {"a": nested}):
            text = border.shown(value)
            self.assertLess(len(text), 1000)
            self.assertNotIn("\n", text)


def kills_itself(strategy):
    if strategy.batch % 3 == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return GOOD


class ExecutorTest(unittest.TestCase):
    def test_a_broken_pool_ends_the_run_and_says_why(self):
        fork = multiprocessing.get_context("fork")
        for order in ("deterministic", "async"):
            search = so.Search(small(), "random", budget=200)
            search.run(lambda strategy: GOOD, callbacks=[lambda *_: False])
            told = len(search.history)
            with concurrent.futures.ProcessPoolExecutor(2, mp_context=fork) as pool:
                try:
                    found = search.run(kills_itself, executor=pool, parallel=2, order=order)
                except so.ClusterLost as error:  # before anything was told
                    self.assertIn("BrokenProcessPool", str(error))
                    self.assertEqual(len(search.history), told)
                    continue
            self.assertEqual(found.stopped, "cluster")
            self.assertIn("BrokenProcessPool", found.why)
            self.assertGreater(found.pending, 0)
            self.assertNotIn("BrokenProcessPool", " ".join(found.failures))

    def test_an_executor_that_takes_nothing(self):
        pool = concurrent.futures.ThreadPoolExecutor(1)
        pool.shutdown()
        with self.assertRaisesRegex(so.ClusterLost, "takes no more work"):
            so.Search(small(), "random", budget=4).run(lambda s: GOOD, executor=pool)


class ToolsTest(InFolder):
    def test_a_temporary_folder_of_any_name(self):
        odd = self.folder / "a b,c=d{}'\"$x"
        odd.mkdir()
        plan = so.plan(small())
        with mock.patch("tempfile.tempdir", str(odd)):
            self.assertIn("func.func", so.lower(plan))
            self.assertTrue(so.verify(plan).ok)

    def test_a_model_that_does_not_fit_is_not_another_one(self):
        model = so.load_model(
            Path(MOE).parents[1] / "configs/llama-3.1-70b.json", so.Decode(context=4608)
        )
        plan = so.plan(so.Problem(model, devices=8))
        with self.assertRaisesRegex(so.ShardoptError, "nothing was compared: .*memory"):
            so.verify(plan, whole=True)


if __name__ == "__main__":
    unittest.main()
