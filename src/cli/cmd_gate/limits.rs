//! Limits: `conflicts > 0`, on the command line or in a file beside the kernel.

use crate::capture::Selected;
use crate::error::{Error, Result};
use crate::input::Limit as Size;
use crate::quote::did_you_mean;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use strum::VariantNames;

/// The file that has the limits of the kernels beside it.
const FILE: &str = "spadkit-gate.toml";
const SIZE: Size = Size {
    bytes: 1 << 20,
    expected: "limits: TOML in UTF-8",
};

/// A number that can be limited.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    strum::Display,
    strum::EnumString,
    strum::VariantArray,
    strum::VariantNames,
)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Metric {
    /// Bank conflicts of the traced block.
    Conflicts,
    /// Wavefronts more than its words need.
    Excess,
    /// Faults, and outputs that are not as expected.
    Findings,
    /// Warnings.
    Warnings,
    /// Cycles of the launch on the machine, simulated.
    Cycles,
    /// NAND2 equivalents of the bank mapping's units in one SM.
    Area,
}

impl Metric {
    /// Whether a bank mapping changes it.
    pub fn is_of_conflicts(self) -> bool {
        matches!(self, Metric::Conflicts | Metric::Excess)
    }
}

/// A limit: the gate fails if a metric is above `most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limit {
    pub metric: Metric,
    /// The largest value that passes.
    pub most: u64,
    /// Whether it was written with `>=`.
    or_equal: bool,
}

impl Limit {
    /// None may be there.
    fn none_of(metric: Metric) -> Self {
        Limit {
            metric,
            most: 0,
            or_equal: false,
        }
    }

    pub fn exceeded(&self, value: u64) -> bool {
        value > self.most
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.or_equal {
            write!(f, "{} >= {}", self.metric, self.most + 1)
        } else {
            write!(f, "{} > {}", self.metric, self.most)
        }
    }
}

impl Serialize for Limit {
    fn serialize<S: serde::Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl FromStr for Limit {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        const EXPECTED: &str = "expected METRIC > N or METRIC >= N, such as 'conflicts > 0', with \
                                conflicts, excess, findings, warnings, cycles or area";
        let wrong = |what: String| Error::usage(format!("'{text}': {what}"), EXPECTED);
        let Some((name, rest)) = text.split_once('>') else {
            return Err(wrong("there is no '>'".to_owned()));
        };
        let name = name.trim();
        let metric = name.parse::<Metric>().map_err(|_| {
            let near = did_you_mean(name, <Metric as VariantNames>::VARIANTS.iter().copied());
            wrong(format!("there is no metric '{name}'{near}"))
        })?;
        let (number, or_equal) = match rest.strip_prefix('=') {
            Some(number) => (number, true),
            None => (rest, false),
        };
        let number = number.trim();
        let value: u64 = number
            .parse()
            .map_err(|_| wrong(format!("'{number}' is not a number")))?;
        let most = match (or_equal, value) {
            (false, value) => value,
            (true, 0) => return Err(wrong("nothing could pass".to_owned())),
            (true, value) => value - 1,
        };
        Ok(Limit {
            metric,
            most,
            or_equal,
        })
    }
}

/// The sources of limits.
pub(super) struct Limits<'a> {
    given: &'a [Limit],
}

/// `spadkit-gate.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    /// Limits of all kernels of the folder.
    #[serde(default)]
    fail_on: Option<Vec<String>>,
    /// Limits of one kernel, by the name of its file, or of a launch (`FILE.toml:N`).
    #[serde(default)]
    kernel: BTreeMap<String, Own>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Own {
    fail_on: Option<Vec<String>>,
    /// Why the kernel is left out.
    skip: Option<String>,
}

/// The ruling on a kernel.
#[derive(Debug, PartialEq)]
pub(super) enum Ruling {
    Limits(Vec<Limit>),
    /// The kernel is left out, for this reason.
    Skip(String),
}

/// Whether an input is the file of limits, which a pattern such as `*.toml`
/// also names.
pub(super) fn is_limits_file(input: &Path) -> bool {
    input.file_name().is_some_and(|name| name == FILE)
}

impl<'a> Limits<'a> {
    /// The limits of the command line, which come first.
    pub fn of(given: &'a [Limit]) -> Self {
        Limits { given }
    }

    /// The ruling on a kernel. A file can leave it out, whatever the command line
    /// asks.
    pub fn of_input(&self, input: &Path) -> Result<Ruling> {
        let file = input.parent().unwrap_or(Path::new("")).join(FILE);
        let own = if file.is_file() {
            from_file(&file, input)?
        } else {
            None
        };
        Ok(match own {
            Some(skip @ Ruling::Skip(_)) => skip,
            _ if !self.given.is_empty() => Ruling::Limits(self.given.to_vec()),
            Some(limits) => limits,
            None => Ruling::Limits(
                [Metric::Conflicts, Metric::Findings]
                    .map(Limit::none_of)
                    .into(),
            ),
        })
    }
}

