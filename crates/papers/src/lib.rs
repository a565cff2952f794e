//! The results of the papers that the hardware comes from, computed again.
//!
//! ```text
//!  reproduce/PAPER/NAME.toml     a figure: workloads, configurations, published values
//!        │
//!        ▼
//!  reproduce::Point ── simulated or by formula, once ──▶ points::Points    kept in a file
//!        │                                                    │
//!        └──────────▶ reproduce::results ◀────────────────────┘
//!                       verdicts, text, charts of spadkit_report
//! ```
//!
//! The figures are files of the repository, in `reproduce/`; the crate has no copy of
//! them. [`points`] serves every campaign whose parts are kept and merged.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::too_many_lines))]

pub mod points;
pub mod reproduce;
