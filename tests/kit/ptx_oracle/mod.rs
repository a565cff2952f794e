//! The warp executor against second implementations: single instructions on
//! edge and random operands and random control flow against the plain
//! interpreter of `reference`, exchanges between lanes against the tables of
//! the PTX ISA, approximate functions against its error bounds.

mod approximate;
mod atomics;
mod cases;
mod compare;
mod convert;
mod exchange;
mod floats;
mod flow;
mod integers;
mod operands;
mod quad;
mod run;
mod structured;
