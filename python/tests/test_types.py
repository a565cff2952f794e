"""The package and its tests are typed."""

import os
from pathlib import Path

import pytest


def test_mypy_finds_nothing(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    folder = Path(__file__).parents[1]
    os.chdir(folder)
    config = ["--config-file", "pyproject.toml", "--cache-dir", str(tmp_path)]
    printed, errors, status = api.run([*config, "-p", "spadkit"])
    assert status == 0, printed + errors
    tests = sorted(str(path) for path in Path("tests").glob("*.py"))
    printed, errors, status = api.run([*config, *tests])
    assert status == 0, printed + errors
