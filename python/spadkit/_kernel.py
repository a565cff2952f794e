"""Kernels and their launches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, Optional, Sequence, Union

from . import _native
from ._arguments import Bound, Parameter, bind
from ._errors import CheckFailed, KernelFault, UsageError
from ._results import Conflicts, Result, Rewritten, Run, Tuning
from ._sources import PTX, Source, cuda_source, cupy_source, ptx_source, triton_source

Size = Union[int, Sequence[int]]
#: Thread instructions after which a run ends, where no other limit is given.
LIMIT = 10_000_000_000


class Kernel:
    """A kernel in PTX, which runs on the CPU.

    ``kernel[grid, block](a, b, n)`` runs it on NumPy arrays, in place. ``grid``
    counts blocks and ``block`` counts threads: an integer, or up to three as
    ``(x, y, z)``. After a call, :meth:`races`, :meth:`conflicts`,
    :meth:`tune_software` and :meth:`rewrite` are about that launch, with the
    arrays as they were before it.

    Make one with :meth:`from_ptx`, :meth:`from_triton`, :meth:`from_cupy` or
    :meth:`from_cuda`.
    """

    def __init__(self, source: Source) -> None:
        self._native = _native.Kernel([(source.ptx, source.file), *source.linked], source.entry)
        self._source = source
        self._last: Optional[Launch] = None
        names = source.parameters
        self._parameters = []
        declared = self._native.params()
        pointed = self._native.pointed_to()
        known = len(pointed) == len(declared)
        for at, (name, size, kind) in enumerate(declared):
            own = names[at] if at < len(names) else _own_name(name, self._native.entry)
            to = pointed[at] if known else None
            self._parameters.append(Parameter(own, size, source.types.get(own, kind), to))

    @classmethod
    def from_ptx(cls, ptx: Union[PTX, Sequence[PTX]], entry: Optional[str] = None) -> "Kernel":
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
    def from_triton(cls, compiled: Any) -> "Kernel":
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
    def from_cupy(cls, raw: Any, entry: Optional[str] = None, arch: str = "sm_80") -> "Kernel":
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
        cls,
        source: str,
        entry: Optional[str] = None,
        arch: str = "sm_80",
        options: Sequence[str] = (),
    ) -> "Kernel":
        """A kernel of CUDA C++ source, compiled by NVRTC.

        Parameters
        ----------
        source : str
            The text of a ``.cu`` file.
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

    @property
    def ptx(self) -> str:
        """The PTX; several texts follow each other."""
        return self._native.ptx

    @property
    def entry(self) -> str:
        """The entry's name in the PTX."""
        return self._native.entry

    @property
    def name(self) -> str:
        """The entry's name in the source: without C++'s mangling."""
        return self._native.source_name

    @property
    def parameters(self) -> list[Parameter]:
        """The parameters that a call takes, in order."""
        descriptors = self._source.descriptors.values()
        hidden = {*self._source.hidden, *(name for d in descriptors for name in d.names[1:])}
        return [p for p in self._parameters if p.name not in hidden]

    @property
    def symbols(self) -> dict[str, int]:
        """The variables that ``symbols=`` can write: name and size in bytes."""
        return dict(self._native.symbols())

    def check(self) -> None:
        """Raises :class:`InputError` with all instructions that cannot be run."""
        self._native.check()

    def __repr__(self) -> str:
        listed = ", ".join(str(p) for p in self.parameters)
        return f"<spadkit.Kernel {self.name}({listed})>"

    def __getitem__(self, sizes: Any) -> "Configured":
        """``kernel[grid, block]``; ``kernel[grid]`` where the block is known.

        The block is known for Triton's kernels and for PTX with ``.reqntid``.
        ``grid`` may be a function of Triton's constants, as in Triton.

        Raises
        ------
        UsageError
            A size is not an integer, or the block is missing.
        """
        if callable(sizes):
            sizes = sizes(dict(self._source.constants))
        grid, block = self._sizes(sizes)
        return Configured(self, _dimensions(grid, "grid"), _dimensions(block, "block"))

    def _sizes(self, sizes: Any) -> tuple[Size, Size]:
        known = self._source.block
        nested = isinstance(sizes, tuple) and any(isinstance(s, (tuple, list)) for s in sizes)
        if known is not None and not nested:
            return sizes, known
        if isinstance(sizes, tuple) and len(sizes) == 2:
            return sizes[0], sizes[1]
        required = self._native.required_block
        if required is not None and not isinstance(sizes, tuple):
            return sizes, required
        what = f"{self.name} is launched with [{sizes!r}]"
        help = "expected kernel[grid, block], each an integer or up to three"
        if isinstance(sizes, tuple) and len(sizes) > 2:
            help += "; dynamic shared memory is shared=BYTES of the call"
        raise UsageError(what, help)

    def races(self, memory: str = "shared", warp_order: Optional[int] = None) -> Run:
        """Runs the last launch again and looks for races: see :meth:`Launch.races`."""
        return self._launch().races(memory, warp_order)

    def conflicts(
        self,
        machine: Optional[str] = None,
        hash: Union[str, Sequence[str]] = "mod",
        block: int = 0,
    ) -> Conflicts:
        """Bank conflicts of the last launch: see :meth:`Launch.conflicts`."""
        return self._launch().conflicts(machine, hash, block)

    def tune_software(
        self,
        machine: Optional[str] = None,
        kinds: Sequence[str] = (),
        budget: float = 3.0,
        block: int = 0,
        machine_code: Optional[bool] = None,
    ) -> Tuning:
        """Mappings for the last launch: see :meth:`Launch.tune_software`."""
        return self._launch().tune_software(machine, kinds, budget, block, machine_code)

    def rewrite(
        self,
        spec: Union[str, Mapping[str, str]],
        machine: Optional[str] = None,
        any_block: bool = False,
        plain: bool = False,
    ) -> Rewritten:
        """The kernel with a mapping put into its accesses to shared memory.

        If there was a launch, it runs before and after, and instructions,
        conflicts and outputs are compared.

        Parameters
        ----------
        spec : str or mapping
            One mapping for all of shared memory, such as ``"swizzle:3,1,4"``,
            or one for each variable by name: ``{"tile": "xor"}``.
        machine : str, optional
            As in :meth:`conflicts`.
        any_block : bool
            Do not assume the launch's block size.
        plain : bool
            Map each address before each access, without optimisation.

        Returns
        -------
        Rewritten
            Its ``kernel`` is the new kernel, its rows the accesses that stay.

        Raises
        ------
        CheckFailed
            The kernel cannot be rewritten; the message says why.
        UsageError
            A mapping or the machine is unknown.
        """
        launch = self._last._native if self._last is not None else None
        return _rewrite(self, launch, spec, machine, any_block, plain)

    def _launch(self) -> "Launch":
        if self._last is None:
            what = f"{self.name} has not been launched yet"
            raise UsageError(what, "call kernel[grid, block](...) first, or .bind(...), which does not run it")
        return self._last


