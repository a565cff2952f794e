"""Parts of what a notebook shows, in the style of the reports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

# The rules of the page, once for each result: a notebook shows each for itself.
_STYLE = Path(__file__).with_name("_style.css").read_text(encoding="utf-8")
# Selects the code where the browser does not let it be copied.
_COPY = (
    "const s=getSelection();s.selectAllChildren(this.closest('.codebox').querySelector('code'));"
    "const d=document.execCommand('copy');if(d)s.removeAllRanges();"
    "this.textContent=d?'Copied':'Press Ctrl-C';setTimeout(()=>{this.textContent='Copy'},1500)"
)
# A column: its name for people, and the value of a row.
Columns = Mapping[str, str]


class Html(str):
    """A text that is HTML already."""


def page(verdict: str, tone: str, body: str, warnings: Sequence[str]) -> str:
    """All of a result: first the answer."""
    notes = "".join(f'<p class="warning"><b>Warning:</b> {escape(w)}</p>' for w in warnings)
    return (
        f'<div class="spadkit"><style>{_STYLE}</style>'
        f'<p class="verdict {tone}">{escape(verdict)}</p>{notes}{body}</div>'
    )


def machine(said: Mapping[str, str], *more: str) -> str:
    """Which machine an answer is about, what chose it, and how the machine is set."""
    by = {"machine": "named by machine=", "default": "the default; machine= names another"}
    how = by.get(said["from"], f"{said['from']}; machine= names another")
    rest = "".join(f"; {escape(text)}" for text in more)
    return f'<p class="meta">Machine: <b>{escape(said["preset"])}</b> ({escape(how)}){rest}</p>'


def meta(text: str) -> str:
    """What explains the rest."""
    return f'<p class="meta">{escape(text)}</p>'


def heading(text: str) -> str:
    """Of a part."""
    return f'<p class="head">{escape(text)}</p>'


def table(caption: str, columns: Columns, rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows under column names for people; `columns` has them by key. Nothing without rows."""
    if not rows:
        return ""
    align = {key: ' class="r"' if all(_is_number(row.get(key)) for row in rows) else "" for key in columns}
    head = "".join(f"<th{align[key]}>{escape(name)}</th>" for key, name in columns.items())
    lines = ("".join(f"<td{align[key]}>{cell(row.get(key))}</td>" for key in columns) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    inside = f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return scrolled(f'<table class="t">{inside}</table>', caption)


def scrolled(body: str, name: str) -> str:
    """In a box that scrolls sideways, also by keys."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(name)}">{body}</div>'


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return re.fullmatch(r"[\d.]+( %)?", value) is not None
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def cell(value: Any) -> str:
    """The value of a cell."""
    if isinstance(value, Html):
        return str(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return escape("" if value is None else str(value))


def percent(value: float, *parts: tuple[str, float]) -> Html:
    """A share of the whole, with a bar of parts: style class and share."""
    bars = "".join(f'<i class="{kind}" style="width:{part:.1f}%"></i>' for kind, part in parts or [("p-issue", value)])
    return Html(f'<span class="n">{value:.1f} %</span><span class="bar">{bars}</span>')


def source_line(row: Mapping[str, Any], place: str) -> Html:
    """A place, the calls through which it came into the kernel, and what stands there."""
    calls = [str(call).rsplit("/", 1)[-1] for call in row.get("inlined_at") or []]
    inlined = f" <small>called in {escape(', '.join(calls))}</small>" if calls else ""
    text = row.get("user_text") or row.get("text")
    text = f"<br><code>{escape(text.strip())}</code>" if text else ""
    return Html(f"<b>{escape(place)}</b>{inlined}{text}")


def code(name: str, text: str) -> str:
    """A block with a button that copies it."""
    button = f'<button type="button" class="copy" onclick="{escape(_COPY)}">Copy</button>'
    return (
        f'<div class="codebox"><div class="cb-h"><span>{escape(name)}</span>{button}</div>'
        f'<pre tabindex="0"><code>{escape(text.rstrip())}</code></pre></div>'
    )


def change(name: str, lines: Sequence[tuple[str, str, str]]) -> str:
    """Lines of a source as they are and changed: place, before, after."""
    rows = "".join(
        f'<tr><td class="l" rowspan="2">{escape(place)}</td><td class="src">- {escape(old.strip())}</td></tr>'
        f'<tr><td class="src"><ins>+ {escape(new.strip())}</ins></td></tr>'
        for place, old, new in lines
    )
    return scrolled(f'<table class="code"><caption>{escape(name)}</caption><tbody>{rows}</tbody></table>', name)


def details(summary: str, body: str) -> str:
    """What is shown on a click; nothing for nothing."""
    return f"<details><summary>{escape(summary)}</summary>{body}</details>" if body else ""


def key(names: Mapping[str, str]) -> str:
    """What colours mean: style class and name."""
    listed = "".join(f'<li><span class="sw {kind}"></span>{escape(name)}</li>' for kind, name in names.items())
    return f'<ul class="key">{listed}</ul>'
