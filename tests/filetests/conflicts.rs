//! `test conflicts`: the wavefronts of each access to shared memory and those of them
//! that are conflicts, in the PTX; behind `|` the same in the machine code, by the
//! instructions that ptxas makes of the line. Without ptxas and nvdisasm that is not
//! tested.

use crate::Failure;
use crate::expect::{Found, MACHINE_CODE};
use crate::file::{Case, TestFile};
use spadkit::assembler::Assembler;
use spadkit::assembler::ledger::{Fates, Ledger};
use spadkit::capture::{LaunchInput, RunOptions};
use spadkit::config::Config;
use spadkit::ptx::Module;
use spadkit::tool::Toolbox;
use spadkit::trace::{AccessTrace, ConflictProfile};
use std::collections::BTreeMap;

/// The counts of each line, in the PTX alone or in the machine code, too.
pub fn found(file: &TestFile, case: &Case, machine_code: bool) -> Result<Found, Failure> {
    let text = file.module(&[]);
    let failed =
        |e: spadkit::error::Error| Failure::new(1, format!("{:?}", miette::Report::new(e)));
    let module = Module::parse(&text, "the file").map_err(failed)?;
    let preset = module.sm().and_then(Config::preset_of_target);
    let machine = Config::preset(preset.unwrap_or("sm90")).map_err(failed)?;
    let trace = trace(&text, case)?;
    let counts = Counts::new(&trace, &machine);
    let places = trace.places();
    let line = |pc: u32| places.of(pc).ptx_line.unwrap_or(0) as usize;
    let mut found = Found::new();
    if machine_code {
        let tools = Toolbox::new();
        let assembler = Assembler::required(&tools, &module, machine.compute_capability);
        let code = assembler.and_then(|a| a.accesses(&tools, &text, "k"));
        let code = code.map_err(failed)?;
        let ledger = Ledger::of(&trace, &module, &code);
        let made = Counts::new(&ledger.trace, &machine);
        for site in &ledger.sites {
            let skipped = if site.may_be_skipped || site.moved {
                " behind a branch"
            } else {
                ""
            };
            let text = format!(
                "{}{MACHINE_CODE}{}{skipped}",
                counts.of(site.pc),
                fate(&site.fates, &site.instructions, &made.of(site.pc))
            );
            found.entry(line(site.pc)).or_default().push(text);
        }
    } else {
        for pc in counts.0.keys() {
            found.entry(line(*pc)).or_default().push(counts.of(*pc));
        }
    }
    found.retain(|line, _| *line > file.head);
    Ok(found)
}

/// The accesses of the block that the head asks for.
fn trace(text: &str, case: &Case) -> Result<AccessTrace, Failure> {
    let block = case.size("block")?.unwrap_or([32, 1, 1]);
    let folder = tempfile::tempdir().unwrap();
    let launch = format!(
        "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = {block:?}\n[[arg]]\nname = \"out\"\n\
         type = \"u32\"\ncount = 8192\ninit = \"iota\"\n"
    );
    std::fs::write(folder.path().join("k.ptx"), text).unwrap();
    let path = folder.path().join("k.toml");
    std::fs::write(&path, launch).unwrap();
    let trace = LaunchInput::at(&path).access_trace(RunOptions::default());
    trace.map_err(|e| Failure::new(1, format!("{:?}", miette::Report::new(e))))
}

/// Wavefronts and conflicts of each site.
struct Counts(BTreeMap<u32, (u64, u64)>);

impl Counts {
    fn new(trace: &AccessTrace, machine: &Config) -> Self {
        let mask = machine.geometry.bank_mask();
        let profiles = ConflictProfile::per_pc(trace, machine.conflict_rule());
        let counted = profiles.into_iter().map(|(pc, profile)| {
            let count = profile.count(|word| word & mask);
            (pc, (count.wavefronts(), count.conflicts))
        });
        Counts(counted.collect())
    }

    /// `4 wavefronts, 3 conflicts`; nothing where there are none.
    fn of(&self, pc: u32) -> String {
        match self.0.get(&pc).copied() {
            None | Some((0, _)) => String::new(),
            Some((wavefronts, 0)) => format!("{wavefronts} wavefronts"),
            Some((wavefronts, conflicts)) => {
                format!("{wavefronts} wavefronts, {conflicts} conflicts")
            }
        }
    }
}

/// What became of an access, such as `merged, LDS.64: 2 wavefronts`.
fn fate(fates: &Fates, instructions: &[String], counts: &str) -> String {
    let all = [
        ("kept", fates.kept),
        ("merged", fates.merged),
        ("split", fates.split),
        ("aggregated", fates.aggregated),
        ("in a loop", fates.looped),
        ("removed", fates.removed),
        ("skipped", fates.skipped),
        ("not accounted for", fates.not_accounted),
    ];
    let some: Vec<_> = all.iter().filter(|(_, count)| *count > 0).collect();
    let names = some.iter().map(|(name, count)| match some.len() {
        1 => (*name).to_owned(),
        _ => format!("{count} {name}"),
    });
    let mut text = names.collect::<Vec<_>>().join(", ");
    if !instructions.is_empty() {
        text += &format!(", {}", instructions.join(" "));
    }
    if !counts.is_empty() {
        text += &format!(": {counts}");
    }
    text
}
