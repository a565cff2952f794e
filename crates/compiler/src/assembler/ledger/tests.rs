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

/// In a loop, too, of which the code has one round, then two at once.
#[test]
fn spare_instructions_of_loops_go_to_the_neighbour() {
    let round = |n: u32| {
        [
            access(10, Op::Load, 4, (128 * n, 4)),
            access(11, Op::Load, 4, (128 * n + 2, 4)),
        ]
    };
    let rounds = trace((0..4).flat_map(round).collect());
    let mut code: Vec<_> = [0, 0, 8, 8, 512, 520]
        .map(|offset| machine(10, "LDS", "R4", offset))
        .into();
    for at in [1, 3, 4, 5] {
        code[at].in_loop = Some(0x40);
    }
    let ledger = Ledger::new(&rounds, &code);
    assert_eq!([10, 11].map(|l| fates(&ledger, l).kept), [4, 4]);
    // One that has no neighbour: the other load may be in registers.
    code.pop();
    let ledger = Ledger::new(&rounds, &code);
    assert_eq!(fates(&ledger, 11).removed, 4);
    // As far apart as the rounds: the copies are those of one load.
    let slide = |n: u32| {
        [
            access(10, Op::Load, 4, (32 * n, 1)),
            access(11, Op::Load, 4, (32 * n + 32, 1)),
        ]
    };
    let rounds = trace((0..4).flat_map(slide).collect());
    let mut code = [0, 128].map(|offset| machine(10, "LDS", "R4", offset));
    code.iter_mut().for_each(|m| m.in_loop = Some(0x40));
    let ledger = Ledger::new(&rounds, &code);
    assert_eq!(fates(&ledger, 11).removed, 4);
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

/// A load comes first: lanes on one word get it together, and store one by one.
#[test]
fn a_loop_of_a_load_and_an_atomic_counts_both() {
    let trace = trace(vec![access(10, Op::Atomic, 4, (5, 0))]);
    let code = [
        machine(10, "LDS", "R4", 0),
        machine(10, "ATOMS.CAST.SPIN", "R4", 0),
    ];
    let ledger = Ledger::new(&trace, &code);
    assert_eq!(fates(&ledger, 10).looped, 1);
    let ops: Vec<Op> = ledger.trace.accesses.iter().map(|a| a.op).collect();
    assert_eq!(ops, [Op::Load, Op::Atomic]);
    assert_eq!((conflicts(&trace), conflicts(&ledger.trace)), (31, 31));
}

/// By a generic address: code for global memory, for shared memory, and for local memory.
#[test]
fn a_generic_atomic_is_the_loop_that_it_has_for_shared_memory() {
    let trace = trace(vec![access(10, Op::Atomic, 4, (5, 0))]);
    let code = [
        machine(10, "ATOM.E.ADD.F16x2.RN.STRONG.GPU", "R2", 0),
        machine(10, "LDS", "R2", 0),
        machine(10, "ATOMS.CAST.SPIN", "R2", 0),
        machine(10, "LD.E", "R2", 0),
    ];
    let ledger = Ledger::new(&trace, &code);
    assert_eq!(fates(&ledger, 10).looped, 1);
    assert_eq!(ledger.sites[0].instructions, ["ATOMS.CAST.SPIN"]);
}

/// Narrow ones compare and swap the word around them; the result of the swap begins the
/// next round, and only the first one loads.
#[test]
fn a_loop_around_a_compare_and_swap_counts_its_load() {
    let trace = trace(vec![access(10, Op::Atomic, 2, (5, 0))]);
    let code = [
        machine(10, "LDS", "R8", 0),
        machine(10, "ATOMS.CAS", "R8", 0),
    ];
    let ledger = Ledger::new(&trace, &code);
    assert_eq!(fates(&ledger, 10).looped, 1);
    let ops: Vec<Op> = ledger.trace.accesses.iter().map(|a| a.op).collect();
    assert_eq!(ops, [Op::Load, Op::Atomic]);
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
    // What is before the loop and behind it runs for the rounds that are left over.
    let before = [(10, 0), (11, 64)].map(|(line, at)| machine(line, "LDS", "R4", at));
    let around = Ledger::new(&trace, &[&before[..], &code].concat());
    assert_eq!([10, 11].map(|l| fates(&around, l).kept), [2, 8]);
    // Of another base nothing is known.
    code[4].base = "R5".to_owned();
    assert_eq!(fates(&Ledger::new(&trace, &code), 10).kept, 8);
}

/// A sliding window of two words: the loop takes four rounds of four words at once. What the
/// second load leaves open between its rounds, the first has only in the first of them.
#[test]
fn unrolled_loops_merge_across_their_rounds() {
    let round = |n: u32| {
        [
            access(10, Op::Load, 4, (4 * n + 3, 16)),
            access(11, Op::Load, 8, (4 * n + 4, 16)),
        ]
    };
    let trace = trace((0..16).flat_map(round).collect());
    let mut code = vec![
        machine(10, "LDS.128", "R2", -16),
        machine(11, "LDS.128", "R2", 0),
        machine(11, "LDS.128", "R2", 16),
        machine(11, "LDS.128", "R2", 32),
        machine(11, "LDS.64", "R2", 48),
    ];
    for one in &mut code {
        one.in_loop = Some(0x40);
    }
    // A loop for the rounds that are left over, of which there are none.
    let mut single = machine(11, "LDS.64", "R2", 0);
    single.in_loop = Some(0x80);
    code.push(single);
    let ledger = Ledger::new(&trace, &code);
    let bytes = |of: u32| {
        ledger
            .trace
            .accesses
            .iter()
            .filter(|a| a.bytes == of)
            .count()
    };
    assert_eq!((bytes(16), bytes(8)), (4 * 4, 4));
    let (first, second) = (fates(&ledger, 10), fates(&ledger, 11));
    assert_eq!((first.kept, first.removed), (4, 12));
    assert_eq!(second.kept + second.merged, 16);
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

/// The same in a loop that takes two rounds at once, and of elements of two bytes.
#[test]
fn rounds_of_a_loop_are_split() {
    let round = |n: u32| access(10, Op::Load, 16, (128 * n, 4));
    let rounds = trace((0..4).map(round).collect());
    let mut code = [0, 8, 512, 520].map(|offset| machine(10, "LDS", "R4", offset));
    code.iter_mut().for_each(|m| m.in_loop = Some(0x40));
    let ledger = Ledger::new(&rounds, &code);
    assert_eq!(fates(&ledger, 10).split, 4);
    assert_eq!(ledger.trace.accesses.len(), 8);
    assert_eq!(conflicts(&ledger.trace), 8 * 3);
    let halves = trace(vec![access(10, Op::Load, 8, (0, 2))]);
    let mut half = machine(10, "LDS.U16", "R4", 0);
    half.bytes = 2;
    let ledger = Ledger::new(&halves, &[half]);
    assert_eq!(conflicts(&ledger.trace), 1);
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

/// Of three versions of a loop, the one that takes eight rounds at once has wide loads alone; a
/// version that does not run has the second load by itself.
#[test]
fn an_instruction_of_another_version_of_a_loop_is_not_of_the_main_one() {
    let round = |n: u32| {
        [(10, 2 * n), (11, 2 * n + 1)].map(|(line, word)| access(line, Op::Load, 4, (word, 16)))
    };
    let all = |rounds: u32| trace((0..rounds).flat_map(round).collect());
    let mut code: Vec<_> = (0..4).map(|n| machine(10, "LDS.64", "R2", 8 * n)).collect();
    for one in &mut code {
        one.in_loop = Some(0x40);
    }
    code.push(machine(10, "LDS", "R2", 0));
    code.push(machine(11, "LDS", "R2", 4));
    let ledger = Ledger::new(&all(8), &code);
    let second = fates(&ledger, 11);
    assert_eq!((second.kept, second.removed, second.merged), (0, 0, 8));
    assert!(ledger.trace.accesses.iter().all(|a| a.bytes == 8));
    // With rounds left over, the other version runs.
    assert!(fates(&Ledger::new(&all(9), &code), 11).kept > 0);
}

/// The instructions of the loop have the line of a constant in front of it.
#[test]
fn an_atomic_by_compare_and_swap_may_have_another_line() {
    let trace = trace(vec![access(10, Op::Atomic, 4, (0, 2))]);
    let at = |at: u32, one: MachineAccess| MachineAccess { at, ..one };
    let load = at(0x40, machine(10, "LD.E", "R2", 0));
    let mut swap = at(0x80, machine(3, "ATOM.E.CAS.STRONG.GPU", "R2", 0));
    swap.in_loop = Some(0x60);
    let found = fates(&Ledger::new(&trace, &[load.clone(), swap]), 10);
    assert_eq!((found.looped, found.removed), (1, 0));
    let found = fates(&Ledger::new(&trace, &[load]), 10);
    assert_eq!((found.not_accounted, found.removed), (1, 0));
}
