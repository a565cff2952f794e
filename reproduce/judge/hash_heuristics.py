"""The examples of the hash paper's heuristics, sections 5.2.1 and 5.2.2.

Written from equations 11 to 15 alone, with fractions; ties to the lowest bit.
"""

import json
from fractions import Fraction


def ratio(part, whole):
    rest = whole - part
    return Fraction(min(part, rest), max(part, rest))


def givargis(sets, n, m):
    ones = [[sum(a >> i & 1 for a in r) for i in range(n)] for r in sets]
    quality = [[ratio(o, len(r)) for o in row] for r, row in zip(sets, ones)]
    taken = []
    for _ in range(m):
        left = [i for i in range(n) if i not in taken]
        best = max(left, key=lambda i: (sum(q[i] for q in quality), -i))
        taken.append(best)
        for r, q in zip(sets, quality):
            for i in range(n):
                if i != best:
                    differ = sum((a >> i ^ a >> best) & 1 for a in r)
                    q[i] *= ratio(differ, len(r))
    return taken


def histogram(refs, taken, bit):
    """Position (A_bit, b_n-1, ..., b_0)."""
    places = taken + [bit]
    bins = [0] * 2 ** len(places)
    for a in refs:
        bins[sum((a >> p & 1) << i for i, p in enumerate(places))] += 1
    return bins


def imbalance(refs, taken, bit):
    bins = histogram(refs, taken, bit)
    return sum(abs(b - Fraction(len(refs), len(bins))) for b in bins) / len(refs)


def mih(sets, n, m):
    taken = []
    for _ in range(m):
        left = [i for i in range(n) if i not in taken]
        taken.append(min(left, key=lambda i: (sum(imbalance(r, taken, i) for r in sets), i)))
    return taken


def main():
    stride = lambda s: [s * t for t in range(32)]
    refs = [27, 12, 6, 19, 11, 4, 28, 3]
    out = {
        "Givargis, strides 8 and 45": givargis([stride(8), stride(45)], 14, 5),
        "Givargis, strides 8 and 13": givargis([stride(8), stride(13)], 14, 5),
        "MIH": mih([refs], 5, 3),
    }
    for name, taken in (("a", []), ("b", [0]), ("c", [0, 3])):
        for bit in range(5):
            if bit not in taken:
                out[f"({name}) A{bit}"] = float(imbalance(refs, taken, bit))
                out[f"({name}) A{bit}, bins"] = histogram(refs, taken, bit)
    print(json.dumps(out, indent=1))


main()
