"""What the kit answers: plain dicts with the fields of the command line's JSON,
which render as HTML in a notebook."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Optional

from . import _html

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]

    from ._kernel import Kernel

Answer = tuple[str, list[str], Optional[Exception]]


def in_python(text: str) -> str:
    """A text of the kit with what it says of launch files said of calls."""
    return text.replace("cooperative = true in the launch file", "cooperative=True in the call")


class Result(dict[str, Any]):
    """A dict with the fields of the command line's JSON.

    ``warnings`` is what the command line would warn of.
    """

    #: What :meth:`to_pandas` has rows for.
    _rows = "results"

    def __init__(self, json_text: str, warnings: list[str]) -> None:
        super().__init__(json.loads(in_python(json_text)))
        self.warnings = warnings

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

    def _repr_html_(self) -> str:
        return _html.page(self._html(), self.warnings)

    def _html(self) -> str:
        return _html.table(self.rows())


class Run(Result):
    """What a run did: instructions, buffers with their hashes, findings.

    The fields of ``spadkit run --format json``. The rows are the findings:
    ``kind``, ``ptx_line``, ``source``, ``block``, ``thread``, ``message``.
    """

    _rows = "findings"

    def _html(self) -> str:
        return _html.run(self)


class Conflicts(Result):
    """Bank conflicts of one block under each mapping.

    The fields of ``spadkit conflicts --per-pc --source --format json``:
    ``results`` has ``hash``, ``conflicts``, ``wavefronts``, ``ideal_wavefronts``
    and ``lines`` for each mapping. The rows are the source lines of the first
    mapping, most expensive first.
    """

    _rows = "lines"

    def __init__(self, json_text: str, warnings: list[str], pictures: str) -> None:
        super().__init__(json_text, warnings)
        #: The worst access of each site that has conflicts, lane by lane.
        self.worst: list[dict[str, Any]] = json.loads(pictures)

    def rows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self["results"][0].get("lines", [])
        return found

    def _html(self) -> str:
        return _html.conflicts(self, self.worst)


class Tuning(Result):
    """Mappings for shared memory, ranked: fewest conflicts first.

    The fields of ``spadkit tune --software --format json``; each row has the
    ``hash``, its ``conflicts`` and the ``code`` that computes it.
    """

    def best(self) -> dict[str, Any]:
        """The mapping that leaves the fewest conflicts, and of those the cheapest."""
        first: dict[str, Any] = self["results"][0]
        return first

    def _html(self) -> str:
        return _html.tuning(self)


class Simulated(Result):
    """A run on the golden model of an SM: cycles, and what they go to.

    The fields of ``spadkit sim --format json``. The rows are the source lines with their
    issue slots, where ``lines=True`` asked for them, else the one run.
    """

    def rows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("lines", [dict(self)])
        return found

    def _html(self) -> str:
        return _html.simulated(self)


class Shared(Result):
    """What scratchpad sharing makes of a kernel: resident blocks, layout, gain.

    The fields of ``spadkit share --format json``. The rows are the runs without sharing and
    with each step of it; there are none with ``simulate=False``.
    """

    def rows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("variants", [])
        return found

    def _html(self) -> str:
        return _html.shared(self, self.rows())


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


class Rewritten(Result):
    """A kernel under a mapping, with what it costs.

    The fields of ``spadkit rewrite --format json``; the rows are the accesses
    that stay as they are, with reasons. ``kernel`` is the rewritten kernel.
    """

    _rows = "left"

    def __init__(self, json_text: str, warnings: list[str], kernel: "Kernel") -> None:
        super().__init__(json_text, warnings)
        #: The rewritten kernel.
        self.kernel = kernel

    @property
    def ptx(self) -> str:
        """The rewritten PTX."""
        return self.kernel.ptx

    def _html(self) -> str:
        return _html.rewritten(self)
