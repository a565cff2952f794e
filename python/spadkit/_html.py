"""Results for a notebook: tables, source lines, and which lane goes to which bank."""

from __future__ import annotations

from html import escape
from typing import Any, Mapping, Optional, Sequence

# Of lanes that a bank serves together, and of those that wait for 1, 2, ... others.
# Each stands out from the ground of a light and of a dark notebook.
_COLORS = ["#3d8b5f", "#a8800f", "#c9691c", "#d6453a", "#c04067", "#a0559c"]
_CELL = 11


def page(body: str, warnings: Sequence[str]) -> str:
    """All of a result."""
    notes = "".join(f"<p><b>warning:</b> {escape(w)}</p>" for w in warnings)
    return f'<div class="spadkit">{notes}{body}</div>'


def table(rows: Sequence[Mapping[str, Any]], columns: Optional[Sequence[str]] = None) -> str:
    """Rows as a table, with the columns that are named or all."""
    if not rows:
        return ""
    names = list(columns or rows[0])
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in names)
    lines = ("".join(_cell(row.get(name)) for name in names) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, (int, float)):
        text = f"{value:.4g}" if isinstance(value, float) else str(value)
        return f'<td style="text-align:right">{text}</td>'
    if isinstance(value, str) and "\n" in value:
        return f'<td style="text-align:left"><pre>{escape(value)}</pre></td>'
    return f'<td style="text-align:left">{escape("" if value is None else str(value))}</td>'


def machine(result: Mapping[str, Any]) -> str:
    """Which machine an answer is about, and what chose it."""
    chosen = result.get("machine") or {}
    preset, by = chosen.get("preset"), chosen.get("from")
    if not preset:
        return ""
    return f"<p>machine: {escape(str(preset))}{f' ({escape(str(by))})' if by else ''}</p>"


def run(result: Mapping[str, Any]) -> str:
    """What a run did, and its findings."""
    head = (
        f"<p><b>{escape(result['entry'])}</b>, grid {result['grid']}, block {result['block']}: "
        f"{result['warp_instructions']} warp instructions, "
        f"{result['shared_accesses']} shared-memory accesses</p>"
    )
    found = result["findings"]
    columns = ["kind", "ptx_line", "source", "block", "thread", "message"]
    return head + (table(found, columns) if found else "<p>no findings</p>")


def conflicts(result: Mapping[str, Any], worst: Sequence[Mapping[str, Any]]) -> str:
    """Each mapping, the lines of the first, and pictures of its worst accesses."""
    mappings = ["hash", "conflicts", "max_degree", "wavefronts", "ideal_wavefronts", "removed_pct"]
    lines = ["line", "excess_wavefronts", "wavefronts", "ideal_wavefronts", "share_pct", "text"]
    rows = [{**row, "line": place(row)} for row in result["results"][0].get("lines", [])]
    pictures = "".join(picture(access) for access in worst)
    return (
        machine(result)
        + table(result["results"], mappings)
        + table(rows, lines)
        + pictures
        + f"<p>conflicts by: {escape(result['rule_text'])}</p>"
    )


def place(row: Mapping[str, Any]) -> str:
    """``file.cu:31``, or the line of the PTX."""
    source = row.get("source")
    if source:
        return str(source).replace("\\", "/").rsplit("/", 1)[-1]
    return f"PTX {row['ptx_line']}" if row.get("ptx_line") else f"access site {row.get('pc')}"


def picture(access: Mapping[str, Any]) -> str:
    """A warp access: a row for each lane, a column for each bank.

    The color says how many other words its bank has to serve first.
    """
    lanes, banks = access["lanes"], access["banks"]
    count = access["bank_count"]
    cells = []
    served: list[list[int]] = [[] for _ in range(count)]
    for lane, words in enumerate(lanes):
        for word, bank in zip(words or [], banks[lane] or []):
            if word not in served[bank]:
                served[bank].append(word)
            order = served[bank].index(word)
            color = _COLORS[min(order, len(_COLORS) - 1)]
            x, y = _CELL * bank, _CELL * lane
            title = f"lane {lane}: word {word}, bank {bank}"
            cells.append(
                f'<rect x="{x}" y="{y}" width="{_CELL - 1}" height="{_CELL - 1}" fill="{color}">'
                f"<title>{title}</title></rect>"
            )
    width, height = _CELL * count, _CELL * len(lanes)
    text = f"<br><code>{escape(access['text'])}</code>" if access.get("text") else ""
    return (
        f"<p>{escape(place(access))}: {escape(str(access['op']))} of {access['bytes']} bytes a lane, "
        f"warp {access['warp']}, {access['wavefronts']} wavefronts, "
        f"ideally {access['ideal_wavefronts']}{text}</p>"
        f'<svg width="{width + 30}" height="{height + 16}" font-size="9" font-family="monospace" fill="currentColor">'
        f'<text x="30" y="10">bank 0 ... {count - 1}</text><text x="0" y="24">lane</text>'
        f'<g transform="translate(30,14)"><rect width="{width}" height="{height}" fill-opacity="0.08"/>'
        f"{''.join(cells)}</g></svg>"
    )


def tuning(result: Mapping[str, Any]) -> str:
    """The mappings that nothing beats, with their code."""
    front = [row for row in result["results"] if row["front"]]
    columns = ["hash", "conflicts", "baseline_conflicts", "wavefronts", "ideal_wavefronts"]
    columns += ["added_per_access", "wasted_bytes", "optimal", "code"]
    return machine(result) + table(front, columns) + f"<p>conflicts by: {escape(result['rule_text'])}</p>"


def simulated(result: Mapping[str, Any]) -> str:
    """Cycles and conflicts, and the lines where these were asked for."""
    names = ["kernel", "cycles", "conflicts", "speed_up"]
    rows = [{**row, "line": place(row)} for row in result.get("lines", [])]
    for row in rows:
        row["most_stalls"] = _most(row.get("stalls", {}))
    lines = ["line", "issue_slots", "issued", "most_stalls", "share_pct", "text"]
    return (
        machine(result)
        + table([{n: result[n] for n in names if n in result}])
        + table(rows, lines)
    )


def _most(stalls: Mapping[str, int]) -> str:
    """The most frequent stall, with its slots."""
    name = max(stalls, key=lambda name: stalls[name], default="")
    return f"{name.replace('_', ' ')}: {stalls[name]}" if name and stalls[name] else ""


def shared(result: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> str:
    """Resident blocks without and with sharing, and the runs, if there are any."""
    blocks = result["blocks"]
    text = (
        f"<p><b>{escape(result['entry'])}</b>: {blocks['shared']} resident blocks with sharing, "
        f"{blocks['unshared']} without; {blocks['pairs']} pairs share</p>"
    )
    return machine(result) + text + table(runs)


def rewritten(result: Mapping[str, Any]) -> str:
    """Accesses, instructions and conflicts before and after."""
    names = ["accesses", "rewritten", "added_static", "added_per_access"]
    names += ["conflicts_before", "conflicts_after", "outputs_equal"]
    return table([{n: result[n] for n in names if n in result}]) + table(result["left"])
