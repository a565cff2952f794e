"""The machines that answers are about."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Mapping, Optional

from . import _native

# It does nothing, so that any machine runs it in no time.
_EMPTY = ".version 8.7\n.target {}\n.address_size 64\n.visible .entry empty() {{ ret; }}\n"


@dataclass(frozen=True)
class Machine:
    """The machine that answers are about, and what chose it."""

    #: A name of :func:`presets`, or that of a configuration.
    preset: str
    #: ``"machine"``: an argument; ``"target"``: the ``.target`` of the PTX;
    #: ``"default"``: neither says it.
    chosen_by: str

    @classmethod
    def of(cls, said: Mapping[str, str]) -> "Machine":
        """The value of ``machine`` in a result."""
        by = "target" if said["from"].startswith(".target") else said["from"]
        return cls(said["preset"], by)


def presets() -> list[str]:
    """The names that ``machine=`` takes, beside the path of a configuration file.

    ``spadkit.Kernel.conflicts(machine=...)`` and the others take the one of the PTX's target
    where none is named.
    """
    return _native.presets()


def named(machine: str) -> dict[str, str]:
    """What a result says of a machine that is named. Raises what is wrong with it."""
    said: dict[str, str] = _machine_of("sm_80", "", machine)
    return said


@lru_cache(maxsize=64)
def unnamed(ptx_target: str, file: str) -> Mapping[str, str]:
    """What a result says where no machine is named."""
    return _machine_of(ptx_target, file, None)


def target_of(ptx: str) -> str:
    """``sm_80``: of several texts the newest, of one without a target the oldest there is."""
    found = re.findall(r"^\s*\.target\s+([\w, ]+)", ptx, re.MULTILINE)
    return max(found, key=_number, default="sm_20")


def _number(ptx_target: str) -> int:
    """80 of ``sm_80, texmode_unified``."""
    found = re.search(r"sm_(\d+)", ptx_target)
    return int(found[1]) if found else 0


def _machine_of(ptx_target: str, file: str, name: Optional[str]) -> dict[str, str]:
    """The library says it with each answer."""
    empty = _native.Kernel([(_EMPTY.format(ptx_target), file)])
    launch = empty.launch([1], [1], 0, 1000, [], [], None, False, None)
    (text, _, _), _ = launch.conflicts(name, ["mod"], 0)
    said: Any = json.loads(text).get("machine")
    if said is None:
        simulated = json.loads(launch.command("sim", None, [])[0])
        return {"preset": simulated["preset"], "from": "default"}
    return {**said, "from": "machine"} if name is not None else dict(said)
