//! Selection of a launch by an INPUT: `FILE.toml` names the first of the file,
//! `FILE.toml:N` launch N in execution order, `FILE.toml:ENTRY` the first of an
//! entry.

use crate::launch::LaunchFile;
use spadkit_base::error::{Error, Result};
use spadkit_ptx::exec::Launch;
use spadkit_ptx::{Module, find_name, near_name};
use std::path::{Path, PathBuf};

/// A launch file, and which of its launches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The launch file.
    pub file: PathBuf,
    /// Text behind the colon: a number or an entry; none for the first.
    pub which: Option<String>,
}

impl Selected {
    /// The selection that `input` names; none if its name is not that of a launch
    /// file.
    pub fn of(input: &Path) -> Option<Self> {
        let is_toml = |path: &Path| path.extension().is_some_and(|e| e == "toml");
        if is_toml(input) {
            return Some(Selected {
                file: input.to_owned(),
                which: None,
            });
        }
        let (file, which) = input.to_str()?.rsplit_once(':')?;
        is_toml(Path::new(file)).then(|| Selected {
            file: file.into(),
            which: Some(which.to_owned()),
        })
    }

    /// The launch file that `name` names, with a launch or without; other names as they are.
    pub fn file_of(name: &str) -> String {
        let selected = Self::of(Path::new(name));
        selected.map_or_else(|| name.to_owned(), |s| s.file.display().to_string())
    }

    /// The launch's place among all of its file.
    pub fn index(&self, launches: &[Launch]) -> Result<usize> {
        let entries: Vec<&str> = launches.iter().map(|l| l.entry.as_str()).collect();
        self.index_of(&entries)
    }

    /// The entry of the launch in `module`, which `file` names.
    pub fn entry<'f>(&self, file: &'f LaunchFile, module: &'f Module) -> Result<String> {
        let all: Vec<&str> = module.entries().map(|f| f.name.as_str()).collect();
        let entry = |launch: &'f crate::launch::Launch| match &launch.entry {
            // What is not found is an error of whoever runs it.
            Some(named) => find_name(&named.value, &all).unwrap_or(named.value.as_str()),
            None => all.first().copied().unwrap_or_default(),
        };
        let entries: Vec<&str> = file.launches().map(entry).collect();
        Ok(entries[self.index_of(&entries)?].to_owned())
    }

    /// The launch's place among launches of these entries.
    pub fn index_of(&self, entries: &[&str]) -> Result<usize> {
        let Some(which) = &self.which else {
            return Ok(0);
        };
        let found = match which.parse::<usize>() {
            Ok(n) => (n < entries.len()).then_some(n),
            Err(_) => {
                let named = find_name(which, entries).ok();
                named.and_then(|name| entries.iter().position(|entry| *entry == name))
            }
        };
        found.ok_or_else(|| {
            Error::usage(
                format!(
                    "{} has no launch '{which}'{}",
                    self.file.display(),
                    near_name(which, entries)
                ),
                format!("expected one of {}", listed(entries)),
            )
        })
    }
}

/// Groups of launches that a message names.
const MOST_LISTED: usize = 12;

/// Numbers and entries of launches, those of one entry in a row together.
pub(super) fn listed(entries: &[&str]) -> String {
    listed_from(0, entries)
}

/// Numbers and entries of launches, as `listed` gives them, whose numbers begin at `first`.
pub fn listed_from(first: usize, entries: &[&str]) -> String {
    let mut at = first;
    let mut groups: Vec<String> = Vec::new();
    for group in entries.chunk_by(|a, b| a == b) {
        let (start, end) = (at, at + group.len() - 1);
        at = end + 1;
        groups.push(match group.len() {
            1 => format!("{start} ({})", group[0]),
            2 => format!("{start} ({0}), {end} ({0})", group[0]),
            _ => format!("{start} to {end} ({})", group[0]),
        });
    }
    if groups.len() > MOST_LISTED {
        groups.truncate(MOST_LISTED);
        groups.push(format!("and others up to {}", at - 1));
    }
    groups.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_is_named_behind_a_colon() {
        let of = |input: &str| {
            Selected::of(Path::new(input)).map(|s| (s.file.display().to_string(), s.which))
        };
        let some =
            |file: &str, which: Option<&str>| Some((file.to_owned(), which.map(str::to_owned)));
        assert_eq!(of("a/b.toml"), some("a/b.toml", None));
        assert_eq!(of("a/b.toml:2"), some("a/b.toml", Some("2")));
        assert_eq!(of("c:\\b.toml:k"), some("c:\\b.toml", Some("k")));
        for other in [
            "kernel:fwt",
            "a.json",
            "a.json:1",
            "toml",
            ".toml",
            "a.toml.gz",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn a_launch_is_of_its_file() {
        let names = ["a/k.toml:2", "a/k.toml", "k.toml:scan", "kernel:nw"];
        let files = names.map(Selected::file_of);
        assert_eq!(files, ["a/k.toml", "a/k.toml", "k.toml", "kernel:nw"]);
    }
}
