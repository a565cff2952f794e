"""What a notebook shows: the answer of the command, tables, pictures, code."""

import re
import subprocess
from pathlib import Path
from typing import Any, Callable
from xml.etree import ElementTree

import numpy as np
import pages
import pytest

import spadkit
from spadkit import Kernel

ROOT = Path(__file__).parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


def first_sentence(printed: str) -> str:
    """What is before the machine."""
    return " ".join(printed.split("machine:")[0].split())


def arrays(*counts: int, dtype: str = "f4") -> list[Any]:
    return [np.zeros(count, dtype) for count in counts]


#: Grid, block, arguments and dynamic shared memory of launch files: what is in the arrays
#: does not matter to any sentence.
LAUNCHES: dict[str, tuple[Any, Any, list[Any], int]] = {
    "transpose/transpose": ((4, 3), (16, 16), [*arrays(3072, 3072), 64, 48], 0),
    "gemm/hgemm": ((2, 2), 128, [*arrays(16384), *arrays(8192, 8192, dtype="f2"), 128, 64], 0),
    "fwt/fwt": (2, 512, [*arrays(4096, 4096), 11], 8192),
    "tiles/tile_vector": (1, (32, 8), arrays(1024, 1024), 0),
    "tiles/tile_copy": (2, 256, [*arrays(1000, 1000), 1000], 0),
}
PTX = {"hgemm": "gemm", "tile_vector": "tiles", "tile_copy": "tiles"}


@pytest.mark.parametrize("launch", LAUNCHES)
def test_the_verdict_is_that_of_the_command(launch: str, kernels: Path, cli: Run) -> None:
    file, (folder, name) = kernels / f"{launch}.toml", launch.rsplit("/", 1)
    grid, block, args, shared = LAUNCHES[launch]
    kernel = Kernel.from_ptx(kernels / folder / f"{PTX.get(name, name)}.ptx", name)
    of = kernel[grid, block].bind(*args, shared=shared)
    sm80 = ["--preset", "sm80"]
    commands: list[tuple[Callable[[], spadkit.Result], list[Any]]] = [
        (lambda: of.conflicts(machine="sm80"), ["conflicts", file, "--source", *sm80]),
        (lambda: of.conflicts(hash="xor"), ["conflicts", file, "--source", "--hash", "xor", *sm80]),
        (
            lambda: of.conflicts(hash=["mod", "xor", "add"]),
            ["conflicts", file, "--source", "--hash", "mod", "xor", "add", *sm80],
        ),
        (lambda: of.tune_software(machine_code=False), ["tune", file, "--software", "--no-machine-code", *sm80]),
        (of.sim, ["sim", file, *sm80]),
    ]
    if launch != "gemm/hgemm":  # it has no room for two blocks
        commands.append((lambda: of.share(machine="gpgpusim-16k"), ["share", file, "--preset", "gpgpusim-16k"]))
    for result, command in commands:
        assert result().verdict == first_sentence(cli(*command).stdout), command


@pytest.fixture(scope="module")
def results() -> dict[str, spadkit.Result]:
    """One of each kind."""
    kernels = ROOT / "kernels"
    launched = Kernel.from_ptx(kernels / "transpose/transpose.ptx", "transpose")
    a = np.arange(3072, dtype=np.float32)
    launched[(4, 3), (16, 16)].bind(np.zeros(3072, np.float32), a, 64, 48)
    race = Kernel.from_ptx(kernels / "faults/faults.ptx", "race")
    tuned = launched.tune_software(machine="sm80", budget=0.1, machine_code=False)
    shown: dict[str, spadkit.Result] = {
        "run": launched.races(),
        "race": race[1, 64].bind(np.zeros(64, np.int32)).races(),
        "conflicts": launched.conflicts(),
        "mappings": launched.conflicts(hash=["mod", "xor"]),
        "none": launched.conflicts(hash="swizzle:3,1,4"),
        "tuning": tuned,
        "sim": launched.sim(lines=True),
        "share": launched.share(),
        "gate": launched.gate(machine_code=False),
        "rewrite": launched.rewrite("swizzle:3,1,4"),
    }
    # Its pictures are looked for while the launch is there.
    tuned._repr_html_()
    return shown


def texts(result: spadkit.Result) -> tuple[ElementTree.Element, str]:
    """Well-formed, without the style; and its text."""
    page = ElementTree.fromstring(result._repr_html_().replace("<br>", "<br/>"))
    page.remove(page.findall("style")[0])
    return page, " ".join(" ".join(page.itertext()).split())


