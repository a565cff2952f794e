"""Races that were fixed in public repositories: a kernel before its fix has one, and
behind it none."""

import os
import tomllib

from build import HERE

SUITE = "races that were fixed"


def programs(root, work, make, truths):
    """`root` has a checkout per state: FOLDER/COMMIT~1 and FOLDER/COMMIT."""
    empty = os.path.join(work, "empty")
    os.makedirs(empty, exist_ok=True)
    for program in tomllib.load(open(os.path.join(HERE, "fixed.toml"), "rb"))["program"]:
        for name in program.get("empty", []):
            open(os.path.join(empty, name), "w").close()
        for when, commit in ("before", program["fix"] + "~1"), ("behind", program["fix"]):
            checkout = os.path.join(root, program["folder"], commit)
            driver = os.path.join(HERE, "fixed", program.get("driver", ""))
            source = driver if "driver" in program else os.path.join(checkout, program["source"])
            name = f"{program['name']}, {when}"
            truth = truths.get(SUITE, {}).get(name, "race" if when == "before" else "none")
            if not os.path.isdir(checkout):
                truth = f"{checkout} is missing: see the README"
            flags = [f.replace("DIR", checkout).replace("EMPTY", empty) for f in program["flags"]]
            more = {"record": [], "plain": True, "args": program.get("args", [])}
            yield make(SUITE, name, source, "cuda", [1], [1], truth, flags, program["entry"], more=more)
