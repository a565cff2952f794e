//! The tables of docs/guides/questions.md, as its readers see them.

use super::{array, conflicts};
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

/// Every row of the table begins with a mapping, and goes on with the conflicts
/// and the degree that it leaves of kernels/questions/KERNEL.toml.
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

/// The page answers as many questions as it says, and lists each of them.
#[test]
fn every_question_is_in_the_list() {
    let text = text();
    let begin = text.split("\n## ").next().unwrap();
    let titles: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("## ")).collect();
    assert_eq!(titles.len(), 20);
    assert!(begin.contains("Twenty questions"));
    let listed: Vec<&str> = begin.lines().filter(|l| l.starts_with("| [")).collect();
    for (title, line) in titles.iter().zip(&listed) {
        assert!(line.contains(&title.replace('|', "")), "{title}: {line}");
    }
    assert_eq!(titles.len(), listed.len());
}
