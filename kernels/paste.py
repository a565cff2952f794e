#!/usr/bin/env python3
"""Pastes what `spadkit tune --software` suggests into the kernels and compiles them:
the conflicts must be those of the suggestion, and the results the same.

    python3 -m venv venv
    venv/bin/pip install nvidia-cuda-nvrtc-cu12
    SPADKIT=target/debug/spadkit venv/bin/python kernels/paste.py [FAMILY/KERNEL.toml...]

The changes are the lines that access an array, its declaration where it needs more
elements, and `dynamic_shared` of the launch file. Left out are suggestions that leave
something to a person: a declaration that is not understood, an index to wrap, a tensor
map of the host, or two arrays that change in one line.
"""

import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from compile import HERE, TARGETS, compile_nvrtc, nvrtc

SPADKIT = os.path.abspath(os.environ.get("SPADKIT", "target/debug/spadkit"))
# Of one kernel; a search of minutes is none of a test of text.
SECONDS = 100


def spadkit(*args):
    command = [SPADKIT, "--format", "json", *args]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    # A kernel that is wrong on purpose has no traces.
    return json.loads(done.stdout) if done.stdout else {}


def conflicts(launch):
    return spadkit("conflicts", launch)["results"][0]["conflicts"]


def outputs(launch):
    return [output["sha256"] for output in spadkit("run", launch)["outputs"]]


def statements(suggestions):
    """The line, the statement and the changed one, or None if one is not known."""
    found = set()
    for change in changes_of(suggestions):
        new = change.get("with_others") or change["changed_text"]
        if new is None:
            return None
        number = int(change["source"].rsplit(":", 1)[1])
        found.add((number, change["text"], new))
    return found


def changes_of(suggestions):
    for suggestion in suggestions:
        yield from suggestion["declarations"]
        yield from ({**line, **(line.get("call") or {})} for line in suggestion["lines"])


def lacks_room(suggestion):
    """Whether the array needs more elements, and nothing says how it gets them."""
    grows = suggestion["elements"] > suggestion["elements_before"]
    return grows and not suggestion["declarations"] and not suggestion["dynamic_shared"]


def with_room(text, suggestions):
    """A launch file that gives the dynamic shared memory that an array needs."""
    for bytes in filter(None, (s["dynamic_shared"] for s in suggestions)):
        text, count = re.subn(r"(?m)^dynamic_shared = \d+", f"dynamic_shared = {bytes}", text)
        assert count > 0, "no dynamic_shared"
    return text


def pasted(text, changes, functions):
    """The source with the changes, or None if two change one statement."""
    for number, old, new in sorted(changes, reverse=True):
        # A line in the middle of a statement may stand for it.
        start = sum(len(line) + 1 for line in text.split("\n")[: max(0, number - 2)])
        pattern = r"\s+".join(re.escape(word) for word in old.split())
        match = re.compile(pattern).search(text, start)
        if match is None:
            return None
        text = text[: match.start()] + new + text[match.end() :]
    return functions + text


def check(library, launch, folder):
    family = os.path.basename(os.path.dirname(launch))
    source = os.path.join(HERE, family, family + ".cu")
    with open(launch) as file:
        if not os.path.exists(source) or f'"{family}.ptx"' not in file.read():
            return "another PTX", ""
    suggestions = spadkit("tune", launch, "--software").get("suggestions") or []
    if not suggestions:
        return "nothing to change", ""
    if any(lacks_room(s) for s in suggestions):
        return "a larger declaration", ""
    if any(s["tensor_copies"] for s in suggestions):
        return "a tensor map", ""
    changes = statements(suggestions)
    if changes is None:
        return "an index to wrap", ""
    with open(source) as file:
        text = pasted(file.read(), changes, "".join(s["function"] for s in suggestions))
    if text is None:
        return "two arrays in a line", ""
    copy = os.path.join(folder, os.path.basename(launch))
    shutil.copytree(os.path.dirname(launch), copy)
    stem = os.path.join(copy, family)
    with open(stem + ".cu", "w") as file:
        file.write(text)
    try:
        ptx = compile_nvrtc(library, stem + ".cu", TARGETS.get(family, 52))
    except SystemExit:
        return "DOES NOT COMPILE", ""
    with open(stem + ".ptx", "w") as file:
        file.write(ptx)
    copied = os.path.join(copy, os.path.basename(launch))
    with open(copied) as file:
        text = with_room(file.read(), suggestions)
    with open(copied, "w") as file:
        file.write(text)
    before, after = conflicts(launch), conflicts(copied)
    said = before - sum(s["conflicts_before"] - s["conflicts"] for s in suggestions)
    figures = f", {before} -> {after} conflicts, {said} said"
    if outputs(launch) != outputs(copied):
        return "OTHER RESULTS", figures
    return ("as suggested" if after == said else "OTHER CONFLICTS"), figures


def main():
    library = nvrtc()
    launches = sys.argv[1:] or sorted(glob.glob(os.path.join(HERE, "*/*.toml")))
    counts = collections.Counter()
    for launch in launches:
        with tempfile.TemporaryDirectory() as folder:
            try:
                result, figures = check(library, os.path.abspath(launch), folder)
            except subprocess.TimeoutExpired:
                result, figures = "no answer in time", ""
        counts[result] += 1
        if result not in ("another PTX", "nothing to change"):
            print(f"{os.path.relpath(launch, HERE)}: {result}{figures}", flush=True)
    for result, count in counts.most_common():
        print(f"{count:4} {result}")
    wrong = ["DOES NOT COMPILE", "OTHER RESULTS", "OTHER CONFLICTS"]
    sys.exit(1 if any(counts[result] for result in wrong) else 0)


if __name__ == "__main__":
    main()
