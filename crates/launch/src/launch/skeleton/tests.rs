//! Skeletons of kernels of the kit and of small texts.

mod structs;

use super::{Given, Skeleton};
use crate::launch::{LaunchFile, read_module};
use spadkit_ptx::Module;
use std::path::Path;

fn text_of(ptx: &str, given: &Given) -> String {
    let module = Module::parse(ptx, "k.ptx").expect("PTX");
    let skeleton = Skeleton::new(&module, None).expect("a skeleton");
    skeleton.text("k.ptx", given).expect("a text")
}

fn entry(head: &str, body: &str) -> String {
    format!(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k({head}\n{body}")
}

const SAXPY: &str = ".param .u32 k_param_0, .param .f32 k_param_1, .param .u64 k_param_2,
    .param .u64 k_param_3)\n.reqntid 128, 1, 1";

const SAXPY_BODY: &str = "{
    .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .pred %p<2>;
    ld.param.u32 %r1, [k_param_0];
    ld.param.f32 %f1, [k_param_1];
    ld.param.u64 %rd1, [k_param_2];
    ld.param.u64 %rd2, [k_param_3];
    mov.u32 %r2, %tid.x;
    setp.lt.s32 %p1, %r2, %r1;
    @!%p1 bra END;
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mul.wide.u32 %rd5, %r2, 4;
    add.s64 %rd6, %rd3, %rd5;
    add.s64 %rd7, %rd4, %rd5;
    ld.global.b32 %f2, [%rd6];
    ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd7], %f4;
END:
    ret;
}";

/// LLVM adds the index to the pointer in the instruction that multiplies it.
#[test]
fn a_pointer_to_which_mad_adds_an_index_is_one() {
    let body = SAXPY_BODY
        .replace("mul.wide.u32 %rd5, %r2, 4;", "")
        .replace(
            "add.s64 %rd6, %rd3, %rd5;",
            "mad.wide.u32 %rd6, %r2, 4, %rd1;",
        )
        .replace(
            "add.s64 %rd7, %rd4, %rd5;",
            "mad.wide.u32 %rd7, %r2, 4, %rd2;",
        )
        .replace("cvta.to.global.u64 %rd3, %rd1;", "")
        .replace("cvta.to.global.u64 %rd4, %rd2;", "");
    let of = |body: &str| text_of(&entry(SAXPY, body), &Given::default());
    assert_eq!(of(&body), of(SAXPY_BODY));
}

