//! What fails, as SARIF 2.1.0: for code review, with lines and fixes.

use super::fix::{ChangedLine, Fix, Function, together};
use super::limits::Metric;
use super::measure::LineConflicts;
use super::{Check, Kernel};
use crate::cli::cmd_run::users_line;
use crate::ptx::exec::Finding;
use crate::readable::readable_words;
use crate::suggest::SourceFiles;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Id, name, and what it is about.
const RULES: [(&str, &str, &str); 4] = [
    (
        "spadkit/bank-conflict",
        "BankConflict",
        "Lanes of a warp access different words of one bank of shared memory: the access takes \
         more wavefronts than its words need.",
    ),
    (
        "spadkit/fault",
        "Fault",
        "The kernel does something that is undefined or wrong when it runs: a race, an access out \
         of bounds, a read of what was never written.",
    ),
    (
        "spadkit/output",
        "WrongOutput",
        "An output of the kernel is not what its launch file expects.",
    ),
    (
        "spadkit/limit",
        "LimitExceeded",
        "A number of the kernel is above its limit.",
    ),
];

/// A log with one run.
pub(super) fn text(kernels: &[Kernel], has_baseline: bool) -> String {
    let rule = |(id, name, about): &(&str, &str, &str)| {
        json!({
            "id": id,
            "name": name,
            "shortDescription": {"text": about},
            "fullDescription": {"text": about},
            "defaultConfiguration": {"level": "error"},
        })
    };
    let results = kernels.iter().flat_map(|kernel| {
        let complete: Vec<&Fix> = kernel.fixes.iter().filter(|fix| fix.complete).collect();
        let joined = (complete.len() > 1).then(|| together(&complete)).flatten();
        let results = Results {
            kernel,
            has_baseline,
            joined: joined.as_ref(),
            source: SourceFiles::beside(Path::new(&kernel.input)),
            alike: HashMap::new(),
        };
        results.all()
    });
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "spadkit",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": RULES.iter().map(rule).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {"SRCROOT": {"description": {
                "text": "The folder in which spadkit gate ran."
            }}},
            "results": results.collect::<Vec<_>>(),
        }],
    });
    serde_json::to_string_pretty(&log).expect("a JSON value") + "\n"
}

struct Results<'a> {
    kernel: &'a Kernel,
    has_baseline: bool,
    /// All complete fixes as one, where there are several.
    joined: Option<&'a Fix>,
    source: SourceFiles,
    /// Results so far by what their fingerprints are of.
    alike: HashMap<String, u32>,
}

