#!/usr/bin/python3
"""The reference implementation against the published vectors of the model.

The real models' configs are looked for in $SHARDOPT_DATA/configs (default:
../shared/data beside the project); where they are missing those tests skip.
"""

import json
import os
import pathlib
import random
import unittest

from cost.enumeration import default_degrees, enumerate_strategies, optimum, parse_domains
from cost.machines import MACHINES
from cost.models import Model
from cost.network import Network
from cost.roofline import Evaluator, evaluate
from cost.strategies import Strategy, Workload

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT.parent / "shared" / "data"))
CONFIGS = DATA / "configs"
DEGREES = ROOT / "unittests" / "Cost" / "Inputs" / "degrees.txt"


def load(path, **types):
    with open(path) as file:
        return Model(json.load(file), **types)


def gpt_moe(size):
    return load(ROOT / "examples" / "configs" / f"gpt-moe-{size}.json")


def hub(name, **types):
    return load(CONFIGS / f"{name}_config.json", **types)


def strategy(degrees, dims):
    return Strategy(*degrees, tuple(int(d) for d in dims))


def digits(value, text):
    """Whether `value` rounds to `text`, to one unit of its last digit."""
    decimals = len(text.partition(".")[2])
    return abs(value - float(text)) <= 0.51 * 10**-decimals


class VectorTest(unittest.TestCase):
    def check(self, result, throughput, latency, memory, reason):
        self.assertEqual(result.reason, reason)
        self.assertEqual(result.valid, reason == "")
        for value, text in (
            (result.throughput, throughput),
            (result.latency * 1e3, latency),
            (result.memory / 1e9, memory),
        ):
            self.assertTrue(digits(value, text), f"{value} is not {text}")


GPT_MOE = """
1.2T 16384  8,16,4,8192  001000201001  381.817501   41.904837   70.344376   -
1.2T 16384  8,16,4,8192  021002201001  375.093507   42.656030   70.344376   -
1.2T 16384  8,16,3,4096  021002221021  252.839620   42.187481   50.790400   -
1.2T 16384  8,16,3,4096  021002221111  269.647287   39.557849   50.790400   -
1.6T 65536  8,16,3,1024  201000201000   69.684047   38.267965   69.612995   -
1.2T 32768  16,8,2,256   110111010112    8.911827  112.210439   19.598623   slo
1.2T 16384  64,4,6,64    222222122220    0.184064  226.370363  115.175834   memory
1.2T 16384  1,1,24,1     001000201001    0.350445  118.896539  118.129558   memory
1.6T 16384  2,16,24,512  102220201001    9.500950   70.168420   13.893108   slo
"""


class GptMoe(VectorTest):
    def test_vectors(self):
        for row in GPT_MOE.strip().splitlines():
            size, context, degrees, dims, *metrics, reason = row.split()
            with self.subTest(row):
                s = strategy((int(d) for d in degrees.split(",")), dims)
                result = evaluate(gpt_moe(size), Workload("decode", int(context)), s)
                self.check(result, *metrics, reason.strip("-"))

    def test_ops_of_the_first_vector(self):
        s = strategy((8, 16, 4, 8192), "001000201001")
        result = evaluate(gpt_moe("1.2T"), Workload("decode", 16384), s)
        layer = result.layers["moe", None]
        expected = {
            "attn_norm": ("2.552", "T"),
            "qkv_proj": ("31.378", "H"),
            "attention": ("379.358", "H"),
            "out_proj": ("16.500", "P"),
            "ffn_norm": ("15.198", "T"),
            "router": ("2.276", "T"),
            "dispatch": ("30.917", "T"),
            "ffn_up": ("91.065", "H"),
            "ffn_down": ("66.994", "P"),
            "combine": ("55.265", "T"),
        }
        self.assertEqual([line.op for line in layer.lines], list(expected))
        for line in layer.lines:
            text, layout = expected[line.op]
            self.assertTrue(digits(line.time * 1e6, text), line)
            self.assertEqual(line.layout, layout, line)
        self.assertTrue(digits(layer.time * 1e6, "691.5041"))
        self.assertTrue(digits(result.embed.time * 1e6, "16.855"))
        self.assertEqual(result.embed.layout, "P")
        self.assertTrue(digits(result.head.time * 1e6, "95.647"))
        self.assertTrue(digits(result.return_time * 1e6, "8.000"))
        # No loop edge, so that a middle stage is its layers and a send.
        send = result.stages[1] - 15 * layer.time
        self.assertTrue(digits(send * 1e6, "16.738"))

    def test_parameters(self):
        self.assertTrue(digits(gpt_moe("1.2T").parameters() / 1e12, "1.1805"))
        self.assertTrue(digits(gpt_moe("1.6T").parameters() / 1e12, "1.5736"))


