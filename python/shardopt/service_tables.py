"""Services as tables. Every number is spelled in one place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

from ._native import native
from .problem import FREE, GOODPUT, MOST_LIMIT, Problem
from .service_parts import PERCENTILES, grid_of
from .tables import counted

if TYPE_CHECKING:
    from .services import Role, Service, Slo

Rows = Sequence[Sequence[str]]


def three(value: float) -> str:
    """Three significant digits, without an exponent from 100 on."""
    text = f"{value:.3g}"
    return text if value < 100 else f"{float(text):.0f}"


def number(value: float) -> str:
    """A number of the user's: as short as it was said."""
    return f"{value:.15g}"


def part_of(key: str) -> str:
    """The name of a part of a step, as the planner's own tables have it."""
    return str(native().step_parts.get(key, key))


def aligned(rows: Rows, indent: str = "  ") -> str:
    """Columns: the first to the left, the others to the right, and what is behind the
    last of the head follows it."""
    count = len(rows[0])
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(count)]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [text.rjust(width) for text, width in zip(row[1:count], widths[1:])]
        lines.append((indent + "  ".join([*cells, *row[count:]])).rstrip() + "\n")
    return "".join(lines)


def _machine_names(service: Service) -> tuple[str, str]:
    """Of decode and prefill workers; machines of one name have that of their file."""
    problem, report = service.problem, service.report
    decode, prefill = str(report["machine"]), str(report.get("prefill_machine") or "")
    if prefill and prefill == decode and problem.prefill_machine:
        return problem.machine or decode, problem.prefill_machine
    return decode, prefill


def service_line(
    problem: Problem, engine: str | None, devices: int, decode: str, prefill: str, apart: int
) -> str:
    """"llama-3.1-70b, vllm on 8 GPUs of h100_sxm and 4 of b200_sxm"."""
    runner = "engine none" if engine == FREE else engine
    text = f"{runner} on {counted(devices, 'GPU')} of {decode}"
    if apart:
        text += f" and {apart} of {prefill}"
    elif prefill and prefill != decode:
        text += f" or {prefill}"
    return ", ".join(filter(None, [problem.model.name, text]))


def requests_of(report: Mapping[str, Any]) -> str:
    said = report.get("requests") or {}
    text = ", ".join(
        f"{name} {number(value)}" for name, value in said.items() if value < MOST_LIMIT
    )
    if lengths := report.get("lengths"):
        least, most = (
            " + ".join(three(end(each[i] for each in lengths)) for i in (0, 1))
            for end in (min, max)
        )
        text += f"; in the mean: lengths from {least} to {most}"
    return text


def dispatch_of(service: Service, role: Role) -> str:
    """How rows reach the experts of a role: "-" where there are none, or one GPU has all."""
    strategy = role.strategy
    if not (service.problem.model.experts and strategy.tp * strategy.dp_size > 1):
        return "-"
    dispatch = "all-gather" if strategy.exchange == "gather" else "all-to-all"
    return dispatch + (", overlapped" if role.overlap else "")


#: Degrees whose columns every table has.
_USUAL = ("tp", "dp", "ep", "pp")


def role_rows(service: Service) -> list[list[str]]:
    """A head, and a row a role. Columns that say the same of all are left out: cp or tp2 of
    1, the EP dispatch of a dense model, and the machine if there is one."""
    decode, prefill = _machine_names(service)
    names = ["role", "workers", *grid_of(service.roles[0].strategy), "GPUs", "in flight",
             "GB: weights", "KV", "budget", "EP dispatch", "EPLB", "machine"]

    def row(role: Role) -> list[str]:
        strategy = role.strategy
        degrees = grid_of(strategy).values()
        memory = [three(role.memory[part]) if part in role.memory else "-"
                  for part in ("weights", "kv_cache", "capacity")]
        return [role.name, str(role.workers), *map(str, degrees), str(role.gpus),
                three(role.in_flight), *memory, dispatch_of(service, role),
                strategy.eplb if strategy.eplb == "off" else f"+{strategy.eplb}",
                prefill if prefill and role.name == "prefill" else decode]

    rows = [row(role) for role in service.roles]
    further = [name for name in grid_of(service.roles[0].strategy) if name not in _USUAL]
    is_said = {
        **{name: any(getattr(role.strategy, name) > 1 for role in service.roles) for name in further},
        "EP dispatch": any(cells[names.index("EP dispatch")] != "-" for cells in rows),
        "EPLB": any(role.strategy.eplb != "off" for role in service.roles),
        "machine": bool(prefill) and prefill != decode,
    }
    kept = [i for i, name in enumerate(names) if is_said.get(name, True)]
    return [[cells[i] for i in kept] for cells in [names, *rows]]


