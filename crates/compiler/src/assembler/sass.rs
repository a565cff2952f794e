//! The accesses to shared memory in machine code, with the lines of the PTX that
//! they are of: what `nvdisasm -c -gp` prints of a cubin.

mod beside;
mod skips;

use beside::Listed;
pub use beside::{Beside, BesideKind};
use skips::Skips;
use spadkit_mapping::trace::Op;
use std::collections::{HashMap, HashSet};

/// An instruction that accesses shared memory, or may by a generic address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineAccess {
    /// Byte in the code.
    pub at: u32,
    /// 1-based line of the PTX.
    pub line: u32,
    /// Opcode with modifiers, such as `LDS.64`.
    pub name: String,
    /// Operation of the instruction.
    pub op: Op,
    /// Bytes of each lane; of a matrix 16.
    pub bytes: u32,
    /// The registers of its address, without the constant.
    pub base: String,
    /// The constant.
    pub offset: i64,
    /// The first byte of the innermost loop of the machine code that it is in.
    pub in_loop: Option<u32>,
    /// Whether one lane, elected by a vote, executes it for all.
    pub aggregated: bool,
    /// Whether it executes if some lanes of the warp are inactive; another
    /// instruction executes if all are active.
    pub partial: bool,
    /// The line of the last barrier before it, if a branch, an exit or a guard between the
    /// two may leave it out.
    pub skipped_since: Option<u32>,
    /// Of a load, the instructions that execute for the same lanes.
    pub beside: Vec<Beside>,
}

impl MachineAccess {
    /// Whether it moves matrices (`LDSM`, `STSM`), or multiplies some.
    pub fn is_matrix(&self) -> bool {
        self.name.starts_with("LDSM") || self.name.starts_with("STSM") || self.is_product()
    }

    /// Whether it multiplies matrices that a descriptor names (`wgmma`, by type `HGMMA`,
    /// `QGMMA`, `IGMMA`, `BGMMA`).
    pub fn is_product(&self) -> bool {
        self.opcode().ends_with("GMMA")
    }

    fn opcode(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }

    /// Whether it is an atomic at a generic address.
    pub fn is_generic_atomic(&self) -> bool {
        self.name.starts_with("ATOM.")
    }

    /// Whether it adds one for each lane, and counts the lanes of a word first.
    pub fn counts_lanes(&self) -> bool {
        self.name.starts_with("ATOMS.POPC.INC")
    }
}

/// The accesses of `entry` in a listing of `nvdisasm -c -gp`; `None` where it has no
/// such code.
pub fn accesses(listing: &str, entry: &str) -> Option<Vec<MachineAccess>> {
    let start = format!(".text.{entry},");
    let mut lines = listing.lines();
    lines.find(|l| is_section(l) && l.contains(&start))?;
    let mut code = Code::default();
    for line in lines.take_while(|l| !is_section(l)) {
        code.line(line);
    }
    Some(code.finish())
}

