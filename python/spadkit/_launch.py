"""Launches of a kernel: what they are called with, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

from . import _native
from ._arguments import Bound, bind
from ._errors import CheckFailed, KernelFault, UsageError
from ._machines import Machine
from ._results import (
    About,
    Accesses,
    Conflicts,
    Gated,
    Result,
    Rewritten,
    Run,
    Shared,
    Simulated,
    Tuning,
    in_python,
)
from ._values import MachineName, Size, dimensions, options, own_name, seconds, size, strings

if TYPE_CHECKING:
    from ._kernel import Kernel

#: Thread instructions after which a run ends, where no other limit is given.
LIMIT = 10_000_000_000


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
            range of the parameter's type. For a struct: its bytes, a scalar of a
            structured dtype, or a :class:`Struct` with arrays and maps in it.
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
        named = {own_name(name, kernel.entry): value for name, value in named.items()}
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
            size(source.shared if shared is None else shared, "shared"),
            size(limit, "limit"),
            bound.native,
            bound.symbols,
            None if cluster is None else dimensions(cluster, "cluster"),
            bool(cooperative),
            None if heap is None else size(heap, "heap"),
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

    @property
    def machine(self) -> Machine:
        """The machine that answers are about: that of the kernel, see :attr:`Kernel.machine`."""
        return self.kernel.machine

    def _about(self, asked: Optional[str], sentence: str) -> About:
        """What an answer is about. The machine that it asked for is kept."""
        self.kernel._named = asked
        return About(self.kernel.name, sentence)

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
        return self._run(size(threads, "threads"), changed=False)

    def _run(self, threads: int, changed: bool) -> Run:
        (text, sentence, warnings, error), buffers = self._native.run("no", threads, None, changed)
        run = Run(text, warnings, About(self.kernel.name, sentence))
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
        order = None if warp_order is None else size(warp_order, "warp_order")
        (text, sentence, warnings, _), _ = self._native.run(memory, 0, order, True)
        return Run(text, warnings, About(self.kernel.name, sentence))

    def conflicts(
        self,
        machine: Optional[MachineName] = None,
        hash: Union[str, Sequence[str]] = "mod",
        block: int = 0,
    ) -> Conflicts:
        """Bank conflicts of one block under one mapping, or several.

        Parameters
        ----------
        machine : str, optional
            One of :func:`spadkit.presets` or the path of a configuration
            file. It is kept: the default is the machine that was named last, else
            that of the PTX's target (:attr:`Kernel.machine`).
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
        specs = strings("hash", hash, "a mapping, such as 'xor', or a list of them")
        if not specs:
            raise UsageError("hash=[] names no mapping", "expected at least one; 'mod' is the unmapped kernel")
        asked = self.kernel._asked(machine)
        (text, sentence, warnings, _), pictures = self._native.conflicts(asked, specs, size(block, "block"))
        return Conflicts(text, warnings, self._about(asked, sentence), pictures)

    def tune_software(
        self,
        machine: Optional[MachineName] = None,
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
        chosen = strings("kinds", kinds, "kinds of mappings, such as 'swizzle'")
        asked, linear = self.kernel._asked(machine), size(block, "block")
        text, sentence, warnings, _ = self._native.tune_software(
            asked, chosen, seconds(budget, "budget"), linear, machine_code
        )
        return Tuning(text, warnings, self._about(asked, sentence), Accesses(self, asked, linear))

    def sim(
        self,
        machine: Optional[MachineName] = None,
        hash: Optional[str] = None,
        pipeline: Optional[str] = None,
        scheduler: Optional[str] = None,
        sharing: Optional[float] = None,
        lines: bool = False,
    ) -> Simulated:
        """Runs the kernel on the golden model of a whole SM, as ``spadkit sim`` does.

        Parameters
        ----------
        machine : str, optional
            As in :meth:`conflicts`.
        hash : str, optional
            Mapping of the banks in hardware, such as ``"xor"``.
        pipeline, scheduler : str, optional
            Those of the command line, such as ``"elastic"`` and ``"gto"``; the
            default is the machine's.
        sharing : float, optional
            Two blocks share their scratchpad except for this private part, 0 to 1.
        lines : bool
            Attribute issue slots to source lines.

        Returns
        -------
        Simulated
            ``cycles``, and what they go to.

        Raises
        ------
        UsageError
            A value or the machine is unknown, or the SM cannot run the kernel.
        CheckFailed
            The kernel faults.
        """
        given = {"hash": hash, "pipeline": pipeline, "scheduler": scheduler, "sharing": sharing}
        flags = ["--source"] if lines else []
        asked = self.kernel._asked(machine)
        text, sentence, warnings, _ = self._native.command("sim", asked, options(given) + flags)
        return Simulated(text, warnings, self._about(asked, sentence))

    def share(
        self,
        machine: Optional[MachineName] = None,
        sharing: Optional[float] = None,
        scheduler: Optional[str] = None,
        layout: Optional[str] = None,
        placement: Optional[str] = None,
        simulate: bool = True,
    ) -> Shared:
        """Plans scratchpad sharing for the kernel, as ``spadkit share`` does.

        Parameters
        ----------
        machine : str, optional
            As in :meth:`conflicts`.
        sharing : float, optional
            Private part of a block's scratchpad, 0 to 1; the default is the machine's.
        scheduler, layout, placement : str, optional
            Those of the command line, such as ``"gto"`` and ``"optimal"``.
        simulate : bool
            Run the kernel on the SM without sharing and with each step of it.

        Returns
        -------
        Shared
            Resident blocks, layout, placements, and with ``simulate`` the gain.

        Raises
        ------
        UsageError
            A value or the machine is unknown, or the kernel cannot be shared.
        """
        given = {
            "sharing": sharing,
            "scheduler": scheduler,
            "layout": layout,
            "placement": placement,
        }
        flags = [] if simulate else ["--no-sim"]
        asked = self.kernel._asked(machine)
        text, sentence, warnings, _ = self._native.command("share", asked, options(given) + flags)
        return Shared(text, warnings, self._about(asked, sentence))

    def gate(
        self,
        fail_on: Union[str, Sequence[str]] = (),
        machine: Optional[MachineName] = None,
        hash: Optional[str] = None,
        budget: int = 1,
        machine_code: Optional[bool] = None,
    ) -> Gated:
        """Checks the kernel against limits, as ``spadkit gate`` does.

        Parameters
        ----------
        fail_on : str or sequence of str
            Limits, such as ``"conflicts > 0"``; the default is those of
            ``spadkit-gate.toml`` beside the PTX, else ``conflicts > 0`` and
            ``findings > 0``.
        machine : str, optional
            As in :meth:`conflicts`.
        hash : str, optional
            Count conflicts under this mapping.
        budget : int
            Seconds of the search for what removes the conflicts; 0: no search.
        machine_code : bool, optional
            As in :meth:`tune_software`.

        Returns
        -------
        Gated
            ``failed``, and a row for each limit. A limit that is exceeded is no
            exception.

        Raises
        ------
        UsageError
            A limit, a mapping or the machine is unknown.
        ToolError
            ``machine_code=True`` without the tools.
        """
        limits = strings("fail_on", fail_on, "limits, such as 'conflicts > 0'")
        by = {None: [], True: ["--machine-code"], False: ["--no-machine-code"]}[machine_code]
        given = {"fail-on": limits, "hash": hash, "budget": size(budget, "budget")}
        asked = self.kernel._asked(machine)
        text, sentence, warnings, _ = self._native.command("gate", asked, options(given) + by)
        return Gated(text, warnings, self._about(asked, sentence))

    def rewrite(
        self,
        spec: Union[str, Mapping[str, str]],
        machine: Optional[MachineName] = None,
        any_block: bool = False,
        plain: bool = False,
    ) -> Rewritten:
        """As :meth:`Kernel.rewrite`, compared on this launch."""
        return rewrite(self.kernel, self._native, spec, machine, any_block, plain)


def rewrite(
    kernel: Kernel,
    launch: Optional[_native.Launch],
    spec: Union[str, Mapping[str, str]],
    machine: Optional[MachineName],
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
    asked = kernel._asked(machine)
    (text, sentence, warnings, error), ptx = kernel._native.rewrite(specs, asked, launch, any_block, plain)
    kernel._named = asked
    about = About(kernel.name, sentence)
    if error is not None or ptx is None:
        error = error or CheckFailed(f"{kernel.name} was not rewritten")
        raise _with_result(error, Result(text, warnings, about))
    # The rewritten kernel may have an amount of dynamic shared memory of its own.
    answer = Rewritten(text, warnings, about, kernel)
    needed = answer["dynamic_shared"]
    answer.kernel = type(kernel)(kernel._source.rewritten(ptx, kernel.entry, needed))
    answer.kernel._named = kernel._named
    return answer


def _fault(error: Exception) -> Exception:
    if type(error) is CheckFailed:
        return KernelFault(in_python(error.what), error.help)
    return error


def _with_result(error: Exception, result: Result) -> Exception:
    setattr(error, "result", result)
    return error
