"""Effective constants of clusters."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """Effective constants of a cluster, per device."""

    name: str
    flops: float  # F
    flops_fp8: float  # F8, equal to F where there is no fp8
    memory_bandwidth: float  # Bm
    capacity: float  # bytes that weights and caches may take
    domain: int  # D, devices that share NVLink
    nvlink: float  # Bnv, per direction
    nvls: float  # Bnvls, 0 where the switch does not reduce
    network: float  # Bib


def machine(name, flops, fp8, memory, capacity, domain, intra, inter):
    """Applies the efficiencies of the model to published peaks.

    capacity is in bytes as the vendor counts them (GiB become 1e9 bytes).
    """
    return Machine(
        name=name,
        flops=0.75 * flops,
        flops_fp8=0.75 * (fp8 or flops),
        memory_bandwidth=0.85 * memory,
        capacity=0.9e9 * capacity / 2**30,
        domain=domain,
        nvlink=0.8 * intra,
        nvls=0.6 * intra if intra >= 4e11 else 0,
        network=0.9 * inter,
    )


MACHINES = {
    m.name: m
    for m in (
        machine("a100_sxm", 312e12, None, 2.039e12, 85899345920, 8, 300e9, 25e9),
        machine("h100_sxm", 989e12, 1978e12, 3.35e12, 85899345920, 8, 450e9, 50e9),
        machine("h200_sxm", 989e12, 1978e12, 4.8e12, 151397597184, 8, 450e9, 50e9),
        machine("b200_sxm", 2250e12, 4500e12, 7.7e12, 193273528320, 8, 900e9, 100e9),
        # One NVLink domain is a rack of 72; racks are joined by 100 GB/s.
        machine("gb200", 2500e12, 5000e12, 8e12, 198674743296, 72, 900e9, 100e9),
    )
}
