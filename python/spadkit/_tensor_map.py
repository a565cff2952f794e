"""Tensor maps of NumPy arrays."""

from __future__ import annotations

import operator
from typing import Any, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._errors import ArgumentError

Array = npt.NDArray[Any]
SWIZZLES = ("none", "32", "64", "128")
#: The library's element types by NumPy's kind and size.
_TYPES = {
    "u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "i1": "s8", "i2": "s16", "i4": "s32",
    "i8": "s64", "f2": "f16", "f4": "f32", "f8": "f64",
}  # fmt: skip
_SIZES = {**{ty: int(kind[1]) for kind, ty in _TYPES.items()}, "bf16": 2}
#: The largest integers that a rule of maps may still judge.
_MOST = 1 << 48


class TensorMap:
    """A tensor in an array, of which ``cp.async.bulk.tensor`` copies parts.

    It is the argument for a parameter of type ``CUtensorMap``, or for a pointer
    to one. The keywords are the keys of ``[arg.tensor_map]`` in a launch file,
    with the same rules. Lists are in NumPy's order, the contiguous dimension
    last, as in Triton; CUDA has it first.

    Parameters
    ----------
    array : numpy.ndarray
        The memory, of 1 to 5 dimensions. It may be a view with gaps between its
        rows; the last dimension is contiguous.
    box : sequence of int, optional
        Elements of one copy in each dimension. Maps for ``.im2col`` have
        ``lower``, ``upper``, ``channels`` and ``pixels`` in its place.
    type : str, optional
        PTX type of the elements, such as ``"bf16"``, for arrays whose dtype does
        not tell.
    extent, strides : sequence of int, optional
        Elements of each dimension, and bytes between its elements, without the
        last dimension; the default is the array's.
    offset : int
        Bytes from the array's first element to the tensor's.
    element_strides : sequence of int, optional
        Step in each dimension, in elements; the default is 1.
    interleave : {"none"}
        The only layout.
    swizzle : {"none", 32, 64, 128}
        The swizzle mode, as its bytes.
    fill : {"zeros", "nan"}
        What elements outside the tensor read as.
    lower, upper : sequence of int, optional
        Corners of the pixels' box (``.im2col``).
    channels, pixels : int, optional
        Channels and pixels of one copy (``.im2col``).

    Raises
    ------
    ArgumentError
        A value is not one that a tensor map can have; the message names it.
    """

    #: The memory that kernels see: the array, with the gaps between its rows.
    memory: Array
    extent: tuple[int, ...]
    #: Bytes, one for each dimension.
    strides: tuple[int, ...]
    box: Optional[tuple[int, ...]]
    type: str
    swizzle: str
    fill: str

    def __init__(
        self,
        array: Array,
        box: Optional[Sequence[int]] = None,
        *,
        type: Optional[str] = None,
        extent: Optional[Sequence[int]] = None,
        strides: Optional[Sequence[int]] = None,
        offset: int = 0,
        element_strides: Optional[Sequence[int]] = None,
        interleave: str = "none",
        swizzle: Union[str, int] = "none",
        fill: str = "zeros",
        lower: Optional[Sequence[int]] = None,
        upper: Optional[Sequence[int]] = None,
        channels: Optional[int] = None,
        pixels: Optional[int] = None,
    ) -> None:
        if not isinstance(array, np.ndarray):
            raise _wrong("array", repr(array)[:40], "expected a NumPy array")
        self.memory = memory_of(array)
        self.type = _type(array, type)
        size = _SIZES[self.type]
        self.extent = _shape(array, size) if extent is None else _numbers("extent", extent, 1)
        self.strides = self._strides(array, extent is not None, strides, size)
        self.box = None if box is None else _numbers("box", box)
        self.swizzle = _choice("swizzle", str(swizzle), SWIZZLES)
        self.fill = _choice("fill", fill, ("zeros", "nan"))
        # Interleaved layouts are the only other ones.
        _choice("interleave", interleave, ("none",))
        every = None if element_strides is None else _numbers("element_strides", element_strides)
        image = _image(box, lower, upper, channels, pixels)
        #: The map as the library has it.
        self.encoded = _native.tensor_map(
            self.memory.nbytes,
            self.type,
            _number("offset", offset, 0),
            self.extent[::-1],
            self.strides[-2::-1],
            (self.box or ())[::-1],
            image,
            None if every is None else every[::-1],
            SWIZZLES.index(self.swizzle),
            self.fill == "nan",
        )

    def _strides(
        self, array: Array, reshaped: bool, given: Optional[Sequence[int]], size: int
    ) -> tuple[int, ...]:
        """Bytes for each dimension."""
        if given is not None:
            strides = _numbers("strides", given)
            whole = len(strides) == len(self.extent) and strides[-1] == size
            return strides if whole else (*strides, size)
        if not reshaped and not array.flags.c_contiguous:
            return array.strides
        packed = [size]
        for count in self.extent[:0:-1]:
            packed.append(packed[-1] * count)
        return tuple(packed[::-1])

    def __repr__(self) -> str:
        box = "" if self.box is None else f", box={self.box}"
        return f"<spadkit.TensorMap {self.type}{list(self.extent)}{box}, swizzle={self.swizzle!r}>"


