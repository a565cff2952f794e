"""The kernels of Triton's tutorials for sm_80 and sm_90, as kernels/triton/make.py
compiled them, against NumPy."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from triton_cases import CASES

from spadkit import Kernel


def compiled(folder: Path, name: str, sm: int) -> SimpleNamespace:
    """What triton.compile returned."""
    known = json.loads((folder / f"kernels.sm{sm}.json").read_text())[name]
    function = SimpleNamespace(arg_names=known["names"])
    return SimpleNamespace(
        asm={"ptx": (folder / f"{name}.sm{sm}.ptx").read_text()},
        metadata=SimpleNamespace(**known["metadata"]),
        src=SimpleNamespace(
            fn=function, signature=known["signature"], constants=known["constants"]
        ),
    )


ALL = [(name, sm) for name in CASES for sm in (80, 90)]


@pytest.mark.parametrize(("name", "sm"), ALL)
def test_gives_what_numpy_gives(name: str, sm: int, kernels: Path) -> None:
    CASES[name](Kernel.from_triton(compiled(kernels / "triton", name, sm)))
