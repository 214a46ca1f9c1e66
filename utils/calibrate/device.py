"""The data sheet of a machine, in the units of the forms: us, bytes/us, FLOP/us."""

import json


class Device:
    """What the forms read of a machine file."""

    def __init__(self, machine):
        compute, memory, domain = machine["compute"], machine["memory"], machine["domain"]
        self.name = machine["name"]
        self.flops = compute["bf16_flops_per_s"] / 1e6
        fp8 = compute.get("fp8_flops_per_s", compute["bf16_flops_per_s"])
        self.fp8 = fp8 / compute["bf16_flops_per_s"]
        self.fp4 = compute.get("fp4_flops_per_s", fp8) / compute["bf16_flops_per_s"]
        self.sms = compute["sms"]
        self.bandwidth = memory["bandwidth_bytes_per_s"] / 1e6
        self.cache = memory["cache_bytes"]
        self.link = domain["bandwidth_bytes_per_s"] / 1e6
        self.network = machine["network"]["bandwidth_bytes_per_s"] / 1e6

    @staticmethod
    def load(path):
        return Device(json.loads(path.read_text()))
