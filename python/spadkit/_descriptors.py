"""Tensor descriptors that the host makes for a kernel in Triton."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

import numpy as np
import numpy.typing as npt

from ._errors import ArgumentError, UsageError
from ._tensor_map import SWIZZLES, TensorMap, memory_of

Array = npt.NDArray[Any]
#: Triton's numbers of element types, which are those of ``tensormap.replace``.
_ELEMENTS = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", None, "f64", "bf16")


@dataclass(frozen=True)
class Descriptor:
    """An argument that Triton passes as several parameters.

    Where the GPU has tensor maps, these are a map, its shape and its strides;
    elsewhere a pointer, shape, strides, flags, and shape and strides again.
    """

    name: str
    rank: int
    #: What the kernel is compiled for, of the map; none where it takes none.
    compiled: Optional[Mapping[str, Any]]
    #: How many flags there are: whether elements outside are NaN, and whether
    #: numbers are rounded to tf32.
    flags: int = 0

    @property
    def names(self) -> list[str]:
        """Names of its parameters."""
        sizes = self._indexed("shape") + self._indexed("strides")
        if self.compiled is not None:
            return [self.name, *sizes]
        flags = [f"{self.name}.{flag}" for flag in ("padding", "round")[: self.flags]]
        again = [f"{name}'" for name in sizes]
        return [self.name, *sizes, *flags, *again]

    def _indexed(self, what: str) -> list[str]:
        return [f"{self.name}.{what}[{at}]" for at in range(self.rank)]

    def values(self, where: str, value: Any) -> list[Any]:
        """What is passed for its parameters."""
        tensor = _Tensor.of(where, value)
        if len(tensor.shape) != self.rank or len(tensor.strides) != self.rank:
            what = f"{where}: a tensor of {len(tensor.shape)} dimensions"
            raise ArgumentError(what, f"expected {self.rank}")
        sizes = [*tensor.shape, *tensor.strides]
        if self.compiled is not None:
            return [self._map(where, value, tensor, self.compiled), *sizes]
        flags = [tensor.fill == "nan", tensor.rounded][: self.flags]
        return [tensor.memory.reshape(-1), *sizes, *flags, *sizes]

    def _map(
        self, where: str, value: Any, tensor: "_Tensor", compiled: Mapping[str, Any]
    ) -> TensorMap:
        box = tuple(compiled["block_size"])
        swizzle = SWIZZLES[compiled["swizzle"]]
        if isinstance(value, TensorMap):
            if (value.box, value.swizzle) != (box, swizzle):
                what = f"{where}: box={value.box}, swizzle={value.swizzle!r}"
                help = f"expected box={box}, swizzle={swizzle!r}, which the kernel is compiled for"
                raise ArgumentError(what, help)
            return value
        number = compiled["elem_type"]
        kind = _ELEMENTS[number] if number < len(_ELEMENTS) else None
        if kind is None:
            what = f"{where}: a tensor map with element type {number} of tensormap.replace"
            raise ArgumentError(what, "expected integers of 1 to 8 bytes, f16, bf16, f32 or f64")
        if tensor.rounded:
            what = f"{where}: a tensor map that rounds to tf32 is not supported"
            raise ArgumentError(what, "expected round_f32_to_tf32=False")
        size = compiled["elem_size"]
        if tensor.memory.itemsize != size:
            what = f"{where}: elements of {tensor.memory.dtype}"
            raise ArgumentError(what, f"expected {kind}, which the kernel is compiled for")
        try:
            return TensorMap(
                tensor.memory,
                box,
                type=kind,
                extent=tensor.shape,
                strides=[size * stride for stride in tensor.strides],
                swizzle=swizzle,
                fill=tensor.fill,
            )
        except ArgumentError as error:
            raise ArgumentError(f"{where}: {error.what}", error.help) from None


@dataclass(frozen=True)
class _Tensor:
    """What the descriptors of Triton and others have in common."""

    memory: Array
    shape: Sequence[int]
    #: Elements.
    strides: Sequence[int]
    fill: str = "zeros"
    rounded: bool = False

    @classmethod
    def of(cls, where: str, value: Any) -> "_Tensor":
        if isinstance(value, TensorMap):
            size = value.strides[-1]
            return cls(value.memory, value.extent, [s // size for s in value.strides], value.fill)
        if isinstance(value, np.ndarray):
            strides = [stride // value.itemsize for stride in value.strides]
            return cls(memory_of(value), value.shape, strides)
        if not all(hasattr(value, name) for name in ("base", "shape", "strides", "block_shape")):
            help = "expected a TensorDescriptor, a spadkit.TensorMap or an array"
            raise ArgumentError(f"{where}: {type(value).__name__}", help)
        return cls(
            memory_of(_array(where, value.base)),
            [int(n) for n in value.shape],
            [int(n) for n in value.strides],
            "nan" if getattr(value, "padding", "zero") == "nan" else "zeros",
            bool(getattr(value, "round_f32_to_tf32", False)),
        )


def _array(where: str, base: Any) -> Array:
    """The memory of a tensor as NumPy sees it."""
    if isinstance(base, np.ndarray):
        return base
    try:
        tensor = base.detach()
        # NumPy has no bfloat16; the kernel knows what the bits are.
        if str(tensor.dtype).endswith("bfloat16"):
            tensor = tensor.view(sys.modules["torch"].int16)
        array = tensor.numpy()
    except (AttributeError, TypeError, RuntimeError) as error:
        help = "expected a NumPy array, or a tensor of PyTorch on the CPU"
        raise ArgumentError(f"{where}: {type(base).__name__}: {error}", help) from None
    return np.asarray(array)


def descriptors_of(
    name: str, types: Mapping[str, str], metadata: Any, left: int
) -> dict[str, Descriptor]:
    """The descriptors among Triton's types of arguments.

    ``left``: how many parameters the PTX has beyond one for each argument.
    """
    found = {n: _rank(name, n, kind) for n, kind in types.items() if kind.startswith("tensordesc")}
    if not found:
        return {}
    compiled = list(getattr(metadata, "tensordesc_meta", None) or [])
    if compiled:
        if len(compiled) != len(found):
            what = f"{name} has {len(found)} tensor descriptors, and metadata of {len(compiled)}"
            raise UsageError(what, "expected arguments that are no tuples of descriptors")
        for argument, meta in zip(found, compiled):
            _refuse_others(f"argument {argument} of {name}", meta)
        pairs = zip(found.items(), compiled)
        return {n: Descriptor(n, rank, meta) for (n, rank), meta in pairs}
    # Versions of Triton differ in the flags.
    flags, rest = divmod(left - sum(4 * rank for rank in found.values()), len(found))
    if rest or not 0 <= flags <= 2:
        what = f"{name} has parameters that are none of its tensor descriptors"
        raise UsageError(what, "expected PTX of Triton 3.4 or later")
    return {n: Descriptor(n, rank, None, flags) for n, rank in found.items()}


def _rank(kernel: str, argument: str, kind: str) -> int:
    """The dimensions of ``tensordesc<fp16[64,32]>``, as Triton's driver reads it."""
    block = re.match(r"tensordesc(?:_im2col)?<[^[>]*\[([^\]]*)\]", kind)
    if block is None:
        what = f"argument {argument} of {kernel} is {kind}"
        raise UsageError(what, "expected tensordesc<TYPE[BLOCK]>")
    rank = re.search(r",input_rank=(\d+)", kind)
    return int(rank.group(1)) if rank else block.group(1).count(",") + 1


def _refuse_others(where: str, meta: Mapping[str, Any]) -> None:
    for key, what in (("is_im2col", "im2col mode"), ("fp4_padded", "padded 4-bit elements")):
        if meta.get(key):
            raise UsageError(
                f"{where} is a tensor descriptor with {what}", "expected a tiled one of whole bytes"
            )
