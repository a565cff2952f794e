use super::*;
use crate::trace::{ConflictProfile, ConflictRule};
use serde_json::json;

/// A warp's access at a line of the PTX: each lane `stride` words after the last,
/// from word `first` on.
fn access(line: u32, op: Op, bytes: u32, (first, stride): (u32, u32)) -> Access {
    let mut extra = serde_json::Map::new();
    extra.insert("ptx_line".to_owned(), json!(line));
    Access {
        warp: 0,
        pc: line,
        op,
        addrs: (0..32).map(|lane| Some(first + stride * lane)).collect(),
        bytes,
        increment: false,
        aggregated: false,
        extra,
    }
}

fn trace(accesses: Vec<Access>) -> AccessTrace {
    AccessTrace {
        name: "k".to_owned(),
        source: "k.toml".to_owned(),
        block_dim: [32, 1, 1],
        shared_bytes: 32768,
        warp_size: 32,
        barriers: vec![1],
        accesses,
        extra: serde_json::Map::new(),
    }
}

/// An instruction at a line, such as `LDS.64 [R4+0x10]`.
fn machine(line: u32, name: &str, base: &str, offset: i64) -> MachineAccess {
    let op = match &name[..2] {
        "LD" => Op::Load,
        "ST" => Op::Store,
        _ => Op::Atomic,
    };
    let bytes = match name.rsplit('.').next() {
        Some("128") => 16,
        Some("64") => 8,
        _ => 4,
    };
    MachineAccess {
        at: 0,
        line,
        name: name.to_owned(),
        op,
        bytes,
        base: base.to_owned(),
        offset,
        in_loop: None,
        aggregated: false,
        partial: false,
    }
}

fn fates(ledger: &Ledger, line: u32) -> Fates {
    ledger.sites.iter().find(|s| s.pc == line).unwrap().fates
}

fn conflicts(trace: &AccessTrace) -> u64 {
    let rule: ConflictRule = crate::config::Config::preset("sm80")
        .unwrap()
        .conflict_rule();
    ConflictProfile::new(trace, rule)
        .count(|word| word % 32)
        .conflicts
}

const KEPT: Fates = Fates {
    kept: 1,
    merged: 0,
    split: 0,
    aggregated: 0,
    removed: 0,
    not_accounted: 0,
};

const MERGED: Fates = Fates {
    kept: 0,
    merged: 1,
    ..KEPT
};

/// Two words side by side have one LDS.64, of the line of either.
#[test]
fn neighbours_are_merged() {
    let two = vec![
        access(10, Op::Load, 4, (0, 2)),
        access(11, Op::Load, 4, (1, 2)),
        access(20, Op::Store, 4, (0, 1)),
    ];
    let trace = trace(two);
    for line in [10, 11] {
        let code = [
            machine(line, "LDS.64", "R4", 0),
            machine(20, "STS", "R5", 0),
        ];
        let ledger = Ledger::new(&trace, &code);
        assert_eq!(
            [10, 11, 20].map(|l| fates(&ledger, l)),
            [MERGED, MERGED, KEPT]
        );
        let made = &ledger.trace.accesses;
        assert_eq!((made.len(), made[0].bytes, made[0].pc), (2, 8, line));
        assert_eq!(made[0].addrs, access(10, Op::Load, 8, (0, 2)).addrs);
        // Stride 2 costs 1 conflict each; 64-bit accesses side by side none.
        assert_eq!((conflicts(&trace), conflicts(&ledger.trace)), (2, 0));
        assert_eq!(ledger.trace.barriers, [u32::from(line == 11) ^ 1]);
    }
}

/// Both instructions have the line of the first load.
#[test]
fn spare_instructions_go_to_the_neighbour() {
    let trace = trace(vec![
        access(10, Op::Load, 4, (0, 1)),
        access(11, Op::Load, 4, (2, 1)),
    ]);
    let code = [machine(10, "LDS", "R4", 0), machine(10, "LDS", "R4", 8)];
    let ledger = Ledger::new(&trace, &code);
    assert_eq!([10, 11].map(|l| fates(&ledger, l)), [KEPT, KEPT]);
    assert_eq!(ledger.trace.accesses, trace.accesses);
}

/// A loop that was unrolled: straight code has three of four loads, one is still in
/// a register.
#[test]
fn what_registers_hold_is_removed() {
    let four = (0..4)
        .map(|n| access(10, Op::Load, 4, (16 * n, 1)))
        .collect();
    let trace = trace(four);
    let code: Vec<_> = (1..4).map(|n| machine(10, "LDS", "R4", 64 * n)).collect();
    let ledger = Ledger::new(&trace, &code);
    let expected = Fates {
        kept: 3,
        removed: 1,
        ..Fates::default()
    };
    assert_eq!(fates(&ledger, 10), expected);
    // In a loop of the machine code, all four are loaded.
    let mut inside = machine(10, "LDS", "R4", 0);
    inside.in_loop = Some(0);
    let ledger = Ledger::new(&trace, &[inside]);
    assert_eq!(fates(&ledger, 10).kept, 4);
    // Without any instruction none is.
    let ledger = Ledger::new(&trace, &[]);
    assert_eq!(
        (fates(&ledger, 10).removed, ledger.trace.accesses.len()),
        (4, 0)
    );
    // Unless there is one whose line is not known.
    let ledger = Ledger::new(&trace, &[machine(0, "LDS", "R4", 0)]);
    assert_eq!(fates(&ledger, 10).not_accounted, 4);
    assert_eq!(ledger.trace.accesses, trace.accesses);
}

