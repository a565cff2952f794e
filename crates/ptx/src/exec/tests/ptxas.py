#!/usr/bin/env python3
"""Asks ptxas for the lines of ptxas.txt, ptxas_small.txt, ptxas_cvt.txt and ptxas_words.txt.

Reads lines from standard input and prints them with the verdict of the ptxas on the
path. Of a new line, only what is before ` |` counts; of a line with registers, the plain
ones are needed: `shl.b32 $0, $1, 3; | b32 | b32`. `ptxas.py --small` asks for all forms
of `TO.FROM |`, `ptxas.py --cvt` for all other conversions, `ptxas.py --words` for each
word of the line `words` as a further modifier of each instruction, which takes some
minutes.
"""

import itertools
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TYPES = (
    "pred b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64 "
    "u16x2 s16x2"
).split()
DECLARED = [t for t in TYPES if t not in ("bf16", "bf16x2", "u16x2", "s16x2")]
# Syntax errors as modifiers.
NO_MODIFIERS = ("reg", "unified")
WORDS = [["", "rn", "rz", "rp", "rs"]] + [["", w] for w in ("satfinite", "relu", "scaled::n2::ue8m0")]


def bits(ty):
    """The register of bits in which a value of the type is."""
    if ty == "pred":
        return ty
    size = "32" if ty.endswith("x2") else re.search(r"\d+", ty)[0]
    return f"b{size}"


