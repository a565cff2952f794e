//! What every part of spadkit shares: one error type, the reading of untrusted
//! input, and the wish of the user to stop.

pub mod claims;
pub mod cuda;
pub mod error;
pub mod input;
pub mod interrupt;
pub mod output;
pub mod quote;
pub mod toolkit;
