"""NVIDIA's samples of the compute sanitizer: each program has one fault, at a line that
a comment of the documentation names, and its own host code."""

import os

SUITE = "compute-sanitizer-samples"
# A program's entry, what is wrong with it, and the line.
FAULTS = [
    ("Memcheck/memcheck_demo", "unaligned_kernel", "misaligned", 34),
    ("Memcheck/memcheck_demo", "out_of_bounds_kernel", "out-of-bounds", 39),
    ("Racecheck/block_error", "sumKernel", "race", 51),
    ("Racecheck/warp_error", "sumKernel", "race", 56),
    ("Initcheck/memset_error", "vectorAdd", "uninitialised", 42),
    ("Synccheck/divergent_threads", "myKernel", "divergent-barrier", 54),
    ("Synccheck/illegal_syncwarp", "myKernel", "invalid-mask", 48),
]


def programs(root, make):
    for path, entry, kind, line in FAULTS:
        truth = "race" if kind == "race" else "none"
        yield make(SUITE, f"{path} {entry}", os.path.join(root, path + ".cu"), "cuda", [1], [1], truth,
                   [], entry, more={"record": [], "plain": True, "fault": ((kind,), line)})
