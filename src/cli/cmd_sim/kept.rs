//! Runs of a sweep that are kept in files, for shards and for the next time.

use super::plan::{Draft, Plan};
use super::point::Point;
use super::{SimArgs, Works};
use crate::cli::campaign::{self, PointArgs};
use crate::cli::printer::CommandResult;
use crate::error::Result;
use crate::points::Points;
use crate::quote::{shell, shown_path};
use crate::terminal::{Details, Hint};
use crate::workload::Input;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The runs that are known, and what names them.
#[derive(Default)]
pub(super) struct Kept {
    points: Points,
    /// The digest of the inputs of every run; none if results are not stored.
    input: Option<String>,
}

impl Kept {
    /// Opens the files of `--points`.
    pub fn open(args: &SimArgs) -> Result<Self> {
        if !args.kept.is_named() {
            return Ok(Self::default());
        }
        let key = campaign::of_input("sim", &args.input, &args.allow)?;
        Ok(Kept {
            points: args.kept.points()?,
            input: Some(campaign::digest(key)),
        })
    }

    /// The digest of a point's run: of everything that its numbers depend on.
    fn digest(&self, draft: &Draft, plan: &Plan, works: &Works) -> Result<Option<String>> {
        let Some(input) = &self.input else {
            return Ok(None);
        };
        let point = campaign::point("sim point")
            .add("input", input)
            .add("kernel", format!("{:?}", works.of(draft.blocks).info()))
            .add("blocks", format!("{:?}", draft.blocks))
            .add("dependent", format!("{:?}", works.dependent))
            .add("machine", format!("{:?}", draft.machine(plan)?))
            .add("setup", format!("{:?}", draft.setup));
        Ok(Some(campaign::digest(point)))
    }

    /// The point, if it was run before.
    pub fn get(&self, draft: &Draft, plan: &Plan, works: &Works) -> Result<Option<Point>> {
        let digest = self.digest(draft, plan, works)?;
        let statistics = digest.and_then(|digest| self.points.get(&digest));
        let point = statistics.map(|s| Point::known(draft, plan, works, s));
        point.transpose()
    }

    /// Keeps a point that has run to its end.
    pub fn add(&self, point: &Point, plan: &Plan, works: &Works) -> Result<()> {
        let Some(digest) = self.digest(&point.draft, plan, works)? else {
            return Ok(());
        };
        let labels = point.draft.labels.iter().map(|(k, v)| format!("{k} {v}"));
        let all: Vec<String> = std::iter::once(works.kernel().to_owned())
            .chain(labels)
            .collect();
        self.points.add(&digest, &all.join(", "), &point.statistics)
    }

    /// The part of `all` runs of a sweep that this shard runs; `draft` returns the point of a run.
    pub fn part_of<T>(
        &self,
        args: &PointArgs,
        all: Vec<T>,
        draft: impl Fn(&T) -> &Draft,
        (plan, works): (&Plan, &Works),
    ) -> Result<Vec<T>> {
        let names = all.iter().map(|run| self.digest(draft(run), plan, works));
        let names = names.collect::<Result<Vec<_>>>()?;
        let key = campaign::point("sim campaign");
        args.part(all, &self.points, key, names.into_iter().flatten())
    }

    /// Puts the file in order: it depends on the points alone.
    pub fn finish(&self) -> Result<()> {
        self.points.finish()
    }

    /// A shard of this many runs, all of which have ended.
    pub fn part(&self, runs: usize, input: &Input) -> Part {
        Part {
            runs,
            file: self.points.file().map(Path::to_owned),
            input: input.name().to_owned(),
        }
    }
}

/// A shard that has ended.
#[derive(Serialize)]
pub(super) struct Part {
    runs: usize,
    file: Option<PathBuf>,
    #[serde(skip)]
    input: PathBuf,
}

impl CommandResult for Part {
    fn verdict(&self) -> String {
        let file = self.file.as_deref().map(shown_path).unwrap_or_default();
        format!("{} runs of the sweep are in {file}.", self.runs)
    }

    fn details(&self) -> Details {
        Details::default()
    }

    fn hints(&self) -> Vec<Hint> {
        let input = shell(&self.input);
        vec![Hint::new(
            "the whole sweep, once all shards have ended, with the options of this one",
            format!("spadkit sim {input} --sweep --points all.jsonl --points SHARD.jsonl ..."),
        )]
    }
}
