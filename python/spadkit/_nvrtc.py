"""NVRTC, NVIDIA's compiler as a library: CUDA C++ to PTX, without a GPU."""

from __future__ import annotations

import ctypes
import ctypes.util
import glob
import os
import sys
from typing import Any, Sequence

from ._errors import ToolError, UsageError

#: Where headers are, seen from the folder of the library: of one package for all, and of one for
#: each part of the toolkit.
_HEADERS = (
    "../include",
    "../include/cccl",
    "../../cuda_runtime/include",
    "../../cuda_cccl/include",
)


def _library() -> tuple[ctypes.CDLL, list[str]]:
    """The library of the Python package, or else the system's, and folders with its headers."""
    patterns = ("nvidia/cuda_nvrtc/lib/libnvrtc.so.*", "nvidia/cu*/lib/libnvrtc.so.*")
    found = [
        path
        for folder in sys.path
        for pattern in patterns
        for path in sorted(glob.glob(os.path.join(folder, pattern)))
    ]
    name = found[0] if found else ctypes.util.find_library("nvrtc")
    if name is None:
        raise ToolError(
            "NVRTC is needed to compile CUDA source and was not found",
            "pip install nvidia-cuda-nvrtc-cu12; or compile with nvcc -ptx and use from_ptx",
        )
    return ctypes.CDLL(name), _headers(name)


def _headers(library: str) -> list[str]:
    """The folders with headers that belong to a library: those beside it, or, where only its name
    is known, of the toolkit that the environment names."""
    folders = [os.path.join(os.path.dirname(library), *h.split("/")) for h in _HEADERS]
    if not os.path.isabs(library):
        root = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or "/usr/local/cuda"
        folders = [os.path.join(root, *part) for part in (["include"], ["include", "cccl"])]
    return [os.path.normpath(folder) for folder in folders if os.path.isdir(folder)]


def compile(source: str, arch: str, options: Sequence[str], path: str) -> str:
    """The PTX of ``source`` for ``arch``, such as ``sm_80``; ``path`` is the file that the PTX
    names.

    Raises
    ------
    ToolError
        NVRTC is missing.
    UsageError
        The source does not compile; ``help`` has the compiler's messages.
    """
    if not isinstance(arch, str):
        raise UsageError(f"arch is {arch!r}", "expected a target, such as 'sm_80'")
    if "\n" not in source and source.endswith((".cu", ".cuh", ".cpp")):
        help = f"expected the source itself, or pathlib.Path({source!r})"
        raise UsageError(f"{source} is a path", help)
    nvrtc, headers = _library()
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), source.encode(), os.fsencode(path), 0, None, None
    )
    try:
        flags = [f"-arch={arch.replace('sm_', 'compute_')}", "-lineinfo", *options]
        flags += [f"-I{folder}" for folder in headers]
        encoded = [flag.encode() for flag in flags]
        array = (ctypes.c_char_p * len(encoded))(*encoded)
        status = nvrtc.nvrtcCompileProgram(program, len(encoded), array)
        if status != 0:
            log = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
            raise UsageError("the CUDA source does not compile", log.strip().replace(path, os.path.basename(path)))
        return _text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _text(size_of: Any, get: Any, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    size_of(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    get(program, text)
    return text.value.decode(errors="replace")
