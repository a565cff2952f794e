//! `spadkit doctor`: which external tools and technologies are there.

use super::printer::{Printer, table};
use crate::error::{Error, Result};
use crate::synth::TechnologyPreset;
use crate::tool::{Cache, Kind, Tool, Toolbox};
use clap::Args;
use serde_json::{Value, json};

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

pub(super) fn run(args: &DoctorArgs, printer: &Printer) -> Result<()> {
    let tools = Toolbox::new();
    let tools: Vec<_> = Kind::ALL.map(|kind| (kind, tools.get(kind))).into();
    let technologies = TechnologyPreset::all();
    let cache = Cache::user()?;
    let json = json!({
        "tools": tools.iter().map(|(k, t)| tool_json(*k, t)).collect::<Vec<_>>(),
        "technologies": technologies.iter().map(technology_json).collect::<Vec<_>>(),
        "cache": cache.root(),
    });
    let bad = tools.iter().filter(|(_, t)| t.is_err()).count();
    printer.result(json, || {
        let header = ["tool", "version", "path", "needed for"];
        let rows = tools.iter().map(|(kind, tool)| tool_row(*kind, tool));
        let mut text = table(&header, &[], rows);
        for (kind, tool) in &tools {
            if let Err(error) = tool {
                text += &format!("{}: {error}; {}\n", kind.name(), kind.how_to_get());
            }
        }
        let header = ["technology", "library", "file"];
        text += &table(&header, &[], technologies.iter().map(technology_row));
        text + &format!("cache of built things: {}\n", cache.root().display())
    })?;
    match tools.into_iter().find_map(|(_, tool)| tool.err()) {
        Some(first) if args.strict => {
            printer.log(format!("{bad} of {} tools are missing", Kind::ALL.len()));
            Err(first)
        }
        _ => Ok(()),
    }
}

fn technology_row(preset: &TechnologyPreset) -> Vec<String> {
    let file = match preset.find() {
        Some(path) => path.display().to_string(),
        None => format!("missing; {}", preset.how_to_get),
    };
    vec![preset.name.clone(), preset.title.clone(), file]
}

fn technology_json(preset: &TechnologyPreset) -> Value {
    let file = preset.find();
    json!({
        "name": preset.name,
        "title": preset.title,
        "found": file.is_some(),
        "path": file,
        "how_to_get": preset.how_to_get,
    })
}

fn tool_row(kind: Kind, tool: &Result<Tool>) -> Vec<String> {
    let (version, path) = match tool {
        Ok(tool) => (tool.version.to_string(), tool.path.display().to_string()),
        Err(Error::ToolMissing { .. }) => ("missing".to_owned(), String::new()),
        Err(_) => ("does not work".to_owned(), String::new()),
    };
    vec![
        kind.name().to_owned(),
        version,
        path,
        kind.needed_for().to_owned(),
    ]
}

fn tool_json(kind: Kind, tool: &Result<Tool>) -> Value {
    let found = tool.as_ref().ok();
    json!({
        "tool": kind.program(),
        "name": kind.name(),
        "found": found.is_some(),
        "version": found.map(|t| &t.version),
        "path": found.map(|t| t.path.display().to_string()),
        "minimum": kind.minimum(),
        "needed_for": kind.needed_for(),
        "how_to_get": kind.how_to_get(),
        "problem": tool.as_ref().err().map(ToString::to_string),
    })
}
