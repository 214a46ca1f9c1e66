"""How platforms name the GPUs of machines."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hardware:
    """The vendor of a GPU, and the label that its nodes have in Kubernetes ("": unknown)."""

    vendor: str
    product: str = ""

    @property
    def resource(self) -> str:
        """What a container asks for."""
        return f"{self.vendor}.com/gpu"

    @property
    def selector(self) -> dict[str, str]:
        """The labels of its nodes, as the vendor's feature discovery writes them."""
        key = "nvidia.com/gpu.product" if self.vendor == "nvidia" else "amd.com/gpu.product-name"
        return {key: self.product} if self.product else {}


_KNOWN = {
    "a100_sxm": Hardware("nvidia", "NVIDIA-A100-SXM4-80GB"),
    "b200_sxm": Hardware("nvidia", "NVIDIA-B200"),
    "b300_sxm": Hardware("nvidia", "NVIDIA-B300-SXM6-AC"),
    "gb200": Hardware("nvidia", "NVIDIA-GB200"),
    "gb300": Hardware("nvidia", "NVIDIA-GB300"),
    "h100_nvl": Hardware("nvidia", "NVIDIA-H100-NVL"),
    "h100_pcie": Hardware("nvidia", "NVIDIA-H100-PCIe"),
    "h100_sxm": Hardware("nvidia", "NVIDIA-H100-80GB-HBM3"),
    "h20": Hardware("nvidia", "NVIDIA-H20"),
    "h200_sxm": Hardware("nvidia", "NVIDIA-H200"),
    "l40s": Hardware("nvidia", "NVIDIA-L40S"),
    "mi300x": Hardware("amd", "AMD_Instinct_MI300X_OAM"),
}


def hardware_of(machine: str) -> Hardware:
    """Of a machine by its name; a machine of the user's own has NVIDIA's, unlabelled."""
    return _KNOWN.get(machine, Hardware("nvidia"))
