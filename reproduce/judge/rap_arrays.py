"""Table IV of the RAP paper: accesses to a w x w x w x w array, w = 16.

Written from section VII alone: a[i][j][k][l] is in bank (l + f(i, j, k)) mod w,
f as the section defines it for each scheme; random numbers are drawn for each
access. The malicious accesses are those that the text describes (R1P: groups of
the six orders of three indices) or that follow from f (RAW and 1P: rows that f
does not tell apart); for the others there is no access that is known to be bad,
and a diagonal stands for it.

Prints {"SCHEME ACCESS": mean congestion} and {"SCHEME numbers": random numbers}.
"""

import json
import random

W = 16
SAMPLES = 1000
SCHEMES = ["RAW", "RAS", "1P", "R1P", "3P", "w2P", "1Pw2R"]


def shift_function(scheme, rng):
    """f of one draw; numbers that depend on more than one index come lazily."""
    r, s, t = (rng.sample(range(W), W) for _ in range(3))
    known = {}
    if scheme == "RAW":
        return lambda i, j, k: 0
    if scheme == "RAS":
        return lambda i, j, k: known.setdefault((i, j, k), rng.randrange(W))
    if scheme == "1P":
        return lambda i, j, k: r[k]
    if scheme == "R1P":
        return lambda i, j, k: r[i] + r[j] + r[k]
    if scheme == "3P":
        return lambda i, j, k: r[i] + s[j] + t[k]
    if scheme == "w2P":

        def own(i, j, k):
            if (i, j) not in known:
                known[i, j] = rng.sample(range(W), W)
            return known[i, j][k]

        return own
    return lambda i, j, k: known.setdefault((i, j), rng.randrange(W)) + r[k]


def elements(access, scheme, rng):
    i, j, k, l = (rng.randrange(W) for _ in range(4))
    each = range(W)
    if access == "contiguous":
        return [(i, j, k, x) for x in each]
    if access == "stride1":
        return [(i, j, x, l) for x in each]
    if access == "stride2":
        return [(i, x, k, l) for x in each]
    if access == "stride3":
        return [(x, j, k, l) for x in each]
    if access == "random":
        return [tuple(rng.randrange(W) for _ in range(4)) for _ in each]
    if scheme in ("RAW", "1P"):
        return [(x, 0, 0, 0) for x in each]
    if scheme == "R1P":
        out = []
        for a in range(0, W - 2, 3):
            b, c = a + 1, a + 2
            for order in ((a, b, c), (a, c, b), (b, a, c), (b, c, a), (c, a, b), (c, b, a)):
                out.append((*order, 0))
        return out[:W]
    return [(0, 0, x, x) for x in each]


def congestion(access, scheme, rng):
    f = shift_function(scheme, rng)
    banks = {}
    for i, j, k, l in set(elements(access, scheme, rng)):
        banks.setdefault((l + f(i, j, k)) % W, []).append(1)
    return max(map(len, banks.values()))


def main():
    rng = random.Random(2)
    out = {}
    for scheme in SCHEMES:
        for access in ("contiguous", "stride1", "stride2", "stride3", "random", "malicious"):
            drawn = (congestion(access, scheme, rng) for _ in range(SAMPLES))
            out[f"{scheme} {access}"] = sum(drawn) / SAMPLES
    # One number per (i, j, k), per index and permutation, per (i, j) and permutation.
    numbers = {"RAW": 0, "RAS": W * W * W, "1P": W, "R1P": W, "3P": W + W + W}
    numbers |= {"w2P": (W * W) * W, "1Pw2R": W + W * W}
    out |= {f"{scheme} numbers": n for scheme, n in numbers.items()}
    print(json.dumps(out, indent=1))


main()
