//! `spad_eligibility`: which warps may be selected, and how many instructions
//! each has in flight (microarchitecture/issue.md).

use super::kind::{self, Offers};
use super::lanes::{WarpMask, warp_bit};
use spadkit_hdl::codes::barrel;

/// An instruction that starts or ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpKind {
    /// Warp of the instruction.
    pub warp: usize,
    /// Kind of the instruction.
    pub kind: u8,
}

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug)]
pub struct EligibilityInputs<'a> {
    /// Synchronous reset.
    pub rst: bool,
    /// `cfg_barrel`.
    pub barrel: u8,
    /// The offers of the warps.
    pub offers: &'a Offers,
    /// Warps that the access unit lets issue.
    pub allow: WarpMask,
    /// Warps whose offer is on its way already or must wait for a release.
    pub busy: WarpMask,
    /// No further ATOMIC may be issued.
    pub atom_infl: bool,
    /// The warp whose RELSSP is in EX.
    pub ex_relssp: Option<usize>,
    /// The instruction whose offer is taken in this cycle.
    pub take: Option<WarpKind>,
    /// The instruction whose last result is written back in this cycle.
    pub retire: Option<WarpKind>,
}

/// Outputs of one clock cycle; comb. Warps without an offer are in none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EligibilityOutputs {
    /// Eligible warps.
    pub ready: WarpMask,
    /// Warps that offer a kind of the memory path.
    pub is_mem: WarpMask,
    /// Warps that offer an ATOMIC.
    pub is_atomic: WarpMask,
    /// Warps that offer an access to the scratchpad.
    pub shares: WarpMask,
}

/// The counters and the equations.
#[derive(Clone, Debug)]
pub struct Eligibility {
    mem: Counters,
    nonmem: Counters,
}

impl Eligibility {
    /// The unit for `warps` slots, after reset.
    pub fn new(warps: usize) -> Self {
        Eligibility {
            mem: Counters::new(warps),
            nonmem: Counters::new(warps),
        }
    }

    /// The outputs of this cycle.
    #[inline(always)]
    pub fn eval(&self, inputs: &EligibilityInputs) -> EligibilityOutputs {
        let (m, n) = (&self.mem, &self.nonmem);
        let offers = inputs.offers;
        let barrel_ok = match inputs.barrel {
            barrel::STRICT => m.zero & n.zero,
            barrel::RELAXED => WarpMask::MAX,
            _ => (offers.mem & n.zero) | (!offers.mem & m.zero),
        };
        let mut ready = offers.valid & inputs.allow & barrel_ok & !m.full & !n.full & !inputs.busy;
        if inputs.atom_infl {
            ready &= !offers.atomic;
        }
        ready &= !(offers.relssp & !m.zero);
        if let Some(warp) = inputs.ex_relssp {
            ready &= !warp_bit(warp);
        }
        EligibilityOutputs {
            ready,
            is_mem: offers.mem,
            is_atomic: offers.atomic,
            shares: offers.shared,
        }
    }

    /// The clock edge.
    #[inline(always)]
    pub fn commit(&mut self, rst: bool, take: Option<WarpKind>, retire: Option<WarpKind>) {
        if rst {
            self.mem.reset();
            self.nonmem.reset();
            return;
        }
        if let Some(ends) = retire {
            self.counters(ends.kind).add(ends.warp, -1);
        }
        if let Some(starts) = take {
            self.counters(starts.kind).add(starts.warp, 1);
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &EligibilityInputs) -> EligibilityOutputs {
        let outputs = self.eval(inputs);
        self.commit(inputs.rst, inputs.take, inputs.retire);
        outputs
    }

    fn counters(&mut self, kind: u8) -> &mut Counters {
        if kind::is_mem(kind) {
            &mut self.mem
        } else {
            &mut self.nonmem
        }
    }
}

/// A 4-bit counter per warp, with the masks that eligibility asks for.
#[derive(Clone, Debug)]
struct Counters {
    count: Vec<u8>,
    /// Warps with nothing in flight.
    zero: WarpMask,
    /// Warps with 15 in flight.
    full: WarpMask,
}

impl Counters {
    fn new(warps: usize) -> Self {
        Counters {
            count: vec![0; warps],
            zero: WarpMask::MAX,
            full: 0,
        }
    }

