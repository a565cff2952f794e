#!/usr/bin/env python3
"""Tables 1, 3 and 5 of the elastic paper by their formulas (Eqs 2 and 3, sections
3.1, 5.4 and 6.2), and the degrees of five kernels from what their accesses are.

A SIMD access has 8 lanes and 8 banks of 4-byte words; its degree is the number
of different words in the bank that has the most. A pass without an active lane
is none.
"""

import json

LANES = BANKS = 8
PUBLISHED = {  # intensity in percent and mean degree, Table 5
    "AES_encrypt": (36.1, 1.54),
    "AES_decrypt": (35.9, 1.53),
    "Reduction": (4.0, 3.07),
    "Transpose": (3.7, 4.50),
    "DCT": (21.6, 3.33),
    "IDCT": (21.2, 3.33),
    "DCT_short": (10.3, 2.75),
    "IDCT_short": (10.3, 2.75),
}


def degree(words):
    banks = {}
    for word in set(words):
        banks[word % BANKS] = banks.get(word % BANKS, 0) + 1
    return max(banks.values())


def mean_degree(threads, accesses):
    """`accesses`: functions of the thread, its word or None if it has none."""
    degrees = []
    for access in accesses:
        for first in range(0, threads, LANES):
            words = [access(t) for t in range(first, first + LANES)]
            words = [w for w in words if w is not None]
            if words:
                degrees.append(degree(words))
    return sum(degrees) / len(degrees)


def reduction():
    """256 threads add the halves of ever more distant pairs, each with two loads
    and a store: sdata[2 s t] += sdata[2 s t + s]."""
    accesses = [lambda t: t]
    for s in (2**k for k in range(8)):
        at = lambda t, s=s: 2 * s * t if 2 * s * t < 256 else None
        other = lambda t, s=s: 2 * s * t + s if 2 * s * t < 256 else None
        accesses += [at, other, at]
    accesses.append(lambda t: 0 if t == 0 else None)
    return mean_degree(256, accesses)


def transpose():
    """A tile of 16 x 16, stored by rows and read by columns."""
    return mean_degree(256, [lambda t: t, lambda t: t % 16 * 16 + t // 16])


def dct():
    """8 x 4 x 2 threads, 32 x 16 words: 8 stores and 8 loads of copies, a row and a
    column of 8 loaded and stored by each thread."""
    x, y, z = (lambda t: t % 8), (lambda t: t // 8 % 4), (lambda t: t // 32)
    accesses = []
    for k in range(8):
        copy = lambda t, k=k: (8 * z(t) + k) * 32 + 8 * y(t) + x(t)
        row = lambda t, k=k: (8 * z(t) + x(t)) * 32 + 8 * y(t) + k
        accesses += [copy, copy, row, row, copy, copy]  # a column is read as it is copied
    return mean_degree(64, accesses)


def dct_short():
    """8 x 4 x 4 threads, 32 x 32 integers of 16 bits. Half of the threads copy, a
    word each; a row is four words; a column is read integer by integer, every
    second of them by neighbours."""
    x, y, z = (lambda t: t % 8), (lambda t: t // 8 % 4), (lambda t: t // 32)
    mixed = lambda t: (2 * (8 * y(t) + x(t)) | (8 * y(t) + x(t)) >> 4) & 31
    accesses = []
    for k in range(8):
        copy = lambda t, k=k: (8 * z(t) + k) * 16 + 8 * y(t) + x(t) if y(t) < 2 else None
        column = lambda t, k=k: (8 * z(t) + k) * 16 + mixed(t) // 2
        accesses += [copy, copy, column, column]
    for k in range(4):
        row = lambda t, k=k: (8 * z(t) + x(t)) * 16 + 4 * y(t) + k
        accesses += [row, row]
    return mean_degree(128, accesses)


def history_bytes(lines=512, sets=256, warp_size=32, pc_bits=14):
    degree_bits = warp_size.bit_length() - 1
    tag_bits = pc_bits - (sets.bit_length() - 1)
    return lines * (degree_bits + tag_bits) / 8


print(
    json.dumps(
        {
            "bound": {k: 1 + r / 100 * (d - 1) for k, (r, d) in PUBLISHED.items()},
            "r x degree": {k: r / 100 * d for k, (r, d) in PUBLISHED.items()},
            "degree": {
                "Reduction": reduction(),
                "Transpose": transpose(),
                "DCT": dct(),
                "IDCT": dct(),
                "DCT_short": dct_short(),
                "IDCT_short": dct_short(),
            },
            "history bytes": history_bytes(),
            "NONMEM entries": 4,
            "PREMEM entries": 32 // 8 - 1,
            "threads that hide 24 and 28 stages": [24 * LANES, 28 * LANES],
        },
        indent=1,
    )
)
