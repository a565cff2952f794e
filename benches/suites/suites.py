#!/usr/bin/env python3
"""Runs public suites of racy and race-free kernels under `spadkit run --races=global`
and compares the verdicts with the suites' labels.

    make suites GPUVERIFY=DIR BENCHMARKS=DIR BARRACUDA=DIR SCOR=DIR INDIGO=DIR INDIGO3=DIR

The folders are checkouts of mc-imperial/gpuverify, mc-imperial/GPUVerifyBenchmarks,
stilltracy/Barracuda-tests, csl-iisc/ScoR, burtscher/IndigoSuite and
burtscher/Indigo3Suite; each may be left out. Needs nvcc and clang with libclc
(see build.py); PTX and launch files are kept in --work and made once. Prints the table
of docs/explanation/suites.md; `--list` adds every program, as JSON lines.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import os
import subprocess
import sys

import build
import given
import launch
import programs
import record

SEEDS = (None, 1)
# Blocks of a launch, at most: what races between blocks does so between few.
BLOCKS = 16
# How many times as many instructions may run where a race was not reached.
LONGER = 1000


def run(options, path, seed):
    command = [options.spadkit, "run", path, "--races=global", "--format", "json", "-q"]
    command += ["--threads", "1"] + (["--warp-order", str(seed)] if seed else [])
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {options.timeout} s"}
    if done.returncode not in (0, 1) or not done.stdout.strip():
        return {"failed": " ".join(done.stderr.split())[:300]}
    findings = json.loads(done.stdout)["findings"]
    place = lambda f: f.get("user_source") or f.get("source") or f["ptx_line"]
    told = [f"{f['kind']}{' (warning)' if f['warning'] else ''} {place(f)} {f['message']}"
            for f in findings]
    kinds = {f["kind"] for f in findings if not f["warning"]}
    warned = any(f["kind"] == "race" for f in findings)
    places = sorted({(f["kind"], str(place(f))) for f in findings})
    return {"race": "race" in kinds, "warned": warned, "kinds": sorted(kinds), "told": told,
            "places": places}


def run_entry(options, program, level, ptx, entry, out):
    elements, limit = launch.ELEMENTS, options.limit
    shrunk = with_grid(program, cut(program.grid))
    # The order of the warps should not matter: where there is a race, another is tried.
    seeds = SEEDS if program.truth == "race" else SEEDS[:1]
    for attempt in range(4):
        results, again = [], None
        for n, (path, values) in enumerate(launch.launches(
                options.spadkit, ptx, entry, shrunk, options.work, elements, limit)):
            if n and level == "O0" and program.truth == "none":
                break
            for seed in seeds if n == 0 else seeds[:1]:
                found = run(options, path, seed)
                found |= {"level": level, "entry": entry, "values": values, "seed": seed,
                          "launch": path, "grid": shrunk.grid}
                results.append(found)
                kinds = found.get("kinds", [])
                if attempt < 2 and "out-of-bounds" in kinds and elements == launch.ELEMENTS:
                    again = again or "larger"
                if "limit" in kinds or "more than" in found.get("failed", ""):
                    again = "smaller"
                    break
            if again == "smaller":
                break
        if again == "larger":
            elements = 16 * launch.ELEMENTS
        elif again == "smaller" and smaller(shrunk.grid) != shrunk.grid:
            shrunk = with_grid(program, smaller(shrunk.grid))
        elif again == "smaller" and program.truth == "race" and limit == options.limit:
            if any(r.get("race") for r in results):
                break
            limit *= LONGER
        else:
            break
    out += results


def run_given(options, program, level, ptx, entry, out):
    """As run_entry, of a program whose launches are given whole, or by its host code."""
    told = given if "launches" in program.more else record
    for path, name in told.launches(ptx, entry, program, options.work, options.limit * LONGER):
        for seed in SEEDS if program.truth == "race" else SEEDS[:1]:
            found = run(options, path, seed)
            out.append(found | {"level": level, "entry": entry, "values": name, "seed": seed,
                                "launch": path})


def with_grid(program, grid):
    return programs.Program(**(vars(program) | {"grid": grid}))


def cut(grid):
    """A grid of at most so many blocks, for a larger one: its longest side halved."""
    grid = list(grid)
    while math.prod(grid) > BLOCKS:
        longest = grid.index(max(grid))
        grid[longest] = -(-grid[longest] // 2)
    return grid


def smaller(grid):
    """A grid of few blocks: two along every dimension that has them."""
    return [min(n, 4 if len(grid) == 1 else 2) for n in grid]


def judge(options, program):
    """Everything that ran for a program, and why not."""
    runs, reasons = [], []
    if program.truth not in ("race", "none") and "fault" not in program.more:
        return runs, [program.truth]
    both = program.truth != "none" or options.all
    for level in build.LEVELS if both else build.LEVELS[:1]:
        ptx, said = build.ptx(program, level, options.work)
        if ptx is None:
            lines = [line for line in said.splitlines() if "error" in line or "fatal" in line]
            reasons.append("does not compile: " + (lines + said.splitlines() + [""])[0][-160:])
            continue
        found = launch.entries(ptx)
        if program.entry:
            found = [e for e in found if program.entry in e]
        if not found:
            reasons.append("no kernel")
        for entry in found:
            try:
                whole = "launches" in program.more or "record" in program.more
                how = run_given if whole else run_entry
                how(options, program, level, ptx, entry, runs)
            except launch.Inexpressible as why:
                reasons.append(str(why))
    reasons += [r["failed"] for r in runs if "failed" in r]
    return [r for r in runs if "failed" not in r], reasons


def verdict(program, runs, reasons):
    if not runs or program.truth not in ("race", "none"):
        return "not expressible"
    raced, warned = any(r["race"] for r in runs), any(r["warned"] for r in runs)
    if program.truth == "race":
        return "found" if raced else "only warned of" if warned else "missed"
    return "false alarm" if raced else "warning" if warned else "right"


COLUMNS = ["suite", "programs", "run", "races present", "found", "only warned of", "missed",
           "false alarms", "warnings", "not expressible"]


def table(results):
    rows = {}
    for program, what, *_ in results:
        row = rows.setdefault(program.suite, collections.Counter())
        row["programs"] += 1
        row[what] += 1
        if what != "not expressible":
            row["run"] += 1
            row["races present"] += program.truth == "race"
    lines = ["| " + " | ".join(COLUMNS) + " |", "| --- |" + " ---: |" * (len(COLUMNS) - 1)]
    for suite, row in rows.items():
        cells = [row["programs"], row["run"], row["races present"], row["found"],
                 row["only warned of"], row["missed"], row["false alarm"], row["warning"],
                 row["not expressible"]]
        lines.append(f"| {suite} | " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


FAULTS = ["suite", "programs", "faults present", "found", "missed", "false alarms"]


def faults_table(results):
    """Of suites that plant faults other than races, too: whether these are found, and
    where the suite names the line, at that line."""
    rows = {}
    for program, _, runs, _ in results:
        if not {"bounds", "fault"} & program.more.keys() or not runs:
            continue
        row = rows.setdefault(program.suite, collections.Counter())
        planted = "fault" in program.more or program.more["bounds"]
        told = any(told_of(program, run) for run in runs)
        row["programs"] += 1
        row["faults present"] += planted
        row["found" if planted else "false alarms"] += told
        row["missed"] += planted and not told
    lines = ["| " + " | ".join(FAULTS) + " |", "| --- |" + " ---: |" * (len(FAULTS) - 1)]
    for suite, row in rows.items():
        lines.append(f"| {suite} | " + " | ".join(str(row[c]) for c in FAULTS[1:]) + " |")
    return "\n".join(lines) if rows else ""


def told_of(program, run):
    """Whether a run has the fault that a program is about."""
    if "fault" not in program.more:
        return "out-of-bounds" in run["kinds"]
    kinds, line = program.more["fault"]
    return any(k in kinds and (line is None or place.endswith(f"{program.source}:{line}"))
               for k, place in run["places"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--gpuverify", help="checkout of mc-imperial/gpuverify")
    parser.add_argument("--benchmarks", help="checkout of mc-imperial/GPUVerifyBenchmarks")
    parser.add_argument("--barracuda", help="checkout of stilltracy/Barracuda-tests")
    parser.add_argument("--hecbench", help="folder with a checkout of ORNL/HeCBench per commit")
    parser.add_argument("--scor", help="checkout of csl-iisc/ScoR")
    parser.add_argument("--indigo", help="checkout of burtscher/IndigoSuite")
    parser.add_argument("--indigo3", help="checkout of burtscher/Indigo3Suite")
    parser.add_argument("--esbmc", help="checkout of ssvlab/esbmc-gpu")
    parser.add_argument("--faial", help="checkout of elliotsayes/faial")
    parser.add_argument("--sanitizer", help="checkout of NVIDIA/compute-sanitizer-samples")
    parser.add_argument("--fixed", help="folder with checkouts of fixed.toml, one per commit")
    parser.add_argument("--spadkit", default="spadkit")
    parser.add_argument("--work", default="target/suites", help="where PTX and launch files go")
    parser.add_argument("--only", default="", help="programs whose suite and name have this")
    parser.add_argument("--all", action="store_true",
                        help="compile race-free programs without optimisation, too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=60, help="seconds of a run")
    parser.add_argument("--limit", type=int, default=2_000_000, help="thread instructions of a run")
    parser.add_argument("--list", help="file for every program's verdict and runs, as JSON lines")
    options = parser.parse_args()
    options.work = os.path.abspath(options.work)
    options.spadkit = os.path.abspath(options.spadkit) if os.sep in options.spadkit else options.spadkit
    roots = [d and os.path.abspath(d)
             for d in (options.gpuverify, options.benchmarks, options.barracuda, options.hecbench,
                       options.scor, options.indigo, options.indigo3, options.esbmc,
                       options.faial, options.sanitizer, options.fixed)]
    if not any(roots):
        parser.error("name a checkout: --gpuverify, --benchmarks, --barracuda, --hecbench, "
                     "--scor, --indigo, --indigo3, --esbmc, --faial, --sanitizer, --fixed")
    for root in filter(None, roots):
        if not os.path.isdir(root):
            parser.error(f"{root} is no folder: expected a checkout of the suite")
    chosen = [p for p in programs.all_programs(*roots, options.work) if options.only in f"{p.suite}: {p.name}"]
    if not chosen:
        parser.error("no programs: is each folder a checkout of its suite?")
    results = []
    log = open(options.list, "w") if options.list else None
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for program, (runs, reasons) in zip(chosen, pool.map(lambda p: judge(options, p), chosen)):
            what = verdict(program, runs, reasons)
            results.append((program, what, runs, reasons))
            if log:
                line = {"suite": program.suite, "name": program.name, "flags": program.flags,
                        "truth": program.truth, "verdict": what, "reasons": reasons, "runs": runs}
                print(json.dumps(line), file=log, flush=True)
            print(f"\r{len(results)} of {len(chosen)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    print(table(results))
    if told := faults_table(results):
        print("\nfaults other than races:\n" + told)
    print("\ncompilers:", "; ".join(build.versions()))


if __name__ == "__main__":
    try:
        main()
    except build.Missing as missing:
        print(missing, file=sys.stderr)
        sys.exit(3)
