#!/usr/bin/env python3
"""Makes the patterns: a table and a launch file for each kind of access, and their
names.

    python3 make.py            # needs NumPy
"""

import os

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
LANES = 32
WORDS = 8192
IDLE = -1
# Bytes of a lane's access, by kernel.
KINDS = {
    "load4": 4, "load8": 8, "load16": 16,
    "store4": 4, "store8": 8, "store16": 16,
    "atom4": 4, "atom8": 8,
}


def patterns():
    """Name and unit of each lane; a unit is as wide as the access."""
    lane = np.arange(LANES)
    for stride in [*range(1, 18), 24, 31, 32, 33]:
        yield f"stride {stride}", lane * stride
    yield "one unit", 0 * lane
    for bit in [1, 2, 4, 8, 16]:
        yield f"lanes n and n ^ {bit} together", lane & ~bit
        yield f"lanes n and n ^ {bit} together, two rows apart", (lane & ~bit) * 33
    for bits in [3, 7, 15, 28, 24]:
        yield f"lanes n & {bits}", (lane & bits) * 8
    random = np.random.default_rng(1)
    for distinct in [4, 16, 64, 2048]:
        for sample in range(6):
            yield f"random of {distinct}, {sample}", random.choice(
                random.choice(2048, distinct, replace=False), LANES)
    for share in [0.25, 0.5, 0.75]:
        for sample in range(6):
            unit = random.integers(0, 2048, LANES)
            unit[random.random(LANES) >= share] = IDLE
            unit[random.integers(LANES)] = 5
            yield f"random, {share:.0%} active, {sample}", unit
    # Pairs that share a unit beside lanes that are idle: may phases be merged?
    for bit in [1, 2]:
        for sample in range(4):
            unit = random.integers(0, 2048, LANES)[lane & ~bit]
            unit[random.random(LANES) < 0.3] = IDLE
            unit[random.integers(LANES)] = 5 if sample else IDLE
            yield f"random in pairs n ^ {bit}, some idle, {sample}", unit


def words(units, size):
    """First word of each lane, within the shared memory."""
    step = size // 4
    return np.where(units < 0, IDLE, units * step % WORDS)


LAUNCH = """# {count} patterns, each in a launch of its own.
ptx = "patterns.ptx"
entry = "{kernel}"
grid = [1]
block = [{threads}]

[[arg]]
name = "cycles"
type = "u32"
count = {count}

[[arg]]
name = "table"
type = "s32"
count = {entries}
init = "{kernel}.npy"

[[arg]]
name = "pattern"
type = "u32"
value = 0

[[then]]
repeat = {count}
entry = "{kernel}"
grid = [1]
block = [{threads}]
args = ["cycles", "table", {{ name = "pattern", step = 1 }}]
"""


def main():
    names, units = zip(*patterns())
    with open(os.path.join(HERE, "names.txt"), "w") as out:
        out.write("\n".join(names) + "\n")
    for kernel, size in KINDS.items():
        table = np.array([words(unit, size) for unit in units], dtype=np.int32)
        np.save(os.path.join(HERE, f"{kernel}.npy"), table)
        with open(os.path.join(HERE, f"{kernel}.toml"), "w") as out:
            out.write(LAUNCH.format(kernel=kernel, count=len(names), entries=table.size, threads=256))


main()
