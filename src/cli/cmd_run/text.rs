//! The output of `run`: the answer, findings by line, outputs, guesses.

use super::{Output, Report};
use crate::capture::listed_from;
use crate::cli::printer::CommandResult;
use crate::ptx::exec::{Finding, FindingKind};
use crate::quote::shell;
use crate::readable::{counted, readable};
use crate::terminal::{Columns, Details, Hint, Tone};
use crate::toolkit::Users;
use crate::trace::without_folder;
use std::collections::BTreeSet;
use std::path::Path;

/// Findings of one kind at one line, or with one remedy.
struct Group<'a> {
    first: &'a Finding,
    /// The other sides of the first one.
    others: Vec<&'a Finding>,
    count: usize,
    /// The lines of all sides, of each finding that has others than those before it.
    lines: Vec<Vec<Place<'a>>>,
}

/// A line of the source, or else of the PTX, with the calls through which it is inlined.
type Place<'a> = (Option<&'a str>, u32, &'a [String], Option<&'a str>);

/// Findings by kind, lines of all sides and remedy, faults before warnings and races, which
/// may cause the others, before these; in the order of the first of each.
fn groups(findings: &[Finding]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    for sides in findings.chunk_by(|_, next| next.other) {
        let [first, others @ ..] = sides else {
            continue;
        };
        let lines = sides.iter().map(line_of).collect();
        match groups.iter_mut().find(|group| group.is_like(sides)) {
            Some(group) => {
                group.count += 1;
                if !group.lines.contains(&lines) {
                    group.lines.push(lines);
                }
            }
            None => groups.push(Group {
                first,
                others: others.iter().collect(),
                count: 1,
                lines: vec![lines],
            }),
        }
    }
    groups.sort_by_key(|group| (group.first.warning, group.first.kind != FindingKind::Race));
    groups
}

impl Group<'_> {
    /// Whether the `sides` of another finding are of the same row: a reader would change the
    /// same lines in the same way.
    fn is_like(&self, sides: &[Finding]) -> bool {
        let own = || std::iter::once(self.first).chain(self.others.iter().copied());
        let has_barrier = own().any(|side| side.barrier.is_some() || side.wait.is_some());
        let same_lines = self.lines[0].iter().copied().eq(sides.iter().map(line_of));
        (self.first.kind, self.first.warning) == (sides[0].kind, sides[0].warning)
            && (same_lines || has_barrier)
            && own().map(remedies).eq(sides.iter().map(remedies))
    }
}

/// The remedies that would order the two sides.
fn remedies(finding: &Finding) -> ([&Option<String>; 4], bool) {
    let Finding {
        barrier,
        wait,
        warp_barrier,
        fence,
        atomic,
        ..
    } = finding;
    ([barrier, wait, warp_barrier, fence], *atomic)
}

fn line_of(finding: &Finding) -> Place<'_> {
    let source = finding.source.as_deref();
    let line = source.map_or(finding.ptx_line, |_| 0);
    (
        source,
        line,
        &finding.inlined_at,
        finding.ptx_file.as_deref(),
    )
}

impl CommandResult for Report<'_> {
    fn verdict(&self) -> String {
        let outputs = self.outputs_text();
        let text = match found_text(&self.findings) {
            Some(found) => {
                let found_at = self.findings.iter().filter(|f| !f.other).map(line_of);
                let lines = counted(found_at.collect::<BTreeSet<_>>().len(), "line");
                format!("{found}, at {lines}; {outputs}")
            }
            None if self.guesses.is_empty() => format!("No fault found, {outputs}"),
            None => format!("No fault found with values that init guessed, {outputs}"),
        };
        text + "."
    }

    fn tone(&self) -> Tone {
        let faults = self.findings.iter().any(|f| !f.warning);
        match () {
            () if faults || self.wrong().next().is_some() => Tone::Bad,
            () if !self.findings.is_empty() || !self.guesses.is_empty() => Tone::Doubt,
            () => Tone::Good,
        }
    }

    fn details(&self) -> Details {
        let mut details = Details::new();
        let found = groups(&self.findings);
        details.table(
            Columns::of(&found)
                .right("count", |g| g.count)
                .left("finding", |g| kind_text(g.first))
                .toned(|g| {
                    if g.first.warning {
                        Tone::Doubt
                    } else {
                        Tone::Bad
                    }
                })
                .left("where", |g| place(self.ptx, g.first))
                .left("first of them", |g| first_text(self.ptx, g))
                .table()
                .readable("first of them", 34)
                .readable("where", 16),
        );
        if let Some(first) = self.skipped.first() {
            let entries: Vec<&str> = self.skipped.iter().map(|s| s.entry.as_str()).collect();
            let list = listed_from(first.launch, &entries);
            let text = format!("not run because of the preceding fault: launches {list}");
            details.toned(Tone::Doubt, text);
        }
        self.add_outputs(&mut details);
        if !self.guesses.is_empty() {
            details.heading("guesses of init that are still in the launch file:");
            for guess in &self.guesses {
                let text = format!("  line {}: {}", guess.line, guess.text);
                details.toned(Tone::Doubt, text);
            }
        }
        details.gap();
        let counts = &self.counts;
        details.note(format!(
            "{}: {} warp instructions, {} thread instructions, {} shared-memory accesses, {:.3} s",
            readable(&self.entry),
            counts.warp_instructions,
            counts.thread_instructions,
            counts.shared_accesses,
            counts.seconds,
        ));
        details
    }

    fn hints(&self) -> Vec<Hint> {
        let Some(launch) = self.launch else {
            return Vec::new();
        };
        let launch = shell(launch);
        if let Some(output) = self.wrong().next() {
            let name = &output.name;
            let command = format!(
                "spadkit run {launch} --dump {0}",
                shell(format!("{name}={name}.npy"))
            );
            return vec![Hint::new("to see what it is", command)];
        }
        let mut hints = Vec::new();
        if !self.races {
            let command = format!("spadkit run {launch} --races");
            hints.push(Hint::new(
                "races and reads of what was never written",
                command,
            ));
        }
        if self.findings.is_empty() && self.counts.shared_accesses > 0 {
            let command = format!("spadkit conflicts {launch} --source");
            hints.push(Hint::new("its bank conflicts", command));
        }
        hints
    }
}