def target_of(slo: Slo) -> str:
    return "none" if math.isinf(slo.target_ms) else number(slo.target_ms)


def slo_rows(service: Service) -> list[list[str]]:
    """A head, and a row an SLO: target, attained at the same place, mean, percentiles
    over requests, and the prediction interval of the mean."""
    head = ["SLO", "target", "on", "attained", "mean", "p50", "p90", "p99", "interval"]

    def row(slo: Slo) -> list[str]:
        times = slo.attained
        is_goodput = service.problem.objective == GOODPUT
        verdict = slo.verdict("above it" if is_goodput else "NOT MET")
        return [
            f"{slo.name}, ms",
            target_of(slo),
            slo.statistic, three(slo.attained_ms),
            three(times.mean), three(times.p50), three(times.p90), three(times.p99),
            f"{three(times.low)} - {three(times.high)}", verdict,
        ]

    return [head, *map(row, service.slos)]


def percentiles_of(service: Service) -> str:
    """Why all percentiles are the mean, where they are."""
    names = [
        slo.name for slo in service.slos
        if len({three(value) for value in (slo.attained.mean, *map(slo.attained.at, PERCENTILES))}) == 1
    ]
    if not names:
        return ""
    return (
        f"equal in the model ({', '.join(names)}); measured requests vary: expect a higher p99"
    )


def throughput_of(service: Service) -> str:
    metrics = service.metrics
    text = (
        f"{three(metrics.tokens_per_s_per_gpu)} tokens/s per GPU, "
        f"{three(metrics.tokens_per_s_per_user)} tokens/s per user, "
        f"{three(metrics.requests_per_s)} req/s"
    )
    goodput = service.found.get("goodput_requests_per_s")
    if goodput is not None:
        share = goodput / metrics.requests_per_s
        text += f"; goodput {three(goodput)} req/s, {share:.1%} within both SLOs"
    return text


def load_of(service: Service) -> str:
    metrics = service.metrics
    in_flight = number(round(metrics.in_flight, 0 if metrics.in_flight >= 100 else 1))
    gpus = counted(service.gpus_available, "GPU")
    text = f"{counted(in_flight, 'request')} in flight on {metrics.gpus} of {gpus}"
    if len(service.roles) < 2:
        return text
    own = {role.name: role.workers * role.in_flight for role in service.roles}
    waiting = metrics.in_flight - sum(own.values())
    parts = [f"{three(count)} {name}" for name, count in own.items()]
    busy = service.found.get("prefill_busy")
    if busy is not None:
        parts[0] += f" ({busy:.0%} busy)"
    parts += [f"{three(waiting)} sent or waiting"] if waiting > 0.05 else []
    return f"{text}: {', '.join(parts)}"


def step_shares(service: Service) -> list[tuple[str, float, float]]:
    """Parts of a step that decodes with microseconds and shares, the largest first."""
    parts = {name: us for name, us in service.step_us.items() if us > 0}
    total = sum(parts.values()) or 1.0
    found = [(part_of(name), us, us / total) for name, us in parts.items()]
    return sorted(found, key=lambda part: -part[1])


def in_domains(service: Service) -> str:
    """Where workers span NVLink domains, what workers inside one would reach."""
    found = service.report.get("inside_nvlink_domain")
    if not found:
        return ""
    where = f"workers inside a domain of {found['domain_devices']} GPUs"
    if found["mode"] is None:
        return f"{where} do not meet the SLOs"
    own = found["tokens_per_s_per_device"]
    share = own / service.metrics.tokens_per_s_per_gpu - 1
    return (
        f"{where} reach {three(own)} tokens/s per GPU ({share:+.1%}) at a TPOT of "
        f"{three(found['tpot_ms'])} ms"
    )


