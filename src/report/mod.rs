//! Reports for people: charts.

pub mod chart;
mod svg;
