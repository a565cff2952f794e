//! Reports for people: one HTML file, charts.

pub mod chart;
mod flow_report;
mod html;
mod svg;

pub use flow_report::{CosimLine, FlowReport, InstructionLine, Kernel, MappingLine, UnitSetting};
pub use html::render;
