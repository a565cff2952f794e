//! Skeletons of kernels with structs.

use super::text_of;
use crate::launch::{Given, LaunchFile};
use spadkit_ptx::Module;
use std::path::Path;

/// Addresses in a struct are those that the kernel accesses memory by, also of a vector
/// that `ld.param` reads at once.
#[test]
fn structs_name_the_buffers_that_they_point_to() {
    let ptx = ".version 7.0\n.target sm_80\n.address_size 64\n\
        .visible .entry k(.param .align 8 .b8 k_param_0[32]) {\n\
          .reg .f32 %f<2>; .reg .b64 %rd<8>;\n\
          ld.param.v2.u64 {%rd1, %rd2}, [k_param_0+8];\n\
          ld.param.u64 %rd3, [k_param_0+24];\n\
          cvta.to.global.u64 %rd4, %rd2;\n\
          add.s64 %rd5, %rd4, %rd1;\n\
          ld.global.f32 %f1, [%rd5];\n\
          st.global.f32 [%rd3], %f1;\n\
          ret;\n}\n";
    let text = text_of(ptx, &Given::default());
    let pointers =
        "pointers = [{ at = 16, to = \"param_0.16\" }, { at = 24, to = \"param_0.24\" }]";
    assert!(text.contains(pointers), "{text}");
    let read = "name = \"param_0.16\"\ntype = \"f32\"\ncount = 4096  # fill in: elements\n\
                init = \"random\"";
    let written = "name = \"param_0.24\"\ntype = \"f32\"\ncount = 4096  # fill in: elements\n\
                   init = \"zeros\"";
    assert!(text.contains(read) && text.contains(written), "{text}");
    // What it writes can be read.
    let file = LaunchFile::parse(text, Path::new("k.toml")).unwrap();
    let module = Module::parse(ptx, "k.ptx").unwrap();
    assert!(file.prepare(&module).is_ok());
}

