"""What formulas say of percentiles beside the replay of requests that arrive at random.

Plans services with an SLO on a percentile of TTFT, replays Poisson arrivals at shares of
their highest rate, and prints the table of docs/Traffic.md; --page writes it there.
"""

import itertools
import pathlib
import statistics

from arrivals import poisson
from marked import write_part

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/Traffic.md"
BEGIN, END = "<!-- made by ./dev bench replays -->", "<!-- end of replays -->"
REQUESTS = 4000
SHARES = (0.5, 0.8, 0.95, 1)
NAMES = ("model", "engine", "machine", "devices", "isl", "osl", "ttft_ms", "tpot_ms")
ASKED = (
    ("llama-3.1-70b", "vllm", "h100_sxm", 8, 3000, 400, 500, 50),
    ("llama-3.1-70b", "vllm", "h200_sxm", 8, 4000, 300, 2000, 50),
    ("llama-3.1-70b", "sglang", "h100_sxm", 16, 1000, 1000, 500, 40),
    ("qwen3-235b-a22b", "sglang", "h200_sxm", 16, 2000, 500, 1000, 50),
    ("qwen3-235b-a22b", "vllm", "h200_sxm", 8, 8000, 500, 3000, 60),
    ("gpt-oss-120b", "vllm", "h100_sxm", 8, 1000, 300, 300, 30),
    ("gpt-oss-120b", "sglang", "b200_sxm", 8, 4000, 1000, 500, 20),
    ("deepseek-v3", "sglang", "h200_sxm", 16, 4000, 1000, 2000, 60),
    ("deepseek-v3", "trtllm", "gb200", 8, 1000, 1000, 800, 30),
)
PLACES = tuple(itertools.product(("ttft", "tpot"), ("p50", "p90", "p99")))


def compared(so, service):
    """At each share of the highest rate: what formulas say over what was replayed by place, and
    the share of requests within the SLO on TTFT."""
    problem, roles = service.problem, so.services.given_roles(service)
    for share in SHARES:
        rate = share * service.metrics.requests_per_s
        asked = so.Service(problem.replace(rate=rate), service.report, service.mode)
        report, _ = so.services.evaluate_roles(asked, roles)
        said = report[report["mode"]]
        requests = [so.Request(at, problem.isl, problem.osl) for at in poisson(rate, REQUESTS)]
        replay = so.replay(service, requests)
        ratios = {
            (what, place): said[f"{what}_ms_{place}"] / getattr(getattr(replay, what), place) for what, place in PLACES
        }
        late = sum(one > problem.ttft_ms for one in replay.ttft_ms)
        yield share, ratios, 1 - late / len(replay.ttft_ms)


def lines(so):
    yield (
        "| SLO on TTFT | mode | services | "
        + " | ".join(f"{what.upper()} {place}" for what, place in PLACES)
        + " | within the SLO on TTFT, at the highest rate |"
    )
    yield "|---|---|--:|" + "--:|" * (len(PLACES) + 1)
    for percentile, mode in itertools.product((90, 99), ("aggregated", "disaggregated")):
        errors, within = {place: [] for place in PLACES}, []
        for values in ASKED:
            asked = dict(zip(NAMES, values))
            model = so.load_model(asked.pop("model"))
            try:
                service = so.plan(so.Problem(model, ttft_percentile=percentile, mode=mode, **asked))
            except so.Infeasible:
                continue
            for share, ratios, part in compared(so, service):
                for place in PLACES:
                    errors[place].append(abs(ratios[place] - 1))
                if share == 1:
                    within.append(part)
        yield (
            f"| p{percentile} | {mode} | {len(within)} | "
            + " | ".join(f"{100 * statistics.median(errors[place]):.0f}" for place in PLACES)
            + f" | {100 * min(within):.0f} to {100 * max(within):.0f} % |"
        )


if __name__ == "__main__":
    write_part("replays", __doc__, PAGE, BEGIN, END, lines)
