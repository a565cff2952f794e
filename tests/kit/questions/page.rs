//! The tables of docs/guides/questions.md, as its readers see them.

use super::{array, conflicts};
use crate::common::json;
use spadkit::software::choice::Array;

fn text() -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    std::fs::read_to_string(format!("{root}/docs/guides/questions.md")).unwrap()
}

/// The section whose heading has `words`.
pub fn section(words: &str) -> String {
    let text = text();
    let mut sections = text.split("\n## ").skip(1);
    let found = sections.find(|s| s.lines().next().unwrap().contains(words));
    found
        .unwrap_or_else(|| panic!("no question {words}"))
        .into()
}

/// The rows of its table without the heading, as plain text.
pub fn rows(words: &str) -> Vec<Vec<String>> {
    let section = section(words);
    let table = section.lines().filter(|l| l.starts_with('|')).skip(2);
    let cells = |line: &str| {
        let inner = line.trim_matches('|').replace('`', "");
        inner.split('|').map(|c| c.trim().to_owned()).collect()
    };
    table.map(cells).collect()
}

/// Cells as texts.
pub fn cells<T: ToString>(of: impl IntoIterator<Item = T>) -> Vec<String> {
    of.into_iter().map(|cell| cell.to_string()).collect()
}

/// Every row of the table has a mapping, then the conflicts and the degree that
/// it leaves in kernels/questions/KERNEL.toml.
pub fn assert_counts(words: &str, kernel: &str) {
    let array = array(&format!("questions/{kernel}"));
    let rows = rows(words);
    assert!(rows.len() > 2, "{words}");
    for row in &rows {
        assert_eq!(row[..3], counted(&array, &row[0]), "{words}");
    }
}

/// A mapping with the conflicts and the degree that it leaves.
pub fn counted(array: &Array, spec: &str) -> [String; 3] {
    let (count, degree) = conflicts(array, spec);
    [spec.into(), count.to_string(), degree.to_string()]
}

/// Its section has every one of `texts`.
pub fn assert_says(words: &str, texts: &[&str]) {
    let section = section(words);
    let section = section.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in texts {
        assert!(section.contains(text), "{words}: {text}");
    }
}

/// The commands of the page; those that search or simulate are run by the
/// questions' own tests.
#[test]
fn every_command_runs() {
    let folder = tempfile::tempdir().unwrap();
    let text = text();
    let commands = text.lines().filter_map(|l| l.strip_prefix("spadkit "));
    let mut ran = 0;
    for command in commands {
        let mut args: Vec<String> = command.split(' ').map(str::to_owned).collect();
        if let Some(o) = args.iter().position(|a| a == "-o") {
            args[o + 1] = folder.path().join(&args[o + 1]).display().to_string();
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        match args[0] {
            "conflicts" | "classify" => drop(json(&args)),
            "rewrite" => assert_eq!(json(&args)["outputs_equal"], true, "{command}"),
            "tune" | "sim" => continue,
            other => panic!("{other} is run by no test"),
        }
        ran += 1;
    }
    assert!(ran > 15);
}

/// The page answers as many questions as it says, and lists each of them.
#[test]
fn every_question_is_in_the_list() {
    let text = text();
    let begin = text.split("\n## ").next().unwrap();
    let titles: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("## ")).collect();
    assert_eq!(titles.len(), 22);
    assert!(begin.contains("twenty-two questions"));
    let listed: Vec<&str> = begin.lines().filter(|l| l.starts_with("| [")).collect();
    for (title, line) in titles.iter().zip(&listed) {
        assert!(line.contains(&title.replace('|', "")), "{title}: {line}");
    }
    assert_eq!(titles.len(), listed.len());
}
