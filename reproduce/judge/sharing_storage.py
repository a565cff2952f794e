"""Storage of the resource access unit (sharing paper, section 7.1): a bit for
the SM, a partner's id or none for each block, an owner bit for each warp, and
the id of a block for each pair. An id of n values takes the bits that count to
n - 1."""

import json


def bits(values):
    n = 0
    while 2 ** n < values:
        n += 1
    return n


def storage(blocks, warps):
    return 1 + blocks * bits(blocks + 1) + warps + blocks // 2 * bits(blocks)


print(json.dumps({
    "gpgpusim-16k": storage(16, 3072 // 32),
    "sharing-48k": storage(16, 2048 // 32),
    "sharing-64k": storage(32, 2048 // 32),
}, indent=1))
