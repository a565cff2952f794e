"""Kernels, which launches are made of."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Optional, Sequence, TypeVar, Union

from . import _native
from ._arguments import Parameter
from ._constructors import Constructors
from ._errors import UsageError
from ._launch import Configured, Launch, rewrite
from ._machines import Machine
from ._results import Conflicts, Gated, Rewritten, Run, Shared, Simulated, Tuning
from ._sources import Source
from ._values import MachineName, Size, dimensions, machine_name, own_name

K = TypeVar("K", bound="Kernel")


class Kernel(Constructors):
    """A kernel in PTX, which runs on the CPU.

    ``kernel[grid, block](a, b, n)`` runs it on NumPy arrays, in place. ``grid``
    counts blocks and ``block`` counts threads: an integer, or up to three as
    ``(x, y, z)``. After a call, :meth:`races`, :meth:`conflicts`,
    :meth:`tune_software`, :meth:`sim`, :meth:`share`, :meth:`gate` and
    :meth:`rewrite` are about that launch, with the arrays as they were before it.

    They are about one machine, :attr:`machine`. A kernel keeps the last machine that was
    named by ``machine=``, for all later calls of it and of its launches. :meth:`with_machine`
    names one for a kernel of its own.

    Make one with :meth:`from_ptx`, :meth:`from_triton`, :meth:`from_cupy` or
    :meth:`from_cuda`.
    """

    def __init__(self, source: Source) -> None:
        self._native = _native.Kernel([(source.ptx, source.file), *source.linked], source.entry)
        self._source = source
        self._last: Optional[Launch] = None
        # The machine that was named last, as it was named, and what results say of it.
        self._named: Optional[str] = None
        names = source.parameters
        self._parameters = []
        declared = self._native.params()
        pointed = self._native.pointed_to()
        known = len(pointed) == len(declared)
        for at, (name, size, kind) in enumerate(declared):
            own = names[at] if at < len(names) else own_name(name, self._native.entry)
            to = pointed[at] if known else None
            self._parameters.append(Parameter(own, size, source.types.get(own, kind), to))

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

    @property
    def machine(self) -> Machine:
        """The machine that answers are about where a call names none.

        The one that was named last, else that of the PTX's ``.target`` from sm_70 on, else
        the default of the commands.
        """
        return Machine.of(*self._native.machine(self._named))

    def with_machine(self: K, machine: Optional[MachineName]) -> K:
        """The same kernel, with its last launch, about another machine.

        Parameters
        ----------
        machine : str or path, optional
            One of :func:`spadkit.presets` or the path of a configuration file;
            ``None`` is the machine of the PTX's target.

        Returns
        -------
        Kernel
            A new one; this one keeps its machine.

        Raises
        ------
        UsageError
            There is no such machine.
        FileError
            The file cannot be read.
        """
        name = machine_name(machine)
        # Raises what is wrong with it.
        self._native.machine(name)
        other = copy.copy(self)
        other._named = name
        if self._last is not None:
            other._last = Launch(other, self._last._native, self._last._bound)
        return other

    def _asked(self, machine: Optional[MachineName]) -> Optional[str]:
        """The machine that a call is about: its own, else the kept one."""
        own = machine_name(machine)
        return self._named if own is None else own

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
        return Configured(self, dimensions(grid, "grid"), dimensions(block, "block"))

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
        machine: Optional[MachineName] = None,
        hash: Union[str, Sequence[str]] = "mod",
        block: int = 0,
    ) -> Conflicts:
        """Bank conflicts of the last launch: see :meth:`Launch.conflicts`."""
        return self._launch().conflicts(machine, hash, block)

    def tune_software(
        self,
        machine: Optional[MachineName] = None,
        kinds: Sequence[str] = (),
        budget: float = 3.0,
        block: int = 0,
        machine_code: Optional[bool] = None,
    ) -> Tuning:
        """Mappings for the last launch: see :meth:`Launch.tune_software`."""
        return self._launch().tune_software(machine, kinds, budget, block, machine_code)

    def sim(
        self,
        machine: Optional[MachineName] = None,
        hash: Optional[str] = None,
        pipeline: Optional[str] = None,
        scheduler: Optional[str] = None,
        sharing: Optional[float] = None,
        lines: bool = False,
    ) -> Simulated:
        """Cycles of the last launch: see :meth:`Launch.sim`."""
        return self._launch().sim(machine, hash, pipeline, scheduler, sharing, lines)

    def share(
        self,
        machine: Optional[MachineName] = None,
        sharing: Optional[float] = None,
        scheduler: Optional[str] = None,
        layout: Optional[str] = None,
        placement: Optional[str] = None,
        simulate: bool = True,
    ) -> Shared:
        """Scratchpad sharing for the last launch: see :meth:`Launch.share`."""
        return self._launch().share(machine, sharing, scheduler, layout, placement, simulate)

    def gate(
        self,
        fail_on: Union[str, Sequence[str]] = (),
        machine: Optional[MachineName] = None,
        hash: Optional[str] = None,
        budget: int = 1,
        machine_code: Optional[bool] = None,
    ) -> Gated:
        """Limits on the last launch: see :meth:`Launch.gate`."""
        return self._launch().gate(fail_on, machine, hash, budget, machine_code)

    def rewrite(
        self,
        spec: Union[str, Mapping[str, str]],
        machine: Optional[MachineName] = None,
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
        return rewrite(self, launch, spec, machine, any_block, plain)

    def _launch(self) -> "Launch":
        if self._last is None:
            what = f"{self.name} has not been launched yet"
            raise UsageError(what, "call kernel[grid, block](...) first, or .bind(...), which does not run it")
        return self._last
