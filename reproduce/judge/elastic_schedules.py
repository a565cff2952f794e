#!/usr/bin/env python3
"""The schedules of Figs 2 and 3 of the elastic paper, from its sections 3.2 and 4.

W0, W1, ... are fetched one a cycle. All up to W_i are memory instructions, and
W_i alone has a conflict; all after it are not. Cycle 0 is the fetch of W_i, which
the paper calls cycle i. Printed for each pipeline: the cycle in which each
instruction writes back, the cycles without a writeback between the first and the
last, and the cycles in which the fetch stage repeats its instruction.
"""

import json

BEFORE, AFTER = 4, 6


def schedule(pipeline, degree=2, mem_stages=2):
    def is_memory(k):
        return k <= 0

    fetch, decode, execute = -BEFORE, None, None
    mem, left = [None] * mem_stages, 0
    nonmem = [None] * mem_stages  # split: stages; elastic: a queue, oldest last
    writeback, stalls = {}, []
    cycle = -BEFORE
    while len(writeback) < BEFORE + 1 + AFTER:
        # What each stage has in this cycle is known; now what it has in the next.
        if mem[0] is not None and left > 0:
            left -= 1
        port = None
        if mem[-1] is not None and (mem_stages > 1 or left == 0):
            port, mem[-1] = mem[-1], None
        # Everything that has been served moves on.
        for stage in reversed(range(mem_stages - 1)):
            ready = stage > 0 or left == 0
            if mem[stage] is not None and ready and mem[stage + 1] is None:
                mem[stage + 1], mem[stage] = mem[stage], None
        if pipeline == "split":
            if port is None and nonmem[-1] is not None:
                port, nonmem[-1] = nonmem[-1], None
            for stage in reversed(range(mem_stages - 1)):
                if nonmem[stage] is not None and nonmem[stage + 1] is None:
                    nonmem[stage + 1], nonmem[stage] = nonmem[stage], None
        if pipeline == "elastic" and port is None:
            waiting = [s for s in reversed(range(mem_stages)) if nonmem[s] is not None]
            if waiting:
                port, nonmem[waiting[0]] = nonmem[waiting[0]], None
            elif execute is not None and not is_memory(execute):
                port, execute = execute, None
        # EXE hands over to the stage of its kind.
        if execute is not None:
            if pipeline == "unified" or is_memory(execute):
                if mem[0] is None:
                    mem[0], left = execute, degree if execute == 0 else 1
                    execute = None
            elif pipeline == "split":
                if nonmem[0] is None:
                    nonmem[0], execute = execute, None
            else:
                free = [s for s in range(mem_stages) if nonmem[s] is None]
                if free:
                    # The queue keeps its order: the newest is the first stage.
                    held = [n for n in nonmem if n is not None]
                    held = [execute] + held
                    nonmem = held + [None] * (mem_stages - len(held))
                    execute = None
        cycle += 1
        if port is not None:
            writeback[port] = cycle
        if execute is None:
            execute, decode, fetch = decode, fetch, fetch + 1
        else:
            stalls.append(cycle)
    last = max(writeback.values())
    first = min(writeback.values())
    done = set(writeback.values())
    return {
        "writeback": {f"W{k:+d}" if k else "W": c for k, c in sorted(writeback.items())},
        "no writeback": [c for c in range(first, last) if c not in done],
        "fetch repeats": stalls,
    }


print(json.dumps({p: schedule(p) for p in ("unified", "split", "elastic")}, indent=1))