/// Four rounds of one load are one LDS.128.
#[test]
fn rounds_of_a_loop_are_merged() {
    let four = (0..4).map(|n| access(10, Op::Load, 4, (n, 4))).collect();
    let trace = trace(four);
    let ledger = Ledger::new(&trace, &[machine(10, "LDS.128", "R4", 0)]);
    assert_eq!(fates(&ledger, 10).merged, 4);
    assert_eq!(ledger.trace.accesses.len(), 1);
    assert_eq!(conflicts(&ledger.trace), 0);
}

#[test]
fn wide_accesses_are_split() {
    let trace = trace(vec![access(10, Op::Load, 16, (0, 4))]);
    let code = [
        machine(10, "LDS.64", "R4", 0),
        machine(10, "LDS.64", "R4", 8),
    ];
    let ledger = Ledger::new(&trace, &code);
    assert_eq!(fates(&ledger, 10).split, 1);
    let first: Vec<_> = ledger.trace.accesses.iter().map(|a| a.addrs[1]).collect();
    assert_eq!(first, [Some(4), Some(6)]);
    assert!(ledger.sites[0].sentence().contains("1 split: 2 LDS.64"));
}

#[test]
fn one_lane_does_an_aggregated_atomic() {
    let trace = trace(vec![access(10, Op::Atomic, 4, (5, 0))]);
    let mut add = machine(10, "ATOMS.ADD", "RZ", 0);
    add.aggregated = true;
    let ledger = Ledger::new(&trace, &[add]);
    assert_eq!(fates(&ledger, 10).aggregated, 1);
    assert_eq!((conflicts(&trace), conflicts(&ledger.trace)), (31, 0));
}

/// A loop that takes four rounds at once: of one load it has four copies, of another
/// one, whose other words the first has.
#[test]
fn unrolled_loops_load_each_word_once() {
    let round = |n: u32| {
        [
            access(10, Op::Load, 4, (16 * n, 1)),
            access(11, Op::Load, 4, (16 * n + 16, 1)),
        ]
    };
    let trace = trace((0..8).flat_map(round).collect());
    let mut code: Vec<_> = (1..5).map(|n| machine(11, "LDS", "R4", 64 * n)).collect();
    code.push(machine(10, "LDS", "R4", 0));
    for one in &mut code {
        one.in_loop = Some(0x40);
    }
    let ledger = Ledger::new(&trace, &code);
    let (first, second) = (fates(&ledger, 10), fates(&ledger, 11));
    assert_eq!((first.kept, first.removed, second.kept), (2, 6, 8));
    // Of another base nothing is known.
    code[4].base = "R5".to_owned();
    assert_eq!(fates(&Ledger::new(&trace, &code), 10).kept, 8);
}

/// Of eight bytes only four are needed: one load of four, eight bytes apart.
#[test]
fn a_load_is_narrowed_to_what_is_needed() {
    let trace = trace(vec![access(10, Op::Load, 8, (0, 2))]);
    let ledger = Ledger::new(&trace, &[machine(10, "LDS", "R4", 0)]);
    let made = &ledger.trace.accesses;
    assert_eq!((made.len(), made[0].bytes), (1, 4));
    assert_eq!((conflicts(&trace), conflicts(&ledger.trace)), (0, 1));
}

/// An atomic that only whole warps have done by one lane.
#[test]
fn incomplete_warps_do_their_own_atomics() {
    let (mut some, all) = (
        access(10, Op::Atomic, 4, (3, 0)),
        access(10, Op::Atomic, 4, (3, 0)),
    );
    some.addrs[5] = None;
    let trace = trace(vec![some, all]);
    let of_lanes = MachineAccess {
        partial: true,
        ..machine(10, "ATOMS.ADD", "RZ", 0)
    };
    let of_one = MachineAccess {
        aggregated: true,
        ..machine(10, "ATOMS.ADD", "RZ", 0)
    };
    let ledger = Ledger::new(&trace, &[of_lanes, of_one]);
    let made = ledger.trace.accesses.iter();
    let lanes: Vec<usize> = made.map(|a| a.addrs.iter().flatten().count()).collect();
    assert_eq!(lanes, [31, 1]);
    assert_eq!(fates(&ledger, 10).aggregated, 1);
}