def test_every_result_begins_with_its_verdict(results: dict[str, spadkit.Result]) -> None:
    said = {
        "run": "No fault found in transpose.",
        "race": "Found 1 fault (race) in race, at 1 line.",
        "conflicts": "56 of 72 wavefronts of transpose are bank conflicts, all at transpose.cu:25, up to 8 ways.",
        "none": "Under swizzle:3,1,4, no access of transpose has bank conflicts",
        "tuning": "swizzle:3,1,4 removes all 56 conflicts for 2 instructions an access. Proved: no mapping at all",
        "sim": "transpose takes 2354 cycles, 1.835 warp instructions a cycle; most frequent stall: memory",
        "share": "Sharing leaves the number of resident blocks of transpose at",
        "gate": "transpose exceeds a limit: conflicts is 56.",
        "rewrite": "transpose was rewritten: conflicts 56 -> 0, outputs equal",
    }
    for name, result in results.items():
        page, text = texts(result)
        assert text.startswith(said.get(name, "")) and text.startswith(result.verdict), name
        assert page.get("class") == "spadkit" and page[0].get("class", "").startswith("verdict")


def test_tables_are_for_people(results: dict[str, spadkit.Result]) -> None:
    for name, result in results.items():
        page, text = texts(result)
        # No key of JSON, no dict, no mangled name.
        for key in ("ideal_wavefronts", "removed pct", "max degree", "{'", "_ZZ"):
            assert key not in text, name
        for table in page.iter("table"):
            assert table.find("caption") is not None, name
        boxes = [box for box in page.iter("div") if box.get("class") == "scroll"]
        assert len([t for box in boxes for t in box.findall("table")]) == len(list(page.iter("table"))), name
        if "machine" in result:
            assert f"Machine: {result['machine']['preset']} (" in text, name


def test_the_parts_of_each_result(results: dict[str, spadkit.Result]) -> None:
    shown = {name: texts(result)[1] for name, result in results.items()}
    assert "writes byte 128 of s without a barrier" in shown["race"] and "(32, 0, 0)" in shown["race"]
    assert "out[y * height + x] = tile[threadIdx.x][threadIdx.y];" in shown["conflicts"]
    assert "88.9 %" in shown["conflicts"] and "85.7 %" in shown["mappings"]
    for part in ("unsigned spad_place(unsigned index)", "+ out[y * height + x] = (&tile[0][0])[spad_place("):
        assert part in shown["tuning"] and part in shown["gate"], part
    assert "Copy" in shown["tuning"] and "cute::Swizzle<3, 1, 4>" in shown["tuning"]
    assert "stall: bank conflict 927" in shown["sim"] and "barrier: 444" in shown["sim"]
    assert "resident blocks with sharing" in shown["share"] and "PostDom" in shown["share"]
    assert "conflicts > 0 56 exceeded" in shown["gate"] and "findings > 0 0 within" in shown["gate"]
    assert "2 of 2 accesses rewritten" in shown["rewrite"]


def test_pictures_are_before_and_after(results: dict[str, spadkit.Result]) -> None:
    svg = "{http://www.w3.org/2000/svg}svg"
    before, after = (
        p for p in texts(results["tuning"])[0].iter() if p.tag in ("svg", svg)
    )
    assert before.get("aria-label") == "As it is: 8 wavefronts, 4 banks busy"
    assert after.get("aria-label") == "Changed: 1 wavefront, 32 banks busy"
    for picture in (before, after):
        boxes = [t for t in picture.iter() if (t.get("class") or "").startswith("ln")]
        assert sorted(int(box.text or "") for box in boxes) == list(range(32))
        axis = [t.text for t in picture.iter() if t.get("class") == "ax"]
        assert {"bank", "wavefront", "0", "31"} <= set(axis)
    assert after.get("viewBox") == before.get("viewBox")
    shown = results["tuning"]._repr_html_()
    for key in ("served first", "fourth and later", "bank idle", "wavefront saved"):
        assert key in shown
    assert "wavefront saved" not in results["conflicts"]._repr_html_()


@pytest.mark.parametrize("machine", ["gt200", "fermi", "sm80"])
def test_pictures_come_to_what_was_counted(kernels: Path, machine: str) -> None:
    """Of 4, 8 and 16 bytes a lane, as it is and changed."""
    a, b = np.arange(4096, dtype=np.uint16), np.zeros(4096, np.uint16)
    launches = [
        ("transpose/transpose.ptx", "transpose", (4, 3), (16, 16), (np.zeros(3072, "f"), np.zeros(3072, "f"), 64, 48)),
        ("tiles/tiles.ptx", "tile_columns", 1, (32, 8), (np.zeros(1024, "f"), np.zeros(1024, "f"))),
        ("tiles/tiles.ptx", "tile_vector", 1, (32, 8), (np.zeros(1024, "f"), np.zeros(1024, "f"))),
        ("tiles/tiles.ptx", "tile_ldmatrix", 1, 128, (b, a)),
    ]
    drawn = 0
    for file, entry, grid, block, args in launches:
        kernel = Kernel.from_ptx(kernels / file, entry)
        kernel[grid, block].bind(*args)
        tuned = kernel.tune_software(machine=machine, budget=0.2, machine_code=False)
        # Random shifts are in a table, too.
        for row in [{"hash": None}, *tuned["results"]]:
            specs = ["mod"] + ([row["hash"]] if row["hash"] else [])
            for access in kernel.conflicts(machine=machine, hash=specs).worst:
                before, after = access["before"], access["after"]
                assert before["wavefronts"] == access["wavefronts"] > access["ideal_wavefronts"]
                if not row["hash"]:
                    assert after is None
                    continue
                if row["hash"] == "mod":
                    assert after == before
                if row["conflicts"] == 0:
                    assert after["wavefronts"] == access["ideal_wavefronts"], row["hash"]
                drawn += 1
    assert drawn >= 4


