//! The picture of docs/explanation/architecture.md: layers from top to bottom.

use super::graph::{Import, OWN};

/// The rows of the picture for one crate, each the names of its modules;
/// `spad_*` stands for all names that begin so.
#[derive(Debug, PartialEq)]
pub struct Layers {
    pub rows: Vec<Vec<String>>,
}

impl Layers {
    /// The rows in `document` under the line that names the source `folder`.
    pub fn read(document: &str, folder: &str) -> Self {
        let picture = fenced(document, "layers");
        let heading = |line: &&str| line.split_whitespace().next() == Some(folder);
        let mut rows = Vec::new();
        for line in picture.lines().skip_while(|l| !heading(l)).skip(1) {
            match line.trim().strip_prefix('|') {
                Some(row) => {
                    let names = row.split('|').next().unwrap_or("");
                    rows.push(names.split_whitespace().map(str::to_owned).collect());
                }
                None if line.trim().starts_with('+') => {}
                None => break, // the next crate
            }
        }
        assert!(!rows.is_empty(), "no layers of {folder} in the picture");
        Layers { rows }
    }

    /// The row of a module, from the top.
    fn row(&self, module: &str) -> Option<usize> {
        let fits = |name: &String| match name.strip_suffix('*') {
            Some(start) => module.starts_with(start),
            None => name == module,
        };
        self.rows.iter().position(|row| row.iter().any(fits))
    }

    /// Those of `modules` that the picture does not have, and its names that
    /// are no modules.
    pub fn unplaced(&self, modules: &[String]) -> Vec<String> {
        let no_layer = modules.iter().filter(|m| self.row(m).is_none());
        let no_layer = no_layer.map(|m| format!("  {m} stands in no layer"));
        let names = self.rows.iter().flatten().filter(|n| !n.ends_with('*'));
        let no_module = names.filter(|n| !modules.contains(n));
        let no_module = no_module.map(|n| format!("  {n} is drawn but is not a module"));
        no_layer.chain(no_module).collect()
    }

    /// The imports that do not go down. In a row with a `*`, modules may use
    /// each other.
    pub fn against<'a>(&self, imports: &[&'a Import]) -> Vec<&'a Import> {
        let goes_down = |import: &Import| {
            let (from, to) = (self.row(&import.from), self.row(&import.to));
            let shared = |row: usize| self.rows[row].iter().any(|name| name.ends_with('*'));
            match (from, to) {
                (Some(from), Some(to)) => from < to || from == to && shared(from),
                _ => true, // said by `unplaced`
            }
        };
        let own = |import: &Import| import.from == OWN || import.to == OWN;
        let wrong = |i: &&&Import| !own(i) && !goes_down(i);
        imports.iter().filter(wrong).copied().collect()
    }
}

/// The text of the first fenced block of that kind.
fn fenced<'a>(document: &'a str, kind: &str) -> &'a str {
    let begin = format!("```{kind}\n");
    let start = document.find(&begin);
    let start = start.unwrap_or_else(|| panic!("no block ```{kind}")) + begin.len();
    let length = document[start..].find("```").expect("the block ends");
    &document[start..start + length]
}
