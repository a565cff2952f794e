"""Answers are the JSON of the commands, and show themselves in a notebook."""

import json
from pathlib import Path
from typing import Any, Callable
from xml.etree import ElementTree

import numpy as np
import pytest

import spadkit
from spadkit import Kernel

TIMES = {"seconds"}


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in TIMES}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def html(result: spadkit.Result) -> ElementTree.Element:
    """Well-formed, as a notebook needs it."""
    return ElementTree.fromstring(result._repr_html_().replace("<br>", "<br/>"))


def on_machine(printed: dict[str, Any]) -> dict[str, Any]:
    """As an argument says it, which is an option on the command line."""
    assert printed["machine"]["from"] == "--preset"
    return {**printed, "machine": {**printed["machine"], "from": "machine"}}


def test_conflicts(launched: Kernel, kernels: Path, answer: Callable[..., Any]) -> None:
    file = kernels / "transpose/transpose.toml"
    given = launched.conflicts(machine="sm80", hash=["mod", "xor"])
    mappings = ["--preset", "sm80", "--hash", "mod", "xor"]
    by_pc = answer("conflicts", file, "--per-pc", *mappings)
    by_line = answer("conflicts", file, "--source", *mappings)
    for own, pc, line in zip(given["results"], by_pc["results"], by_line["results"]):
        assert own == {**pc, "lines": line["lines"]}
    assert {**given, "results": 0} == {**on_machine(by_pc), "results": 0}
    assert given.rows()[0]["text"] == "out[y * height + x] = tile[threadIdx.x][threadIdx.y];"


def test_the_worst_access_is_drawn(launched: Kernel) -> None:
    given = launched.conflicts(machine="sm80")
    assert [(w["source"], w["wavefronts"]) for w in given.worst] == [("transpose.cu:25", 8)]
    banks = given.worst[0]["banks"]
    # Column-wise in a tile of 16 words a row: half a warp in two banks.
    assert [b[0] for b in banks[:4]] == [0, 16, 0, 16] and len(banks) == 32
    cells = [rect for rect in html(given).iter("rect") if rect.get("class", "").startswith("w")]
    assert len(cells) == 32
    assert "tile[threadIdx.x][threadIdx.y]" in given._repr_html_()
    assert launched.conflicts(machine="sm80", hash="swizzle:3,1,4").worst == []


def test_the_machine_is_that_of_the_target(kernels: Path) -> None:
    matmul = Kernel.from_ptx(kernels / "matmul/matmul.sm80.ptx", "matmul16")
    a = np.ones((32, 32), np.float32)
    matmul[(2, 2), (16, 16)].bind(a, a.copy(), a.copy(), 32)
    given = matmul.conflicts()
    assert given["machine"] == {"preset": "sm80", "from": ".target sm_80 of matmul.sm80.ptx"}


def test_tuning(launched: Kernel, kernels: Path, answer: Callable[..., Any]) -> None:
    given = launched.tune_software(machine="sm80", kinds=["swizzle", "pad"])
    command = ["tune", kernels / "transpose/transpose.toml", "--software", "--preset", "sm80"]
    printed = answer(*command, "--hash", "swizzle", "pad")
    assert without_times(given) == without_times(on_machine(printed))
    assert given.best()["conflicts"] == 0 and given.best()["hash"] == "swizzle:3,1,4"
    assert "spad_place" in html(given).itertext().__next__() + given._repr_html_()


def test_rewriting(
    launched: Kernel, kernels: Path, answer: Callable[..., Any], tmp_path: Path
) -> None:
    given = launched.rewrite("swizzle:3,1,4", machine="sm80")
    new = tmp_path / "new.ptx"
    command = ["rewrite", kernels / "transpose/transpose.toml", "--preset", "sm80", "-o", new]
    printed = answer(*command, "--hash", "swizzle:3,1,4")
    assert dict(given) == on_machine(printed) and given.ptx == new.read_text()
    assert (given["conflicts_before"], given["conflicts_after"]) == (56, 0)
    html(given)
    a = np.random.default_rng(1).random((48, 64), np.float32)
    out = np.zeros((64, 48), np.float32)
    given.kernel[(4, 3), (16, 16)](out, a, 64, 48)
    assert np.array_equal(out, a.T)
    assert given.kernel.conflicts(machine="sm80")["results"][0]["conflicts"] == 0


def test_rewriting_without_a_launch(transpose: Kernel) -> None:
    given = transpose.rewrite({"_ZZ12through_tileILi0EEvPfPKfiiE4tile": "xor"}, machine="sm80")
    assert transpose.rewrite({"tile": "xor"}, machine="sm80").ptx == given.ptx
    assert given["rewritten"] == 2 and "outputs_equal" not in given


def test_races_are_findings(kernels: Path, answer: Callable[..., Any]) -> None:
    file = kernels / "faults/race.toml"
    printed = answer("run", file, "--races")
    race = Kernel.from_ptx(kernels / "faults/faults.ptx", printed["entry"])
    out = np.zeros(64, np.int32)
    launch = race[printed["grid"], printed["block"]].bind(out)
    given = launch.races()
    assert given["findings"] == printed["findings"] != []
    assert not out.any(), "looking for races changes no array"
    assert "race" in "".join(html(given).itertext())
    assert [f["kind"] for f in launch.run()["findings"]] == ["uninitialised"]


