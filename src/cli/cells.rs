//! The cells that a command measures with.

use super::values::alternatives;
use crate::synth::{CellLibrary, DEFAULT_TECHNOLOGY, TechnologyPreset};
use clap::Args;
use std::path::PathBuf;

/// `--liberty FILE` or `--tech NAME`.
#[derive(Args, Clone, Debug)]
pub(super) struct Cells {
    /// Cell library: a Liberty file, .lib or .lib.gz.
    #[arg(long, value_name = "FILE", conflicts_with = "tech")]
    liberty: Option<PathBuf>,
    #[arg(long, value_name = "NAME", default_value = DEFAULT_TECHNOLOGY, help = names())]
    tech: String,
}

fn names() -> String {
    let presets = TechnologyPreset::all();
    let names: Vec<&str> = presets.iter().map(|preset| &*preset.name).collect();
    format!("Cell library by name: {}", alternatives(&names, "or"))
}

impl Cells {
    /// The library that the options name.
    pub fn library(&self) -> CellLibrary {
        match &self.liberty {
            Some(path) => CellLibrary::Liberty(path.clone()),
            None => CellLibrary::Technology(self.tech.clone()),
        }
    }
}
