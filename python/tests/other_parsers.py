"""Run by a Python that has the engines, Dynamo and the routers: what the parsers of all
programs but the engines' servers make of words, and Dynamo's model of its graphs. Reads
and writes JSON.

usage: other_parsers.py FOLDER-OF-check_launch.py < [{"words": […], "config": FILE} | {"graph": {…}}, …]

TensorRT-LLM is on no public index: its client and its disaggregated server are parsed by
tables of their options, and its modules are stand-ins for Dynamo's worker.
"""

import argparse
import asyncio
import contextlib
import importlib
import importlib.machinery
import io
import json
import math
import shutil
import sys
import tempfile
from pathlib import Path
from unittest import mock

sys.path.insert(0, sys.argv[1])
import check_launch  # noqa: E402

#: What Dynamo's worker of TensorRT-LLM and its profiler import beside their own modules.
_ABSENT = ("tensorrt_llm", "sklearn", "aisimulate", "aisimulate_core", "kubernetes",
           "kubernetes_asyncio")


class _StandIns(check_launch._Finder):
    """Stand-in modules for these names and what is inside them."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in _ABSENT:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None


def of_vllm(words):
    from dynamo.vllm.args import parse_args

    args = parse_args(words).engine_args
    return {"tp": args.tensor_parallel_size, "dp": args.data_parallel_size,
            "pp": args.pipeline_parallel_size, "cp": args.decode_context_parallel_size}


def of_sglang(words):
    from dynamo.sglang.args import parse_args

    args = asyncio.run(parse_args(words)).server_args
    return {"tp": args.tp_size // args.attn_dp_size, "dp": args.attn_dp_size, "pp": args.pp_size,
            "cp": args.dcp_size}


def of_trtllm(words):
    from dynamo.trtllm.args import parse_args

    args = parse_args(words)
    said = json.loads(args.override_engine_args or "{}")
    cp = said.get("context_parallel_size", 1)
    size = args.tensor_parallel_size
    return {"tp": 1 if args.enable_attention_dp else size * cp,
            "dp": size if args.enable_attention_dp else 1,
            "pp": args.pipeline_parallel_size, "cp": cp}


def of_frontend(words):
    from dynamo.frontend import main as frontend

    with mock.patch.object(sys, "argv", ["frontend", *words]):
        return {"port": frontend.parse_args()[0].http_port}


def of_router(package):
    """By role, the workers that a router is given, or the labels that it looks for."""
    def read(words):
        launch = importlib.import_module(f"{package}.launch_router")
        args = launch.parse_router_args(words)
        args._validate_router_args()
        launch.Router.from_args(args)  # the configuration that the router itself checks
        prefill = [url for url, _ in args.prefill_urls or ()]
        found = {"serve": args.worker_urls, "prefill": prefill, "decode": args.decode_urls}
        if args.service_discovery:
            found = {"serve": args.selector, "prefill": args.prefill_selector,
                     "decode": args.decode_selector}
        return {"port": args.port, **{role: said for role, said in found.items() if said}}

    return read


def of_vllm_client(words):
    from vllm.benchmarks.serve import add_cli_args

    parser = check_launch.load_vllm()["fresh"](prog="vllm bench serve")
    add_cli_args(parser)
    return _sent(check_launch.parsed(parser, words))


def of_sglang_client(words):
    client = importlib.import_module("sglang.benchmark.serving")
    found = []
    with mock.patch.object(sys, "argv", ["client", *words]), \
            mock.patch.object(client, "run_benchmark", found.append):
        client.cli_main()
    return _sent(found[0])


def _sent(args):
    return {"input": args.random_input_len, "output": args.random_output_len,
            "concurrency": args.max_concurrency,
            "rate": "inf" if math.isinf(args.request_rate) else args.request_rate}


#: Of TensorRT-LLM 1.3.0rc: options with the type of their value, their choices, or none.
_CLIENT = {
    "--base-url": str, "--dataset-name": ["sharegpt", "burstgpt", "sonnet", "random", "random_image", "hf",
                                          "trtllm_custom"],
    "--max-concurrency": int, "--model": str, "--num-prompts": int, "--request-rate": float,
    "--ignore-eos": None, "--random-input-len": int, "--random-output-len": int, "--random-ids": None,
    "--served-model-name": str,
}
_DISAGGREGATED = {
    "--config_file": str, "--metadata_server_config_file": str, "--server_start_timeout": int,
    "--request_timeout": int, "--log_level": str, "--metrics-log-interval": int,
}


def _by_table(words, table):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name, kind in table.items():
        said = {"action": "store_true"} if kind is None else \
            {"choices": kind} if isinstance(kind, list) else {"type": kind}
        parser.add_argument(name, **said)
    return parser.parse_args(words)


def of_trtllm_client(words):
    args = _by_table(words, _CLIENT)
    if not (args.random_ids and args.dataset_name == "random"):
        raise ValueError("random prompts are of ids only with --random-ids")
    return _sent(argparse.Namespace(**{"request_rate": float("inf"), **{
        name: value for name, value in vars(args).items() if value is not None}},
        **({} if args.max_concurrency else {"max_concurrency": None})))


def of_disaggregated(words):
    return {"config": _by_table(words, _DISAGGREGATED).config_file}


#: By the words that a command begins with.
PROGRAMS = {
    ("python3", "-m", "dynamo.vllm"): of_vllm,
    ("python3", "-m", "dynamo.sglang"): of_sglang,
    ("python3", "-m", "dynamo.trtllm"): of_trtllm,
    ("python3", "-m", "dynamo.frontend"): of_frontend,
    ("python3", "-m", "sglang_router.launch_router"): of_router("sglang_router"),
    ("vllm-router",): of_router("vllm_router"),
    ("vllm", "bench", "serve"): of_vllm_client,
    ("python3", "-m", "sglang.bench_serving"): of_sglang_client,
    ("python3", "-m", "tensorrt_llm.serve.scripts.benchmark_serving"): of_trtllm_client,
    ("trtllm-serve", "disaggregated"): of_disaggregated,
}


def of_words(words, config):
    """`config` takes the place of a worker's model: a folder of it."""
    for at, word in enumerate(words[:-1]):
        if word in ("--model", "--model-path") and words[1:2] == ["-m"] and "dynamo" in words[2]:
            words = [*words[: at + 1], config, *words[at + 2 :]]
    for start, read in PROGRAMS.items():
        if tuple(words[: len(start)]) == start:
            return read(words[len(start) :])
    raise ValueError(f"no parser of {words[:3]}")


def folder_of(path, place):
    """A folder with a config, as programs load models."""
    folder = Path(place, Path(path).stem)
    folder.mkdir(exist_ok=True)
    shutil.copy(path, folder / "config.json")
    return str(folder)


def of_graph(graph):
    from dynamo.profiler.utils.config import Config

    config = Config.model_validate(graph)
    return {"components": [each.name for each in config.spec.components]}


def main(place):
    check_launch.load_vllm()
    sys.meta_path.append(_StandIns())
    found = []
    asked = json.load(sys.stdin)
    if any("sglang" in word for one in asked for word in one.get("words", ())[:3]):
        check_launch.load_sglang()
    for one in asked:
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
                config = folder_of(one["config"], place) if "config" in one else None
                means = of_graph(one["graph"]) if "graph" in one else of_words(one["words"], config)
            found.append({"means": means})
        except BaseException as error:
            text = f"{type(error).__name__}: {error} {said.getvalue()[-300:]}"
            found.append({"error": text[:600]})
    print("\n" + json.dumps(found))


with tempfile.TemporaryDirectory() as PLACE:
    main(PLACE)
