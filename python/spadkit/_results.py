"""What the kit answers: plain dicts with the fields of the command line's JSON,
which render as HTML in a notebook."""

from __future__ import annotations

import json
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional

from . import _html, _verdicts, _views

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]

    from ._kernel import Kernel
    from ._launch import Launch


@dataclass(frozen=True)
class About:
    """What an answer is about."""

    #: The kernel, as its source names it.
    kernel: str
    #: The answer in a sentence, with which the command's text begins.
    sentence: str


class Accesses:
    """The worst accesses of a launch, for pictures: looked for when they are drawn.

    There are none once the launch is gone, which its results do not keep.
    """

    def __init__(self, launch: Optional["Launch"], machine: Optional[str], block: int) -> None:
        self._launch = None if launch is None else weakref.ref(launch)
        self._machine, self._block = machine, block
        self._found: list[dict[str, Any]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return Accesses, (None, self._machine, self._block), {"_found": self._found}

    def worst(self, mapping: Optional[str]) -> list[dict[str, Any]]:
        """Of each access site, also under `mapping` if there is one."""
        launch = self._launch() if self._launch is not None else None
        if not self._found and launch is not None:
            specs = ["mod"] if mapping is None else ["mod", mapping]
            _, drawn = launch._native.conflicts(self._machine, specs, self._block)
            self._found = json.loads(drawn)
        return self._found


def in_python(text: str) -> str:
    """A text of the kit with what it says of launch files said of calls."""
    return text.replace("cooperative = true in the launch file", "cooperative=True in the call")


class Result(dict[str, Any]):
    """A dict with the fields of the command line's JSON.

    ``result["machine"]`` is the machine that it is about: its ``preset``, and in ``from``
    what chose it: ``"machine"``, the argument; the ``.target`` of the PTX; ``"default"``.
    ``warnings`` is what the command line would warn of.
    """

    #: What :meth:`to_pandas` has rows for.
    _rows = "results"

    def __init__(self, json_text: str, warnings: list[str], about: About) -> None:
        super().__init__(json.loads(in_python(json_text)))
        self.warnings = warnings
        #: The name of the kernel.
        self.kernel_name = about.kernel
        self._sentence = about.sentence

    def to_pandas(self) -> "pandas.DataFrame":
        """The rows of the result as a table.

        Raises
        ------
        ImportError
            pandas is not installed: ``pip install spadkit[pandas]``.
        """
        try:
            import pandas  # noqa: F811
        except ImportError:
            raise ImportError("pandas is not installed: pip install spadkit[pandas]") from None

        return pandas.json_normalize(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the result: dicts with the same keys."""
        found: list[dict[str, Any]] = self[self._rows]
        return found

    @property
    def verdict(self) -> str:
        """The answer in a sentence: what the command's text begins with."""
        return self._sentence

    def _repr_html_(self) -> str:
        tone, body = self._view()
        return _html.page(self.verdict, tone, body, self.warnings)

    def _view(self) -> tuple[str, str]:
        """The tone of the verdict, and what follows it in a notebook."""
        rows = self.rows()
        return "", _html.table("Rows", {name: name for name in rows[0]} if rows else {}, rows)


class Run(Result):
    """What a run did: instructions, buffers with their hashes, findings.

    The fields of ``spadkit run --format json``. The rows are the findings:
    ``kind``, ``ptx_line``, ``source``, ``block``, ``thread``, ``message``.
    """

    _rows = "findings"

    @property
    def verdict(self) -> str:
        """The answer in a sentence."""
        return _verdicts.run(self, self.kernel_name)

    def _view(self) -> tuple[str, str]:
        return _views.run(self)


class Conflicts(Result):
    """Bank conflicts of one block under each mapping.

    The fields of ``spadkit conflicts --per-pc --source --format json``:
    ``results`` has ``hash``, ``conflicts``, ``wavefronts``, ``ideal_wavefronts``
    and ``lines`` for each mapping. The rows are the source lines of the first
    mapping, most expensive first.
    """

    _rows = "lines"

    def __init__(self, json_text: str, warnings: list[str], about: About, pictures: str) -> None:
        super().__init__(json_text, warnings, about)
        #: The worst access of each site that has conflicts, lane by lane, as it is served under
        #: the first mapping (``before``) and the best of the others (``after``).
        self.worst: list[dict[str, Any]] = json.loads(pictures)

    def rows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self["results"][0].get("lines", [])
        return found

    def _view(self) -> tuple[str, str]:
        return _views.conflicts(self, self.worst)


class Tuning(Result):
    """Mappings for shared memory, ranked: fewest conflicts first.

    The fields of ``spadkit tune --software --format json``; each row has the
    ``hash``, its ``conflicts`` and the ``code`` that computes it.
    """

    def __init__(self, json_text: str, warnings: list[str], about: About, accesses: Accesses) -> None:
        super().__init__(json_text, warnings, about)
        self._accesses = accesses

    def best(self) -> dict[str, Any]:
        """The mapping that leaves the fewest conflicts, and of those the cheapest."""
        first: dict[str, Any] = self["results"][0]
        return first

    def _view(self) -> tuple[str, str]:
        return _views.tuning(self, self._accesses.worst)


class Simulated(Result):
    """A run on the golden model of an SM: cycles, and what they go to.

    The fields of ``spadkit sim --format json``. The rows are the source lines with their
    issue slots, where ``lines=True`` asked for them, else the one run.
    """

    def rows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("lines", [dict(self)])
        return found

    def _view(self) -> tuple[str, str]:
        return _views.simulated(self)


class Shared(Result):
    """What scratchpad sharing makes of a kernel: resident blocks, layout, gain.

    The fields of ``spadkit share --format json``. The rows are the runs without sharing and
    with each step of it; there are none with ``simulate=False``.
    """

    def rows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("variants", [])
        return found

    def _view(self) -> tuple[str, str]:
        return _views.shared(self)


class Gated(Result):
    """A kernel against limits.

    The fields of ``spadkit gate --format json``. The rows are the limits: ``limit``,
    ``value``, ``exceeded``, ``failed``.
    """

    @property
    def failed(self) -> bool:
        """Whether a limit is exceeded."""
        return bool(self["failed"])

    def rows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self["kernels"][0]["checks"]
        return found

    @property
    def verdict(self) -> str:
        """The answer in a sentence."""
        return _verdicts.gated(self, self.kernel_name)

    def _view(self) -> tuple[str, str]:
        return _views.gated(self)


class Rewritten(Result):
    """A kernel under a mapping, with what it costs.

    The fields of ``spadkit rewrite --format json``; the rows are the accesses
    that stay as they are, with reasons. ``kernel`` is the rewritten kernel.
    """

    _rows = "left"

    def __init__(self, json_text: str, warnings: list[str], about: About, kernel: "Kernel") -> None:
        super().__init__(json_text, warnings, about)
        #: The rewritten kernel.
        self.kernel = kernel

    @property
    def ptx(self) -> str:
        """The rewritten PTX."""
        return self.kernel.ptx

    @property
    def verdict(self) -> str:
        """The answer in a sentence."""
        return _verdicts.rewritten(self, self.kernel_name)

    def _view(self) -> tuple[str, str]:
        return _views.rewritten(self)
