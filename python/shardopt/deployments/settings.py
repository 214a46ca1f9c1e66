"""What a target is told in addition to the service: names, images, volumes."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Mapping, Sequence

from ..errors import ShardoptError
from . import names
from .service import DECODE, PREFILL, SERVE


@dataclass(frozen=True)
class Settings:
    """All have defaults; manifests check what they use."""

    namespace: str = "default"
    image: str | None = None
    router_image: str | None = None
    #: A volume claim that holds models, and where containers see it.
    claim: str = "models"
    models: str = "/models"
    #: A secret with HF_TOKEN, where models come from a hub.
    secret: str | None = None
    #: "KEY=VALUE" or "ROLE:KEY=VALUE": labels of the nodes that pods go to.
    node_selector: Sequence[str] = ()
    #: "NAME" or "ROLE:NAME".
    partition: Sequence[str] = ()
    account: str | None = None
    time: str = "04:00:00"

    def __post_init__(self) -> None:
        names.label(self.namespace, "namespace", 63)
        names.label(self.claim, "claim", 63)
        names.path(self.models, "folder of models")
        for image in (self.image, self.router_image):
            if image is not None:
                names.image(image)
        if self.secret is not None:
            names.label(self.secret, "secret", 63)
        if self.account is not None:
            names.word(self.account, "account")
        names.word(self.time, "time")
        for text in self.partition:
            names.word(_of_role(text)[1], "partition")
        for text in self.node_selector:
            key, equals, value = _of_role(text)[1].partition("=")
            if not equals or not key:
                raise ShardoptError(
                    f"the node selector is '{text:.80}', expected [ROLE:]KEY=VALUE"
                )
            names.label_key(key, "node selector's key")
            names.label_value(value, "node selector's value")

    def check_target(self, target: str) -> None:
        """Raises where a target cannot say what a user set."""
        for each in dataclasses.fields(self):
            if getattr(self, each.name) != each.default and target not in _SAID_BY[each.name]:
                flag = each.name.replace("_", "-")
                raise ShardoptError(
                    f"'--{flag}' cannot be said in the target {target}, expected it with "
                    + ", ".join(_SAID_BY[each.name])
                )

    @staticmethod
    def is_of_pods(target: str) -> bool:
        return target in _PODS

    def selector_of(self, role: str) -> Mapping[str, str]:
        """The labels that a user gives for the nodes of a role."""
        asked = [said for of, said in map(_of_role, self.node_selector) if of in ("", role)]
        return dict(said.split("=", 1) for said in asked)

    def partition_of(self, role: str) -> str | None:
        """The partition of a role: its own before that of all."""
        own = {of: said for of, said in map(_of_role, self.partition)}
        return own.get(role, own.get(""))


_PODS = ("kubernetes", "dynamo", "llm-d")
#: The targets that say each setting.
_SAID_BY: Mapping[str, Sequence[str]] = {
    "namespace": _PODS,
    "image": ("compose", "slurm", "srt-slurm", *_PODS),
    "router_image": ("compose", "kubernetes", "llm-d"),
    "claim": _PODS,
    "models": ("compose", *_PODS),
    "secret": _PODS,
    "node_selector": _PODS,
    "partition": ("slurm",),
    "account": ("slurm",),
    "time": ("slurm",),
}


def _of_role(text: str) -> tuple[str, str]:
    """The role that a setting is of, "" for all, and the rest."""
    role, colon, rest = text.partition(":")
    return (role, rest) if colon and role in (SERVE, PREFILL, DECODE) else ("", text)
