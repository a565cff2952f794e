"""The answer of each result in a sentence: that of the command's text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Optional

Found = Mapping[str, Any]


def counted(number: int, what: str) -> str:
    """``1 conflict``, ``2 conflicts``."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def without_folder(source: str) -> str:
    """``k.cu:31`` of ``src/k.cu:31``."""
    return source.replace("\\", "/").rsplit("/", 1)[-1]


def place(row: Found) -> str:
    """``file.cu:31``, or the line of the PTX."""
    source = row.get("user_source") or row.get("source")
    if source:
        return without_folder(str(source))
    return f"PTX {row['ptx_line']}" if row.get("ptx_line") else f"access site {row.get('pc')}"


def run(found: Found, name: str) -> str:
    """Faults and warnings with their kinds."""
    findings = [f for f in found["findings"] if not f.get("other")]
    parts = []
    for what, warning in (("fault", False), ("warning", True)):
        kinds = [str(f["kind"]) for f in findings if bool(f.get("warning")) == warning]
        if kinds:
            parts.append(f"{counted(len(kinds), what)} ({', '.join(dict.fromkeys(kinds))})")
    if not parts:
        return f"No fault found in {name}."
    lines = {(f.get("source"), None if f.get("source") else f.get("ptx_line")) for f in findings}
    return f"Found {' and '.join(parts)} in {name}, at {counted(len(lines), 'line')}."


def conflicts(found: Found, name: str) -> str:
    """Conflicts of the first mapping with their line, and what the best of the others leaves."""
    first, others = found["results"][0], found["results"][1:]
    under = "" if first["hash"] == "mod" else f"Under {first['hash']}, "
    wavefronts = first["wavefronts"]
    if first["conflicts"]:
        text = (
            f"{under}{first['conflicts']} of {wavefronts} wavefronts of {name} are bank conflicts"
            f"{_culprits(first.get('lines', []))}, up to {first['max_degree']} ways"
        )
    else:
        ideal = first["ideal_wavefronts"]
        few = f"; {ideal} would do if lanes shared them evenly"
        text = (
            f"{under}{'no' if under else 'No'} access of {name} has bank conflicts: "
            f"{found['accesses']} warp accesses take {wavefronts} wavefronts"
            f"{', as few as possible' if wavefronts == ideal else few}"
        )
    if others:
        best = min(others, key=lambda other: other["conflicts"])
        left = best["conflicts"]
        fewest = f"{best['hash']} leaves the fewest of {len(others)} more, {left}"
        text += f"; {best['hash']} leaves {left}" if len(others) == 1 else f"; {fewest}"
    return text + "."


def _culprits(lines: Iterable[Found]) -> str:
    """``, all at k.cu:25``; nothing where it is not known."""
    lines = list(lines)
    worst = sorted((row for row in lines if row["conflicts"]), key=lambda row: -int(row["conflicts"]))
    if not worst:
        return ""
    at = _called(worst[0], lines)
    if len(worst) == 1:
        return f", all at {at}"
    most, total = worst[0]["conflicts"], sum(row["conflicts"] for row in worst)
    alike = sum(row["conflicts"] == most for row in worst)
    share = f"{(200 * most + total) // (2 * total)} % of them at"
    each = "" if alike == 1 else f" each of {alike} lines, such as"
    return f", {share}{each} {at}"


def _called(row: Found, lines: Iterable[Found]) -> str:
    """The place of a line: with the call of its function where it is in an ``asm`` statement,
    with that in the kernel where the line is there several times."""
    calls = [without_folder(call) for call in row.get("inlined_at") or []]
    several = sum(row.get("source") == other.get("source") for other in lines) > 1
    in_assembly = (row.get("text") or "").lstrip().startswith((":", "asm"))
    if not calls or not (in_assembly or several):
        return place(row)
    return f"{place(row)} (called in {calls[0 if in_assembly else -1]})"


def tuning(found: Found, name: str) -> str:
    """What the best mapping leaves at what cost, and what is proved of it."""
    best, apart = found["results"][0], found.get("per_variable")
    before, left = best["baseline_conflicts"], best["conflicts"]
    if is_better_apart(found) and apart:
        return (
            f"A mapping for each variable {removal(apart['conflicts'], before)}; "
            f"one for all of shared memory leaves {left}."
        )
    if before == 0:
        said = "There are no bank conflicts: the indices stay as they are."
    elif left >= before:
        said = f"No mapping{_whole_vectors(found)} leaves fewer than the {counted(before, 'conflict')} that there are."
    elif (before - left) * 100 < before:
        said = (
            f"No mapping is worth its cost: {best['hash']} removes {before - left} of {before} "
            f"conflicts{cost(best)}."
        )
    else:
        said = f"{best['hash']} {removal(left, before)}{cost(best)}."
    return " ".join([said, _proof(found), *_in_the_source(found)])


def _in_the_source(found: Found) -> list[str]:
    """What changes of the source leave, where that is more."""
    changes, left_alone = found["suggestions"], found.get("left_alone") or []
    torn = [change for change in changes if change.get("torn")]
    if not changes and left_alone:
        return ["No change of the source pays."]
    if len(changes) == 1 and torn and not left_alone:
        leaves = f"{changes[0]['hash']} leaves {changes[0]['conflicts']} of {changes[0]['conflicts_before']}"
        return [f"As a change of the source, {leaves}: the compiler no longer merges accesses there."]
    if torn or left_alone:
        stay = sum(left["conflicts_before"] for left in left_alone)
        after = sum(change["conflicts"] for change in changes) + stay
        before = sum(change["conflicts_before"] for change in changes) + stay
        return [f"Changes of the source leave {after} of {before}."]
    return []


