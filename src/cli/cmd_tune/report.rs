//! The mappings in software as a page.

use super::software::{OfVariable, SoftwareRanking, Split};
use crate::cli::machine::rule_line;
use crate::cli::printer::CommandResult;
use crate::cli::this_command;
use crate::error::Result;
use crate::flow::{DeclaredPadding, Evidence, OF_SOURCE, in_software};
use crate::readable::{readable_list, readable_words};
use crate::report::CodeText;
use crate::report::pages::{MappingChoice, MappingTable, TuneReport};
use crate::software::Layout;
use crate::suggest::SourceFiles;

/// The page of what was found. `layout` is the best mapping of all of shared memory.
pub(super) fn of(found: &SoftwareRanking, layout: &Layout) -> Result<TuneReport> {
    let whole = &found.whole;
    let gains = whole.best().conflicts < whole.unmapped();
    let apart = found.better_apart();
    // The pictures show one mapping; a mapping for each variable has no picture.
    let chosen = (gains && apart.is_none()).then_some(layout);
    let evidence = Evidence::of(
        found.trace,
        found.machine,
        chosen,
        found.subject.input,
        &found.suggestions,
    );
    let Price {
        left,
        cost,
        wasted_bytes,
    } = Price::of(found);
    let (proved, proof) = match apart {
        Some(_) => (false, "the sum of the variables' own".to_owned()),
        None => whole.known(),
    };
    let mut files = SourceFiles::beside(found.subject.input.name());
    let padding = DeclaredPadding::of(
        &found.suggestions,
        (found.trace, found.machine),
        whole.unmapped(),
        &mut files,
    );
    let on_sm = found.on_sm.change_to(layout.spec());
    let hints = found.hints().into_iter().map(|hint| hint.command);
    Ok(TuneReport {
        kernel: readable_words(&found.trace.name),
        machine: found.machine.name.clone(),
        verdict: found.verdict(),
        conflicts: whole.unmapped(),
        left,
        code: if gains || apart.is_some() {
            code(found, layout, apart.is_some(), &cost)?
        } else {
            Vec::new()
        },
        padding: padding.map(|p| (p.hash, p.conflicts, p.code)),
        on_sm: on_sm.filter(|_| chosen.is_some()).unwrap_or_default(),
        cost,
        wasted_bytes,
        proved,
        proof,
        chosen: chosen.map(|layout| layout.spec().to_string()),
        phases: evidence.phases.len() > 1,
        sources: evidence.sources,
        situations: evidence.situations,
        tables: tables(found),
        rule: rule_line(found.machine),
        commands: std::iter::once(this_command()).chain(hints).collect(),
    })
}

/// Conflicts that the best choice leaves, and its cost.
struct Price {
    left: u64,
    /// Instructions for an access.
    cost: String,
    wasted_bytes: u32,
}

impl Price {
    fn of(found: &SoftwareRanking) -> Self {
        let best = found.whole.best();
        match found.better_apart() {
            Some(apart) => Price {
                left: apart.conflicts,
                cost: format!("{:.2}", apart.added_per_access),
                wasted_bytes: apart.wasted_bytes,
            },
            None if best.conflicts < found.whole.unmapped() => Price {
                left: best.conflicts,
                cost: best.added_per_access.to_string(),
                wasted_bytes: best.wasted_bytes,
            },
            None => Price {
                left: found.whole.unmapped(),
                cost: "0".to_owned(),
                wasted_bytes: 0,
            },
        }
    }
}

/// The change; where each variable has a mapping of its own, as source alone.
fn code(
    found: &SoftwareRanking,
    layout: &Layout,
    apart: bool,
    cost: &str,
) -> Result<Vec<CodeText>> {
    let cost = format!("{cost} instructions for an access");
    let spec = layout.spec();
    let mut all = in_software(spec, found.machine, &found.suggestions, &cost, None)?;
    all.retain(|code| !apart || OF_SOURCE.contains(&code.form));
    Ok(all)
}

fn tables(found: &SoftwareRanking) -> Vec<MappingTable> {
    let (rows, shown) = found.whole.rows("all of shared memory");
    let mut all = vec![MappingTable {
        title: "One mapping for all of shared memory".to_owned(),
        caption: "Fewest conflicts first, then fewest instructions, then fewest bytes".to_owned(),
        rows,
        first_alone: true,
        shown,
    }];
    if let Some(apart) = &found.per_variable {
        let best = |v: &OfVariable| v.own.rows(&readable_list(v.name)).0.into_iter().next();
        let rows = apart.variables.iter().filter_map(best).collect();
        let own = together("A mapping for each variable", "The best of each", rows);
        match found.better_apart() {
            Some(_) => all.insert(0, own),
            None => all.push(own),
        }
    }
    if !found.narrower.is_empty() {
        let best = |split: &Split| {
            let of = format!("up to {} bits", 8 * split.bytes_at_most);
            split.own.rows(&of).0.into_iter().next()
        };
        let rows = found.narrower.iter().filter_map(best).collect();
        let caption = "The best with wide loads and stores split; ldmatrix cannot be";
        all.push(together("Vectors against conflicts", caption, rows));
    }
    all
}

/// Rows that go together, and are all shown.
fn together(title: &str, caption: &str, rows: Vec<MappingChoice>) -> MappingTable {
    MappingTable {
        title: title.to_owned(),
        caption: caption.to_owned(),
        first_alone: false,
        shown: rows.len(),
        rows,
    }
}
