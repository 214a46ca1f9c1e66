"""Names that have changed: the old ones are read, the new ones are what is written."""

import io
import json
import tempfile
import unittest
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import shardopt as so
from shardopt import former_names
from shardopt.cli import main
from shardopt.settings import merged

ROOT = Path(__file__).resolve().parents[2]
#: Files that an earlier version of the command wrote, as it wrote them.
KEPT = Path(__file__).resolve().parent / "kept"
CONFIG = ROOT / "examples/models/small-moe.json"
REQUESTS = {"isl": 16, "osl": 8, "tpot_ms": 30.0, "ttft_ms": 1000.0}


def plans(folder):
    """Plans that have every key whose name has changed."""
    machine = Path(folder, "pairs.json")
    machine.write_text('{"name": "pairs", "like": "h100_sxm", "domain": {"devices": 1}}')
    phase = so.Problem(so.load_model(CONFIG, so.Decode(context=24)), devices=4)
    of = {**REQUESTS, "prefix_cache_hit_rate": 0.5, "expert_imbalance": 0.25}
    service = so.Problem(so.load_model(CONFIG), devices=4, mode="disaggregated", **of)
    wide = so.Problem(so.load_model(CONFIG), machine=str(machine), devices=4,
                      pins={"serve.tp": 2}, **REQUESTS)
    sized = so.Problem(so.load_model(CONFIG), prefill_machine="h200_sxm", rate=10.0, **REQUESTS)
    return [so.plan(phase), so.plan(service), so.plan(wide), so.min_devices(sized)]


def former_of(inside):
    """Current keys of the object `inside`, each with its former name."""
    return {current: former for former, current in former_names._names(inside).items()}


def aged(value, inside, met):
    """What a file said before, by the table the other way round; `met` gets new names."""
    if isinstance(value, list):
        return [aged(each, inside, met) for each in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, each in value.items():
        former = former_of(inside).get(key, key)
        if former != key:
            met.add(key)
        found[former] = aged(each, key, met)
    return found


class FormerNames(unittest.TestCase):
    def test_files_with_former_names_are_the_same_plans(self):
        met, wanted = set(), set(former_names.setting_names().values())
        for _, names in former_names._KEYS:
            wanted.update(names.values())
        with tempfile.TemporaryDirectory() as folder:
            for plan in plans(folder):
                text = plan.to_json()
                values = json.loads(text)
                old = {
                    key: aged(value, key, met) if key in former_names._PARTS else value
                    for key, value in values.items()
                }
                self.assertNotEqual(old, values)
                path = Path(folder, "old.json")
                path.write_text(json.dumps(old))
                self.assertEqual(so.read_plan(path).to_json(), text)
        # What is written has each new name, so that the table has no other.
        self.assertEqual(met, wanted)

    def test_nothing_is_written_by_a_former_name(self):
        with tempfile.TemporaryDirectory() as folder:
            for plan in plans(folder):
                values = json.loads(plan.to_json())
                self.assertEqual(former_names.current_keys(values), values)

    def test_odd_files_are_one_line(self):
        odd = {"problem": {"prefix_hit": "a", "prefix_cache_hit_rate": 1}, "machine": {},
               "model": {"module": ""}, "shardopt_plan": 2}
        deep = json.loads("[" * 900 + "]" * 900)
        for report in ({"slos": [[]], "aggregated": {"replicas": 3, "step_us": 4}}, {"a": deep}):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "odd.json")
                path.write_text(json.dumps({**odd, "report": report}))
                with self.assertRaises(so.ShardoptError) as caught:
                    so.read_plan(path)
                self.assertNotIn("\n", str(caught.exception))

    def test_settings_are_read_by_former_names(self):
        model = so.load_model(CONFIG)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            old = so.Problem(model, isl=16, osl=8, prefix_hit=0.5, expert_skew=0.25)
            self.assertEqual((old.prefix_hit, old.expert_skew), (0.5, 0.25))
        self.assertEqual({each.category for each in caught}, {DeprecationWarning})
        self.assertIn("'expert_skew' is 'expert_imbalance' now", str(caught[0].message))
        new = so.Problem(model, isl=16, osl=8, prefix_cache_hit_rate=0.5, expert_imbalance=0.25)
        self.assertEqual(old, new)
        self.assertEqual(merged(None, {}, ["prefix_hit=0.5"]),
                         merged(None, {}, ["prefix_cache_hit_rate=0.5"]))
        with self.assertRaisesRegex(AttributeError, "no_such"):
            new.no_such

    def test_attributes_are_read_by_former_names(self):
        strategy = so.Strategy(tp=2, ep=4, pp=1, batch=8, dims=())
        slo = so.Slo("TPOT", 90, 30.0, so.Latency(*[20.0] * 6))
        with self.assertWarns(DeprecationWarning):
            self.assertEqual(strategy.replicas, strategy.dp_size)
        with self.assertWarns(DeprecationWarning):
            self.assertEqual((slo.on, slo.statistic), ("p90", "p90"))


class KeptFiles(unittest.TestCase):
    def strategies(self, values):
        """Those of a plan file or of the JSON of a plan, by role."""
        if "strategy" in values:
            return {"": values["strategy"]}
        return {name: role["strategy"] for name, role in values["roles"].items()}

    def test_a_kept_file_is_read_evaluated_and_exported(self):
        files = sorted(KEPT.glob("*.json"))
        self.assertEqual([path.stem for path in files], ["decode", "service"])
        for path in files:
            with self.subTest(file=path.stem), tempfile.TemporaryDirectory() as folder:
                kept = json.loads(path.read_text())
                self.assertNotEqual(former_names.current_keys(kept), kept)
                plan = json.loads(so.read_plan(path).to_json())
                self.assertEqual(self.strategies(plan), self.strategies(kept))
                target = ["--target", "shell"] if "roles" in kept else ["--engine", "vllm"]
                for verb, *options in (["evaluate"], ["export", *target, "-o", folder]):
                    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                        self.assertEqual(main([verb, str(path), *options]), 0)


if __name__ == "__main__":
    unittest.main()
