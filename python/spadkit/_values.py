"""Numbers and texts that callers give: checked, with errors that name them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, Optional, Sequence, Union

from ._errors import UsageError

Size = Union[int, Sequence[int]]
# A preset, or the file of a configuration: what `machine=` takes.
MachineName = Union[str, "os.PathLike[str]"]


def own_name(parameter: str, entry: str) -> str:
    """``param_0`` of ``_Z1kPfi_param_0``, which the compiler names after its kernel."""
    mangled = entry.startswith("_Z")
    return parameter.removeprefix(f"{entry}_") if mangled else parameter


def own_variable(name: str) -> str:
    """``tile`` of ``_ZZ1kPfE4tile``, a variable of a function."""
    found = re.fullmatch(r"_ZZ.*E(\d+)(\w+?)(_\d+)?", name)
    return found[2] if found and len(found[2]) == int(found[1]) else name


def dimensions(value: Any, what: str) -> list[int]:
    several = isinstance(value, (tuple, list)) or getattr(value, "ndim", 0) == 1
    sizes = list(value) if several else [value]
    return [size(s, what) for s in sizes]


def strings(what: str, value: Union[str, Sequence[str]], expected: str) -> list[str]:
    """A list of strings; one alone may be given as it is."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Iterable) or not all(isinstance(v, str) for v in value):
        raise UsageError(f"{what} is {value!r}", f"expected {expected}")
    return list(value)


def machine_name(value: Any) -> Optional[str]:
    """A preset or the path of a configuration; None where none is named."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    raise UsageError(
        f"machine is {value!r}", "expected a name of spadkit.presets(), or the path of a configuration"
    )


def options(given: Mapping[str, Any]) -> list[str]:
    """Options of the command line: those that are not None, a list's once for each."""
    found = []
    for name, value in given.items():
        values = value if isinstance(value, list) else [] if value is None else [value]
        found += [f"--{name}={one}" for one in values]
    return found


def seconds(value: Any, what: str) -> float:
    if not isinstance(value, Real) or not 0 <= float(value) <= 1e9:
        raise UsageError(f"{what} is {value!r}", "expected a number of seconds, from 0 to 1e9")
    return float(value)


def size(value: Any, what: str) -> int:
    try:
        number = value.__index__()
    except (AttributeError, TypeError):
        raise UsageError(f"{what} is {value!r}", "expected an integer") from None
    if not 0 <= number < 1 << 63:
        raise UsageError(f"{what} is {value!r}", "expected an integer that is not negative")
    return int(number)

