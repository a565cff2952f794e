"""Faial's examples: the name of a file says whether its kernel has a race between the
threads of a block (`racy-`) or none (`drf-`). Nothing launches them."""

import os

SUITE = "Faial's examples"
# What the examples take for granted.
HEADER = """#include <assert.h>
#define __assume(condition)
#define __requires(condition)
#define __uniform_int(value) true
typedef unsigned int uint;
__device__ inline unsigned atomicInc(int *at, unsigned most) { return atomicInc((unsigned *)at, most); }
"""
# Templates are no kernels until someone uses them.
USES = {
    "racy-template": "template __global__ void saxpy<float>(float, float *, float *);",
    "racy-template-alias": "template __global__ void saxpy<float>(float, float *, float *);",
    "drf-template-index": "template __global__ void saxpy<int>(float, float *, float *, int);",
}
# Of a file that has to be told a macro: its definitions, and whether there is a race then.
MACROS = {"macro": {"-DMACRO=": "none", "-DMACRO=+ 0": "none", "-DMACRO=+ 1": "race"}}
# Where a block of 64 threads is not what the example is about.
BLOCKS = {"drf-2d": [256], "drf-warp": [32], "racy-warp": [32]}
VALUES = {"drf-enum-constraint": {"mode": 2}}  # an enumerator
GRIDS = {"racy-grid-level": [2]}  # races between blocks
# The elements that threads add to their number have to bring two of them together.
LAUNCHES = {
    "racy-kernel-calls-return": {"launches": [{
        "name": "ours", "kernels": [{"grid": 1, "block": 64}], "args": [
            {"name": "array", "type": "s32", "data": list(range(63, -1, -1))},
            {"name": "n", "type": "s32", "value": 64}, {"name": "a", "type": "f32", "value": 2.0},
            {"name": "x", "type": "f32", "data": [float(n) for n in range(64)]},
            {"name": "y", "type": "f32", "count": 64}]}]},
}


def programs(root, work, make, truths, launch):
    """`launch` reads the block and the grid of a file's first lines."""
    out = os.path.join(work, "faial")
    os.makedirs(out, exist_ok=True)
    header = os.path.join(out, "faial.h")
    with open(header, "w") as file:
        file.write(HEADER)
    for folder in ("examples/drf", "tutorial"):
        for file in sorted(f for f in os.listdir(os.path.join(root, folder)) if f.endswith(".cu")):
            name = file.removesuffix(".cu")
            text = open(os.path.join(root, folder, file)).read()
            source = os.path.join(out, file)
            with open(source, "w") as copy:
                copy.write(text.rstrip("\n") + "\n" + USES.get(name, "") + "\n")
            head = "\n".join(text.splitlines()[:3])
            block, grid = launch(head)
            block = BLOCKS.get(name) or (block if block and block[0] <= 1024 else [64])
            grid = GRIDS.get(name) or grid or [1]
            for flag, truth in MACROS.get(name, {"": labelled(name)}).items():
                named = f"{name} {flag}".strip()
                truth = truths.get(SUITE, {}).get(named, truth)
                flags = ["-include", header] + [flag] * bool(flag)
                more = {"plain": True} | LAUNCHES.get(name, {})
                yield make(SUITE, named, source, "cuda", block, grid, truth, flags,
                           values=VALUES.get(name), more=more)


def labelled(name):
    return "race" if name.startswith("racy") or name.endswith("buggy") else "none"
