"""The figures that src/matches/pentanomial.rs and sprt.rs are tested with, by other means than theirs.

    pip install numpy scipy
    python3 tests/data/match_statistics.py

The likeliest distribution with a given mean (or a given ratio of mean to spread) is searched for by a general
optimiser under constraints, and the intervals are scipy's.
"""
import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm

SCORES = np.array([0, 0.25, 0.5, 0.75, 1])


def elo(mean):
    return -400 * np.log10(1 / mean - 1)


def likeliest(counts, constraint):
    parts = counts / counts.sum()
    best = None
    for start in (parts, np.full(5, 0.2), 0.5 * parts + 0.1):
        found = minimize(
            lambda p: -(parts * np.log(np.maximum(p, 1e-300))).sum(),
            start,
            jac=lambda p: -parts / np.maximum(p, 1e-300),
            bounds=[(1e-9, 1)] * 5,
            constraints=[{"type": "eq", "fun": lambda p: p.sum() - 1}, {"type": "eq", "fun": constraint}],
            method="SLSQP",
            options={"maxiter": 2000, "ftol": 1e-15},
        )
        if abs(constraint(found.x)) < 1e-7 and (best is None or found.fun < best.fun):
            best = found
    return best.x


def llr(counts, elo0, elo1, normalized):
    counts = np.maximum(np.array(counts, float), 1e-3)

    def under(difference):
        if not normalized:
            return likeliest(counts, lambda p: p @ SCORES - 1 / (1 + 10 ** (-difference / 400)))
        ratio = difference * np.log(10) / 800 * np.sqrt(2)

        def constraint(p):
            mean = p @ SCORES
            return mean - 0.5 - ratio * np.sqrt(max(p @ (SCORES - mean) ** 2, 1e-12))

        return likeliest(counts, constraint)

    return float(counts @ np.log(under(elo1) / under(elo0)))


def figures(counts):
    pairs = np.repeat(SCORES, counts)
    mean, error = pairs.mean(), pairs.std() / np.sqrt(len(pairs))
    low, high = norm.interval(0.95, loc=mean, scale=error)
    in_elo = 800 / np.log(10) / (np.sqrt(2) * pairs.std())
    normalized = ((mean - 0.5) * in_elo, (high - low) / 2 * in_elo)
    return mean, (elo(mean), (elo(high) - elo(low)) / 2), normalized, norm.cdf((mean - 0.5) / error)


for counts in ([10, 40, 120, 70, 20], [1, 4, 30, 12, 3], [0, 3, 5, 10, 32], [250, 2100, 5100, 2200, 280]):
    mean, (e, ee), (n, ne), los = figures(counts)
    print(f"            ({counts}, {mean:.6f}, ({e:.4f}, {ee:.4f}), ({n:.4f}, {ne:.4f}), {los:.6f}),")
print()
for counts, bounds in (
    ([10, 40, 120, 70, 20], [0, 5]),
    ([1, 4, 30, 12, 3], [0, 10]),
    ([250, 2100, 5100, 2200, 280], [0, 2]),
    ([250, 2100, 5100, 2200, 280], [-3, 1]),
    ([0, 3, 5, 10, 32], [0, 100]),
    ([40, 200, 300, 150, 20], [-5, 0]),
):
    logistic, normalized = (llr(counts, *bounds, kind) for kind in (False, True))
    print(f"            ({counts}, [{bounds[0]}.0, {bounds[1]}.0], {logistic:.4f}, {normalized:.4f}),")