impl Report<'_> {
    /// Outputs that are not as expected.
    fn wrong(&self) -> impl Iterator<Item = &Output> {
        let wrong = |o: &&Output| o.comparison.as_ref().is_some_and(|c| !c.ok);
        self.outputs.iter().filter(wrong)
    }

    fn outputs_text(&self) -> String {
        let wrong: Vec<&str> = self.wrong().map(|o| o.name.as_str()).collect();
        let compared = self.outputs.iter().any(|o| o.comparison.is_some());
        match &wrong[..] {
            [] if compared => "outputs as expected".to_owned(),
            [] => "no output compared: the launch file expects none".to_owned(),
            [name] => format!("output {name} is not as expected"),
            names => format!("outputs {} are not as expected", names.join(", ")),
        }
    }

    /// The buffers that were compared, or all of them with their digests.
    fn add_outputs(&self, details: &mut Details) {
        let shown = self.outputs.iter();
        let shown = shown.filter(|o| self.digests || o.comparison.is_some());
        let mut columns = Columns::of(shown)
            .left("buffer", |o| &o.name)
            .right("max error", |o| {
                let error = o
                    .comparison
                    .as_ref()
                    .map(|c| format!("{:.3e}", c.max_error));
                error.unwrap_or_default()
            })
            .left("as expected", |o| match &o.comparison {
                Some(c) if c.ok => "yes",
                Some(_) => "no",
                None => "",
            })
            .toned(|o| match &o.comparison {
                Some(c) if !c.ok => Tone::Bad,
                _ => Tone::Good,
            });
        if self.digests {
            columns = columns.left("SHA-256", |o| o.sha256.clone());
        }
        let table = columns.table();
        if !table.is_empty() {
            details.gap();
        }
        details.table(table);
    }
}

/// Number and kinds of the findings; none without any.
fn found_text(findings: &[Finding]) -> Option<String> {
    let of = |warning: bool, what: &str| {
        let all = findings.iter().filter(|f| !f.other && f.warning == warning);
        let kinds: Vec<&str> = all.map(|f| f.kind.text()).collect();
        let mut names: Vec<&str> = Vec::new();
        for kind in &kinds {
            if !names.contains(kind) {
                names.push(kind);
            }
        }
        let text = || format!("{} ({})", counted(kinds.len(), what), names.join(", "));
        (!kinds.is_empty()).then(text)
    };
    let parts = [of(false, "fault"), of(true, "warning")];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("Found {}", parts.join(" and ")))
}

fn kind_text(finding: &Finding) -> String {
    if finding.warning {
        format!("warning, {}", finding.kind.text())
    } else {
        finding.kind.text().to_owned()
    }
}

/// The line of the source and the call in the kernel itself, and the line of
/// the PTX.
fn place(ptx: &Path, finding: &Finding) -> String {
    let ptx = finding.ptx_file.as_ref().map_or(ptx, Path::new);
    let name = ptx.file_name().unwrap_or_default().display();
    let line = format!("{name}:{}", finding.ptx_line);
    let Some(source) = &finding.source else {
        return line;
    };
    let users = Users::of(source, &finding.inlined_at);
    let header = users.through.map_or(String::new(), |(header, _)| {
        format!(" through {}", without_folder(header))
    });
    // The outermost call is the line of the kernel itself.
    let call = users.calls.last();
    let call = call.map_or(String::new(), |c| format!(" in {}", without_folder(c)));
    format!("{}{header}{call}, {line}", without_folder(users.line))
}

/// The first finding of a group with its other sides.
fn first_text(ptx: &Path, group: &Group) -> String {
    let one = |f: &Finding| format!("block {:?}, thread {:?}: {}", f.block, f.thread, f.message);
    let mut text = one(group.first);
    for other in &group.others {
        text += &format!("\nand {}, {}", place(ptx, other), one(other));
        // Behind both sides what they have in common.
        if let Some(count) = other.count {
            text += &format!("\nat {}", counted(count, "word"));
            if let Some(barrier) = &other.barrier {
                let more = more_pairs(group);
                text += &format!("; one __syncthreads() {barrier} would order them{more}");
            }
            if let Some(wait) = &other.wait {
                text += &format!(
                    "; a wait for the copy (cp.async.wait_all, cg::wait) and then one \
                     __syncthreads() {wait} would order them{}",
                    more_pairs(group)
                );
            }
            if let Some(barrier) = &other.warp_barrier {
                text += &format!("; one __syncwarp() {barrier} would order them");
            }
            if other.atomic {
                text += "; an atomic in the place of load and store would order them";
            }
            if let Some(fence) = &other.fence {
                text += &format!("; __threadfence() {fence} would order them");
            }
        }
    }
    text
}

/// The other pairs of lines that one remedy orders, too.
fn more_pairs(group: &Group) -> String {
    match group.lines.len() - 1 {
        0 => String::new(),
        1 => ", and one more pair of lines".to_owned(),
        n => format!(", and {n} more pairs of lines"),
    }
}
