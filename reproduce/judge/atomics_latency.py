#!/usr/bin/env python3
"""The latency of one atomic by one warp: sections II to IV of the atomics paper.

A round of the retry loop reads all lanes that still wait (32 cycles per level of
bank conflict, different addresses in one bank), adds (18), writes the lanes that
took their lock (36 per level), and branches (32). Of the lanes that share a lock
one takes it. Banks are the low 5 bits of the word address and locks the low 10;
a hash XORs or adds the 5 bits above them to the low 5.

Prints, for the strides of Fig. 5 (Eq. 1) and each hash, the cycles by the number
of conflicts, and what they are more than without conflicts.
"""

import json

READ, UPDATE, WRITE, BRANCH = 32, 18, 36, 32
LANES = 32


def hashed(word, bits, hash_name):
    low, high = word & 31, word >> bits & 31
    if hash_name == "xor":
        low ^= high
    elif hash_name == "add":
        low = (low + high) & 31
    return (word & ((1 << bits) - 1) & ~31) | low


def level(words, hash_name):
    """Different addresses in the bank that has the most."""
    by_bank = {}
    for word in set(words):
        bank = hashed(word, 5, hash_name)
        by_bank[bank] = by_bank.get(bank, 0) + 1
    return max(by_bank.values())


def latency(words, hash_name="mod"):
    cycles, waiting = 0, list(words)
    while waiting:
        taken, winners, losers = set(), [], []
        for word in waiting:
            lock = hashed(word, 10, hash_name)
            (losers if lock in taken else winners).append(word)
            taken.add(lock)
        cycles += READ * level(waiting, hash_name) + UPDATE
        cycles += WRITE * level(winners, hash_name) + BRANCH
        waiting = losers
    return cycles


def pattern(stride, conflicts):
    return [i * stride if i < conflicts else i for i in range(LANES)]


def fig_2():
    """Lanes that one lock is shared by, in the pattern of Fig. 2."""
    words = [0, 32, 1, 33, 0, 1024, 1056, 2048] + list(range(8, 32))
    sharing = {}
    for lane, word in enumerate(words):
        sharing.setdefault(hashed(word, 10, "mod"), []).append(lane)
    return sorted(lanes for lanes in sharing.values() if len(lanes) > 1)


def fig_6(stride, start, hash_name):
    """Banks of four lanes in a memory of four banks."""
    banks = []
    for lane in range(4):
        word = start + lane * stride
        low, high = word & 3, word >> 2 & 3
        banks.append({"mod": low, "xor": low ^ high, "add": (low + high) & 3}[hash_name])
    return {"banks": len(set(banks)), "degree": max(banks.count(b) for b in banks)}


kinds = {"position conflicts": 0, "bank conflicts": 32, "lock conflicts": 256}
hashes = ("mod", "xor", "add")
latencies = {
    kind: {h: {c: latency(pattern(stride, c), h) for c in range(1, LANES + 1)} for h in hashes}
    for kind, stride in kinds.items()
}
added = {
    kind: {h: {c: cycles - by_hash[h][1] for c, cycles in by_hash[h].items()} for h in hashes}
    for kind, by_hash in latencies.items()
}
alone = latency(range(LANES))
print(
    json.dumps(
        {
            "without conflicts": alone,
            "error against 108 cycles, %": 100 * (alone - 108) / alone,
            "cycles": latencies,
            "cycles that conflicts add": added,
            "fig. 2, lanes of one lock": fig_2(),
            "fig. 6": {
                f"{name}, {h}": fig_6(stride, start, h)
                for name, stride, start in (("stride", 4, 0), ("diagonal", 5, 0), ("diagonal below", 5, 4))
                for h in hashes
            },
            "gates": 2 * 5,
            "levels of the adder": 1 + 4 * 2,
        },
        indent=1,
    )
)
