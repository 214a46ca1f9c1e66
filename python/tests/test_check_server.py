"""Servers that run, beside what was planned: real HTTP, recorded shapes."""

import contextlib
import http.server
import json
import socket
import tempfile
import threading
import time
import unittest
from pathlib import Path

import shardopt as so
from shardopt import deployments as d
from shardopt.checking.conformance import compared
from shardopt.checking.fetching import MOST_BYTES, base_of
from shardopt.checking.running import ask

FACTS = {"experts": 64, "has_dense_layers": True, "context": 2048, "phase": "decode",
         "longest": 8192, "latent": True, "kv_heads": 8, "hybrid": False}

# Of vLLM 0.33: one engine a data parallel rank.
_CACHE = ('vllm:cache_config_info{{block_size="16",cache_dtype="{kind}",engine="{engine}",'
          'gpu_memory_utilization="0.92",is_attention_free="False",num_gpu_blocks="{blocks}",'
          'kv_cache_size_tokens="{tokens}",sliding_window="None"}} 1.0\n')


def vllm_metrics(engines=8, blocks=30000, kind="auto"):
    lines = "# HELP vllm:num_requests_running Number of requests in model execution batches.\n"
    for engine in range(engines):
        lines += f'vllm:num_requests_running{{engine="{engine}",model_name="m"}} 0.0\n'
        lines += _CACHE.format(kind=kind, engine=engine, blocks=blocks, tokens=blocks * 16)
    return lines


VLLM = {"/version": {"version": "0.33.0"}, "/metrics": vllm_metrics(),
        "/v1/models": {"object": "list", "data": [{"id": "m", "object": "model", "max_model_len": 4096}]}}
LOG = """(APIServer pid=7) INFO 11-24 08:00:01 [startup.py:96] non-default args: {'model': 'm', \
'data_parallel_size': 8, 'enable_expert_parallel': True, 'all2all_backend': \
'deepep_low_latency', 'max_num_seqs': 64}
(EngineCore_DP0 pid=9) INFO 11-24 08:00:09 [core.py:140] Initializing a V1 LLM engine (v0.33.0) \
with config: model='m', speculative_config=None, dtype=torch.bfloat16, max_seq_len=4096, \
tensor_parallel_size=1, pipeline_parallel_size=1, data_parallel_size=8, \
decode_context_parallel_size=1, quantization=None, kv_cache_dtype=auto
(EngineCore_DP0 pid=9) INFO 11-24 08:00:30 [kv_cache_utils.py:1149] GPU KV cache size: 480,000 \
tokens, Maximum concurrency for 4,096 tokens per request: 117.19x
"""
SGLANG = {"/server_info": {
    "model_path": "m", "tp_size": 8, "pp_size": 1, "dp_size": 1, "attn_dp_size": 8, "ep_size": 8,
    "dcp_size": 1, "moe_a2a_backend": "deepep", "kv_cache_dtype": "auto", "quantization": None,
    "max_running_requests": 512, "context_length": 4096, "disaggregation_mode": "null",
    "enable_dp_attention": True, "status": "ready", "max_total_num_tokens": 480000,
    "max_req_input_len": 4090, "internal_states": [{"effective_max_running_requests_per_dp": 64}],
    "version": "0.5.23", "frontend": "python"}}
TRTLLM = {"/version": {"version": "1.3.0rc23"}, "/metrics": [
    {"gpuMemUsage": 76665782272, "iter": 154, "iterLatencyMS": 7.0, "maxNumActiveRequests": 64,
     "kvCacheStats": {"freeNumBlocks": 14990, "maxNumBlocks": 15000, "tokensPerBlock": 32,
                      "usedNumBlocks": 10}}]}


