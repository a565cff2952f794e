"""ScoR's programs: the names of microbenchmarks say whether they have a race, and the
applications have some if a macro is defined."""

import os
import random
import re

SUITE = "ScoR, microbenchmarks"
# Blocks wait for each other, so all of them run together.
TOGETHER = {"cooperative": True, "plain": True}


def microbenchmarks(root, work, make, truths):
    """Each as it is, and with data that is not volatile: volatile accesses are strong."""
    folder = os.path.join(root, "microbenchmarks", "src")
    plain = os.path.join(work, "scor")
    os.makedirs(plain, exist_ok=True)
    for file in sorted(os.listdir(folder)):
        text = open(os.path.join(folder, file)).read()
        with open(os.path.join(plain, file), "w") as out:
            out.write(re.sub(r"\bvolatile ", "", text))
    yield from microbenchmark(folder, SUITE, make, truths)
    yield from microbenchmark(plain, SUITE + ", without volatile", make, truths)


def microbenchmark(folder, suite, make, truths):
    for file in sorted(os.listdir(folder)):
        name, source = file.removesuffix(".cu"), os.path.join(folder, file)
        number = dict(re.findall(r"#define\s+(NBLOCKS|TPERBLK)\s+(\d+)", open(source).read()))
        block, grid = [int(number["TPERBLK"])], [int(number["NBLOCKS"])]
        truth = truths.get(suite, {}).get(name, "race" if name.startswith("race_") else "none")
        yield make(suite, name, source, "cuda", block, grid, truth, values={}, more=TOGETHER)


# Kernels of the applications: their folder, source, entry, and blocks and threads of our launch.
APPLICATIONS = [
    ("1dconv", "1dconv_kernel.cu", "convolveKernel", 2, 64),
    ("graph-coloring", "gcol_kernel.cu", "assignColorsKernel", 3, 32),
    ("graph-coloring", "gcol_kernel.cu", "detectConflictsKernel", 3, 64),
    ("graph-coloring", "gcol_kernel.cu", "forbidColorsKernel", 3, 64),
    ("graph-connectivity", "gcon_kernel.cu", "initKernel", 3, 64),
    ("graph-connectivity", "gcon_kernel.cu", "linkKernel", 3, 64),
    ("graph-connectivity", "gcon_kernel.cu", "compressKernel", 3, 64),
    ("matrix-multiplication", "mm_kernel.cu", "matMultKernel", 4, 64),
    ("reduction", "red_main.cu", "reduceSinglePassILj128ELb1E", 2, 128),
    ("rule-110", "r110_kernel.cu", "rule110Kernel", 2, 64),
    ("uts", "uts_kernel.cu", "parTreeSearch", 2, 64),
]


def applications(root, make, truths):
    """Each kernel as it is, and with the races of the configuration RACEY."""
    suite = "ScoR, applications"
    for folder, file, entry, blocks, threads in APPLICATIONS:
        source = os.path.join(root, "benchmarks", folder, file)
        launch = {"name": "ours", "cooperative": True, "args": arguments(entry, blocks, threads)}
        launch["kernels"] = [{"grid": blocks, "block": threads}]
        for flag in ("", "RACEY"):
            name = f"{folder} {entry} {flag}".strip()
            truth = truths.get(suite, {}).get(name, "race" if flag else "none")
            flags = [f"-DNBLOCKS={blocks}", f"-DNTHREADS={threads}"] + [f"-D{flag}"] * bool(flag)
            more = {"launches": [launch], "plain": True}
            yield make(
                suite, name, source, "cuda", [threads], [blocks], truth, flags, entry, {}, more)


