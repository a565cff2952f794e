"""Resident blocks by the sharing paper (sections 3, 8.1.1; Figs 2, 13, 25).

Tries every number of pairs S and of blocks alone U, and keeps those for which
S (1 + t) Rtb + U Rtb fits into the scratchpad, at least as many blocks as
without sharing can always run (S + U), and 2 S + U blocks and their threads
fit; the largest 2 S + U wins. Whole numbers only: everything times 100."""

import json

from sharing_paper import *


def resident(size, threads, scratchpad=SCRATCHPAD, blocks=BLOCKS, most=THREADS):
    limit = min(blocks, most // threads)
    without = min(scratchpad // size, limit)
    best = (0, 0, 0)
    for pairs in range(limit + 1):
        for alone in range(limit + 1):
            bytes_100 = pairs * (100 + OWN) * size + alone * 100 * size
            if bytes_100 > 100 * scratchpad or pairs + alone < without:
                continue
            if 2 * pairs + alone <= limit:
                best = max(best, (2 * pairs + alone, pairs, alone))
    return {
        "bytes": size, "threads": threads, "unshared": without, "shared": best[0], "pairs": best[1], "alone": best[2],
        "unused_bytes": scratchpad - without * size,
        "unused_pct": 100 * (scratchpad - without * size) / scratchpad,
    }


def on(kernels, *machine):
    return {name: resident(*block, *machine) for name, block in kernels.items()}


print(json.dumps({
    "16k": on(TABLE_1 | TABLE_7 | TABLE_9),
    "48k": on(TABLE_1 | TABLE_7, *LARGER["48k"]),
    "64k": on(TABLE_1 | TABLE_7, *LARGER["64k"]),
    # Example 3.2: two blocks of backprop in all of the scratchpad.
    "example": {
        "own": SCRATCHPAD - TABLE_1["backprop"][0],
        "shared": 2 * TABLE_1["backprop"][0] - SCRATCHPAD,
    },
}, indent=1))