def test_a_faulty_kernel_has_no_conflicts(transpose: Kernel) -> None:
    launch = transpose[(4, 3), (16, 16)].bind(np.zeros(10, np.float32), np.zeros(3072), 64, 48)
    with pytest.raises(spadkit.CheckFailed, match="no trace of launch of transpose") as caught:
        launch.conflicts()
    assert "races" in str(caught.value.help)


def test_results_are_plain_data(launched: Kernel) -> None:
    given = launched.conflicts()
    assert json.loads(json.dumps(given)) == given
    assert isinstance(given, dict) and given.warnings == []


def test_tables_for_pandas(launched: Kernel) -> None:
    pytest.importorskip("pandas")
    table = launched.conflicts(machine="sm80").to_pandas()
    assert list(table["excess_wavefronts"]) == [56, 0]
    assert launched.tune_software(machine="sm80").to_pandas()["conflicts"].min() == 0


def test_the_machine_code_judges_mappings(transpose: Kernel) -> None:
    """With both tools, or an error that names the missing one."""
    arrays = np.zeros(3072, np.float32), np.zeros(3072, np.float32)
    launch = transpose[(4, 3), (16, 16)].bind(*arrays, 64, 48)
    of_ptx = launch.tune_software(machine="sm80", budget=0.1, machine_code=False)
    assert "doubt" not in of_ptx and "machine_code" not in of_ptx["suggestions"][0]
    judged = launch.tune_software(machine="sm80", budget=0.1)
    assert ("doubt" in judged) != ("machine_code" in judged["suggestions"][0])
    if "doubt" in judged:
        with pytest.raises(spadkit.ToolError, match="ptxas|nvdisasm"):
            launch.tune_software(machine="sm80", budget=0.1, machine_code=True)
    else:
        counted = launch.tune_software(machine="sm80", budget=0.1, machine_code=True)
        judged_by = judged["suggestions"][0]["machine_code"]
        assert counted["suggestions"][0]["conflicts_before"] == judged_by["conflicts_before"]


def test_the_order_of_warps_changes_no_finding(kernels: Path) -> None:
    race = Kernel.from_ptx(kernels / "faults/faults.ptx", "race")
    launch = race[1, 64].bind(np.zeros(64, np.int32))
    kinds = [{f["kind"] for f in launch.races(warp_order=n)["findings"]} for n in (1, 2)]
    assert kinds[0] == kinds[1] and "race" in kinds[0]
    with pytest.raises(spadkit.UsageError, match="warp_order is -1"):
        launch.races(warp_order=-1)


def without(printed: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in printed.items() if name not in names}


def test_sim(launched: Kernel, kernels: Path, answer: Callable[..., Any]) -> None:
    file = kernels / "transpose/transpose.toml"
    plain = launched.sim(machine="fermi")
    assert plain == on_machine(answer("sim", file, "--preset", "fermi"))
    given = launched.sim(machine="fermi", hash="xor", scheduler="gto", lines=True)
    options = ["--hash", "xor", "--scheduler", "gto", "--source"]
    assert given == on_machine(answer("sim", file, "--preset", "fermi", *options))
    assert given["cycles"] < plain["cycles"] and plain.rows() == [plain]
    assert given.rows()[0]["source"].startswith("transpose.cu:")
    assert len(list(html(given).iter("table"))) == 4
    with pytest.raises(spadkit.UsageError, match="'round'.*--scheduler") as wrong:
        launched.sim(scheduler="round")
    assert "conflict-aware" in str(wrong.value.help)


def test_share(launched: Kernel, kernels: Path, answer: Callable[..., Any]) -> None:
    file = kernels / "transpose/transpose.toml"
    given = launched.share(machine="sharing-48k", sharing=0.2)
    options = ["--preset", "sharing-48k", "--sharing", "0.2"]
    assert given == on_machine(answer("share", file, *options))
    assert given.rows() == given["variants"] != []
    assert launched.share(machine="sharing-48k", simulate=False).rows() == []
    with pytest.raises(spadkit.UsageError, match="sharing"):
        launched.share(sharing=2.0)


def test_gate(launched: Kernel, kernels: Path, cli: Callable[..., Any]) -> None:
    file = kernels / "transpose/transpose.toml"
    limits = ["conflicts > 10", "findings > 0"]
    given = launched.gate(limits, machine="sm80", machine_code=False)
    options = ["--fail-on", limits[0], "--fail-on", limits[1], "--no-machine-code"]
    done = cli("gate", file, "--preset", "sm80", "--format", "json", *options)
    printed = json.loads(done.stdout)
    assert done.returncode == 1 and given.failed
    own = without_times(given["kernels"][0])
    other = on_machine(without_times(printed["kernels"][0]))
    assert without(own, "input") == without(other, "input")
    assert [row["failed"] for row in given.rows()] == [True, False]
    assert own["fixes"] and not launched.gate("conflicts > 1000").failed
    with pytest.raises(spadkit.UsageError, match="faults > 0"):
        launched.gate("faults > 0")


def test_a_launch_is_simulated_without_a_run(transpose: Kernel) -> None:
    out = np.zeros((64, 48), np.float32)
    bound = transpose[(4, 3), (16, 16)].bind(out, np.ones((48, 64), np.float32), 64, 48)
    assert bound.sim(machine="fermi")["cycles"] > 0
    assert not out.any()


def test_the_machines_are_those_of_the_program(launched: Kernel) -> None:
    assert {"fermi", "sm80", "sm121", "bus"} <= set(spadkit.presets())
    for machine in spadkit.presets():
        assert launched.conflicts(machine=machine)["machine"]["preset"] == machine
