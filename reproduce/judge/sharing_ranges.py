"""Access ranges (sharing paper, Definitions 6.1 and 6.2; Fig. 7, Table III),
from the definitions, not from the paper's data-flow equations: the points of
the control flow are a graph, and a point is in the range of a set of variables
if an access of one leads to it and it leads to an access of one."""

import json

FLOW = [
    ("Entry", "BB1"), ("BB1", "BB2"), ("BB2", "BB3"), ("BB3", "BB2"),
    ("BB3", "BB4"), ("BB4", "BB5"), ("BB5", "BB6"), ("BB6", "Exit"),
]
ACCESS = {"BB1": "A", "BB2": "B", "BB3": "B", "BB4": "A", "BB5": "C", "BB6": "C"}
BLOCKS = ["Entry", "BB1", "BB2", "BB3", "BB4", "BB5", "BB6", "Exit"]
SETS = ["A", "B", "C", "AB", "BC", "CA"]

# Points: before, at and after the access of each block.
step = {}
for block in BLOCKS:
    step[block, "in"] = [(block, "access")]
    step[block, "access"] = [(block, "out")]
    step[block, "out"] = []
for source, target in FLOW:
    step[source, "out"].append((target, "in"))


def behind(point):
    seen, todo = set(), [point]
    while todo:
        for following in step[todo.pop()]:
            if following not in seen:
                seen.add(following)
                todo.append(following)
    return seen


BEHIND = {point: behind(point) for point in step}


def in_range(point, variables):
    accesses = [(b, "access") for b, v in ACCESS.items() if v in variables]
    before = any(point in BEHIND[a] for a in accesses)
    after = any(a in BEHIND[point] for a in accesses)
    return before and after


def row(where):
    return {b: "".join("ft"[in_range((b, where), s)] for s in SETS) for b in BLOCKS}


# Example 6.3: blocks with the same number of instructions each; a block's are
# between the access on one side and the access on the other, its own included.
def size(variables):
    accesses = [(b, "access") for b, v in ACCESS.items() if v in variables]

    def among(point):
        before = any(point == a or point in BEHIND[a] for a in accesses)
        after = any(point == a or a in BEHIND[point] for a in accesses)
        return before and after

    return sum(among((b, "access")) for b in BLOCKS)


def release(flow, accesses):
    """Where relssp goes: the earliest points with no access ahead, a point for
    each way there; by what lies ahead alone, not by the paper's equations."""
    nodes = sorted({n for edge in flow for n in edge})
    following = {n: [t for s, t in flow if s == n] for n in nodes}
    leading = {n: [s for s, t in flow if t == n] for n in nodes}

    def ahead(node):
        seen, todo = set(), list(following[node])
        while todo:
            n = todo.pop()
            if n not in seen:
                seen.add(n)
                todo += following[n]
        return seen

    after = {n: any(m in accesses for m in ahead(n)) for n in nodes}
    places = []
    for n in nodes:
        if n in accesses and not after[n]:
            places.append(f"after {n}")
        if n not in accesses and not after[n] and any(after[p] for p in leading[n]):
            places.append(f"before {n}")
    return places


print(json.dumps({
    "sets": SETS, "in": row("in"), "out": row("out"),
    "size": {s: size(s) for s in SETS[3:]},
    # Fig. 11 (a): one block after another; (b): BB1 to BB2 and BB3, both to BB4.
    "release_a": release([(0, 1), (1, 2), (2, 3)], {1}),
    "release_b": release([(0, 1), (0, 2), (1, 3), (2, 3)], {1}),
}, indent=1))