#[test]
fn types_come_from_what_instructions_do() {
    insta::assert_snapshot!(text_of(&entry(SAXPY, SAXPY_BODY), &Given::default()), @r#"
    ptx = "k.ptx"
    entry = "k"
    grid = [16]  # fill in: thread blocks
    block = [128]  # the PTX requires it (.reqntid)

    [[arg]]
    name = "param_0"
    type = "s32"
    value = 64  # fill in

    [[arg]]
    name = "param_1"
    type = "f32"
    value = 1.0  # fill in

    [[arg]]
    name = "param_2"
    type = "f32"
    count = 4096  # fill in: elements
    init = "random"  # the kernel reads it

    [[arg]]
    name = "param_3"
    type = "f32"
    count = 4096  # fill in: elements
    init = "random"  # the kernel reads and writes it
    "#);
}

/// `k(const __half*, unsigned char*, bool, float*)`, which waits for the grid. The PTX
/// reads two `__half` as bits, computes with floats that the bytes hold, and hands the
/// last pointer on to a function that it does not have.
#[test]
fn types_come_from_the_source_where_the_name_has_them() {
    let name = "_Z1kPK6__halfPhbPf";
    let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry NAME(.param .u64 \
               NAME_param_0, .param .u64 NAME_param_1, .param .u8 NAME_param_2, .param .u64 \
               NAME_param_3)\n{ .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .b16 %h<9>;
        mov.u32 %r1, %envreg2;
        ld.param.u8 %h1, [NAME_param_2];
        ld.param.u64 %rd1, [NAME_param_0];
        ld.param.u64 %rd2, [NAME_param_1];
        ld.param.u64 %rd3, [NAME_param_3];
        ld.global.u32 %r2, [%rd1];
        st.global.u32 [%rd1], %r2;
        ld.global.f32 %f1, [%rd2];
        add.f32 %f1, %f1, %f1;
        st.global.f32 [%rd2], %f1;
        ret;\n}";
    let text = text_of(&ptx.replace("NAME", name), &Given::default());
    insta::assert_snapshot!(text, @r#"
    ptx = "k.ptx"
    entry = "_Z1kPK6__halfPhbPf"
    grid = [16]  # fill in: thread blocks
    block = [256]  # fill in: threads of a block
    cooperative = true  # the kernel waits for all blocks: grid.sync()

    [[arg]]
    name = "param_0"  # const __half*
    type = "f16"
    count = 4096  # fill in: elements
    init = "random"  # the kernel reads and writes it

    [[arg]]
    name = "param_1"  # unsigned char*
    type = "f32"
    count = 4096  # fill in: elements
    init = "random"  # the kernel reads and writes it

    [[arg]]
    name = "param_2"  # bool
    type = "u8"
    value = 1  # fill in

    [[arg]]
    name = "param_3"  # float*
    type = "f32"
    count = 4096  # fill in: elements
    init = "random"  # no access in the kernel itself
    "#);
}

#[test]
fn what_is_given_needs_no_filling_in() {
    let args = [
        "0=100",
        "param_1=2",
        "2=iota:f32:100",
        "param_3=zeros:f32:100",
    ];
    let given = Given {
        grid: Some([1, 1, 1]),
        block: Some([128, 1, 1]),
        dynamic_shared: None,
        args: args.map(|a| a.parse().expect("an argument")).to_vec(),
    };
    let text = text_of(&entry(SAXPY, SAXPY_BODY), &given);
    assert!(!text.contains("fill in"), "{text}");
    assert!(
        text.contains("value = 100\n") && text.contains("value = 2.0\n"),
        "{text}"
    );
}

#[test]
fn two_dimensions_a_struct_and_dynamic_shared_memory_are_seen() {
    let text = text_of(
        ".version 7.0\n.target sm_70\n.address_size 64\n.extern .shared .align 4 .b8 s[];\n\
         .visible .entry k(.param .align 4 .b8 k_param_0[8])\n{ .reg .b32 %r<5>;\n\
         mov.u32 %r1, %tid.y; mov.u32 %r2, %ctaid.z; mov.u32 %r3, s; st.shared.u32 [%r3], %r1; ret; }",
        &Given::default(),
    );
    assert!(text.contains("block = [16, 16]"), "{text}");
    assert!(text.contains("grid = [4, 4, 2]"), "{text}");
    assert!(text.contains("dynamic_shared = 8192"), "{text}");
    assert!(text.contains("value = \"0000000000000000\""), "{text}");
}

/// `__launch_bounds__(256)` is `.maxntid 256, 1, 1` for a block of 16 x 16, too.
#[test]
fn the_most_threads_of_a_block_do_not_say_its_shape() {
    let block = |threads: u32, id: &str| {
        let ptx = format!(
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n\
             .maxntid {threads}, 1, 1\n{{ .reg .b32 %r<5>; mov.u32 %r1, %tid.{id}; ret; }}"
        );
        let text = text_of(&ptx, &Given::default());
        let line = text.lines().find(|l| l.starts_with("block"));
        line.unwrap_or_default().to_owned()
    };
    assert!(block(256, "y").starts_with("block = [16, 16]  # fill in: threads, as many as"));
    assert!(block(384, "y").starts_with("block = [24, 16]  # fill in"));
    assert!(block(256, "z").starts_with("block = [8, 8, 4]  # fill in"));
    assert!(block(256, "x").starts_with("block = [256]  # the PTX allows as many"));
}

/// The stride of a fragment, and a coordinate: the types of these instructions are
/// those of the fragment and of the texels.
#[test]
fn a_stride_of_a_fragment_is_no_float() {
    let text = text_of(
        &entry(
            ".param .u64 k_param_0, .param .u32 k_param_1)",
            "{ .reg .b64 %rd<9>; .reg .b32 %r<3>; .reg .f32 %f<9>;
            ld.param.u64 %rd1, [k_param_0];
            ld.param.u32 %r1, [k_param_1];
            cvta.to.global.u64 %rd3, %rd1;
            wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd3],
              {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, %r1;
            ret; }",
        ),
        &Given::default(),
    );
    assert!(text.contains("type = \"u32\"\nvalue = 64"), "{text}");
}

/// An offset that is a parameter, too, is not a pointer where `cvta` names the other.
#[test]
fn an_offset_is_no_pointer() {
    let text = text_of(
        &entry(
            ".param .u64 k_param_0, .param .u64 k_param_1)",
            "{ .reg .b64 %rd<9>; .reg .b32 %r<3>;
            ld.param.u64 %rd1, [k_param_0];
            ld.param.u64 %rd2, [k_param_1];
            cvta.to.global.u64 %rd3, %rd1;
            add.s64 %rd4, %rd3, %rd2;
            ld.global.u32 %r1, [%rd4];
            ret; }",
        ),
        &Given::default(),
    );
    assert!(
        text.contains("name = \"param_1\"\ntype = \"s64\"\nvalue"),
        "{text}"
    );
}

