#!/usr/bin/env python3
"""What keeps the bank-conflict stalls of a program like AES on the elastic
pipeline: wrong predictions of degrees, or the depth of the PREMEM queue?

A model of sections 4.3, 5.1 to 5.3 of the elastic paper by themselves: warps of
four subwarps on 8 banks, strict barrel execution by round robin, a PREMEM queue
of N entries before the banks, a history of the last degree by instruction, a
counter that masks memory warps. The program stands for AES with tables in shared
memory: rounds of accesses without conflicts and four table look-ups at random
bytes, with instructions between them that use no memory.

Printed: the bank-conflict stalls that stay, in percent of those of the baseline,
by queue depth and kind of prediction, and the cycles that the last degree
predicts too low, in percent of all conflict cycles.
"""

import json
import random

SUBWARPS, LANES, BANKS = 4, 8, 8
PIPELINE = 24
WARPS = 16
MEMORY, OTHER, LOOKUP = "memory", "other", "look-up"


def aes():
    program = []
    for _ in range(10):
        for _ in range(6):  # the state is stored and read, the key is read
            program += [MEMORY, OTHER, OTHER]
        for _ in range(4):
            program += [LOOKUP, OTHER, OTHER, OTHER]
    return program


def degrees(kind, draw):
    if kind != LOOKUP:
        return [1] * SUBWARPS
    found = []
    for _ in range(SUBWARPS):
        banks = [word % BANKS for word in {draw.randrange(256) for _ in range(LANES)}]
        found.append(max(banks.count(b) for b in banks))
    return found


class Core:
    def __init__(self, elastic, entries, prediction, seed=1):
        self.elastic, self.entries, self.prediction = elastic, entries, prediction
        self.draw = random.Random(seed)
        self.program = aes()
        self.at = [0] * WARPS
        self.ready = [0] * WARPS
        self.history, self.sums = {}, {}
        self.queue, self.bank, self.left = [], None, 0
        self.execute, self.passes = None, []
        self.counter, self.last = 0, 0
        self.stalls = self.conflicts = self.too_low = self.done = 0

    def finish(self, warp, cycle):
        self.ready[warp] = cycle + PIPELINE
        self.done += 1

    def serve_banks(self, cycle):
        if self.bank is not None:
            self.left -= 1
            if self.left == 0:
                warp, degree, last, at = self.bank
                self.sums[warp] = self.sums.get(warp, 0) + degree - 1
                if last:
                    self.history[at] = self.sums.pop(warp)
                    self.finish(warp, cycle)
                self.bank = None
        if self.bank is None and self.queue:
            self.bank = self.queue.pop(0)
            self.left = self.bank[1]

    def leave_execute(self, cycle):
        if self.execute is None:
            return
        kind, one = self.execute
        if kind == OTHER:
            if not self.elastic and self.bank is not None:
                return  # all instructions go through the memory stages
            if one[2]:
                self.finish(one[0], cycle)
        elif self.bank is None and not self.queue:
            self.bank, self.left = one, one[1]
        elif self.elastic and len(self.queue) < self.entries:
            self.queue.append(one)
        else:
            return
        self.execute = None

    def schedule(self, cycle):
        for warp in [(self.last + i) % WARPS for i in range(1, WARPS + 1)]:
            at = self.at[warp]
            if at == len(self.program) or self.ready[warp] > cycle:
                continue
            kind = self.program[at]
            if kind != OTHER and self.counter > 0:
                continue
            self.last = warp
            self.at[warp] += 1
            self.ready[warp] = float("inf")
            each = degrees(kind, self.draw)
            self.passes = [
                (kind, (warp, d, i == SUBWARPS - 1, at)) for i, d in enumerate(each)
            ]
            if kind != OTHER:
                excess = sum(each) - SUBWARPS
                guess = {
                    "last": self.history.get(at, 0),
                    "perfect": excess,
                    "none": 0,
                }[self.prediction]
                self.conflicts += excess
                self.too_low += max(0, excess - guess)
                self.counter = SUBWARPS + guess
            return

    def run(self):
        cycle = 0
        while self.done < WARPS * len(self.program):
            self.serve_banks(cycle)
            self.leave_execute(cycle)
            if self.execute is not None:
                self.stalls += 1
            else:
                if not self.passes:
                    self.schedule(cycle)
                if self.passes:
                    self.execute = self.passes.pop(0)
                self.counter = max(0, self.counter - 1)
            cycle += 1
        return self


baseline = Core(elastic=False, entries=0, prediction="none").run()
left = {}
for prediction in ("last", "perfect", "none"):
    for entries in range(4):
        core = Core(True, entries, prediction).run()
        left[f"{prediction}, queue of {entries}"] = 100 * core.stalls / baseline.stalls
last = Core(True, 3, "last").run()
print(
    json.dumps(
        {
            "stalls that stay, %": left,
            "predicted too low, % of conflict cycles": 100 * last.too_low / last.conflicts,
        },
        indent=1,
    )
)