    fn reset(&mut self) {
        self.count.fill(0);
        (self.zero, self.full) = (WarpMask::MAX, 0);
    }

    fn add(&mut self, warp: usize, difference: i8) {
        let before = self.count[warp];
        let count = before.wrapping_add_signed(difference) & 15;
        self.count[warp] = count;
        // Most changes are between other counts.
        if (before == 0) != (count == 0) {
            self.zero ^= warp_bit(warp);
        }
        if (before == 15) != (count == 15) {
            self.full ^= warp_bit(warp);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kind::{ALU, ATOMIC, LOAD, Offer, RELSSP};

    fn offers(kinds: [u8; 4]) -> Offers {
        let mut offers = Offers::none(4);
        for (warp, kind) in kinds.into_iter().enumerate() {
            let offer = Offer {
                kind,
                ..Offer::default()
            };
            offers.set(warp, Some(offer));
        }
        offers
    }

    fn inputs(offers: &Offers, barrel: u8) -> EligibilityInputs<'_> {
        EligibilityInputs {
            rst: false,
            barrel,
            offers,
            allow: 0b1111,
            busy: 0,
            atom_infl: false,
            ex_relssp: None,
            take: None,
            retire: None,
        }
    }

    fn event(warp: usize, kind: u8) -> Option<WarpKind> {
        Some(WarpKind { warp, kind })
    }

    #[test]
    fn what_a_warp_has_in_flight_holds_it_by_the_barrel() {
        let offers = offers([LOAD, ALU, LOAD, ALU]);
        let ready = |unit: &Eligibility, barrel| unit.eval(&inputs(&offers, barrel)).ready;
        let mut unit = Eligibility::new(4);
        for (warp, kind) in [(0, LOAD), (1, LOAD), (2, ALU)] {
            unit.step(&EligibilityInputs {
                take: event(warp, kind),
                ..inputs(&offers, barrel::RELAXED)
            });
        }
        assert_eq!(ready(&unit, barrel::STRICT), 0b1000);
        assert_eq!(ready(&unit, barrel::RELAXED), 0b1111);
        assert_eq!(ready(&unit, barrel::IN_ORDER), 0b1001);
        // One instruction ends while another starts: the count is unchanged.
        unit.step(&EligibilityInputs {
            take: event(2, ALU),
            retire: event(2, ALU),
            ..inputs(&offers, barrel::STRICT)
        });
        assert_eq!(ready(&unit, barrel::STRICT), 0b1000);
        unit.step(&EligibilityInputs {
            retire: event(2, ALU),
            ..inputs(&offers, barrel::STRICT)
        });
        assert_eq!(ready(&unit, barrel::STRICT), 0b1100);
        unit.step(&EligibilityInputs {
            rst: true,
            ..inputs(&offers, barrel::STRICT)
        });
        assert_eq!(ready(&unit, barrel::STRICT), 0b1111);
    }

    #[test]
    fn fifteen_in_flight_are_the_most() {
        let offers = offers([LOAD; 4]);
        let mut unit = Eligibility::new(4);
        for in_flight in 0..15 {
            let take = EligibilityInputs {
                take: event(3, LOAD),
                ..inputs(&offers, barrel::RELAXED)
            };
            assert_eq!(unit.step(&take).ready, 0b1111, "{in_flight}");
        }
        assert_eq!(unit.eval(&inputs(&offers, barrel::RELAXED)).ready, 0b0111);
    }

    #[test]
    fn fences_and_atomics() {
        let offers = offers([RELSSP, ATOMIC, RELSSP, ALU]);
        let mut unit = Eligibility::new(4);
        let mut now = inputs(&offers, barrel::RELAXED);
        let out = unit.eval(&now);
        assert_eq!((out.ready, out.is_mem), (0b1111, 0b0010));
        assert_eq!((out.is_atomic, out.shares), (0b0010, 0b0010));
        now.take = event(0, LOAD);
        unit.step(&now);
        now.take = None;
        assert_eq!(unit.eval(&now).ready, 0b1110, "behind its load");
        now.atom_infl = true;
        now.ex_relssp = Some(2);
        assert_eq!(unit.eval(&now).ready, 0b1000);
        now.busy = 0b1000;
        assert_eq!(unit.eval(&now).ready, 0);
    }
}