class Configured:
    """A kernel with its grid and block: call it with the arguments."""

    def __init__(self, kernel: Kernel, grid: list[int], block: list[int]) -> None:
        self.kernel = kernel
        self.grid = grid
        self.block = block

    def __call__(
        self,
        *args: Any,
        shared: Optional[int] = None,
        symbols: Optional[Mapping[str, Any]] = None,
        limit: int = LIMIT,
        cooperative: bool = False,
        cluster: Optional[Size] = None,
        heap: Optional[int] = None,
        **named: Any,
    ) -> Run:
        """Runs the kernel on ``args``; arrays are changed in place.

        Parameters
        ----------
        *args, **named
            One for each of :attr:`Kernel.parameters`, by position or name.
            For a pointer: a C-contiguous array of any shape, a list of arrays
            (a buffer of pointers to them), a :class:`TensorMap`, or ``None``
            (the null pointer). For a number: a Python or NumPy scalar in the
            range of the parameter's type. For a struct: its bytes, or a scalar
            of a structured dtype.
        shared : int, optional
            Bytes of dynamic shared memory; the default is Triton's, or 0.
        symbols : mapping of str to array, optional
            Arrays for ``__constant__`` and ``__device__`` variables, by name.
        limit : int
            Thread instructions after which the run ends with a finding.
        cooperative : bool
            A cooperative launch: all blocks run together, and ``grid.sync()`` waits
            for them.
        cluster : int or sequence of int, optional
            Blocks of a cluster, as ``(x, y, z)``; the default is that of the PTX.
        heap : int, optional
            Bytes for ``malloc`` and ``new`` in device code; the default is 8 MB.

        Returns
        -------
        Run
            Instructions, buffers and warnings.

        Raises
        ------
        ArgumentError
            An argument does not fit its parameter.
        KernelFault
            The kernel faulted; no array is changed.
        InputError
            The grid or the block is out of range.
        """
        launch = self.bind(
            *args,
            shared=shared,
            symbols=symbols,
            limit=limit,
            cooperative=cooperative,
            cluster=cluster,
            heap=heap,
            **named,
        )
        # The arrays are as they were bound: what the run leaves as it is need not be copied.
        return launch._run(0, changed=True)

    def bind(
        self,
        *args: Any,
        shared: Optional[int] = None,
        symbols: Optional[Mapping[str, Any]] = None,
        limit: int = LIMIT,
        cooperative: bool = False,
        cluster: Optional[Size] = None,
        heap: Optional[int] = None,
        **named: Any,
    ) -> "Launch":
        """The launch with these arguments, as they are now, without running it.

        Parameters and errors are those of the call. The arrays are copied.
        """
        kernel = self.kernel
        source = kernel._source
        named = {_own_name(name, kernel.entry): value for name, value in named.items()}
        given, named = source.runtime_arguments(args, named)
        bound = bind(
            kernel.name,
            kernel._parameters,
            given,
            named,
            symbols or {},
            source.hidden_values(self.grid),
            source.descriptors,
        )
        native = kernel._native.launch(
            self.grid,
            self.block,
            _size(source.shared if shared is None else shared, "shared"),
            _size(limit, "limit"),
            bound.native,
            bound.symbols,
            None if cluster is None else _dimensions(cluster, "cluster"),
            bool(cooperative),
            None if heap is None else _size(heap, "heap"),
        )
        # The library has the bytes.
        bound.native, bound.symbols = [], []
        kernel._last = Launch(kernel, native, bound)
        return kernel._last


