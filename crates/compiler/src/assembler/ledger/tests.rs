mod loops;

use super::*;
use serde_json::json;
use spadkit_mapping::trace::{ConflictProfile, ConflictRule};

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
        barriers: Vec::new(),
        accesses,
        executed: Default::default(),
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
        skipped_since: None,
        beside: Vec::new(),
    }
}

fn fates(ledger: &Ledger, line: u32) -> Fates {
    ledger.sites.iter().find(|s| s.pc == line).unwrap().fates
}

fn conflicts(trace: &AccessTrace) -> u64 {
    let rule: ConflictRule = spadkit_sm::config::Config::preset("sm80")
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
    looped: 0,
    removed: 0,
    skipped: 0,
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
    let mut trace = trace(two);
    trace.barriers = vec![2];
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
        assert_eq!(ledger.trace.barriers, [1]);
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

/// Two pairs, each merged into an instruction of its own; between them is a barrier.
#[test]
fn the_neighbour_is_on_the_same_side_of_a_barrier() {
    let of_line = |line, word| access(line, Op::Store, 4, (word, 2));
    let stores = [(10, 0), (11, 1), (12, 1), (13, 0)];
    let mut trace = trace(stores.map(|(line, word)| of_line(line, word)).to_vec());
    trace.barriers = vec![2];
    let code = [
        machine(11, "STS.64", "R4", 0),
        machine(13, "STS.64", "R4", 0),
    ];
    let ledger = Ledger::new(&trace, &code);
    assert_eq!([10, 11, 12, 13].map(|l| fates(&ledger, l)), [MERGED; 4]);
    let lines = ledger.sites.iter().map(|s| s.merged_into.first().copied());
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines, [Some(11), None, Some(13), None]);
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

/// ptxas makes one load of two beside each other, and then narrows it to what is used: the
/// parts have the line of the first.
#[test]
fn parts_of_a_wide_load_belong_to_the_bytes_that_they_are_in() {
    let trace = trace(vec![
        access(10, Op::Load, 8, (0, 4)),
        access(11, Op::Load, 4, (2, 4)),
    ]);
    let mut half = machine(10, "LDS.U16", "R7", 10);
    half.bytes = 2;
    let ledger = Ledger::new(&trace, &[machine(10, "LDS", "R7", 0), half]);
    let (first, second) = (fates(&ledger, 10), fates(&ledger, 11));
    assert_eq!((first.split, second.split, second.removed), (1, 1, 0));
    assert_eq!(conflicts(&ledger.trace), 6);
    let made: Vec<_> = ledger.trace.accesses.iter().map(|a| a.addrs[1]).collect();
    assert_eq!(made, [Some(4), Some(6)]);
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

/// Two words of sixteen bytes are used, so there are two loads of four bytes, not
/// four, whatever the alignment of the register.
#[test]
fn a_load_is_split_into_what_is_needed() {
    let trace = trace(vec![access(10, Op::Load, 16, (0, 4))]);
    for (offsets, words) in [([0, 8], [0, 2]), ([4, 12], [1, 3]), ([12, 16], [0, 1])] {
        let code = offsets.map(|offset| machine(10, "LDS", "R4", offset));
        let ledger = Ledger::new(&trace, &code);
        assert_eq!(fates(&ledger, 10).split, 1);
        let made = &ledger.trace.accesses;
        let first: Vec<_> = made.iter().map(|a| (a.bytes, a.addrs[1])).collect();
        assert_eq!(first, words.map(|word| (4, Some(4 + word))));
        assert_eq!((conflicts(&trace), conflicts(&ledger.trace)), (0, 6));
    }
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

/// ptxas gives a product the line of what makes its descriptors, which is before it.
#[test]
fn products_are_kept_whatever_their_line() {
    let mut products = [12, 14].map(|line| access(line, Op::Load, 16, (0, 4)));
    for product in &mut products {
        let field = spadkit_mapping::trace::BY_DESCRIPTOR_FIELD;
        product.extra.insert(field.to_owned(), json!(true));
    }
    let own = access(11, Op::Load, 4, (0, 1));
    let trace = trace([&[own][..], &products].concat());
    let hgmma = |line| MachineAccess {
        op: Op::Load,
        ..machine(line, "HGMMA.64x64x16.F32", "UR8", 0)
    };
    let code = [machine(11, "LDS", "R4", 0), hgmma(11), hgmma(14)];
    let ledger = Ledger::new(&trace, &code);
    assert_eq!((ledger.fates().kept, ledger.fates().total()), (3, 3));
    assert_eq!(ledger.sites[0].instructions, ["LDS"]);
    assert_eq!(ledger.sites[1].instructions, ["2 HGMMA.64x64x16.F32"]);
}

/// Lanes that have parted execute the same instruction one group after another.
#[test]
fn groups_of_lanes_take_turns_at_an_instruction() {
    let of_lanes = |line: u32, lanes: std::ops::Range<u32>| {
        let mut own = access(line, Op::Load, 4, (0, 2));
        for (lane, word) in (0..).zip(own.addrs.iter_mut()) {
            *word = word.filter(|_| lanes.contains(&lane));
        }
        own
    };
    let accesses = vec![
        of_lanes(10, 0..8),
        of_lanes(10, 8..30),
        of_lanes(10, 30..32),
        // A second round, of which a register has the value.
        of_lanes(10, 0..8),
    ];
    let ledger = Ledger::new(&trace(accesses), &[machine(10, "LDS", "R2", 0)]);
    let found = fates(&ledger, 10);
    assert_eq!((found.kept, found.removed), (3, 1));
}
