"""Arguments of a launch: NumPy arrays and scalars against a kernel's parameters."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._descriptors import Descriptor
from ._errors import ArgumentError
from ._struct import Struct
from ._tensor_map import TensorMap

Array = npt.NDArray[Any]
#: Bytes of a tensor map.
_MAP = 128
_FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: a pointer or a number, as the PTX declares it."""

    #: The name in the source, if it is known, else in the PTX.
    name: str
    #: Its size in bytes.
    bytes: int
    #: The PTX type without the dot, such as ``u64`` (also of a pointer) or
    #: ``f32``. A struct by value is an array of ``b8``.
    type: str
    #: Of a pointer to numbers, where the mangled name says so, its type in C++ and that of
    #: an element in PTX: ``("const float*", "f32")``.
    pointed: Optional[tuple[str, str]] = None

    @property
    def is_struct(self) -> bool:
        """Whether it is a struct: more than one element of its type."""
        return self.bytes * 8 != int(self.type.lstrip("busf"))

    @property
    def is_float(self) -> bool:
        """Whether its type is a floating-point one; ``b32`` may hold either."""
        return self.type in _FLOATS

    def __str__(self) -> str:
        struct = "tensor map or struct" if self.bytes == _MAP else "struct"
        return f"{self.name} ({f'{struct} of {self.bytes} bytes' if self.is_struct else self.type})"


@dataclass
class Bound:
    """Arguments as the library takes them, and where its results go."""

    native: list[tuple[str, str, bytes, list[int]]]
    symbols: list[tuple[str, bytes]]
    arrays: list[tuple[str, Array]]

    def write_back(self, results: Sequence[Optional[bytes]]) -> None:
        """Puts the bytes after a run, where there are any, into the arrays; all of them or
        none."""
        changed = []
        for (name, array), result in zip(self.arrays, results):
            if result is None:
                continue
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
    hidden: Mapping[str, Any],
    descriptors: Mapping[str, Descriptor],
) -> Bound:
    """The arguments of a call, positional ones first, one for each parameter;
    one for those of a descriptor, which begin with the one of its name. The
    caller does not pass ``hidden`` ones."""
    implied = {name for d in descriptors.values() for name in d.names[1:]}
    taken = [p for p in parameters if p.name not in implied]
    own = [p for p in taken if p.name not in hidden]
    given = dict(zip((p.name for p in own), _in_order(entry, own, args, named)))
    binding = _Binding()
    rest = iter(parameters)
    for position, parameter in enumerate(taken):
        value = given.get(parameter.name, hidden.get(parameter.name))
        where = f"argument {position} of {entry}, {parameter.name}"
        descriptor = descriptors.get(parameter.name)
        values = [value] if descriptor is None else descriptor.values(where, value)
        for part in values:
            binding.add(where, next(rest), part)
    binding.add_arrays()
    for name, value in symbols.items():
        binding.add_symbol(f"symbol {name} of {entry}", name, value)
    return binding.bound


