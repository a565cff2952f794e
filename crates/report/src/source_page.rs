//! Conflicts and cycles on the lines of the source, and warp accesses as
//! pictures show them.

use serde::Serialize;
use spadkit_mapping::trace::Served;

/// A file with the lines that cost something.
#[derive(Clone, Debug, Serialize)]
pub struct SourcePage {
    /// Name of the file; empty if no source line of the accesses is known.
    pub file: String,
    /// The lines, with those around them; the line 0 stands for some that are
    /// left out.
    pub lines: Vec<SourceLine>,
}

/// A line and its conflicts and cycles.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SourceLine {
    /// 1-based; the number of an access site if no line is known.
    pub line: u32,
    /// The source text.
    pub text: String,
    /// Warp accesses.
    pub accesses: u64,
    /// Sum of the conflict degrees, without a mapping.
    pub wavefronts: u64,
    /// Wavefronts without bank conflicts.
    pub ideal_wavefronts: u64,
    /// Conflicts without a mapping.
    pub conflicts: u64,
    /// Conflicts under the chosen mapping.
    pub conflicts_after: u64,
    /// Largest degree.
    pub max_degree: u32,
    /// Share of the cycles in percent; null where they are not known.
    pub cycles_pct: Option<f64>,
    /// The calls through which the line was inlined into the kernel, the
    /// innermost first: one stack for each call site.
    pub inlined_at: Vec<Vec<String>>,
    /// The lines in headers of the CUDA toolkit that it leads to, innermost ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub through: Vec<String>,
    /// Conflicts of the functions that are inlined here.
    pub called_conflicts: u64,
    /// The line with the suggested index.
    pub change: Option<String>,
    /// The change is what to write in the line, which is changed by hand.
    pub change_by_hand: bool,
    /// The conflicts that it leaves, if its mapping is not the chosen one.
    pub change_leaves: Option<String>,
    /// Counts by barrier phase, for phases with an access.
    pub phases: Vec<PhaseCount>,
    /// Parts of sites whose pattern changes.
    pub parts: Vec<PatternPart>,
}

/// The variable that a site's pattern changes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Turn {
    /// Barriers of the block.
    Phase,
    /// Number of earlier accesses of the warp at the site.
    Iteration,
}

/// The accesses of a site from one change of its pattern to the next.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PatternPart {
    /// The counted variable.
    pub turn: Turn,
    /// First value of the variable, from 0.
    pub first: u32,
    /// Last value of the variable.
    pub last: u32,
    /// Address patterns of the part, the most frequent first.
    pub pattern: String,
    /// Warp accesses.
    pub accesses: u64,
    /// Sum of the conflict degrees, without a hash.
    pub wavefronts: u64,
    /// Wavefronts without bank conflicts.
    pub ideal_wavefronts: u64,
    /// Conflicts without a hash.
    pub conflicts: u64,
}

impl PatternPart {
    /// `iteration 3`, `phases 0 to 2`.
    pub fn when(&self) -> String {
        let turn = match self.turn {
            Turn::Phase => "phase",
            Turn::Iteration => "iteration",
        };
        match (self.first, self.last) {
            (first, last) if first == last => format!("{turn} {first}"),
            (first, last) => format!("{turn}s {first} to {last}"),
        }
    }
}

/// Accesses between two barriers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PhaseCount {
    /// Barriers before it.
    pub phase: u32,
    /// Sum of the conflict degrees.
    pub wavefronts: u64,
    /// Wavefronts without bank conflicts.
    pub ideal_wavefronts: u64,
    /// Conflicts.
    pub conflicts: u64,
}

impl PhaseCount {
    /// Adds others of the same phase.
    pub fn add(all: &mut Vec<PhaseCount>, more: PhaseCount) {
        match all.iter_mut().find(|p| p.phase == more.phase) {
            Some(known) => {
                known.wavefronts += more.wavefronts;
                known.ideal_wavefronts += more.ideal_wavefronts;
                known.conflicts += more.conflicts;
            }
            None => all.push(more),
        }
        all.sort_by_key(|p| p.phase);
    }
}

/// The worst access of a line in a barrier phase.
#[derive(Clone, Debug, Serialize)]
pub struct Situation {
    /// Place of the access, as text.
    pub place: String,
    /// Barriers before it.
    pub phase: u32,
    /// `load`, `store` or `atomic`.
    pub op: &'static str,
    /// Bytes of a lane.
    pub bytes: u32,
    /// Warp of the access.
    pub warp: u32,
    /// Conflicts of all accesses of the line in the phase.
    pub conflicts: u64,
    /// Wavefronts and banks of the access without a mapping.
    pub before: Served,
    /// Under the chosen mapping; null without one.
    pub after: Option<Served>,
}