class Collectives(unittest.TestCase):
    SIZES = ((65536, 2), (65536, 8), (1572864, 8), (1572864, 16), (2**24, 8), (2**24, 64))

    def check(self, expected, times):
        for text, time in zip(expected.split(), times, strict=True):
            self.assertTrue(digits(time * 1e6, text), f"{time * 1e6} is not {text}")

    def test_fast(self):
        net = Network(MACHINES["h100_sxm"])
        gathers = "5.091 5.1593 8.8229 17.0075 45.778 104.5559"
        self.check(gathers, (net.all_gather(v, n) for v, n in self.SIZES))
        self.check(gathers, (net.reduce_scatter(v, n) for v, n in self.SIZES))
        reduces = "5.182 6.2743 12.3254 24.1945 68.6378 187.6937"
        self.check(reduces, (net.all_reduce(v, n) for v, n in self.SIZES))
        exchanges = ((65536, 16, 8), (1572864, 16, 8), (65536, 4, 2), (65536, 8, 2))
        self.check(
            "9.3653 40.768 5.1365 8.7282",
            (net.all_to_all(held, n, stride) for held, n, stride in exchanges),
        )

    def test_all_reduce_of_eight_by_size(self):
        sizes = (4e3, 1e6, 4e6, 16e6)
        for comm_model, expected in (
            ("fast", "5.1 10.2 21.3 65.8"),
            ("ring", "15.0 19.9 34.4 92.8"),
        ):
            net = Network(MACHINES["h100_sxm"], comm_model)
            self.check(expected, (net.all_reduce(v, 8) for v in sizes))

    def test_groups_divide_their_ranks(self):
        # 72 devices a domain: a group of 64 at stride 2 is cut into twos of 32.
        self.assertEqual(Network(MACHINES["gb200"]).shape(64, 2), (32, 2))
        self.assertEqual(Network(MACHINES["h100_sxm"]).shape(12, 1), (6, 2))
        self.assertEqual(Network(MACHINES["h100_sxm"]).shape(16, 16), (1, 16))


class Machines(unittest.TestCase):
    def test_capacity(self):
        for name, text in (
            ("a100_sxm", "72"),
            ("h100_sxm", "72"),
            ("h200_sxm", "126.9"),
            ("b200_sxm", "162"),
            ("gb200", "166.53"),
        ):
            self.assertTrue(digits(MACHINES[name].capacity / 1e9, text), name)

    def test_h100(self):
        h100 = MACHINES["h100_sxm"]
        self.assertEqual(h100.capacity, 80e9 * 0.9)
        self.assertEqual(h100.flops, 989e12 * 0.75)
        self.assertEqual(h100.memory_bandwidth, 3.35e12 * 0.85)
        self.assertEqual((h100.nvlink, h100.nvls, h100.network), (360e9, 270e9, 45e9))


LLAMA, MIXTRAL, QWEN, DEEPSEEK, GPT_OSS = (
    "meta-llama--Meta-Llama-3.1-70B",
    "mistralai--Mixtral-8x22B-v0.1",
    "Qwen--Qwen3-235B-A22B",
    "deepseek-ai--DeepSeek-V3",
    "openai--gpt-oss-120b",
)

HUB = f"""
{LLAMA} h100_sxm decode 8192     8,1,3,512     221002101    676.857834 31.5181893 65.8589614 -
{LLAMA} h100_sxm decode 8192     8,16,4,64     010110010    9.93908723 12.5766076 4.87640269 -
{LLAMA} h100_sxm decode 8192     32,4,2,4096   101200112    30.625659 522.437738 1378.75581 memory
{LLAMA} h100_sxm prefill 4096    4,1,2,16      102220221    5107.02714 1603.51005 71.6607324 -
{LLAMA} h100_sxm prefill 4096    32,8,6,64     021001112    364.698396 445.880715 3.05555046 -
{LLAMA} h100_sxm prefill 4096    32,2,4,256    010022012    274.206963 14903.2255 11.1400714 slo
{MIXTRAL} h100_sxm decode 8192   4,8,1,1024    201000221001 997.711056 32.0734142 71.5485348 -
{MIXTRAL} h100_sxm decode 8192   16,8,6,1024   020221112222 34.9373888 38.1635084 49.8074829 -
{MIXTRAL} h100_sxm decode 8192   8,2,2,256     100211100112 140.034646 57.1287195 129.724924 memory
{QWEN} h100_sxm decode 16384     4,128,1,8192  201000222201 523.913248 30.5394072 59.0198866 -
{QWEN} h100_sxm decode 16384     8,32,6,4096   110222110122 65.5318859 40.6926587 70.2483005 -
{QWEN} h100_sxm decode 16384     16,2,3,512    211100220001 18.127669 294.209549 22.9260657 slo
{DEEPSEEK} h200_sxm decode 16384 1,64,3,8192   2221200210221200221111211 1010.37842 42.2284025 59.3648026 -
{DEEPSEEK} h200_sxm decode 16384 16,16,3,512   1000022112010122100220002 22.9311151 29.0725795 30.8359168 -
{DEEPSEEK} h200_sxm decode 16384 16,2,8,256    0212120102102000011022100 22.6516752 44.1468452 36.6393098 -
{GPT_OSS} h100_sxm decode 8192   1,8,3,4096    121002221021 6656.57336 25.6388171 56.6871245 -
{GPT_OSS} h100_sxm decode 8192   2,16,12,1024  212211112102 254.119804 10.4937381 3.7118807 -
{GPT_OSS} h100_sxm decode 8192   2,2,3,8192    221002222012 6607.11912 103.322894 219.325563 memory
"""


