//! Checks that no access trace is malformed: one check for every command that
//! reads a trace, from a file or made by a program.

use super::access::{Access, AccessTrace};
use super::json_place::{Step, offset_of};
use spadkit_base::error::{Error, Result};
use std::path::Path;

/// The largest warp that the kit handles.
const MAX_WARP_SIZE: u32 = 64;
/// The largest thread block that the kit handles.
const MAX_THREADS: u64 = 4096;

/// The first thing that is wrong with a trace.
pub(super) struct Problem {
    what: String,
    help: String,
    place: Vec<Step<'static>>,
}

impl Problem {
    fn new(what: String, help: impl Into<String>, place: Vec<Step<'static>>) -> Self {
        let help = help.into();
        Problem { what, help, place }
    }

    /// The problem as an error in the file of the trace.
    pub(super) fn at(self, text: &str, path: &Path) -> Error {
        let offset = offset_of(text, &self.place);
        Error::input(self.what, Some(self.help), path, text, offset)
    }
}

impl AccessTrace {
    /// Refuses a trace that no block can have: warps or threads beyond the
    /// block, accesses beyond its shared memory or not aligned to their width.
    /// Traces from a file were checked while they were read, with line and
    /// column.
    pub fn check(&self) -> Result<()> {
        match self.problem() {
            None => Ok(()),
            Some(p) => Err(Error::usage(format!("{}: {}", self.name, p.what), p.help)),
        }
    }

    pub(super) fn problem(&self) -> Option<Problem> {
        let accesses = self.accesses.iter().enumerate();
        self.problem_of_head()
            .or_else(|| accesses.into_iter().find_map(|(i, a)| self.access(i, a)))
            .or_else(|| self.problem_of_barriers())
    }

    fn problem_of_head(&self) -> Option<Problem> {
        for key in ["version", "format_version"] {
            if let Some(version) = self.extra.get(key).filter(|v| v.as_u64() != Some(1)) {
                let what = format!("access trace version {version} is not supported");
                return Some(Problem::new(
                    what,
                    "expected version 1",
                    vec![Step::Key(key)],
                ));
            }
        }
        if !(1..=MAX_WARP_SIZE).contains(&self.warp_size) {
            let what = format!("warp_size {} is not supported", self.warp_size);
            let place = vec![Step::Key("warp_size")];
            return Some(Problem::new(what, "expected 1 to 64 threads", place));
        }
        if !(1..=MAX_THREADS).contains(&self.threads()) {
            let what = format!("a block of {} threads is not supported", self.threads());
            let place = vec![Step::Key("block_dim")];
            return Some(Problem::new(what, "expected 1 to 4096 threads", place));
        }
        None
    }

