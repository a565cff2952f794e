"""Indigo's CUDA codes: its generator makes a source of each choice of tags, and the
tags of the name say what is wrong with it. The graphs and the data are of our own:
as the suite's, small, and such that each planted bug is reached."""

import os
import random
import subprocess
import sys

SUITE = "Indigo"
RACES = ("atomicBug", "guardBug", "raceBug", "syncBug")
CONFIGURE = """**/
CODE:
    bug:        {all}
    pattern:    {all}
    option:     {all}
    dataType:   {TYPES}
INPUTS:
"""
TYPES = {"int": "s32", "float": "f32"}
# The others do not compile for floats: they have an index of that type, or CUDA no such atomic.
FLOATS = ("pull", "conditional_vertex")


def generated(root, work):
    """Sources of all versions, made once by the suite's own generator."""
    generators = os.path.join(root, "Generators")
    out = os.path.join(work, "indigo")
    os.makedirs(out, exist_ok=True)
    if not os.path.exists(os.path.join(out, "done")):
        with open(os.path.join(out, "configure.txt"), "w") as file:
            file.write(CONFIGURE.replace("TYPES", ", ".join(TYPES)))
        folder = os.path.join(generators, "CUDA_sources")
        for source in sorted(os.listdir(folder)):
            command = [sys.executable, os.path.join(generators, "generate_CUDA_codes.py")]
            command += [os.path.join(folder, source), os.path.join(root, "copyright.txt"), out]
            subprocess.run(command, cwd=out, check=True, stdout=subprocess.DEVNULL)
        open(os.path.join(out, "done"), "w").close()
    for folder, folders, files in os.walk(out):
        folders.sort()
        yield from (os.path.join(folder, f) for f in sorted(files) if f.endswith(".cu"))


def programs(root, work, make, truths):
    flags = ["-I" + os.path.join(root, "Generators", "sources_include")]
    for source in generated(root, work):
        name = os.path.basename(source).removesuffix(".cu")
        tags = name.split("_")
        kind = "float" if "float" in tags else "int"
        if kind == "float" and not name.startswith(FLOATS):
            continue
        truth = truths.get(SUITE, {}).get(name) or ("race" if any(t in tags for t in RACES) else "none")
        more = {"launches": launches(name, TYPES[kind]), "bounds": "boundsBug" in tags, "plain": True}
        yield make(
            f"{SUITE}, {kind}", name, source, "cuda", [64], [2], truth, flags, "test_kernel", {}, more)


def launches(name, kind):
    """Runs of one version: a vertex is one of a thread's, a warp's or a block's."""
    if "_block" in name:
        grid, sizes = 40, (40, 36)
    elif "_warp" in name:
        grid, sizes = 20, (40, 37)
    else:
        grid, sizes = 2, (128, 100)
    out = []
    for seed, n in enumerate(sizes):
        lists = graph(n, seed)
        out.append(launch(lists, seed, grid, kind, name.startswith("push")))
    return out


def graph(n, seed):
    """Sorted lists of neighbours. The first and the last vertex have none in one graph;
    in the other all have some, and one has all."""
    draw = random.Random(seed)
    lists = []
    for vertex in range(n):
        others = [v for v in range(n) if v != vertex]
        most = len(others) if draw.random() < 0.2 else 6
        lists.append(sorted(draw.sample(others, draw.randint(1 - seed % 2, most))))
    if seed % 2:
        lists[0], lists[-1] = [], []
    else:
        lists[1] = [v for v in range(n) if v != 1]
    return lists


def launch(lists, seed, grid, kind, larger):
    """Buffers as the host code of the suite makes them, or with `larger` numbers in the
    first: the minimum of both would hardly change it otherwise."""
    draw, n = random.Random(seed), len(lists)
    index = [0]
    for neighbours in lists:
        index.append(index[-1] + len(neighbours))
    flat = [v for neighbours in lists for v in neighbours]
    size = max(n, len(flat))
    below = (len(flat), n) if larger else (n, len(flat))
    data = [[0] + [draw.randrange(m) for _ in range(size - 1)] for m in below]
    args = [
        {"name": "nindex", "type": "s32", "data": index},
        {"name": "nlist", "type": "s32", "data": flat},
        {"name": "data1", "type": kind, "data": data[0]},
        {"name": "data2", "type": kind, "data": data[1]},
        {"name": "numv", "type": "s32", "value": n},
    ]
    return {"name": f"graph {seed} of {n}", "kernels": [{"grid": grid, "block": 64}], "args": args}
