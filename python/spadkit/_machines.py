"""The machines that answers are about."""

from __future__ import annotations

from . import _native


def presets() -> list[str]:
    """The names that ``machine=`` takes, beside the path of a configuration file.

    ``spadkit.Kernel.conflicts(machine=...)`` and the others take the one of the PTX's target
    where none is named.
    """
    return _native.presets()
