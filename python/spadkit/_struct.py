"""Structs by value, with arrays and tensor maps in them."""

from __future__ import annotations

from typing import Any, Mapping, Union

import numpy as np
import numpy.typing as npt

from ._errors import ArgumentError
from ._tensor_map import TensorMap

Array = npt.NDArray[Any]
#: Bytes of an address and of a tensor map, and what a tensor map is aligned to.
_ADDRESS, _MAP, _MAP_ALIGN = 8, 128, 64


class Struct:
    """A struct by value that has addresses or tensor maps in it.

    It is the argument for a struct such as the ``Params`` of CUTLASS. In a launch
    file it has ``pointers`` and ``maps``.

    Parameters
    ----------
    value : bytes or numpy.void
        Its bytes, or a scalar of a structured dtype.
    members : mapping of int or str to array or TensorMap
        What is in it: by byte, or by the field of the dtype. An array is there as
        its address, a :class:`TensorMap` with its 128 bytes.

    Raises
    ------
    ArgumentError
        A member is outside the struct, overlaps another one, or is a tensor map
        at a byte that is no multiple of 64.
    """

    #: The bytes, as far as no member is at their place.
    packed: bytes
    #: By byte.
    members: dict[int, Union[Array, TensorMap]]

    def __init__(
        self, value: Any, members: Mapping[Union[int, str], Union[Array, TensorMap]]
    ) -> None:
        if not isinstance(value, (bytes, bytearray, np.void)):
            expected = "expected bytes, or a scalar of a structured dtype"
            raise ArgumentError(f"struct: {repr(value)[:40]}", expected)
        self.packed = value.tobytes() if isinstance(value, np.void) else bytes(value)
        placed = {_byte(value, key): member for key, member in members.items()}
        self.members = dict(sorted(placed.items()))
        free, before = 0, ""
        for at, member in self.members.items():
            what, size = _kind(at, member)
            end = len(self.packed) - size
            if not 0 <= at <= end:
                expected = f"expected 0 to {end}" if end >= 0 else f"expected {size} bytes or more"
                raise _wrong(f"{what} at byte {at} of {len(self.packed)}", expected)
            if size == _MAP and at % _MAP_ALIGN:
                expected = f"expected a multiple of {_MAP_ALIGN}, the alignment of CUtensorMap"
                raise _wrong(f"{what} at byte {at}", expected)
            if at < free:
                raise _wrong(f"{what} at byte {at} overlaps {before}", f"expected byte {free} or later")
            free, before = at + size, f"{what} at byte {at}"

    def __repr__(self) -> str:
        members = ", ".join(f"{at}: {_kind(at, m)[0]}" for at, m in self.members.items())
        return f"<spadkit.Struct of {len(self.packed)} bytes, {{{members}}}>"


def _kind(at: int, member: Any) -> tuple[str, int]:
    """What a member is, and its bytes."""
    if isinstance(member, TensorMap):
        return "a tensor map", _MAP
    if isinstance(member, np.ndarray):
        return "an address", _ADDRESS
    raise _wrong(f"{repr(member)[:40]} at byte {at}", "expected an array or a TensorMap")


def _byte(value: Any, key: Any) -> int:
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
        return int(key)
    fields = value.dtype.fields if isinstance(value, np.void) else None
    if fields is None:
        raise _wrong(f"member {key!r}", "expected its byte, an integer")
    if key not in fields:
        raise _wrong(f"member {key!r}", f"expected a byte, or one of {', '.join(fields)}")
    return int(fields[key][1])


def _wrong(what: str, expected: str) -> ArgumentError:
    return ArgumentError(f"struct: {what}", expected)