def memory_of(array: Array) -> Array:
    """The memory from the first element of an array to its last one."""
    if array.size == 0:
        raise _wrong("array", "an array without elements", "expected at least one element")
    if array.flags.c_contiguous:
        return array
    contiguous = array.ndim > 0 and array.strides[-1] == array.itemsize
    if not contiguous or min(array.strides) < 0:
        what = f"an array of shape {array.shape} and strides {array.strides}"
        raise _wrong("array", what, "expected one whose last dimension is contiguous")
    last = sum((count - 1) * stride for count, stride in zip(array.shape, array.strides))
    elements, rest = divmod(last, array.itemsize)
    if rest:
        what = f"strides {array.strides} of elements of {array.itemsize} bytes"
        raise _wrong("array", what, "expected whole elements between rows")
    return np.lib.stride_tricks.as_strided(
        array, (elements + 1,), (array.itemsize,), writeable=array.flags.writeable
    )


def _wrong(key: str, what: str, expected: str) -> ArgumentError:
    return ArgumentError(f"tensor map, {key}: {what}", expected)


def _type(array: Array, given: Optional[str]) -> str:
    if given is not None:
        return _choice("type", given, tuple(_SIZES))
    kind = array.dtype
    # Packages give NumPy a bfloat16 under this name.
    found = "bf16" if kind.name == "bfloat16" else _TYPES.get(kind.str[1:])
    if found is None or not kind.isnative:
        expected = "expected little-endian integers or floats, or type= of the elements"
        raise _wrong("array", f"an array of {kind}", expected)
    return found


def _shape(array: Array, size: int) -> tuple[int, ...]:
    if array.itemsize != size:
        what = f"elements of {size} bytes in an array of {array.dtype}"
        raise _wrong("type", what, "expected extent= as well")
    return array.shape


def _image(
    box: Any, lower: Any, upper: Any, channels: Any, pixels: Any
) -> Optional[tuple[tuple[int, ...], tuple[int, ...], int, int]]:
    parts = {"lower": lower, "upper": upper, "channels": channels, "pixels": pixels}
    given = [name for name, value in parts.items() if value is not None]
    if box is not None and given:
        raise _wrong(given[0], "it is given", "only allowed without 'box', for .im2col")
    if box is not None:
        return None
    if len(given) < len(parts):
        expected = "expected box=, or lower=, upper=, channels= and pixels= of a map for .im2col"
        raise _wrong("box", "it is missing", expected)
    corner = (-(1 << 31), 1 << 31)
    lower, upper = _numbers("lower", lower, *corner), _numbers("upper", upper, *corner)
    return lower[::-1], upper[::-1], _narrow("channels", channels), _narrow("pixels", pixels)


def _choice(key: str, word: str, words: tuple[str, ...]) -> str:
    if word not in words:
        raise _wrong(key, f"'{word}'", f"expected {' or '.join(words)}")
    return word


def _numbers(
    key: str, values: Sequence[int], low: int = 0, end: Optional[int] = None
) -> tuple[int, ...]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise _wrong(key, repr(values)[:40], "expected a list of integers")
    end = end or (1 << 32 if key in ("box", "element_strides") else _MOST)
    return tuple(_number(key, value, low, end) for value in values)


def _narrow(key: str, value: Any) -> int:
    return _number(key, value, 0, 1 << 32)


def _number(key: str, value: Any, low: int, end: int = _MOST) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise _wrong(key, repr(value)[:40], "expected an integer") from None
    if not low <= number < end:
        raise _wrong(key, f"{number} is out of range", f"expected {low} to {end - 1}")
    return number
