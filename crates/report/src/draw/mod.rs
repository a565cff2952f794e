//! Charts and pictures, as SVG.

pub mod chart;
mod fig4;
pub mod flow_drawing;
mod marked;
mod pareto;
pub(super) mod picture;
mod scatter;
pub(super) mod svg;
pub mod theme;
mod tornado;
pub(super) mod trade_off;

pub use fig4::fig4;
pub use marked::{MarkedChart, MarkedGroup, MarkedPanel, Pair};
pub use pareto::{Choice, pareto};
pub use scatter::{ScatterPanel, ScatterPoint, ScatterSeries, scatter};
pub use tornado::{Swing, tornado};