class _Binding:
    """Arguments as they are collected."""

    def __init__(self) -> None:
        self.bound = Bound([], [], [])
        # Of each array of `bound` the index of its argument.
        self._at: list[int] = []
        # Arrays that are arguments only because the one of an index names them, and tensor
        # maps of structs; those of structs with their byte.
        self._inner: list[tuple[int, str, str, Union[Array, TensorMap], Optional[int]]] = []

    def add(self, where: str, parameter: Parameter, value: Any) -> None:
        """The argument of the next parameter."""
        name, index = parameter.name, len(self.bound.native)
        kind, packed, others = "value", b"", []
        if isinstance(value, np.ndarray):
            _check_pointer(where, parameter, value)
            same = self._same(where, value)
            if same is None:
                kind, packed = "buffer", value.tobytes()
                self._take(index, name, value)
            else:
                kind, others = "same", [same]
        elif isinstance(value, TensorMap):
            if (parameter.bytes, parameter.is_struct) not in ((_MAP, True), (8, False)):
                raise ArgumentError(f"{where}: {value!r}", f"expected {_expected(parameter)}")
            kind, packed = "tensor_map", value.encoded
            self._inner.append((index, where, f"{name}.array", value.memory, None))
        elif isinstance(value, Struct):
            if not parameter.is_struct or len(value.packed) != parameter.bytes:
                raise ArgumentError(f"{where}: {value!r}", f"expected {_expected(parameter)}")
            kind, packed = "struct", value.packed
            for at, member in value.members.items():
                self._inner.append((index, f"{where}[{at}]", f"{name}[{at}]", member, at))
        elif value is None:
            if parameter.bytes != 8 or parameter.is_struct:
                raise ArgumentError(f"{where}: None", f"expected {_expected(parameter)}")
            kind = "null"
        elif _is_table(value):
            _check_pointer(where, parameter, value[0])
            kind = "addresses"
            for nth, array in enumerate(value):
                self._inner.append((index, f"{where}[{nth}]", f"{name}[{nth}]", array, None))
        else:
            packed = _scalar(where, parameter, value)
        self.bound.native.append((name, kind, packed, others))

    def add_arrays(self) -> None:
        """The arrays and maps that arguments name, after all parameters have theirs."""
        inner = list(self._inner)
        for index, where, name, value, at in inner:
            if isinstance(value, TensorMap):
                same = len(self.bound.native)
                self.bound.native.append((name, "tensor_map", value.encoded, []))
                inner.append((same, where, f"{name}.array", value.memory, None))
            else:
                same = self._own(where, name, value)
            place = [] if at is None else [at]
            self.bound.native[index][3].extend([*place, same])

    def _own(self, where: str, name: str, array: Array) -> int:
        """The argument of an array that another one names."""
        _check_array(where, array)
        same = self._same(where, array)
        if same is None:
            same = len(self.bound.native)
            self._take(same, name, array)
            self.bound.native.append((name, "buffer", array.tobytes(), []))
        return same

    def add_symbol(self, where: str, name: str, value: Any) -> None:
        """What a variable of the PTX holds."""
        if not isinstance(value, np.ndarray):
            raise ArgumentError(f"{where}: {_described(value)}", "expected a NumPy array")
        _check_array(where, value)
        _same(where, value, [other for _, other in self.bound.arrays])
        self.bound.symbols.append((name, value.tobytes()))
        self.bound.arrays.append((name, value))

    def _take(self, index: int, name: str, array: Array) -> None:
        self._at.append(index)
        self.bound.arrays.append((name, array))

    def _same(self, where: str, array: Array) -> Optional[int]:
        """The argument that is the same memory."""
        found = _same(where, array, [other for _, other in self.bound.arrays])
        return None if found is None else self._at[found]


def _is_table(value: Any) -> bool:
    """Whether it is arrays whose addresses the kernel reads from memory."""
    arrays = isinstance(value, (list, tuple)) and all(isinstance(v, np.ndarray) for v in value)
    return arrays and len(value) > 0


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
        count = len(args) + len(named)
        what = f"{count} argument{'' if count == 1 else 's'} for {entry}"
        raise ArgumentError(what, f"expected {len(names)}: {listed}")
    return [*args, *(named[name] for name in rest)]


def _check_pointer(where: str, parameter: Parameter, array: Array) -> None:
    if parameter.bytes != 8 or parameter.is_struct or parameter.is_float:
        raise ArgumentError(f"{where}: an array", f"expected {_expected(parameter)}")
    _check_array(where, array)
    _check_elements(where, parameter, array)


def _check_elements(where: str, parameter: Parameter, array: Array) -> None:
    """Refuses elements that are not those of the pointer. A sign may differ; of a complex
    number the parts count. A structured dtype may be whatever the kernel makes of it."""
    kind = array.dtype
    if parameter.pointed is None or kind.names is not None:
        return
    text, ty = parameter.pointed
    size = int(ty.lstrip("busf")) // 8
    own = kind.itemsize // 2 if kind.kind == "c" else kind.itemsize
    floats = ty.startswith("f")
    if ty == "bf16":
        # NumPy has none: another library's, or the bits.
        wanted, same = "uint16", own == 2 and kind != np.float16
    elif floats:
        wanted, same = f"float{8 * size}", own == size and kind.kind in "fc"
    else:
        wanted = f"{'u' if ty[0] == 'u' else ''}int{8 * size}"
        same = own == size and kind.kind in "iub"
    if not same:
        what = f"{where}: an array of {kind} for {text}"
        how = ".view" if ty == "bf16" else ".astype"
        raise ArgumentError(what, f"expected {wanted}: array{how}(np.{wanted})")


def _check_array(where: str, array: Array) -> None:
    if isinstance(array, np.ma.MaskedArray):
        raise ArgumentError(
            f"{where}: a masked array", "expected one without a mask: array.filled(VALUE)"
        )
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
        raise ArgumentError(f"{where}: an array without elements", "expected at least one element")


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
        tensor_map = "a TensorMap, " if parameter.bytes == _MAP else ""
        scalar = "a scalar of a structured dtype"
        return f"{parameter.bytes} bytes: {tensor_map}bytes, {scalar}, or a Struct"
    if parameter.is_float:
        return f"a number, for {parameter.type}"
    if parameter.bytes == 8:
        return f"an array, a list of arrays, None or an integer of 64 bits, for {parameter.type}"
    return f"an integer of {8 * parameter.bytes} bits, for {parameter.type}"


def _described(value: Any) -> str:
    text = repr(value)
    text = text if len(text) <= 40 else text[:40] + "..."
    return f"{text} ({type(value).__name__})"
