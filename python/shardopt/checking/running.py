"""What a server that runs says of itself, by its engine's answers and its start log.

Shapes are those of vLLM 0.33 (`/version`, `/metrics`, `/server_info` in development
mode, the log), SGLang 0.5.23 (`/server_info`) and TensorRT-LLM 1.3 (`/version`,
`/metrics`, its options in YAML).
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any, Mapping

from ..border import read_text, shown
from ..engine_table import table
from ..errors import ShardoptError
from ..yaml_files import parse_yaml
from .fetching import Answer, NoAnswer, base_of, fetch
from .flags import Flags, defaults_of, read_options


@dataclass
class Running:
    """A server's own words. `facts` are by the names of plans; `sources` say where each
    is from; what no source says is not there."""

    engine: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)

    def learn(self, source: str, **facts: Any) -> None:
        """Keeps what is said first."""
        for name, value in facts.items():
            if value is not None and name not in self.facts:
                self.facts[name] = value
                self.sources[name] = source

    @property
    def cached_tokens(self) -> int | None:
        """Tokens whose caches a data parallel rank holds."""
        if "cached_tokens" in self.facts:
            return int(self.facts["cached_tokens"])
        blocks, size = self.facts.get("blocks"), self.facts.get("block_size")
        return blocks * size if blocks and size else None


def ask(url: str, timeout_s: float = 10, log: str | None = None) -> Running:
    """What the server at `url` says, and its start log or options in the file `log`."""
    base = base_of(url)
    running = Running()
    answers: dict[str, Answer] = {}
    for path in ("/server_info", "/get_server_info", "/version", "/metrics", "/v1/models"):
        if path == "/get_server_info" and answers["/server_info"].ok:
            continue
        answers[path] = fetch(base, path, timeout_s)
    for path in ("/server_info", "/get_server_info"):
        if path in answers and answers[path].ok:
            _read_server_info(running, answers[path], path)
    if answers["/version"].ok:
        said = answers["/version"].json()
        version = said.get("version") if isinstance(said, dict) else None
        running.learn("/version", version=version if isinstance(version, str) else None)
    if answers["/metrics"].ok:
        _read_metrics(running, answers["/metrics"])
    if answers["/v1/models"].ok:
        _read_models(running, answers["/v1/models"])
    if log is not None:
        read_log(running, log)
    if not running.engine:
        said = ", ".join(f"{path} {answer.status}" for path, answer in answers.items())
        raise NoAnswer(
            f"'{base}' is no server of vllm, sglang or trtllm-serve, as far as its answers say: {said}"
        )
    return running


def _whole(value: Any) -> int | None:
    """A count, also as a text; None of anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and re.fullmatch("[0-9]{1,15}", value):
        return int(value)
    return value if isinstance(value, int) and 0 <= value < 10**15 else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value not in ("", "None") else None


#: Facts that are texts; the others are counts.
_TEXTS = ("cache_type", "weight_type", "model")


def _named(said: Mapping[str, Any], **names: str) -> dict[str, Any]:
    """Facts by the names that an engine has for them."""
    return {
        fact: (_text if fact in _TEXTS else _whole)(said.get(name)) for fact, name in names.items()
    }


def _exchange(backend: Any, gathers: str) -> str | None:
    """How experts exchange rows, by the backend's name; `gathers` is the one that gathers."""
    if not isinstance(backend, str):
        return None
    return "gather" if backend == gathers else "all_to_all"


def _read_server_info(running: Running, answer: Answer, path: str) -> None:
    said = answer.json()
    if not isinstance(said, dict):
        raise NoAnswer(f"'{answer.url}' answers {shown(said)}, expected an object")
    if "vllm_config" in said:
        _read_vllm_config(running, said["vllm_config"], path)
    elif "tp_size" in said:
        _read_sglang(running, said, path)
    else:
        raise NoAnswer(
            f"'{answer.url}' has neither 'tp_size' (SGLang) nor 'vllm_config' (vLLM)"
        )


