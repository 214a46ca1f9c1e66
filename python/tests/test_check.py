"""The way back from what `export` writes, and what others write, to a service."""

import dataclasses
import gzip
import os
import random
import tempfile
import unittest
from pathlib import Path

import shardopt as so
from shardopt import deployments as d
from shardopt.checking import deployment_requests as requests
from shardopt.checking import documents
from shardopt.checking.recipes import case_row, read_search_space
from shardopt.checking.shell_reading import read_commands

try:
    import yaml
except ImportError:
    yaml = None

FACTS = {"has_dense_layers": True, "context": 2048, "phase": "decode", "longest": 8192,
         "latent": True, "kv_heads": 8, "hybrid": False}
#: Services of the law; more by the environment.
DATA = Path(os.environ.get("SHARDOPT_DATA",
                           Path(__file__).resolve().parents[2].parent / "shared/data"))
CASES = int(os.environ.get("SHARDOPT_CHECK_CASES", "60"))


def role(rng, name, experts):
    tp, pp = rng.choice((1, 2, 4, 8)), rng.choice((1, 1, 1, 2))
    ranks = rng.choice((1, 2, 4, 8, 16)) if experts else 1
    ep = rng.choice((1, tp * ranks)) if experts else 1
    stages = rng.choice(((), (30, 31))) if pp == 2 else ()
    each = 1 if name == "prefill" else rng.choice((1, 7, 64, 300))
    eplb = ep > 1 and rng.random() < 0.5
    replicas = -experts % ep + ep * rng.choice((0, 1, 2)) if eplb else 0
    halves = rng.choice((None, (0, 0), (180, 0))) if experts and ranks > 1 and ep > 1 else None
    return d.Role(
        name, rng.choice((1, 2, 3)), tp, each * ranks, ranks, ep, pp, 1,
        rng.random() < 0.5 or ranks == 1 or ep == 1, stages,
        cache_type=rng.choice(("", "fp8")), quantization=rng.choice(("", "", "fp8")),
        batched_tokens=rng.choice((0, 4096)), eplb=eplb, redundant_experts=replicas, overlap=halves,
    )


def services():
    """Services of random roles with their engine, load and lengths."""
    rng = random.Random(7)
    for number in range(CASES):
        experts = rng.choice((0, 64))
        engine = rng.choice(("vllm", "vllm", "sglang", "trtllm"))
        split = rng.random() < 0.5
        names = ["prefill", "decode"] if split else ["serve"]
        roles = tuple(role(rng, name, experts) for name in names)
        if len(roles) > 1:  # of one type each
            kinds = {"cache_type": roles[0].cache_type, "quantization": roles[0].quantization}
            roles = (roles[0], dataclasses.replace(roles[1], **kinds))
        if engine == "sglang":  # has no thresholds
            roles = tuple(dataclasses.replace(one, overlap=one.overlap and (0, 0)) for one in roles)
        if engine == "trtllm":  # attention on each device, or on all
            roles = tuple(dataclasses.replace(
                one, tp=one.tp if one.ranks == 1 else 1, ep=1, stages=(), quantization="",
                gathers=True, eplb=False, redundant_experts=0, overlap=None) for one in roles)
        load = d.Load(1024, rng.choice((128, 512)), 64, rng.choice((None, 2.5)))
        model = rng.choice(("org/model", "m $(x) 'y'"))
        yield experts, d.Deployment(f"svc-{number}", model, "m", engine, "0", roles, load, 2048,
                                    {**FACTS, "experts": experts})


