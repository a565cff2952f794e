//! The machine that a command works on: what names it, and how it is named.

use super::Global;
use super::values::alternatives;
use crate::config::{Config, PRESETS};
use crate::error::Result;
use crate::input::name_of;
use crate::quote::shell;
use crate::workload::Input;
use serde::Serialize;
use std::path::Path;

/// The machine of a command, and why it was taken.
#[derive(Clone, Debug, Serialize)]
pub struct MachineNote {
    /// Name of the preset, or of the configuration.
    pub preset: String,
    /// The source of the choice: an option, or the `.target` of the input.
    pub from: String,
    /// Banks, where it is one machine.
    #[serde(skip)]
    banks: Option<usize>,
    /// Whether the user named it.
    #[serde(skip)]
    named: bool,
}

impl MachineNote {
    /// The machine of PTX for `sm_SM`, which is called `name` in messages; none
    /// before sm_70.
    pub fn of_target(sm: u32, name: &str) -> Option<Self> {
        let preset = Config::preset_of_target(sm)?;
        let from = format!(".target sm_{sm} of {name}");
        Some(Self::of_preset(preset, &from, false))
    }

    /// The machine of all, if it is one.
    pub fn of_all<'a>(mut all: impl Iterator<Item = &'a Self>) -> Option<&'a Self> {
        let first = all.next()?;
        all.all(|note| note.preset == first.preset && note.from == first.from)
            .then_some(first)
    }

    /// The preset that an option names, or several with commas.
    pub fn named(preset: &str, option: &str) -> Self {
        Self::of_preset(preset, option, true)
    }

    /// The preset where nothing says which.
    pub fn default(preset: &str) -> Self {
        Self::of_preset(preset, "default", false)
    }

    fn of_preset(preset: &str, from: &str, named: bool) -> Self {
        let machine = Config::preset(preset).ok();
        MachineNote {
            preset: preset.to_owned(),
            from: from.to_owned(),
            banks: machine.map(|machine| machine.geometry.banks()),
            named,
        }
    }

    /// The machine of a file, which may be wrong: the command says so.
    pub fn of_file(path: &Path) -> Self {
        Self::read(path, &format!("--config {}", shell(path)))
    }

    /// The machine of a file of the kit, which `name` calls it and no option changes.
    pub fn of_kit(path: &Path, name: &str) -> Self {
        Self::read(path, name)
    }

    fn read(path: &Path, from: &str) -> Self {
        let machine = Config::load(path).ok();
        MachineNote {
            banks: machine.as_ref().map(|machine| machine.geometry.banks()),
            preset: machine.map_or_else(String::new, |machine| machine.name),
            from: from.to_owned(),
            named: true,
        }
    }

    /// The machine for people: `sm80, 32 banks (--preset)`.
    pub(super) fn text(&self) -> String {
        let MachineNote { preset, from, .. } = self;
        let banks = self.banks.map(|banks| format!(", {banks} banks"));
        let banks = banks.unwrap_or_default();
        let how = if self.named {
            ""
        } else {
            "; --preset overrides"
        };
        format!("{preset}{banks} ({from}{how})")
    }
}

impl Global {
    /// The option that names the machine, for commands that repeat a run;
    /// quoted for a shell.
    pub(super) fn machine_option(&self) -> String {
        match &self.config {
            Some(path) => format!("--config {}", shell(path)),
            None => format!("--preset {}", shell(self.preset())),
        }
    }

    /// `command` about the same units of the same machine, those of `rtl` if they
    /// are from there.
    pub(super) fn about_units(
        &self,
        command: &str,
        units: &[String],
        rtl: Option<&Path>,
    ) -> String {
        let units: String = units.iter().map(|u| format!(" {}", shell(u))).collect();
        let rtl = rtl.map_or(String::new(), |dir| format!(" --rtl {}", shell(dir)));
        format!("spadkit {command}{units}{rtl} {}", self.machine_option())
    }

    /// The name of the preset, or several where that is allowed.
    pub(super) fn preset(&self) -> &str {
        self.preset.as_deref().unwrap_or(DEFAULT_PRESET)
    }

    /// The machine of the target of `input`'s PTX, where none is named.
    pub(super) fn of_target(&self, input: &Input) -> Option<MachineNote> {
        if self.preset.is_some() || self.config.is_some() {
            return None;
        }
        let (ptx, sm) = input.target()?;
        let file = name_of(ptx).file_name().unwrap_or_default();
        MachineNote::of_target(sm, &file.display().to_string())
    }

    /// The machine, and why it is taken; the options that name it where nothing
    /// but the target of `input`'s PTX does.
    pub(super) fn resolved(&self, input: Option<&Input>) -> (Self, MachineNote) {
        if let Some(note) = input.and_then(|input| self.of_target(input)) {
            let global = Global {
                preset: Some(note.preset.clone()),
                ..self.clone()
            };
            return (global, note);
        }
        let note = match (&self.config, &self.preset) {
            (Some(path), _) => MachineNote::of_file(path),
            (None, Some(preset)) => MachineNote::named(preset, "--preset"),
            (None, None) => MachineNote::default(DEFAULT_PRESET),
        };
        (self.clone(), note)
    }

    /// The machine that the command works on.
    pub(super) fn machine(&self) -> Result<Config> {
        match &self.config {
            Some(path) => Config::load(path),
            None => Config::preset(self.preset()),
        }
    }
}

/// The machine where none is named and none is chosen by a PTX.
pub(super) const DEFAULT_PRESET: &str = "fermi";

/// The presets whose machines have no hash unit.
pub(super) fn without_hash_unit() -> String {
    let has_none = |name: &&str| Config::preset(name).is_ok_and(|machine| !machine.has_hash_unit());
    let names: Vec<&str> = PRESETS.into_iter().filter(has_none).collect();
    alternatives(&names, "and")
}

/// A line that names the rule by which `machine` counts conflicts.
pub(super) fn rule_line(machine: &Config) -> String {
    format!("conflicts by: {}", machine.conflict_rule().describe())
}