#[test]
fn tensor_maps_are_tables_with_a_buffer() {
    let copies = "{ .reg .b64 %m<4>; .reg .b32 %r<3>; .reg .b16 %h;
        mov.b64 %m0, k_param_0; cvta.param.u64 %m1, %m0; ld.param.u64 %m2, [k_param_1];
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
          [%r0], [%m1, {%r1, %r1}], [%r2];
        cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%m2, {%r1}], [%r0];
        mov.b64 %m3, k_param_2;
        cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
          [%r0], [%m3, {%r1, %r1, %r1}], [%r2], {%h};
        ret; }";
    let head = entry(
        ".param .align 64 .b8 k_param_0[128], .param .u64 k_param_1,
        .param .align 64 .b8 k_param_2[128])",
        copies,
    );
    let given = Given {
        args: vec!["0=iota:s32:4096".parse().expect("an argument")],
        ..Given::default()
    };
    let text = text_of(&head.replace("sm_70", "sm_90"), &given);
    insta::assert_snapshot!(text.split_once("\n\n").unwrap().1, @r#"
    [[arg]]
    name = "param_0"
    [arg.tensor_map]
    buffer = "param_0_tensor"
    type = "s32"
    extent = [64, 64]  # fill in: elements, the contiguous dimension first
    box = [32, 32]  # fill in: elements of a copy
    swizzle = "none"  # fill in: none, 32, 64 or 128

    [[arg]]
    name = "param_1"
    [arg.tensor_map]
    buffer = "param_1_tensor"
    type = "f32"  # fill in: as of the buffer
    extent = [4096]  # fill in: elements, the contiguous dimension first
    box = [256]  # fill in: elements of a copy
    swizzle = "none"  # fill in: none, 32, 64 or 128

    [[arg]]
    name = "param_2"
    [arg.tensor_map]
    buffer = "param_2_tensor"
    type = "f32"  # fill in: as of the buffer
    extent = [16, 16, 16]  # fill in: elements, the contiguous dimension first
    lower = [0]  # fill in: the first pixel
    upper = [0]  # fill in: the last one, from the image's last
    channels = 8  # fill in: elements of a pixel
    pixels = 16  # fill in: pixels of a copy
    swizzle = "none"  # fill in: none, 32, 64 or 128

    [[arg]]
    name = "param_0_tensor"
    type = "s32"
    count = 4096
    init = "iota"

    [[arg]]
    name = "param_1_tensor"
    type = "f32"  # fill in: the PTX does not show the type
    count = 4096  # fill in: elements
    init = "random"  # the kernel reads and writes it

    [[arg]]
    name = "param_2_tensor"
    type = "f32"  # fill in: the PTX does not show the type
    count = 4096  # fill in: elements
    init = "random"  # the kernel reads it
    "#);
    LaunchFile::parse(text, Path::new("k.toml")).expect("a launch file");
}