    fn access(&self, i: usize, access: &Access) -> Option<Problem> {
        let at = |key: &'static str, lane: Option<usize>| {
            let place = [Step::Key("accesses"), Step::Index(i), Step::Key(key)];
            place.into_iter().chain(lane.map(Step::Index)).collect()
        };
        let (lanes, warp_size) = (access.addrs.len(), self.warp_size);
        if lanes != warp_size as usize {
            let what = format!("accesses[{i}] has {lanes} addrs in a warp of {warp_size}");
            let help = "expected one entry per thread, null for inactive threads";
            return Some(Problem::new(what, help, at("addrs", None)));
        }
        if ![1, 2, 4, 8, 16].contains(&access.bytes) {
            let what = format!("accesses[{i}] is {} bytes wide", access.bytes);
            return Some(Problem::new(
                what,
                "expected 1, 2, 4, 8 or 16",
                at("bytes", None),
            ));
        }
        let warps = self.threads().div_ceil(u64::from(warp_size));
        let before = u64::from(access.warp) * u64::from(warp_size);
        let Some(threads) = self.threads().checked_sub(before).filter(|&t| t > 0) else {
            let what = format!(
                "accesses[{i}] is of warp {}, but a block of {} threads has {warps} warps",
                access.warp,
                self.threads()
            );
            let help = "expected warps of the block: block_dim / warp_size";
            return Some(Problem::new(what, help, at("warp", None)));
        };
        let active = access.addrs.iter().enumerate();
        let mut active = active.filter_map(|(lane, addr)| Some((lane, (*addr)?)));
        active.find_map(|(lane, addr)| {
            let (what, help) = self.lane(access, (lane, addr), threads)?;
            let what = format!("accesses[{i}].addrs[{lane}] = {addr} {what}");
            Some(Problem::new(what, help, at("addrs", Some(lane))))
        })
    }

    /// The error in the address of a lane, for a warp of this many threads, and what was expected.
    fn lane(
        &self,
        access: &Access,
        (lane, addr): (usize, u32),
        threads: u64,
    ) -> Option<(String, String)> {
        if lane as u64 >= threads {
            let what = "is of a thread that the block does not have".to_owned();
            let help = format!(
                "warp {} of a block of {} threads has {threads} of them; the others are null",
                access.warp,
                self.threads()
            );
            return Some((what, help));
        }
        let end = u64::from(addr) + u64::from(access.words());
        if end > u64::from(self.words()) {
            let help = match access.words() {
                1 => "word addresses are below shared_bytes / 4".to_owned(),
                words => format!("all {words} words of a thread are below shared_bytes / 4"),
            };
            let help = format!("{help} = {} ({} bytes)", self.words(), self.shared_bytes);
            return Some(("is out of range".to_owned(), help));
        }
        if !addr.is_multiple_of(access.words()) {
            let what = format!("is not aligned to {} bytes", access.bytes);
            let help = format!("expected a multiple of {} words", access.words());
            return Some((what, help));
        }
        None
    }

    fn problem_of_barriers(&self) -> Option<Problem> {
        let count = self.accesses.len();
        let late = |&b: &u32| b as usize > count;
        let i = self.barriers.iter().position(late)?;
        let what = format!("barriers[{i}] = {} is out of range", self.barriers[i]);
        let help = format!("indices of accesses are 0 to {count}");
        let place = vec![Step::Key("barriers"), Step::Index(i)];
        Some(Problem::new(what, help, place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of six threads in warps of four.
    fn error(access: &str) -> String {
        let text = format!(
            "{{\"name\":\"t\",\"source\":\"s\",\"block_dim\":[3,2,1],\"shared_bytes\":64,\
             \"warp_size\":4,\"accesses\":[\n{{\"pc\":0,\"op\":\"load\",{access}}}]}}"
        );
        match AccessTrace::from_json(&text, Path::new("t.json")) {
            Ok(trace) => {
                trace.check().unwrap();
                String::new()
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn threads_and_words_that_the_block_does_not_have_are_refused() {
        for (access, expected) in [
            ("\"warp\":1,\"addrs\":[0,1,null,null]", ""),
            (
                "\"warp\":2,\"addrs\":[0,1,null,null]",
                "accesses[0] is of warp 2, but a block of 6 threads has 2 warps at t.json:2:",
            ),
            (
                "\"warp\":4294967295,\"addrs\":[0,1,null,null]",
                "has 2 warps",
            ),
            (
                "\"warp\":1,\"addrs\":[0,1,2,null]",
                "accesses[0].addrs[2] = 2 is of a thread that the block does not have at t.json:2:",
            ),
            ("\"warp\":0,\"addrs\":[0,14,null,null],\"bytes\":8", ""),
            (
                "\"warp\":0,\"addrs\":[0,15,null,null],\"bytes\":8",
                "addrs[1] = 15 is out of range",
            ),
            (
                "\"warp\":0,\"addrs\":[0,3,null,null],\"bytes\":8",
                "addrs[1] = 3 is not aligned to 8 bytes",
            ),
            (
                "\"warp\":0,\"addrs\":[12,2,null,null],\"bytes\":16",
                "addrs[1] = 2 is not aligned to 16 bytes",
            ),
            ("\"warp\":0,\"addrs\":[12,3,null,null],\"bytes\":2", ""),
        ] {
            let error = error(access);
            assert!(error.contains(expected), "{access}: {error}");
            assert_eq!(error.is_empty(), expected.is_empty(), "{access}: {error}");
        }
    }
}
