"""Kernels on NumPy arrays, in place."""

from pathlib import Path

import numpy as np
import pytest

import spadkit
from spadkit import Kernel

# y[i] = a * x[i] + c of a struct by value, and a variable of the module.
PTX = """
.version 7.0
.target sm_80
.address_size 64
.const .align 4 .f32 bias[2];
.extern .shared .align 4 .b8 room[];

.visible .entry axpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n,
                     .param .align 4 .b8 s[8])
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .f32 %f<8>;
  .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x;
  ld.param.u32 %r2, [n];
  setp.ge.u32 %p1, %r1, %r2;
  @%p1 bra end;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.f32 %f1, [a];
  ld.param.f32 %f2, [s+4];
  ld.const.f32 %f3, [bias+4];
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f4, [%rd4];
  fma.rn.f32 %f5, %f1, %f4, %f2;
  add.f32 %f6, %f5, %f3;
  st.global.f32 [%rd5], %f6;
end:
  ret;
}

.visible .entry half(.param .u64 out, .param .f16 value, .param .b32 bits, .param .u64 big)
{
  .reg .b16 %h<2>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  ld.param.b16 %h1, [value];
  ld.param.b32 %r1, [bits];
  ld.param.u64 %rd2, [big];
  st.global.b16 [%rd1], %h1;
  st.global.b32 [%rd1+4], %r1;
  st.global.u64 [%rd1+8], %rd2;
  ret;
}

.visible .entry shared(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 7;
  st.shared.u32 [room+12], %r1;
  ld.shared.u32 %r2, [room+12];
  st.global.u32 [%rd1], %r2;
  ret;
}
"""


# Each block writes how many blocks its cluster has.
TOGETHER = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry _Z5ranksPj(.param .u64 _Z5ranksPj_param_0)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [_Z5ranksPj_param_0];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %cluster_nctaid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r2;
  ret;
}
"""


def test_a_grid_may_be_an_array(transpose: Kernel) -> None:
    a = np.arange(3072, dtype=np.float32).reshape(48, 64)
    out = np.zeros((64, 48), np.float32)
    transpose[np.array([4, 3]), np.array([16, 16])](out, a, 64, 48)
    assert np.array_equal(out, a.T)


def floats(n: int) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    return np.arange(n, dtype=np.float32)


def test_a_kernel_changes_its_arrays(transpose: Kernel) -> None:
    a = np.random.default_rng(1).random((48, 64), np.float32)
    out = np.zeros((64, 48), np.float32)
    before = a.copy()
    run = transpose[(4, 3), (16, 16)](out, a, 64, 48)
    assert np.array_equal(out, a.T) and np.array_equal(a, before)
    assert run["entry"] == "transpose" and run["grid"] == [4, 3, 1] and run["findings"] == []


def test_scalars_structs_and_symbols() -> None:
    axpy = Kernel.from_ptx(PTX, "axpy")
    assert axpy.symbols == {"bias": 8}
    assert [(p.name, p.type, p.is_struct) for p in axpy.parameters] == [
        ("x", "u64", False),
        ("y", "u64", False),
        ("a", "f32", False),
        ("n", "u32", False),
        ("s", "b8", True),
    ]
    struct = np.array([(7, 3.0)], dtype=[("k", "i4"), ("c", "f4")])[0]
    bias = np.array([100, 1000], np.float32)
    for packed in (struct, struct.tobytes()):
        x, y = floats(32), np.full(32, -1, np.float32)
        axpy[1, 32](x, y, a=2.0, n=np.int64(20), s=packed, symbols={"bias": bias})
        assert np.array_equal(y[:20], 2 * x[:20] + 1003) and np.all(y[20:] == -1)


def test_a_scalar_has_the_type_of_its_parameter() -> None:
    half = Kernel.from_ptx(PTX, "half")
    out = np.zeros(16, np.uint8)
    half[1, 1](out, 1.5, 0.25, (1 << 64) - 1)
    assert out[:2].view(np.float16)[0] == 1.5
    assert out[4:8].view(np.float32)[0] == 0.25
    assert out[8:].view(np.uint64)[0] == (1 << 64) - 1
    half[1, 1](out, 2, -1, -2)
    assert out[:2].view(np.float16)[0] == 2
    assert out[4:8].view(np.int32)[0] == -1 and out[8:].view(np.int64)[0] == -2


def test_one_array_for_two_parameters() -> None:
    axpy = Kernel.from_ptx(PTX, "axpy")
    x = floats(32)
    axpy[1, 32](x, x, 3.0, 32, bytes(8))
    assert np.array_equal(x, 3 * floats(32))


def test_dynamic_shared_memory() -> None:
    shared = Kernel.from_ptx(PTX, "shared")
    out = np.zeros(1, np.uint32)
    shared[1, 1](out, shared=16)
    assert out[0] == 7
    out[0] = 1
    with pytest.raises(spadkit.KernelFault, match="out-of-bounds: .* of room"):
        shared[1, 1](out, shared=12)
    assert out[0] == 1, "a fault changes no array"


def test_a_fault_has_its_findings(transpose: Kernel) -> None:
    a = floats(3072).reshape(48, 64)
    with pytest.raises(spadkit.KernelFault) as caught:
        transpose[(4, 3), (16, 16)](np.zeros(100, np.float32), a, 64, 48)
    fault = caught.value
    assert fault.findings[0]["kind"] == "out-of-bounds"
    assert fault.findings[0]["source"] == "transpose.cu:25"
    assert f"see line {fault.findings[0]['ptx_line']} of the PTX" in str(fault)
    assert fault.result["entry"] == "transpose"


def test_a_limit_ends_a_run(transpose: Kernel) -> None:
    a = floats(3072).reshape(48, 64)
    with pytest.raises(spadkit.KernelFault, match="limit"):
        transpose[(4, 3), (16, 16)](np.zeros_like(a), a, 64, 48, limit=1000)


def test_a_bound_launch_keeps_its_arguments(transpose: Kernel) -> None:
    a = np.ones((48, 64), np.float32)
    out = np.zeros((64, 48), np.float32)
    launch = transpose[(4, 3), (16, 16)].bind(out, a, 64, 48)
    assert not out.any()
    a[:] = 5
    launch.run()
    assert np.all(out == 1)


def test_kernels_come_from_a_text_or_a_path(kernels: Path) -> None:
    path = kernels / "fwt/fwt.ptx"
    by_path = Kernel.from_ptx(str(path), "fwt")
    assert by_path.ptx == Kernel.from_ptx(path.read_text(), "fwt").ptx
    assert by_path.entry in repr(by_path)


HEAD = ".version 7.0\n.target sm_{}\n.address_size 64\n"
CALLS = HEAD.format(70) + """.extern .func (.param .b32 r) twice (.param .b32 x);
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<3>; .reg .b64 %rd<3>; .param .b32 p0; .param .b32 p1;
    .shared .align 4 .b8 tile[4096];
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; st.param.b32 [p0], %r1;
    call (p1), twice, (p0); ld.param.b32 %r2, [p1];
    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r2;
    mov.u32 %r2, tile; st.shared.u32 [%r2], %r1;
    ret; }
