"""What follows from Tables VI and XIII of the sharing paper: cycles are
instructions over IPC. Gains of Fig. 14 (mean 19 %, at most 92.17 %), cycles
saved of Fig. 15 (15.42 %, at most 47.8 %; the geometric mean, as of gains), gains over GTO and 2Level of Fig. 18
(17.73 and 18.08 %), and the instructions of a thread."""

import json
from math import exp, log

from sharing_paper import *


def mean_gain(gains):
    return 100 * (exp(sum(log(1 + g / 100) for g in gains) / len(gains)) - 1)


gain = {name: {} for name in TABLE_13}
saved, threads, added, cycles = {}, {}, {}, {}
for name, (lrr, gto, two_level, shared) in TABLE_13.items():
    count, before, after = TABLE_6[name]
    for over, ipc in (("lrr", lrr), ("gto", gto), ("two-level", two_level)):
        gain[name][over] = 100 * (shared / ipc - 1)
    cycles[name] = [before / lrr, after / shared]
    saved[name] = 100 * (1 - cycles[name][1] / cycles[name][0])
    threads[name], added[name] = before / count, (after - before) / count

print(json.dumps({
    "gain": gain,
    "mean_gain": {k: mean_gain([g[k] for g in gain.values()]) for k in ("lrr", "gto", "two-level")},
    "max_gain": max(g["lrr"] for g in gain.values()),
    "cycles": cycles,
    "saved": saved,
    "mean_saved": -mean_gain([-s for s in saved.values()]),
    "max_saved": max(saved.values()),
    "ipc_of_a_core": {k: [ipc / CORES for ipc in v] for k, v in TABLE_13.items()},
    "instructions_a_thread": threads,
    "added_a_thread": added,
}, indent=1))