class Launch:
    """A kernel with its grid, block and arguments, which are kept as they were.

    :meth:`Configured.bind` returns one.
    """

    def __init__(self, kernel: Kernel, native: _native.Launch, bound: Bound) -> None:
        self.kernel = kernel
        self._native = native
        self._bound = bound

    def run(self, threads: int = 0) -> Run:
        """Runs it; arrays are changed in place.

        Parameters
        ----------
        threads : int
            Threads of the host; 0 is one per core.

        Raises
        ------
        KernelFault
            The kernel faulted; no array is changed.
        """
        return self._run(_size(threads, "threads"), changed=False)

    def _run(self, threads: int, changed: bool) -> Run:
        (text, warnings, error), buffers = self._native.run("no", threads, None, changed)
        run = Run(text, warnings)
        if error is not None:
            raise _with_result(_fault(error), run)
        self._bound.write_back(buffers)
        return run

    def races(self, memory: str = "shared", warp_order: Optional[int] = None) -> Run:
        """Runs the kernel and reports races and reads of uninitialised memory.

        Parameters
        ----------
        memory : {"shared", "global"}
            Memory to check; ``"global"`` includes shared memory.
        warp_order : int, optional
            Seed of a random order of the warps; the default is by their number.

        Returns
        -------
        Run
            One row per finding. A fault is a row, too, not an exception.
            No array is changed.

        Raises
        ------
        UsageError
            ``memory`` is neither of the two.
        """
        if memory not in ("shared", "global"):
            raise UsageError(f"memory={memory!r}", "expected 'shared' or 'global'")
        order = None if warp_order is None else _size(warp_order, "warp_order")
        (text, warnings, _), _ = self._native.run(memory, 0, order, True)
        return Run(text, warnings)

    def conflicts(
        self,
        machine: Optional[str] = None,
        hash: Union[str, Sequence[str]] = "mod",
        block: int = 0,
    ) -> Conflicts:
        """Bank conflicts of one block under one mapping, or several.

        Parameters
        ----------
        machine : str, optional
            ``"sm80"``, ``"sm89"``, another preset or the path of a
            configuration file. The default is that of the PTX's target.
        hash : str or sequence of str
            Mappings, such as ``"swizzle:3,1,4"``; ``"mod"`` is the kernel as
            it is.
        block : int
            Linear index of the block, from 0.

        Returns
        -------
        Conflicts
            For each mapping: conflicts, wavefronts (bank accesses of one cycle
            each), the fewest wavefronts possible, and source lines.

        Raises
        ------
        UsageError
            A mapping, the machine or the block does not exist.
        CheckFailed
            The kernel faults, so it has no trace.
        """
        specs = _strings("hash", hash, "a mapping, such as 'xor', or a list of them")
        if not specs:
            raise UsageError("hash=[] names no mapping", "expected at least one; 'mod' is the unmapped kernel")
        (text, warnings, _), pictures = self._native.conflicts(machine, specs, _size(block, "block"))
        return Conflicts(text, warnings, pictures)

    def tune_software(
        self,
        machine: Optional[str] = None,
        kinds: Sequence[str] = (),
        budget: float = 3.0,
        block: int = 0,
        machine_code: Optional[bool] = None,
    ) -> Tuning:
        """Mappings in software: padding, swizzles, XORs, random shifts, ranked.

        Parameters
        ----------
        machine, block
            As in :meth:`conflicts`.
        kinds : str or sequence of str
            Only these, such as ``"swizzle"`` and ``"pad"``; the default is all.
        budget : float
            Seconds for each optimal search.
        machine_code : bool, optional
            ``True``: count the accesses of the machine code, as ``--machine-code``
            does, with ``ptxas`` and ``nvdisasm``. ``False``: those of the PTX. The
            default counts the PTX, and judges changes of the source by the machine
            code where both tools are installed.

        Returns
        -------
        Tuning
            Its rows are the mappings, fewest conflicts first.

        Raises
        ------
        UsageError
            A kind, the machine or the block does not exist, or ``budget`` is
            not a number from 0 to 1e9.
        CheckFailed
            The kernel faults, so it has no trace.
        ToolError
            ``machine_code=True`` without the tools.
        """
        chosen = _strings("kinds", kinds, "kinds of mappings, such as 'swizzle'")
        text, warnings, _ = self._native.tune_software(
            machine, chosen, _seconds(budget, "budget"), _size(block, "block"), machine_code
        )
        return Tuning(text, warnings)

    def rewrite(
        self,
        spec: Union[str, Mapping[str, str]],
        machine: Optional[str] = None,
        any_block: bool = False,
        plain: bool = False,
    ) -> Rewritten:
        """As :meth:`Kernel.rewrite`, compared on this launch."""
        return _rewrite(self.kernel, self._native, spec, machine, any_block, plain)


