"""The code of docs/tutorials/python.md and of the README runs as it stands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def blocks_of(page: str) -> list[str]:
    text = (ROOT / page).read_text()
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_the_tutorial_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = blocks_of("docs/tutorials/python.md")
    assert len(blocks) == 8
    exec(compile("\n".join(blocks), "python.md", "exec"), {})


def test_the_readme_prints_what_it_shows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # it needs no file of a checkout
    [block] = blocks_of("python/README.md")
    exec(compile(block, "README.md", "exec"), {})
    shown = re.findall(r"^print\(.*\)  +# (.*)$", block, re.MULTILINE)
    assert len(shown) == 3
    assert capsys.readouterr().out.splitlines() == shown
