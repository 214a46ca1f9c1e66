"""A config and the module that is made of it are one model: every family, and every
type of weights and caches, has one service, to the last digit."""

import json
import tempfile
import unittest
from pathlib import Path

import shardopt as so

ROOT = Path(__file__).resolve().parents[2]
INPUTS = ROOT / "test/Target/HuggingFace/Inputs"
TINY = sorted((ROOT / "test/Target/HuggingFace/Tiny").glob("*/config.json"))
PUBLISHED = sorted((INPUTS / "families").glob("*.json"))
CONTEXT = 96

#: Models whose services are compared for every type; of all others it is the program.
PLANNED = ("bamba", "deepseek_v32", "gemma2", "llama4_sees", "qwen3_next", "qwen3_vl_moe")
#: Types by the bytes that they take, most first; those of 8 bits take as many.
TYPES = ("bf16", "fp8", "fp8_block", "int8", "nvfp4", "int4")

#: What published checkpoints say of their weights.
CHECKPOINTS = {
    "awq": {
        "quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm",
        "zero_point": True, "modules_to_not_convert": None,
    },
    "gptq, groups of 32": {
        "quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": False,
        "sym": True,
    },
    "fp8, a scale a matrix, static": {
        "quant_method": "fp8", "activation_scheme": "static",
    },
    "fp8, a scale a matrix, dynamic": {
        "quant_method": "fp8", "activation_scheme": "dynamic",
    },
    "fp8, blocks": {
        "quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e4m3",
        "weight_block_size": [128, 128],
    },
    "fp8, channels": {
        "quant_method": "compressed-tensors",
        "config_groups": {
            "group_0": {
                "weights": {
                    "type": "float", "num_bits": 8, "strategy": "channel",
                    "symmetric": True, "dynamic": False,
                },
                "input_activations": {
                    "type": "float", "num_bits": 8, "strategy": "token", "dynamic": True,
                },
                "targets": ["Linear"],
            }
        },
        "ignore": ["lm_head"],
    },
    "int8, channels": {
        "quant_method": "compressed-tensors",
        "config_groups": {
            "group_0": {
                "weights": {"type": "int", "num_bits": 8, "strategy": "channel"},
                "targets": ["Linear"],
            }
        },
        "ignore": ["lm_head"],
    },
    "int4, groups of 64": {
        "quant_method": "compressed-tensors",
        "config_groups": {
            "group_0": {
                "weights": {
                    "type": "int", "num_bits": 4, "strategy": "group", "group_size": 64,
                },
                "targets": ["Linear"],
            }
        },
        "ignore": ["lm_head"],
    },
    "nvfp4, caches of fp8": {
        "quant_method": "modelopt", "quant_algo": "NVFP4",
        "kv_cache_scheme": {"dynamic": False, "num_bits": 8, "type": "float"},
        "ignore": ["lm_head"],
    },
    "mxfp4": {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]},
}


def answer(model, devices=2, machine="b200_sxm"):
    """What is said of the service of a model, or why there is none."""
    problem = so.Problem(
        model, machine=machine, devices=devices, isl=64, osl=CONTEXT - 64, concurrency=8
    )
    try:
        service = so.plan(problem)
    except so.ShardoptError as error:  # that it does not fit, or the engine has no kernel
        return str(error)
    return json.dumps([service.report, service.table])


def weights_of(model):
    """Bytes of the weights on one device, embedding and head included."""
    problem = so.Problem(model, machine="b200_sxm", max_devices=1, pins={"batch": [1]})
    return so.plan(problem).report["best"]["memory_parts_gb"]["weights"]