def _rewrite(
    kernel: Kernel,
    launch: Optional[_native.Launch],
    spec: Union[str, Mapping[str, str]],
    machine: Optional[str],
    any_block: bool,
    plain: bool,
) -> Rewritten:
    if isinstance(spec, Mapping):
        specs = [f"{name}={s}" for name, s in spec.items()]
    elif isinstance(spec, str):
        specs = [spec]
    else:
        expected = "expected a mapping, such as 'xor', or a dict with one for each variable"
        raise UsageError(f"spec is {spec!r}", expected)
    (text, warnings, error), ptx = kernel._native.rewrite(specs, machine, launch, any_block, plain)
    if error is not None or ptx is None:
        error = error or CheckFailed(f"{kernel.name} was not rewritten")
        raise _with_result(error, Result(text, warnings))
    # The rewritten kernel may have an amount of dynamic shared memory of its own.
    answer = Rewritten(text, warnings, kernel)
    needed = answer["dynamic_shared"]
    answer.kernel = Kernel(kernel._source.rewritten(ptx, kernel.entry, needed))
    return answer


def _own_name(parameter: str, entry: str) -> str:
    """``param_0`` of ``_Z1kPfi_param_0``, which the compiler names after its kernel."""
    mangled = entry.startswith("_Z")
    return parameter.removeprefix(f"{entry}_") if mangled else parameter


def _fault(error: Exception) -> Exception:
    if type(error) is CheckFailed:
        return KernelFault(error.what, error.help)
    return error


def _with_result(error: Exception, result: Result) -> Exception:
    setattr(error, "result", result)
    return error


def _dimensions(size: Any, what: str) -> list[int]:
    sizes = list(size) if isinstance(size, (tuple, list)) else [size]
    return [_size(s, what) for s in sizes]


def _strings(what: str, value: Union[str, Sequence[str]], expected: str) -> list[str]:
    """A list of strings; one alone may be given as it is."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Iterable) or not all(isinstance(v, str) for v in value):
        raise UsageError(f"{what} is {value!r}", f"expected {expected}")
    return list(value)


def _seconds(value: Any, what: str) -> float:
    if not isinstance(value, Real) or not 0 <= float(value) <= 1e9:
        raise UsageError(f"{what} is {value!r}", "expected a number of seconds, from 0 to 1e9")
    return float(value)


def _size(value: Any, what: str) -> int:
    try:
        number = value.__index__()
    except AttributeError:
        raise UsageError(f"{what} is {value!r}", "expected an integer") from None
    if not 0 <= number < 1 << 63:
        raise UsageError(f"{what} is {value!r}", "expected an integer that is not negative")
    return int(number)

