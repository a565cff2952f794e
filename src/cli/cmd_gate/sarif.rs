//! Failures as SARIF 2.1.0: for code review, with lines and fixes.

mod rules;

use super::fix::{ChangedLine, Fix, Function, together};
use super::gated::{Check, Gated, GatedKernel, Unread};
use super::limits::Metric;
use super::measure::LineConflicts;
use crate::capture::Selected;
use crate::digest::sha256_hex;
use crate::paths::real;
use crate::ptx::exec::Finding;
use crate::readable::readable_words;
use crate::suggest::SourceFiles;
use crate::trace::without_folder;
use rules::{RULES, Rule};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::Path;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// A log with one run.
pub(super) fn text(gated: &Gated, has_baseline: bool) -> String {
    // Launches of one file have the faults of all of them.
    let mut told = BTreeSet::new();
    let results = gated.kernels.iter().flat_map(|kernel| {
        let complete: Vec<&Fix> = kernel.fixes.iter().filter(|fix| fix.complete).collect();
        let joined = (complete.len() > 1).then(|| together(&complete)).flatten();
        let results = Results {
            kernel,
            has_baseline,
            joined: joined.as_ref(),
            source: SourceFiles::beside(Path::new(&kernel.input)),
        };
        let mut results = results.all();
        results.retain(|result| told.insert(result["partialFingerprints"].to_string()));
        results
    });
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "spadkit",
                "fullName": concat!("spadkit ", env!("CARGO_PKG_VERSION")),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": RULES.iter().map(Rule::json).collect::<Vec<_>>(),
            }},
            "automationDetails": {"id": "spadkit/gate/"},
            "invocations": [{
                "executionSuccessful": gated.unread.is_empty(),
                "toolExecutionNotifications": gated.unread.iter().map(notification)
                    .collect::<Vec<_>>(),
            }],
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {"SRCROOT": {"description": {
                "text": "The folder in which spadkit gate ran."
            }}},
            "results": results.collect::<Vec<_>>(),
        }],
    });
    serde_json::to_string_pretty(&log).expect("a JSON value") + "\n"
}

/// A kernel that could not be judged.
fn notification(unread: &Unread) -> Value {
    json!({
        "level": "error",
        "message": {"text": unread.error},
        "locations": [{"physicalLocation": {"artifactLocation": artifact(&Selected::file_of(&unread.input))}}],
    })
}

struct Results<'a> {
    kernel: &'a GatedKernel,
    has_baseline: bool,
    /// All complete fixes as one, where there are several.
    joined: Option<&'a Fix>,
    source: SourceFiles,
}

/// The subject of a result.
struct About<'a> {
    rule: usize,
    text: &'a str,
    /// `file:line` of the source; without it the kernel's file is named.
    place: Option<&'a str>,
    /// Identity, which tells results of one rule apart.
    identity: &'a str,
    against: Against,
}

/// A result beside the baseline.
#[derive(Clone, Copy)]
struct Against {
    state: &'static str,
    /// Whether the result is new, or more than before.
    worse: bool,
}

impl Against {
    fn known(before: Option<u64>, now: u64) -> Self {
        match before {
            None => Against {
                state: "new",
                worse: true,
            },
            Some(before) if before == now => Against {
                state: "unchanged",
                worse: false,
            },
            Some(before) => Against {
                state: "updated",
                worse: now > before,
            },
        }
    }

    /// A number that is its own result.
    fn of_check(check: &Check) -> Self {
        match (check.before, check.failed) {
            (None, _) => Against {
                state: "new",
                worse: true,
            },
            (Some(_), worse @ true) => Against {
                state: "updated",
                worse,
            },
            (Some(_), worse @ false) => Against {
                state: "unchanged",
                worse,
            },
        }
    }
}