#[test]
fn wrong_arguments_say_what_was_expected() {
    for wrong in [
        "x",
        "x=",
        "x=random",
        "x=random:f32",
        "x=random:f33:4",
        "x=noise:f32:4",
        "x=random:f32:0",
    ] {
        let error = wrong.parse::<super::GivenArg>().expect_err(wrong);
        assert!(error.to_string().contains(wrong), "{error}");
    }
    let module = Module::parse(&entry(SAXPY, SAXPY_BODY), "k.ptx").expect("PTX");
    let skeleton = Skeleton::new(&module, None).expect("a skeleton");
    let given = Given {
        args: vec!["param_9=1".parse().expect("an argument")],
        ..Given::default()
    };
    let error = skeleton
        .text("k.ptx", &given)
        .expect_err("no such parameter");
    assert!(
        error.to_string().contains("no parameter 'param_9'"),
        "{error}"
    );
}

/// What `init` takes as a number, `run` takes from the launch file.
#[test]
fn a_number_has_the_type_of_its_parameter() {
    let module = Module::parse(&entry(SAXPY, SAXPY_BODY), "k.ptx").expect("PTX");
    let skeleton = Skeleton::new(&module, None).expect("a skeleton");
    let text = |arg: &str| {
        let given = Given {
            args: vec![arg.parse().expect("an argument")],
            ..Given::default()
        };
        skeleton.text("k.ptx", &given)
    };
    for arg in ["0=7", "0=010", "1=1", "1=-2.5", "1=nan", "1=.5", "1=1e3"] {
        let text = text(arg).unwrap_or_else(|e| panic!("{arg}: {e}"));
        LaunchFile::parse(text.clone(), Path::new("k.toml"))
            .unwrap_or_else(|e| panic!("{arg}: {e}\n{text}"));
    }
    for arg in ["0=1.5", "0=nan", "0=2147483648", "0=4294967296"] {
        let error = text(arg).expect_err(arg).to_string();
        assert!(error.contains(arg), "{error}");
    }
}

#[test]
fn a_pointer_may_be_null_and_a_number_not() {
    let module = Module::parse(&entry(SAXPY, SAXPY_BODY), "k.ptx").expect("PTX");
    let skeleton = Skeleton::new(&module, None).expect("a skeleton");
    let names: Vec<&str> = skeleton.names().collect();
    let (mut taken, mut refused) = (0, 0);
    for name in names {
        let given = Given {
            args: vec![format!("{name}=null").parse().expect("an argument")],
            ..Given::default()
        };
        match skeleton.text("k.ptx", &given) {
            Ok(text) => {
                let file = LaunchFile::parse(text.clone(), Path::new("k.toml"));
                let file = file.unwrap_or_else(|e| panic!("{e}\n{text}"));
                assert!(
                    text.contains("null = true") && file.arg(name).is_some(),
                    "{text}"
                );
                taken += 1;
            }
            Err(error) => {
                assert!(error.to_string().contains("is not a pointer"), "{error}");
                refused += 1;
            }
        }
    }
    assert!(taken > 0 && refused > 0);
}