class Parity(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def module_of(self, model, **types):
        """The model that is read of the text of `model`, with other types."""
        path = self.folder / "module.mlir"
        path.write_text(model.mlir)
        return so.load_model(path, **types)

    def check(self, config, module, *args):
        self.assertEqual(config.mlir, module.mlir)
        self.assertEqual(answer(config, *args), answer(module, *args))

    def compare(self, place, config, module, number):
        """Programs always; services of some models, and of the others for one type each."""
        count = len(TYPES) + TINY.index(place)
        if place.parent.name in PLANNED or number == count % len(TYPES):
            self.check(config, module)
        else:
            self.assertEqual(config.mlir, module.mlir)

    def test_types_that_are_asked_for(self):
        for place in TINY:
            plain = so.load_model(place, so.Decode(CONTEXT))
            bytes_of = {}
            types = [*TYPES, *(("mxfp4",) if plain.experts else ())]
            for number, name in enumerate(types):
                with self.subTest(model=place.parent.name, type=name):
                    asked = {"weight_type": name}
                    if number % 2 and "attention" in str(plain.ops):
                        asked["kv_type"] = "fp8"
                    config = so.load_model(place, so.Decode(CONTEXT), **asked)
                    self.compare(place, config, self.module_of(plain, **asked), number)
                    self.assertEqual(config.mlir, plain.retyped(**asked).mlir)
                    # What was retyped once is retyped again as if it had not been.
                    self.assertEqual(
                        config.mlir,
                        self.module_of(config, **asked).mlir,
                    )
                    if place.parent.name in PLANNED:
                        bytes_of[name] = weights_of(config)
            if not bytes_of:
                continue
            self.assertEqual(bytes_of["fp8"], bytes_of["fp8_block"])
            self.assertEqual(bytes_of["fp8"], bytes_of["int8"])
            sizes = [bytes_of[name] for name in ("bf16", "fp8", "nvfp4", "int4")]
            self.assertEqual(sizes, sorted(sizes, reverse=True), place)
            self.assertEqual(len(set(sizes)), len(sizes), place)

    def test_types_of_checkpoints(self):
        for place in TINY:
            values = json.loads(place.read_text())
            for number, (name, method) in enumerate(CHECKPOINTS.items()):
                if name == "mxfp4" and not so.load_model(place, so.Decode(CONTEXT)).experts:
                    continue
                with self.subTest(model=place.parent.name, type=name):
                    path = self.folder / place.parent.name / "config.json"
                    path.parent.mkdir(exist_ok=True)
                    path.write_text(json.dumps({**values, "quantization_config": method}))
                    config = so.load_model(path, so.Decode(CONTEXT))
                    self.assertIn("llm.quantization = ", config.mlir)
                    self.compare(place, config, self.module_of(config), number)

    def test_published_models(self):
        for place in PUBLISHED:
            path = self.folder / place.name
            # Some published files leave the epsilon of norms out.
            values = {"rms_norm_eps": 1e-6, **json.loads(place.read_text())}
            path.write_text(json.dumps(values))
            plain = so.load_model(path, so.Decode(CONTEXT))
            self.check(plain, self.module_of(plain), 8)
            types = {"weight_type": "fp8", "kv_type": "fp8"}
            with self.subTest(model=place.stem, **types):
                config = so.load_model(path, so.Decode(CONTEXT), **types)
                self.assertEqual(config.mlir, self.module_of(plain, **types).mlir)


class Engines(unittest.TestCase):
    """Weights that an engine has no kernel for are refused by name."""

    def refusal(self, weights, engine, machine):
        place = INPUTS / "llama.json"
        model = so.load_model(place, so.Decode(CONTEXT), weight_type=weights)
        problem = so.Problem(
            model, machine=machine, engine=engine, devices=2, isl=64, osl=32
        )
        try:
            so.plan(problem)
        except so.ShardoptError as error:
            return str(error)
        return ""

    def test_what_no_kernel_multiplies(self):
        has_none = {
            ("int8", "vllm", "b200_sxm"), ("int8", "sglang", "b200_sxm"),
            ("int8", "trtllm", "b200_sxm"), ("int8", "trtllm", "h100_sxm"),
            ("int8", "trtllm", "a100_sxm"), ("nvfp4", "trtllm", "h100_sxm"),
            ("nvfp4", "trtllm", "a100_sxm"), ("fp8", "trtllm", "a100_sxm"),
        }
        for weights in ("bf16", "fp8", "int8", "int4", "nvfp4"):
            for engine in ("vllm", "sglang", "trtllm"):
                for machine in ("a100_sxm", "h100_sxm", "b200_sxm"):
                    with self.subTest(weights=weights, engine=engine, machine=machine):
                        found = self.refusal(weights, engine, machine)
                        wanted = (
                            f"{engine} has no kernel for weights of {weights} on '{machine}'"
                            if (weights, engine, machine) in has_none
                            else ""
                        )
                        self.assertTrue(found.startswith(wanted) and bool(found) == bool(wanted), found)


if __name__ == "__main__":
    unittest.main()
