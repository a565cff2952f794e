"""Tensor maps as arguments, against slices of NumPy's arrays."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from test_triton import compiled

import spadkit
from spadkit import Kernel, TensorMap
from spadkit._descriptors import Descriptor


def test_transposes_through_views_with_gaps(kernels: Path) -> None:
    whole, wide = np.arange(52 * 64, dtype=np.int32).reshape(52, 64), np.full((40, 64), -1, np.int32)
    a, out = whole[:, 12:52], wide[:, :52]
    conflicts = []
    for name, swizzle in (("tma_transpose", "none"), ("tma_transpose_swizzled", 128)):
        wide[:] = -1
        kernel = Kernel.from_ptx(kernels / "tma/tma.ptx", name)
        kernel[(2, 2), (32, 8)](TensorMap(out, (32, 32)), TensorMap(a, (32, 32), swizzle=swizzle))
        assert np.array_equal(out, a.T) and np.all(wide[:, 52:] == -1)
        assert kernel.races()["findings"] == []
        conflicts.append(kernel.conflicts()["results"][0]["conflicts"])
    assert conflicts[1] < conflicts[0] / 4


# Copies the box at coordinates into shared memory, and the words of it out.
COPY = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out, PARAM, .param .s32 x, .param .s32 y) {
    .reg .b64 %out, %map, %a; .reg .b32 %t, %tile, %bar, %x, %y, %w; .reg .pred %p<2>;
    .shared .align 128 .b8 tile[BYTES]; .shared .align 8 .b64 bar;
    ld.param.u64 %out, [out]; ld.param.s32 %x, [x]; ld.param.s32 %y, [y]; GET
    mov.u32 %tile, tile; mov.u32 %bar, bar; mov.u32 %t, %tid.x; setp.ne.u32 %p0, %t, 0; @%p0 bra S;
    mbarrier.init.shared::cta.b64 [%bar], 1; fence.proxy.async;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], BYTES;
    cp.async.bulk.tensor.RANK.mbarrier::complete_tx::bytes [%tile], [%map, {AT}], [%bar]OFFSETS;
    S: bar.sync 0;
    W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%bar], 0; @!%p1 bra W;
    shl.b32 %t, %t, 2; add.u32 %tile, %tile, %t; ld.shared.u32 %w, [%tile];
    cvt.u64.u32 %a, %t; add.u64 %out, %out, %a; st.global.u32 [%out], %w; ret;
}"""
BY_VALUE = (".param .align 64 .b8 map[128]", "mov.b64 %map, map; cvta.param.u64 %map, %map;")
BY_POINTER = (".param .u64 map", "ld.param.u64 %map, [map];")
TILED = {"RANK": "2d.shared::cluster.global", "AT": "%x, %y", "OFFSETS": ""}
IMAGE = {
    "RANK": "3d.shared::cluster.global.im2col", "AT": "0, %x, %y", "OFFSETS": ", {0}",
}  # fmt: skip


def copied(given: TensorMap, out: Any, x: int, y: int, how: Any = BY_VALUE, form: Any = TILED) -> None:
    text = COPY.replace("PARAM", how[0]).replace("GET", how[1]).replace("BYTES", str(out.nbytes))
    for name, value in form.items():
        text = text.replace(name, value)
    Kernel.from_ptx(text)[1, out.nbytes // 4](out, given, x, y)


@pytest.mark.parametrize("how", [BY_VALUE, BY_POINTER])
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int32, np.uint8])
def test_boxes_are_slices(how: Any, kind: type) -> None:
    a: npt.NDArray[Any] = np.arange(640).reshape(20, 32).astype(kind)
    out: npt.NDArray[Any] = np.zeros((4, 16), kind)
    copied(TensorMap(a, (4, 16)), out, 8, 3, how)
    assert np.array_equal(out, a[3:7, 8:24])
    # The tensor within the array: from row 2 on, every second row, 16 columns.
    size = a.itemsize
    part = TensorMap(a, (4, 16), offset=64 * size, extent=(9, 16), strides=[64 * size])
    copied(part, out, 0, 7, how)
    assert np.array_equal(out, np.vstack([a[[16, 18], :16], np.zeros((2, 16), kind)]))


