//! Programs, and texts that are none.

use super::*;
use crate::sm::instr::{Addresses, Detail, Instr, InstrKind, Meeting};
use crate::sm::workload::Workload;
use spadkit_base::error::Result;
use std::path::Path;

fn parse(text: &str) -> Result<WarpText> {
    WarpText::parse(text, Path::new("p.warp"))
}

fn program(text: &WarpText, block: u32, warp: u32) -> Vec<Instr> {
    let mut stream = text.open(block, warp).unwrap();
    stream
        .next_part()
        .unwrap()
        .map_or(Vec::new(), |p| p.to_vec())
}

#[test]
fn one_text_describes_all_warps() {
    let text = parse(
        ".block 48\n.grid 2\n.shared 1024\n\
         ld.global r1, [0x1000*b + 4*t]   # coalesced\n\
         repeat 2\n  st.shared.64 [64*(l%4) + 8*i], r1\nend\n\
         warp 1 block 1\n@0x3 atom.shared.umax r2, [0], r1\nbar 3\nalu r4, r1, r2\n",
    )
    .unwrap();
    assert_eq!((text.info().warps(), text.info().blocks), (2, 2));
    let common = program(&text, 0, 1);
    assert_eq!(common.len(), 3);
    // The second warp has 16 threads.
    assert_eq!(common[0].mask, 0xffff);
    let line = Addresses::Affine {
        base: 128,
        stride: 4,
    };
    assert_eq!(common[0].addrs, line);
    assert_eq!(
        (common[0].dst, common[2].srcs.as_slice()),
        (Some(1), &[1][..])
    );
    assert_eq!(
        (common[2].pc, common[2].bytes, common[2].addrs.of(6)),
        (1, 8, 136)
    );
    let more = program(&text, 1, 1);
    assert_eq!(more[0].addrs.of(0), 0x1000 + 128);
    assert_eq!(
        (more[3].kind, more[3].detail, more[3].mask),
        (InstrKind::AtomShared, Detail::Atomic(6), 3)
    );
    assert_eq!((more[3].dst, more[3].srcs.as_slice()), (Some(2), &[1][..]));
    assert_eq!(
        (more[4].kind, more[4].detail),
        (InstrKind::Bar, Detail::Barrier(Meeting::of_block(3)))
    );
    assert_eq!(
        (more[5].dst, more[5].srcs.as_slice()),
        (Some(4), &[1, 2][..])
    );
}

#[test]
fn long_programs_come_in_parts() {
    let text = parse(
        ".block 1\n.shared 4096\nrepeat 0\nsfu\nend\nrepeat 3\nrepeat 1000\n\
         ld.shared r1, [4*i]\nend\nbar\nend\nrepeat 1000000000\nalu r1\nend",
    )
    .unwrap();
    let mut stream = text.open(0, 0).unwrap();
    let mut instrs = Vec::new();
    while instrs.len() < 4000 {
        instrs.extend(stream.next_part().unwrap().unwrap().iter().cloned());
    }
    assert_eq!(instrs[1999].kind, InstrKind::LdShared);
    assert_eq!(
        instrs[1999].addrs.of(0),
        4 * 998,
        "998th turn of the second thousand"
    );
    let bars = instrs.iter().filter(|i| i.kind == InstrKind::Bar).count();
    assert_eq!((bars, instrs[3003].kind), (3, InstrKind::Alu));
}

#[test]
fn mistakes_are_reported_with_line_and_column() {
    for (text, expected) in [
        (
            "alu r1\n frob r2\n",
            "there is no instruction 'frob' at p.warp:2:2",
        ),
        ("alu q1", "'q1' is not a register at p.warp:1:5"),
        ("alu r256", "'r256' is not a register"),
        ("alu r1,", "an operand is missing at p.warp:1:8"),
        ("alu r1 r2", "unexpected 'r2' at p.warp:1:8"),
        ("ld.shared r1", "'ld.shared' has no address at p.warp:1:1"),
        (
            "ld.shared r1, [4*x]",
            "there is no variable 'x' at p.warp:1:18",
        ),
        (
            "ld.shared r1, [4*(l]",
            "a parenthesis is not closed at p.warp:1:20",
        ),
        (
            "ld.shared r1, [4*l",
            "the address is not closed at p.warp:1:19",
        ),
        (
            ".shared 64\nld.shared r1, [4*l]",
            "the address 64 of lane 16 of warp 0, block 0 is out of range or not aligned at p.warp:2:1",
        ),
        (
            ".shared 64\nld.shared r1, [1]",
            "out of range or not aligned",
        ),
        ("ld.global r1, [l-1]", "the address -1 of lane 0"),
        (
            "ld.global r1, [4/l]",
            "the address of lane 0 of warp 0, block 0 is not a number",
        ),
        ("ldlk.64 r1, [0]", "'ldlk.64' has no width '64'"),
        ("atom.shared.mul r1, [0]", "there is no atomic 'mul'"),
        ("repeat 3\nalu\n", "'repeat' has no 'end' at p.warp:1:1"),
        ("alu\nend\n", "'end' without an open 'repeat' at p.warp:2:1"),
        (
            "repeat 9999999999\nalu r1\nend",
            "9999999999 iterations are too many at p.warp:1:1",
        ),
        (".blok 32", "there is no directive '.blok'"),
        (
            ".block 0",
            "a block of 0 threads is not supported at p.warp:1:1",
        ),
        (
            ".block 4294967295 4294967295 4294967295",
            "a block of 18446744073709551615 threads is not supported",
        ),
        (
            "alu\n.grid 2",
            ".grid must come before the first instruction",
        ),
        (".grid 99999999999", "the number is too large at p.warp:1:7"),
        ("@0x100000000 alu r1", "has more lanes than a warp"),
        ("warp 3-1\nalu", "the range 3-1 is empty"),
        ("bar 256", "the barrier's number is too large at p.warp:1:5"),
    ] {
        let error = parse(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let nested = "repeat 70000\nrepeat 70000\nalu\nend\nend";
    assert!(
        parse(nested)
            .unwrap_err()
            .to_string()
            .contains("iterations are too many at p.warp:2:1")
    );
    let deep = format!("ld.global r1, [{}", "(".repeat(100_000));
    assert!(parse(&deep).unwrap_err().to_string().contains("too deeply"));
}