def is_better_apart(found: Found) -> bool:
    """Whether a mapping for each variable leaves fewer conflicts than one for all."""
    best, apart = found["results"][0], found.get("per_variable")
    least = min(best["conflicts"], best["baseline_conflicts"])
    return apart is not None and apart["conflicts"] < least


def removal(left: int, before: int) -> str:
    """What a mapping does: ``removes all 56 conflicts``."""
    if left == 0:
        return f"removes all {counted(before, 'conflict')}"
    return f"leaves {left} of {counted(before, 'conflict')}"


def cost(mapping: Found) -> str:
    """`` for 2 instructions an access``; nothing for nothing."""
    added, wasted = mapping["added_per_access"], mapping["wasted_bytes"]
    parts = [f"{counted(added, 'instruction')} an access"] if added else []
    parts += [f"{wasted} bytes"] if wasted else []
    return f" for {' and '.join(parts)}" if parts else ""


def _whole_vectors(found: Found) -> str:
    wide = found["vector_bytes"]
    return f" that keeps vectors of {wide} bytes whole" if wide > 4 else ""


def _proof(found: Found) -> str:
    left, floor = found["results"][0]["conflicts"], found["conflicts_no_whole_vectors_avoid"]
    whole = _whole_vectors(found)
    if left == found["conflicts_no_mapping_avoids"]:
        return "Proved: no mapping at all leaves fewer."
    if left == floor:
        return f"Proved: no mapping{whole} leaves fewer."
    if found["fewest_proved"]:
        return "Proved: no mapping of its kinds leaves fewer."
    return f"Not proved to be the fewest: any mapping{whole} leaves at least {floor}."


def simulated(found: Found, name: str) -> str:
    """Cycles, and the most frequent stall."""
    stalls = found["stalls"]
    most = max(stalls, key=lambda reason: stalls[reason])
    text = f"{name} takes {found['cycles']} cycles, {found['ipc']:.3f} warp instructions a cycle"
    if stalls[most]:
        share = 100 * stalls[most] / sum(stalls.values())
        text += f"; most frequent stall: {spaced(most)} ({share:.0f} %)"
    return text + "."


def spaced(name: str) -> str:
    """A reason of JSON as people write it."""
    return name.replace("_", " ")


def shared(found: Found, name: str) -> str:
    """Resident blocks with sharing, and what they gain."""
    blocks, variants = found["blocks"], found.get("variants") or []
    before, after = blocks["unshared"], blocks["shared"]
    last: Optional[Found] = variants[-1] if variants else None
    if last and blocks["pairs"] and last["speed_up"] < 1:
        instead = f"makes {after} of its blocks resident instead of {before}"
        same = f"leaves its resident blocks at {before}"
        but = instead if after > before else same
        return f"Sharing makes {name} slower: {last['speed_up']:.3f} times as fast. It {but}."
    if after > before:
        text = f"Sharing makes {after} blocks of {name} resident instead of {before}"
    else:
        text = f"Sharing leaves the number of resident blocks of {name} at {before}"
    if last is None:
        return f"{text}."
    times = f"{last['speed_up']:.3f} times as fast"
    if not blocks["pairs"]:
        return f"{text}: no pair of blocks shares.{_by_scheduler(last, times)}"
    return f"{text}, {times}." if after > before else f"{text}; with it the kernel runs {times}."


def _by_scheduler(last: Found, times: str) -> str:
    """What the scheduler gains where no blocks share."""
    speed_up = last["speed_up"]
    if f"{speed_up:.3f}" == "1.000":
        return ""
    how = times if speed_up > 1 else f"{100 / speed_up - 100:.1f} % slower"
    return f" The scheduler {last['scheduler']} alone makes the kernel {how}."


def gated(found: Found, name: str) -> str:
    """The limits that are exceeded."""
    checks = found["kernels"][0]["checks"] if found["kernels"] else []
    failed = [check for check in checks if check["failed"]]
    if not failed:
        return f"{name} is within its limits."
    which = [f"{check['limit'].split()[0]} is {check['value']}" for check in failed]
    return f"{name} exceeds {'a limit' if len(failed) == 1 else f'{len(failed)} limits'}: {', '.join(which)}."


def rewritten(found: Found, name: str) -> str:
    """Conflicts before and after, and the instructions that it costs."""
    if found["refused"]:
        return f"{name} was not rewritten: {found['refused']}."
    if "outputs_equal" not in found:
        return (
            f"{name} was rewritten: {found['rewritten']} of {found['accesses']} accesses rewritten, "
            f"{found['added_static']} instructions added; it was not run."
        )
    if not found["outputs_equal"]:
        return f"Nothing was written: {name} computes different results when rewritten."
    added = found.get("added_per_access")
    price = "" if added is None else f", {added:.2f} instructions an access added"
    before, after = found["conflicts_before"], found["conflicts_after"]
    return f"{name} was rewritten: conflicts {before} -> {after}, outputs equal{price}."