def other_mode(service: Service) -> str:
    """The other mode in a line."""
    other = service.other
    mode = "disaggregated" if service.mode == "aggregated" else "aggregated"
    if service.report.get("robust"):
        return ""
    if other is None:
        asked = service.problem.mode not in (None, "best")
        if asked:
            return f"{mode}: not searched"
        if service.report.get("other_mode") == "none is better":
            return f"{mode}: none is better"
        gpus = service.problem.devices or service.problem.max_devices
        where = f" on {counted(gpus, 'GPU')}" if gpus else ""
        sized = f"; --set mode={mode} finds its size" if service.report.get("size") else ""
        return f"{mode}: no plan meets the SLOs{where}{sized}"
    metrics = other.metrics
    # At a rate all plans give the same tokens/s: their GPUs differ.
    found = f"{counted(metrics.gpus, 'GPU')} in place of {service.metrics.gpus}"
    if service.problem.rate is None:
        share = metrics.tokens_per_s_per_gpu / service.metrics.tokens_per_s_per_gpu - 1
        found = f"{three(metrics.tokens_per_s_per_gpu)} tokens/s per GPU ({share:+.1%})"
    times = f"TPOT {three(metrics.tpot_ms)} ms, TTFT {three(metrics.ttft_ms)} ms"
    if service.problem.rate is not None:
        return f"{mode}: {found}, {times}"
    return f"{mode}: {found}, {times}, {three(metrics.requests_per_s)} req/s on {counted(metrics.gpus, 'GPU')}"


def engines_of(service: Service) -> str:
    """Engines that run the layouts, and why others do not."""
    compared = service.report.get("engines")
    if compared:
        return "; ".join(_compared_line(service, row) for row in compared)
    found = service.engines
    runs = [engine for engine, why in found.items() if why is None]
    others = [f"not {engine}: {why}" for engine, why in found.items() if why is not None]
    can = f"{', '.join(runs)} can run it" if runs else "none can run it"
    return "; ".join([can, *others])


def _compared_line(service: Service, row: Mapping[str, Any]) -> str:
    engine = row["engine"]
    if row["mode"] is None:
        return f"{engine}: {row['why']}"
    own, gpus = row["tokens_per_s_per_device"], row["devices"]
    text = f"{engine} {three(own)} tokens/s per GPU on {counted(gpus, 'GPU')}"
    if engine == service.engine:
        return f"{text}, recommended"
    text = f"{text} ({own / service.metrics.tokens_per_s_per_gpu - 1:+.1%})"
    why = row.get("why_not_exported")
    return f"{text}, not exported: {why}" if why else text


def cost_of(service: Service) -> str:
    """"$23.6 an hour, $4.1 a million output tokens", where GPUs have a price."""
    found = service.found
    if "dollars_per_hour" not in found:
        return ""
    return (
        f"${three(found['dollars_per_hour'])} an hour, "
        f"${three(found['dollars_per_mtoken'])} per million output tokens"
    )


def proof_of(service: Service) -> str:
    proof = service.proof
    if not proof:
        return "given, not searched"
    if any(role.has_own_dims for role in service.roles):
        return "proved optimal but for its dims"
    if (service.report.get("trace") or {}).get("chosen"):
        return "the best of the plans that were replayed"
    if service.report.get("robust"):
        return "robust, the largest worst share of the optimum" + ", proved" * service.proved
    gap = float(proof.get("gap", 0))
    unproved = f"not proved, the optimum is at most {100 * gap:.2g} % higher"
    return "proved optimal" if service.proved else unproved


def searched_of(service: Service) -> str:
    """What the proof is made of."""
    proof = service.proof
    counts = [
        counted(proof[name], f"{one}{text}", f"{one}s{text}")
        for name, one, text in (
            ("layouts", "layout", ""), ("pairs", "pair", " of roles"),
            ("evaluations", "load", " evaluated"), ("intervals", "interval", " bounded"),
        )
        if name in proof
    ]
    return ", ".join(counts)


def accuracy_of(service: Service) -> str:
    """How near measured runs are to what was planned, and what the interval is."""
    source = str(service.report.get("source") or "")
    if not source:
        return ""
    kind, _, what = source.partition(": ")
    if kind == "extrapolated":
        runs = [_unmeasured(each.split()) for each in what.split(", ")]
        # Disaggregated runs have an interval of their own.
        others = "such runs" if what == "mode disaggregated" else "fitted runs, and fewer of such"
        return f"extrapolated, fitted to no {', no '.join(runs)}; an interval holds 80 % of {others}"
    return f"{source}; an interval holds 80 % of them"


