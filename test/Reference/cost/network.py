"""Times of collectives."""

MICRO = 1e-6


class Network:
    """Times of collectives on a machine: n ranks at a stride."""

    def __init__(self, machine, comm_model="fast"):
        if comm_model not in ("ring", "direct", "fast"):
            raise ValueError(f"unknown comm model '{comm_model}'")
        self.machine = machine
        self.comm_model = comm_model
        ring = comm_model == "ring"
        self.launch = (6.6 if ring else 2.0) * MICRO  # a_c
        self.nvlink_phase = 3 * MICRO  # a_nv
        self.network_phase = 6 * MICRO  # a_ib
        self.nvlink_step = 0.6 * MICRO  # s_nv, ring
        self.network_step = 2.7 * MICRO  # s_ib, ring

    def shape(self, n, stride):
        """(ranks of the group in one NVLink domain, number of domains)."""
        limit = max(1, self.machine.domain // stride)
        g = max(d for d in range(1, min(n, limit) + 1) if n % d == 0)
        return g, n // g

    def latency(self, g, q):
        if self.comm_model == "ring":
            return (g - 1) * self.nvlink_step + (q - 1) * self.network_step
        phases = (q - 1).bit_length()  # ceil(log2 q)
        return (self.nvlink_phase if g > 1 else 0) + phases * self.network_phase

    def transfer(self, volume, g, q):
        inside = volume * (g - 1) / g / self.machine.nvlink
        across = (volume / g) * (q - 1) / q / self.machine.network
        return inside + across

    def all_gather(self, volume, n, stride=1):
        """volume: bytes of the full tensor. Reduce-scatter costs the same."""
        if n == 1:
            return 0.0
        g, q = self.shape(n, stride)
        return self.launch + self.latency(g, q) + self.transfer(volume, g, q)

    reduce_scatter = all_gather

    def all_reduce(self, volume, n, stride=1):
        """The cheapest of the known algorithms; volume: the full tensor."""
        if n == 1:
            return 0.0
        g, q = self.shape(n, stride)
        a_c, a_nv, a_ib = self.launch, self.nvlink_phase, self.network_phase
        m = self.machine
        two_shot = a_c + 2 * (self.latency(g, q) + self.transfer(volume, g, q))
        if self.comm_model == "ring":
            return two_shot

        inter = 0.0
        if q > 1:
            phases = (q - 1).bit_length()
            share = volume / g
            inter = min(
                2 * (phases * a_ib + share * (q - 1) / q / m.network),
                phases * (a_ib + share / m.network),
            )
        inside = 2 * (a_nv + volume * (g - 1) / g / m.nvlink) if g > 1 else 0.0
        times = [two_shot, a_c + inside + inter]
        if self.comm_model == "fast" and q == 1:
            times.append(a_c + a_nv + (n - 1) * volume / m.nvlink)
            if m.nvls:
                times.append(a_c + 1.5 * a_nv + volume / m.nvls)
        if self.comm_model == "fast" and q > 1 and g > 1 and m.nvls:
            times.append(a_c + 2 * a_nv + volume / m.nvls + inter)
        return min(times)

    def all_to_all(self, held, n, stride=1):
        """held: bytes a rank holds, its own share included."""
        if n == 1:
            return 0.0
        g, q = self.shape(n, stride)
        inside = across = 0.0
        if g > 1:
            inside = self.nvlink_phase + held * (g - 1) / n / self.machine.nvlink
        if q > 1:
            across = self.network_phase + held * (n - g) / n / self.machine.network
        return self.launch + max(inside, across)
