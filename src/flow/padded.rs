//! Longer rows in the declarations of arrays, and nothing else: the recorded accesses at their
//! new addresses. No instruction is added, so the kernel itself is not run again.

use super::software::Found;
use super::worth::{Run, Runs};
use super::{code, declared};
use crate::assembler::allocated;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::report::names;
use crate::report::{ChoiceKind, ChoiceLine, CodeText, DeclaredLine, Part, Skipped};
use crate::rewrite::{Occupancy, Resources};
use crate::sm::{
    Addresses, BlockNeeds, Incoming, Instr, InstrKind, KernelInfo, ProgramStream, Residency,
    Workload,
};
use crate::software::LayoutSpec;
use crate::suggest::{SourceFiles, Suggestion};
use crate::trace::{AccessTrace, ConflictCount, ConflictProfile, Places};
use std::sync::Arc;

/// Bytes that the addresses of variables stay multiples of.
const ALIGNED: u32 = 16;

/// An array with gaps, all in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gaps {
    start: u32,
    end: u32,
    /// Bytes before each gap.
    every: u32,
    /// Bytes of a gap.
    by: u32,
}

impl Gaps {
    /// Bytes that its declaration has more.
    fn growth(&self) -> u32 {
        self.by * (self.end - self.start).div_ceil(self.every)
    }
}

/// The addresses of shared memory with the longer rows.
pub(super) struct Padded {
    /// Sorted by their starts.
    arrays: Vec<Gaps>,
    /// The padding as an option of `rewrite --hash`.
    hash: String,
    /// Bytes more, as the suggestions count them.
    wasted_bytes: u32,
}

impl Padded {
    /// The padding in the declarations of all arrays that change; `None` if an array
    /// or its padded declaration is not known, or if wmma is given the length of all
    /// rows.
    pub fn of(suggestions: &[Suggestion], trace: &AccessTrace) -> Option<Self> {
        if !declared::may_be_declared(suggestions) {
            return None;
        }
        let variables = trace.shared_variables();
        let range = |s: &Suggestion| match &s.variable {
            None => Some((0, trace.shared_bytes)),
            Some(name) => {
                let own = variables.iter().find(|v| v.name == *name)?;
                Some((own.offset, own.offset + own.bytes))
            }
        };
        let gaps = |s: &Suggestion| {
            let (start, end) = range(s)?;
            let &LayoutSpec::Pad { every, by } = s.declared_padding()? else {
                return None;
            };
            let (every, by) = (4 * every, 4 * by);
            (start < end && every > 0).then_some(Gaps {
                start,
                end,
                every,
                by,
            })
        };
        let mut arrays = suggestions.iter().map(gaps).collect::<Option<Vec<_>>>()?;
        arrays.sort_by_key(|gaps| gaps.start);
        let spec = |s: &Suggestion| {
            let spec = s.declared_padding()?;
            Some(match suggestions.len() {
                1 => spec.to_string(),
                _ => format!("{}={spec}", s.array),
            })
        };
        let specs: Vec<String> = suggestions.iter().filter_map(spec).collect();
        Some(Padded {
            arrays,
            hash: specs.join(" "),
            wasted_bytes: suggestions.iter().map(declared::wasted_bytes).sum(),
        })
    }

    /// The new address of a word of 32 bits.
    pub fn word(&self, word: u32) -> u32 {
        self.place(4 * word) / 4
    }

    /// The new address of the byte at `address`.
    fn place(&self, address: u32) -> u32 {
        let mut before = 0;
        for array in &self.arrays {
            if address < array.start {
                break;
            }
            if address < array.end {
                let gaps = (address - array.start) / array.every;
                return address + before + gaps * array.by;
            }
            before += array.growth().next_multiple_of(ALIGNED);
        }
        address + before
    }

    /// Bytes of shared memory that a block of `bytes` has then.
    fn shared_bytes(&self, bytes: u32) -> u32 {
        let growth = self.arrays.iter().map(|array| {
            // What is behind the array stays aligned.
            if array.end < bytes {
                array.growth().next_multiple_of(ALIGNED)
            } else {
                array.growth()
            }
        });
        bytes + growth.sum::<u32>()
    }