/// The ruling that `file` has for the kernel of `input`, or for all.
fn from_file(file: &Path, input: &Path) -> Result<Option<Ruling>> {
    let text = SIZE.read_text(file)?;
    let all: File = toml::from_str(&text).map_err(|e| {
        let offset = e.span().map_or(0, |span| span.start);
        let help =
            "expected fail-on = [\"conflicts > 0\"], and [kernel.\"FILE.toml\"] with its own";
        Error::input(e.message(), Some(help.to_owned()), file, &text, offset)
    })?;
    known_kernels(file, &text, &all)?;
    let name = input.file_name().unwrap_or_default().to_string_lossy();
    // A launch has limits of its own, or those of its file.
    let own = all
        .kernel
        .get(&*name)
        .or_else(|| all.kernel.get(&Selected::file_of(&name)));
    if let Some(reason) = own.and_then(|own| own.skip.clone()) {
        return Ok(Some(Ruling::Skip(reason)));
    }
    let lines = own
        .and_then(|own| own.fail_on.as_ref())
        .or(all.fail_on.as_ref());
    let limit = |line: &String| {
        line.parse::<Limit>().map_err(|error| match error {
            Error::Usage { what, help } => {
                let offset = text.find(line.as_str()).unwrap_or(0);
                Error::input(what, help, file, &text, offset)
            }
            other => other,
        })
    };
    let limits = lines.map(|lines| lines.iter().map(limit).collect::<Result<_>>());
    Ok(limits.transpose()?.map(Ruling::Limits))
}

/// Each kernel with limits of its own is a file of the folder, and has some: otherwise it
/// would pass with the limits of all.
fn known_kernels(file: &Path, text: &str, all: &File) -> Result<()> {
    let wrong = |name: &str, what: String, help: &str| {
        let offset = text.find(name).unwrap_or(0);
        Err(Error::input(
            what,
            Some(help.to_owned()),
            file,
            text,
            offset,
        ))
    };
    for (name, own) in &all.kernel {
        let both = own.fail_on.is_some() && own.skip.is_some();
        if both || own.fail_on.is_none() && own.skip.is_none() {
            let found = if both { "both" } else { "none" };
            let what = format!("'{name}' has {found} of fail-on and skip");
            return wrong(name, what, "expected one of them");
        }
    }
    let folder = file.parent().unwrap_or(Path::new(""));
    let is_file = |name: &str| {
        let file = folder.join(Selected::file_of(name));
        Path::new(name).file_name() == Some(OsStr::new(name)) && file.is_file()
    };
    let Some(unknown) = all.kernel.keys().find(|name| !is_file(name)) else {
        return Ok(());
    };
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<_> = names
        .map(|f| f.file_name().to_string_lossy().into_owned())
        .collect();
    let near = did_you_mean(
        unknown,
        names.iter().map(String::as_str).filter(|n| *n != FILE),
    );
    let what = format!("there is no file '{unknown}' in the folder{near}");
    let help = "expected the name of a launch file or trace beside this file, without a folder";
    wrong(unknown, what, help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_refused() {
        let limit: Limit = "conflicts > 0".parse().unwrap();
        assert_eq!((limit.metric, limit.most), (Metric::Conflicts, 0));
        assert!(limit.exceeded(1) && !limit.exceeded(0));
        let limit: Limit = "cycles>=100".parse().unwrap();
        assert_eq!(
            (limit.most, limit.to_string()),
            (99, "cycles >= 100".to_owned())
        );
        for (text, part) in [
            ("conflicts < 1", "there is no '>'"),
            ("conflict > 1", "did you mean 'conflicts'"),
            ("cycles > -1", "not a number"),
            ("cycles >= 0", "nothing could pass"),
        ] {
            let error = text.parse::<Limit>().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_file_has_limits_for_all_and_for_one() {
        let folder = tempfile::tempdir().unwrap();
        let text = "fail-on = [\"conflicts > 8\"]\n[kernel.\"b.toml\"]\nfail-on = []\n";
        std::fs::write(folder.path().join(FILE), text).unwrap();
        let of = |name: &str| {
            let input = folder.path().join(name);
            Limits::of(&[]).of_input(&input)
        };
        let limits =
            |limits: &[&str]| Ruling::Limits(limits.iter().map(|l| l.parse().unwrap()).collect());
        std::fs::write(folder.path().join("b.toml"), "").unwrap();
        assert_eq!(of("a.toml").unwrap(), limits(&["conflicts > 8"]));
        assert_eq!(of("b.toml").unwrap(), limits(&[]));
        assert_eq!(of("b.toml:1").unwrap(), limits(&[]));
        // Without limits for all, the others have those of a folder without the file.
        std::fs::write(
            folder.path().join(FILE),
            "[kernel.\"b.toml\"]\nfail-on = []\n",
        )
        .unwrap();
        let usual = limits(&["conflicts > 0", "findings > 0"]);
        assert_eq!(of("a.toml").unwrap(), usual);
        assert_eq!(of("b.toml").unwrap(), limits(&[]));
        std::fs::write(
            folder.path().join(FILE),
            "[kernel.\"bb.toml\"]\nfail-on = []\n",
        )
        .unwrap();
        let error = of("b.toml").unwrap_err().to_string();
        assert!(
            error.contains("spadkit-gate.toml:1:") && error.contains("'bb.toml'"),
            "{error}"
        );
        assert!(error.contains("did you mean 'b.toml'"), "{error}");
        std::fs::write(folder.path().join(FILE), "fail-on = [\"conflict > 8\"]\n").unwrap();
        let error = of("a.toml").unwrap_err();
        assert!(
            error.to_string().contains("spadkit-gate.toml:1:"),
            "{error}"
        );
        std::fs::write(folder.path().join(FILE), "fail = 3\n").unwrap();
        assert_eq!(of("a.toml").unwrap_err().exit_status(), 2);
    }
}
