//! Tests of the composed models, by the papers' own examples.

mod scratchpad;
mod sequencer;
