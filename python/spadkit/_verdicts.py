"""The answers that are not the sentences of the command's text, and words of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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


def is_better_apart(found: Found) -> bool:
    """Whether a mapping for each variable leaves fewer conflicts than one for all."""
    best, apart = found["results"][0], found.get("per_variable")
    least = min(best["conflicts"], best["baseline_conflicts"])
    return apart is not None and apart["conflicts"] < least


def spaced(name: str) -> str:
    """A reason of JSON as people write it."""
    return name.replace("_", " ")


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
    if after >= before and (added is None or added >= 0):
        return f"{name} was rewritten, outputs equal, but nothing is gained: conflicts {before} -> {after}{price}."
    return f"{name} was rewritten: conflicts {before} -> {after}, outputs equal{price}."