impl Results<'_> {
    fn all(mut self) -> Vec<Value> {
        let kernel = self.kernel;
        let mut results = Vec::new();
        let exceeded: Vec<&Check> = kernel.checks.iter().filter(|c| c.exceeded).collect();
        let of_conflicts = |c: &&&Check| c.limit.metric.is_of_conflicts();
        if let Some(check) = exceeded.iter().find(of_conflicts) {
            for line in &kernel.measured.lines {
                results.push(self.conflict(line, check));
            }
        }
        let faults_are_told = exceeded.iter().any(|c| c.limit.metric == Metric::Findings);
        for check in exceeded {
            use Metric::{Findings, Warnings};
            match check.limit.metric {
                _ if check.value.is_none() && faults_are_told => {}
                metric @ (Findings | Warnings) => {
                    let own = |f: &&Finding| !f.other && f.warning == (metric == Warnings);
                    let faults = kernel.measured.faults.iter().filter(own);
                    results.extend(faults.map(|f| self.fault(f, check)).collect::<Vec<_>>());
                    // An output that is not as expected is a finding, no warning.
                    let outputs = (metric == Findings).then_some(&kernel.measured.wrong_outputs);
                    for output in outputs.into_iter().flatten() {
                        let text = format!(
                            "The output {output} of {} is not as expected.",
                            kernel.name()
                        );
                        results.push(self.result(2, check, &text, None, output));
                    }
                }
                // The lines say it.
                metric if metric.is_of_conflicts() && !kernel.measured.lines.is_empty() => {}
                metric => {
                    let text = format!("{}: {}.", kernel.name(), kernel.explanation(check));
                    results.push(self.result(3, check, &text, None, &metric.to_string()));
                }
            }
        }
        results
    }

    fn conflict(&mut self, line: &LineConflicts, check: &Check) -> Value {
        let mut text = format!(
            "{} bank conflicts in {} wavefronts of {}, up to {} ways.",
            line.conflicts,
            line.wavefronts,
            self.kernel.name(),
            line.max_degree
        );
        let at = line.line.location();
        let text_there = at.and_then(|at| self.source.line(at)).unwrap_or_default();
        let about = |fix: &&Fix| match at {
            Some(at) => {
                let here = |l: &ChangedLine| l.source == at || l.defines_what_is_in(&text_there);
                fix.lines.iter().any(here) || self.kernel.fixes.len() == 1
            }
            None => true,
        };
        let fixes: Vec<&Fix> = self.kernel.fixes.iter().filter(about).collect();
        for fix in &fixes {
            text += &format!(" {}.", fix.text);
            let own = fix.lines.iter().find(|l| Some(l.source.as_str()) == at);
            if let Some(own) = own {
                text += &format!(" This line becomes: {}", own.changed);
            }
        }
        let place = line.line.place();
        let mut result = self.result(0, check, &text, at, place);
        let complete: Vec<&Fix> = fixes.into_iter().filter(|fix| fix.complete).collect();
        let joined = self.joined.filter(|_| !complete.is_empty());
        let fixes = joined.into_iter().chain(complete);
        let fixes: Vec<Value> = fixes.filter_map(|fix| self.fix(fix)).collect();
        if !fixes.is_empty() {
            result["fixes"] = fixes.into();
        }
        result
    }

    fn fault(&mut self, fault: &Finding, check: &Check) -> Value {
        let text = format!(
            "{} in {}, block {:?}, thread {:?}: {}",
            fault.kind.text(),
            self.kernel.name(),
            fault.block,
            fault.thread,
            readable_words(&fault.message)
        );
        let line = users_line(fault);
        let place = line.map_or_else(|| fault.ptx_line.to_string(), str::to_owned);
        self.result(1, check, &text, line, &place)
    }

    /// `place` is `file:line` of the source; without it the kernel's file is
    /// named. `what` tells results of one rule apart.
    fn result(
        &mut self,
        rule: usize,
        check: &Check,
        text: &str,
        place: Option<&str>,
        what: &str,
    ) -> Value {
        let id = RULES[rule].0;
        let parts = [id, &self.kernel.input, &self.lasting(what)].join("\n");
        let alike = self.alike.entry(parts.clone()).or_default();
        *alike += 1;
        let fingerprint = fingerprint(&format!("{parts}\n{alike}"));
        let mut result = json!({
            "ruleId": id,
            "ruleIndex": rule,
            "level": if check.failed { "error" } else { "note" },
            "message": {"text": text},
            "locations": [self.location(place)],
            "partialFingerprints": {"spadkit/v2": fingerprint},
        });
        if self.has_baseline {
            let state = match (check.before, check.failed) {
                (None, _) => "new",
                (Some(_), true) => "updated",
                (Some(_), false) => "unchanged",
            };
            result["baselineState"] = state.into();
        }
        result
    }

    /// What tells results apart and stays while lines move: in place of `file:line` the
    /// text of the line, where the file is here.
    fn lasting(&mut self, what: &str) -> String {
        let text = self.source.line(what);
        let file = what.rsplit_once(':').map_or(what, |(file, _)| file);
        let name = file.rsplit('/').next().unwrap_or(file);
        text.map_or_else(|| what.to_owned(), |text| format!("{name}:{text}"))
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
            _ => (self.kernel.input.clone(), 1),
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

/// A function that is defined once, however many files have it.
fn guarded(function: &Function) -> String {
    let name = format!("SPADKIT_{}", function.name);
    let text = function.text.trim_end();
    format!("#ifndef {name}\n#define {name}\n{text}\n#endif\n")
}

/// A file below the folder of the run is named from there, as an URI.
fn artifact(path: &str) -> Value {
    let path = Path::new(path);
    let here = std::env::current_dir().ok();
    let relative = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    let path = relative.unwrap_or(path.to_owned());
    let uri = uri(&path.to_string_lossy());
    if path.is_absolute() {
        json!({"uri": format!("file://{uri}")})
    } else {
        json!({"uri": uri.trim_start_matches("./"), "uriBaseId": "SRCROOT"})
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
    let digest = Sha256::digest(text);
    digest.iter().take(16).map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        assert_eq!(uri("my kernels/a+b.cu"), "my%20kernels/a%2Bb.cu");
        let relative = artifact("./k.cu");
        assert_eq!(relative, json!({"uri": "k.cu", "uriBaseId": "SRCROOT"}));
        assert_eq!(artifact("/x/k.cu"), json!({"uri": "file:///x/k.cu"}));
    }
}
