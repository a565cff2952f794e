"""A warp access as a picture: banks across, wavefronts upward, lane numbers in boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

# How an access is served, as the library computes it: `wavefronts`, `busy` banks, and in
# `cells` for each word its `lanes`, `bank`, `wavefront`, and what it `waits` in its phase.
Served = Mapping[str, Any]

# Width and height of a box, and what is left of the banks.
_BOX = (16, 25)
_LEFT = 34
# Wavefronts that are drawn, and that have a colour of their own.
MOST = 16
_COLORS = 4


def tag(served: Served) -> str:
    """How long it takes, for people."""
    wavefronts = served["wavefronts"]
    return f"{wavefronts} wavefront{'' if wavefronts == 1 else 's'}, {served['busy']} banks busy"


def stack(served: Served, banks: int, rows: int, title: str) -> str:
    """The picture, with room for `rows` wavefronts, so that two of them compare."""
    rows = max(1, min(rows, MOST))
    width, floor = _LEFT + _BOX[0] * banks + 2, _BOX[1] * rows + 1
    parts = [_row(row, floor, banks, row >= served["wavefronts"]) for row in range(rows)]
    parts += [_cell(cell, floor) for cell in served["cells"] if cell["wavefront"] < rows]
    step = max(1, banks // 8)
    for bank in [*range(0, banks, step), banks - 1]:
        parts.append(_text(_LEFT + _BOX[0] * (bank + 0.5), floor + 15, str(bank)))
    parts.append(_text((_LEFT + width) / 2, floor + 30, "bank"))
    turned = f'transform="translate(10 {floor / 2:.1f}) rotate(-90)"'
    parts.append(f'<text class="ax" {turned} text-anchor="middle">wavefront</text>')
    return (
        f'<svg class="pic" viewBox="0 0 {width} {floor + 34}" role="img" '
        f'aria-label="{escape(title)}">{"".join(parts)}</svg>'
    )


def _row(row: int, floor: int, banks: int, saved: bool) -> str:
    top = floor - _BOX[1] * (row + 1)
    number = f'<text class="ax" x="26" y="{top + 15.5}" text-anchor="end">{row + 1}</text>'
    kind = "slot saved" if saved else "slot"
    return f'{number}<rect class="{kind}" x="{_LEFT}" y="{top}" width="{_BOX[0] * banks}" height="23" rx="3"/>'


def _cell(cell: Mapping[str, Any], floor: int) -> str:
    lanes, word, bank, wavefront = cell["lanes"], cell["word"], cell["bank"], cell["wavefront"]
    kind = min(cell["waits"], _COLORS - 1) + 1
    x, y = _LEFT + _BOX[0] * bank, floor - _BOX[1] * (wavefront + 1)
    of = f"lane{'' if len(lanes) == 1 else 's'} {', '.join(map(str, lanes))}"
    title = f"{of}: word {word}, bank {bank}, wavefront {wavefront + 1}"
    label = f"{lanes[0]}{'+' if len(lanes) > 1 else ''}"
    return (
        f'<g><title>{title}</title><rect class="w{kind}" x="{x + 0.75}" y="{y + 0.75}" width="14.5" '
        f'height="21.5" rx="2"/><text class="ln t{kind}" x="{x + 8}" y="{y + 14.7:.1f}">{label}</text></g>'
    )


def _text(x: float, y: float, text: str) -> str:
    return f'<text class="ax" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{text}</text>'


def legend(shown: Sequence[str]) -> str:
    """What the colours and marks of the pictures in `shown` mean."""
    drawn = "".join(shown)
    keys = [
        ('"w1"', "w1", "served first"),
        ('"w2"', "w2", "second"),
        ('"w3"', "w3", "third"),
        ('"w4"', "w4", "fourth and later"),
        ('"slot"', "idle", "bank idle"),
        ('"slot saved"', "saved", "wavefront saved"),
    ]
    used = [f'<li><span class="sw {kind}"></span>{text}</li>' for mark, kind, text in keys if mark in drawn]
    if "+</text>" in drawn:
        used.append("<li>8+: lane 8 and others on the same word</li>")
    return f'<ul class="key">{"".join(used)}</ul>'
