"""The machine that answers are about: named once, it is kept, and each result says it."""

import copy
import pickle
from pathlib import Path
from typing import Any, Callable, Optional

import numpy as np
import pytest

import spadkit
from spadkit import Kernel, Machine

# Each thread reads 16 bytes, 32 apart: other machines count other conflicts.
WIDE = """
.version 7.0
.target {}
.address_size 64
.visible .entry wide(.param .u64 out)
{{
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .shared .align 16 .b8 tile[1024];
  mov.u32 %r0, %tid.x;  shl.b32 %r1, %r0, 5;  mov.u32 %r2, tile;  add.u32 %r2, %r2, %r1;
  ld.shared.v4.u32 {{%r3, %r4, %r5, %r6}}, [%r2];
  ret;
}}
"""


def wide(target: str) -> Kernel:
    kernel = Kernel.from_ptx(WIDE.format(target))
    kernel[1, 32].bind(np.zeros(32, np.uint32))
    return kernel


def of_all(kernel: Kernel, machine: Optional[str] = None) -> list[spadkit.Result]:
    """A result of each method, with a machine in the first call only."""
    return [
        kernel.conflicts(machine=machine),
        kernel.tune_software(kinds="xor", budget=0.1),
        kernel.sim(),
        kernel.share(simulate=False),
        kernel.gate(budget=0, machine_code=False),
        kernel.rewrite("swizzle:1,2,3"),
    ]


def machines(results: list[spadkit.Result]) -> list[dict[str, str]]:
    assert results[4]["kernels"][0]["machine"] == results[4]["machine"]
    return [result["machine"] for result in results]


def test_a_machine_that_was_named_is_kept(launched: Kernel) -> None:
    assert launched.machine == Machine("fermi", "default")
    results = of_all(launched, machine="sm80")
    assert machines(results) == [{"preset": "sm80", "from": "machine"}] * 6
    assert launched.machine == Machine("sm80", "machine")
    # What it counts by is that machine's, too.
    assert results[1]["rule"] == "phases"
    assert results[2]["cycles"] == launched.sim(machine="sm80")["cycles"]
    assert results[2]["cycles"] != launched.sim(machine="fermi")["cycles"]
    assert launched.tune_software(budget=0.1)["rule"] == "first-word"


def test_a_launch_and_its_kernel_have_one_machine(launched: Kernel) -> None:
    launch = launched[(4, 3), (16, 16)].bind(np.zeros(3072, np.float32), np.zeros(3072, np.float32), 64, 48)
    launch.sim(machine="sm80")
    assert launch.machine == launched.machine == Machine("sm80", "machine")
    again = launched[(4, 3), (16, 16)].bind(np.zeros(3072, np.float32), np.zeros(3072, np.float32), 64, 48)
    assert again.conflicts()["machine"]["preset"] == "sm80"
    # And the kernel that was made of it.
    assert launched.rewrite("xor").kernel.machine == Machine("sm80", "machine")


def test_where_none_is_named_the_target_says_it(launched: Kernel) -> None:
    assert machines(of_all(launched)) == [{"preset": "fermi", "from": "default"}] * 6
    kernel = wide("sm_86")
    assert kernel.machine == Machine("sm86", "target")
    assert kernel.conflicts()["machine"]["from"].startswith(".target sm_86 of ")
    assert {m["preset"] for m in machines(of_all(kernel))} == {"sm86"}
    assert wide("sm_52").machine == Machine("fermi", "default")
    assert wide("sm_90a").machine == Machine("sm90", "target")


def test_a_result_says_what_the_command_says(
    launched: Kernel, kernels: Path, answer: Callable[..., Any], tmp_path: Path
) -> None:
    """From the target, and the default."""
    new = ["--hash", "xor", "-o", tmp_path / "new.ptx"]
    for file in ["matmul/matmul.sm80.ptx", "matmul/matmul.ptx"]:
        kernel = Kernel.from_ptx(kernels / file, "matmul16")
        printed = answer("rewrite", kernels / file, "--entry", "matmul16", *new)
        assert kernel.rewrite("xor")["machine"] == printed["machine"]
    printed = answer("sim", kernels / "transpose/transpose.toml")
    assert launched.sim()["machine"] == printed["machine"]


def test_another_kernel_for_another_machine(launched: Kernel) -> None:
    launched.conflicts(machine="sm80")
    other = launched.with_machine("sm90")
    assert other.machine == Machine("sm90", "machine")
    assert other.conflicts()["machine"]["preset"] == "sm90"
    assert launched.conflicts()["machine"]["preset"] == "sm80"
    assert launched.with_machine(None).machine == Machine("fermi", "default")
    with pytest.raises(spadkit.UsageError, match="no preset 'sm8'"):
        launched.with_machine("sm8")
    with pytest.raises(spadkit.UsageError, match="machine is 80"):
        launched.with_machine(80)  # type: ignore[arg-type]


def test_a_call_that_fails_keeps_nothing(launched: Kernel) -> None:
    with pytest.raises(spadkit.UsageError, match="no preset 'sm8'"):
        launched.conflicts(machine="sm8")
    with pytest.raises(spadkit.UsageError, match="'no'"):
        launched.conflicts(machine="sm80", hash="no")
    assert launched.machine == Machine("fermi", "default")


def test_a_configuration_is_a_machine(launched: Kernel, tmp_path: Path, cli: Callable[..., Any]) -> None:
    file = Path(__file__).parents[2] / "crates/sm/src/config/presets/sm80.toml"
    own = tmp_path / "own.toml"
    own.write_text(file.read_text())
    preset = launched.conflicts(machine=own)["machine"]["preset"]
    assert launched.machine == Machine(preset, "machine")
    assert launched.conflicts()["rule"] == "phases"
    assert launched.with_machine(own).sim()["machine"] == {"preset": preset, "from": "machine"}


def test_a_run_is_about_no_machine(launched: Kernel) -> None:
    launched.conflicts(machine="sm80")
    assert "machine" not in launched.races()


def test_results_are_copied_and_stored(launched: Kernel) -> None:
    for result in of_all(launched, machine="sm80")[:-1]:
        for other in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
            assert other == result and type(other) is type(result)
            assert other.verdict == result.verdict
    tuned = launched.tune_software(budget=0.1)
    assert "<svg" in tuned._repr_html_() and "<svg" in pickle.loads(pickle.dumps(tuned))._repr_html_()


def test_cuda_source_is_for_the_target_of_its_compiler() -> None:
    source = 'extern "C" __global__ void k(int *p) { __shared__ int s[32]; s[threadIdx.x] = 1; *p = s[0]; }'
    try:
        kernel = Kernel.from_cuda(source, arch="sm_86")
    except spadkit.ToolError:
        pytest.skip("NVRTC is not installed")
    kernel[1, 32].bind(np.zeros(1, np.int32))
    assert kernel.machine == Machine("sm86", "target")
    assert kernel.conflicts()["machine"]["from"].startswith(".target sm_86 of ")
    assert kernel.sim(machine="sm90")["machine"] == kernel.conflicts()["machine"]
