"""Owner warp first (sharing paper, section 4, Fig. 4): an unshared, an owner's
and a non-owner's warp have an Add, a Load that uses the shared scratchpad and a
Mov, each of which needs the one before. One warp issues in a cycle, the first
of the order that can. The non-owner's Load waits for the owner's end."""

import json

LATENCY = [1, 5, 1]


def cycles(order):
    done = {warp: [] for warp in order}  # last cycle of each instruction so far
    cycle = 0
    while any(len(d) < len(LATENCY) for d in done.values()):
        cycle += 1
        for warp in order:
            at = len(done[warp])
            if at == len(LATENCY) or (at > 0 and done[warp][-1] >= cycle):
                continue
            owner = done["owner"]
            ended = len(owner) == len(LATENCY) and owner[-1] < cycle
            if warp == "non-owner" and at == 1 and not ended:
                continue
            done[warp].append(cycle + LATENCY[at] - 1)
            break
    return {"total": max(d[-1] for d in done.values()), "done": done}


print(json.dumps({
    "unshared first": cycles(["unshared", "owner", "non-owner"]),
    "owner first": cycles(["owner", "unshared", "non-owner"]),
}, indent=1))
