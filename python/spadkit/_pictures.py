"""A warp access as a picture: banks across, wavefronts upward, lane numbers in boxes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Optional

Access = Mapping[str, Any]
# Of a word, its bank.
Bank = Callable[[int], int]

# Width and height of a box, and what is left of the banks.
_BOX = (16, 25)
_LEFT = 34
# Wavefronts that are drawn, and that have a colour of their own.
MOST = 16
_COLORS = 4
# What the code of a mapping consists of.
_LINE = re.compile(r"(?:const unsigned (s\d+) =|return) ([\w\s^&|~+*/%<>()-]+);")
_CODE = re.compile(r"\bindex\b|\bs\d+\b|(?:0x[0-9a-f]+|\d+)u?\b|<<|>>|[\s^&|~+*/%()-]")


@dataclass
class Served:
    """How an access is served: each word with its lanes, bank and wavefront."""

    wavefronts: int = 0
    cells: list[tuple[list[int], int, int, int]] = field(default_factory=list)

    @property
    def tag(self) -> str:
        """For people."""
        busy = len({bank for _, _, bank, _ in self.cells})
        return f"{self.wavefronts} wavefront{'' if self.wavefronts == 1 else 's'}, {busy} banks busy"


@dataclass(frozen=True)
class Rule:
    """How a warp access is served, as far as its picture shows it."""

    #: Words of a lane that count.
    words: int
    #: Lanes that are served together.
    lanes: int
    #: Whether lanes on one word are served one after another.
    in_turn: bool = False

    def served(self, access: Access, bank: Bank) -> Served:
        """With `bank` for the bank of a word."""
        found, lanes = Served(), access["lanes"]
        for start in range(0, len(lanes), self.lanes):
            together = list(enumerate(lanes))[start : start + self.lanes]
            self._serve([(lane, w) for lane, words in together for w in (words or [])[: self.words]], bank, found)
        return found

    def _serve(self, words: Sequence[tuple[int, int]], bank: Bank, found: Served) -> None:
        """Adds the words of lanes that are served together."""
        cells: dict[tuple[int, int], list[int]] = {}
        heights: dict[int, int] = {}
        for lane, word in words:
            key = (word, lane if self.in_turn else -1)
            if key in cells:
                cells[key].append(lane)
                continue
            cells[key] = [lane]
            height = heights.get(bank(word), 0)
            found.cells.append((cells[key], word, bank(word), found.wavefronts + height))
            heights[bank(word)] = height + 1
        found.wavefronts += max(heights.values(), default=0)


def as_counted(access: Access, found: Mapping[str, Any]) -> Optional[tuple[Rule, Served]]:
    """How the access is served in the result `found`: by the rule that comes to as many
    wavefronts as were counted. None where it is none of those that are drawn."""
    banks = {
        word: bank
        for words, own in zip(access["lanes"], access["banks"])
        for word, bank in zip(words or [], own or [])
    }
    for rule in _rules(access, found):
        drawn = rule.served(access, banks.__getitem__)
        if drawn.wavefronts == access["wavefronts"]:
            return rule, drawn
    return None


def _rules(access: Access, found: Mapping[str, Any]) -> list[Rule]:
    if found["rule"] == "first-word":
        # "32 lanes a pass, ..."
        return [Rule(1, int(found["rule_text"].split()[0]))]
    words = max((len(words or []) for words in access["lanes"]), default=1)
    lanes = max(1, len(access["lanes"]) // words)
    # The second is that of loads whose lanes have one address in pairs.
    return [Rule(words, lanes), Rule(words, 2 * lanes), Rule(words, lanes, in_turn=True)]


def changed(access: Access, code: str) -> Optional[Bank]:
    """The banks under the mapping that `code`, the function of a mapping, computes; none where
    it is no formula, or the banks as it is are no low bits of the address."""
    banks = int(access["bank_count"])
    for words, own in zip(access["lanes"], access["banks"]):
        if any(word % banks != bank for word, bank in zip(words or [], own or [])):
            return None
    lines = [_LINE.fullmatch(line.strip()) for line in code.splitlines() if line.startswith("    ")]
    if not lines or not all(line and not _CODE.sub("", line[2]) for line in lines):
        return None
    steps = [(line[1], re.sub(r"(?<=[0-9a-f])u\b", "", line[2]).replace("/", "//")) for line in lines if line]

    def bank(word: int) -> int:
        values = {"index": word}
        result = word
        for name, formula in steps:
            # Nothing but numbers, operators and the names of `values`.
            result = int(eval(formula, {"__builtins__": {}}, values)) & 0xFFFFFFFF
            values[name or "result"] = result
        return result % banks

    return bank


def stack(found: Served, banks: int, rows: int, title: str) -> str:
    """The picture, with room for `rows` wavefronts, so that two of them compare."""
    rows = max(1, min(rows, MOST))
    width, floor = _LEFT + _BOX[0] * banks + 2, _BOX[1] * rows + 1
    parts = [_row(row, floor, banks, row >= found.wavefronts) for row in range(rows)]
    parts += [_cell(cell, floor) for cell in found.cells if cell[3] < rows]
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


def _cell(cell: tuple[list[int], int, int, int], floor: int) -> str:
    lanes, word, bank, wavefront = cell
    kind = min(wavefront, _COLORS - 1) + 1
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
