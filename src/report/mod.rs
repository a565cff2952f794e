//! Reports for people: what they say, their pages and their drawings.

mod advice;
mod choice;
pub mod draw;
mod flow_report;
pub(crate) mod names;
pub mod pages;
mod removal;
mod since;
mod skipped;
mod software_report;
mod source_page;
mod verdict;

pub use advice::{Advice, Timed, Worth};
pub use choice::{ChoiceKind, ChoiceLine, CodeText, CycleParts, HardwareCost};
pub(crate) use flow_report::FIXED;
pub use flow_report::{
    CosimLine, FlowReport, InputFile, InstructionLine, KernelSummary, MappingLine, UnitSetting,
};
pub(crate) use removal::{removal, that_keeps_vectors};
pub use since::Since;
pub use skipped::{Part, Skipped};
pub use software_report::{RewrittenLine, Software, SoftwareLine, in_machine_code};
pub use source_page::{PatternPart, PhaseCount, Situation, SourceLine, SourcePage, Turn};
pub use verdict::{Verdict, grouped};
