//! Atomics at one address for the whole warp: `ptxas` has one lane do the work
//! of all.
//!
//! The rules are what `ptxas` 12.9 and 13.5 make for sm_70 to sm_90 of shared and of
//! global memory (docs/guides/conflicts.md has the table). The address has to be one
//! that `ptxas` knows to be the same in all lanes: it follows from constants,
//! parameters, the block index, and loads from such addresses; for some GPUs, from
//! votes and from counters of loops, too. Whether lanes happen to agree does not
//! matter.

use spadkit_ptx::analysis::{Loops, Uniformity, Values};
use spadkit_ptx::ast::{Base, Function, Instruction, Module, Operand, Register};
use spadkit_ptx::cfg::Cfg;
use spadkit_ptx::names::{Type, Word};
use spadkit_ptx::opcodes::Opcode;
use std::collections::HashSet;

/// The condition under which one lane executes an atomic for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Aggregated {
    /// Never.
    #[default]
    No,
    /// All lanes of the warp execute it: by shuffles.
    FullWarps,
    /// Always: by votes and counts, or by a reduction of the lanes.
    Always,
}

impl Aggregated {
    /// Whether it holds for the lanes that execute.
    pub fn holds(self, exec: u32) -> bool {
        match self {
            Aggregated::No => false,
            Aggregated::FullWarps => exec == u32::MAX,
            Aggregated::Always => exec != 0,
        }
    }
}

/// The condition for each instruction of `function`; `read` has the registers that
/// the function reads.
pub(super) fn of_function(
    module: &Module,
    function: &Function,
    read: &HashSet<u32>,
) -> Vec<Aggregated> {
    let mut found = vec![Aggregated::No; function.instructions.len()];
    let sm = module.sm().unwrap_or(u32::MAX);
    let candidates: Vec<(usize, Candidate)> = (function.instructions.iter().enumerate())
        .filter_map(|(at, i)| Some((at, Candidate::of(i, read)?)))
        .collect();
    if candidates.is_empty() {
        return found;
    }
    let cfg = Cfg::new(function);
    let values = Values::new(function, &cfg);
    let loops = Loops::new(&cfg, values.dominators());
    let uniformity = Uniformity::of_machine_code(module, function, &cfg, &values, &loops);
    for (at, candidate) in candidates {
        let block = cfg.block_of[at];
        let same =
            |register: Register| uniformity.holds_at(values.read(at as u32, register), block);
        if candidate.address.is_none_or(same) {
            found[at] = candidate.holds(sm, candidate.value.is_none_or(same));
        }
    }
    found
}

/// An atomic that may be aggregated.
struct Candidate {
    kind: Kind,
    is_read: bool,
    /// The register of its address, and of its operand; none where they are
    /// constant.
    address: Option<Register>,
    value: Option<Register>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Adds integers of 32 bits.
    Add,
    /// Adds integers of 64 bits.
    AddLong,
    /// The smallest, the largest, or bits of 32.
    Reduces,
}

impl Candidate {
    fn of(i: &Instruction, read: &HashSet<u32>) -> Option<Self> {
        let (address, value, result) = match (i.opcode, &i.operands[..]) {
            (Opcode::Atom, [result, address, value]) => (address, value, Some(result)),
            (Opcode::Red, [address, value]) => (address, value, None),
            _ => return None,
        };
        let word = i.one_of(&[
            Word::Add,
            Word::Min,
            Word::Max,
            Word::And,
            Word::Or,
            Word::Xor,
        ])?;
        let kind = match (word, i.ty(0)?) {
            (Word::Add, Type::U32 | Type::S32) => Kind::Add,
            (Word::Add, Type::U64) => Kind::AddLong,
            (Word::Min | Word::Max, Type::U32 | Type::S32) => Kind::Reduces,
            (Word::And | Word::Or | Word::Xor, Type::B32) => Kind::Reduces,
            _ => return None,
        };
        let address = match address {
            Operand::Address(Base::Register(register), _) => Some(*register),
            Operand::Address(..) => None,
            _ => return None,
        };
        let value = match value {
            Operand::Register(register) => Some(*register),
            Operand::Immediate(_) => None,
            _ => return None,
        };
        let is_read = matches!(result, Some(Operand::Register(r)) if read.contains(&r.0));
        Some(Candidate {
            kind,
            is_read,
            address,
            value,
        })
    }

