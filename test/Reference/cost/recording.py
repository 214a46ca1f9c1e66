"""Times that remember which collectives they are for."""

from cost.network import Network


class Charge(float):
    """A time that remembers the collectives, (kind, bytes, seconds), that it is for."""

    collectives = ()

    def __new__(cls, time, collectives):
        charge = super().__new__(cls, time)
        charge.collectives = tuple(collectives)
        return charge

    def __add__(self, other):
        return Charge(float(self) + float(other), self.collectives + collectives_of(other))

    def __radd__(self, other):
        return Charge(float(other) + float(self), collectives_of(other) + self.collectives)


def collectives_of(time):
    return getattr(time, "collectives", ())


class RecordingNetwork(Network):
    """Gives times that remember what they are for."""

    def all_gather(self, volume, n, stride=1):
        return self.charge("all_gather", volume, n, super().all_gather(volume, n, stride))

    def reduce_scatter(self, volume, n, stride=1):
        return self.charge("reduce_scatter", volume, n, super().all_gather(volume, n, stride))

    def all_reduce(self, volume, n, stride=1):
        return self.charge("all_reduce", volume, n, super().all_reduce(volume, n, stride))

    def all_to_all(self, held, n, stride=None):
        # The exchange of tokens is over ep, which lies at a stride.
        kind = "all_to_all" if stride is None else "all_to_all_v"
        return self.charge(kind, held, n, super().all_to_all(held, n, stride or 1))

    @staticmethod
    def charge(kind, bytes_, n, time):
        return Charge(time, [(kind, bytes_, time)] if n > 1 else [])
