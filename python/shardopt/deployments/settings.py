"""What a target is told beside the service: names, images, volumes."""

from __future__ import annotations

from dataclasses import dataclass

from . import names


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
    partition: str | None = None
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
        for word, what in ((self.partition, "partition"), (self.account, "account")):
            if word is not None:
                names.word(word, what)
        names.word(self.time, "time")