def arguments(entry, blocks, threads):
    """As the host code has them, small."""
    draw = random.Random(1)
    ints = lambda name, data: {"name": name, "type": "s32", "data": data}
    room = lambda name, count: {"name": name, "type": "s32", "count": count}
    scalar = lambda name, value: {"name": name, "type": "s32", "value": value}
    vertices, edges = 500, 700
    ends = [sorted(draw.sample(range(vertices), 2)) for _ in range(edges)]
    u, v = (ints(name, [e[n] for e in ends]) for n, name in enumerate(("edgeSetU", "edgeSetV")))
    bases = [room("bases", blocks), room("blockIds", blocks)]
    some = lambda name, least, most: ints(name, [draw.randint(least, most) for _ in range(vertices)])
    colours = [room("colorSet", vertices), some("vertexColor", 0, 3)]
    if entry == "convolveKernel":
        floats = lambda name, n: {"name": name, "type": "f32", "data": [draw.random() for _ in range(n)]}
        return [floats("filter", 5), scalar("filterSize", 5), floats("array", 100),
                scalar("arraySize", 100), {"name": "output", "type": "f32", "count": 100}]
    if entry == "assignColorsKernel":
        forbidden = [some(name, 0, 7) for name in ("VForbidden", "TVForbidden")]
        return work(blocks, vertices) + colours + forbidden + bases
    if entry == "detectConflictsKernel":
        return work(blocks, edges) + [u, v] + colours + [ints("complete", [1])] + bases
    if entry == "forbidColorsKernel":
        return work(blocks, edges) + [u, v] + colours + [room("VForbidden", vertices)] + bases
    if entry == "initKernel":
        return work(blocks, vertices) + [room("components", vertices)] + bases
    if entry == "linkKernel":
        return work(blocks, edges) + [u, v, ints("components", list(range(vertices)))] + bases
    if entry == "compressKernel":
        parents = [draw.randint(0, at) for at in range(vertices)]
        return work(blocks, vertices) + [ints("components", parents)] + bases
    if entry == "matMultKernel":
        rows, inner, columns = 2, 100, 40
        numbers = lambda name, n: ints(name, [draw.randint(1, 9) for _ in range(n)])
        return [numbers("A", rows * inner), numbers("B", inner * columns), room("C", rows * columns),
                scalar("rA", rows), scalar("cA", inner), scalar("cB", columns),
                room("sh_locks", blocks * 32), room("tempCs", blocks * 32), room("gl_lock", 1024)]
    if entry == "rule110Kernel":
        return [ints("arr", [draw.randint(0, 1) for _ in range(200)]), room("copy", 200),
                room("comp", blocks * threads), scalar("size", 200), scalar("step", 1)]
    if entry == "parTreeSearch":
        return stacks(blocks, threads)
    size = 2 * blocks * threads
    return [ints("idata", [draw.randint(1, 9) for _ in range(size)]), room("odata", blocks),
            room("sdata", blocks * threads), room("locks", blocks * threads), scalar("n", size)]


def work(blocks, size):
    """The part of each block, as the host divides the work."""
    part = size // blocks
    tail = [part * (block + 1) for block in range(blocks - 1)] + [size]
    return [{"name": "head", "type": "s32", "data": [part * block for block in range(blocks)]},
            {"name": "tail", "type": "s32", "data": tail}]


def stacks(blocks, threads):
    """A root in each block's stack, and empty stacks to steal from."""
    depths = 4 * threads, 4000
    local = [n for block in range(blocks) for n in (depths[0], 1, depths[0] * block, 0, 1, 0)]
    steal = [n for block in range(blocks) for n in (depths[1], 0, depths[1] * block, 0, 0, 0)]
    nodes = [0] * (blocks * depths[0])
    for block in range(blocks):
        nodes[depths[0] * block] = 255 << 8 | 42 << 16 | (block + 1) << 24
    return [{"name": "localStackStats", "type": "s32", "data": local},
            {"name": "localStacks", "type": "u32", "data": nodes},
            {"name": "stealStackStats", "type": "s32", "data": steal},
            {"name": "stealStacks", "type": "u32", "count": blocks * depths[1]},
            {"name": "config", "type": "bytes", "value": "0400000003000000"}]
