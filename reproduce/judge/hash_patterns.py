"""Bank conflicts of the access patterns of the hash paper, sections 2 and 3.2.

Each pattern is written down as the program text of its section has it.
"""

import json

WARP, BANKS = 32, 32


def degree(elements, bytes_per_bank=4):
    words = {4 * e // bytes_per_bank for e in elements}
    load = [0] * BANKS
    for w in words:
        load[w % BANKS] += 1
    return max(load)


def index(tid, way, stride):
    return tid * stride if tid < way else tid


def walsh(pos, stride):
    lo = pos & (stride - 1)
    return ((pos - lo) << 2) + lo


def main():
    warp = range(WARP)
    tile = 16
    xy = [(t % tile, t // tile) for t in warp]
    patterns = {
        "way 4, stride 32": [index(t, 4, 32) for t in warp],
        "transpose, loading": [y * tile + x for x, y in xy],
        "transpose, storing": [x * tile + y for x, y in xy],
        "reduction, S = 1": [2 * 1 * t for t in warp],
        "reduction, S = 16": [2 * 16 * t for t in warp],
    }
    for stride in (1, 2, 4, 8, 16, 32, 33):
        patterns[f"stride {stride}"] = [index(t, WARP, stride) for t in warp]
    for stride in (512, 128, 32, 8, 2):
        patterns[f"FWT, stride {stride}"] = [walsh(t, stride) for t in warp]
    out = {name: degree(p) for name, p in patterns.items()}
    out |= {f"{name}, 8-byte banks": degree(p, 8) for name, p in patterns.items()}
    out["transpose, storing, addresses"] = patterns["transpose, storing"]
    out["FWT, stride 8, addresses"] = patterns["FWT, stride 8"]
    print(json.dumps(out, indent=1))


main()