def _read_sglang(running: Running, said: Mapping[str, Any], source: str) -> None:
    """The resolved arguments of SGLang's server, and the room of its scheduler."""
    running.engine = running.engine or "sglang"
    size = {name: _whole(said.get(name)) for name in (
        "tp_size", "pp_size", "ep_size", "dp_size", "attn_dp_size", "dcp_size")}
    tp, pp = size["tp_size"], size["pp_size"] or 1
    ranks = size["attn_dp_size"] or 1
    # Before 0.5.23 --dp-size was the width of attention's data parallelism.
    if ranks == 1 and said.get("enable_dp_attention") and size["dp_size"]:
        ranks = size["dp_size"]
    if tp:
        running.learn(source, tp=max(1, tp // ranks), dp=ranks, pp=pp, world=tp * pp)
    mode = said.get("disaggregation_mode")
    running.learn(
        source,
        ep=size["ep_size"],
        cp=size["dcp_size"],
        exchange=_exchange(said.get("moe_a2a_backend"), "none"),
        version=_text(said.get("version")),
        role=mode if mode in ("prefill", "decode") else None,
        **_named(said, most_in_flight="max_running_requests", cached_tokens="max_total_num_tokens",
                 max_length="context_length", cache_type="kv_cache_dtype",
                 weight_type="quantization", model="model_path"),
    )


def _read_vllm_config(running: Running, config: Any, source: str) -> None:
    """vLLM's configuration, as JSON or as the text that its log has."""
    running.engine = "vllm"
    if isinstance(config, str):
        _read_vllm_text(running, config, source)
        return
    if not isinstance(config, dict):
        return

    def part(name: str) -> Mapping[str, Any]:
        inner = config.get(name)
        return inner if isinstance(inner, dict) else {}

    parallel, cache = part("parallel_config"), part("cache_config")
    model, scheduler = part("model_config"), part("scheduler_config")
    _learn_vllm_degrees(running, parallel, source)
    running.learn(source, **_named(cache, **_OF_CACHES))
    running.learn(source, **_named(model, weight_type="quantization", max_length="max_model_len",
                                   model="model"))
    running.learn(source, **_named(scheduler, most_in_flight="max_num_seqs"))


#: vLLM's names of what its caches are, in its configuration and its metrics.
_OF_CACHES = {"blocks": "num_gpu_blocks", "block_size": "block_size",
              "cached_tokens": "kv_cache_size_tokens", "cache_type": "cache_dtype"}


def _learn_vllm_degrees(running: Running, said: Mapping[str, Any], source: str) -> None:
    size = {name: _whole(said.get(name)) for name in (
        "tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size",
        "decode_context_parallel_size")}
    tp, pp, dp = (size[f"{kind}_parallel_size"] for kind in ("tensor", "pipeline", "data"))
    running.learn(source, tp=tp, pp=pp, dp=dp, cp=size["decode_context_parallel_size"])
    if tp and pp and dp:
        running.learn(source, world=tp * pp * dp)
    spreads = said.get("enable_expert_parallel")
    if isinstance(spreads, bool) and tp and dp:
        running.learn(source, ep=tp * dp if spreads else 1)
    running.learn(source, exchange=_exchange(said.get("all2all_backend"), "allgather_reducescatter"))


_NAMED = re.compile(r"\b(\w+)=('[^']*'|\"[^\"]*\"|[^\s,()]+)")


def _read_vllm_text(running: Running, text: str, source: str) -> None:
    """`tensor_parallel_size=8, …, quantization=fp8`, of a log line."""
    said = {name: value.strip("'\"") for name, value in _NAMED.findall(text)}
    _learn_vllm_degrees(running, {**said, "enable_expert_parallel": None}, source)
    running.learn(source, **_named(said, cache_type="kv_cache_dtype", weight_type="quantization",
                                   max_length="max_seq_len", model="model"))


_METRIC = re.compile(r"^([A-Za-z_:][\w:]*)\{(.*)\}\s+\S+", re.M)
_LABEL = re.compile(r'([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"')


def _read_metrics(running: Running, answer: Answer) -> None:
    """Prometheus' text of vLLM, or the list of iterations of TensorRT-LLM."""
    text = answer.text.lstrip()
    if text.startswith("["):
        _read_iterations(running, answer)
        return
    engines = set()
    for name, labels in _METRIC.findall(answer.text):
        if not name.startswith("vllm:"):
            continue
        running.engine = running.engine or "vllm"
        said = dict(_LABEL.findall(labels))
        if "engine" in said:
            engines.add(said["engine"])
        if name == "vllm:cache_config_info":
            running.learn("/metrics", **_named(said, **_OF_CACHES))
    if engines:
        running.learn("/metrics", engines=len(engines))
    if not running.engine and "sglang:" in answer.text:
        running.engine = "sglang"


def _read_iterations(running: Running, answer: Answer) -> None:
    said = answer.json()
    rows = [row for row in said if isinstance(row, dict)] if isinstance(said, list) else []
    if rows or "version" in running.facts:
        running.engine = running.engine or "trtllm"
    for row in rows[-1:]:
        stats = row.get("kvCacheStats")
        stats = stats if isinstance(stats, dict) else {}
        running.learn(
            "/metrics",
            blocks=_whole(stats.get("maxNumBlocks")),
            block_size=_whole(stats.get("tokensPerBlock")),
            most_in_flight=_whole(row.get("maxNumActiveRequests")),
        )


def _read_models(running: Running, answer: Answer) -> None:
    said = answer.json()
    data = said.get("data") if isinstance(said, dict) else None
    for row in data[:1] if isinstance(data, list) else []:
        if isinstance(row, dict):
            running.learn("/v1/models", served_name=_text(row.get("id")),
                          max_length=_whole(row.get("max_model_len")))


def read_log(running: Running, path: str) -> None:
    """A start log of vLLM or SGLang, or the options of TensorRT-LLM in YAML."""
    text = read_text(path)
    if path.endswith((".yaml", ".yml")):
        _read_trtllm_options(running, text, path)
        return
    known = len(running.facts)
    args = re.search(r"non-default args: (\{.*\})", text)
    if args:
        _read_non_default(running, args[1], path)
    line = re.search(r"Initializing a V1 LLM engine \(v([^)]*)\) with config: (.*)", text)
    if line:
        running.engine = running.engine or "vllm"
        running.learn(path, version=line[1])
        _read_vllm_text(running, line[2], path)
    tokens = re.search(r"KV cache size: ([0-9,]+) tokens", text)
    if tokens:
        running.engine = running.engine or "vllm"
        running.learn(path, cached_tokens=_whole(tokens[1].replace(",", "")))
    server = re.search(r"server_args=ServerArgs\((.*)\)", text)
    if server:
        _read_sglang(running, _sglang_arguments(server[1]), path)
    room = re.search(r"max_total_num_tokens=([0-9]+)", text)
    if room:
        running.engine = running.engine or "sglang"
        running.learn(path, cached_tokens=int(room[1]))
    if len(running.facts) == known:
        raise ShardoptError(
            f"'{path}' is no start log: it has neither vLLM's 'non-default args' and "
            "'Initializing a V1 LLM engine', nor SGLang's 'server_args=ServerArgs'"
        )


def _sglang_arguments(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in _NAMED.findall(text):
        bare = value.strip("'\"")
        found[name] = {"True": True, "False": False, "None": None}.get(bare, bare)
    return found


def _read_non_default(running: Running, text: str, source: str) -> None:
    """vLLM's arguments other than their defaults."""
    try:
        said = ast.literal_eval(text[:1_000_000])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return
    if not isinstance(said, dict):
        return
    running.engine = running.engine or "vllm"
    usual = {"tensor_parallel_size": 1, "pipeline_parallel_size": 1, "data_parallel_size": 1,
             "enable_expert_parallel": False, "all2all_backend": "allgather_reducescatter"}
    _learn_vllm_degrees(running, {**usual, **said}, source)
    running.learn(source, **_named(said, most_in_flight="max_num_seqs",
                                   cache_type="kv_cache_dtype", weight_type="quantization"))


def _read_trtllm_options(running: Running, text: str, path: str) -> None:
    values = parse_yaml(text, path, "options of TensorRT-LLM")
    if not isinstance(values, dict):
        raise ShardoptError(f"'{path}' has no options, expected 'name: value' lines")
    row = table()["trtllm"]
    found = defaults_of(row)
    read_options(found, row, Flags(row), values, path)
    said = found.values
    running.engine = running.engine or "trtllm"
    spreads, size = said["enable_attention_dp"], said["tp_size"]
    if "tp_size" in found.said or "enable_attention_dp" in found.said:
        running.learn(path, tp=1 if spreads else size, dp=size if spreads else 1,
                      world=size * said["pp_size"])
    running.learn(
        path,
        pp=said["pp_size"] if "pp_size" in found.said else None,
        ep=said["ep_size"] if "ep_size" in found.said else None,
        cp=said["cp_size"] if "cp_size" in found.said else None,
        most_in_flight=_whole(said["max_batch_size"]) or None,
        max_length=_whole(said["max_seq_len"]) or None,
        cache_type=_text(said["kv_cache_dtype"] if "kv_cache_dtype" in found.said else None),
    )
