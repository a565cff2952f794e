//! Reports for people: one HTML file, charts.

mod advice;
pub mod chart;
pub mod flow_drawing;
mod flow_report;
mod html;
mod marked;
mod pareto;
mod scatter;
mod share_report;
mod software_report;
mod svg;
mod tornado;

pub use advice::{Advice, Timed, Worth};
pub use flow_report::{CosimLine, FlowReport, InstructionLine, Kernel, MappingLine, UnitSetting};
pub use html::render;
pub use marked::{MarkedChart, MarkedGroup, MarkedPanel, Pair};
pub use pareto::{Choice, pareto};
pub use scatter::{ScatterPanel, ScatterPoint, ScatterSeries, scatter};
pub use share_report::ShareReport;
pub use software_report::{RewrittenLine, Software, SoftwareLine};
pub use tornado::{Swing, tornado};
