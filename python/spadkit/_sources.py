"""Where kernels come from: PTX, Triton, CuPy, CUDA source."""

from __future__ import annotations

import math
import os
import re
import shutil
import tempfile
import weakref
from dataclasses import dataclass, field, replace
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _nvrtc
from ._descriptors import Descriptor, descriptors_of
from ._errors import ArgumentError, FileError, UsageError
from ._values import strings

#: A PTX text, or a path to one.
PTX = Union[str, "os.PathLike[str]"]


class _Folder:
    """A folder that is gone with the object."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="spadkit-")
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@dataclass(frozen=True)
class Source:
    """A PTX text, and what is known of the kernel besides."""

    ptx: str
    file: str
    entry: Optional[str]
    #: Further texts that are linked with it, and their names.
    linked: Sequence[tuple[str, str]] = ()
    #: Threads of a block.
    block: Optional[int] = None
    #: Bytes of dynamic shared memory.
    shared: int = 0
    #: Names of the parameters; the PTX has them numbered. A descriptor's come
    #: with it.
    names: Sequence[str] = ()
    #: Those of ``names`` that stand for several parameters.
    descriptors: Mapping[str, Descriptor] = field(default_factory=dict)
    #: PTX types that are known better than from the declaration.
    types: Mapping[str, str] = field(default_factory=dict)
    #: All arguments of the source, in its order, also those without a parameter.
    signature: Sequence[str] = ()
    #: Values that the compiler put into the code, by the argument's name.
    constants: Mapping[str, Any] = field(default_factory=dict)
    #: Parameters that the caller does not pass, with bytes for each block.
    hidden: Mapping[str, int] = field(default_factory=dict)
    #: The folder of the source that the PTX names, for as long as the kernel lives.
    folder: Optional[_Folder] = None

    def runtime_arguments(
        self, args: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments that are parameters: constants may be given, too."""
        left = {name: value for name, value in named.items() if name not in self.constants}
        fixed = {name: value for name, value in named.items() if name in self.constants}
        runtime = len(self.names) - len(self.hidden)
        positional = list(args)
        if self.constants and len(args) + len(left) > runtime:
            by_place = list(zip(self.signature, args))
            fixed.update((name, value) for name, value in by_place if name in self.constants)
            positional = [value for name, value in by_place if name not in self.constants]
            positional += args[len(by_place) :]
        for name, value in fixed.items():
            if not _is(value, self.constants[name]):
                what = f"{name} is {value!r}, and the kernel is compiled for {self.constants[name]!r}"
                raise ArgumentError(what, "compile it for this value")
        return positional, left

    @property
    def parameters(self) -> list[str]:
        """Names of all parameters of the PTX."""
        known = self.descriptors
        return [part for n in self.names for part in (known[n].names if n in known else [n])]

    def hidden_values(self, grid: Sequence[int]) -> dict[str, Any]:
        """What is passed for the hidden parameters."""
        blocks = math.prod(grid)
        return {
            name: np.zeros(size * blocks, np.uint8) if size else None
            for name, size in self.hidden.items()
        }

    def rewritten(self, ptx: str, entry: str, shared: Optional[int]) -> "Source":
        """The same kernel in another text."""
        new = self.shared if shared is None else shared
        file = f"{self.file} (rewritten)"
        return replace(self, ptx=ptx, file=file, entry=entry, shared=new, linked=())


def _is(given: Any, value: Any) -> bool:
    return given is value if value is None else bool(given == value)


# Triton's names of floating-point types, as PTX has them.
_FLOATS = {"fp16": "f16", "fp32": "f32", "fp64": "f64"}


def triton_source(compiled: Any) -> Source:
    """The kernel of a ``triton.compiler.CompiledKernel``."""
    asm = getattr(compiled, "asm", None)
    if asm is None or "ptx" not in asm:
        raise UsageError(
            f"{type(compiled).__name__} has no PTX in .asm",
            "expected what triton.compile(...) or kernel.warmup(...) returns, for a CUDA target",
        )
    ptx, metadata = asm["ptx"], compiled.metadata
    name = str(getattr(metadata, "name", None) or compiled.name)
    types, constants, signature = _triton_arguments(compiled.src)
    # Newer versions of Triton pass memory for the kernel's own use.
    scratch = {
        which: int(getattr(metadata, f"{which}_size") or 0)
        for which in ("global_scratch", "profile_scratch")
        if hasattr(metadata, f"{which}_size")
    }
    ptx = ptx.decode() if isinstance(ptx, bytes) else ptx
    names = [*types, *scratch]
    return Source(
        ptx,
        f"<triton {name}>",
        name,
        block=32 * int(metadata.num_warps),
        shared=int(metadata.shared),
        names=names,
        descriptors=descriptors_of(name, types, metadata, _parameters(ptx, name) - len(names)),
        types={n: _FLOATS[kind] for n, kind in types.items() if kind in _FLOATS},
        signature=signature,
        constants=constants,
        hidden=scratch,
    )