def test_elements_outside_are_zero_or_nan_and_rows_may_be_left_out() -> None:
    a, out = np.arange(320, dtype=np.float32).reshape(10, 32), np.zeros((4, 8), np.float32)
    copied(TensorMap(a, (4, 8), fill="nan"), out, -4, 8)
    assert np.array_equal(out[:2, 4:], a[8:, :4]) and np.isnan(out[2:]).all() and np.isnan(out[:, :4]).all()
    copied(TensorMap(a, (8, 8), element_strides=(2, 1)), out, 4, 1)
    assert np.array_equal(out, a[1:9:2, 4:12])
    again = TensorMap(a.view(np.uint16), (4, 16), type="bf16", extent=(10, 64))
    wide = np.zeros((4, 8), np.float32)
    copied(again, wide, 0, 0)
    assert np.array_equal(wide, a[:4, :8])


def test_pixels_of_an_image() -> None:
    """Two images of five pixels with eight channels; the box is pixels 1 to 3."""
    a, out = np.arange(80, dtype=np.int32).reshape(2, 5, 8), np.zeros((4, 8), np.int32)
    pixels = TensorMap(a, lower=[1], upper=[-1], channels=8, pixels=4)
    copied(pixels, out, 1, 0, form=IMAGE)
    assert np.array_equal(out, np.vstack([a[0, 1:4], a[1, 1:2]]))


A = np.zeros((16, 8), np.float32)


@pytest.mark.parametrize(
    "array, given, text",
    [
        (A, {"box": (4, 300)}, "box: a box of 300 in dimension 0 .0 is the innermost.\n  help: expected 1 to 256"),
        (A, {"box": (300, 4)}, "box: a box of 300 in dimension 1"),
        (A, {"box": (4, 7)}, "box: rows of 28 bytes\n  help: expected a multiple of 16"),
        (A, {"box": (4,)}, "box: 'box' has 1 numbers\n  help: expected 2, by the dimensions"),
        (A, {"box": 4}, "box: 4\n  help: expected a list of integers"),
        (A, {"box": (4, 8.5)}, "box: 8.5\n  help: expected an integer"),
        (A, {"box": (4, -8)}, "box: -8 is out of range"),
        (A, {}, "box: it is missing\n  help: expected box=, or lower="),
        (A, {"box": (4, 8), "pixels": 3}, "pixels: it is given\n  help: only allowed without 'box'"),
        (A, {"box": (4, 8), "swizzle": 16}, "swizzle: '16'\n  help: expected none or 32 or 64 or 128"),
        (A, {"box": (4, 8), "interleave": "16"}, "interleave: '16'\n  help: expected none"),
        (A, {"box": (4, 8), "fill": "one"}, "fill: 'one'\n  help: expected zeros or nan"),
        (A, {"box": (4, 8), "offset": 8}, "offset: the tensor begins at address 0x8"),
        (A, {"box": (4, 8), "strides": [40]}, "strides: a stride of 40 bytes in dimension 1"),
        (A, {"box": (4, 8), "strides": [32, 8]}, "strides: 'strides' has 2 numbers"),
        (A, {"box": (4, 8), "extent": (17, 8)}, "the tensor ends at byte 544 of a buffer of 512 bytes"),
        (A, {"box": (4, 8), "extent": (0, 8)}, "extent: 0 is out of range"),
        (A, {"box": (4, 8), "element_strides": (9, 1)}, "element_strides: an element stride of 9"),
        (A, {"box": (4, 8), "type": "u16"}, "elements of 2 bytes in an array of float32\n  help: expected extent="),
        (A, {"box": (4, 8), "type": "f8"}, "type: 'f8'"),
        (A, {"lower": [0], "upper": [0], "channels": 8, "pixels": 9}, "'lower' has 1 numbers"),
        (A.astype(np.int16), {"box": (4, 8)}, "type: tensor maps cannot have this type"),
        (A.astype(np.int32), {"box": (4, 8), "fill": "nan"}, "fill: elements of s32 have no NaN"),
        (A.astype(complex), {"box": (4, 8)}, "an array of complex128"),
        (A.astype(">f4"), {"box": (4, 8)}, "array: an array of >f4"),
        (A[:, ::2], {"box": (4, 4)}, "expected one whose last dimension is contiguous"),
        (A[::-1], {"box": (4, 8)}, "expected one whose last dimension is contiguous"),
        (A[:0], {"box": (4, 8)}, "an array without elements"),
        ([1], {"box": (4, 8)}, "array: .1.\n  help: expected a NumPy array"),
    ],
)
def test_wrong_maps_are_named_by_their_keyword(array: Any, given: dict[str, Any], text: str) -> None:
    with pytest.raises(spadkit.ArgumentError, match=f"(?s)tensor map, .*{text}") as caught:
        TensorMap(array, **given)
    assert caught.value.help


