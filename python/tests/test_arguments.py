"""Wrong arguments and sizes are exceptions before anything runs."""

from typing import Any, Callable

import numpy as np
import pytest

import spadkit
from spadkit import Kernel

Change = Callable[[dict[str, Any]], None]


def call(kernel: Kernel, change: Change) -> None:
    """The right call, changed."""
    given: dict[str, Any] = {
        "out": np.zeros((64, 48), np.float32),
        "a": np.zeros((48, 64), np.float32),
        "width": 64,
        "height": 48,
        "grid": (4, 3),
        "block": (16, 16),
    }
    change(given)
    grid, block = given.pop("grid"), given.pop("block")
    kernel[grid, block](*given.values())


def test_the_call_is_right_unchanged(transpose: Kernel) -> None:
    call(transpose, lambda given: None)


@pytest.mark.parametrize(
    "change, text",
    [
        ({"a": np.zeros((48, 64), object)}, "an array of object"),
        ({"a": np.zeros((48, 64), "U1")}, "an array of <U1"),
        ({"a": np.zeros((48, 64), ">f4")}, "other byte order"),
        ({"a": np.zeros((48, 128), np.float32)[:, ::2]}, "not contiguous"),
        ({"a": np.zeros((48, 64), np.float32, order="F")}, "np.ascontiguousarray"),
        ({"a": np.zeros(0, np.float32)}, "without elements"),
        ({"a": [1.0, 2.0]}, r"\[1.0, 2.0\] \(list\)\n  help: expected an array, a list of arrays, None"),
        ({"width": np.zeros(4)}, "an array\n  help: expected an integer of 32 bits, for u32"),
        ({"width": 64.0}, "64.0 .float.\n  help: expected an integer of 32 bits, for u32"),
        ({"width": 1 << 32}, "4294967296 .int."),
        ({"width": -(1 << 31) - 1}, "-2147483649"),
        ({"width": None}, "None"),
        ({"width": b"abc"}, "b'abc' .bytes."),
    ],
)
def test_arguments_that_do_not_fit(transpose: Kernel, change: dict[str, Any], text: str) -> None:
    with pytest.raises(spadkit.ArgumentError, match=text) as caught:
        call(transpose, lambda given: given.update(change))
    assert isinstance(caught.value, TypeError) and caught.value.help


def test_the_number_of_arguments(transpose: Kernel) -> None:
    configured = transpose[(4, 3), (16, 16)]
    with pytest.raises(spadkit.ArgumentError, match="3 arguments for transpose"):
        configured(None, None, 1)
    with pytest.raises(spadkit.ArgumentError, match="5 arguments for transpose"):
        configured(None, None, 1, 2, 3)
    with pytest.raises(spadkit.ArgumentError, match="depth of transpose is not a parameter"):
        configured(None, None, 1, 2, depth=3)


def test_arrays_that_overlap(transpose: Kernel) -> None:
    memory = np.zeros(4000, np.float32)

    def overlap(given: dict[str, Any]) -> None:
        given.update(out=memory[:3072], a=memory[100:3172])

    with pytest.raises(spadkit.ArgumentError, match="shares a part of its memory"):
        call(transpose, overlap)


def test_a_read_only_array_can_be_read(transpose: Kernel) -> None:
    a = np.arange(3072, dtype=np.float32).reshape(48, 64)
    a.flags.writeable = False
    call(transpose, lambda given: given.update(a=a))
    out = np.full((64, 48), 9, np.float32)
    out.flags.writeable = False
    with pytest.raises(spadkit.ArgumentError, match="writes to .*, and its array is read-only"):
        call(transpose, lambda given: given.update(a=a, out=out))
    assert np.all(out == 9)


@pytest.mark.parametrize(
    "sizes, error, text",
    [
        (((4, 3), (64, 64)), spadkit.InputError, "'block' has 4096 threads"),
        (((0,), (16, 16)), spadkit.InputError, "'grid' is out of range"),
        (((4, 3), (2048,)), spadkit.InputError, "'block' is out of range"),
        (((1, 1, 1, 1), 32), spadkit.InputError, "'grid' has 4 dimensions"),
        ((1.5, 32), spadkit.UsageError, "grid is 1.5"),
        ((-1, 32), spadkit.UsageError, "grid is -1"),
        (7, spadkit.UsageError, r"transpose is launched with \[7\]"),
        ((1, 2, 3), spadkit.UsageError, r"expected kernel\[grid, block\]"),
    ],
)
def test_sizes_that_are_wrong(
    transpose: Kernel, sizes: Any, error: type[Exception], text: str
) -> None:
    arrays = [np.zeros(3072, np.float32), np.zeros(3072, np.float32)]
    with pytest.raises(error, match=text):
        transpose[sizes](*arrays, 64, 48)


def test_symbols_that_do_not_fit(transpose: Kernel) -> None:
    arrays = [np.zeros(3072, np.float32), np.zeros(3072, np.float32)]
    with pytest.raises(spadkit.InputError, match="no variable 'table'"):
        transpose[(4, 3), (16, 16)](*arrays, 64, 48, symbols={"table": np.zeros(4)})
    with pytest.raises(spadkit.ArgumentError, match="symbol table of transpose: 4"):
        transpose[(4, 3), (16, 16)](*arrays, 64, 48, symbols={"table": 4})


def test_elements_are_those_of_the_pointer() -> None:
    """The mangled name says what a pointer points to."""
    ptx = """.version 7.0
.target sm_80
.address_size 64
.visible .entry _Z1kPfPKiP13__nv_bfloat16Pv(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)
{ ret; }
"""
    kernel = Kernel.from_ptx(ptx)

    def run(a: Any = np.float32, b: Any = np.int32, c: Any = np.uint16, d: Any = np.uint8) -> None:
        kernel[1, 1](*(np.zeros(4, kind) for kind in (a, b, c, d)))

    run()
    run(b=np.uint32, d=np.float64)
    run(a=np.complex64)
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"a": np.float64}, "float64 for float", "expected float32: array.astype"),
        ({"a": np.int32}, "int32 for float", "expected float32"),
        ({"b": np.float32}, "float32 for const int", "expected int32"),
        ({"b": np.int64}, "int64 for const int", "expected int32"),
        ({"c": np.float16}, "float16 for __nv_bfloat16", "expected uint16: array.view"),
    ]
    for wrong, text, help in cases:
        with pytest.raises(spadkit.ArgumentError, match=text) as caught:
            run(**wrong)
        assert help in str(caught.value.help)