def _parameters(ptx: str, name: str) -> int:
    """How many parameters an entry has."""
    head = re.search(rf"\.entry\s+{re.escape(name)}\s*\(([^)]*)\)", ptx)
    return head.group(1).count(".param") if head else 0


def _triton_arguments(source: Any) -> tuple[dict[str, str], dict[str, Any], list[str]]:
    """Triton's types of the arguments that are parameters, the constants, and
    the names of all, of a ``triton.compiler.ASTSource``."""
    given = getattr(source, "signature", None)
    if given is None:
        return {}, {}, []
    signature = list(getattr(getattr(source, "fn", None), "arg_names", given))

    def name(key: Any) -> str:
        # By name, by position, or by position with the way into a tuple.
        place = key[0] if isinstance(key, tuple) else key
        return signature[place] if isinstance(place, int) else str(place)

    found = getattr(source, "constants", None) or {}
    constants = {name(key): value for key, value in found.items()}
    kinds = {name(key): str(kind) for key, kind in given.items()}
    runtime = [n for n in signature if n in kinds and kinds[n] != "constexpr"]
    return {n: kinds[n] for n in runtime if n not in constants}, constants, signature


def ptx_source(given: Sequence[PTX], entry: Optional[str]) -> Source:
    """The kernel of a PTX text, or of several that are linked, or files of them."""
    if not given or not all(isinstance(one, (str, os.PathLike)) for one in given):
        raise UsageError(f"ptx is {given!r}"[:80], "expected a PTX text or a path, or a list of them")
    unnamed = ["<ptx>" if len(given) == 1 else f"<ptx {at}>" for at in range(len(given))]
    (ptx, file), *linked = map(_ptx_text, given, unnamed)
    return Source(ptx, file, entry, linked=linked)


def _ptx_text(ptx: PTX, unnamed: str) -> tuple[str, str]:
    """A text and its name."""
    if isinstance(ptx, str) and ("\n" in ptx or ".version" in ptx):
        return ptx, unnamed
    path = os.fspath(ptx)
    return _text_of(path, "expected a PTX text, or a path to one"), path


def _text_of(path: str, expected: str) -> str:
    """What is in a file."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}", expected) from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is not a text", f"{expected}, in UTF-8") from None


def cupy_source(raw: Any, entry: Optional[str], arch: str) -> Source:
    """The kernel of a ``cupy.RawKernel`` or ``cupy.RawModule``."""
    entry = entry or getattr(raw, "name", None)
    path = getattr(raw, "file_path", None)
    text = getattr(raw, "ptx", None) or getattr(raw, "code", None)
    if text is None and path is not None:
        if not str(path).endswith(".ptx"):
            raise UsageError(f"{path} is not PTX", "expected path= of a .ptx file, or code=")
        with open(path, encoding="utf-8") as file:
            return Source(file.read(), str(path), entry)
    if text is None:
        raise UsageError(
            f"{type(raw).__name__} has neither PTX nor code",
            "expected a cupy.RawKernel or a cupy.RawModule",
        )
    text = text.decode() if isinstance(text, bytes) else str(text)
    if ".version" in text and ".target" in text:
        return Source(text, "<cupy>", entry)
    return cuda_source(text, entry, arch, tuple(getattr(raw, "options", ()) or ()))


def cuda_source(
    source: Union[str, "os.PathLike[str]"],
    entry: Optional[str],
    arch: str,
    options: Union[str, Sequence[str]],
) -> Source:
    """The kernel of CUDA C++ source, compiled by NVRTC; a path is that of a ``.cu`` file."""
    options = strings("options", options, "a list of NVRTC's options, such as ['-DN=4']")
    if isinstance(source, os.PathLike):
        path = os.path.abspath(source)
        text = _text_of(path, "expected CUDA source, or the path of a .cu file")
        return Source(_nvrtc.compile(text, arch, options, path), path, entry)
    folder = _Folder()
    path = os.path.join(folder.path, "source.cu")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    ptx = _nvrtc.compile(source, arch, options, path)
    return Source(ptx, "<cuda>", entry, folder=folder)