def test_names_and_texts_of_a_source_are_no_html(launched: Kernel) -> None:
    found = launched.conflicts(machine="sm80")
    found["results"][0]["lines"][0]["text"] = "a<b> & <script>alert(1)</script>"
    found.worst[0]["text"] = "<i>"
    found.warnings.append("<img>")
    shown = found._repr_html_()
    assert "<script" not in shown and "<img" not in shown and "&lt;i&gt;" in shown


def test_a_result_without_its_launch_shows_the_rest(kernels: Path) -> None:
    """A launch keeps copies of its arrays; a result that is kept does not keep these."""
    kernel = Kernel.from_ptx(kernels / "transpose/transpose.ptx", "transpose")
    launch = kernel[(4, 3), (16, 16)].bind(np.zeros(3072, "f"), np.zeros(3072, "f"), 64, 48)
    tuned = launch.tune_software(machine="sm80", budget=0.1)
    launch = kernel[1, 1].bind(np.zeros(1, "f"), np.zeros(1, "f"), 1, 1)
    shown = tuned._repr_html_()
    assert "<svg" not in shown and "spad_place" in shown


LOOKS = [
    pages.Look(1000, "light"),
    pages.Look(1000, "dark"),
    pages.Look(400, "light"),
    pages.Look(400, "dark"),
    # A notebook in the light theme of a system that prefers dark pages.
    pages.Look(1000, "light", prefers_dark=True),
    # A page without themes.
    pages.Look(1000, None),
    pages.Look(400, None, prefers_dark=True),
]


def host(bodies: list[str], look: pages.Look) -> str:
    """The page that the results are on."""
    if look.theme is not None:
        return pages.exported(bodies, look.theme)
    return f"<!doctype html><html><body><main>{''.join(bodies)}</main></body></html>"


@pytest.mark.parametrize("prefers_dark", [False, True])
def test_a_notebook_reads_everywhere(results: dict[str, spadkit.Result], prefers_dark: bool, tmp_path: Path) -> None:
    """As a static page: nothing overflows or is fetched, every text and shape stands out."""
    bodies = [result._repr_html_() for result in results.values()]
    assert not re.search(r"\b(src|href)=|url\(|@import", "".join(bodies))
    looks = [look for look in LOOKS if look.prefers_dark == prefers_dark]
    all_found = pages.probed([(host(bodies, look), look) for look in looks], tmp_path)
    for look, found in zip(looks, all_found):
        assert found["width"] == look.width and found["dark"] == look.prefers_dark
        assert found["overflow"] <= 0, (look, found)
        for key in ("low", "cut", "unlabelled", "nameless", "violations"):
            assert found[key] == [], (key, look, found)
        assert found["captions"] == 0, "tables without a caption"
        assert found["texts"] > 300 and found["shapes"] > 60 and found["keyboard"] > 20, found


def test_the_theme_is_that_of_the_notebook(results: dict[str, spadkit.Result], tmp_path: Path) -> None:
    """By what JupyterLab, VS Code and Colab set; else by what the system prefers."""
    body = results["run"]._repr_html_()
    dark, light = "rgb(16, 21, 26)", "rgb(255, 255, 255)"
    hosts = {
        '<body data-jp-theme-light="true">': (light, light),
        '<body data-jp-theme-light="false">': (dark, dark),
        '<body class="vscode-light">': (light, light),
        '<body class="vscode-dark">': (dark, dark),
        '<html theme="dark"><body>': (dark, dark),
        "<body>": (light, dark),
    }
    for prefers_dark in (False, True):
        shown = pages.backgrounds([f"{head}{body}" for head in hosts], pages.Look(1000, None, prefers_dark), tmp_path)
        assert shown == [colors[prefers_dark] for colors in hosts.values()], prefers_dark


def test_the_probe_finds_what_is_wrong(tmp_path: Path) -> None:
    bodies = [
        '<p style="color:#999;background:#fff">pale</p>'
        '<div style="width:2000px">wide</div><svg></svg><table></table>'
    ]
    look = pages.Look(400, None)
    [found] = pages.probed([(host(bodies, look), look)], tmp_path)
    assert found["low"] and found["unlabelled"] and found["overflow"] > 0 and found["captions"] == 1