    /// The conflicts of the accesses.
    fn count(&self, trace: &AccessTrace, machine: &Config) -> ConflictCount {
        let mut moved = trace.accesses.clone();
        for word in moved.iter_mut().flat_map(|a| a.addrs.iter_mut().flatten()) {
            *word = self.word(*word);
        }
        let mask = machine.geometry.bank_mask();
        ConflictProfile::of(moved.iter(), &machine.conflict_rule()).count(|word| word & mask)
    }

    /// The resources of a block with longer rows. The changed kernel is not compiled: it is
    /// taken to need the registers of the unchanged kernel.
    fn resources(&self, as_it_is: &Resources, info: &KernelInfo, machine: &Config) -> Resources {
        let bytes = self.shared_bytes(as_it_is.shared_bytes);
        let registers = allocated(as_it_is.assembled.as_ref(), Some(info.registers));
        let needs = BlockNeeds {
            name: &info.name,
            scratchpad_bytes: bytes,
            threads: info.threads(),
            registers: registers.unwrap_or(0),
        };
        let resident = Residency::new(machine, &needs, None).ok();
        Resources {
            assembled: None,
            shared_bytes: bytes,
            occupancy: resident
                .filter(|_| as_it_is.occupancy.is_some())
                .map(|r| Occupancy {
                    blocks: r.blocks(),
                    warps: r.blocks() * info.warps(),
                    limited_by: r.limit,
                }),
        }
    }

    /// The new byte address of a byte.
    fn byte(&self, address: u64) -> u64 {
        let address = u32::try_from(address);
        address.map_or(u64::MAX, |address| self.place(address).into())
    }

    /// The kernel's cycles with its accesses at the new addresses, on the machine without a hash.
    fn run(&self, runs: &Runs) -> Result<Run> {
        runs.moved(&|workload| {
            let info = workload.info().clone();
            Box::new(Moved {
                info: KernelInfo {
                    shared_bytes: self.shared_bytes(info.shared_bytes),
                    ..info
                },
                workload,
                padded: self,
            })
        })
    }
}

/// A kernel whose accesses are moved to other addresses.
struct Moved<'a> {
    workload: &'a dyn Workload,
    info: KernelInfo,
    padded: &'a Padded,
}

struct MovedProgram<'a> {
    program: Box<dyn ProgramStream + 'a>,
    padded: &'a Padded,
    lanes: usize,
}

impl Workload for Moved<'_> {
    fn info(&self) -> &KernelInfo {
        &self.info
    }

    fn open(&self, block: u32, warp: u32) -> Result<Box<dyn ProgramStream + '_>> {
        Ok(Box::new(MovedProgram {
            program: self.workload.open(block, warp)?,
            padded: self.padded,
            lanes: self.info.warp_size as usize,
        }))
    }

    fn incoming(&self, block: u32) -> Result<Vec<Incoming>> {
        let mut incoming = self.workload.incoming(block)?;
        if incoming.iter().any(|one| one.copy.is_some()) {
            return Err(copies_into_padding());
        }
        for one in &mut incoming {
            one.object = self.padded.byte(one.object);
        }
        Ok(incoming)
    }

    fn places(&self) -> Places {
        self.workload.places()
    }
}

fn copies_into_padding() -> Error {
    let what = "a bulk copy into an array with longer rows is not simulated";
    Error::usage(what, "copy it row by row")
}

impl ProgramStream for MovedProgram<'_> {
    fn next_part(&mut self) -> Result<Option<Arc<[Instr]>>> {
        let part = self.program.next_part()?;
        let moved = |part: Arc<[Instr]>| part.iter().map(|i| self.moved(i)).collect();
        part.map(moved).transpose()
    }
}

impl MovedProgram<'_> {
    fn moved(&self, instr: &Instr) -> Result<Instr> {
        let mut instr = instr.clone();
        if matches!(instr.addrs, Addresses::Copy(_)) {
            return Err(copies_into_padding());
        }
        if instr.kind.is_shared() || instr.kind == InstrKind::Mbarrier {
            let place = |lane: usize| self.padded.byte(instr.addrs.of(lane));
            instr.addrs = Addresses::from_lanes(instr.mask, place, self.lanes);
        }
        Ok(instr)
    }
}

/// Longer rows in the declarations, for a page without cycles.
pub struct DeclaredPadding {
    /// Mappings of the padding.
    pub hash: String,
    /// Conflicts that it leaves.
    pub conflicts: u64,
    /// The padding as code.
    pub code: CodeText,
}

