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

sys.path.insert(0, sys.argv[1])
import check_launch  # noqa: E402


#: What Dynamo's profiler imports beside its models.
_ABSENT = ("sklearn", "aisimulate", "aisimulate_core", "kubernetes",
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


def of_graph(graph):
    from dynamo.profiler.utils.config import Config

    config = Config.model_validate(graph)
    return {"components": [each.name for each in config.spec.components]}


def main():
    check_launch.load_vllm()
    sys.meta_path.append(_StandIns())
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