def _unmeasured(words: Sequence[str]) -> str:
    """What no measured run has that constants were fitted to: "model X", "mode X" or
    "machine X like Y"; of old plan files the first word alone."""
    match words:
        case ["model", name]:
            return f"run of {name}"
        case ["mode", mode]:
            return f"{mode} run"
        case ["machine", name, "like", other]:
            return f"run on {name} (only on {other})"
    return f"run with this {' '.join(words)}"


def binding_of(service: Service) -> str:
    """What keeps the service from serving more."""
    return str(service.binding["why"])


def chosen_of(service: Service) -> list[str]:
    """What the planner chose of what was listed: "chunk 2048 of 2048, 8192"."""
    lists, problem = service.report.get("chosen_from") or {}, service.problem
    types = {"weight_types": problem.model.weight_type, "kv_types": problem.model.kv_type}
    named = {"weight_types": "weights", "kv_types": "KV cache"}
    found = []
    for name, values in lists.items():
        if name != "accepted_tokens":
            one = types.get(name, getattr(problem, name))
            found.append(f"{named.get(name, name)} {one} of {', '.join(map(str, values))}")
    return ["; ".join(found)] if found else []


def facts_of(service: Service) -> list[tuple[str, str]]:
    """What is said of a service in a line each, by name."""
    report = service.report
    machines, apart = _machine_names(service), int(report.get("prefill_devices") or 0)
    return [
        ("service", service_line(
            service.problem, service.engine, report["devices"], *machines, apart
        )),
        ("requests", requests_of(service.report)),
        *[("chosen", text) for text in chosen_of(service)],
        ("plan", f"{service.mode}, {proof_of(service)}"),
    ]


def results_of(service: Service) -> list[tuple[str, str]]:
    shares = step_shares(service)
    step = ", ".join(f"{name} {share:.0%}" for name, _, share in shares)
    sent = service.kv_transfer_ms
    whole = three(sum(us for _, us, _ in shares) / 1e3)
    found = [
        ("percentiles", percentiles_of(service)),
        ("throughput", throughput_of(service)),
        ("load", load_of(service)),
        ("cost", cost_of(service)),
        ("decode step", f"{whole} ms: {step}"),
        ("KV transfer", "" if sent is None else f"{three(sent)} ms of TTFT"),
        ("bound by", binding_of(service)),
        *[("would help", line) for line in helps_of(service)],
        *[("trace", line) for line in trace_lines(service.report.get("trace"))],
        *[("robust", line) for line in robust_lines(service.report.get("robust"))],
        ("NVLink", in_domains(service)),
        ("other mode", other_mode(service)),
        ("optimum", str(service.report.get("optimum") or "")),
        ("engines", engines_of(service)),
        ("accuracy", accuracy_of(service)),
        ("search", searched_of(service)),
    ]
    return [(name, text) for name, text in found if text]


_CHANGES = {
    "tpot_ms": "a TPOT SLO of {} ms", "ttft_ms": "a TTFT SLO of {} ms", "rate": "{} req/s",
    "machine": "{}", "engine": "{}", "weight_type": "{} weights",
    "kv_type": "a KV cache in {}",
}


def lines_of_advice(advice: Mapping[str, Any], service: Service | None) -> list[str]:
    """A line a change that helps, the best first; without a service, what would be
    served then."""
    found = []
    for option in advice["options"]:
        value = option["value"]
        text = value if isinstance(value, str) else number(float(f"{value:.4g}"))
        if option["what"] == "devices":
            name = counted(text, "GPU")
        else:
            name = _CHANGES[option["what"]].format(text)
        own = option["tokens_per_s_per_device"]
        attained = f"{three(own)} tokens/s per GPU"
        if service is None:
            found.append((0.0, f"{name}: {attained} on {counted(option['devices'], 'GPU')}"))
            continue
        metrics = service.metrics
        if service.problem.rate is not None:
            gain, gpus = metrics.gpus / option["devices"] - 1, option["devices"]
            change = f"{counted(gpus, 'GPU')} instead of {metrics.gpus}"
        else:
            gain = option["requests_per_s"] / metrics.requests_per_s - 1
            change = f"{gain:+.1%} req/s, {attained}"
        if gain > 1e-3:
            found.append((gain, f"{name}: {change}"))
    return [line for _, line in sorted(found, key=lambda pair: -pair[0])]