impl DeclaredPadding {
    /// The choice, if changing only the declarations is possible and leaves fewer
    /// conflicts than `before`.
    pub fn of(
        suggestions: &[Suggestion],
        (trace, machine): (&AccessTrace, &Config),
        before: u64,
        sources: &mut SourceFiles,
    ) -> Option<Self> {
        // Else they are what is shown anyway.
        (!code::is_declared(suggestions)).then_some(())?;
        let padded = Padded::of(suggestions, trace)?;
        let conflicts = padded.count(trace, machine).conflicts;
        (conflicts < before).then_some(())?;
        Some(DeclaredPadding {
            hash: padded.hash,
            conflicts,
            code: declared::in_declarations(suggestions, sources)?,
        })
    }
}

/// Padding in the declarations as a choice, where all arrays that change can have it and
/// fewer conflicts are left than `before`. Why its cycles are not known is added to what
/// `found` left out.
pub(super) fn choice(
    found: &mut Found,
    (trace, machine): (&AccessTrace, &Config),
    runs: Option<&Runs>,
    before: u64,
    sources: &mut SourceFiles,
) -> Option<ChoiceLine> {
    let padded = Padded::of(&found.report.suggestions, trace)?;
    let count = padded.count(trace, machine);
    if count.conflicts >= before {
        return None;
    }
    let cycles = match runs.map(|runs| padded.run(runs)).transpose() {
        Ok(run) => run.map(|run| run.parts),
        Err(error) => {
            let part = Part::Other("cycles of padding in the declaration");
            found.skipped.push(Skipped::new(part, error));
            None
        }
    };
    let found = &*found;
    let suggestions = &found.report.suggestions;
    let as_it_is = found.as_it_is();
    let resources = as_it_is.zip(runs);
    let resources = resources.map(|(now, runs)| padded.resources(now, runs.info(), machine));
    let mut proof = vec![
        "conflicts counted on the accesses of the run".to_owned(),
        "not compiled, not run".to_owned(),
    ];
    if cycles.is_some() {
        proof.insert(1, "cycles simulated, no instruction added".to_owned());
    }
    let code = declared::in_declarations(suggestions, sources);
    Some(ChoiceLine {
        kind: ChoiceKind::Padding,
        name: names::padding().label,
        hash: padded.hash.clone(),
        unit: None,
        conflicts: count.conflicts,
        wavefronts: count.wavefronts(),
        cycles,
        speed_up: None,
        added_per_access: Some(0.0),
        wasted_bytes: padded.wasted_bytes,
        resources,
        cost: None,
        proof,
        chosen: false,
        code: code.into_iter().collect(),
    })
}

/// The choice as a line of the mappings in software.
pub(super) fn line(choice: &ChoiceLine) -> DeclaredLine {
    DeclaredLine {
        hash: choice.hash.clone(),
        conflicts: choice.conflicts,
        wavefronts: choice.wavefronts,
        wasted_bytes: choice.wasted_bytes,
        resources: choice.resources,
        cycles: choice.cycles.map(|parts| parts.total),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn padded(arrays: &[(u32, u32, u32, u32)]) -> Padded {
        let gaps = |&(start, end, every, by): &(u32, u32, u32, u32)| Gaps {
            start,
            end,
            every,
            by,
        };
        Padded {
            arrays: arrays.iter().map(gaps).collect(),
            hash: String::new(),
            wasted_bytes: 0,
        }
    }

    /// Data behind an array move by its growth, and stay aligned.
    #[test]
    fn rows_have_gaps_and_what_follows_moves() {
        let rows = padded(&[(64, 64 + 4 * 128, 128, 4), (640, 640 + 256, 64, 8)]);
        let places = [0, 60, 64, 188, 192, 575, 576, 640, 703, 704, 896];
        let expected = [0, 60, 64, 188, 196, 587, 592, 656, 719, 728, 944];
        assert_eq!(places.map(|at| rows.place(at)), expected);
        assert_eq!(rows.shared_bytes(1000), 1000 + 16 + 32);
        // The last byte behind an array has room, whatever it grows by.
        let uneven = padded(&[(64, 64 + 17 * 68, 68, 4)]);
        assert_eq!(uneven.place(1999), 1999 + 80);
        assert_eq!(uneven.shared_bytes(2000), 2000 + 80);
        assert_eq!(uneven.shared_bytes(64 + 17 * 68), 64 + 17 * 72);
    }
}
