"""The optimisers from outside: how a user would set each of them up.

A space is a list of variables, each a list of values; a point is a tuple of
indices into them. The first four are the degrees, which are ordered; the others
are dims, which are not. A generator yields points and is sent the loss of each.
"""

import collections
import itertools
import math

ORDERED = 4


def optuna_tpe(sizes, seed):
    """Optuna's tree-structured Parzen estimator, over all variables jointly."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(
        multivariate=True, n_startup_trials=64, seed=seed
    )
    study = optuna.create_study(sampler=sampler)
    distributions = {
        f"v{index}": optuna.distributions.IntDistribution(0, size - 1)
        if index < ORDERED
        else optuna.distributions.CategoricalDistribution(list(range(size)))
        for index, size in enumerate(sizes)
    }
    while True:
        trial = study.ask(distributions)
        loss = yield tuple(trial.params[name] for name in distributions)
        study.tell(trial, loss)


def catcmawm(sizes, seed, population=50, patience=3):
    """CMA-ES with margin for integers and categories (package cmaes).

    Its margin keeps about a quarter of a generation away from the mode for
    ever, and its own criteria do not know categories. So it starts again, with
    another seed, not only where it says that it has converged, but also when
    half of a generation is one point and `patience` generations in a row have
    found nothing better.
    """
    import cmaes
    import numpy

    free = [index for index, size in enumerate(sizes) if size > 1]
    integers = [index for index in free if index < ORDERED]
    categories = [index for index in free if index >= ORDERED]
    for start in itertools.count():
        optimizer = cmaes.CatCMAwM(
            z_space=[list(range(sizes[index])) for index in integers] or None,
            c_space=[sizes[index] for index in categories] or None,
            population_size=population,
            seed=seed + 1_000_003 * start,
        )
        best, waited, has_collapsed = math.inf, 0, False
        while not (has_collapsed and waited >= patience):
            solutions, points = [], collections.Counter()
            for _ in range(population):
                solution = optimizer.ask()
                point = [0] * len(sizes)
                for index, value in zip(integers, solution.z):
                    point[index] = int(value)
                for index, one_hot in zip(categories, solution.c):
                    point[index] = int(numpy.argmax(one_hot))
                points[tuple(point)] += 1
                solutions.append((solution, (yield tuple(point))))
            optimizer.tell(solutions)
            found = min(loss for _, loss in solutions)
            waited = 0 if found < best else waited + 1
            best = min(best, found)
            has_collapsed = max(points.values()) >= population / 2
            if optimizer.should_stop():
                break


def sb3_ppo(sizes, seed):
    """Stable-Baselines3's PPO, set up as `ppo-paper` is."""
    from . import sb3

    return sb3.proposals(sizes, seed)


# name: (optimiser, strategies at most for each call of the budget). TPE needs
# 25 ms for each at the end of a run, and longer after it, and a policy that has
# settled asks for nothing new: repeats of both are discounted but not replaced.
OPTIMIZERS = {
    "optuna-tpe": (optuna_tpe, 1),
    "catcmawm": (catcmawm, 25),
    "sb3-ppo": (sb3_ppo, 1),
}
