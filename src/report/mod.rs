//! Reports for people: one HTML file, charts.

mod advice;
mod bars;
pub mod chart;
mod choice;
mod fig4;
pub mod flow_drawing;
mod flow_report;
mod html;
mod marked;
pub(crate) mod names;
mod page;
mod pareto;
mod picture;
mod prose;
mod reproduction_report;
mod scatter;
mod share_report;
mod since;
mod software_report;
mod source_page;
mod svg;
mod sweep_report;
pub mod theme;
mod tornado;
mod trade_off;
mod tune_report;
mod verdict;
mod view;
mod view_hardware;

pub use advice::{Advice, Timed, Worth};
pub use choice::{ChoiceKind, ChoiceLine, CodeText, CycleParts, HardwareCost};
pub use fig4::fig4;
pub use flow_report::{
    CosimLine, FlowReport, InputFile, InstructionLine, Kernel, MappingLine, UnitSetting,
};
pub use html::render;
pub use marked::{MarkedChart, MarkedGroup, MarkedPanel, Pair};
pub use pareto::{Choice, pareto};
pub use reproduction_report::{
    Basis, FigureLine, MeanError, Outcome, PaperLine, ReproductionReport, TextTable, ValueLine,
};
pub use scatter::{ScatterPanel, ScatterPoint, ScatterSeries, scatter};
pub use share_report::ShareReport;
pub use since::Since;
pub use software_report::{RewrittenLine, Software, SoftwareLine};
pub use source_page::{
    Cell, PatternPart, PhaseCount, Served, Situation, SourceLine, SourcePage, Turn,
};
pub use sweep_report::{SweepLine, SweepReport};
pub use tornado::{Swing, tornado};
pub use tune_report::{MappingChoice, MappingTable, TuneReport};
pub use verdict::{Verdict, grouped};
