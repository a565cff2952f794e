//! Campaigns: lists of points, of which one of several machines takes a part
//! (`--shard I/N`), and what names a point.

use super::Allow;
use crate::config::Config;
use crate::error::{Error, Result as Outcome};
use crate::points::{MODEL, PartOf, Points};
use crate::rtl::{Design, EmittedUnit};
use crate::tool::KeyBuilder;
use crate::workload::Input;
use clap::Args;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Begins what names a point of this kind: it depends on the kit, too.
pub(super) fn point(kind: &str) -> KeyBuilder {
    KeyBuilder::new(kind)
        .add("version", env!("CARGO_PKG_VERSION"))
        .add("model", MODEL.to_string())
}

/// Begins what names a point of a kernel: the files of `input`, and which of its
/// launches it is.
pub(super) fn of_input(kind: &str, input: &Input, allow: &Allow) -> Outcome<KeyBuilder> {
    if let Input::Stdin = input {
        return Err(Error::usage(
            "--points with the kernel from standard input",
            "expected a file: what a run depends on names it",
        ));
    }
    let mut key = point(kind);
    if let Input::Generated(name) = input {
        return Ok(key.add("kernel", name));
    }
    for file in input.files()? {
        let content = std::fs::read(&file).map_err(|e| Error::io("read", &file, e))?;
        key = key.add("file", content);
    }
    let launch = input.launch().map(|launch| &launch.selected().which);
    Ok(key
        .add("launch", format!("{launch:?}"))
        .add("allow", format!("{:?}", allow.allow)))
}

/// The digest of all that a point depends on.
pub(super) fn digest(point: KeyBuilder) -> String {
    point.finish().to_string().chars().take(32).collect()
}

/// The digest of a run of `unit` as `design` has it, with `options`.
pub(super) fn of_unit(
    kind: &str,
    design: &Design,
    unit: &EmittedUnit,
    config: &Config,
    options: String,
) -> String {
    let mut point = point(kind)
        .add("unit", &unit.name)
        .add("machine", format!("{config:?}"))
        .add("options", options);
    for file in design.files_of(unit) {
        point = point.add(&file.name, &file.text);
    }
    digest(point)
}

/// Where a campaign keeps its results, and which part of it runs.
#[derive(Args, Clone, Debug)]
pub(super) struct PointArgs {
    /// Store each result in FILE, and skip results that FILE already has for the
    /// same inputs, options and versions. Repeat the option to read the files of
    /// other shards.
    #[arg(long, value_name = "FILE.jsonl")]
    points: Vec<PathBuf>,
    /// Compute results I, I+N, I+2N, ... (part I of N).
    #[arg(long, value_name = "I/N", requires = "points")]
    shard: Option<Shard>,
}

impl PointArgs {
    /// Whether results are kept.
    pub fn is_named(&self) -> bool {
        !self.points.is_empty()
    }

    /// The results so far.
    pub fn points(&self) -> Outcome<Points> {
        Points::of(&self.points)
    }

    /// Whether only a part runs.
    pub fn is_part(&self) -> bool {
        self.shard.is_some()
    }

    /// The units of `design` that this shard runs; see [`Self::part`].
    pub fn units<'d>(
        &self,
        design: &'d Design,
        points: &Points,
        (kind, config): (&str, &Config),
        options: String,
    ) -> Outcome<Vec<&'d EmittedUnit>> {
        let key = point(kind)
            .add("machine", format!("{config:?}"))
            .add("options", options);
        let names = design.units.iter().map(|unit| unit.name.clone());
        self.part(design.units.iter().collect(), points, key, names)
    }

    /// The part of `all` that this shard runs, and notes in the file of `points`
    /// which campaign it is part of. `key` digests what all runs depend on, `names`
    /// are their names.
    pub fn part<T>(
        &self,
        all: Vec<T>,
        points: &Points,
        key: KeyBuilder,
        names: impl IntoIterator<Item = String>,
    ) -> Outcome<Vec<T>> {
        let Some(shard) = self.shard else {
            return Ok(all);
        };
        let key = names
            .into_iter()
            .fold(key, |key, name| key.add("point", name));
        let whole = all.len();
        let own = shard.of(all);
        points.begin(PartOf {
            shard: shard.to_string(),
            points: own.len(),
            all: whole,
            campaign: digest(key),
        })?;
        Ok(own)
    }
}

/// Every N-th item from the I-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    first: usize,
    step: usize,
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}/{}", self.first + 1, self.step)
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text
            .split_once('/')
            .and_then(|(i, n)| Some((i.parse::<usize>().ok()?, n.parse().ok()?)));
        match parsed {
            Some((i, n)) if i >= 1 && i <= n => Ok(Shard {
                first: i - 1,
                step: n,
            }),
            _ => Err("expected I/N, such as 1/4 for the first of four shards"),
        }
    }
}

impl Shard {
    /// The shard's part of a list.
    pub fn of<T>(self, all: Vec<T>) -> Vec<T> {
        all.into_iter()
            .skip(self.first)
            .step_by(self.step)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_have_every_item_once() {
        let shard = |text: &str| text.parse::<Shard>().unwrap().of((0..10).collect());
        let mut all: Vec<i32> = ["1/3", "2/3", "3/3"].into_iter().flat_map(shard).collect();
        assert_eq!(shard("2/3"), [1, 4, 7]);
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
        for wrong in ["0/3", "4/3", "1", "a/b", "1/0"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
