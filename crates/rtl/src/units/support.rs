//! Shared by the benches of the scratchpad path: port lists, resets, and the
//! rhythm of valid and ready.

use super::bench::{Frame, Stimulus};
use super::layout::PortSlot;

/// Declares a struct with one field per port of a unit.
macro_rules! ports {
    ($name:ident { in $($input:ident)*; out $($output:ident)*; }) => {
        #[derive(Clone)]
        pub(super) struct $name {
            $(pub(super) $input: $crate::units::layout::PortSlot,)*
            $(pub(super) $output: $crate::units::layout::PortSlot,)*
        }

        impl $name {
            pub(super) fn new(layout: &$crate::units::layout::Layout) -> Self {
                $name {
                    $($input: layout.input(stringify!($input)).clone(),)*
                    $($output: layout.output(stringify!($output)).clone(),)*
                }
            }
        }
    };
}
pub(super) use ports;

/// Cycles in which power-up state is being cleared.
const RESET_CYCLES: u64 = 2;

/// Drives `rst`: high at power-up, and rarely later. Returns whether it is.
pub(super) fn reset(stimulus: &mut Stimulus, frame: &mut Frame, rst: &PortSlot) -> bool {
    let high = stimulus.one_in(1024) || stimulus.cycle < RESET_CYCLES;
    frame.drive(rst, high.into());
    high
}

/// Resets that are rare most of the time, and in spells of a few hundred cycles come one
/// soon after the other: each kind of access is often caught halfway by one, and a long
/// time without them is reached as well.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Resets {
    frequent: bool,
}

impl Resets {
    /// Drives `rst`, as [`reset`] does.
    pub(super) fn drive(
        &mut self,
        stimulus: &mut Stimulus,
        frame: &mut Frame,
        rst: &PortSlot,
    ) -> bool {
        if stimulus.cycle > 0 && stimulus.one_in(512) {
            self.frequent = stimulus.one_in(4);
        }
        let again = self.frequent && stimulus.one_in(32);
        let high = reset(stimulus, frame, rst) || again;
        frame.drive(rst, high.into());
        high
    }
}

/// The rate of an event, in spells of a few hundred cycles: always, often,
/// rarely. Uniform coin tosses would hardly ever fill a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rhythm {
    /// Cycles out of 8.
    weight: u32,
    /// There are spells in which it never happens.
    silence: bool,
}

impl Rhythm {
    /// A rhythm with spells in which it never happens.
    pub(super) fn with_silence() -> Self {
        Rhythm {
            silence: true,
            ..Rhythm::default()
        }
    }

    /// Whether it happens in this cycle.
    pub(super) fn beat(&mut self, stimulus: &mut Stimulus) -> bool {
        if stimulus.cycle == 0 || stimulus.one_in(128) {
            self.weight = [8, 8, 7, 4, 4, 1][stimulus.below(6) as usize];
            if self.silence && stimulus.one_in(8) {
                self.weight = 0;
            }
        }
        stimulus.below(8) < self.weight
    }
}

/// A pipeline is held for some cycles at a time, or not at all.
pub(super) fn held(stimulus: &mut Stimulus) -> bool {
    match stimulus.cycle & 0xc0 {
        0 => true,
        0x40 => stimulus.one_in(2),
        0x80 => stimulus.one_in(8),
        _ => false,
    }
}
