"""Tables II and III of the RAP paper: mean congestion of accesses to a matrix.

Written from the paper alone. The congestion of a warp is the largest number of
distinct addresses in one bank; element (i, j) of a w x w matrix is in bank
(j + r_i) mod w. Three of the four kinds of random case have a closed form, so
that only the permutation on a diagonal is drawn.

Prints {"SCHEME ACCESS wW": mean} as JSON.
"""

import json
import math
import random
from collections import Counter

WIDTHS = [16, 32, 64, 128, 256]


def product(a, b, degree):
    out = [0.0] * (degree + 1)
    for i, x in enumerate(a):
        if x:
            for j, y in enumerate(b[: degree + 1 - i]):
                out[i + j] += x * y
    return out


def power(base, n, degree):
    out = [1.0]
    while n:
        if n & 1:
            out = product(out, base, degree)
        n >>= 1
        if n:
            base = product(base, base, degree)
    return out


def mean_of_maximum(w, bank):
    """Mean of the largest load; bank(k): a bank's series for loads up to k, in
    which the coefficient of x^n is the weight of n accesses over n!.

    The chance of at most k is n! [x^n] of the w-th power of the series. Each
    factor is scaled by exp(-x) of the Poisson distribution with mean 1, so that
    no number overflows: n! then becomes n! e^w / w^w, formed in logarithms.
    """
    scale = math.exp(math.lgamma(w + 1) + w - w * math.log(w))
    mean, below = 0.0, 0.0
    for k in range(1, w + 1):
        series = power([c * math.exp(-1.0) for c in bank(k)], w, w)
        chance = series[w] * scale
        mean += k * (chance - below)
        below = chance
        if 1.0 - chance < 1e-9:
            break
    return mean


def distinct_rows(w):
    """w threads in rows of their own, each in a random bank: RAS on a stride or
    a diagonal. A bank's series is that of the exponential, cut off."""
    return mean_of_maximum(w, lambda k: [1 / math.factorial(n) for n in range(k + 1)])


def random_elements(w):
    """w random elements, equal ones merged. A bank has w of them; exactly d
    distinct ones by n accesses: C(w, d) (e^(x/w) - 1)^d. Any row's rotation
    leaves random elements random, so the three schemes are equal."""
    def bank(k):
        one = [0.0] + [w**-n / math.factorial(n) for n in range(1, min(w, 40) + 1)]
        total, term = [0.0] * (w + 1), [1.0]
        for d in range(k + 1):
            for n, c in enumerate(term):
                total[n] += math.comb(w, d) * c
            term = product(term, one, min(w, 40))
        return total

    return mean_of_maximum(w, bank)


def permuted_diagonal(w, rng, shuffles):
    """Thread t of a diagonal is in row t and column t + i: bank t + i + r_t."""
    total, samples = 0, 0
    for _ in range(shuffles):
        r = rng.sample(range(w), w)
        # r after t -> m t is a random permutation, too, for an odd m.
        for m in (1, 5, 11, 13):
            load = Counter((t + r[m * t % w]) % w for t in range(w))
            total += max(load.values())
            samples += 1
    return total / samples


def main():
    rng = random.Random(1)
    out = {}
    for w in WIDTHS:
        shifted, anywhere = distinct_rows(w), random_elements(w)
        diagonal = permuted_diagonal(w, rng, 160_000 // w)
        for scheme in ("RAW", "RAS", "RAP"):
            out[f"{scheme} contiguous w{w}"] = 1.0
            out[f"{scheme} random w{w}"] = anywhere
        out[f"RAW stride w{w}"] = float(w)
        out[f"RAS stride w{w}"] = shifted
        out[f"RAP stride w{w}"] = 1.0
        out[f"RAW diagonal w{w}"] = 1.0
        out[f"RAS diagonal w{w}"] = shifted
        out[f"RAP diagonal w{w}"] = diagonal
    print(json.dumps(out, indent=1))


main()