/// Not `.sectioninfo`, which is within a section.
fn is_section(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix(".section");
    rest.is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

/// A listing, as far as it has been read.
#[derive(Default)]
struct Code {
    found: Vec<MachineAccess>,
    labels: HashMap<String, u32>,
    /// Labels before the next instruction.
    open: Vec<String>,
    /// Branches, and the labels they go to.
    branches: Vec<(u32, String)>,
    line: u32,
    /// The line of the last vote.
    voted: Option<u32>,
    /// Registers that have the lane's number, and predicates that compare one with what
    /// a vote chose: of one lane. Several atomics may share them.
    lane_ids: HashSet<String>,
    leaders: HashSet<String>,
    /// Predicates that are true if all lanes of the warp have voted.
    full: HashSet<String>,
    /// The label at which the code of the leader ends.
    leader_until: Option<String>,
    /// The function that the next instruction is of, by its first byte: none is the
    /// entry.
    function: Option<u32>,
    function_starts: bool,
    skips: Skips,
    listed: Listed,
}

impl Code {
    fn line(&mut self, text: &str) {
        let text = text.trim();
        if let Some((_, number)) = text.split_once(".nv_debug_ptx_txt\", line ") {
            let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
            self.line = digits.parse().unwrap_or(0);
        } else if let Some(label) = text.strip_suffix(':').filter(|t| t.starts_with('.')) {
            self.leader_until.take_if(|until| until == label);
            self.open.push(label.to_owned());
        } else if text.starts_with('$') && text.ends_with(':') {
            self.function_starts = true;
        } else if let Some((at, instruction)) = instruction(text) {
            for label in self.open.drain(..) {
                self.labels.insert(label, at);
            }
            if std::mem::take(&mut self.function_starts) {
                self.function = Some(at);
                self.skips.begin_function(at);
            }
            self.instruction(at, instruction);
        }
    }

    fn instruction(&mut self, at: u32, text: &str) {
        let (guard, text) = match text.strip_prefix('@') {
            Some(rest) => rest.split_once(' ').unwrap_or((rest, "")),
            None => ("", text),
        };
        let (name, operands) = text.trim().split_once(' ').unwrap_or((text, ""));
        let opcode = name.split('.').next().unwrap_or(name);
        self.skips
            .instruction(at, self.line, (guard, name, operands));
        self.listed.add(at, self.line, (guard, opcode, operands));
        if let Some((_, label)) = operands.split_once("`(") {
            let label = label.split(')').next().unwrap_or(label);
            self.branches.push((at, label.to_owned()));
            // All lanes but the leader continue behind it.
            let leads = |guard: &str| self.leaders.contains(guard);
            if opcode == "BRA" && guard.strip_prefix('!').is_some_and(leads) {
                self.leader_until = Some(label.to_owned());
            }
        }
        if matches!(opcode, "VOTE" | "VOTEU") {
            self.voted = Some(self.line);
        }
        self.follow(opcode, name, operands);
        let op = match opcode {
            "LDS" | "LDSM" | "LD" => Op::Load,
            "STS" | "STSM" | "LDGSTS" | "ST" => Op::Store,
            "ATOMS" | "ATOM" => Op::Atomic,
            _ if opcode.ends_with("GMMA") && operands.contains("gdesc[") => Op::Load,
            _ => return,
        };
        let Some((base, offset)) = address(operands) else {
            return;
        };
        self.found.push(MachineAccess {
            at,
            line: self.line,
            name: name.to_owned(),
            op,
            bytes: bytes(opcode, name),
            base,
            offset,
            // A function may be called any number of times, so its body counts as a loop.
            in_loop: self.function,
            aggregated: op == Op::Atomic && self.is_of_one_lane(guard),
            partial: op == Op::Atomic && self.is_of_some_lanes(guard),
            skipped_since: None,
            beside: Vec::new(),
        });
    }

    /// Whether a guard is true in one lane alone.
    fn is_of_one_lane(&self, guard: &str) -> bool {
        let voted = !guard.is_empty() && self.voted == Some(self.line);
        let leads = self.leader_until.is_some() || self.leaders.contains(guard);
        leads || voted && !self.is_of_some_lanes(guard)
    }

    /// Whether a guard is true if some lanes of the warp are missing.
    fn is_of_some_lanes(&self, guard: &str) -> bool {
        guard
            .strip_prefix('!')
            .is_some_and(|p| self.full.contains(p))
    }

    /// Follows the lane's number, and its comparison with what a vote has chosen.
    fn follow(&mut self, opcode: &str, name: &str, operands: &str) {
        let mut all = operands
            .split(',')
            .map(|o| o.trim().trim_end_matches(';').trim());
        let target = all.next().unwrap_or_default();
        let compares = name.starts_with("ISETP.EQ") && self.voted.is_some();
        let operands_left: Vec<&str> = all.collect();
        // A written register no longer holds its old value.
        self.leaders.remove(target);
        self.full.remove(target);
        if compares && operands_left.iter().any(|o| self.lane_ids.contains(*o)) {
            self.leaders.insert(target.to_owned());
            return;
        }
        if compares && operands_left.contains(&"-0x1") && self.voted == Some(self.line) {
            self.full.insert(target.to_owned());
            return;
        }
        self.lane_ids.remove(target);
        if opcode == "S2R" && operands.contains("SR_LANEID") {
            self.lane_ids.insert(target.to_owned());
        }
    }

    fn finish(mut self) -> Vec<MachineAccess> {
        let back = |(at, label): &(u32, String)| {
            let to = *self.labels.get(label)?;
            // A branch to itself pads the end.
            (to < *at).then_some(to..=*at)
        };
        let loops: Vec<_> = self.branches.iter().filter_map(back).collect();
        let starts: HashSet<u32> = self.labels.values().copied().collect();
        for one in &mut self.found {
            if one.name.starts_with("LDS") && !one.is_matrix() {
                one.beside = self.listed.beside(one.at, &starts);
            }
            let around = loops.iter().filter(|l| l.contains(&one.at));
            let innermost = around.min_by_key(|l| l.end() - l.start());
            one.in_loop = innermost.map(|l| *l.start()).or(one.in_loop);
            let branches = (&self.branches[..], &self.labels);
            one.skipped_since = self.skips.since(one.at, branches);
        }
        self.found
    }
}

/// `/*0090*/  NAME operands ;`: byte and text.
fn instruction(text: &str) -> Option<(u32, &str)> {
    let (at, rest) = text.strip_prefix("/*")?.split_once("*/")?;
    let at = u32::from_str_radix(at, 16).ok()?;
    Some((at, rest.split(';').next()?.trim()))
}

/// Bytes of each lane.
fn bytes(opcode: &str, name: &str) -> u32 {
    if matches!(opcode, "LDSM" | "STSM") || opcode.ends_with("GMMA") {
        return 16;
    }
    let width = name.split('.').skip(1).find_map(|word| match word {
        "128" => Some(16),
        "64" => Some(8),
        "U16" | "S16" => Some(2),
        "U8" | "S8" => Some(1),
        _ => None,
    });
    width.unwrap_or(4)
}

/// Registers and constant of the first address.
fn address(operands: &str) -> Option<(String, i64)> {
    let inside = operands.split_once('[')?.1.split_once(']')?.0;
    let (mut registers, mut offset) = (Vec::new(), 0);
    for part in inside.split('+') {
        let (sign, digits) = match part.trim().strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, part.trim()),
        };
        match digits.strip_prefix("0x") {
            Some(hex) => {
                offset += sign * i64::from(u32::from_str_radix(hex, 16).ok()?);
            }
            None => registers.push(part.trim().trim_end_matches(".reuse")),
        }
    }
    Some((registers.join("+"), offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "\t.section\t.text.other,\"ax\",@progbits\n\
        \t//## File \".nv_debug_ptx_txt\", line 9\n\
        \x20       /*0000*/                   LDS R1, [R2] ;\n\
        \t.section\t.text.k,\"ax\",@progbits\n\
        \t.sectioninfo\t@\"SHI_REGISTERS=12\"\n\
        .text.k:\n\
        \t//## File \".nv_debug_ptx_txt\", line 12\n\
        \x20       /*0000*/                   LDS.U.64 R4, [R2.X4+UR4+-0x10] ;\n\
        .L_x_1:\n\
        \t//## File \".nv_debug_ptx_txt\", line 20 inlined at \"k.cu\", line 3\n\
        \x20       /*0010*/              @!P0 STS.U8 [R3], R4 ;\n\
        \x20       /*0020*/                   LDG.E R1, [R2.64] ;\n\
        \x20       /*0030*/               @P1 BRA `(.L_x_1) ;\n\
        \t//## File \".nv_debug_ptx_txt\", line 30\n\
        \x20       /*0040*/                   VOTEU.ANY UR4, UPT, PT ;\n\
        \x20       /*0050*/               @P1 ATOMS.ADD RZ, [RZ], R0 ;\n\
        \x20       /*0060*/                   LDSM.16.MT88.4 R4, [R8+0x20] ;\n\
        \x20       /*0070*/                   LDGSTS.E.BYPASS.128 [R9+0x400], [R2.64] ;\n\
        \x20       /*0078*/                   QGMMA.64x32x32.F32.E4M3.E4M3 R24, gdesc[UR8], R24 ;\n\
        .L_x_0:\n\
        \x20       /*0080*/                   BRA `(.L_x_0);\n";

    #[test]
    fn accesses_have_lines_widths_and_loops() {
        let found = accesses(LISTING, "k").unwrap();
        let shown: Vec<_> = found
            .iter()
            .map(|a| (a.line, a.name.as_str(), a.bytes, a.base.as_str(), a.offset))
            .collect();
        assert_eq!(
            shown,
            [
                (12, "LDS.U.64", 8, "R2.X4+UR4", -16),
                (20, "STS.U8", 1, "R3", 0),
                (30, "ATOMS.ADD", 4, "RZ", 0),
                (30, "LDSM.16.MT88.4", 16, "R8", 32),
                (30, "LDGSTS.E.BYPASS.128", 16, "R9", 1024),
                (30, "QGMMA.64x32x32.F32.E4M3.E4M3", 16, "UR8", 0),
            ]
        );
        let loops: Vec<_> = found.iter().map(|a| a.in_loop).collect();
        assert_eq!(loops, [None, Some(0x10), None, None, None, None]);
        let one_lane: Vec<bool> = found.iter().map(|a| a.aggregated).collect();
        assert_eq!(one_lane, [false, false, true, false, false, false]);
        let matrices = found.iter().map(MachineAccess::is_matrix);
        assert!(matrices.eq([false, false, false, true, false, true]));
        assert_eq!(accesses(LISTING, "missing"), None);
    }

    #[test]
    fn several_atomics_share_a_vote() {
        let listing = "\t.section\t.text.k,\"ax\",@progbits\n\
            .text.k:\n\
            \t//## File \".nv_debug_ptx_txt\", line 12\n\
            \x20       /*0000*/                   VOTEU.ANY UR4, UPT, PT ;\n\
            \x20       /*0010*/                   UFLO.U32 UR4, UR4 ;\n\
            \x20       /*0020*/                   S2R R8, SR_LANEID ;\n\
            \x20       /*0030*/                   ISETP.EQ.U32.AND P0, PT, R8, UR4, PT ;\n\
            \x20       /*0040*/               @P0 ATOMS.MIN.S32 RZ, [RZ], R9 ;\n\
            \t//## File \".nv_debug_ptx_txt\", line 13\n\
            \x20       /*0050*/               @P0 ATOMS.MIN.S32 RZ, [RZ], R9 ;\n\
            \x20       /*0060*/              @!P0 ATOMS.MIN.S32 RZ, [RZ], R9 ;\n\
            \x20       /*0070*/               @P1 ATOMS.MIN.S32 RZ, [RZ], R9 ;\n\
            \x20       /*0080*/                   ISETP.NE.AND P0, PT, R7, RZ, PT ;\n\
            \x20       /*0090*/               @P0 ATOMS.MIN.S32 RZ, [RZ], R9 ;\n";
        let found = accesses(listing, "k").unwrap();
        let one_lane: Vec<bool> = found.iter().map(|a| a.aggregated).collect();
        assert_eq!(one_lane, [true, true, false, false, false]);
    }

    #[test]
    fn an_atomic_has_an_instruction_for_incomplete_warps() {
        let listing = "\t.section\t.text.k,\"ax\",@progbits\n\
            .text.k:\n\
            \t//## File \".nv_debug_ptx_txt\", line 12\n\
            \x20       /*0000*/                   VOTE.ANY R0, PT, PT ;\n\
            \x20       /*0010*/                   ISETP.EQ.U32.AND P1, PT, R0, -0x1, PT ;\n\
            \x20       /*0020*/              @!P1 ATOMS.ADD R5, [RZ], R4 ;\n\
            \x20       /*0030*/               @P2 ATOMS.ADD R0, [RZ], R6 ;\n";
        let found = accesses(listing, "k").unwrap();
        let kinds: Vec<_> = found.iter().map(|a| (a.aggregated, a.partial)).collect();
        assert_eq!(kinds, [(false, true), (true, false)]);
    }

    #[test]
    fn a_leader_goes_through_a_loop_alone() {
        let listing = "\t.section\t.text.k,\"ax\",@progbits\n\
            .text.k:\n\
            \t//## File \".nv_debug_ptx_txt\", line 12\n\
            \x20       /*0000*/                   S2R R0, SR_LANEID ;\n\
            \x20       /*0010*/                   VOTEU.ANY UR4, UPT, PT ;\n\
            \x20       /*0020*/                   UFLO.U32 UR5, UR4 ;\n\
            \x20       /*0030*/                   ISETP.EQ.U32.AND P0, PT, R0, UR5, PT ;\n\
            \x20       /*0040*/              @!P0 BRA `(.L_x_85) ;\n\
            .L_x_86:\n\
            \x20       /*0050*/                   ATOMS.CAST.SPIN.64 R6, [RZ], R4, R6 ;\n\
            \x20       /*0060*/                   ISETP.EQ.U32.AND P0, PT, R6, 0x1, PT ;\n\
            \x20       /*0070*/              @!P0 BRA `(.L_x_86) ;\n\
            .L_x_85:\n\
            \x20       /*0080*/                   ATOMS.CAST.SPIN.64 R6, [RZ], R4, R6 ;\n";
        let found = accesses(listing, "k").unwrap();
        let one_lane: Vec<bool> = found.iter().map(|a| a.aggregated).collect();
        assert_eq!(one_lane, [true, false]);
    }

    /// A function may be called any number of times: its body counts as a loop.
    #[test]
    fn a_function_is_executed_several_times() {
        let listing = "\t.section\t.text.k,\"ax\",@progbits\n\
            .text.k:\n\
            \x20       /*0000*/                   LDS R1, [R2] ;\n\
            $k$_Z1fPii:\n\
            \x20       /*0010*/                   ATOMS.ADD RZ, [UR6], R6 ;\n";
        let found = accesses(listing, "k").unwrap();
        let loops: Vec<_> = found.iter().map(|a| a.in_loop).collect();
        assert_eq!(loops, [None, Some(0x10)]);
    }

    #[test]
    fn constants_of_no_address_are_no_access() {
        assert_eq!(
            address("R1, [R2+0x7fffffff+0x7fffffff]").unwrap().1,
            0xffff_fffe
        );
        assert_eq!(
            address("R1, [R2+0x7fffffffffffffff+0x7fffffffffffffff]"),
            None
        );
        assert_eq!(address("R1, [R2+-0x]"), None);
    }
}
