"""Runs test_tilelink.py in Icarus on what spadkit emits.

    python run.py --spadkit target/debug/spadkit --work target/tilelink [--rounds N] [--seed S]
"""

import argparse
import os
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import cocotb.config

HERE = Path(__file__).resolve().parent


def main():
    """Emits, builds, runs; the exit status is 1 if a test fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spadkit", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--rounds", default=150, type=int)
    parser.add_argument("--seed", default=1, type=int)
    options = parser.parse_args()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    rtl = work / "rtl"
    emit = ["emit", "--wrapper", "tilelink", "--config", HERE / "machine.toml", "-o", rtl]
    emit += ["--timescale", "1ns/1ps", "--bench-cycles", "0", "-q"]
    subprocess.run([options.spadkit.resolve(), *emit], check=True, stdout=subprocess.DEVNULL)
    # Icarus has no concurrent assertions.
    build = ["iverilog", "-g2012", "-DSYNTHESIS", "-DSPADKIT_RAM_ZEROS", "-s", "top", "-o", work / "top.vvp"]
    files = [HERE / "top.sv", HERE.parent / "reading_lane.v", rtl / "spad_tilelink_lane.sv"]
    files += sorted(rtl.glob("*.v"))
    subprocess.run([*build, *files], check=True)
    environment = {
        **os.environ,
        # cocotb finds its own Python by these.
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "VIRTUAL_ENV": sys.prefix,
        "MODULE": "test_tilelink",
        "TOPLEVEL": "top",
        "TOPLEVEL_LANG": "verilog",
        "PYTHONPATH": str(HERE),
        "PYTHONDONTWRITEBYTECODE": "1",
        "ROUNDS": str(options.rounds),
        "SEED": str(options.seed),
    }
    results = work / "results.xml"
    results.unlink(missing_ok=True)
    library = [cocotb.config.libs_dir, "libcocotbvpi_icarus"]
    with (work / "log").open("w") as log:
        run = ["vvp", "-M", library[0], "-m", library[1], work / "top.vvp"]
        subprocess.run(run, env=environment, cwd=work, stdout=log, stderr=log, check=False)
    tests = list(xml.etree.ElementTree.parse(results).iter("testcase"))
    failed = sum(test.find("failure") is not None for test in tests)
    if failed:
        print((work / "log").read_text(), file=sys.stderr)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
