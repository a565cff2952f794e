//! The input of `share`: an entry and its launch, from a launch file or from
//! PTX and options.

use super::ShareArgs;
use crate::capture::{LaunchInput, Selected};
use crate::cli::kernel_registers::of_kernel;
use crate::cli::printer::Printer;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::launch::{Launch, LaunchFile};
use crate::ptx::Module;
use crate::sharing::{AnalysedEntry, Needs, cannot_share, find_entry};

/// The kernel and its launch.
pub(super) struct Subject {
    /// The launch file, if any, and which of its launches.
    pub launch: Option<(LaunchFile, Selected)>,
    pub module: Module,
    pub entry: String,
    pub dynamic: u32,
    /// The block of the launch; none where other launches of the entry have other ones.
    pub block: Option<[u32; 3]>,
    pub needs: Needs,
    /// What its blocks do together, if they do.
    pub together: Option<String>,
}

impl Subject {
    pub fn load(args: &ShareArgs) -> Result<Self> {
        match args.input.launch() {
            Some(launch) => Self::of_launch(args, launch),
            None => Self::of_ptx(args),
        }
    }

    /// The entry, in blocks of its launch.
    pub fn analysed(&self) -> Result<AnalysedEntry<'_>> {
        let launch = self.launch.as_ref();
        let parts = launch.map_or(&[][..], |(file, _)| &file.shared);
        let (module, entry) = (&self.module, Some(self.entry.as_str()));
        match self.block {
            Some(block) => AnalysedEntry::for_block(module, entry, (self.dynamic, parts), block),
            None => AnalysedEntry::with_parts(module, entry, self.dynamic, parts),
        }
    }

    /// Refuses a kernel whose blocks may not take turns.
    pub fn refuse_together(&self) -> Result<()> {
        match &self.together {
            Some(together) => Err(cannot_share(&self.entry, together)),
            None => Ok(()),
        }
    }

    /// The registers that the assembler allocates, unless the option says them.
    pub fn find_registers(&mut self, option: Option<u32>, machine: &Config, printer: &Printer) {
        if option.is_some() {
            return;
        }
        let given = self.needs.registers;
        let found = of_kernel(&self.module, &self.entry, machine, given, printer);
        self.needs.registers = found;
        if let Some((file, _)) = &mut self.launch {
            file.registers = found;
        }
    }

    fn of_launch(args: &ShareArgs, input: &LaunchInput) -> Result<Self> {
        let given = [
            ("--entry", args.entry.is_some()),
            ("--block", args.block.is_some()),
            ("--dynamic-shared", args.dynamic_shared.is_some()),
            ("--registers", args.registers.is_some()),
        ];
        if let Some((option, _)) = given.iter().find(|o| o.1) {
            return Err(Error::usage(
                format!("{option} for {}, a launch file", args.input),
                "the launch file already specifies it",
            ));
        }
        let (file, selected) = (input.file()?, input.selected());
        let module = args.input.module()?;
        let entry = |launch: &Launch| {
            let named = launch.entry.as_ref().map(|e| e.value.as_str());
            let found = find_entry(&module, named)?;
            Ok(module.functions[found as usize].name.clone())
        };
        let entries = file
            .launches()
            .map(entry)
            .collect::<Result<Vec<String>>>()?;
        let names: Vec<&str> = entries.iter().map(String::as_str).collect();
        let index = selected.index_of(&names)?;
        let launch = file.launches().nth(index).unwrap_or(&file.first);
        let mut same = entries.iter().zip(file.launches());
        let same = same.all(|(e, l)| *e != entries[index] || l.block == launch.block);
        Ok(Subject {
            entry: entries[index].clone(),
            block: same.then_some(launch.block),
            dynamic: launch.dynamic_shared,
            needs: Needs {
                threads: threads(launch.block),
                registers: file.registers,
            },
            together: launch.together(&module, &entries[index]),
            module,
            launch: Some((file.clone(), selected.clone())),
        })
    }

    fn of_ptx(args: &ShareArgs) -> Result<Self> {
        let module = args.input.module()?;
        let Some(block) = args.block else {
            let what = format!("{} does not specify the block size", args.input);
            return Err(Error::usage(
                what,
                "give --block X,Y,Z, or a launch file (.toml)",
            ));
        };
        let entry = find_entry(&module, args.entry.as_deref())?;
        Ok(Subject {
            launch: None,
            together: module.together(entry, None),
            entry: module.functions[entry as usize].name.clone(),
            module,
            dynamic: args.dynamic_shared.unwrap_or(0),
            block: Some(block),
            needs: Needs {
                threads: threads(block),
                registers: args.registers,
            },
        })
    }
}

fn threads(block: [u32; 3]) -> u64 {
    block.iter().map(|&n| u64::from(n)).product()
}