def helps_of(service: Service) -> list[str]:
    """What would let it serve more, where that was asked for."""
    advice = service.report.get("advice")
    if not advice:
        return []
    return lines_of_advice(advice, service) or ["no change that is tried serves more"]


def trace_lines(trace: Mapping[str, Any] | None) -> list[str]:
    """What a replay says of the plan, and of the one for means."""
    if trace is None:
        return []
    plans = trace["plans"]
    best = plans[trace["chosen"]]
    goodput = best["goodput_requests_per_s"]
    lines = [
        f"{trace['replayed']} of {trace['requests']} requests replayed in {len(plans)} plans: goodput "
        f"{three(goodput)} req/s, {best['within_slos']:.1%} of the requests within the SLOs"
    ]
    if best["within_slos"] == 1:
        lines[0] += ": no plan has a larger share"
    means = trace.get("plan_for_means", {})
    if "why" in means:
        return [*lines, f"the plan for mean lengths does not serve it: {means['why']}"]
    layout = ", ".join(
        f"{name} {means[name]}" for name in ("serve", "prefill", "decode") if name in means
    )
    lines.append(
        f"the plan for mean lengths ({layout}) has a goodput of "
        f"{three(means['goodput_requests_per_s'])} req/s: it loses {trace['plan_for_means_loses']:.2%}"
    )
    return lines


def robust_lines(robust: Mapping[str, Any] | None) -> list[str]:
    """What a robust plan loses at most, and where."""
    if robust is None:
        return []
    scenarios = robust["scenarios"]

    def share(one: Any, of: str) -> float:
        return float(one[f"{of}_requests_per_s"]) / float(one["optimum_requests_per_s"])

    def worst(of: str) -> str:
        one = min(scenarios, key=lambda each: share(each, of))
        where = ", ".join(f"{name} {number(value)}" for name, value in one["values"].items())
        return f"{share(one, of):.1%} of the optimum with {where or 'the numbers as asked'}"

    usual = scenarios[0]
    return [
        f"at least {worst('plan')}, the worst of {len(scenarios)} scenarios",
        f"the plan for the numbers as asked has {worst('usual_plan')}; where they hold, the "
        f"robust plan loses {1 - share(usual, 'plan'):.1%}",
    ]


def lines_of(facts: Iterable[tuple[str, str]]) -> str:
    return "".join(f"  {name:<12}{text}\n" for name, text in facts)


def table_of(service: Service) -> str:
    """What `shardopt plan` prints of a service."""
    return "\n".join(
        [
            lines_of(facts_of(service)),
            aligned(role_rows(service)),
            aligned(slo_rows(service)),
            lines_of(results_of(service)),
        ]
    )


def shortage_table(problem: Problem, report: Mapping[str, Any]) -> str:
    """What is printed where no service meets the SLOs."""
    shortage = report.get("infeasible") or {}
    found = [
        ("service", f"{problem.model.name}, {report['engine']} on "
                    f"{counted(report['devices'], 'GPU')} of {report['machine']}"),
        ("requests", requests_of(report)),
        ("plan", f"none; bound by {shortage.get('binding', 'SLOs')}"),
    ]
    binding = shortage.get("binding")
    nearest = [
        f"{name} of {three(shortage[key])} ms"
        for key, name in (("nearest_tpot_ms", "TPOT"), ("nearest_ttft_ms", "TTFT"))
        if shortage.get(key)
    ]
    if nearest:
        found.append(("would do", ", or a ".join(["a " + nearest[0], *nearest[1:]])))
    elif binding in ("tpot", "ttft", "limits"):
        for key, name in (("least_tpot_ms", "least TPOT"), ("least_ttft_ms", "least TTFT")):
            if shortage.get(key):
                found.append((name, f"{three(shortage[key])} ms"))
    if shortage.get("most_requests_per_s"):
        most = three(shortage["most_requests_per_s"])
        found.append(("most", f"{most} req/s within the SLOs"))
    if shortage.get("fewest_devices"):
        found.append(("fewest", f"{counted(shortage['fewest_devices'], 'GPU')} would do"))
    if binding == "memory":
        found.append(("memory", f"{three(shortage['least_gb'])} GB of a GPU's "
                                f"{three(shortage['capacity_gb'])} GB for weights and one request"))
    return lines_of(found)
