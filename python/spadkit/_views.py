"""What a notebook shows of each result: the answer, tables, pictures, code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, Optional

from . import _html as html
from . import _pictures as pictures
from . import _verdicts as verdicts
from ._values import own_variable
from ._verdicts import place, spaced

Found = Mapping[str, Any]

# Pictures that are shown without a click.
_SHOWN = 2
# Lines that are shown without a click.
_LINES = 8
# Findings that are shown without a click.
_FINDINGS = 20
# Which colour a stall has; the others have that of the rest.
_STALLS = {
    "bank_conflict": "p-conflict",
    "barrier": "p-wait",
    "no_ready_warp": "p-wait",
    "memory": "p-memory",
    "store_queue": "p-memory",
    "async_copy": "p-memory",
}
_KINDS = {
    "p-issue": "issued",
    "p-conflict": "bank conflicts",
    "p-wait": "barrier or no ready warp",
    "p-memory": "memory",
    "p-other": "other",
}


def tone(failed: bool, fine: bool = False) -> str:
    """The style of a verdict."""
    return "bad" if failed else "good" if fine else ""


def run(found: Found) -> tuple[str, str]:
    """The tone and the rest of a run: its findings."""
    findings = found["findings"]
    rows = [
        {
            **finding,
            "kind": html.Html(f"<b>{html.cell(spaced(str(finding['kind'])))}</b>"),
            "where": place(finding),
            "block": _index(finding.get("block")),
            "thread": _index(finding.get("thread")),
        }
        for finding in findings
    ]
    columns = {"kind": "Finding", "where": "Where", "ptx_line": "PTX line", "block": "Block", "thread": "Thread"}
    columns |= {"message": "What happened"}
    counts = (
        f"Grid {_index(found['grid'])}, block {_index(found['block'])}: {found['warp_instructions']} warp "
        f"instructions, {found['shared_accesses']} accesses to shared memory."
    )
    body = html.meta(counts) + html.table("Findings, in the order of the run", columns, rows[:_FINDINGS])
    more = html.table("More findings", columns, rows[_FINDINGS:])
    faults = any(not finding.get("warning") for finding in findings)
    return tone(faults, not findings), body + html.details(f"{len(rows) - _FINDINGS} more findings", more)


def _index(sizes: Optional[Sequence[int]]) -> str:
    """Three numbers that stay on one line."""
    comma = ",\N{NO-BREAK SPACE}"
    return "" if sizes is None else f"({comma.join(map(str, sizes))})"


def conflicts(found: Found, worst: Sequence[Found]) -> tuple[str, str]:
    """Each mapping, the lines of the first, and pictures of its worst accesses."""
    results = found["results"]
    body = html.machine(found["machine"])
    if len(results) > 1:
        columns = {
            "hash": "Mapping",
            "conflicts": "Conflicts",
            "max_degree": "Worst access, ways",
            "wavefronts": "Wavefronts",
            "ideal_wavefronts": "Fewest possible",
            "removed": "Removed",
        }
        rows = [{**row, "hash": _mapping(row), "removed": _removed(row["removed_pct"])} for row in results]
        body += html.table("Mappings", columns, rows)
    of = "" if results[0]["hash"] == "mod" else f" under {results[0]['hash']}"
    columns = {
        "line": "Line",
        "conflicts": "Conflicts",
        "wavefronts": "Wavefronts",
        "ideal_wavefronts": "Fewest possible",
        "share": "Share of wavefronts, conflicts in red",
    }
    rows = [
        {**row, "line": html.source_line(row, place(row)), "share": _share(row)}
        for row in results[0].get("lines", [])
    ]
    body += html.table(f"Accesses to shared memory by source line{of}", columns, rows)
    body += _accesses(worst)
    return tone(results[0]["conflicts"] > 0, True), body + html.meta(f"Conflicts by: {found['rule_text']}.")


def _share(row: Found) -> html.Html:
    """Of a line among all wavefronts, with what is too many of it."""
    share, least = row["share_pct"], row["share_pct"] * row["ideal_wavefronts"] / max(1, row["wavefronts"])
    return html.percent(share, ("p-issue", least), ("p-conflict", share - least))


def _mapping(row: Found) -> str:
    return "as it is" if row["hash"] == "mod" else str(row["hash"])


def _removed(percent: Optional[float]) -> Optional[str]:
    return None if percent is None else f"{percent:.1f} %"


def _accesses(worst: Sequence[Found]) -> str:
    """Pictures of the worst access of each site, as it is and changed."""
    drawn = [_access(access) for access in worst]
    if not drawn:
        return ""
    rest = html.details(f"{len(drawn) - _SHOWN} more accesses", "".join(drawn[_SHOWN:]))
    return (
        html.heading("The worst access of each place, bank by wavefront")
        + "".join(drawn[:_SHOWN])
        + rest
        + pictures.legend(drawn)
    )


def _access(access: Found) -> str:
    """A caption, and the pictures side by side."""
    text = f"<br><code>{escape(access['text'].strip())}</code>" if access.get("text") else ""
    width = f"{access['bytes']} byte{'' if access['bytes'] == 1 else 's'} a lane"
    caption = (
        f"<p><b>{escape(place(access))}</b>: {escape(str(access['op']))} of {width} by warp "
        f"{access['warp']}, {access['wavefronts']} wavefronts; {access['ideal_wavefronts']} would do.{text}</p>"
    )
    before, after = access["before"], access["after"]
    first, other = access["mappings"]
    shown = [("As it is", "bank = word mod banks", before, "bad")]
    if first != "mod":
        shown[0] = ("Under the mapping", first, before, "bad")
    if after is not None:
        fine = "good" if after["wavefronts"] < before["wavefronts"] else "bad"
        shown.append(("Changed", other, after, fine))
    figures = "".join(
        f"<figure><figcaption><b>{name}</b><span>{escape(how)}</span>"
        f'<span class="tag {fine}">{pictures.tag(served)}</span></figcaption>'
        + html.scrolled(_picture(name, served, before["wavefronts"], access), name)
        + "</figure>"
        for name, how, served, fine in shown
    )
    return f'{caption}<div class="pair">{figures}</div>'


def _picture(name: str, served: pictures.Served, rows: int, access: Found) -> str:
    more = served["wavefronts"] - pictures.MOST
    note = html.meta(f"{more} more wavefronts are not drawn.") if more > 0 else ""
    title = f"{name}: {pictures.tag(served)}"
    return pictures.stack(served, access["bank_count"], max(rows, served["wavefronts"]), title) + note


def tuning(found: Found, worst: Callable[[Optional[str]], Sequence[Found]]) -> tuple[str, str]:
    """The mappings that no other beats, the change of the worst accesses, and the source."""
    front = [row for row in found["results"] if row["front"]]
    best = found["results"][0]
    columns = {
        "hash": "Mapping",
        "conflicts": "Conflicts left",
        "max_degree": "Worst access, ways",
        "wavefronts": "Wavefronts",
        "added_per_access": "Instructions added an access",
        "wasted_bytes": "Bytes added",
        "proved": "Best of its kind",
    }
    rows = [
        {**row, "hash": _mapping(row), "proved": _proved(row)} for row in front
    ]
    body = html.machine(found["machine"])
    body += html.table("Mappings that no other beats in conflicts, instructions and bytes", columns, rows)
    gains = best["conflicts"] < best["baseline_conflicts"]
    if best["baseline_conflicts"]:
        whole = gains and not verdicts.is_better_apart(found)
        body += _accesses(worst(best["hash"] if whole else None))
    body += "".join(_suggestion(change) for change in found["suggestions"])
    if gains and not found["suggestions"]:
        body += html.code(f"{best['hash']}, for the index of a 32-bit word of shared memory", best["code"])
    if found.get("doubt"):
        body += html.meta(found["doubt"])
    return tone(False, best["conflicts"] == 0), body + html.meta(f"Conflicts by: {found['rule_text']}.")


def _proved(row: Found) -> str:
    """No question for a mapping without parameters."""
    return "proved" if row["optimal"] else "" if row["method"] in ("fixed", "declared") else "not proved"


def _suggestion(change: Found) -> str:
    """A change of the source: the lines, the function, and the same in other languages."""
    what = (
        f"Change of {change['array']}: {change['hash']} leaves {change['conflicts']} of "
        f"{verdicts.counted(change['conflicts_before'], 'conflict')}"
    )
    lines = [
        (place(line), line["text"], line["changed_text"])
        for line in [*change["declarations"], *change["lines"]]
        if line.get("text") and line.get("changed_text")
    ]
    body = html.heading(what) + (html.change("Every access changes: as it is, and changed", lines) if lines else "")
    if change["function"]:
        body += html.code("The function, in CUDA", change["function"])
    others = [("CuTe", change.get("cute")), ("Triton", change.get("triton"))]
    return body + html.details(
        "The same in CuTe and Triton",
        "".join(
            html.code(f"{name}: {other['hash']} leaves {other['conflicts']}", other["code"])
            for name, other in others
            if other
        ),
    )


def simulated(found: Found) -> tuple[str, str]:
    """Cycles, what they go to, and the lines where these were asked for."""
    settings = [f"{found['pipeline']} pipeline", f"{found['scheduler']} scheduler", f"hash {found['hash']}"]
    body = html.machine(found["machine"], ", ".join(settings))
    columns = {
        "cycles": "Cycles",
        "warp_instructions": "Warp instructions",
        "ipc": "Instructions a cycle",
        "bank_conflicts": "Bank conflicts",
        "resident_blocks": "Resident blocks",
        "limited_by": "Limited by",
    }
    body += html.table("The run on one SM", columns, [found])
    slots = {"issued": found["issued"], **found["stalls"]}
    total = max(1, sum(slots.values()))
    parts = sorted(slots.items(), key=lambda part: -int(part[1]))
    names = {"issued": "instruction issued"}
    stalls = [
        {"what": names.get(name, f"stall: {spaced(name)}"), "slots": count, "share": _part_of(name, count, total)}
        for name, count in parts
        if count
    ]
    body += html.table(
        "What the issue slots go to", {"what": "Issue slot", "slots": "Slots", "share": "Share"}, stalls
    )
    if "speed_up" in found:
        body += html.meta(f"{found['speed_up']:.3f} times as fast as without the hash.")
    return "", body + _slots_of_lines(found.get("lines", []))


def _part_of(name: str, count: int, total: int) -> html.Html:
    share = 100 * count / total
    return html.percent(share, (_kind(name), share))


def _kind(name: str) -> str:
    return "p-issue" if name == "issued" else _STALLS.get(name, "p-other")


def _slots_of_lines(lines: Sequence[Found]) -> str:
    """The slots of each line, with a bar of what they go to."""
    columns = {"line": "Line", "issue_slots": "Issue slots", "share": "Share", "issued": "Issued"}
    columns |= {"most": "Most frequent stall"}
    rows = [
        {
            **row,
            "line": html.source_line(row, place(row)) if _is_line(row) else "no warp",
            "share": _slots(row),
            "most": _most(row.get("stalls", {})),
        }
        for row in lines
    ]
    if not rows:
        return ""
    rest = html.table("The other lines", columns, rows[_LINES:])
    return (
        html.table("Issue slots by source line", columns, rows[:_LINES])
        + html.details(f"{len(rows) - _LINES} more lines", rest)
        + html.key(_KINDS)
    )


def _is_line(row: Found) -> bool:
    return any(row.get(key) is not None for key in ("source", "ptx_line", "pc"))


def _slots(row: Found) -> html.Html:
    """The share of a line in all slots, and what they go to."""
    sums = dict.fromkeys(_KINDS, 0)
    for name, slots in {"issued": row["issued"], **row.get("stalls", {})}.items():
        sums[_kind(name)] += slots
    share, own = row["share_pct"], max(1, row["issue_slots"])
    return html.percent(share, *((kind, share * slots / own) for kind, slots in sums.items()))


def _most(stalls: Mapping[str, int]) -> str:
    """The most frequent stall, with its slots."""
    name = max(stalls, key=lambda name: stalls[name], default="")
    return f"{spaced(name)}: {stalls[name]}" if name and stalls[name] else ""


def shared(found: Found) -> tuple[str, str]:
    """Resident blocks without and with sharing, and the runs, if there are any."""
    blocks = found["blocks"]
    body = html.machine(found["machine"])
    body += html.meta(
        f"Resident blocks: {blocks['unshared']} without sharing, {blocks['shared']} resident blocks with sharing "
        f"({blocks['pairs']} pairs, {blocks['alone']} alone). A block has {found['boundary_bytes']} private bytes "
        f"of {found['scratchpad_bytes']}; {found['storage_bits']} bits of storage an SM."
    )
    columns = {
        "variant": "Step",
        "scheduler": "Scheduler",
        "resident_blocks": "Resident blocks",
        "cycles": "Cycles",
        "speed_up": "Times as fast",
        "ipc": "Instructions a cycle",
    }
    rows = [{**row, "speed_up": f"{row['speed_up']:.3f}"} for row in found.get("variants") or []]
    body += html.table("The kernel on the SM, without sharing and with each step of it", columns, rows)
    variables = [{**row, "name": own_variable(row["name"]), "part": _part(row)} for row in found["variables"]]
    columns = {"name": "Variable", "bytes": "Bytes", "offset": "Offset", "part": "Part", "accesses": "Accesses"}
    body += html.table("Shared memory", columns, variables)
    last = (found.get("variants") or [{}])[-1]
    return tone(last.get("speed_up", 1) < 1, last.get("speed_up", 1) > 1), body


def _part(variable: Found) -> str:
    return "shared" if variable["shared"] else "private"


def gated(found: Found) -> tuple[str, str]:
    """The limits, the lines with conflicts, and what removes them."""
    body = html.machine(found["machine"])
    for kernel in found["kernels"]:
        rows = [{**check, "says": _limit(check)} for check in kernel["checks"]]
        columns = {"limit": "Fails if", "value": "Value", "says": "Result"}
        body += html.table("Limits", columns, rows)
        lines = [{**row, "line": html.source_line(row, place(row))} for row in kernel.get("lines") or []]
        columns = {"line": "Line", "conflicts": "Conflicts", "wavefronts": "Wavefronts"}
        columns |= {"max_degree": "Worst access, ways"}
        body += html.table("Conflicts by source line", columns, lines)
        body += "".join(_fix(fix) for fix in kernel.get("fixes") or [])
        if kernel.get("fix_note"):
            body += html.meta(f"{kernel['fix_note']}.")
    return tone(bool(found["failed"]), True), body


def _limit(check: Found) -> html.Html:
    kind, text = ("bad", "exceeded") if check["failed"] else ("good", "within")
    if check["exceeded"] and not check["failed"]:
        text = "exceeded before, too"
    return html.Html(f'<b class="{kind}">{text}</b>')


def _fix(fix: Found) -> str:
    """A change that removes conflicts."""
    lines = [(place(line), line["text"], line["changed"]) for line in fix["lines"]]
    body = html.heading(fix["text"]) + (html.change("As it is, and changed", lines) if lines else "")
    return body + (html.code("The function, in CUDA", fix["function"]) if fix.get("function") else "")


def rewritten(found: Found) -> tuple[str, str]:
    """Before and after, and the accesses that stay."""
    rows = []
    if "conflicts_before" in found:
        rows.append({"what": "conflicts", "before": found["conflicts_before"], "after": found["conflicts_after"]})
    size = found["shared_bytes"]
    rows.append({"what": "bytes of shared memory", "before": size["before"], "after": size["after"]})
    body = html.machine(found["machine"])
    body += html.table("The kernel before and after", {"what": "", "before": "Before", "after": "After"}, rows)
    added = f"{found['rewritten']} of {found['accesses']} accesses rewritten, "
    added += f"{found['added_static']} instructions added"
    if "added_executed" in found:
        added += f"; executed: {found['added_executed']} more"
    body += html.meta(f"{added}.")
    left = [{**row, "line": place(row)} for row in found["left"]]
    columns = {"line": "Line", "reason": "Why it stays"}
    body += html.table("Accesses that stay as they are", columns, left)
    good = found.get("outputs_equal", False) and found["conflicts_after"] < found["conflicts_before"]
    return tone(bool(found["refused"]) or found.get("outputs_equal") is False, good), body