impl<'a> Results<'a> {
    fn all(mut self) -> Vec<Value> {
        let kernel = self.kernel;
        let mut results = Vec::new();
        let exceeded: Vec<&Check> = kernel.checks.iter().filter(|c| c.exceeded).collect();
        let of_conflicts = |c: &&&Check| c.limit.metric.is_of_conflicts();
        if let Some(check) = exceeded.iter().find(of_conflicts) {
            let lines = &kernel.measured.lines;
            let against = |line: &LineConflicts| self.against(&line.identity, line.conflicts);
            let against: Vec<Against> = lines.iter().map(against).collect();
            // The number may be worse although no line is: then each is to be looked at.
            let none_is_worse = !against.iter().any(|a| a.worse);
            for (line, mut against) in lines.iter().zip(against) {
                against.worse |= none_is_worse;
                results.push(self.conflict(line, check, against));
            }
        }
        let faults_are_told = exceeded.iter().any(|c| c.limit.metric == Metric::Findings);
        for check in exceeded {
            use Metric::{Findings, Warnings};
            match check.limit.metric {
                _ if check.value.is_none() && faults_are_told => {}
                metric @ (Findings | Warnings) => {
                    let measured = &kernel.measured;
                    for (fault, identity) in measured.own_faults(metric == Warnings) {
                        results.push(self.fault(fault, identity, check));
                    }
                    // An output that is not as expected is a finding, no warning.
                    let outputs = (metric == Findings).then_some(&measured.wrong_outputs);
                    for output in outputs.into_iter().flatten() {
                        let text = format!(
                            "The output {output} of {} is not as expected.",
                            kernel.name()
                        );
                        let about = About {
                            rule: 2,
                            text: &text,
                            place: None,
                            identity: output,
                            against: self.against(output, 1),
                        };
                        results.push(self.result(check, &about));
                    }
                }
                // The lines say it.
                metric if metric.is_of_conflicts() && !kernel.measured.lines.is_empty() => {}
                metric => {
                    let text = format!("{}: {}.", kernel.name(), kernel.explanation(check));
                    let about = About {
                        rule: 3,
                        text: &text,
                        place: None,
                        identity: &metric.to_string(),
                        against: Against::of_check(check),
                    };
                    results.push(self.result(check, &about));
                }
            }
        }
        results
    }

    /// Beside the baseline: without one, everything is new.
    fn against(&self, identity: &str, now: u64) -> Against {
        let before = self.kernel.before.as_ref();
        Against::known(before.and_then(|b| b.get(identity)).copied(), now)
    }

    /// The fixes that change the line or a call around it.
    fn fixes_of(&mut self, line: &LineConflicts) -> Vec<&'a Fix> {
        let kernel = self.kernel;
        let Some(at) = line.line.location() else {
            return kernel.fixes.iter().collect();
        };
        let text_there = self.source.line(at).unwrap_or_default();
        let here = |l: &ChangedLine| {
            let is_called = || line.line.calls().iter().any(|call| l.covers(call));
            l.covers(at) || l.defines_what_is_in(&text_there) || is_called()
        };
        let about = |fix: &&Fix| kernel.fixes.len() == 1 || fix.lines.iter().any(here);
        kernel.fixes.iter().filter(about).collect()
    }

    fn conflict(&mut self, line: &LineConflicts, check: &Check, against: Against) -> Value {
        let mut text = format!(
            "{} bank conflicts in {} wavefronts of {}, up to {} ways.",
            line.conflicts,
            line.wavefronts,
            self.kernel.name(),
            line.max_degree
        );
        let at = line.line.location();
        let fixes = self.fixes_of(line);
        for fix in &fixes {
            text += &format!(" {}.", fix.text);
            text += &what_becomes_of(line, fix);
        }
        let about = About {
            rule: 0,
            text: &text,
            place: at,
            identity: &line.identity,
            against,
        };
        let mut result = self.result(check, &about);
        let calls = line.line.calls();
        if !calls.is_empty() {
            let around = calls.iter().map(|call| {
                let mut around = self.location(Some(call));
                around["message"] = json!({"text": "called here"});
                around
            });
            result["relatedLocations"] = around.collect();
        }
        let complete: Vec<&Fix> = fixes.into_iter().filter(|fix| fix.complete).collect();
        let joined = self.joined.filter(|_| !complete.is_empty());
        let fixes = joined.into_iter().chain(complete);
        let fixes: Vec<Value> = fixes.filter_map(|fix| self.fix(fix)).collect();
        if !fixes.is_empty() {
            result["fixes"] = fixes.into();
        }
        result
    }

    fn fault(&mut self, fault: &Finding, identity: &str, check: &Check) -> Value {
        let text = format!(
            "{} in {}, block {:?}, thread {:?}: {}",
            fault.kind.text(),
            self.kernel.name(),
            fault.block,
            fault.thread,
            readable_words(&fault.message)
        );
        let about = About {
            rule: 1,
            text: &text,
            place: fault.users_line(),
            identity,
            against: self.against(identity, 1),
        };
        self.result(check, &about)
    }

    fn result(&mut self, check: &Check, about: &About) -> Value {
        let id = RULES[about.rule].id;
        let of = match about.rule {
            1 | 2 => &Selected::file_of(&self.kernel.input),
            _ => &self.kernel.input,
        };
        let parts = [id, of, about.identity].join("\n");
        let is_error = check.failed && about.against.worse;
        let mut result = json!({
            "ruleId": id,
            "ruleIndex": about.rule,
            "level": if is_error { "error" } else { "note" },
            "message": {"text": about.text},
            "locations": [self.location(about.place)],
            "partialFingerprints": {"spadkit/v3": fingerprint(&parts)},
        });
        if self.has_baseline {
            result["baselineState"] = about.against.state.into();
        }
        result
    }

    fn location(&mut self, place: Option<&str>) -> Value {
        let found = place.and_then(|place| {
            let (file, line) = place.rsplit_once(':')?;
            let line: u32 = line.parse().ok().filter(|line| *line > 0)?;
            Some((self.source.path(file), line))
        });
        let (path, line) = match found {
            Some((Some(path), line)) => (path.display().to_string(), line),
            // The file is not here: the launch file is.
            _ => (Selected::file_of(&self.kernel.input), 1),
        };
        json!({"physicalLocation": {
            "artifactLocation": artifact(&path),
            "region": {"startLine": line},
        }})
    }

    /// All lines of a fix, and its function in front of each file; none if a
    /// file is not here.
    fn fix(&mut self, fix: &Fix) -> Option<Value> {
        let mut changes: Map<String, Value> = Map::new();
        let files: BTreeSet<&str> = fix.lines.iter().map(ChangedLine::file).collect();
        let function = match &fix.functions[..] {
            // One file may include another.
            functions if files.len() > 1 => functions.iter().map(guarded).collect(),
            functions => functions
                .iter()
                .map(|f| f.text.as_str())
                .collect::<String>(),
        };
        for line in &fix.lines {
            let path = self.source.path(line.file())?.display().to_string();
            let (start, end) = (line.region.start, line.region.end);
            let replacement = json!({
                "deletedRegion": {
                    "startLine": start.0,
                    "startColumn": start.1,
                    "endLine": end.0,
                    "endColumn": end.1,
                },
                "insertedContent": {"text": line.changed},
            });
            let functions = json!({
                "deletedRegion": {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1},
                "insertedContent": {"text": format!("{}\n\n", function.trim_end())},
            });
            let first = || {
                if fix.functions.is_empty() {
                    json!([])
                } else {
                    json!([functions])
                }
            };
            let of_file = changes.entry(path).or_insert_with(first);
            of_file.as_array_mut()?.push(replacement);
        }
        let changes: Vec<Value> = (changes.into_iter())
            .map(|(path, replacements)| {
                json!({"artifactLocation": artifact(&path), "replacements": replacements})
            })
            .collect();
        (!changes.is_empty()).then(|| {
            json!({
                "description": {"text": format!("{}.", fix.text)},
                "artifactChanges": changes,
            })
        })
    }
}

