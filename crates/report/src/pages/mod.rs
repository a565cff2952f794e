//! The pages, each one HTML file that refers to no other.

mod bars;
mod flow;
mod flow_hardware;
mod flow_view;
mod frame;
mod prose;
mod reproduction;
mod share;
mod sweep;
mod tune;

pub use flow::render;
pub use reproduction::{
    Basis, FigureLine, MeanError, Outcome, PaperLine, ReproductionReport, TextTable, ValueLine,
    reproduction_verdict,
};
pub use share::ShareReport;
pub use sweep::{SweepLine, SweepReport};
pub use tune::{MappingChoice, MappingTable, TuneReport};
