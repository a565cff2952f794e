"""Arguments of a launch: NumPy arrays and scalars against a kernel's parameters."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

import numpy as np
import numpy.typing as npt

from ._errors import ArgumentError

Array = npt.NDArray[Any]
_FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: a pointer or a number, as the PTX declares it.

    ``type`` is PTX's without the dot (``u64``, ``f32``). A struct by value is
    an array of ``b8``.
    """

    name: str
    bytes: int
    type: str

    @property
    def is_struct(self) -> bool:
        """Whether it is more than one element."""
        return self.bytes * 8 != int(self.type.lstrip("busf"))

    @property
    def is_float(self) -> bool:
        """Whether it is a floating-point number for sure."""
        return self.type in _FLOATS

    def __str__(self) -> str:
        return f"{self.name} ({'struct of ' + str(self.bytes) + ' bytes' if self.is_struct else self.type})"


@dataclass
class Bound:
    """Arguments as the library takes them, and where its results go."""

    native: list[tuple[str, str, bytes, int]]
    symbols: list[tuple[str, bytes]]
    arrays: list[tuple[str, Array]]

    def write_back(self, results: Sequence[bytes]) -> None:
        """Puts the bytes after a run into the arrays; all of them or none."""
        changed = []
        for (name, array), result in zip(self.arrays, results):
            new = np.frombuffer(result, dtype=np.uint8)
            old = array.reshape(-1).view(np.uint8)
            if array.flags.writeable:
                changed.append((old, new))
            elif not np.array_equal(old, new):
                raise ArgumentError(
                    f"the kernel writes to {name}, and its array is read-only",
                    f"pass a copy ({name}.copy()), or set {name}.flags.writeable; no array was changed",
                )
        for old, new in changed:
            old[...] = new


def bind(
    entry: str,
    parameters: Sequence[Parameter],
    args: Sequence[Any],
    named: Mapping[str, Any],
    symbols: Mapping[str, Any],
) -> Bound:
    """The arguments of a call, positional ones first, one for each parameter."""
    given = _in_order(entry, parameters, args, named)
    bound = Bound([], [], [])
    at: list[int] = []
    for position, (parameter, value) in enumerate(zip(parameters, given)):
        where = f"argument {position} of {entry}, {parameter.name}"
        if isinstance(value, np.ndarray):
            _check_pointer(where, parameter, value)
            same = _same(where, value, [array for _, array in bound.arrays])
            if same is not None:
                bound.native.append((parameter.name, "same", b"", at[same]))
                continue
            at.append(position)
            bound.native.append((parameter.name, "buffer", value.tobytes(), 0))
            bound.arrays.append((parameter.name, value))
        elif value is None:
            if parameter.bytes != 8 or parameter.is_struct:
                raise ArgumentError(f"{where}: None", f"expected {_expected(parameter)}")
            bound.native.append((parameter.name, "null", b"", 0))
        else:
            bound.native.append((parameter.name, "value", _scalar(where, parameter, value), 0))
    for name, value in symbols.items():
        where = f"symbol {name} of {entry}"
        if not isinstance(value, np.ndarray):
            raise ArgumentError(f"{where}: {_described(value)}", "expected a NumPy array")
        _check_array(where, value)
        _same(where, value, [array for _, array in bound.arrays])
        bound.symbols.append((name, value.tobytes()))
        bound.arrays.append((name, value))
    return bound


def _in_order(
    entry: str, parameters: Sequence[Parameter], args: Sequence[Any], named: Mapping[str, Any]
) -> list[Any]:
    names = [p.name for p in parameters]
    listed = ", ".join(str(p) for p in parameters) or "none"
    rest = names[len(args) :]
    unknown = [name for name in named if name not in rest]
    if unknown:
        again = "given twice" if unknown[0] in names else "not a parameter"
        raise ArgumentError(f"{unknown[0]} of {entry} is {again}", f"its parameters are {listed}")
    missing = [name for name in rest if name not in named]
    if len(args) > len(names) or missing:
        what = f"{len(args) + len(named)} arguments for {entry}"
        raise ArgumentError(what, f"expected {len(names)}: {listed}")
    return [*args, *(named[name] for name in rest)]


def _check_pointer(where: str, parameter: Parameter, array: Array) -> None:
    if parameter.bytes != 8 or parameter.is_struct or parameter.is_float:
        raise ArgumentError(f"{where}: an array", f"expected {_expected(parameter)}")
    _check_array(where, array)


def _check_array(where: str, array: Array) -> None:
    kind = array.dtype
    if kind.hasobject or kind.kind in "SUmM":
        raise ArgumentError(
            f"{where}: an array of {kind}",
            "expected elements of a fixed size that a GPU has: integers, floats, bytes",
        )
    if not kind.isnative:
        raise ArgumentError(
            f"{where}: an array of {kind.newbyteorder('=')} in the other byte order",
            "expected little-endian elements: array.astype(array.dtype.newbyteorder('='))",
        )
    if not array.flags.c_contiguous:
        raise ArgumentError(
            f"{where}: an array that is not contiguous, shape {array.shape}, strides {array.strides}",
            "expected C order: np.ascontiguousarray(array) makes a copy",
        )
    if array.nbytes == 0:
        raise ArgumentError(f"{where}: an array without elements", "expected one at least")


def _same(where: str, array: Array, others: Sequence[Array]) -> Optional[int]:
    """The one of ``others`` that is the same memory."""
    begin = array.ctypes.data
    for at, other in enumerate(others):
        start = other.ctypes.data
        if (start, other.nbytes) == (begin, array.nbytes):
            return at
        if start < begin + array.nbytes and begin < start + other.nbytes:
            raise ArgumentError(
                f"{where}: an array that shares a part of its memory with another argument",
                "expected arrays that are apart, or one array twice",
            )
    return None


def _scalar(where: str, parameter: Parameter, value: Any) -> bytes:
    size = parameter.bytes
    wrong = ArgumentError(f"{where}: {_described(value)}", f"expected {_expected(parameter)}")
    if isinstance(value, (bytes, bytearray, np.void)):
        packed = value.tobytes() if isinstance(value, np.void) else bytes(value)
        if len(packed) != size:
            raise wrong
        return packed
    if parameter.is_struct:
        raise wrong
    if isinstance(value, (bool, int, np.bool_, np.integer)) and not parameter.is_float:
        number = int(value)
        low = 0 if parameter.type.startswith("u") and number >= 0 else -(1 << (8 * size - 1))
        if not low <= number < 1 << (8 * size):
            raise wrong
        return (number % (1 << (8 * size))).to_bytes(size, "little")
    if isinstance(value, (int, float, np.integer, np.floating)):
        # Bits without a type may hold a float of their size.
        kind = parameter.type.replace("b", "f")
        if kind not in _FLOATS:
            raise wrong
        try:
            return struct.pack(_FLOATS[kind], float(value))
        except OverflowError:
            raise wrong from None
    raise wrong


def _expected(parameter: Parameter) -> str:
    if parameter.is_struct:
        return f"{parameter.bytes} bytes: bytes, or a scalar of a structured dtype"
    if parameter.is_float:
        return f"a number, for {parameter.type}"
    if parameter.bytes == 8:
        return f"an array, None or an integer of 64 bits, for {parameter.type}"
    return f"an integer of {8 * parameter.bytes} bits, for {parameter.type}"


def _described(value: Any) -> str:
    text = repr(value)
    text = text if len(text) <= 40 else text[:40] + "..."
    return f"{text} ({type(value).__name__})"
