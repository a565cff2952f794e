//! spadkit: a hardware design kit for the scratchpad path of a GPU streaming
//! multiprocessor.
//!
//! Dependencies between modules point downwards: `cli` uses the flows
//! (`flow`, `cosim`, `synth`, `prove`, `report`), which use `rtl`, the golden
//! `model` and the search, which use [`hash`] and [`trace`].

pub mod assembler;
pub mod capture;
mod claims;
pub mod cli;
pub mod config;
pub mod cosim;
pub mod error;
pub mod flow;
pub mod geometry;
pub mod hash;
pub mod input;
pub mod interrupt;
pub mod launch;
pub mod model;
pub mod mutate;
pub mod output;
pub mod prove;
pub mod ptx;
pub mod quote;
pub mod rap;
pub mod report;
pub mod reproduce;
pub mod rewrite;
pub mod rtl;
pub mod search;
pub mod sharing;
pub mod sm;
pub mod software;
pub mod suggest;
pub mod synth;
mod template;
pub mod tool;
pub mod trace;
pub mod units;
pub mod workload;
