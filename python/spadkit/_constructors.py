"""What kernels are made from: PTX, Triton, CuPy, CUDA C++."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Optional, Sequence, TypeVar, Union

from ._sources import PTX, Source, cuda_source, cupy_source, ptx_source, triton_source

K = TypeVar("K", bound="Constructors")


class Constructors:
    """The class methods that make a kernel of a source."""

    def __init__(self, source: Source) -> None:
        raise NotImplementedError

    @classmethod
    def from_ptx(cls: type[K], ptx: Union[PTX, Sequence[PTX]], entry: Optional[str] = None) -> K:
        """A kernel of a PTX text, or of a file that has one.

        Parameters
        ----------
        ptx : str, path or sequence of them
            PTX, or the path of a file. Several are linked, as by
            ``ptx = ["a.ptx", "b.ptx"]`` in a launch file.
        entry : str, optional
            The kernel's name, plain or mangled. Needed if there are several.

        Raises
        ------
        InputError
            The PTX is wrong; ``path``, ``line`` and ``column`` say where.
        FileError
            A file cannot be read.
        UsageError
            There is no such entry, or several and none is named.
        """
        several = isinstance(ptx, Iterable) and not isinstance(ptx, (str, bytes))
        texts: Any = ptx if several else [ptx]
        return cls(ptx_source(list(texts), entry))

    @classmethod
    def from_triton(cls: type[K], compiled: Any) -> K:
        """A kernel that Triton has compiled.

        The block and the shared memory are known: call ``kernel[grid](...)``
        with the arguments that are not ``tl.constexpr``.

        Parameters
        ----------
        compiled : triton.compiler.CompiledKernel
            What ``triton.compile(...)`` or ``kernel.warmup(...)`` returns, for a
            CUDA target. No GPU is needed.

        Raises
        ------
        UsageError
            ``compiled`` has no PTX.
        """
        return cls(triton_source(compiled))

    @classmethod
    def from_cupy(cls: type[K], raw: Any, entry: Optional[str] = None, arch: str = "sm_80") -> K:
        """A kernel of a ``cupy.RawKernel`` or ``cupy.RawModule``.

        Parameters
        ----------
        raw : cupy.RawKernel or cupy.RawModule
            CUDA source in it is compiled by NVRTC, with its ``options``.
        entry : str, optional
            The kernel's name; of a ``RawKernel``, its own.
        arch : str
            The target, such as ``"sm_80"``.

        Raises
        ------
        ToolError
            NVRTC is missing: ``pip install nvidia-cuda-nvrtc-cu12``.
        UsageError
            ``raw`` has neither PTX nor source, or the source does not compile.
        """
        return cls(cupy_source(raw, entry, arch))

    @classmethod
    def from_cuda(
        cls: type[K],
        source: Union[str, "os.PathLike[str]"],
        entry: Optional[str] = None,
        arch: str = "sm_80",
        options: Union[str, Sequence[str]] = (),
    ) -> K:
        """A kernel of CUDA C++ source, compiled by NVRTC.

        Parameters
        ----------
        source : str or path
            The text of a ``.cu`` file, or a ``pathlib.Path`` to one.
        entry : str, optional
            The kernel's name, plain or mangled. Needed if there are several.
        arch : str
            The target, such as ``"sm_80"``.
        options : sequence of str
            Further options of NVRTC, such as ``"-DN=4"``. With ``"-G"``
            nothing is optimised: :meth:`races` then finds races that the
            optimiser would hide.

        Raises
        ------
        ToolError
            NVRTC is missing: ``pip install nvidia-cuda-nvrtc-cu12``.
        UsageError
            The source does not compile; ``help`` has the compiler's messages.
        """
        return cls(cuda_source(source, entry, arch, options))
