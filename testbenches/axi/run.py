"""Runs test_axi.py on the Verilog that spadkit emits.

    python run.py --spadkit target/debug/spadkit --work target/axi [--rounds N] [--seed S] [--lanes 1|2|4]
"""

import argparse
import subprocess
import sys
from pathlib import Path

from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

HERE = Path(__file__).resolve().parent


def main():
    """Emits, builds, runs; the exit status is 1 if a test fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spadkit", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--simulator", default="icarus", choices=["icarus", "verilator"])
    parser.add_argument("--rounds", default=40, type=int)
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--lanes", default=1, type=int, choices=[1, 2, 4])
    options = parser.parse_args()
    rtl = options.work.resolve() / "rtl"
    machine = options.work.resolve() / "machine.toml"
    machine.parent.mkdir(parents=True, exist_ok=True)
    # [axi] is its last section.
    text = (HERE / "machine.toml").read_text()
    machine.write_text(f"{text}lanes = {options.lanes}\n")
    emit = ["emit", "spad_axi", "spad_tcdm", "--config", machine, "-o", rtl]
    emit += ["--timescale", "1ns/1ps", "--bench-cycles", "0", "-q"]
    subprocess.run([options.spadkit.resolve(), *emit], check=True, stdout=subprocess.DEVNULL)
    runner = get_runner(options.simulator)
    build = options.work.resolve() / f"{options.simulator}{options.lanes}"
    runner.build(
        sources=[HERE / "top.v", HERE.parent / "reading_lane.v", *sorted(rtl.glob("*.v"))],
        hdl_toplevel="top",
        parameters={"X": options.lanes},
        build_dir=build,
        timescale=("1ns", "1ps"),
        build_args=["-g2005"] if options.simulator == "icarus" else [],
    )
    results = runner.test(
        hdl_toplevel="top",
        test_module="test_axi",
        build_dir=build,
        test_dir=HERE,
        results_xml=str(build / "results.xml"),
        extra_env={
            "ROUNDS": str(options.rounds),
            "SEED": str(options.seed),
            "LANES": str(options.lanes),
        },
        log_file=build / "log",
    )
    tests, failed = get_results(Path(results))
    if failed:
        print((build / "log").read_text(), file=sys.stderr)
    print(f"{tests - failed} passed, {failed} failed")
    return 1 if failed or tests == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
