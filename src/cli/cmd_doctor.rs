//! `spadkit doctor`: which external tools and technologies are there.

use super::printer::{CommandResult, Printer};
use super::{Example, Execute, Global};
use crate::error::{Error, Result};
use crate::synth::TechnologyPreset;
use crate::terminal::{Details, Hint, Table, Tone};
use crate::tool::{Cache, Tool, ToolKind, Toolbox, Version};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// List the external tools, their versions, and how to get those that are
/// missing.
///
/// The exit status is 0 even if tools are missing, because most commands work
/// without them; with --strict it is 3 unless everything is there and works.
#[derive(Args)]
pub struct DoctorArgs {
    /// Exit status 3 if anything is missing or does not work.
    #[arg(long)]
    strict: bool,
}

impl Execute for DoctorArgs {
    fn examples() -> &'static [Example] {
        &[("what is missing", "doctor --strict")]
    }

    fn execute(&self, _global: &Global, printer: &Printer) -> Result<()> {
        let toolbox = Toolbox::new();
        let found: Vec<_> = ToolKind::ALL.map(|kind| (kind, toolbox.get(kind))).into();
        let cache = Cache::user()?;
        printer.show(&Diagnosis {
            tools: found.iter().map(|(k, t)| ToolState::of(*k, t)).collect(),
            technologies: TechnologyPreset::all()
                .iter()
                .map(TechnologyState::of)
                .collect(),
            cache: cache.root(),
        })?;
        let bad = found.iter().filter(|(_, t)| t.is_err()).count();
        match found.into_iter().find_map(|(_, tool)| tool.err()) {
            Some(first) if self.strict => {
                printer.log(format!(
                    "{bad} of {} tools are missing",
                    ToolKind::ALL.len()
                ));
                Err(first)
            }
            _ => Ok(()),
        }
    }
}

/// The tools and files that spadkit uses, and which are present.
#[derive(Serialize)]
struct Diagnosis<'a> {
    tools: Vec<ToolState>,
    technologies: Vec<TechnologyState<'a>>,
    /// Folder of the cache of built things.
    cache: &'a Path,
}

/// An external tool.
#[derive(Serialize)]
struct ToolState {
    /// Program of the tool.
    tool: &'static str,
    name: &'static str,
    found: bool,
    version: Option<Version>,
    path: Option<String>,
    minimum: Option<Version>,
    needed_for: &'static str,
    how_to_get: String,
    /// Why it cannot be used.
    problem: Option<String>,
    #[serde(skip)]
    missing: bool,
}

impl ToolState {
    fn of(kind: ToolKind, tool: &Result<Tool>) -> Self {
        let found = tool.as_ref().ok();
        ToolState {
            tool: kind.program(),
            name: kind.name(),
            found: found.is_some(),
            version: found.map(|t| t.version.clone()),
            path: found.map(|t| t.path.display().to_string()),
            minimum: kind.minimum(),
            needed_for: kind.needed_for(),
            how_to_get: kind.how_to_get(),
            problem: tool.as_ref().err().map(|error| match error {
                Error::ToolMissing { .. } => "not found".to_owned(),
                error => error.to_string(),
            }),
            missing: matches!(tool, Err(Error::ToolMissing { .. })),
        }
    }

    fn row(&self) -> Vec<String> {
        let version = match &self.version {
            Some(version) => version.to_string(),
            None if self.missing => "missing".to_owned(),
            None => "does not work".to_owned(),
        };
        let path = self.path.clone().unwrap_or_default();
        let (name, needed_for) = (self.name.to_owned(), self.needed_for.to_owned());
        vec![name, version, path, needed_for]
    }
}

/// A cell library.
#[derive(Serialize)]
struct TechnologyState<'a> {
    name: &'a str,
    title: &'a str,
    found: bool,
    path: Option<PathBuf>,
    how_to_get: &'a str,
}

impl<'a> TechnologyState<'a> {
    fn of(preset: &'a TechnologyPreset) -> Self {
        let path = preset.find();
        TechnologyState {
            name: &preset.name,
            title: &preset.title,
            found: path.is_some(),
            path,
            how_to_get: &preset.how_to_get,
        }
    }

    fn row(&self) -> Vec<String> {
        let file = match &self.path {
            Some(path) => path.display().to_string(),
            None => format!("missing; {}", self.how_to_get),
        };
        vec![self.name.to_owned(), self.title.to_owned(), file]
    }
}

impl CommandResult for Diagnosis<'_> {
    fn verdict(&self) -> String {
        let all = self.tools.len();
        let bad: Vec<&str> = (self.tools.iter().filter(|t| !t.found))
            .map(|t| t.name)
            .collect();
        match bad.len() {
            0 => format!("All {all} tools are there and work."),
            n => format!(
                "{n} of {all} tools are missing or do not work: {}.",
                bad.join(", ")
            ),
        }
    }

    fn tone(&self) -> Tone {
        if self.tools.iter().all(|tool| tool.found) {
            Tone::Good
        } else {
            Tone::Doubt
        }
    }

    fn details(&self) -> Details {
        let header = ["tool", "version", "path", "needed for"];
        let tools = Table::new(&header, self.tools.iter().map(ToolState::row));
        let tools = tools.tone("version", |version| match version {
            "missing" | "does not work" => Tone::Bad,
            _ => Tone::Good,
        });
        let mut details = Details::of(tools.minor(&["path"]));
        for tool in &self.tools {
            if let Some(problem) = &tool.problem {
                let text = format!("{}: {problem}; {}", tool.name, tool.how_to_get);
                details.toned(Tone::Doubt, text);
            }
        }
        details.gap();
        let header = ["technology", "library", "file"];
        let rows = self.technologies.iter().map(TechnologyState::row);
        details.table(Table::new(&header, rows));
        details.note(format!("build cache: {}", self.cache.display()));
        details
    }

    fn hints(&self) -> Vec<Hint> {
        if self.tools.iter().all(|tool| tool.found) {
            return Vec::new();
        }
        vec![Hint::new(
            "the tools that Debian has, in a checkout",
            "make deps",
        )]
    }
}
