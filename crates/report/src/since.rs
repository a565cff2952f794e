//! The differences from an earlier report.

use serde::Serialize;
use serde_json::Value;
use spadkit_base::error::{Error, Result};
use spadkit_base::input::Limit;
use std::path::Path;

/// A summary is never larger.
const LIMIT: Limit = Limit {
    bytes: 256 << 20,
    expected: "the summary.json of an earlier run",
};

/// The differences from an earlier run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Since {
    /// The file of that run.
    pub file: String,
    /// Machine of that run, if it was another one: then the numbers are of two
    /// machines.
    pub machine: Option<String>,
    /// Numbers then and now.
    pub numbers: Vec<Change>,
    /// Lines whose conflicts changed.
    pub lines: Vec<Change>,
}

/// A number then and now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Name of the number.
    pub what: String,
    /// Null where there was none.
    pub before: Option<f64>,
    /// Null if there is none.
    pub now: Option<f64>,
}

impl Since {
    /// Reads the summary of an earlier run.
    pub fn read(file: &Path) -> Result<Value> {
        let text = LIMIT.read_text(file)?;
        let then: Value = serde_json::from_str(&text).map_err(|e| {
            let help = Some("expected the summary.json of spadkit flow".to_owned());
            Error::input(e.to_string(), help, file, &text, 0)
        })?;
        if then["format_version"] != 1 || !then["mappings"].is_array() {
            return Err(Error::usage(
                format!("{} is not the summary of a flow", file.display()),
                "expected the summary.json that spadkit flow writes beside its report",
            ));
        }
        let of_part = |skipped: &Value| skipped["reason"] == "interrupted";
        let skipped = then["skipped"].as_array();
        if then["interrupted"] == true || skipped.is_some_and(|s| s.iter().any(of_part)) {
            return Err(Error::usage(
                format!("{} is of an interrupted run", file.display()),
                "expected the summary.json of a run that ended: its numbers are whole",
            ));
        }
        Ok(then)
    }

    /// Compares `now`, a summary, with `then`, that in `file`.
    pub fn of(file: &Path, then: &Value, now: &Value) -> Since {
        let machine = then["machine"].as_str().map(str::to_owned);
        Since {
            file: file.display().to_string(),
            machine: machine.filter(|m| now["machine"] != **m),
            numbers: numbers(then, now),
            lines: lines(then, now),
        }
    }

    /// Whether nothing did.
    pub fn is_empty(&self) -> bool {
        self.machine.is_none() && self.numbers.is_empty() && self.lines.is_empty()
    }
}

fn numbers(then: &Value, now: &Value) -> Vec<Change> {
    let fewest = |v: &Value| {
        let all = v["mappings"].as_array()?.iter();
        all.filter_map(|m| m["conflicts"].as_f64())
            .min_by(f64::total_cmp)
    };
    type Read<'a> = &'a dyn Fn(&Value) -> Option<f64>;
    let all: [(&str, Read); 5] = [
        ("warp accesses", &|v| v["kernel"]["accesses"].as_f64()),
        ("conflicts as it is", &|v| {
            v["mappings"][0]["conflicts"].as_f64()
        }),
        ("conflicts under the best hash", &fewest),
        ("cycles as it is", &|v| {
            cycles(v, "before", |choice| choice["kind"] == "nothing")
        }),
        ("cycles under the chosen mapping", &|v| {
            cycles(v, "after", |choice| choice["chosen"] == true)
        }),
    ];
    let change = |(what, read): &(&str, Read)| Change {
        what: (*what).to_owned(),
        before: read(then),
        now: read(now),
    };
    all.iter()
        .map(change)
        .filter(|c| c.before != c.now)
        .collect()
}

