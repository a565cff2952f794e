//! Programs written by hand: `.warp` texts (docs/reference/formats.md).
//!
//! One instruction a line; addresses are expressions in the lane, the thread
//! and so on, so that one text describes all warps of all blocks.

mod expr;
mod line;
mod parse;
mod program;
mod walk;

pub use program::WarpText;

#[cfg(test)]
mod tests;
