//! Programs written by hand: `.warp` texts (docs/formats.md).
//!
//! One instruction a line; addresses are expressions in the lane, the thread
//! and so on, so that one text describes all warps of all blocks.

mod expr;
mod parse;

pub use parse::WarpText;

#[cfg(test)]
mod tests;