/// The cycles of the choice that `is_it` says; of a summary without them, those of `side` of
/// what the mapping is worth. If no mapping is worth anything, only the choices have cycles.
fn cycles(v: &Value, side: &str, is_it: impl Fn(&&Value) -> bool) -> Option<f64> {
    let mut choices = v["choices"].as_array().into_iter().flatten();
    let of_choice = choices.find(is_it).map(|choice| &choice["cycles"]["total"]);
    let of_worth = &v["worth"][side]["cycles"];
    of_choice.and_then(Value::as_f64).or(of_worth.as_f64())
}

/// Conflicts by `file:line`.
fn lines(then: &Value, now: &Value) -> Vec<Change> {
    let of = |v: &Value| {
        let pages = v["sources"].as_array().into_iter().flatten();
        let lines = pages.flat_map(|page| {
            let file = page["file"].as_str().unwrap_or_default().to_owned();
            let lines = page["lines"].as_array().into_iter().flatten();
            lines.filter_map(move |l| {
                let conflicts = l["conflicts"].as_f64().filter(|_| l["accesses"] != 0)?;
                Some((format!("{file}:{}", l["line"]), conflicts))
            })
        });
        lines.collect::<std::collections::BTreeMap<String, f64>>()
    };
    // A summary of an older program has no lines.
    if !then["sources"].is_array() {
        return Vec::new();
    }
    let (then, now) = (of(then), of(now));
    let mut all: Vec<&String> = then.keys().chain(now.keys()).collect();
    all.sort();
    all.dedup();
    let change = |what: &String| Change {
        what: what.clone(),
        before: then.get(what).copied(),
        now: now.get(what).copied(),
    };
    all.into_iter()
        .map(change)
        .filter(|c| c.before != c.now)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// If no mapping gains any more, the summary has no worth, and the choices still have cycles.
    #[test]
    fn cycles_of_a_run_without_gain_are_those_of_its_choices() {
        let choice = |kind: &str, chosen: bool, cycles: u32| json!({"kind": kind, "chosen": chosen, "cycles": {"total": cycles}});
        let then = json!({"mappings": [], "worth": {"before": {"cycles": 50}, "after": {"cycles": 40}},
            "choices": [choice("best", true, 40), choice("nothing", false, 50)]});
        let now = json!({"mappings": [], "worth": null, "choices": [choice("nothing", true, 40)]});
        let changes: Vec<_> = (numbers(&then, &now).into_iter())
            .map(|c| (c.what, c.before, c.now))
            .collect();
        let as_it_is = ("cycles as it is".to_owned(), Some(50.0), Some(40.0));
        assert_eq!(changes, [as_it_is]);
    }

    #[test]
    fn only_what_changed_is_listed() {
        let then = json!({"format_version": 1, "machine": "fermi", "mappings": [{"conflicts": 9}],
            "kernel": {"accesses": 4}, "worth": {"before": {"cycles": 50}},
            "sources": [{"file": "k.cu", "lines": [
                {"line": 3, "conflicts": 9, "accesses": 4}, {"line": 4, "conflicts": 0, "accesses": 0}]}]});
        let mut now = then.clone();
        assert_eq!((numbers(&then, &now), lines(&then, &now)), (vec![], vec![]));
        now["worth"]["before"]["cycles"] = json!(40);
        now["sources"][0]["lines"][0]["line"] = json!(5);
        let change = &numbers(&then, &now)[0];
        assert_eq!((change.before, change.now), (Some(50.0), Some(40.0)));
        let moved: Vec<_> = lines(&then, &now)
            .into_iter()
            .map(|c| (c.what, c.now))
            .collect();
        assert_eq!(
            moved,
            [
                ("k.cu:3".to_owned(), None),
                ("k.cu:5".to_owned(), Some(9.0))
            ]
        );
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("summary.json");
        for bad in ["{", "{\"format_version\": 1}"] {
            std::fs::write(&file, bad).unwrap();
            let error = Since::read(&file).unwrap_err();
            assert_eq!(error.exit_status(), 2, "{error}");
        }
    }
}