def normal(one):
    """A role as a document can say it: caps are of ranks, and the budget of tokens is that
    of the engine where none is planned."""
    each = -(-one.in_flight // one.ranks)
    return dataclasses.replace(one, in_flight=each * one.ranks, devices_per_node=8, machine="",
                               batched_tokens=0,
                               gathers=one.gathers or one.ep == 1 or one.ranks == 1)


@unittest.skipUnless(yaml, "PyYAML is not installed")
class ExportTest(unittest.TestCase):
    def test_what_is_exported_is_read_as_it_was(self):
        read = dict.fromkeys(d.TARGETS, 0)
        for experts, made in services():
            for target in d.TARGETS:
                try:
                    files = d.files_of(made, target, d.Settings())
                except so.Inexpressible:
                    continue
                files.pop("plan/service.json")
                with self.subTest(made.name, target=target):
                    self.check(documents.read_files(files, "x", {**FACTS, "experts": experts}), made)
                    read[target] += 1
                if "recipe.yaml" in files:
                    with self.subTest(made.name, target="recipe"):
                        found = documents.read_text_of(
                            files["recipe.yaml"], "recipe.yaml", {**FACTS, "experts": experts}, 8, {})
                        self.check(found, made)
        self.assertTrue(all(read.values()), read)

    def check(self, found, made):
        self.assertEqual(found.all_findings, ())
        self.assertEqual(found.engine, made.engine)
        self.assertEqual([normal(one.role) for one in found.roles], list(map(normal, made.roles)))
        for one in found.roles:
            self.assertEqual(one.max_length, made.max_length)
        load = made.load
        if load.rate:  # says no number in flight
            load = dataclasses.replace(load, concurrency=found.load.concurrency)
        self.assertEqual(found.load, load)

    def test_folders_are_read_from_disk(self):
        for target in ("shell", "slurm", "kubernetes"):
            with tempfile.TemporaryDirectory() as place:
                experts, made = next(services())
                d.write(made, target, Path(place, "out"))
                self.check(documents.read_stated(str(Path(place, "out")),
                                                 {**FACTS, "experts": experts}), made)


@unittest.skipUnless(yaml, "PyYAML is not installed")
class PlannedTest(unittest.TestCase):
    """Documents beside the plan that they were made of."""

    def test_what_is_edited_differs(self):
        config = Path(__file__).resolve().parents[2] / "examples/configs/qwen3-235b-a22b.json"
        model = so.load_model(config, so.Decode(context=4096))
        plan = so.plan(so.Problem(model, machine="h200_sxm", devices=16, engine="vllm"))
        with tempfile.TemporaryDirectory() as place:
            out = Path(place, "out")
            d.write(d.deployment_of(plan), "kubernetes", out)
            found = so.check(plan.problem, out, explain=False, plan=plan)
            self.assertEqual(found.findings, ())
            self.assertAlmostEqual(found.share, 1)
            text = (out / "workers.yaml").read_text()
            role = found.stated.roles[0].role
            changed = text.replace(f"--max-num-seqs {role.in_flight // role.ranks}", "--max-num-seqs 3")
            changed = changed.replace("replicas: ", "replicas: 1")
            (out / "workers.yaml").write_text(changed)
            found = so.check(plan.problem, out, explain=False, plan=plan)
            self.assertEqual([str(one) for one in found.differences], [
                f"serve: workers planned {role.workers}, stated 1{role.workers}",
                f"serve: planned {role.in_flight} sequences in flight, stated at most {3 * role.ranks}",
            ])


CONFIGS = Path(__file__).resolve().parents[2] / "examples/configs"
COMMANDS = [
    "vllm serve m -tp 8 -ep --max-num-seqs 64", "vllm serve m -tp 4 -dp 2 -ep", "vllm serve m -tp 8",
    "vllm serve m -dp 8 -ep --max-num-seqs 4", "vllm serve m -tp 2", "vllm serve m -tp 16 --nnodes 2",
    "sglang serve --model m --tp 8 --ep 8", "sglang serve --model m --tp 8 --attn-dp-size 8 --ep 8",
    "sglang serve --model m --tp 8 --max-running-requests 9999", "trtllm-serve m --tp_size 8 --ep_size 4",
    "trtllm-serve m --tp_size 8 --ep_size 8 --enable_attention_dp --max_batch_size 3",
    "sglang serve --model m --tp 8 --disaggregation-mode prefill & "
    "sglang serve --model m --tp 4 --disaggregation-mode decode",
]


class ServiceTest(unittest.TestCase):
    """Services under their load."""

    def problem(self, config="qwen3-235b-a22b", **others):
        model = so.load_model(CONFIGS / f"{config}.json", so.Decode(context=4608))
        return so.Problem(model, **{"machine": "h200_sxm", "isl": 4096, "osl": 512, "tpot_ms": 50,
                                    "ttft_ms": 2000, **others})

    def test_nothing_beats_the_optimum_and_changes_keep_their_word(self):
        asked = {"helped": 0, "feasible": 0}
        for command in COMMANDS:
            with self.subTest(command):
                found = so.check(self.problem(), command)
                if found.outcome.is_feasible and found.is_legal:
                    self.assertLessEqual(found.outcome.throughput, found.best.throughput * (1 + 1e-9))
                    asked["feasible"] += 1
                if found.change is None:
                    continue
                if found.change.outcome.service["devices"] <= found.stated.devices:
                    self.assertLessEqual(found.change.outcome.throughput,
                                         found.best.throughput * (1 + 1e-9))
                (flag, before, after), *more = found.change.flags
                if more or not before or flag == "workers" or f"{flag} {before}" not in command:
                    continue
                again = so.check(self.problem(), command.replace(f"{flag} {before}", f"{flag} {after}"),
                                 explain=False)
                self.assertAlmostEqual(again.outcome.throughput / found.change.outcome.throughput,
                                       1, delta=0.02)
                asked["helped"] += 1
        self.assertGreaterEqual(asked["helped"], 3)
        self.assertGreaterEqual(asked["feasible"], 5)

    def test_servers_that_refuse_the_requests_are_illegal(self):
        for command, flag in [("vllm serve m -tp 8 -ep --max-model-len {}", "--max-model-len"),
                              ("sglang serve --model m --tp 8 --ep 8 --context-length {}", "--context-length"),
                              ("trtllm-serve m --tp_size 8 --ep_size 8 --max_seq_len {}", "--max_seq_len")]:
            for length in (4607, 4608):
                with self.subTest(command, length=length):
                    found = so.check(self.problem(), command.format(length), explain=False)
                    refused = f"{flag} 4607, expected at least 4608"
                    self.assertEqual([refused in text for text in found.findings],
                                     [True] if length < 4608 else [])
                    self.assertEqual(found.outcome.is_feasible, length == 4608)
        pair = ("vllm serve m -tp 8 -ep --max-model-len {} --kv-transfer-config '{{\"kv_role\":\"kv_producer\"}}' & "
                "vllm serve m -tp 8 -ep --kv-transfer-config '{{\"kv_role\":\"kv_consumer\"}}'")
        for length, is_legal in ((4096, False), (4097, True)):  # the prompt and a token
            found = so.check(self.problem(), pair.format(length), explain=False)
            self.assertEqual(found.is_legal, is_legal, found.findings)

    def test_another_model_is_named(self):
        given = so.load_model("qwen3-235b-a22b")
        problem = so.Problem(given, machine="h200_sxm", isl=4096, osl=512)
        for said, kind in [("Qwen/Qwen3-235B-A22B", None), ("qwen/qwen3-235b-a22b-FP8", None),
                           ("/models/Qwen3-235B-A22B", None), ("$MODEL", None), ("/model", None),
                           ("meta-llama/Llama-3.1-70B-Instruct", "differs"), ("/m/llama", "note")]:
            with self.subTest(said):
                found = so.check(problem, f"vllm serve {said} -tp 8 -ep", explain=False)
                kinds = [one.kind for one in found.findings if "the command serves" in one]
                self.assertEqual(kinds, [kind] if kind else [])
                self.assertEqual(found.outcome.is_there, kind != "differs")

    def test_ssh_stands_in_front(self):
        for each in ("ssh node$i vllm serve m -tp 8 -ep", "ssh -n -p 22 -l me -- node$i 'vllm serve m -tp 8 -ep'"):
            found = so.check(self.problem(), f"for i in 1 2; do {each} & done", explain=False)
            self.assertEqual([(one.role.workers, one.role.tp) for one in found.stated.roles], [(2, 8)])

    def test_caps_are_caps(self):
        for cap, concurrency, flying, waits in [(64, None, 64, False), (9999, None, None, False),
                                                (64, 200, 64, True), (64, 32, 32, False)]:
            with self.subTest(cap=cap, concurrency=concurrency):
                problem = self.problem(tpot_ms=None, ttft_ms=None, concurrency=concurrency)
                found = so.check(problem, f"vllm serve m -tp 8 -ep --max-num-seqs {cap}", explain=False)
                self.assertTrue(found.outcome.is_feasible)
                if flying:
                    self.assertEqual(found.outcome.service["concurrency"], flying)
                self.assertEqual("requests wait" in " ".join(found.findings), waits)

    @unittest.skipUnless(yaml, "PyYAML is not installed")
    def test_the_command_of_the_optimum_is_the_optimum(self):
        found = so.check(self.problem(devices=8), "vllm serve Qwen/Qwen3-235B-A22B -tp 8", explain=False)
        [(role, command)] = found.commands
        self.assertEqual(role, "serve")
        self.assertIn(f"\ncommand   {command}\n", str(found))
        best = so.check(self.problem(devices=8), command, explain=False)
        self.assertAlmostEqual(best.share, 1, delta=0.01)
        self.assertEqual((best.commands, best.findings), ((), ()))
        self.assertRegex(str(best), "TPOT [0-9.]+ ms mean, TTFT [0-9.]+ ms mean")

    def test_an_exported_optimum_is_the_optimum(self):
        for engine, devices in (("vllm", 16), ("sglang", 16), ("trtllm", 8)):
            mode = None if engine == "trtllm" else "disaggregated"
            plan = so.plan(self.problem(engine=engine, devices=devices, mode=mode))
            with self.subTest(engine):
                files = d.files_of(d.deployment_of(plan), "shell", d.Settings())
                with tempfile.TemporaryDirectory() as place:
                    out = Path(place, "out")
                    d.folder.write_folder(out, files)
                    found = so.check(plan.problem, out, explain=False, plan=plan)
                self.assertEqual(found.differences, ())
                self.assertAlmostEqual(found.share, 1, places=2)  # caps are whole numbers of ranks

    def test_what_is_missed_is_said(self):
        found = so.check(self.problem(tpot_ms=5), "vllm serve m -tp 8 -ep", explain=False)
        self.assertIn("missed", {one.kind for one in found.findings})
        self.assertFalse(found.outcome.is_feasible)
        found = so.check(self.problem("llama-3.1-70b"), "vllm serve m -tp 1 --dtype bfloat16")
        self.assertFalse(found.outcome.is_feasible)
        self.assertIn("--tensor-parallel-size 4 instead of 1, on 4 GPUs: ", str(found.change))


REQUEST = """apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeploymentRequest
metadata: {{name: qwen, namespace: prod}}
spec:
  model: Qwen/Qwen3-235B-A22B
  backend: {backend}
  hardware: {{gpuSku: {sku}, totalGpus: 16, numGpusPerNode: 8}}
  workload: {{isl: 4096, osl: 512{load}}}
  sla: {{ttft: 2000, itl: 50{sla}}}
  modelCache: {{pvcName: weights, pvcModelPath: qwen3, pvcMountPath: /cache}}
  autoApply: true
"""


@unittest.skipUnless(yaml, "PyYAML is not installed")
class RecipeTest(unittest.TestCase):
    """Search spaces of InferenceX."""

    ENTRY = """dsr1-fp8-b200:
  {{image: i, model: m, model-prefix: dsr1, runner: b200, precision: fp8, framework: {framework},
   scenarios: {{fixed-seq-len: [{{isl: 1024, osl: 512, search-space: [{space}]}}]}}}}
"""

    def cases(self, framework, space):
        return list(read_search_space(yaml.safe_load(self.ENTRY.format(
            framework=framework, space=space)), "f"))

    def test_entries_are_degrees(self):
        for framework, space, wanted in [
            ("sglang", "{tp: 8, ep: 1, conc-start: 4, conc-end: 16}", ("sglang", [(1, 8, 1, 1)], [4, 8, 16])),
            ("vllm", "{tp: 8, ep: 8, dp-attn: true, conc-list: [9]}", ("vllm", [(1, 1, 8, 8)], [9])),
            ("vllm", "{tp: 1, ep: 8, dp-attn: true, conc-list: [9]}", ("vllm", [(1, 1, 8, 8)], [9])),
            ("dynamo-trt", "{conc-list: [64], prefill: {num-worker: 3, tp: 4, ep: 4, dp-attn: true}, "
             "decode: {num-worker: 2, tp: 8, ep: 8, dp-attn: false}}",
             ("trtllm", [(3, 1, 4, 4), (2, 8, 1, 8)], [64])),
        ]:
            with self.subTest(space):
                found = self.cases(framework, space)
                roles = [(one.role.workers, one.role.tp, one.role.ranks, one.role.ep)
                         for one in found[0].stated.roles]
                self.assertEqual((found[0].stated.engine, roles,
                                  [one.stated.load.concurrency for one in found]), wanted)
                self.assertEqual(found[0].stated.all_findings, ())

    def test_what_is_wrong_is_said(self):
        for framework, space, why in [
            ("vllm", "{tp: 8, ep: 2, conc-list: [1]}", "ep 2 on 8 GPUs: vLLM spreads experts"),
            ("sglang", "{tp: 8, ep: 3, conc-list: [1]}", "--ep-size 3 does not divide --tp-size 8"),
        ]:
            (found,) = self.cases(framework, space)
            self.assertIn(why, " ".join(found.stated.all_findings))
        for space, why in [("{tp: 0, conc-list: [1]}", "'tp' is 0"), ("{tp: 1}", "'conc-start' is None"),
                           ("{tp: 1, dp-attn: 3, conc-list: [1]}", "'dp-attn' is 3"),
                           ("{tp: x, conc-list: [1]}", "'tp' is 'x'")]:
            (found,) = self.cases("vllm", space)
            self.assertIsInstance(found, so.ShardoptError)
            self.assertIn(why, str(found))

    def test_several_cases_are_a_table(self):
        text = self.ENTRY.format(framework="sglang", space="{tp: 8, conc-list: [1, 2]}, {tp: 8, ep: 3, conc: 4}")
        with tempfile.TemporaryDirectory() as place:
            path = Path(place, "space.yaml")
            path.write_text(text)
            rows = [case_row(case) for case in documents.search_space_in(str(path))]
        self.assertEqual([row["in_flight"] for row in rows], [1, 2, 4])
        self.assertEqual([row["why"] == "legal" for row in rows], [True, True, False])

    @unittest.skipUnless((DATA / "recipes").is_dir(), f"{DATA} has no recipes")
    def test_published_recipes_are_read(self):
        read = unread = 0
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        for path in (DATA / "recipes").glob("*.yaml.gz"):
            for case in read_search_space(yaml.load(gzip.decompress(path.read_bytes()), loader), path.name):
                unread += isinstance(case, so.ShardoptError)
                read += 1
        self.assertGreater(read, 1500)
        self.assertLessEqual(unread, read * 0.02)


@unittest.skipUnless(yaml, "PyYAML is not installed")
class RequestTest(unittest.TestCase):
    """DynamoGraphDeploymentRequests, answered."""

    def answer(self, backend="vllm", sku="h200_sxm", load="", sla=""):
        text = REQUEST.format(backend=backend, sku=sku, load=load, sla=sla)
        with tempfile.TemporaryDirectory() as place:
            path = Path(place, "request.yaml")
            path.write_text(text)
            return requests.answer(requests.request_in(path), "r", CONFIGS / "qwen3-235b-a22b.json")

    def test_the_answer_is_the_proved_plan_and_its_deployment(self):
        found = self.answer("auto", load=", requestRate: 10")
        self.assertIn(found.deployment.engine, ("vllm", "sglang"))
        self.assertIn("'autoApply' has no effect", found.findings[0])
        problem = found.plan.problem
        self.assertEqual((problem.machine, problem.devices, problem.isl, problem.osl, problem.rate,
                          problem.tpot_ms, problem.ttft_ms), ("h200_sxm", 16, 4096, 512, 10, 50, 2000))
        with tempfile.TemporaryDirectory() as place:
            found.write(Path(place, "out"))
            text = Path(place, "out", "deployment.yaml").read_text()
            self.assertIn("claimName: weights", text)
            self.assertIn("/cache/qwen3", text)
            again = so.check(problem, Path(place, "out"), explain=False, plan=found.plan)
        self.assertEqual(again.differences, ())
        self.assertGreater(again.share, 0.98)

    def test_requests_that_cannot_be(self):
        for fields, why in [
            ({"sku": "h200"}, "unknown 'gpuSku' 'h200'; known: h200_sxm"),
            ({"sku": "3"}, "'gpuSku' is 3"),
            ({"backend": "tgi"}, "the backend is 'tgi'; known"),
            ({"load": ", concurrency: 3, requestRate: 2"}, "expected one of them"),
            ({"load": ", concurrency: 2.5"}, "'concurrency' is 2.5, expected a whole number"),
            ({"load": ", requestRate: -1"}, "'requestRate' is -1"),
            ({"sla": ", e2eLatency: 3"}, "'e2eLatency' is not planned"),
            ({"load": ", requestRate: 99999"}, "of 99999 requests a second"),
        ]:
            with self.subTest(why), self.assertRaisesRegex(so.ShardoptError, why):
                self.answer(**fields)


class ShellTest(unittest.TestCase):
    def said(self, text, **others):
        return [one.words for one in read_commands(text, **others)]

    def test_words_are_the_shells(self):
        for text, words in [
            ("a 'b c' \"d\\\"e\" f\\ g", [["a", "b c", 'd"e', "f g"]]),
            ("X=1; a $X ${X} \"$X\" '$X' ${Y:-2} ${Y-} $((X * 3))", [["a", "1", "1", "1", "$X", "2", "3"]]),
            ("X='a b'; c $X \"$X\" $UNKNOWN", [["c", "a", "b", "a b", "$UNKNOWN"]]),
            ("L=(1 '2 3'); L+=(4); c \"${L[@]}\"", [["c", "1", "2 3", "4"]]),
            ("a \\\n  b # c\nd", [["a", "b"], ["d"]]),
            ("a \\   # comment\n b", [["a", "b"]]),
            ("a <model> {{ .x y }} > log 2>&1 & b", [["a", "<model>", "{{ .x y }}"], ["b"]]),
            ("$ a b\n", [["a", "b"]]),
            ("X=2; if [ $X -eq 2 ]; then a; else b; fi; [ $X = 3 ] || c; [ $X = 3 ] && d",
             [["a"], ["c"]]),
            ("set -- x; a \"$@\"; set --; b \"$@\"", [["a", "x"], ["b"]]),
            ("for i in 1 {5..6}; do a $i; done", [["a", "1"], ["a", "5"], ["a", "6"]]),
            ("N=8; R=$(( ${I:-2} * N )); a $R $((UNKNOWN * 2)) $((N / 3))",
             [["a", "16", "$((UNKNOWN * 2))", "2"]]),
            ("V=a.b.c; x ${V%.*} ${V##*.}", [["x", "a.b", "c"]]),
        ]:
            with self.subTest(text):
                self.assertEqual(self.said(text), words)

    def test_files_are_kept_and_nothing_is_run(self):
        files = {}
        with tempfile.TemporaryDirectory() as place:
            mark = Path(place, "ran")
            text = (f"F=/tmp/x.yml\ncat << EOF > $F\na: $(touch {mark})\nEOF\n"
                    f"`touch {mark}`\necho b > y\nprintf %s c > z\n")
            self.said(text, files=files)
            self.assertFalse(mark.exists())
        self.assertEqual(files, {"/tmp/x.yml": f"a: $(touch {mark})\n", "y": "b\n", "z": "c"})

    def test_what_is_no_shell_is_an_error(self):
        for text, why in [("a 'b", "line 1: a quotation has no end"), ("\na $(b", "line 2: a '('"),
                          ("x" * 100_001, "100001 characters")]:
            with self.subTest(text[:9]), self.assertRaisesRegex(so.ShardoptError, why.replace("(", r"\(")):
                self.said(text)

    def test_the_end_comes(self):
        for text in ("for i in {1..9999}; do for j in {1..9999}; do a; done; done",
                     "X=a; " + "X=$X$X; " * 60 + "b $X", "((((" * 99, "${" * 999, "$((" + "9*" * 999 + "9))"):
            with self.subTest(text[:20]):
                try:
                    self.said(text)
                except so.ShardoptError:
                    pass


class DocumentTest(unittest.TestCase):
    def read(self, text, place="x.yaml", experts=0):
        return documents.read_text_of(text, place, {**FACTS, "experts": experts}, 8, {})

    @unittest.skipUnless(yaml, "PyYAML is not installed")
    def test_what_is_no_manifest_is_one_line(self):
        for text, why in [
            ("a: 1\n", "no manifest: it has"),
            ("- 1\n", "no manifest: it has"),
            ("", "no manifest: it has None"),
            ("a: [\n", "x.yaml"),
            ("kind: ConfigMap\napiVersion: v1\n", "starts no engine: it has ConfigMap"),
            ("kind: Pod\napiVersion: v1\nspec: {containers: [3]}\n", "a container is 3"),
            ("kind: Pod\napiVersion: v1\nspec: {containers: [{image: nginx, command: [nginx]}]}\n",
             "starts no engine: it has Pod"),
            ("kind: Deployment\napiVersion: apps/v1\nspec: {replicas: -1, template: {spec: "
             "{containers: [{command: [vllm, serve, m]}]}}}\n", "'replicas' is -1"),
            ("services: {a: {image: nginx}}\n", "starts no engine: its services are a"),
            ("backend: {type: vlm}\nresources: {agg_workers: 1}\n", "the engine is 'vlm'; known: vllm"),
            ("backend: {type: vllm}\nresources: {}\n", "has no workers"),
            ("backend: {type: vllm}\nresources: {agg_workers: x}\n", "'agg_workers' is 'x'"),
            ("a: &a [1, 1]\n" + "".join(
                f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n"
                for n in range(8)), "by its aliases"),
            ("a: &a [*a]\n", "by its aliases"),
            ("e: {framework: xx, scenarios: {fixed-seq-len: [{isl: 1, osl: 1, search-space: "
             "[{tp: 1, conc-list: [1]}]}]}}\n", "the framework is 'xx'"),
        ]:
            with self.subTest(why), self.assertRaises(so.ShardoptError) as caught:
                self.read(text)
            self.assertIn(why, str(caught.exception))
            self.assertLess(len(str(caught.exception)), 700)

    @unittest.skipUnless(yaml, "PyYAML is not installed")
    def test_two_models_and_two_engines_are_said(self):
        text = ("kind: DisaggregatedSet\napiVersion: v1\nspec:\n  roles:\n"
                "  - {name: prefill, spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers:"
                " [{command: [vllm, serve, a]}]}}}}}\n"
                "  - {name: decode, spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers:"
                " [{command: [sglang, serve, --model, b]}]}}}}}\n")
        found = self.read(text)
        self.assertIn("its roles have several models: a, b", found.all_findings)
        self.assertIn("its roles have several engines: vllm, sglang", found.all_findings)
        self.assertFalse(found.is_legal)

    @unittest.skipUnless(yaml, "PyYAML is not installed")
    def test_gpus_of_pods_are_held_against_flags(self):
        text = ("kind: LeaderWorkerSet\napiVersion: v1\nspec: {{replicas: 2, leaderWorkerTemplate: {{size: {},"
                " workerTemplate: {{spec: {{containers: [{{command: [vllm, serve, m, --nnodes, '2', -tp, '16'],"
                " resources: {{limits: {{nvidia.com/gpu: 8}}}}}}]}}}}}}}}\n")
        self.assertEqual(self.read(text.format(2)).all_findings, ())
        self.assertEqual(self.read(text.format(2)).roles[0].role.workers, 2)
        self.assertIn("a worker has 16 GPUs by its flags, and its 1 pods have 8",
                      " ".join(self.read(text.format(1)).all_findings))
        self.assertIn("uses 16 of the 24 GPUs", " ".join(self.read(text.format(3)).all_findings))

    def test_neighbours_that_are_no_text_are_left_alone(self):
        with tempfile.TemporaryDirectory() as place:
            Path(place, "a.yaml").write_bytes(b"\xff\xfe\x00")
            Path(place, "run.sh").write_text("vllm serve m -tp 2\n")
            self.assertEqual(documents.read_stated(f"{place}/run.sh").roles[0].role.tp, 2)
            for asked in (place, f"{place}/a.yaml"):
                with self.assertRaisesRegex(so.ShardoptError, "a.yaml' cannot be read"):
                    documents.read_stated(asked)

    def test_paths_and_commands_are_told_apart(self):
        for text in ("x.yaml", "no/such/folder/", "launch.sh"):
            with self.assertRaisesRegex(so.ShardoptError, "is not there"):
                documents.read_stated(text)
        self.assertEqual(documents.read_stated("vllm serve x.yaml/").roles[0].model, "x.yaml/")


if __name__ == "__main__":
    unittest.main()
