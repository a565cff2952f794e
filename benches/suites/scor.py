"""ScoR's programs: the microbenchmarks say in their names whether they have a race."""

import os
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
