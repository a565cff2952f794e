//! A launch of a launch file as INPUT of a command: the file and its PTX, each read
//! and parsed once.

use super::select::listed;
use super::{Captured, LaunchRun, RunOptions, Selected};
use crate::launch::{Launch, LaunchFile, Prepared, PtxFile, once};
use spadkit_base::error::Result;
use spadkit_base::input::require_file;
use spadkit_mapping::trace::AccessTrace;
use spadkit_ptx::Module;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A launch file with one of its launches. Nothing is read before it is asked for.
#[derive(Clone, Debug)]
pub struct LaunchInput {
    /// Name of the launch, as the user wrote it.
    name: PathBuf,
    selected: Selected,
    file: OnceLock<LaunchFile>,
    ptx: OnceLock<Vec<PtxFile>>,
    module: OnceLock<Module>,
}

impl LaunchInput {
    /// The launch that `input` names; none if its name is not that of a launch
    /// file.
    pub fn of(input: &Path) -> Option<Self> {
        Selected::of(input).map(|selected| Self::new(input, selected))
    }

    /// The launch file at `input`, whatever its name is.
    pub fn at(input: &Path) -> Self {
        let first = || Selected {
            file: input.to_owned(),
            which: None,
        };
        Self::new(input, Selected::of(input).unwrap_or_else(first))
    }

    /// A launch file and its PTX that are in memory; `name` is for messages, and sources are
    /// looked for beside it.
    pub fn given(name: &Path, file: LaunchFile, module: Module) -> Self {
        let first = Selected {
            file: name.to_owned(),
            which: None,
        };
        LaunchInput {
            file: file.into(),
            ptx: Vec::new().into(),
            module: module.into(),
            ..Self::new(name, first)
        }
    }

    fn new(name: &Path, selected: Selected) -> Self {
        LaunchInput {
            name: name.to_owned(),
            selected,
            file: OnceLock::new(),
            ptx: OnceLock::new(),
            module: OnceLock::new(),
        }
    }

    /// Name of the launch, as the user wrote it.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// The file's name, and which launch.
    pub fn selected(&self) -> &Selected {
        &self.selected
    }

    /// The launch file.
    pub fn file(&self) -> Result<&LaunchFile> {
        once(&self.file, || LaunchFile::load(&self.selected.file))
    }

    fn ptx(&self) -> Result<&[PtxFile]> {
        let files = || {
            let files = self.file()?.ptx_files();
            Ok(files.map(|path| PtxFile::new(path)).collect())
        };
        once(&self.ptx, files).map(Vec::as_slice)
    }

    /// The PTX, parsed; linked if there are several.
    pub fn module(&self) -> Result<&Module> {
        once(&self.module, || {
            let parse = |ptx: &PtxFile| {
                require_file(ptx.path())?;
                ptx.module()
            };
            Module::link(self.ptx()?.iter().map(parse).collect::<Result<_>>()?)
        })
    }

    /// The PTX with the highest target, and that target; none where it cannot be
    /// read, which comes up again when it is.
    pub fn target(&self) -> Option<(&Path, u32)> {
        let targets = self.ptx().ok()?.iter();
        targets
            .filter_map(|ptx| Some((ptx.path(), ptx.target()?)))
            .max_by_key(|(_, sm)| *sm)
    }

    /// The launches, ready to run.
    pub fn prepare(&self) -> Result<Prepared<'_>> {
        self.file()?.prepare(self.module()?)
    }

    /// The launch, to run with these options.
    pub fn run(&self, options: RunOptions) -> Result<LaunchRun<'_>> {
        Ok(LaunchRun {
            file: self.file()?,
            module: self.module()?,
            selected: &self.selected,
            options,
        })
    }

    /// The accesses of one block.
    pub fn access_trace(&self, options: RunOptions) -> Result<AccessTrace> {
        self.run(options)?.access_trace()
    }

    /// Writes the programs of all warps to `to`.
    pub fn full_trace(&self, options: RunOptions, to: &Path) -> Result<Captured> {
        self.run(options)?.full_trace(to)
    }

    /// The files that it is read from: the launch file and those that it names.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        let named = self.file()?.files();
        Ok(std::iter::once(self.selected.file.clone())
            .chain(named)
            .collect())
    }

    /// Launches of the file, where the name is that of a file and none of them is chosen;
    /// otherwise 1. Errors come up again when the file is read.
    pub fn open_launches(&self) -> usize {
        if self.selected.which.is_some() || !self.name.is_file() {
            return 1;
        }
        self.file().map_or(1, |file| file.launches().count())
    }

    /// A note where the file has several launches and the name none of them; errors
    /// come up again when the file is read.
    pub fn note(&self) -> Option<String> {
        if self.selected.which.is_some() {
            return None;
        }
        let file = self.file().ok()?;
        if file.then.is_empty() {
            return None;
        }
        let entry = |launch: &Launch| match &launch.entry {
            Some(entry) => entry.value.clone(),
            None => "the only entry".to_owned(),
        };
        let entries: Vec<String> = file.launches().map(entry).collect();
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        let name = self.name.display();
        Some(format!(
            "{name} has {} launches, this is the first: {name}:N takes another one, N of {}",
            entries.len(),
            listed(&entries)
        ))
    }
}