@unittest.skipUnless(CONFIGS.is_dir(), f"no configs in {CONFIGS}")
class Hub(VectorTest):
    def test_vectors(self):
        for row in HUB.strip().splitlines():
            name, machine, phase, context, degrees, dims, *metrics, reason = row.split()
            with self.subTest(row):
                workload = Workload(phase, int(context), MACHINES[machine])
                s = strategy((int(d) for d in degrees.split(",")), dims)
                self.check(evaluate(hub(name), workload, s), *metrics, reason.strip("-"))

    def test_vectors_of_degrees(self):
        names = {
            "Llama-3.1-70B": LLAMA,
            "Mixtral-8x22B": MIXTRAL,
            "Qwen3-235B": QWEN,
            "DeepSeek-V3": DEEPSEEK,
            "gpt-oss-120b": GPT_OSS,
        }
        machines = {"h100": "h100_sxm", "h200": "h200_sxm", "gb200": "gb200"}
        rows = [row for row in DEGREES.read_text().splitlines() if row and row[0] != "#"]
        self.assertEqual(len(rows), 23)
        for row in rows:
            name, machine, phase, context, *degrees, exchange, batch, dims = row.split()[:12]
            *metrics, reason = row.split()[12:]
            tp, dp, ep, pp, cp = (int(d) for d in degrees)
            dims = tuple(int(d) for d in dims)
            with self.subTest(row):
                model = gpt_moe("1.2T") if name == "GPT-MoE-1.2T" else hub(names[name])
                workload = Workload(phase, int(context), MACHINES[machines[machine]])
                s = Strategy(tp, ep, pp, int(batch), dims, dp, cp, exchange=exchange)
                self.check(
                    evaluate(model, workload, s), *metrics, "" if reason == "valid" else reason
                )

    def test_ops_of_deepseek(self):
        workload = Workload("decode", 16384, MACHINES["h200_sxm"])
        s = strategy((16, 16, 3, 512), "1000022112010122100220002")
        result = evaluate(hub(DEEPSEEK), workload, s)
        expected = {
            "dense": """attn_norm 2.014 T, q_down 10.289 P, q_up 27.841 P, kv_down 2.069 P,
                attention 110.256 R, out_proj 30.911 R, ffn_norm 24.119 H,
                ffn_up+ffn_down 64.764 R; 272.2639""",
            "moe": """attn_norm 2.014 T, q_down 13.810 H, q_up 16.712 P, kv_down 2.102 H,
                attention 107.223 R, out_proj 30.911 R, ffn_norm 24.119 H, router 16.133 H,
                dispatch 21.369 T, ffn_up+ffn_down 176.779 T, combine 13.288 T,
                shared_up+shared_down 16.083 P; 440.5429""",
        }
        for kind, text in expected.items():
            ops, _, total = text.partition(";")
            layer = result.layers[kind, None]
            lines = {line.op: line for line in layer.lines}
            for item in ops.split(","):
                names, time, layout = item.split()
                parts = [lines[f"{kind}.{name}"] for name in names.split("+")]
                self.assertTrue(digits(sum(p.time for p in parts) * 1e6, time), item)
                self.assertEqual(parts[-1].layout, layout, item)
            self.assertTrue(digits(layer.time * 1e6, total.strip()), kind)
        self.assertTrue(digits(result.embed.time * 1e6, "10.114"))
        head = result.head.time + result.return_time
        self.assertTrue(digits(head * 1e6, "505.410"))
        for time, text in zip(result.stages, ("8.683844", "9.673642", "9.690860"), strict=True):
            self.assertTrue(digits(time * 1e3, text), text)

    def test_structural(self):
        ones = {"embed": 1, "lm_head": 1}

        def with_dim(model, op, dim):
            return tuple(dim if name == op else ones.get(name, 2) for name in model.op_names())

        def reason(model, phase, degrees, op, dim):
            workload = Workload(phase, 4096, MACHINES["h200_sxm"])
            s = Strategy(*degrees, with_dim(model, op, dim))
            result = evaluate(model, workload, s)
            if result.reason == "structural":
                self.assertEqual((result.throughput, result.latency, result.memory), (0, 0, 0))
            return result.reason

        llama, deepseek = hub(LLAMA), hub(DEEPSEEK)
        self.assertEqual(reason(llama, "prefill", (4, 1, 2, 16), "attention", 1), "structural")
        self.assertNotEqual(reason(llama, "decode", (4, 1, 2, 16), "attention", 1), "structural")
        for tp in (1, 8):
            for op in ("dense.attention", "moe.attention"):
                self.assertEqual(reason(deepseek, "decode", (tp, 64, 3, 64), op, 1), "structural")
        gpt_oss, attention = hub(GPT_OSS), "attention"
        self.assertEqual(reason(gpt_oss, "decode", (64, 1, 1, 16), attention, 1), "structural")
        self.assertNotEqual(reason(gpt_oss, "decode", (32, 1, 1, 16), attention, 1), "structural")
        mixtral = hub(MIXTRAL)
        self.assertEqual(reason(mixtral, "decode", (1, 16, 1, 16), attention, 2), "structural")
        self.assertEqual(reason(deepseek, "decode", (1, 64, 62, 64), "embed", 2), "structural")
        self.assertNotEqual(reason(deepseek, "decode", (1, 64, 61, 64), "embed", 2), "structural")

    def test_parameters(self):
        for name, text in (
            ("meta-llama--Meta-Llama-3.1-8B", "8.030"),
            ("meta-llama--Meta-Llama-3.1-70B", "70.55"),
            ("meta-llama--Meta-Llama-3.1-405B", "405.85"),
            ("Qwen--Qwen3-32B", "32.76"),
            ("Qwen--Qwen3-30B-A3B", "30.53"),
            ("Qwen--Qwen3-235B-A22B", "235.09"),
            ("mistralai--Mixtral-8x7B-v0.1", "46.70"),
            ("mistralai--Mixtral-8x22B-v0.1", "140.62"),
            ("deepseek-ai--DeepSeek-V3", "671.03"),
            ("openai--gpt-oss-120b", "116.79"),
        ):
            self.assertTrue(digits(hub(name).parameters() / 1e9, text), name)

    def test_op_names(self):
        self.assertEqual(len(hub(LLAMA).op_names()), 9)
        self.assertEqual(len(hub(GPT_OSS).op_names()), 12)
        names = hub(DEEPSEEK).op_names()
        self.assertEqual(len(names), 25)
        self.assertEqual((names[1], names[10]), ("dense.attn_norm", "moe.attn_norm"))
        self.assertEqual(names[-3:], ["moe.shared_up", "moe.shared_down", "lm_head"])


