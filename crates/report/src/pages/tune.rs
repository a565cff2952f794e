//! The report of `tune --software`: the mapping to take, its effect on the accesses,
//! the lines of the source that change, and the change as code.

use super::flow_view;
use super::frame;
use crate::choice::CodeText;
use crate::names;
use crate::source_page::{Situation, SourcePage};
use crate::verdict::{grouped, place, worst};
use serde::Serialize;
use serde_json::{Value, json};
use spadkit_base::error::Result;
use spadkit_launch::readable::readable_words;
use spadkit_rtl::template::defect;
use tera::Context;

const NAME: &str = "tune.html.tera";
const TEMPLATE: &str = include_str!("tune.html.tera");

/// A mapping.
#[derive(Clone, Debug, Serialize)]
pub struct MappingChoice {
    /// The subject: all of shared memory, a variable, accesses of some width.
    pub of: String,
    /// The spec, or `as it is`.
    pub hash: String,
    /// Conflicts that it leaves.
    pub conflicts: u64,
    /// Wavefronts that it leaves.
    pub wavefronts: u64,
    /// Largest degree.
    pub max_degree: u32,
    /// Instructions that an access has more.
    pub added: usize,
    /// Bytes of shared memory more.
    pub wasted_bytes: u32,
    /// The proof: `the fewest of its kind, proved`.
    pub proof: &'static str,
    /// No other is better in all of conflicts, instructions and bytes.
    pub front: bool,
}

/// Mappings in a table of their own.
#[derive(Clone, Debug)]
pub struct MappingTable {
    /// Heading of the table.
    pub title: String,
    /// The caption of the rows.
    pub caption: String,
    /// The rows.
    pub rows: Vec<MappingChoice>,
    /// The first is the one to take; else all of them together.
    pub first_alone: bool,
    /// Number of rows shown before the rest is folded.
    pub shown: usize,
}

/// The content of the report.
#[derive(Clone, Debug)]
pub struct TuneReport {
    /// The kernel.
    pub kernel: String,
    /// The machine.
    pub machine: String,
    /// The answer, a sentence or two.
    pub verdict: String,
    /// Conflicts without a mapping.
    pub conflicts: u64,
    /// Conflicts under what is suggested.
    pub left: u64,
    /// The added cost of an access, in words.
    pub cost: String,
    /// Bytes of shared memory more.
    pub wasted_bytes: u32,
    /// Nothing leaves fewer conflicts, which is proved.
    pub proved: bool,
    /// The proof of that number, in words.
    pub proof: String,
    /// The one mapping that the pictures show, if it is one.
    pub chosen: Option<String>,
    /// The lines with conflicts.
    pub sources: Vec<SourcePage>,
    /// The worst accesses.
    pub situations: Vec<Situation>,
    /// Whether barriers divide the accesses.
    pub phases: bool,
    /// The mappings.
    pub tables: Vec<MappingTable>,
    /// The change in each form.
    pub code: Vec<CodeText>,
    /// Padding in the declarations alone, where that is possible: its mappings, the
    /// conflicts that it leaves, and the code.
    pub padding: Option<(String, u64, CodeText)>,
    /// The resources of a block with the change and without, in words; empty if not known.
    pub on_sm: String,
    /// The rule by which conflicts are counted.
    pub rule: String,
    /// The commands that make this page, and that take the next step.
    pub commands: Vec<String>,
}

impl TuneReport {
    /// The page as an HTML file that refers to no other.
    pub fn render(&self) -> Result<String> {
        let kernel = readable_words(&self.kernel);
        let all = json!({
            "title": format!("mappings for {kernel}"),
            "sections": [["why", "What"], ["where", "Where"], ["mappings", "Mappings"], ["again", "Next"]],
            "kernel": kernel,
            "machine": self.machine,
            "verdict": self.verdict,
            "kpis": self.kpis(),
            "chosen": self.chosen.as_ref().map(|hash| json!({"name": hash, "hash": hash})),
            "sources_note": flow_view::sources_note(&self.sources, self.conflicts),
            "tables": self.tables.iter().map(table).collect::<Vec<_>>(),
            "code_note": flow_view::code_note(&self.code),
            "rule": self.rule,
            "commands": self.commands,
        });
        let mut context = Context::from_serialize(&all).map_err(|e| defect(NAME, e))?;
        context.insert(
            "pictures",
            &flow_view::pictures(&self.situations, self.phases),
        );
        context.insert("sources", &flow_view::sources(&self.sources));
        context.insert("code", &self.code());
        frame::render(NAME, TEMPLATE, context)
    }

