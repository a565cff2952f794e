//! `spadkit merge`: shards as one run.

use super::{Files, Run};
use crate::cli::printer::{CommandResult, Printer};
use crate::cli::{Example, Execute, Global};
use crate::error::{Error, Result};
use crate::output::check_writable;
use crate::points::Points;
use crate::readable::counted;
use crate::reproduce::{Library, Store};
use crate::terminal::{Details, Tone};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Merge the shards of a campaign.
///
/// Shards are the folders of `reproduce --shard I/N -o DIR`, or the files of
/// `--points FILE.jsonl` of sim, tune, mutate, prove and cosim. The result is byte
/// for byte that of a single run.
#[derive(Args)]
pub struct MergeArgs {
    /// Folders of shards, or files of points.
    #[arg(required = true)]
    shards: Vec<PathBuf>,
    /// The figures of the shards of `reproduce` [default: all].
    #[arg(long = "id", value_name = "ID")]
    ids: Vec<String>,
    /// For files of points: write what is there, even if shards are missing.
    #[arg(long)]
    partial: bool,
    /// The merged folder, or the merged file.
    #[arg(short, long = "output", alias = "out", value_name = "DIR|FILE")]
    out: PathBuf,
}

impl Execute for MergeArgs {
    fn examples() -> &'static [Example] {
        &[("two shards", "merge shard1 shard2 -o all")]
    }

    fn execute(&self, _global: &Global, printer: &Printer) -> Result<()> {
        if let Some(missing) = self.shards.iter().find(|shard| !shard.exists()) {
            return Err(Error::usage(
                format!("there is no file or folder {}", missing.display()),
                "expected folders of reproduce, or files of --points",
            ));
        }
        let is_file = |shard: &&PathBuf| shard.is_file();
        match self.shards.iter().find(is_file) {
            None => self.folders(printer),
            Some(file) => match self.shards.iter().find(|shard| !is_file(shard)) {
                None => self.files(printer),
                Some(other) => Err(Error::usage(
                    format!("{} is a file, {} is not", file.display(), other.display()),
                    "expected folders of reproduce, or files of --points",
                )),
            },
        }
    }
}

impl MergeArgs {
    /// Shards of `reproduce`.
    fn folders(&self, printer: &Printer) -> Result<()> {
        let library = Library::load()?;
        let figures = library.select(&self.ids)?;
        // Bad input leaves nothing behind: it is read before anything is written.
        let merged = Store::in_memory();
        for shard in &self.shards {
            merged.merge(shard)?;
        }
        let store = Store::open(&self.out)?;
        store.take(merged)?;
        store.finish()?;
        let run = Run {
            library: &library,
            figures: &figures,
            store: &store,
            printer,
        };
        let files = Files {
            pages: Some(&self.out),
            report: None,
        };
        run.report(false, &files)
    }

    /// Files of points of the other commands.
    fn files(&self, printer: &Printer) -> Result<()> {
        if !self.ids.is_empty() {
            return Err(Error::usage(
                "--id with files of points",
                "figures are in the folders of reproduce",
            ));
        }
        check_writable(&self.out)?;
        let merge = Points::merged(&self.shards, &self.out, self.partial)?;
        printer.show(&Merged {
            points: merge.points,
            missing: merge.missing,
            files: self.shards.len(),
            file: &self.out,
        })
    }
}

/// The result of merging files of points.
#[derive(Serialize)]
struct Merged<'a> {
    points: usize,
    files: usize,
    file: &'a Path,
    /// The missing points, with `--partial`.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
}

impl CommandResult for Merged<'_> {
    fn verdict(&self) -> String {
        let missing = match &self.missing {
            Some(missing) => format!("; this is not the whole campaign: {missing}"),
            None => String::new(),
        };
        format!(
            "Wrote {}: {} of {}{missing}.",
            self.file.display(),
            counted(self.points, "point"),
            counted(self.files, "file")
        )
    }

    fn tone(&self) -> Tone {
        match self.missing {
            Some(_) => Tone::Bad,
            None => Tone::Good,
        }
    }

    fn details(&self) -> Details {
        let mut details = Details::new();
        let rest = match self.missing {
            Some(_) => "runs what is missing",
            None => "runs none again",
        };
        details.note(format!(
            "The command of the shards with --points {} in place of --shard shows all of them, and \
             {rest}.",
            self.file.display()
        ));
        details
    }
}
