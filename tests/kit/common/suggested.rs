//! Changes of a kernel's source that `tune --software` suggests, for the kernels of a CUDA
//! fixture (`tests/fixtures/cuda`).

use super::json;
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

/// A launch of one block of a kernel of a fixture.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// The fixture: `SOURCE.cu`, its PTX, and its header if it has one.
    pub source: &'a str,
    pub entry: &'a str,
    /// Extents of the block, such as `32, 8`.
    pub block: &'a str,
    /// Elements of the arguments `input` and `output`: their types and their number.
    pub types: [&'a str; 2],
    pub count: u32,
    /// Start values of `input`; none for a kernel without that argument.
    pub input: Option<&'a str>,
    /// More keys of the launch file.
    pub more: &'a str,
}

/// A short search for `tune --software`, whatever is installed.
pub const QUICKLY: &[&str] = &["--budget", "1", "--no-machine-code"];

/// A launch file, `k.toml`, in a folder of its own, beside source and PTX.
pub struct Launch {
    pub folder: TempDir,
    pub file: String,
}

impl Launch {
    /// Files by their names, with their texts.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let file = folder.path().join("k.toml").to_str().unwrap().to_owned();
        Launch { folder, file }
    }

    /// What `tune --software` finds, with these options.
    pub fn tuned(&self, options: &[&str]) -> Value {
        json(&[&["tune", &self.file, "--software"], options].concat())
    }
}

impl<'a> Case<'a> {
    /// A kernel with 4096 floats in and out.
    pub fn of(source: &'a str, entry: &'a str, block: &'a str) -> Self {
        Case {
            source,
            entry,
            block,
            types: ["f32"; 2],
            count: 4096,
            input: Some("iota"),
            more: "",
        }
    }

    /// Writes the launch file.
    pub fn launch(&self) -> Launch {
        let argument = |name: &str, ty: &str, init: &str| {
            let count = self.count;
            format!(
                "[[arg]]\nname = \"{name}\"\ntype = \"{ty}\"\ncount = {count}\n\
                 init = \"{init}\"\n"
            )
        };
        let Case {
            source,
            entry,
            block,
            more,
            ..
        } = self;
        let input = self
            .input
            .map(|init| argument("input", self.types[0], init));
        let launch = format!(
            "ptx = \"{source}.ptx\"\nentry = \"{entry}\"\ngrid = [1]\nblock = [{block}]\n{more}{}{}",
            input.unwrap_or_default(),
            argument("output", self.types[1], "zeros")
        );
        let launch = Launch::of(&[("k.toml", &launch)]);
        for ending in ["cu", "ptx", "h"] {
            let file = format!("{source}.{ending}");
            let from = format!("tests/fixtures/cuda/{file}");
            if ending != "h" || fs::exists(&from).unwrap() {
                fs::copy(from, launch.folder.path().join(file)).unwrap();
            }
        }
        launch
    }

    /// What `tune --software` finds, with these options.
    pub fn tuned(&self, options: &[&str]) -> Value {
        self.launch().tuned(options)
    }

    /// The suggestion for each array. Whether a form of the source is understood does not
    /// depend on what is installed.
    pub fn suggestions(&self) -> Value {
        self.tuned(&["--no-machine-code"])["suggestions"].take()
    }

    /// The suggestion for the only array.
    pub fn suggestion(&self) -> Value {
        self.suggestions()[0].take()
    }

    /// The suggestion for the only array, which has these [`changes`].
    #[track_caller]
    pub fn changes_to(&self, expected: &[(u64, &str)]) -> Value {
        let suggestion = self.suggestion();
        let found = changes(&suggestion);
        let found: Vec<_> = found.iter().map(|(n, text)| (*n, text.as_str())).collect();
        assert_eq!(found, expected);
        suggestion
    }
}

/// What changes at a line of a suggestion: the line itself, or the call that leads to it.
pub fn own(line: &Value) -> &Value {
    let call = &line["call"];
    if call.is_null() { line } else { call }
}

/// The statement of a line of a suggestion, changed; none where it is left to a person.
pub fn changed(line: &Value) -> Option<&str> {
    own(line)["changed_text"].as_str()
}

/// The number of the line in the source that changes.
pub fn number(line: &Value) -> u64 {
    let (_, number) = own(line)["source"]
        .as_str()
        .unwrap()
        .rsplit_once(':')
        .unwrap();
    number.parse().unwrap()
}

/// The changed statements of a suggestion by their lines in the source.
///
/// # Panics
/// If a line is left to a person.
#[track_caller]
pub fn changes(suggestion: &Value) -> Vec<(u64, String)> {
    let mut all = Vec::new();
    for line in suggestion["lines"].as_array().unwrap() {
        let text = changed(line).unwrap_or_else(|| panic!("left to a person: {line}"));
        all.push((number(line), text.trim().to_owned()));
    }
    all.sort();
    all
}