/// The line as the fix has it, or the call around it.
fn what_becomes_of(line: &LineConflicts, fix: &Fix) -> String {
    let changed = |place: &str| fix.lines.iter().find(|l| l.source == place);
    if let Some(own) = line.line.location().and_then(changed) {
        return format!(" This line becomes: {}", own.changed);
    }
    let caller = line.line.calls().iter().find_map(|call| changed(call));
    caller.map_or(String::new(), |caller| {
        let place = without_folder(&caller.source);
        format!(" The call in {place} becomes: {}", caller.changed)
    })
}

/// A function that is defined once, however many files have it.
fn guarded(function: &Function) -> String {
    let name = format!("SPADKIT_{}", function.name);
    let text = function.text.trim_end();
    format!("#ifndef {name}\n#define {name}\n{text}\n#endif\n")
}

/// A file below the folder of the run is named from there, as an URI. Code review compares
/// names as they are, so that links are followed and there is no `..`.
fn artifact(path: &str) -> Value {
    let path = real(Path::new(path));
    let here = std::env::current_dir().map(|here| real(&here));
    let relative = here.ok().and_then(|here| path.strip_prefix(here).ok());
    match relative {
        Some(relative) => json!({"uri": uri(&relative.to_string_lossy()), "uriBaseId": "SRCROOT"}),
        None => json!({"uri": format!("file://{}", uri(&path.to_string_lossy()))}),
    }
}

/// A path in an URI: other bytes than these are written as `%XX`.
fn uri(path: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/._-~".contains(&b);
    let byte = |b: u8| {
        if plain(b) {
            char::from(b).to_string()
        } else {
            format!("%{b:02X}")
        }
    };
    path.bytes().map(byte).collect()
}

fn fingerprint(text: &str) -> String {
    sha256_hex(text)[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        assert_eq!(uri("my kernels/a+b.cu"), "my%20kernels/a%2Bb.cu");
        for path in ["./k.cu", "a/../k.cu"] {
            let relative = json!({"uri": "k.cu", "uriBaseId": "SRCROOT"});
            assert_eq!(artifact(path), relative);
        }
        assert_eq!(artifact("/x/k.cu"), json!({"uri": "file:///x/k.cu"}));
    }
}