def test_maps_need_their_parameter_and_arrays_that_may_be_written(kernels: Path) -> None:
    given = TensorMap(A, (4, 8))
    transpose = Kernel.from_ptx(kernels / "transpose/transpose.ptx", "transpose")
    with pytest.raises(spadkit.ArgumentError, match="TensorMap f32.*\n.*expected an integer of 32 bits"):
        transpose[1, 32](A, A, given, 8)
    kernel = Kernel.from_ptx(kernels / "tma/tma.ptx", "tma_transpose")
    assert "tensor map or struct of 128 bytes" in repr(kernel)
    with pytest.raises(spadkit.ArgumentError, match="expected 128 bytes: a TensorMap, bytes"):
        kernel[1, (32, 8)](A, A)
    a = np.ones((32, 32), np.int32)
    out = np.zeros_like(a)
    out.flags.writeable = False
    with pytest.raises(spadkit.ArgumentError, match="writes to .*array, and its array is read-only"):
        kernel[1, (32, 8)](TensorMap(out, (32, 32)), TensorMap(a, (32, 32)))
    # Both maps may be of one array.
    kernel[1, (32, 8)](TensorMap(a, (32, 32)), TensorMap(a, (32, 32)))
    assert np.all(a == 1)


@pytest.mark.parametrize("sm", [80, 90])
def test_descriptors_of_triton_may_be_arrays(sm: int, kernels: Path) -> None:
    kernel = Kernel.from_triton(compiled(kernels / "triton", "host_descriptor_matmul", sm))
    assert [p.name for p in kernel.parameters] == ["a", "b", "c", "m", "n", "k"]
    a, b, c = np.eye(64, dtype=np.float16), np.ones((64, 64), np.float16), np.zeros((64, 64), np.float16)
    kernel[1](a, b, c=c, m=64, n=64, k=64)
    assert np.array_equal(c, b)
    for wrong, text in (
        (a[0], "argument 0 of host_descriptor_matmul, a: a tensor of 1 dimensions\n  help: expected 2"),
        (3, "a: int\n  help: expected a TensorDescriptor, a spadkit.TensorMap or an array"),
    ):
        with pytest.raises(spadkit.ArgumentError, match=text):
            kernel[1](wrong, b, c, 64, 64, 64)
    with pytest.raises(spadkit.ArgumentError, match="5 arguments for .*\n.*expected 6: a"):
        kernel[1](a, b, c, 64, 64)


def test_parameters_of_a_descriptor_are_in_the_order_of_tritons_driver() -> None:
    a = np.zeros((6, 32), np.float32)[:, :20]
    given = SimpleNamespace(base=a, shape=[6, 20], strides=[32, 1], block_shape=[4, 4], padding="nan")
    pointer = Descriptor("a", 2, None, flags=2)
    memory, *rest = pointer.values("argument 0", given)
    assert memory.ctypes.data == a.ctypes.data and memory.size == 5 * 32 + 20
    assert rest == [6, 20, 32, 1, True, False, 6, 20, 32, 1]
    assert pointer.names[4:8] == ["a.strides[1]", "a.padding", "a.round", "a.shape[0]'"]
    compiled = {"block_size": [4, 4], "swizzle": 0, "elem_type": 7, "elem_size": 4}
    tensor_map, *rest = Descriptor("a", 2, compiled).values("argument 0", given)
    assert (tensor_map.extent, tensor_map.strides, tensor_map.fill) == ((6, 20), (128, 4), "nan")
    assert rest == [6, 20, 32, 1]