/// Every entry of the kit's kernels has a skeleton that is a launch file, with
/// the same kinds of arguments in number.
#[test]
fn skeletons_of_all_kernels_are_launch_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
    let mut entries = 0;
    for folder in std::fs::read_dir(root).expect("kernels").flatten() {
        for file in std::fs::read_dir(folder.path())
            .into_iter()
            .flatten()
            .flatten()
        {
            let path = file.path();
            if path.extension().is_none_or(|e| e != "ptx") {
                continue;
            }
            let Ok(module) = read_module(&path) else {
                continue; // A kernel that is wrong on purpose.
            };
            for function in module.entries() {
                let skeleton = Skeleton::new(&module, Some(&function.name)).expect("a skeleton");
                let text = skeleton.text("k.ptx", &Given::default()).expect("a text");
                let launch = LaunchFile::parse(text.clone(), Path::new("k.toml"));
                let launch = launch.unwrap_or_else(|e| panic!("{}: {e}\n{text}", path.display()));
                let maps = text.matches("[arg.tensor_map]").count();
                let members = text.matches("{ at = ").count();
                assert_eq!(launch.args.len(), function.params.len() + maps + members);
                entries += 1;
            }
        }
    }
    assert!(entries > 100, "{entries}");
}

/// Compilers load the low half of a number that only its low half is needed of.
#[test]
fn a_scalar_of_which_a_part_is_loaded_has_its_declared_size() {
    let text = entry(
        ".param .u64 k_param_0, .param .u64 k_param_1)",
        "{ .reg .b32 %r<9>; .reg .b64 %rd<9>;
           ld.param.u32 %r1, [k_param_0];
           ld.param.u64 %rd1, [k_param_1];
           add.s32 %r2, %r1, 1;
           cvta.to.global.u64 %rd2, %rd1;
           st.global.u32 [%rd2], %r2;
           ret; }",
    );
    let skeleton = text_of(&text, &Given::default());
    let scalar = "name = \"param_0\"\ntype = \"u64\"\n";
    assert!(skeleton.contains(scalar), "{skeleton}");
}

/// clang writes a `local int *tmp` of OpenCL as a number to which it adds indices.
#[test]
fn a_local_pointer_is_an_offset_into_dynamic_shared_memory() {
    let kernel = |base: &str| {
        entry(
            ".param .u64 k_param_0, .param .u64 k_param_1, .param .u64 k_param_2)",
            &format!(
                "{{ .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .b8 s[64];
                   ld.param.u64 %rd1, [k_param_0];
                   ld.param.u64 %rd2, [k_param_1];
                   ld.param.u64 %rd3, [k_param_2];
                   mov.u32 %r1, %tid.x;
                   mul.wide.s32 %rd4, %r1, 4;
                   {base}
                   add.s64 %rd6, %rd5, %rd4;
                   ld.global.u32 %r2, [%rd1];
                   st.shared.u32 [%rd6+4], %r2;
                   st.global.u64 [%rd1], %rd2;
                   ret; }}"
            ),
        )
    };
    let local = text_of(&kernel("mov.b64 %rd5, %rd3;"), &Given::default());
    let expected = "name = \"param_2\"\ntype = \"u64\"\nvalue = 0  # fill in: a local pointer, as \
                    bytes from the begin of dynamic shared memory\n";
    assert!(local.ends_with(expected), "{local}");
    let room = "dynamic_shared = 8192  # fill in: bytes of all local pointers together\n";
    assert!(local.contains(room), "{local}");
    assert!(local.contains("name = \"param_1\"\ntype = \"u64\"\nvalue = 64  # fill in\n"));
    // An offset in a variable is a number.
    for base in [
        "mov.u64 %rd5, s; add.s64 %rd5, %rd5, %rd3;",
        "add.s64 %rd5, %rd3, s;",
        "mul.lo.u64 %rd5, %rd3, 4; mov.u64 %rd7, s; add.s64 %rd5, %rd7, %rd5;",
    ] {
        let text = text_of(&kernel(base), &Given::default());
        assert!(
            text.ends_with("value = 64  # fill in\n") && !text.contains("dynamic"),
            "{text}"
        );
    }
}