    /// At one address; `uniform` where all lanes have one operand.
    fn holds(&self, sm: u32, uniform: bool) -> Aggregated {
        match (self.kind, self.is_read, uniform) {
            // The lanes are counted.
            (Kind::Add | Kind::AddLong, _, true) => Aggregated::Always,
            (Kind::AddLong, _, false) | (Kind::Reduces, true, _) => Aggregated::No,
            // Each lane needs the sum of those before it.
            (Kind::Add, true, false) => Aggregated::FullWarps,
            // REDUX takes any lanes.
            _ if sm >= 80 => Aggregated::Always,
            _ => Aggregated::FullWarps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Aggregated::{Always, FullWarps, No};

    /// What ptxas 13.5 makes of an atomic at one address, for sm_75 and for sm_80 and
    /// sm_90: operation, operand, whether the result is read.
    const TABLE: &[(&str, &str, bool, [Aggregated; 2])] = &[
        ("add.u32", "1", true, [Always, Always]),
        ("add.u32", "5", false, [Always, Always]),
        ("add.s32", "%uniform", true, [Always, Always]),
        ("add.s32", "%lane", true, [FullWarps, FullWarps]),
        ("add.u32", "%lane", false, [FullWarps, Always]),
        ("add.u64", "%long", true, [Always, Always]),
        ("add.u64", "%longs", false, [No, No]),
        ("min.u32", "%uniform", true, [No, No]),
        ("min.u32", "%uniform", false, [FullWarps, Always]),
        ("max.s32", "%lane", false, [FullWarps, Always]),
        ("and.b32", "7", false, [FullWarps, Always]),
        ("or.b32", "%lane", false, [FullWarps, Always]),
        ("xor.b32", "%lane", true, [No, No]),
        ("and.b64", "%long", false, [No, No]),
        ("max.u64", "%long", false, [No, No]),
        ("inc.u32", "5", false, [No, No]),
        ("exch.b32", "5", false, [No, No]),
        ("add.f32", "%single", false, [No, No]),
    ];

    fn found(sm: u32, before: &str, (atomic, is_read): (&str, bool)) -> Aggregated {
        let text = format!(
            ".version 8.0\n.target sm_{sm}\n.address_size 64\n\
             .entry k(.param .u32 n, .param .u64 p) {{\n\
             .reg .b32 %uniform, %lane, %a, %r<4>; .reg .b64 %long, %longs, %base, %x<4>;\n\
             .reg .f32 %single, %f<4>; .reg .pred %p; .shared .align 8 .b8 s[4096];\n\
             ld.param.u32 %uniform, [n]; ld.param.u64 %long, [p]; mov.u32 %lane, %tid.x;\n\
             cvt.u64.u32 %longs, %lane; cvta.to.global.u64 %base, %long;\n\
             mov.f32 %single, 0f3F800000; mov.u32 %a, s;\n{before}\n{atomic}\nret; }}\n"
        );
        let module = Module::parse(&text, "k.ptx").unwrap();
        let function = &module.functions[0];
        let registers = if is_read { function.registers.len() } else { 0 };
        let read: HashSet<u32> = (0..registers as u32).collect();
        let at = function
            .instructions
            .iter()
            .position(|i| matches!(i.opcode, Opcode::Atom | Opcode::Red));
        of_function(&module, function, &read)[at.unwrap()]
    }

    #[test]
    fn one_lane_does_what_ptxas_aggregates() {
        for &(operation, operand, is_read, expected) in TABLE {
            let ty = operation.rsplit('.').next().unwrap();
            let (register, move_ty) = match ty {
                "u64" | "b64" => ("%x1", "b64"),
                "f32" => ("%f1", "f32"),
                _ => ("%r1", "b32"),
            };
            for space in ["shared", "global"] {
                let address = if space == "shared" { "%a" } else { "%base" };
                let mut text =
                    format!("atom.{space}.{operation} {register}, [{address}], {operand};");
                if is_read {
                    text += &format!(" st.global.{move_ty} [%base], {register};");
                }
                for (sm, expected) in [75, 80, 90].into_iter().zip([0, 1, 1].map(|n| expected[n])) {
                    assert_eq!(found(sm, "", (&text, is_read)), expected, "sm_{sm}: {text}");
                }
            }
        }
    }

    #[test]
    fn the_address_has_to_be_known_for_one() {
        let at = |before: &str| found(80, before, ("red.shared.add.u32 [%a], %lane;", false));
        let one = [
            "",
            "add.u32 %a, %a, %uniform;",
            "mov.u32 %r1, %ctaid.x; add.u32 %a, %a, %r1;",
            "ld.global.u32 %r1, [%base]; add.u32 %a, %a, %r1;",
            "ld.shared.u32 %r1, [s+64]; add.u32 %a, %a, %r1;",
            "setp.gt.u32 %p, %uniform, 5; selp.u32 %r1, 4, 8, %p; add.u32 %a, %a, %r1;",
        ];
        let several = [
            "add.u32 %a, %a, %lane;",
            "shr.u32 %r1, %lane, 5; add.u32 %a, %a, %r1;",
            "mov.u32 %r1, %tid.y; add.u32 %a, %a, %r1;",
            "mad.wide.u32 %x1, %lane, 4, %base; ld.global.u32 %r1, [%x1]; add.u32 %a, %a, %r1;",
            "setp.gt.u32 %p, %lane, 5; selp.u32 %r1, 4, 8, %p; add.u32 %a, %a, %r1;",
            "setp.gt.u32 %p, %lane, 5; @%p add.u32 %a, %a, 64;",
        ];
        assert_eq!(one.map(at), [Always; 6]);
        assert_eq!(several.map(at), [No; 6]);
    }

    const ATOMIC: &str = "red.shared.add.u32 [%a], 2;";

    /// For sm_75, sm_80, sm_90 and sm_100.
    fn by_gpu(before: &str, after: &str) -> [bool; 4] {
        let of = |sm| found(sm, &format!("{before}\n{ATOMIC}"), (after, false)) == Always;
        [75, 80, 90, 100].map(of)
    }

    /// What ptxas 13.5 makes of an address that follows from what the warp agrees on.
    #[test]
    fn votes_and_shuffles_give_one_address_for_some_gpus() {
        let cases = [
            (
                "vote.sync.ballot.b32 %r1, %p, -1;",
                [false, false, true, true],
            ),
            (
                "redux.sync.or.b32 %r1, %lane, -1;",
                [false, false, true, true],
            ),
            (
                "match.all.sync.b32 %r1, %lane, -1;",
                [false, false, true, true],
            ),
            ("match.any.sync.b32 %r1, %lane, -1;", [false; 4]),
            (
                "shfl.sync.idx.b32 %r1, %lane, 0, 31, -1;",
                [false, false, true, true],
            ),
            (
                "shfl.sync.idx.b32 %r1, %lane, %uniform, 31, -1;",
                [false, false, true, true],
            ),
            (
                "mov.u32 %r2, 31; shfl.sync.idx.b32 %r1, %lane, 0, %r2, -1;",
                [false, false, true, true],
            ),
            // From lane 0 of each half, and from a lane that each one chooses.
            ("shfl.sync.idx.b32 %r1, %lane, 0, 4127, -1;", [false; 4]),
            ("shfl.sync.idx.b32 %r1, %lane, %lane, 31, -1;", [false; 4]),
            ("shfl.sync.bfly.b32 %r1, %lane, 1, 31, -1;", [false; 4]),
            ("activemask.b32 %r1;", [false, true, true, true]),
            ("mov.u32 %r1, %warpid;", [false, false, true, true]),
            ("mov.u32 %r1, %clock;", [true; 4]),
        ];
        for (text, expected) in cases {
            let before = format!("setp.gt.u32 %p, %lane, 5; {text} add.u32 %a, %a, %r1;");
            assert_eq!(by_gpu(&before, ""), expected, "{text}");
        }
    }

    /// What ptxas 13.5 makes of the counter of a loop.
    #[test]
    fn counters_of_loops_that_go_apart_differ() {
        let next = "add.u32 %a, %a, 4; add.u32 %r1, %r1, 1;";
        let own = "setp.lt.u32 %p, %r1, %lane; @%p bra LOOP;";
        let same = "setp.lt.u32 %p, %r1, %uniform; @%p bra LOOP;";
        let some = "setp.gt.u32 %p, %lane, 5; @%p bra END;";
        let start = "mov.u32 %r1, 0; LOOP:";
        let end = "END: st.global.u32 [%base], %r1;";
        let inner =
            "mov.u32 %r2, 0; IN: add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %lane; @%p bra IN;";
        let cases = [
            (start.to_owned(), format!("{next} {same}"), [true; 4]),
            (start.to_owned(), format!("{next} {own}"), [false; 4]),
            // Another loop inside, which lanes leave at different times.
            (
                start.to_owned(),
                format!("{inner} {next} {same}"),
                [false, false, true, true],
            ),
            // Only some lanes go round it, with and without anything to do behind it.
            (
                format!("{some} {start}"),
                format!("{next} {same} {end}"),
                [false, false, false, true],
            ),
            (
                format!("{some} {start}"),
                format!("{next} {same} END:"),
                [true; 4],
            ),
            // An address that does not change, in any loop.
            (
                format!("{some} {start}"),
                format!("add.u32 %r1, %r1, 1; {own} {end}"),
                [true; 4],
            ),
        ];
        for (before, after, expected) in cases {
            assert_eq!(
                by_gpu(&before, &after),
                expected,
                "{before} {ATOMIC} {after}"
            );
        }
    }

    /// A function that is called knows nothing of its parameters and results.
    #[test]
    fn parameters_of_functions_differ() {
        let text = ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 4 .b8 s[64];\n\
            .func f(.param .b32 p) { .reg .b32 %a; ld.param.u32 %a, [p];\n\
            red.shared.add.u32 [%a], 2; red.shared.add.u32 [s], 2; ret; }\n";
        let module = Module::parse(text, "k.ptx").unwrap();
        let all = of_function(&module, &module.functions[0], &HashSet::new());
        assert_eq!(all[1..3], [No, Always]);
    }

    #[test]
    fn shuffles_need_all_lanes() {
        assert!(FullWarps.holds(u32::MAX) && !FullWarps.holds(u32::MAX >> 1));
        assert!(Always.holds(1) && !Always.holds(0) && !No.holds(u32::MAX));
    }
}
