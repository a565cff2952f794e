//! Tests of the composed models, by the papers' own examples.

mod axi;
mod machine;
mod scratchpad;
mod scratchpad_stages;
mod sequencer;
mod sm_path;
mod sm_path_ahead;
mod sm_path_atomics;
mod sm_path_random;
mod sm_path_sharing;
mod tcdm_atomics;
mod wide_stream;
