#!/usr/bin/env python3
"""Makes the data files that the launch files of the kernels name.

    python3 kernels/data.py

Everything else is made by the launch file itself (`init = "random"`).
"""

import math
import os
import random
import struct

HERE = os.path.dirname(os.path.abspath(__file__))


def save(path, values, kind="i"):
    """32-bit integers as .npy, signed or unsigned."""
    header = f"{{'descr': '<{kind}4', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(os.path.join(HERE, path), "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        out.write(struct.pack(f"<{len(values)}{'i' if kind == 'i' else 'I'}", *values))


# Corners of a cube as coordinates, edges as pairs of corners, faces as corners in turn, seen from
# outside always the same way round.
CORNERS = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
FACES = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]


def triangles_of(case):
    """Edges of the triangles that separate the corners in the bits of `case` from the others."""
    after = {}
    for face in FACES:
        crossed = []
        for a, b in zip(face, face[1:] + face[:1]):
            edge = next(i for i, e in enumerate(EDGES) if set(e) == {a, b})
            if (case >> a & 1) != (case >> b & 1):
                crossed.append((edge, case >> a & 1))
        for i, (edge, leaves) in enumerate(crossed):
            if leaves:
                # From where the face leaves the inside back to where it entered it.
                after[edge] = crossed[i - 1][0]
    triangles = []
    while after:
        first = min(after)
        loop = [first]
        while (edge := after.pop(loop[-1])) != first:
            loop.append(edge)
        for a, b in zip(loop[1:], loop[2:]):
            triangles += [first, a, b]
    return triangles


def tangle(x, y, z):
    """The field whose surface marching cubes draws."""
    return sum((3 * v) ** 4 - 5 * (3 * v) ** 2 for v in (x, y, z)) * 0.2 + 11.8 * 0.2 + 0.5


def marching():
    """Tables of marching cubes, the cubes of 32^3 that the surface 0.2 cuts, and where their
    vertices begin."""
    table = [triangles_of(case) for case in range(256)]
    save("marching/triangles.npy", [e for t in table for e in t + [255] * (16 - len(t))], "u")
    save("marching/counts.npy", [len(t) for t in table], "u")
    voxels, starts, total = [], [], 0
    for voxel in range(32**3):
        x, y, z = voxel & 31, voxel >> 5 & 31, voxel >> 10
        corner = [tangle(*(2 * (v + d) / 32 - 1 for v, d in zip((x, y, z), c))) for c in CORNERS]
        count = len(table[sum((f < 0.2) << i for i, f in enumerate(corner))])
        if count:
            voxels.append(voxel)
            starts.append(total)
        total += count
    save("marching/voxels.npy", voxels, "u")
    save("marching/starts.npy", starts, "u")
    return len(voxels), total


def queens(n):
    """Places of queens in the first two rows, without mirror images, as columns and diagonals that
    they take in the third row."""
    places = [(1 << a, 1 << b) for a in range(n // 2) for b in range(n) if abs(a - b) > 1]
    if n % 2:
        middle = n // 2
        places += [(1 << middle, 1 << b) for b in range(middle - 1)]
    save("nqueens/columns.npy", [a | b for a, b in places], "u")
    save("nqueens/left.npy", [(a << 1 | b) << 1 for a, b in places], "u")
    save("nqueens/right.npy", [(a >> 1 | b) >> 1 for a, b in places], "u")
    return len(places)


def graph(nodes):
    """A graph whose nodes have 0 to 2 successors and at most one predecessor; the frontier is a part
    of what has been visited."""
    draw = random.Random(3)
    degrees = [draw.randrange(3) for _ in range(nodes)]
    first = [min(sum(degrees[:i]), nodes) for i in range(nodes + 1)]
    edges = list(range(nodes))
    draw.shuffle(edges)
    visited = [draw.randrange(2) for _ in range(nodes)]
    save("bfs/first.npy", first, "u")
    save("bfs/edges.npy", edges, "u")
    save("bfs/visited.npy", visited, "u")
    save("bfs/frontier.npy", [v and draw.randrange(2) for v in visited], "u")


def tree(leaves):
    """A B+ tree of a root and `leaves` full leaves: the keys 0, 1, 2, ... of records in that order."""
    beyond = 2**31 - 1
    root = [256 * k if k < leaves else beyond for k in range(257)]
    keys, indices = list(root), [1 + k if k < leaves else 0 for k in range(257)]
    for leaf in range(leaves):
        keys += [256 * leaf + k for k in range(257)]
        indices += [256 * leaf + k for k in range(256)] + [0]
    save("btree/keys.npy", keys)
    save("btree/indices.npy", indices)


def main():
    marching()
    graph(4096)
    tree(8)
    queens(9)
    # Cosine and sine of 0 to 179 degrees, 14 fraction bits.
    for name, function in [("cosine", math.cos), ("sine", math.sin)]:
        turn = [round(function(math.pi * angle / 180) * 2**14) for angle in range(180)]
        save(f"hough/{name}.npy", turn)
    # A permutation for RAP other than the one in the PTX.
    rotation = list(range(32))
    random.Random(1).shuffle(rotation)
    save("transpose/shift.npy", rotation)
    # The same in registers, six numbers of five bits in each (RAP paper, Fig. 7), and independent
    # numbers (RAS).
    def packed(numbers):
        return [sum(n << 5 * at for at, n in enumerate(numbers[i : i + 6])) for i in range(0, 32, 6)]

    save("rap/rap.npy", packed(rotation))
    draw = random.Random(2)
    save("rap/ras.npy", packed([draw.randrange(32) for _ in range(32)]))
    # The matrix of 52 rows of 40 that counts up, transposed.
    save("tma/transposed.npy", [40 * x + y for y in range(40) for x in range(52)])
    # AES: key and plain text of FIPS 197, appendix C.1, then 63 other blocks.
    def words(data):
        return struct.unpack(f"<{len(data) // 4}I", bytes(data))
    save("aes/key.npy", words(range(16)), "u")
    blocks = [17 * i for i in range(16)] + [random.Random(2).randrange(256) for _ in range(63 * 16)]
    save("aes/plain.npy", words(blocks), "u")


main()