"""
TWICE = HEAD.format(90) + """.visible .func (.param .b32 r) twice (.param .b32 x) {
    .reg .b32 %r<3>; ld.param.b32 %r1, [x]; add.u32 %r2, %r1, %r1; st.param.b32 [r], %r2; ret; }
"""


def test_several_texts_are_linked(tmp_path: Path) -> None:
    path = tmp_path / "twice.ptx"
    path.write_text(TWICE)
    kernel = Kernel.from_ptx([CALLS, path])
    out = np.zeros(32, np.uint32)
    kernel[1, 32](out)
    assert np.array_equal(out, 2 * np.arange(32))
    conflicts = kernel.conflicts()
    assert conflicts["machine"] == {"preset": "sm90", "from": ".target sm_90 of <ptx 0>, twice.ptx"}
    assert conflicts["results"][0]["per_pc"][0]["ptx_file"] == "<ptx 0>"
    rewritten = kernel.rewrite("swizzle:5,0,5")
    assert rewritten["outputs_equal"] and rewritten["rewritten"] == rewritten["accesses"]
    with pytest.raises(spadkit.InputError, match="twice is defined twice") as caught:
        Kernel.from_ptx([CALLS, path, TWICE])
    assert (caught.value.path, caught.value.line) == ("<ptx 2>", 4)
    assert Kernel.from_ptx([CALLS.replace("call", "// call")]).entry == "k"
    with pytest.raises(spadkit.UsageError, match=r"ptx is \[\]"):
        Kernel.from_ptx([])


def test_a_launch_has_clusters_and_names_of_the_source() -> None:
    ranks = Kernel.from_ptx(TOGETHER)
    assert ranks.name == "ranks" and ranks.entry == "_Z5ranksPj"
    assert repr(ranks) == "<spadkit.Kernel ranks(param_0 (u64))>"
    out = np.zeros(4, np.uint32)
    ranks[4, 1](param_0=out)
    assert out.tolist() == [1, 1, 1, 1]
    ranks[4, 1](_Z5ranksPj_param_0=out, cluster=(2, 1, 1))
    assert out.tolist() == [2, 2, 2, 2]
    ranks[4, 1](out, cluster=4)
    assert out.tolist() == [4, 4, 4, 4]
    with pytest.raises(spadkit.InputError, match="not a multiple of 'cluster'"):
        ranks[3, 1](out, cluster=2)
    with pytest.raises(spadkit.ArgumentError, match="missing of ranks is not a parameter"):
        ranks[4, 1](missing=out)


def test_a_grid_waits_only_in_a_cooperative_launch() -> None:
    ptx = """.version 8.0
.target sm_80
.address_size 64
.visible .entry wait()
{
  .reg .pred %p1;
  .reg .b32 %r1;
  mov.u32 %r1, %envreg1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra done;
  trap;
done:
  ret;
}
"""
    wait = Kernel.from_ptx(ptx)
    with pytest.raises(spadkit.KernelFault, match=r"\(cooperative=True in the call\)"):
        wait[2, 32]()
    assert "cooperative=True" in wait.races()["findings"][0]["message"]
    assert wait[2, 32](cooperative=True)["findings"] == []


def test_the_heap_has_the_size_that_is_given() -> None:
    ptx = """.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 out) malloc (.param .b64 size);
.visible .entry take(.param .u64 given)
{
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [given];
  mov.u64 %rd2, 1048576;
  {
  .param .b64 size;
  st.param.b64 [size], %rd2;
  .param .b64 block;
  call.uni (block), malloc, (size);
  ld.param.b64 %rd3, [block];
  }
  st.global.u64 [%rd1], %rd3;
  ret;
}
"""
    take = Kernel.from_ptx(ptx)
    given = np.zeros(1, np.uint64)
    take[1, 1](given, heap=1 << 16)
    assert given[0] == 0
    take[1, 1](given)
    assert given[0] != 0


def test_a_kept_launch_writes_all_of_its_arrays() -> None:
    """A call copies back what the kernel changes; a launch that is run later, everything."""
    axpy = Kernel.from_ptx(PTX, "axpy")
    x, y = floats(32), np.zeros(32, np.float32)
    launch = axpy[1, 32].bind(x, y, 0.0, 32, bytes(8))
    x[:], y[:] = 7, 5
    launch.run()
    assert np.array_equal(x, floats(32)) and not y.any()
