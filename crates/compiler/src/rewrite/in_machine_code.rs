//! A rewritten kernel, judged by the machine code: `ptxas` merges and removes accesses of the
//! PTX, so a mapping can remove conflicts that the kernel does not have.

use super::{Request, Rewritten, text, with_shared};
use crate::assembler::ledger::Ledger;
use crate::assembler::{Assembler, AssemblerId};
use serde::Serialize;
use spadkit_base::error::Result;
use spadkit_launch::capture::{RunOptions, launch_trace};
use spadkit_launch::launch::LaunchFile;
use spadkit_mapping::trace::{ConflictCount, ConflictProfile};
use spadkit_ptx::Module;
use spadkit_rtl::tool::Toolbox;
use spadkit_sm::config::Config;

/// The machine code's counts of a kernel before and after, by the
/// [ledger](crate::assembler::ledger) of the entry's first launch.
#[derive(Clone, Debug, Serialize)]
pub struct MachineConflicts {
    /// The assembler.
    pub assembler: AssemblerId,
    /// Conflicts before.
    pub conflicts_before: u64,
    /// Conflicts after.
    pub conflicts_after: u64,
    /// Largest degree after.
    pub max_degree_after: u32,
    /// Wavefronts before.
    pub wavefronts_before: u64,
    /// Wavefronts after.
    pub wavefronts_after: u64,
    /// Registers of a thread before, where `ptxas` tells them.
    pub registers_before: Option<u32>,
    /// Registers of a thread after, where `ptxas` tells them.
    pub registers_after: Option<u32>,
}

impl MachineConflicts {
    /// Whether fewer conflicts are left, and no additional accesses replace them.
    pub fn gains(&self) -> bool {
        self.conflicts_after < self.conflicts_before
            && self.wavefronts_after < self.wavefronts_before
    }

    /// The counts as text for people.
    pub fn text(&self) -> String {
        let registers = self.registers_before.zip(self.registers_after);
        let registers = registers.map_or(String::new(), |(before, after)| {
            format!(", registers {before} -> {after}")
        });
        format!(
            "conflicts {} -> {}, wavefronts {} -> {}{registers}",
            self.conflicts_before,
            self.conflicts_after,
            self.wavefronts_before,
            self.wavefronts_after
        )
    }
}

/// A kernel with the counts of its machine code, with which rewritten kernels are compared.
pub struct MachineCounts<'a> {
    file: &'a LaunchFile,
    module: &'a Module,
    entry: &'a str,
    machine: &'a Config,
    tools: Toolbox,
    assembler: Assembler,
    before: Counts,
}

#[derive(Clone, Copy)]
struct Counts {
    banks: ConflictCount,
    registers: Option<u32>,
}

impl<'a> MachineCounts<'a> {
    /// The counts for the first launch of the entry of `request` in `file`. `module` is one
    /// text. Fails if `ptxas` or `nvdisasm` is missing.
    pub fn of(
        file: &'a LaunchFile,
        module: &'a Module,
        request: &'a Request,
        machine: &'a Config,
    ) -> Result<Self> {
        let tools = Toolbox::new();
        let assembler = Assembler::required(&tools, module, machine.compute_capability)?;
        let entry = request.entry.as_str();
        let before = counts(file, module, entry, machine, (&tools, &assembler))?;
        Ok(MachineCounts {
            file,
            module,
            entry,
            machine,
            tools,
            assembler,
            before,
        })
    }

    /// The counts, compared with those of a text rewritten from the kernel; `None` if
    /// that was refused.
    pub fn beside(&self, rewritten: &Rewritten) -> Result<Option<MachineConflicts>> {
        let Some(text) = rewritten.text() else {
            return Ok(None);
        };
        let changed = text::written(text, self.module)?;
        let prepared = self.file.prepare(self.module)?;
        let launches = prepared.launches().iter();
        let entries: Vec<String> = launches.map(|l| l.entry.clone()).collect();
        let file = with_shared(self.file, &entries, rewritten);
        let by = (&self.tools, &self.assembler);
        let after = counts(&file, &changed, self.entry, self.machine, by)?;
        Ok(Some(MachineConflicts {
            assembler: self.assembler.id(),
            conflicts_before: self.before.banks.conflicts,
            conflicts_after: after.banks.conflicts,
            max_degree_after: after.banks.max_degree,
            wavefronts_before: self.before.banks.wavefronts(),
            wavefronts_after: after.banks.wavefronts(),
            registers_before: self.before.registers,
            registers_after: after.registers,
        }))
    }
}

fn counts(
    file: &LaunchFile,
    module: &Module,
    entry: &str,
    machine: &Config,
    (tools, assembler): (&Toolbox, &Assembler),
) -> Result<Counts> {
    let mut prepared = file.prepare(module)?;
    let mut launches = prepared.launches().iter();
    let index = launches.position(|l| l.entry == entry).unwrap_or(0);
    let trace = launch_trace(&mut prepared, file, index, RunOptions::default())?;
    let code = assembler.listed(tools, &module.text, entry)?;
    let made = Ledger::of(&trace, module, &code.accesses).trace;
    let mask = machine.geometry.bank_mask();
    let profile = ConflictProfile::new(&made, machine.conflict_rule());
    Ok(Counts {
        banks: profile.count(|word| word & mask),
        registers: code.registers,
    })
}