class Heads(unittest.TestCase):
    def test_uneven_heads_touch_more_kv_heads(self):
        config = {
            "architectures": ["LlamaForCausalLM"],
            "hidden_size": 5120,
            "vocab_size": 32000,
            "intermediate_size": 13824,
            "num_attention_heads": 40,
            "num_key_value_heads": 8,
            "num_hidden_layers": 2,
        }
        model = Model(config)
        s = Strategy(16, 1, 1, 16, (2,) * 9)
        self.assertEqual(Evaluator(model, Workload(), s).kv_heads_touched(), 2)


class BruteForce(unittest.TestCase):
    def test_the_optimum_is_at_least_every_sample(self):
        model, workload = gpt_moe("1.2T"), Workload("decode", 16384)
        dims = parse_domains(
            "*=0;qkv_proj=1;router=2;ffn_up=1;lm_head=1;ffn_norm=0,2;combine=0,2",
            model.op_names(),
        )
        space = ([4, 8], [16], [3, 4], [4096, 8192], dims)
        best, result = optimum(model, workload, *space)
        self.assertEqual(best, strategy((8, 16, 4, 8192), "001000201001"))
        for other in random.Random(1).sample(
            list(enumerate_strategies(model, *space)), 10
        ):
            sample = evaluate(model, workload, other)
            self.assertTrue(not sample.valid or sample.throughput <= result.throughput)

    def test_megatron_over_all_degrees(self):
        model, workload = gpt_moe("1.2T"), Workload("decode", 16384)
        degrees = default_degrees(model)
        for variant, ratio in (
            ("megatron-classic", "1.510"),
            ("megatron-slice", "1.018"),
            ("megatron-sp", "1.0000"),
        ):
            dims = parse_domains(variant, model.op_names())
            _, result = optimum(model, workload, *degrees, dims)
            self.assertTrue(digits(381.8175013 / result.throughput, ratio), variant)

    def test_infeasible(self):
        model, workload = gpt_moe("1.2T"), Workload("decode", 16384)
        dims = [[2]] * 12
        self.assertIsNone(optimum(model, workload, [1], [1], [1], [1], dims))


if __name__ == "__main__":
    unittest.main()
