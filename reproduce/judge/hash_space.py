"""Sizes of the hash paper's search spaces: Table 1, Table 3, section 5.1.

Written from the text alone; counted by enumeration where that is possible.
"""

import json
from itertools import combinations
from math import comb, log10

N, M = 14, 5


def unique_xor():
    """Equation 9."""
    top = bottom = 1
    for i in range(1, M + 1):
        top *= 2 ** (N - i + 1) - 1
        bottom *= 2 ** (M - i + 1) - 1
    assert top % bottom == 0
    return top // bottom


def pruned(strides, threads):
    """Section 5.1: k1 is a k of the strides S = S0 2^k; k2 goes from the least k
    to the highest bit that (t - 1) S has, without k1; a mask takes no bit above it."""
    ks = {(s & -s).bit_length() - 1 for s in strides}
    top = max(((threads - 1) * s).bit_length() - 1 for s in strides)
    found = {
        (k1, k2, mask)
        for k1 in ks
        for k2 in range(min(ks), top + 1)
        for mask in range(2**M)
        if k2 != k1 and (mask << k2).bit_length() - 1 <= top
    }
    return found, ks, top


def main():
    left, ks, top = pruned([4, 6], 32)
    full = [(a, b, c) for a in range(N - M + 1) for b in range(N) for c in range(2**M)]
    exponent = M * 2**N * log10(2)
    out = {
        "all functions, mantissa": 10 ** (exponent - int(exponent)),
        "all functions, exponent": int(exponent),
        "XOR-based": 2 ** (N * M),
        "unique XOR-based": unique_xor(),
        "bit-vector permutation": N - M + 1,
        "bit-vector XOR": len(full),
        "bitwise permutation": len(list(combinations(range(N), M))),
        "bitwise XOR": comb(N * (N + 1) // 2, M),
        "Table 3": len([(a, b) for a in range(4) for b in range(a, 4)]),
        "strides 4 and 6": len(left),
        "strides 4 and 6, percent": 100 * len(left) / len(full),
        "strides 4 and 6, k1": sorted(ks),
        "strides 4 and 6, k2": [min(ks), top],
    }
    # Fig. 5: the address bits of each bank bit for k1 = 2, k2 = 8, mask = 7.
    bank = lambda a: (a >> 2 ^ (a >> 8 & 7)) & 31
    out["Fig. 5"] = [sum(1 << a for a in range(N) if bank(1 << a) >> b & 1) for b in range(M)]
    print(json.dumps(out, indent=1))


main()