def test_descriptors_of_triton_are_what_the_kernel_is_compiled_for(kernels: Path) -> None:
    known = compiled(kernels / "triton", "host_descriptor_matmul", 90)
    kernel = Kernel.from_triton(known)
    a = np.zeros((64, 64), np.float16)
    for wrong, text in (
        (TensorMap(a, (64, 32)), "a: box=.64, 32., swizzle='none'\n  help: expected .*swizzle='64'"),
        (a.astype(np.float32), "a: elements of float32\n  help: expected f16"),
        (a[:, :60].copy(), "a: tensor map, strides: a stride of 120 bytes"),
    ):
        with pytest.raises(spadkit.ArgumentError, match=text):
            kernel[1](wrong, a, a, 64, 64, 64)
    known.metadata.tensordesc_meta[1]["fp4_padded"] = True
    with pytest.raises(spadkit.UsageError, match="argument b .* padded 4-bit elements"):
        Kernel.from_triton(known)
    known.metadata.tensordesc_meta[1]["fp4_padded"] = False
    known.metadata.tensordesc_meta[0]["elem_type"] = 8
    with pytest.raises(spadkit.ArgumentError, match="element type 8 of tensormap.replace"):
        Kernel.from_triton(known)[1](a, a, a, 64, 64, 64)


# The same, from a struct: the output's address at byte 8, the map at byte 128.
IN_STRUCT = (
    COPY.replace(".param .u64 out, PARAM,", ".param .align 64 .b8 p[256],")
    .replace("ld.param.u64 %out, [out];", "ld.param.u64 %out, [p+8];")
    .replace("GET", "mov.b64 %map, p; add.u64 %map, %map, 128; cvta.param.u64 %map, %map;")
    .replace("RANK", TILED["RANK"])
    .replace("AT", TILED["AT"])
    .replace("OFFSETS", "")
    .replace("BYTES", "128")
)


def test_a_struct_has_arrays_and_maps_in_it() -> None:
    kind = np.dtype({
        "names": ["n", "out", "map"],
        "formats": [np.int32, np.uint64, "V128"],
        "offsets": [0, 8, 128],
        "itemsize": 256,
    })  # fmt: skip
    a = np.arange(640, dtype=np.float32).reshape(20, 32)
    for members in ({"out": 8, "map": 128}, {"out": "out", "map": "map"}):
        out = np.zeros((4, 8), np.float32)
        value: Any = bytes(256) if members["out"] == 8 else np.zeros(1, kind)[0]
        given = spadkit.Struct(value, {members["map"]: TensorMap(a, (4, 8)), members["out"]: out})
        kernel = Kernel.from_ptx(IN_STRUCT)
        kernel[1, 32](given, 8, 3)
        assert np.array_equal(out, a[3:7, 8:16])
        assert kernel.races("global")["findings"] == []


def test_one_array_may_be_in_a_struct_and_in_its_map() -> None:
    a = np.arange(64, dtype=np.float32).reshape(8, 8)
    wanted = a[2:6].copy()
    Kernel.from_ptx(IN_STRUCT)[1, 32](spadkit.Struct(bytes(256), {8: a, 128: TensorMap(a, (4, 8))}), 0, 2)
    assert np.array_equal(a[:4], wanted)


@pytest.mark.parametrize(
    "members, text",
    [
        ({96: "map"}, "a tensor map at byte 96\n  help: expected a multiple of 64"),
        ({192: "map"}, "a tensor map at byte 192 of 256\n  help: expected 0 to 128"),
        ({249: "array"}, "an address at byte 249 of 256\n  help: expected 0 to 248"),
        ({64: "map", 72: "array"}, "an address at byte 72 overlaps a tensor map at byte 64"),
        ({8: 3}, "3 at byte 8\n  help: expected an array or a TensorMap"),
        ({"out": "array"}, "member 'out'\n  help: expected its byte"),
    ],
)
def test_members_that_do_not_fit(members: Any, text: str) -> None:
    a = np.zeros((8, 8), np.float32)
    made: dict[Any, Any] = {"map": TensorMap(a, (4, 8)), "array": a}
    with pytest.raises(spadkit.ArgumentError, match=text):
        spadkit.Struct(bytes(256), {at: made.get(member, member) for at, member in members.items()})


def test_a_struct_has_the_size_of_its_parameter() -> None:
    a = np.zeros((8, 8), np.float32)
    with pytest.raises(spadkit.ArgumentError, match="Struct of 64 bytes, {8: an address}>\n  help: expected 256 bytes"):
        Kernel.from_ptx(IN_STRUCT)[1, 32](spadkit.Struct(bytes(64), {8: a}), 0, 0)
