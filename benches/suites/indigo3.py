"""Indigo3's CUDA codes: seven graph algorithms in many styles, with planted bugs. Of the
versions with no bug, or one race or missing barrier only, every EVERYth is taken. Each of
its kernels runs alone, with arguments by their names, on a state amid the algorithm."""

import os
import random
import re
import subprocess
import sys

import launch

SUITE = "Indigo3"
# A prime, so that no choice of tags is left out by it.
EVERY = 7
ALGORITHMS = ("BFS", "CC", "MIS", "SSSP", "TC")
CONFIGURE = """**/
CODE:
    bug:        {all}
    pattern:    {all}
    option:     {all}
    dataType:   {IntType}
"""
# What CUDA 13 no longer has and only host code reads.
GONE = ["-DclockRate=major", "-DmemoryClockRate=minor"]


def generated(root, work):
    """Sources of all versions, made once by the suite's own generator."""
    out = os.path.join(work, "indigo3")
    if not os.path.exists(os.path.join(out, "done")):
        os.makedirs(os.path.join(out, "codeGen"), exist_ok=True)
        with open(os.path.join(out, "codeGen", "configure.txt"), "w") as file:
            file.write(CONFIGURE)
        for algorithm in ALGORITHMS:
            folder = os.path.join(root, "codeGen", "cuda", algorithm + "-CUDA")
            for source in sorted(os.listdir(folder)):
                command = [sys.executable, os.path.join(root, "scripts", "generate_codes.py")]
                command += [os.path.join(folder, source), "sources", "CUDA"]
                command += ["codeGen/configure.txt", os.path.join(root, "copyright.txt")]
                subprocess.run(command, cwd=out, check=True, stdout=subprocess.DEVNULL)
        open(os.path.join(out, "done"), "w").close()
    return sorted(f for f in os.listdir(os.path.join(out, "sources")) if f.endswith(".cu"))


def programs(root, work, make, truths):
    flags = ["-I" + os.path.join(root, "lib")] + GONE
    taken = {"race": [], "none": []}
    for file in generated(root, work):
        name = file.removesuffix(".cu")
        bugs = [t for t in name.split("_") if t.endswith("Bug") and not t.startswith("No")]
        if not bugs or bugs in (["RaceBug"], ["SyncBug"]):
            taken["race" if bugs else "none"].append(name)
    for label, names in taken.items():
        for name in names[::EVERY]:
            source = os.path.join(work, "indigo3", "sources", name + ".cu")
            known = truths.get(SUITE, {}).items()
            truth = next((truth for pattern, truth in known if re.match(pattern, name)), label)
            more = {"launches": lambda entry, source=source: launches(source, entry), "plain": True}
            yield make(SUITE, name, source, "cuda", [512], [2], truth, flags, None, {}, more)


def launches(source, entry):
    text = open(source).read()
    kernels = re.finditer(r"__global__ void (\w+)\(([^{]*?)\)\s*\{", text)
    told = next(m[2] for m in kernels if f"{len(m[1])}{m[1]}" in entry)
    names = [re.findall(r"\w+", part)[-1] for part in launch.split(told)]
    per = 512 if "_Block_" in source else 32 if "_Warp_" in source else 1
    n = {512: 24, 32: 40, 1: 600}[per]
    lists, draw = graph(n), random.Random(2)
    edges = sum(map(len, lists))
    items = edges if "CUDA_E_" in source else n
    blocks = 2 if "_Persist_" in source else -(-max(items * per, n) // 512)
    values = arguments(lists, edges, draw, items)
    args = [values[name] | {"name": name} for name in names]
    args += [values[name] | {"name": name} for name in ("nindex", "nlist", "eweight")
             if "g" in names and name not in names]
    return [{"name": "amid", "kernels": [{"grid": blocks, "block": 512}], "args": args}]


def graph(n):
    """Sorted neighbours of an undirected graph with triangles and one vertex of all."""
    draw, pairs = random.Random(1), set()
    for v in range(n):
        pairs |= {(v, (v + 1) % n), (v, (v + 2) % n), (v, draw.randrange(n)), (3, v)}
    pairs = {(a, b) for a, b in pairs if a != b}
    pairs |= {(b, a) for a, b in pairs}
    return [sorted(b for a, b in pairs if a == v) for v in range(n)]


def arguments(lists, edges, draw, items):
    n = len(lists)
    ints = lambda data: {"type": "s32", "data": data}
    room = lambda count: {"type": "s32", "count": count}
    scalar = lambda value: {"type": "s32", "value": value}
    index = [0]
    for near in lists:
        index.append(index[-1] + len(near))
    places = [{"at": at, "to": name} for at, name in ((8, "nindex"), (16, "nlist"), (24, "eweight"))]
    head = n.to_bytes(4, "little") + edges.to_bytes(4, "little")
    far = [draw.randint(0, 9) for _ in range(n)]
    order = [draw.randint(1, 99) for _ in range(n)]
    return {
        "g": {"type": "bytes", "value": head.hex() + "00" * 24, "pointers": places},
        "nindex": ints(index), "nlist": ints([b for near in lists for b in near]),
        "eweight": ints([draw.randint(1, 5) for _ in range(edges)]),
        "sp": ints([v for v, near in enumerate(lists) for _ in near]),
        "nodes": scalar(n), "edges": scalar(edges), "size": scalar(n), "src": scalar(0),
        "iter": scalar(2), "goagain": room(1), "g_count": room(1), "time": room(max(n, edges)),
        "dist": ints(far), "dist_n": ints(far), "label": ints(range(n)), "label_n": ints(range(n)),
        "priority": ints(order), "status": room(n), "status_n": room(n), "lost": room(n),
        "wl1": ints(range(items)), "wl1size": scalar(items),
        "wl2": room(2 * edges + n), "wl2size": room(1), "wlsize": room(1),
    }
