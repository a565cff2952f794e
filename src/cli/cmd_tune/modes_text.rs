//! The swizzle modes of tensor copies: which of them clears an array.

use crate::error::Result;
use crate::ptx::analysis::plain_name;
use crate::software::choice::{Array, Mode, Modes, PerVariable};
use crate::terminal::{Details, Table};
use crate::trace::{TensorCopy, line_of_file};
use serde::Serialize;

/// The modes of an array.
#[derive(Serialize)]
pub(super) struct ModesOf {
    /// The variable; `None` for all of shared memory.
    variable: Option<String>,
    modes: Vec<OneMode>,
    /// The mode that clears the array.
    clears: Option<&'static str>,
    best: &'static str,
    conflicts_no_mapping_avoids: u64,
    conflicts_no_units_avoid: u64,
    #[serde(skip)]
    found: Modes,
    /// Whether it has rows of 16 bytes, which `ldmatrix` takes.
    #[serde(skip)]
    rows: bool,
}

/// A mode.
#[derive(Serialize)]
struct OneMode {
    #[serde(flatten)]
    mode: Mode,
    /// Wavefronts without conflicts.
    ideal_wavefronts: u64,
}

/// The modes of each variable, or of all of shared memory if there is only one,
/// as far as there are conflicts.
pub(super) fn of(array: &Array, apart: Option<&PerVariable>) -> Result<Vec<ModesOf>> {
    let arrays: Vec<(Option<&str>, &Array)> = match apart {
        Some(apart) => {
            let variables = apart.variables.iter();
            let named = variables.map(|v| (Some(v.variable.name.as_str()), &v.array));
            named.collect()
        }
        None => vec![(None, array)],
    };
    let mut all = Vec::new();
    for (variable, array) in arrays {
        if let Some(modes) = Modes::of(array)?
            && modes.unmapped > 0
        {
            let ideal_wavefronts = array.profile().ideal_wavefronts(array.geometry().banks());
            let one = |mode: &Mode| OneMode {
                mode: mode.clone(),
                ideal_wavefronts,
            };
            all.push(ModesOf {
                variable: variable.map(str::to_owned),
                modes: modes.all.iter().map(one).collect(),
                clears: modes.clears().map(|m| m.name),
                best: modes.best().name,
                conflicts_no_mapping_avoids: modes.floor,
                conflicts_no_units_avoid: modes.unit_floor,
                found: modes,
                rows: array.vector_words() == 4,
            });
        }
    }
    Ok(all)
}

impl ModesOf {
    fn name(&self) -> &str {
        match &self.variable {
            Some(name) => plain_name(name),
            None => "all of shared memory",
        }
    }

    fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        self.modes.iter().enumerate().map(|(i, one)| {
            let m = &one.mode;
            let name = if i == 0 { self.name() } else { "" };
            vec![
                name.to_owned(),
                m.name.to_owned(),
                m.conflicts.to_string(),
                m.max_degree.to_string(),
                m.wavefronts.to_string(),
                one.ideal_wavefronts.to_string(),
            ]
        })
    }

    /// The answer, and what proves it.
    fn answer(&self) -> String {
        let (name, best) = (self.name(), self.found.best());
        let others = self.found.all.iter().filter(|m| !m.possible);
        let which = match others.map(|m| m.conflicts).min() {
            Some(fewer) if fewer < best.conflicts => "no mode that its tensor copies can be in",
            _ => "no mode",
        };
        let plain = self.found.unmapped;
        if let Some(mode) = self.found.clears() {
            let what = match mode.conflicts {
                0 => "clears it".to_owned(),
                left => format!("leaves {left}, which no mapping avoids"),
            };
            return format!(
                "{name}: {} {what}, the narrowest mode that does, proved; it begins at a multiple \
                 of {} bytes\n",
                mode.name, mode.span_bytes
            );
        }
        let left = best.conflicts;
        let proof = if left == self.found.unit_floor {
            "no mapping that keeps units of 16 bytes whole leaves fewer, proved".to_owned()
        } else {
            let floor = self.found.unit_floor;
            format!("a mapping that keeps units of 16 bytes whole leaves at least {floor}")
        };
        let fewest = if best.name == "none" {
            format!("and none leaves fewer than the {plain} that it has")
        } else {
            format!("{} leaves the fewest, {left} of {plain}", best.name)
        };
        format!("{name}: {which} clears it, {fewest}; {proof}\n")
    }
}

/// A table of all modes, and the answers, where an array has rows of 16 bytes
/// or the kernel has tensor copies.
pub(super) fn details(all: &[ModesOf], tensor_copies: bool) -> Details {
    let mut details = Details::new();
    if !all.iter().any(|one| one.rows || tensor_copies) {
        return details;
    }
    details
        .heading("swizzle modes of tensor copies (TMA), also for rows of ldmatrix and stmatrix:");
    for one in all {
        details.say(one.answer());
    }
    let header = [
        "array",
        "mode",
        "conflicts",
        "max degree",
        "wavefronts",
        "ideal",
    ];
    let rows = all.iter().flat_map(ModesOf::rows);
    details.table(
        Table::new(&header, rows)
            .right(&header[2..])
            .minor(&["ideal"]),
    );
    details
}

/// Why nothing but the modes is possible for an array; empty without tensor
/// copies.
pub(super) fn copied_text(name: &str, array: &Array) -> String {
    let copies = array.tensor_copies();
    let Some(possible) = Modes::possible(array).filter(|_| !copies.is_empty()) else {
        return String::new();
    };
    let mut done: Vec<String> = copies.iter().map(copy_text).collect();
    done.dedup();
    format!(
        "{name}: only swizzle modes of the tensor copies are possible, here {}: {}\n",
        possible.join(", "),
        done.join("; ")
    )
}

/// A copy, and the rows that limit its modes.
fn copy_text(copy: &TensorCopy) -> String {
    let verb = if copy.stores { "reads" } else { "writes" };
    let mode = match copy.swizzle {
        0 => "none".to_owned(),
        bytes => format!("tma:{bytes}"),
    };
    format!(
        "the copy at PTX {} {verb} rows of {} bytes, in mode {mode}",
        line_of_file(copy.ptx_file.as_deref(), copy.ptx_line),
        copy.row_bytes
    )
}
