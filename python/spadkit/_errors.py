"""What can go wrong, as exceptions. The text is what the command line prints."""

from __future__ import annotations

from typing import Any, Optional


class Error(Exception):
    """The base of all errors of the kit.

    ``what`` states the problem, ``help`` what was expected or how to fix it.
    ``result`` is what was found before the error, where there is something.
    """

    what: str
    help: Optional[str]
    result: Any

    def __init__(
        self,
        what: str,
        help: Optional[str] = None,
        place: Optional[tuple[str, int, int]] = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.help = help
        self.result = None

    def __str__(self) -> str:
        return self.what if self.help is None else f"{self.what}\n  help: {self.help}"


class UsageError(Error, ValueError):
    """A value is not acceptable: an argument, a mapping, a machine."""


class ArgumentError(UsageError, TypeError):
    """An argument of a kernel does not fit its parameter."""


class InputError(Error, ValueError):
    """The PTX, or a file, is wrong at a known place.

    ``path``, ``line`` and ``column`` are that place, counted from 1.
    """

    path: Optional[str]
    line: Optional[int]
    column: Optional[int]

    def __init__(
        self,
        what: str,
        help: Optional[str] = None,
        place: Optional[tuple[str, int, int]] = None,
    ) -> None:
        super().__init__(what, help)
        self.path, self.line, self.column = place or (None, None, None)


class FileError(Error, OSError):
    """A file cannot be read or written."""

    def __init__(
        self,
        what: str,
        help: Optional[str] = None,
        place: Optional[tuple[str, int, int]] = None,
    ) -> None:
        Error.__init__(self, what, help)


class CheckFailed(Error):
    """The kernel has a fault, or cannot be rewritten. ``result`` has the details."""


class KernelFault(CheckFailed):
    """The kernel faulted while it ran.

    ``findings`` lists the faults, as dicts like those in ``result["findings"]``.
    """

    @property
    def findings(self) -> list[dict[str, Any]]:
        """All faults and warnings of the run."""
        found: list[dict[str, Any]] = self.result["findings"]
        return found


class ToolError(Error):
    """An external tool is missing or failed."""


class Defect(Error):
    """A defect of the kit itself: please report it."""
