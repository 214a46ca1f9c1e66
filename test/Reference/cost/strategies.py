"""What is evaluated, and what an evaluation answers."""

from dataclasses import dataclass

from cost.machines import MACHINES, Machine


@dataclass(frozen=True)
class Workload:
    phase: str = "decode"  # or "prefill"
    context: int = 16384  # cached tokens a sequence; tokens a prompt
    machine: Machine = MACHINES["h100_sxm"]
    slo_ms: float = None  # None: 50 for decode, 2000 for prefill
    max_devices: int = None
    comm_model: str = "fast"
    imbalance: str = "model"  # or "none"

    @property
    def slo(self):
        """The limit on TPOT or TTFT in seconds."""
        default = 50 if self.phase == "decode" else 2000
        return (default if self.slo_ms is None else self.slo_ms) * 1e-3


@dataclass(frozen=True)
class Strategy:
    tp: int
    ep: int
    pp: int
    batch: int
    dims: tuple  # one of 0, 1, 2 (none) an op, or 3 (both) of a network
    dp: int = None  # None: ep
    cp: int = 1
    tp2: int = 1
    exchange: str = "all_to_all"  # or "gather"

    @property
    def replicas(self):
        return self.ep if self.dp is None else self.dp

    @staticmethod
    def from_json(value, model):
        dims = value["dims"]
        names = model.op_names()
        if isinstance(dims, dict):
            dims = [dims[name] for name in names]
        if len(dims) != len(names):
            raise ValueError(f"expected {len(names)} dims, found {len(dims)}")
        defaults = {key: value[key] for key in ("dp", "cp", "tp2", "exchange") if key in value}
        return Strategy(
            value["tp"], value["ep"], value["pp"], value["batch"], tuple(dims), **defaults
        )

    def to_json(self):
        value = {
            "tp": self.tp,
            "ep": self.ep,
            "pp": self.pp,
            "batch": self.batch,
            "dims": list(self.dims),
        }
        if self.replicas != self.ep:
            value["dp"] = self.dp
        if self.cp != 1:
            value["cp"] = self.cp
        if self.tp2 != 1:
            value["tp2"] = self.tp2
        if self.exchange != "all_to_all":
            value["exchange"] = self.exchange
        return value


@dataclass
class Line:
    """What one op costs on the busiest device."""

    op: str
    time: float
    layout: str  # of its result
    weights: float = 0.0
    cache: float = 0.0


@dataclass
class LayerCost:
    lines: list
    routed: str  # layout s in which the residual branch leaves the layer
    shared: str  # layout u of the shared experts' result, None without them
    residual: str  # A5, the layout of the residual

    @property
    def time(self):
        return sum(line.time for line in self.lines)

    @property
    def memory(self):
        return sum(line.weights + line.cache for line in self.lines)


@dataclass
class Result:
    valid: bool = False
    reason: str = "structural"
    throughput: float = 0.0  # tokens/s a device
    latency: float = 0.0  # TPOT or TTFT, seconds
    memory: float = 0.0  # bytes of the fullest device
    stages: tuple = ()  # seconds
    layers: dict = None  # (kind, window) -> LayerCost
    embed: Line = None
    head: Line = None
    return_time: float = 0.0  # part of the head: tokens back to the first stage

    def to_json(self, phase):
        latency = "tpot_ms" if phase == "decode" else "ttft_ms"
        return {
            "throughput": self.throughput,
            latency: self.latency * 1e3,
            "memory_gb": self.memory / 1e9,
            "valid": self.valid,
            "reason": self.reason,
        }
