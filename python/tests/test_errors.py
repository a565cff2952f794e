"""Errors are those of the command line: the same text, the same place."""

from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import spadkit
from spadkit import Kernel, _nvrtc

BROKEN = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n  mov.u32 5 5;\n}\n"
UNSUPPORTED = BROKEN.replace("mov.u32 5 5;", "tcgen05.wait::ld.sync.aligned;")


def words(text: str) -> str:
    """The command line's frame and line ends do not count."""
    return " ".join(w for w in text.split() if not set(w) & set("│╭╰·─▲×┬├"))


@pytest.mark.parametrize("text", [BROKEN, UNSUPPORTED])
def test_bad_ptx(text: str, tmp_path: Path, cli: Callable[..., Any]) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(text)
    (tmp_path / "k.toml").write_text('ptx = "k.ptx"\ngrid = [1]\nblock = [32]\n')
    with pytest.raises(spadkit.InputError) as caught:
        Kernel.from_ptx(path).check()
    error = caught.value
    assert (error.path, error.line) == (str(path), 5)
    printed = cli("run", tmp_path / "k.toml")
    assert printed.returncode == 2
    assert words(error.what) in words(printed.stderr)
    assert error.help is not None and words(error.help) in words(printed.stderr)


def test_ptx_without_a_file() -> None:
    with pytest.raises(spadkit.InputError, match="at <ptx>:5:13"):
        Kernel.from_ptx(BROKEN)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(spadkit.FileError, match="cannot read .*none.ptx: No such file") as caught:
        Kernel.from_ptx(tmp_path / "none.ptx")
    assert isinstance(caught.value, OSError)
    (tmp_path / "binary.ptx").write_bytes(b"\xff\xfe")
    with pytest.raises(spadkit.FileError, match="is not a text"):
        Kernel.from_ptx(tmp_path / "binary.ptx")


def test_entries(kernels: Path) -> None:
    path = kernels / "transpose/transpose.ptx"
    with pytest.raises(spadkit.UsageError, match="has 11 entries"):
        Kernel.from_ptx(path)
    with pytest.raises(spadkit.UsageError, match="has no entry 'transposed'"):
        Kernel.from_ptx(path, "transposed")


def test_questions_before_a_launch(transpose: Kernel) -> None:
    for question in (transpose.races, transpose.conflicts, transpose.tune_software):
        with pytest.raises(spadkit.UsageError, match="has not been launched yet"):
            question()


def test_wrong_questions(launched: Kernel) -> None:
    with pytest.raises(spadkit.UsageError, match="'xorr' is not a hash"):
        launched.conflicts(hash="xorr")
    with pytest.raises(spadkit.UsageError, match="there is no preset 'sm81'"):
        launched.conflicts(machine="sm81")
    with pytest.raises(spadkit.UsageError, match="there is no block 12"):
        launched.conflicts(block=12)
    with pytest.raises(spadkit.UsageError, match="'sponge'"):
        launched.tune_software(kinds=["sponge"])
    with pytest.raises(spadkit.UsageError, match="'sponge'"):
        launched.rewrite("sponge")
    for memory in ("local", "no"):
        with pytest.raises(spadkit.UsageError, match="expected 'shared' or 'global'"):
            launched.races(memory)
    for budget in (-1, float("nan"), 1e10):
        with pytest.raises(spadkit.UsageError, match="budget is .*\n.*expected a number of seconds"):
            launched.tune_software(budget=budget)


@pytest.mark.parametrize(
    "question, text",
    [
        (lambda k: k.conflicts(hash=5), "hash is 5\n  help: expected a mapping, such as 'xor'"),
        (lambda k: k.conflicts(hash=["xor", 5]), r"hash is \['xor', 5\]"),
        (lambda k: k.tune_software(kinds=5), "kinds is 5\n  help: expected kinds of mappings"),
        (lambda k: k.tune_software(budget="1"), "budget is '1'\n  help: expected a number of seconds"),
        (lambda k: k.tune_software(block=1.5), "block is 1.5\n  help: expected an integer"),
        (lambda k: k.conflicts(machine=80), "machine is 80\n  help: expected a name of"),
        (lambda k: k.share(machine=80), "machine is 80\n  help: expected a name of"),
        (lambda k: k[np.ones((2, 2), int), 32], r"grid is array(.|\n)*expected an integer"),
        (lambda k: k.rewrite(5), "spec is 5\n  help: expected a mapping, such as 'xor', or a dict"),
        (lambda k: k._last.run(threads=-1), "threads is -1\n  help: expected an integer that is not"),
        (lambda k: k.from_ptx(5), r"ptx is \[5\]\n  help: expected a PTX text or a path"),
        (lambda k: k.from_ptx([]), r"ptx is \[\]\n  help: expected a PTX text or a path"),
        (lambda k: k.from_ptx(b".version 7.0"), "ptx is .*\n  help: expected a PTX text"),
    ],
)
def test_values_of_another_type(launched: Kernel, question: Callable[..., Any], text: str) -> None:
    with pytest.raises(spadkit.UsageError, match=text):
        question(launched)


def test_headers_are_those_beside_the_compiler(tmp_path: Path, monkeypatch: Any) -> None:
    """Of one package for all of the toolkit, of a package for each part, and of the system's."""
    together, apart, system = tmp_path / "cu13", tmp_path / "nvidia", tmp_path / "cuda"
    folders = [
        together / "include",
        together / "include/cccl",
        apart / "cuda_runtime/include",
        system / "include",
    ]
    for folder in [*folders, together / "lib", apart / "cuda_nvrtc/lib"]:
        folder.mkdir(parents=True)
    names = [str(folder) for folder in folders]
    assert _nvrtc._headers(str(together / "lib/libnvrtc.so.13")) == names[:2]
    assert _nvrtc._headers(str(apart / "cuda_nvrtc/lib/libnvrtc.so.12")) == names[2:3]
    monkeypatch.setenv("CUDA_HOME", str(system))
    assert _nvrtc._headers("libnvrtc.so.12") == names[3:]


def test_a_cuda_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(spadkit.FileError, match="cannot read .*gone.cu"):
        spadkit.Kernel.from_cuda(tmp_path / "gone.cu")
    with pytest.raises(spadkit.UsageError, match="options is 3"):
        spadkit.Kernel.from_cuda("", options=3)  # type: ignore[arg-type]


def test_what_is_no_source_is_named() -> None:
    with pytest.raises(spadkit.UsageError, match="x.cu is a path") as caught:
        spadkit.Kernel.from_cuda("kernels/x.cu")
    assert "pathlib.Path('kernels/x.cu')" in str(caught.value.help)
    with pytest.raises(spadkit.UsageError, match="arch is 80"):
        spadkit.Kernel.from_cuda("__global__ void k() {}", arch=80)  # type: ignore[arg-type]


def test_the_place_of_shared_memory_is_named(transpose: spadkit.Kernel) -> None:
    with pytest.raises(spadkit.UsageError, match="is launched with") as caught:
        transpose[1, 32, 0, 0]
    assert "shared=BYTES" in str(caught.value.help)
