"""Run by a Python that has the engines and Dynamo: what its own parsers make of the words of
workers, and its model of deployments of a graph. Reads and writes JSON.

usage: dynamo_parsers.py FOLDER-OF-check_launch.py < [{"words": […]} | {"graph": {…}}, …]
"""

import asyncio
import contextlib
import importlib.machinery
import io
import json
import sys
import types

sys.path.insert(0, sys.argv[1])
import check_launch  # noqa: E402


def _stand_in(name):
    module = types.ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    module.__path__ = []
    module.__getattr__ = lambda each: (_ for _ in ()).throw(AttributeError(each)) \
        if each.startswith("__") else type(each, (), {})
    sys.modules[name] = module


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


def of_graph(graph):
    for name in ("sklearn", "sklearn.linear_model", "aisimulate", "aisimulate_core",
                 "kubernetes_asyncio"):
        if name not in sys.modules:
            _stand_in(name)
    from dynamo.profiler.utils.config import Config

    config = Config.model_validate(graph)
    return {"components": [each.name for each in config.spec.components]}


def main():
    check_launch.load_vllm()
    found = []
    asked = json.load(sys.stdin)
    if any("dynamo.sglang" in one.get("words", ()) for one in asked):
        check_launch.load_sglang()
    for one in asked:
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                if "graph" in one:
                    means = of_graph(one["graph"])
                else:
                    module, words = one["words"][2], one["words"][3:]
                    means = {"dynamo.vllm": of_vllm, "dynamo.sglang": of_sglang}[module](words)
            found.append({"means": means})
        except BaseException as error:
            found.append({"error": f"{type(error).__name__}: {error}"[:400]})
    print("\n" + json.dumps(found))


main()
