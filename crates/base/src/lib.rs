//! What every part of spadkit shares: one error type, files that are read and
//! written, signals, names and commands in messages, and what is known of CUDA's
//! headers and limits.

#![cfg_attr(test, allow(clippy::too_many_lines))]

pub mod claims;
pub mod cuda;
pub mod error;
pub mod input;
pub mod interrupt;
pub mod output;
pub mod quote;
pub mod toolkit;
