"""The code of docs/tutorials/python.md runs as it stands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_tutorial_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs/tutorials/python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 6
    exec(compile("\n".join(blocks), "python.md", "exec"), {})
