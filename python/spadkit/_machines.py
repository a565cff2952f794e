"""The machines that answers are about."""

from __future__ import annotations

from dataclasses import dataclass

from . import _native


@dataclass(frozen=True)
class Machine:
    """The machine that answers are about, and what chose it."""

    #: A name of :func:`presets`, or that of a configuration.
    preset: str
    #: ``"machine"``: an argument; ``"target"``: the ``.target`` of the PTX;
    #: ``"default"``: neither says it.
    chosen_by: str

    @classmethod
    def of(cls, preset: str, what: str) -> "Machine":
        """From ``preset`` and ``from`` of ``machine`` in a result."""
        return cls(preset, "target" if what.startswith(".target") else what)


def presets() -> list[str]:
    """The names that ``machine=`` takes, beside the path of a configuration file.

    ``spadkit.Kernel.conflicts(machine=...)`` and the others take the one of the PTX's target
    where none is named.
    """
    return _native.presets()
