"""The kernels of Triton's tutorials for sm_80, as kernels/triton/make.py compiled
them, against NumPy."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from triton_cases import CASES

from spadkit import Kernel


def compiled(folder: Path, name: str, sm: int) -> SimpleNamespace:
    """What triton.compile returned."""
    known = json.loads((folder / "kernels.json").read_text())[name]
    function = SimpleNamespace(arg_names=known["names"])
    return SimpleNamespace(
        asm={"ptx": (folder / f"{name}.sm{sm}.ptx").read_text()},
        metadata=SimpleNamespace(**known["metadata"]),
        src=SimpleNamespace(
            fn=function, signature=known["signature"], constants=known["constants"]
        ),
    )


@pytest.mark.parametrize("name", CASES)
def test_gives_what_numpy_gives(name: str, kernels: Path) -> None:
    CASES[name](Kernel.from_triton(compiled(kernels / "triton", name, 80)))
