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


def main():
    # Cosine and sine of 0 to 179 degrees, 14 fraction bits.
    for name, function in [("cosine", math.cos), ("sine", math.sin)]:
        turn = [round(function(math.pi * angle / 180) * 2**14) for angle in range(180)]
        save(f"hough/{name}.npy", turn)
    # A permutation for RAP other than the one in the PTX.
    rotation = list(range(32))
    random.Random(1).shuffle(rotation)
    save("transpose/shift.npy", rotation)
    # AES: key and plain text of FIPS 197, appendix C.1, then 63 other blocks.
    def words(data):
        return struct.unpack(f"<{len(data) // 4}I", bytes(data))
    save("aes/key.npy", words(range(16)), "u")
    blocks = [17 * i for i in range(16)] + [random.Random(2).randrange(256) for _ in range(63 * 16)]
    save("aes/plain.npy", words(blocks), "u")


main()