def run(lines, head, target):
    """What ptxas refuses of the lines after the head, and whether it refuses anything."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "k.ptx")
        file.write_text(head + "\n".join(lines) + "\nL: ret;\n}\n")
        command = ["ptxas", f"-arch={target}", "-O0", str(file), "-o", f"{folder}/k.cubin"]
        done = subprocess.run(command, capture_output=True, check=False)
    first = head.count("\n") + 1
    found = {int(n) - first for n in re.findall(rb"line (\d+); (?:error|fatal)", done.stderr)}
    return {n for n in found if 0 <= n < len(lines) and lines[n]}, done.returncode != 0


def refused(instructions, target, version):
    """The numbers of the instructions that ptxas refuses."""
    head = f".version {version}\n.target {target}\n.address_size 64\n"
    head += ".func f() { ret; }\n.visible .entry k(.param .u64 p)\n{\n"
    head += " ".join(f".reg .{t} %{t}_<6>;" for t in [*DECLARED, "b128"]) + "\n"
    head += "T: .branchtargets L;\n"
    lines, bad = list(instructions), set()
    while True:
        found, fails = run(lines, head, target)
        # A syntax error ends the reading: ask again without its line.
        for n in found:
            lines[n] = ""
        bad |= found
        if found:
            continue
        if not fails:
            return bad
        # Some instructions make it fail without a word: they are found by halves.
        left = [n for n, text in enumerate(lines) if text]
        if len(left) == 1:
            return bad | set(left)
        middle = len(left) // 2
        for half in (left[:middle], left[middle:]):
            bad |= {half[n] for n in refused([lines[n] for n in half], target, version)}
        return bad


def filled(text, registers):
    for n, ty in enumerate(registers):
        text = text.replace(f"${n}", f"%{ty}_{n}")
    return text


def candidates(line):
    """What to ask for a line: (column of its list, word of the list, instruction)."""
    text, *lists = [part.strip() for part in line.split(" |")]
    if "$T" in text:
        for ty in TYPES:
            yield 0, ty, text.replace("$T", ty).replace("$B", bits(ty))
        return
    plain = [types.split()[0] for types in lists]
    for column, ty in itertools.product(range(len(plain)), DECLARED):
        chosen = plain[:column] + [ty] + plain[column + 1 :]
        yield column, ty, filled(text, chosen)


def small(line):
    """The forms of a conversion of small numbers."""
    to, source = line.split(" |")[0].strip().split(".")
    register = {"e2m1x2": "b8", "f32": "f32", "f16x2": "b32", "bf16x2": "b32"}
    four = to.endswith("x4")
    result = register.get(to, "b32" if four and to != "e2m1x4" else "b16")
    operand = f"%{register.get(source, 'b16')}_1"
    sources = f"{{{', '.join([operand] * 4)}}}" if four else operand
    if source == "f32" and not four:
        sources += f", {operand}"
    for words in itertools.product(*WORDS):
        name = ".".join(w for w in words if w)
        more = ", %b16_3" if words[3] else ""
        more += ", %b32_4" if words[0] == "rs" else ""
        yield 0, name, f"cvt.{name}.{to}.{source} %{result}_0, {sources}{more};".replace("..", ".")


CONVERTED = "u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64 tf32 f16x2 bf16x2".split()
ROUNDINGS = ["", "rn", "rz", "rm", "rp", "rna", "rs", "rni", "rzi", "rmi", "rpi"]
OTHERS = ["", "sat", "ftz", "satfinite", "relu", "ftz.sat", "satfinite.relu"]


def conversion(to, source, words):
    """A conversion with registers of bits."""
    operands = [f"%{bits(t)}_{n}" for n, t in enumerate((to, source))]
    if to.endswith("x2") and source == "f32":
        operands.append("%b32_2")
    if words.startswith("rs") and to.endswith("x2"):
        operands.append("%b32_4")
    return f"cvt.{words}.{to}.{source} {', '.join(operands)};".replace("..", ".")


def judge_conversions(lines):
    """The lines of ptxas_cvt.txt: pairs of types, and the words before them."""
    print("\n".join(line for line in lines if line.startswith("#")))
    words = [".".join(filter(None, pair)) for pair in itertools.product(ROUNDINGS, OTHERS)]
    asked = list(itertools.product(CONVERTED, CONVERTED, words))
    bad = refused([conversion(*one) for one in asked], "sm_100a", "9.5")
    taken = {}
    for n, (to, source, text) in enumerate(asked):
        if n not in bad:
            taken.setdefault(f"{to}.{source}", []).append(text or "-")
    lists = {}
    for pair, texts in taken.items():
        lists.setdefault(" ".join(texts), []).append(pair)
    for texts, pairs in lists.items():
        print(" ".join(pairs), "|", texts)


def with_word(instruction, word):
    """The instruction with another modifier: the last, and the first."""
    name, space, rest = instruction.rstrip(";").partition(" ")
    opcode, dot, modifiers = name.partition(".")
    for changed in (f"{name}.{word}", f"{opcode}.{word}{dot}{modifiers}"):
        yield f"{changed}{space}{rest};"


def judge_words(lines):
    """The lines of ptxas_words.txt: what ptxas takes somewhere, for sm_90a or sm_100a."""
    asked = next(line.split()[1:] for line in lines if line.startswith("words "))
    asked = [word for word in asked if word not in NO_MODIFIERS]
    instructions = [line.split(" |")[0].strip() for line in lines if " |" in line]
    taken = {text: set() for text in instructions}
    for target in ("sm_90a", "sm_100a"):
        out = refused(instructions, target, "9.5")
        known = [text for n, text in enumerate(instructions) if n not in out]
        for start in range(0, len(known), 20):
            some = itertools.product(known[start : start + 20], asked)
            some = [(t, w, changed) for t, w in some for changed in with_word(t, w)]
            out = refused([changed for *_, changed in some], target, "9.5")
            for n, (text, word, _) in enumerate(some):
                if n not in out:
                    taken[text].add(word)
    # What it takes of `exit`, it takes everywhere and ignores.
    ignored = taken["exit;"]
    for line in lines:
        if line.startswith("ignored"):
            print("ignored", *(w for w in asked if w in ignored))
        elif " |" in line:
            text = line.split(" |")[0].strip()
            print(text, "|", *(w for w in asked if w in taken[text] - ignored))
        else:
            print(line)


def main():
    if not shutil.which("ptxas"):
        sys.exit("ptxas.py: there is no ptxas on the path")
    is_small = "--small" in sys.argv
    target, version = ("sm_100a", "9.5") if is_small else ("sm_90", "8.5")
    lines = [line.rstrip("\n") for line in sys.stdin]
    if "--words" in sys.argv:
        judge_words(lines)
        return
    if "--cvt" in sys.argv:
        judge_conversions(lines)
        return
    asked = []
    for number, line in enumerate(lines):
        if " |" in line and not line.startswith("#"):
            make = small if is_small else candidates
            asked += [(number, *one) for one in make(line + " ")]
    bad = refused([text for *_, text in asked], target, version)
    taken = {}
    for at, (number, column, word, _) in enumerate(asked):
        taken.setdefault(number, {}).setdefault(column, [])
        if at not in bad and word:
            taken[number][column].append(word)
    for number, line in enumerate(lines):
        if number not in taken:
            print(line)
            continue
        text, *lists = line.split(" |")
        for column, words in sorted(taken[number].items()):
            first = lists[column].split()[:1] if "$0" in text else []
            words = first + [w for w in words if w not in first]
            text += " | " + " ".join(words)
        print(text.rstrip())


if __name__ == "__main__":
    main()
