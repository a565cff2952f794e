"""Kernels of the kit, and its program."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import spadkit

ROOT = Path(__file__).parents[2]


@pytest.fixture
def kernels() -> Path:
    return ROOT / "kernels"


@pytest.fixture
def transpose(kernels: Path) -> spadkit.Kernel:
    return spadkit.Kernel.from_ptx(kernels / "transpose/transpose.ptx", "transpose")


@pytest.fixture
def launched(transpose: spadkit.Kernel) -> spadkit.Kernel:
    """As kernels/transpose/transpose.toml launches it."""
    a = np.arange(3072, dtype=np.float32).reshape(48, 64)
    transpose[(4, 3), (16, 16)](np.zeros((64, 48), np.float32), a, 64, 48)
    return transpose


@pytest.fixture
def cli() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the program of the same build."""

    def run(*args: object) -> subprocess.CompletedProcess[str]:
        program = os.environ.get("SPADKIT", str(ROOT / "target/debug/spadkit"))
        return subprocess.run([program, *map(str, args)], capture_output=True, text=True)

    return run


@pytest.fixture
def answer(cli: Callable[..., subprocess.CompletedProcess[str]]) -> Callable[..., Any]:
    """The JSON that the program prints."""

    def run(*args: object) -> Any:
        return json.loads(cli(*args, "--format", "json").stdout)

    return run