@contextlib.contextmanager
def server(answers):
    """A server of `answers` by path: texts, JSON, or what writes to the socket."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            answer = answers.get(self.path)
            if callable(answer):
                answer(self)
                return
            body = answer if isinstance(answer, str) else json.dumps(answer)
            self.send_response(404 if answer is None else 200)
            self.end_headers()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{made.server_port}"
    finally:
        made.shutdown()
        made.server_close()
        thread.join()


def planned(engine="vllm", **changes):
    version = {"vllm": "0.33", "sglang": "0.5.23", "trtllm": "1.3.0rc"}[engine]
    role = d.Role(**{"name": "serve", "workers": 1, "tp": 1, "in_flight": 512, "ranks": 8, "ep": 8,
                     "gathers": False, **changes})
    return d.Deployment("svc", "m", "m", engine, version, (role,), d.Load(1024, 256, 512), 2048, FACTS)


class RunningTest(unittest.TestCase):
    def differences(self, answers, deployment, log=None, **others):
        name = others.pop("name", "start.log")
        with server(answers) as url, tempfile.TemporaryDirectory() as place:
            path = None
            if log is not None:
                path = Path(place, name)
                path.write_text(log)
            found = compared(ask(url, log=path and str(path)), deployment, **others)
        return {one.name: (one.planned, one.found) for one in found.differences}, set(found.unknown)

    def test_servers_as_planned_differ_in_nothing(self):
        for answers, engine, log, name in [
            (VLLM, "vllm", LOG, "start.log"),
            (SGLANG, "sglang", None, ""),
            ({"/get_server_info": SGLANG["/server_info"]}, "sglang", None, ""),
            (TRTLLM, "trtllm", "tensor_parallel_size: 8\nmoe_expert_parallel_size: 8\npipeline_parallel_size: 1\n"
             "enable_attention_dp: true\nmax_batch_size: 64\nmax_seq_len: 2048\n"
             "kv_cache_config: {dtype: auto}\n", "config.yaml"),
        ]:
            with self.subTest(engine):
                found, unknown = self.differences(answers, planned(engine), log, name=name)
                self.assertEqual(found, {})
                self.assertLessEqual(unknown, {"exchange"} if engine == "trtllm" else set())

    def test_each_difference_has_its_name(self):
        for change, wanted in [
            ({"attn_dp_size": 4}, {"tp": ("1", "2"), "dp": ("8", "4")}),
            ({"tp_size": 16, "attn_dp_size": 16, "ep_size": 16},
             {"world size": ("8", "16"), "dp": ("8", "16"), "ep": ("8", "16")}),
            ({"ep_size": 1}, {"ep": ("8", "1")}),
            ({"moe_a2a_backend": "none"}, {"exchange": ("all_to_all", "gather")}),
            ({"kv_cache_dtype": "fp8_e4m3"}, {"KV cache type": ("auto", "fp8_e4m3")}),
            ({"max_running_requests": 48}, {"sequences in flight": ("at least 512", "48")}),
            ({"max_total_num_tokens": 9000}, {"tokens of KV caches": ("at least 73728", "9000")}),
            ({"context_length": 1000}, {"longest request": ("at least 1280", "1000")}),
            ({"version": "0.5.2"}, {"version": ("0.5.23", "0.5.2")}),
            ({"pp_size": 2}, {"pp": ("1", "2"), "world size": ("8", "16")}),
        ]:
            with self.subTest(change):
                said = {"/server_info": {**SGLANG["/server_info"], **change}}
                self.assertEqual(self.differences(said, planned("sglang"))[0], wanted)
        found, _ = self.differences(VLLM, planned("sglang"))
        self.assertEqual(found, {"engine": ("sglang", "vllm")})
        said = {**VLLM, "/metrics": vllm_metrics(blocks=100, kind="fp8")}
        found, unknown = self.differences(said, planned())
        self.assertEqual(found, {"KV cache type": ("auto", "fp8"),
                                 "tokens of KV caches": ("at least 73728", "1600 (100 blocks of 16)")})
        self.assertIn("world size", unknown)  # no log

    def test_development_mode_of_vllm_says_it_all(self):
        config = {"parallel_config": {"tensor_parallel_size": 2, "pipeline_parallel_size": 1,
                                      "data_parallel_size": 4, "decode_context_parallel_size": 1,
                                      "enable_expert_parallel": True,
                                      "all2all_backend": "allgather_reducescatter"},
                  "cache_config": {"num_gpu_blocks": 9999, "block_size": 16, "cache_dtype": "auto"},
                  "model_config": {"model": "m", "quantization": "fp8", "max_model_len": 4096},
                  "scheduler_config": {"max_num_seqs": 128}}
        said = {**VLLM, "/server_info": {"vllm_config": config, "vllm_env": {}, "system_env": {}}}
        found, unknown = self.differences(said, planned(
            tp=2, ranks=4, gathers=True, quantization="fp8"))
        self.assertEqual((found, unknown), ({}, set()))

    def test_the_role_is_the_one_that_the_server_plays(self):
        roles = [d.Role("prefill", 3, 4, 1), d.Role("decode", 1, 1, 512, 8, 8, gathers=False)]
        both = d.Deployment("svc", "m", "m", "sglang", "0.5.23", tuple(roles),
                            d.Load(1024, 256, 512), 2048, FACTS)
        for mode, role in (("null", "decode"), ("decode", "decode"), ("prefill", "prefill")):
            with server({"/server_info": {**SGLANG["/server_info"], "disaggregation_mode": mode}}) as url:
                self.assertEqual(compared(ask(url), both).role.name, role)
        with server(SGLANG) as url, self.assertRaisesRegex(so.ShardoptError, "no role 'serve'; known"):
            compared(ask(url), both, "serve")


def drip(handler):
    handler.send_response(200)
    handler.end_headers()
    with contextlib.suppress(OSError):
        for _ in range(40):
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.05)


def flood(handler):
    handler.send_response(200)
    handler.end_headers()
    with contextlib.suppress(OSError):
        for _ in range(2 * MOST_BYTES >> 20):
            handler.wfile.write(b"x" * (1 << 20))


def silent(handler):
    time.sleep(0.6)


def nonsense(handler):
    handler.connection.sendall(b"\x00\xff garbage\n\n")
    handler.close_connection = True


def moved(handler):
    handler.send_response(302)
    handler.send_header("Location", "http://203.0.113.1/")
    handler.end_headers()


class BadServerTest(unittest.TestCase):
    def test_what_is_no_server_is_one_line(self):
        for answers, why in [
            ({}, "no server of vllm, sglang or trtllm-serve"),
            ({"/server_info": "<html>"}, "answers no JSON"),
            ({"/server_info": "[" * 100_000}, "answers no JSON"),
            ({"/server_info": [1]}, r"answers \[1\], expected an object"),
            ({"/server_info": {"a": 1}}, "neither 'tp_size'"),
            ({"/version": "\udcff".encode("utf-8", "replace").decode()}, "answers no JSON"),
            ({"/metrics": "vllm", "/version": {"version": 3}}, "no server of"),
            ({"/server_info": nonsense}, "does not answer as HTTP does"),
            ({"/server_info": moved}, "no server of"),
            ({"/server_info": flood}, "answers more than 16 MB"),
            ({"/server_info": drip}, r"did not answer within 0.3 s"),
            ({"/server_info": silent}, r"did not answer within 0.3 s"),
        ]:
            with self.subTest(why), server(answers) as url:
                with self.assertRaisesRegex(so.ShardoptError, why) as caught:
                    ask(url, timeout_s=0.3 if "0.3" in why else 10)
                self.assertTrue(str(caught.exception).isprintable())
                self.assertEqual(str(caught.exception).count("did not answer"), "0.3" in why)
                self.assertLess(len(str(caught.exception)), 400)

    def test_nobody_listens(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            with self.assertRaisesRegex(so.ShardoptError, "cannot be reached: Connection refused"):
                ask(f"http://127.0.0.1:{free.getsockname()[1]}")

    def test_urls(self):
        for url, base in [("localhost:8000", "http://localhost:8000"), ("http://a/b?c", "http://a"),
                          ("https://[::1]:3/x", "https://[::1]:3")]:
            self.assertEqual(base_of(url), base)
        for url in ("", "file:///etc/passwd", "http://", "http://a:b", "ftp://a", "http://a b"):
            with self.subTest(url), self.assertRaisesRegex(so.ShardoptError, "expected a URL"):
                base_of(url)

    def test_logs_that_are_none(self):
        for text in ("", "hello", "non-default args: {'a': ", "non-default args: {'a': __import__('os')}"):
            with server(VLLM) as url, tempfile.TemporaryDirectory() as place:
                path = Path(place, "log")
                path.write_text(text)
                with self.assertRaisesRegex(so.ShardoptError, "no start log"):
                    ask(url, log=str(path))


if __name__ == "__main__":
    unittest.main()
