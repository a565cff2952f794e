//! Loops of the source, and those that ptxas makes of an atomic.

use super::*;

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

/// A loop of two stores, fully unrolled: one instruction does the first round, each other one
/// two rounds.
#[test]
fn stores_are_merged_over_rounds_by_instructions_of_several_widths() {
    let round = |n: u32| {
        [(10, 2 * n + 2), (11, 2 * n + 3)].map(|(line, word)| access(line, Op::Store, 4, (word, 0)))
    };
    let rounds = trace((0..7).flat_map(round).collect());
    let wide = |n: i64| machine(11, "STS.128", "RZ", 16 * n);
    let code: Vec<_> = [machine(11, "STS.64", "RZ", 8)]
        .into_iter()
        .chain((1..4).map(wide))
        .collect();
    let ledger = Ledger::new(&rounds, &code);
    let [first, second] = [10, 11].map(|line| fates(&ledger, line));
    assert_eq!((first.merged, first.removed), (7, 0));
    assert_eq!((second.merged, second.kept), (7, 0));
    let made: Vec<u32> = ledger.trace.accesses.iter().map(|a| a.bytes).collect();
    assert_eq!(made, [8, 16, 16, 16]);
}
