"""Pages in a browser without a window: what the tests of notebooks look at."""

import html
import importlib
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import pytest

#: The probe of the reports' tests: it measures a page as a reader sees it.
PROBE = (Path(__file__).parents[2] / "tests/fixtures/page_probe.js").read_text()
_BROWSERS = ["chromium", "chromium-browser", "google-chrome", "chrome"]


def required(tool: str) -> None:
    """A test without its tool is skipped, and the summary says so; it fails where tools are required."""
    if os.environ.get("SPADKIT_REQUIRE_TOOLS"):
        pytest.fail(f"{tool} is not installed")
    pytest.skip(f"{tool} is not installed")


def browser() -> str:
    """One that is installed."""
    found: Optional[str] = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        required("chromium")
    return found or ""


def exported(bodies: list[str], theme: str) -> str:
    """A notebook with these outputs, as nbconvert writes it, without inputs and scripts."""
    try:
        # They have few types.
        v4: Any = importlib.import_module("nbformat.v4")
        nbconvert: Any = importlib.import_module("nbconvert")
    except ImportError:
        required("nbconvert")
    outputs = [v4.new_output("display_data", {"text/html": body}) for body in bodies]
    cells = [v4.new_code_cell("", outputs=[output]) for output in outputs]
    exporter = nbconvert.HTMLExporter(theme=theme, exclude_input=True, exclude_output_prompt=True)
    page, _ = exporter.from_notebook_node(v4.new_notebook(cells=cells))
    # What nbconvert asks for: MathJax and others, which are not there without a network.
    return re.sub(r"<script\b.*?</script>", "", str(page), flags=re.DOTALL)


@dataclass(frozen=True)
class Look:
    """How a page is looked at."""

    width: int
    #: The theme of the page; none: as the system says.
    theme: Optional[str]
    prefers_dark: bool = False


def probed(seen: list[tuple[str, Look]], folder: Path) -> list[dict[str, Any]]:
    """What the probe finds on each page; the system prefers the same in all of the looks."""
    mode = json.dumps({"theme": None, "print": False, "everything": False})
    script = f"<script>window.probeViolations = []; window.probeMode = {mode};\n{PROBE}</script>"
    with_probe = [(page.replace("</body>", f"{script}</body>"), look) for page, look in seen]
    return _in_frames(with_probe, "window.probeResult", folder)


def backgrounds(pages: list[str], look: Look, folder: Path) -> list[str]:
    """The colour behind the first result of each page."""
    of_result = "window.getComputedStyle(window.document.querySelector('.spadkit')).backgroundColor"
    return _in_frames([(page, look) for page in pages], of_result, folder)


def _in_frames(seen: list[tuple[str, Look]], asked: str, folder: Path) -> list[Any]:
    """What `asked`, an expression, is in each page, whose window is `window`. The browser starts
    once for all of them."""
    frames = "".join(
        f'<iframe width="{look.width}" height="900" style="border:0" srcdoc="{html.escape(page)}"></iframe>'
        for page, look in seen
    )
    file = folder / "frame.html"
    file.write_text(
        f'<!doctype html><meta charset="utf-8"><body style="margin:0">{frames}<script>onload = () => {{\n'
        "const frames = [...document.querySelectorAll('iframe')];\n"
        f"const found = frames.map((frame) => ((window) => {asked})(frame.contentWindow));\n"
        "document.body.replaceChildren(Object.assign(document.createElement('pre'), "
        "{id: 'found', textContent: JSON.stringify(found)}));\n}</script></body>"
    )
    dom = _run(file, folder, seen[0][1], "--dump-dom")
    found = re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)
    assert found, dom[:2000]
    answer: list[Any] = json.loads(html.unescape(found[1]))
    return answer


def _run(file: Path, folder: Path, look: Look, *options: str) -> str:
    command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    command += ["--force-dark-mode"] if look.prefers_dark else []
    done = subprocess.run([*command, *options, f"file://{file}"], capture_output=True, text=True, timeout=300)
    return done.stdout
