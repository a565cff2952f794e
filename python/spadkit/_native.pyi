"""The library: texts and bytes in, JSON texts and bytes out."""

from typing import Optional, Sequence

__version__: str

# The JSON text, the sentence with which the text begins, warnings, and the error that the
# command ends with.
_Answer = tuple[str, str, list[str], Optional[Exception]]
# Name, kind ("buffer", "value", "same", "addresses", "tensor_map", "struct", "null"), bytes, indices
# of others; of a struct, a byte and the index of what is there, in turn.
_Argument = tuple[str, str, bytes, list[int]]

# Of an image: corners of its pixels, channels, and how many pixels.
_Pixels = tuple[Sequence[int], Sequence[int], int, int]

def tensor_map(
    bytes: int,
    ty: str,
    offset: int,
    extent: Sequence[int],
    strides: Optional[Sequence[int]],
    tile: Sequence[int],
    pixels: Optional[_Pixels],
    element_strides: Optional[Sequence[int]],
    swizzle: int,
    nan: bool,
) -> bytes: ...

def presets() -> list[str]: ...

class Kernel:
    def __new__(
        cls, texts: Sequence[tuple[str, str]], entry: Optional[str] = None
    ) -> Kernel: ...
    @property
    def ptx(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def entry(self) -> str: ...
    @property
    def source_name(self) -> str: ...
    @property
    def required_block(self) -> Optional[Sequence[int]]: ...
    def params(self) -> list[tuple[str, int, str]]: ...
    def pointed_to(self) -> list[Optional[tuple[str, str]]]: ...
    def symbols(self) -> list[tuple[str, int]]: ...
    def machine(self, named: Optional[str]) -> tuple[str, str]: ...
    def check(self) -> None: ...
    def launch(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        dynamic_shared: int,
        limit: int,
        args: Sequence[_Argument],
        symbols: Sequence[tuple[str, bytes]],
        cluster: Optional[Sequence[int]],
        cooperative: bool,
        heap: Optional[int],
    ) -> Launch: ...
    def rewrite(
        self,
        hashes: Sequence[str],
        machine: Optional[str],
        launch: Optional[Launch],
        any_block: bool,
        plain: bool,
    ) -> tuple[_Answer, Optional[str]]: ...

class Launch:
    def run(
        self, races: str, threads: int, warp_order: Optional[int] = None, changed: bool = True
    ) -> tuple[_Answer, list[Optional[bytes]]]: ...
    def conflicts(
        self, machine: Optional[str], specs: Sequence[str], block: int
    ) -> tuple[_Answer, str]: ...
    def tune_software(
        self,
        machine: Optional[str],
        kinds: Sequence[str],
        budget: float,
        block: int,
        machine_code: Optional[bool] = None,
    ) -> _Answer: ...
    def command(
        self, name: str, machine: Optional[str], options: Sequence[str]
    ) -> _Answer: ...
