//! Reports for people: what they say, their pages and their drawings.
//!
//! ```text
//!  FlowReport, Plan, Variant ... ──▶ Verdict    the answer in sentences
//!        │                     └──▶ draw       charts and pictures, SVG as text
//!        ▼                               │
//!     pages ◀────────────────────────────┘      one HTML file each, which needs no other
//! ```
//!
//! The crate computes nothing about a kernel: the structs hold what others found.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::too_many_lines))]

mod advice;
mod choice;
pub mod draw;
mod flow_report;
pub mod names;
pub mod pages;
mod removal;
mod since;
mod skipped;
mod software_report;
mod source_page;
mod verdict;

pub use advice::{Advice, Timed, Worth};
pub use choice::{ChoiceKind, ChoiceLine, CodeText, CycleParts, HardwareCost, OtherMapping};
pub use flow_report::FIXED;
pub use flow_report::{
    CosimLine, FlowReport, InputFile, InstructionLine, KernelSummary, MappingLine, UnitSetting,
};
pub use removal::{removal, that_keeps_vectors};
pub use since::Since;
pub use skipped::{Part, Skipped};
pub use software_report::{DeclaredLine, RewrittenLine, Software, SoftwareLine, in_machine_code};
pub use source_page::{PatternPart, PhaseCount, Situation, SourceLine, SourcePage, Turn};
pub use verdict::{Verdict, grouped};
