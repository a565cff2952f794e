"""Run, check and tune CUDA and Triton kernels in PTX, without a GPU.

    kernel = spadkit.Kernel.from_ptx("saxpy.ptx")
    kernel[16, 256](n, a, x, y)          # NumPy arrays, in place
    kernel.races()                       # races and other faults
    kernel.conflicts(machine="sm80")     # bank conflicts by source line; the machine is kept
    kernel.tune_software()               # swizzles and padding, ranked
    kernel.sim(hash="xor")               # cycles on the model of an SM
    kernel.share()                       # blocks that share their scratchpad
    kernel.gate("conflicts > 0").failed  # limits, for tests
    kernel.rewrite("xor").kernel         # the kernel under a mapping
"""

from ._arguments import Parameter
from ._errors import (
    ArgumentError,
    CheckFailed,
    Defect,
    Error,
    FileError,
    InputError,
    KernelFault,
    ToolError,
    UsageError,
)
from ._kernel import Kernel
from ._launch import Configured, Launch
from ._machines import Machine, presets
from ._native import __version__
from ._results import Conflicts, Gated, Result, Rewritten, Run, Shared, Simulated, Tuning
from ._struct import Struct
from ._tensor_map import TensorMap

__all__ = [
    "ArgumentError",
    "CheckFailed",
    "Configured",
    "Conflicts",
    "Defect",
    "Error",
    "FileError",
    "Gated",
    "InputError",
    "Kernel",
    "KernelFault",
    "Launch",
    "Machine",
    "Parameter",
    "Result",
    "Rewritten",
    "Run",
    "Shared",
    "Simulated",
    "Struct",
    "TensorMap",
    "ToolError",
    "Tuning",
    "UsageError",
    "__version__",
    "presets",
]