/// CUTLASS keeps its maps among numbers and addresses in one struct.
#[test]
fn structs_name_the_tensor_maps_that_they_have() {
    let ptx = ".version 8.6\n.target sm_90a\n.address_size 64\n\
        .visible .entry k(.param .align 64 .b8 k_param_0[640]) {\n\
          .reg .f32 %f<2>; .reg .b32 %r<4>; .reg .b64 %rd<12>; .reg .pred %p;\n\
          mov.b64 %rd1, k_param_0; add.s64 %rd2, %rd1, 64; cvta.param.u64 %rd3, %rd2;\n\
          prefetch.tensormap [%rd3];\n\
          cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes\n\
            [%r0], [%rd3, {%r1, %r1, %r1}], [%r2];\n\
          mov.b64 %rd4, 192; add.s64 %rd5, %rd4, %rd1; cvta.param.u64 %rd6, %rd5;\n\
          cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd6, {%r1}], [%r0];\n\
          add.s64 %rd8, %rd2, 256; prefetch.param.tensormap [%rd8];\n\
          ld.param.u64 %rd9, [%rd1+16]; ld.param.f32 %f1, [%rd1+8]; st.global.f32 [%rd9], %f1;\n\
          ld.param.u64 %rd10, [k_param_0+512];\n\
          cp.async.bulk.prefetch.tensor.2d.L2.global [%rd10, {%r1, %r1}];\n\
          ret;\n}\n";
    let text = text_of(ptx, &Given::default());
    let short = text.replace(&"00".repeat(640), "00...");
    insta::assert_snapshot!(short.split_once("\n\n").unwrap().1, @r#"
    [[arg]]
    name = "param_0"
    type = "bytes"
    value = "00..."  # fill in: 640 bytes of a struct, in memory order
    pointers = [{ at = 16, to = "param_0.16" }, { at = 512, to = "param_0.512" }]  # addresses in it, of the arguments at the end
    maps = [{ at = 64, to = "param_0.64" }, { at = 192, to = "param_0.192" }, { at = 320, to = "param_0.320" }]  # tensor maps in it, of the arguments at the end

    [[arg]]
    name = "param_0.16"
    type = "f32"
    count = 4096  # fill in: elements
    init = "zeros"  # the kernel writes it

    [[arg]]
    name = "param_0.64"
    [arg.tensor_map]
    buffer = "param_0.64_tensor"
    type = "f32"  # fill in: as of the buffer
    extent = [16, 16, 16]  # fill in: elements, the contiguous dimension first
    box = [8, 8, 8]  # fill in: elements of a copy
    swizzle = "none"  # fill in: none, 32, 64 or 128

    [[arg]]
    name = "param_0.64_tensor"
    type = "f32"  # fill in: the PTX does not show the type
    count = 4096  # fill in: elements
    init = "random"  # the kernel reads it

    [[arg]]
    name = "param_0.192"
    [arg.tensor_map]
    buffer = "param_0.192_tensor"
    type = "f32"  # fill in: as of the buffer
    extent = [4096]  # fill in: elements, the contiguous dimension first
    box = [256]  # fill in: elements of a copy
    swizzle = "none"  # fill in: none, 32, 64 or 128

    [[arg]]
    name = "param_0.192_tensor"
    type = "f32"  # fill in: the PTX does not show the type
    count = 4096  # fill in: elements
    init = "zeros"  # the kernel writes it

    [[arg]]
    name = "param_0.320"
    [arg.tensor_map]
    buffer = "param_0.320_tensor"
    type = "f32"  # fill in: as of the buffer
    extent = [64, 64]  # fill in: elements, the contiguous dimension first
    box = [32, 32]  # fill in: elements of a copy
    swizzle = "none"  # fill in: none, 32, 64 or 128

    [[arg]]
    name = "param_0.320_tensor"
    type = "f32"  # fill in: the PTX does not show the type
    count = 4096  # fill in: elements
    init = "random"  # no access in the kernel itself

    [[arg]]
    name = "param_0.512"
    [arg.tensor_map]
    buffer = "param_0.512_tensor"
    type = "f32"  # fill in: as of the buffer
    extent = [64, 64]  # fill in: elements, the contiguous dimension first
    box = [32, 32]  # fill in: elements of a copy
    swizzle = "none"  # fill in: none, 32, 64 or 128

    [[arg]]
    name = "param_0.512_tensor"
    type = "f32"  # fill in: the PTX does not show the type
    count = 4096  # fill in: elements
    init = "random"  # the kernel reads it
    "#);
    // What it writes can be read.
    let file = LaunchFile::parse(text, Path::new("k.toml")).unwrap();
    let module = Module::parse(ptx, "k.ptx").unwrap();
    assert!(file.prepare(&module).is_ok());
}

/// A map at an unknown place of an array is its first one.
#[test]
fn an_array_of_maps_names_the_first() {
    let ptx = ".version 8.6\n.target sm_90a\n.address_size 64\n\
        .visible .entry k(.param .align 64 .b8 k_param_0[640]) {\n\
          .reg .b32 %r<4>; .reg .b64 %rd<9>; .reg .pred %p;\n\
          mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd1, %r1, 128; mov.b64 %rd2, k_param_0;\n\
          add.s64 %rd3, %rd2, %rd1; add.s64 %rd4, %rd3, 128;\n\
          L: cvta.param.u64 %rd5, %rd4;\n\
          cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd5, {%r1}], [%r0];\n\
          add.s64 %rd4, %rd4, 128; setp.eq.u32 %p, %r1, 0; @%p bra L;\n\
          ret;\n}\n";
    let text = text_of(ptx, &Given::default());
    let maps = "maps = [{ at = 128, to = \"param_0.128\" }]  # tensor maps in it";
    assert!(text.contains(maps), "{text}");
}

/// Triton's PTX takes addresses in 32 bits and widens them.
#[test]
fn a_map_is_found_by_a_narrow_address() {
    let ptx = ".version 8.6\n.target sm_90a\n.address_size 64\n\
        .visible .entry k(.param .align 64 .b8 k_param_0[128]) {\n\
          .reg .b32 %r<4>; .reg .b64 %rd<9>;\n\
          mov.b32 %r2, k_param_0; cvt.u64.u32 %rd1, %r2; cvta.param.u64 %rd2, %rd1;\n\
          cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd2, {%r1}], [%r0];\n\
          ret;\n}\n";
    let text = text_of(ptx, &Given::default());
    assert!(text.contains("[arg.tensor_map]"), "{text}");
}
