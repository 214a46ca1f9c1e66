"""When requests come."""

import random


def poisson(rate, count):
    """The seconds at which `count` requests come independently of each other, `rate` a second;
    the first comes at once."""
    draw, now = random.Random(1), 0.0
    for _ in range(count):
        yield now
        now += draw.expovariate(rate)