    /// The four headline numbers: `k` the caption, `v` the value, `n` the note.
    fn kpis(&self) -> Value {
        let removed = self.conflicts.saturating_sub(self.left);
        let share = match self.conflicts {
            0 => "there are none".to_owned(),
            all => format!("{:.0} % are removed", 100.0 * removed as f64 / all as f64),
        };
        let place = worst(&self.sources).map(|(page, line)| {
            let many = if line.conflicts == self.conflicts {
                "all".to_owned()
            } else {
                format!("{} of them", grouped(line.conflicts))
            };
            format!("; {many} at {}", place(page, line))
        });
        let place = place.unwrap_or_default();
        let padding = self
            .padding
            .as_ref()
            .filter(|(_, left, _)| *left <= self.left);
        let padding = padding.map_or(String::new(), |(hash, left, _)| {
            format!(
                "; none with {hash} in the declaration, which leaves {}",
                grouped(*left)
            )
        });
        json!([
            {"k": "conflicts left", "v": grouped(self.left), "n": format!("of {}{place}; {share}", grouped(self.conflicts))},
            {"k": "added to an access", "v": self.cost, "n": format!("instructions that compute the place from the index{padding}{}", self.on_sm_note())},
            {"k": "shared memory more", "v": format!("{} bytes", grouped(self.wasted_bytes.into())), "n": "of a block"},
            {"k": "how it is known", "v": if self.proved { "proved" } else { "found" }, "n": self.proof},
        ])
    }

    fn code(&self) -> Value {
        let hash = self
            .chosen
            .as_deref()
            .unwrap_or("a mapping for each variable");
        let tab = |code: &CodeText, choice: &str, hash: &str, left: u64| {
            let caption = flow_view::Caption {
                choice,
                hash,
                left,
                speed_up: None,
                rewritten: false,
            };
            caption.tab(code)
        };
        let own = self.code.iter();
        let own = own.map(|code| tab(code, "In software", hash, self.left));
        let mut all: Vec<Value> = own.collect();
        if let Some((hash, left, code)) = &self.padding {
            // Beside the source that it is a change of, too.
            let at = all.len().min(1);
            all.insert(at, tab(code, &names::padding().label, hash, *left));
        }
        json!(all)
    }

    fn on_sm_note(&self) -> String {
        match self.on_sm.as_str() {
            "" => String::new(),
            change => format!("; {change}"),
        }
    }
}

fn table(table: &MappingTable) -> Value {
    let rows: Vec<Value> = table.rows.iter().map(row).collect();
    let (shown, folded) = rows.split_at(table.shown.min(rows.len()));
    json!({
        "title": table.title,
        "caption": table.caption,
        "first_alone": table.first_alone,
        "shown": shown,
        "folded": folded,
    })
}

fn row(mapping: &MappingChoice) -> Value {
    let added = |n: u64| match n {
        0 => "0".to_owned(),
        n => format!("+{}", grouped(n)),
    };
    json!({
        "of": mapping.of,
        "hash": mapping.hash,
        "conflicts": grouped(mapping.conflicts),
        "none_left": mapping.conflicts == 0,
        "wavefronts": grouped(mapping.wavefronts),
        "degree": mapping.max_degree,
        "added": added(mapping.added as u64),
        "bytes": added(mapping.wasted_bytes.into()),
        "proof": mapping.proof,
        "front": mapping.front,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(hash: &str, conflicts: u64) -> MappingChoice {
        MappingChoice {
            of: "all of shared memory".to_owned(),
            hash: hash.to_owned(),
            conflicts,
            wavefronts: conflicts + 10,
            max_degree: 2,
            added: 1,
            wasted_bytes: 0,
            proof: "",
            front: conflicts == 0,
        }
    }

    #[test]
    fn the_mapping_to_take_comes_first_and_the_rest_is_folded() {
        let report = TuneReport {
            kernel: "<k>".to_owned(),
            machine: "sm80".to_owned(),
            verdict: "xor removes all 64 conflicts.".to_owned(),
            conflicts: 64,
            left: 0,
            cost: "1".to_owned(),
            wasted_bytes: 0,
            proved: true,
            proof: "no mapping at all leaves fewer.".to_owned(),
            chosen: Some("xor".to_owned()),
            sources: Vec::new(),
            situations: Vec::new(),
            phases: false,
            tables: vec![MappingTable {
                title: "All of shared memory".to_owned(),
                caption: "fewest conflicts first".to_owned(),
                rows: vec![mapping("xor", 0), mapping("pad", 3), mapping("mod", 64)],
                first_alone: true,
                shown: 2,
            }],
            code: Vec::new(),
            padding: None,
            on_sm: "registers 32 → 40".to_owned(),
            rule: "by lanes".to_owned(),
            commands: vec!["spadkit tune k --software".to_owned()],
        };
        let page = report.render().unwrap();
        assert!(page.contains("&lt;k&gt;") && !page.contains("<k>"));
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
        assert!(place("<code>xor</code>") < place("<code>pad</code>"));
        assert!(place("<code>pad</code>") < place("1 more"));
        assert!(place("1 more") < place("<code>mod</code>"));
        assert!(page.contains("of 64; 100 % are removed") && page.contains("proved"));
        assert!(page.contains("compute the place from the index; registers 32 → 40"));
    }
}
