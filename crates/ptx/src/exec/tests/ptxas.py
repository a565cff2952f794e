#!/usr/bin/env python3
"""Asks ptxas for the lines of ptxas.txt and ptxas_small.txt.

Reads lines from standard input and prints them with the verdict of the ptxas on the
path. Of a new line, only what is before ` |` counts; of a line with registers, the plain
ones are needed: `shl.b32 $0, $1, 3; | b32 | b32`. `ptxas.py --small` asks for all forms
of `TO.FROM |`.
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
WORDS = [["", "rn", "rz", "rp", "rs"]] + [["", w] for w in ("satfinite", "relu", "scaled::n2::ue8m0")]


def bits(ty):
    """The register of bits in which a value of the type is."""
    if ty == "pred":
        return ty
    size = "32" if ty.endswith("x2") else re.search(r"\d+", ty)[0]
    return f"b{size}"


def refused(instructions, target, version):
    """The numbers of the instructions that ptxas refuses."""
    head = f".version {version}\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n"
    head += " ".join(f".reg .{t} %{t}_<6>;" for t in DECLARED) + "\n"
    first = head.count("\n") + 1
    bad = set()
    while True:
        lines = [";" if n in bad else text for n, text in enumerate(instructions)]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "k.ptx")
            file.write_text(head + "\n".join(lines) + "\nret;\n}\n")
            command = ["ptxas", f"-arch={target}", "-O0", str(file), "-o", f"{folder}/k.cubin"]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
        found = {int(n) - first for n in re.findall(r"line (\d+); (?:error|fatal)", run.stderr)}
        found = {n for n in found if 0 <= n < len(instructions)} - bad
        # A syntax error ends the reading: ask again without its line.
        if not found:
            if run.returncode and not bad:
                sys.exit(run.stderr)
            return bad
        bad |= found


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


def main():
    if not shutil.which("ptxas"):
        sys.exit("ptxas.py: there is no ptxas on the path")
    is_small = "--small" in sys.argv
    target, version = ("sm_100a", "9.5") if is_small else ("sm_90", "8.5")
    lines = [line.rstrip("\n") for line in sys.stdin]
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
