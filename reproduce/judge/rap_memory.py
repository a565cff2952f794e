"""The memory machine of the RAP paper, section II, one time unit after the other.

Written from the text alone. A warp's request occupies as many stages as its
congestion; one stage enters the pipeline in a time unit; a request is complete
when its last stage has been in all l stages of the pipeline. A warp sends its
next request after that. Warps are taken round-robin.

Prints the times of Fig. 3, of section III's accesses and of the transposes, and
the congestions of Fig. 2.
"""

import json


def congestion(addresses, w):
    banks = {}
    for a in set(addresses):
        banks[a % w] = banks.get(a % w, 0) + 1
    return max(banks.values())


def time_of(warps, w, latency):
    """Time units until all requests of all warps (a list of addresses each) are
    complete."""
    queues = [list(warp) for warp in warps]
    free_at = [0] * len(warps)  # when the warp may send its next request
    entering, now, turn, last = None, 0, 0, 0
    while any(queues) or entering:
        if entering is None:
            for step in range(len(warps)):
                i = (turn + step) % len(warps)
                if queues[i] and free_at[i] <= now:
                    entering = [i, congestion(queues[i].pop(0), w)]
                    turn = (i + 1) % len(warps)
                    break
        if entering:
            i, stages = entering
            entering = [i, stages - 1] if stages > 1 else None
            if stages == 1:
                last = free_at[i] = now + latency
            else:
                free_at[i] = 1 << 60
        now += 1
    return last


def matrix(w, latency):
    def at(i, j):
        return i * w + j

    def warps(request):
        return [[request(i)] for i in range(w)]

    lanes = range(w)
    rows = lambda i: [at(i, j) for j in lanes]
    columns = lambda i: [at(j, i) for j in lanes]
    diagonal = lambda i: [at(j, (i + j) % w) for j in lanes]
    mirrored = lambda i: [at((i + j) % w, j) for j in lanes]
    time = lambda request: time_of(warps(request), w, latency)
    both = lambda read, write: time_of([[read(i), write(i)] for i in lanes], w, latency)
    return {
        "contiguous": time(rows),
        "stride": time(columns),
        "diagonal": time(diagonal),
        "CRSW": both(rows, columns),
        "SRCW": both(columns, rows),
        "DRDW": both(mirrored, diagonal),
    }


def main():
    out = {
        "figure 3": time_of([[[7, 5, 15, 0]], [[10, 11, 12, 9]]], 4, 5),
        # Fig. 2 as the text tells it: distinct banks, all in B[1], all m[5].
        "figure 2 (1)": congestion([0, 5, 2, 7], 4),
        "figure 2 (2)": congestion([1, 5, 9, 13], 4),
        "figure 2 (3)": congestion([5, 5, 5, 5], 4),
    }
    for w in (4, 16, 32):
        for latency in (5, 20):
            times = matrix(w, latency)
            out |= {f"{name} w{w} l{latency}": t for name, t in times.items()}
    # Fig. 6: r = (2, 0, 3, 1); element 10 = a[2][2] comes to address 9, bank 1.
    r = [2, 0, 3, 1]
    place = lambda a: a // 4 * 4 + (a % 4 + r[a // 4]) % 4
    out["figure 6"] = [[row * 4 + [place(row * 4 + j) for j in range(4)].index(row * 4 + b)
                        for b in range(4)] for row in range(4)]
    out["figure 6, element 10"] = place(10)
    print(json.dumps(out, indent=1))


main()
