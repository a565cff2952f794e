//! The structure of a text: lines, in sections for some of the warps.

use super::expr::Expr;
use crate::sm::instr::Instr;

/// A line of a program.
#[derive(Clone, Debug)]
pub(super) enum Line {
    Instr(Box<Template>),
    Repeat { turns: u64, end: usize },
    End,
}

/// An instruction whose addresses are still expressions.
#[derive(Clone, Debug)]
pub(super) struct Template {
    pub(super) instr: Instr,
    pub(super) mask: Option<u64>,
    pub(super) address: Option<Expr>,
    /// The address changes by even steps from lane to lane.
    pub(super) linear: bool,
    /// Byte of the text, for messages.
    pub(super) at: usize,
}

/// A section of lines for some warps.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) blocks: Option<(u64, u64)>,
    pub(super) warps: Option<(u64, u64)>,
    pub(super) lines: Vec<Line>,
}
