//! `spad_pass_issue`: the passes of the instruction that is being issued, and
//! EX (microarchitecture/issue.md).

use super::kind::{self, Offers};
use super::lanes::{WarpMask, warp_bit};
use super::pass::PassControl;
use crate::config::Config;

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug)]
pub struct PassIssueInputs<'a> {
    /// Synchronous reset.
    pub rst: bool,
    /// The offers of the warps.
    pub offers: &'a Offers,
    /// The warp whose offer is taken; only where there is room.
    pub take: Option<usize>,
    /// The warp in S; none with AHEAD = 0.
    pub picked: Option<usize>,
    /// The pass in EX leaves it.
    pub ex_fire: bool,
}

/// The instruction whose offer is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TakenOffer {
    /// First pass of the instruction.
    pub control: PassControl,
    /// Number of its passes - 1.
    pub last_pass: u16,
}

/// Outputs of one clock cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassIssueOutputs {
    /// An instruction may be taken; comb(ex_fire).
    pub room: bool,
    /// Warps whose offer is on its way already, or with a RELSSP in front of
    /// EX; comb(picked). With AHEAD = 0 none.
    pub busy: WarpMask,
    /// `take_kind`, `take_pc`, `take_np`; comb(offers, take).
    pub taken: Option<TakenOffer>,
    /// The pass that enters EX at the end of this cycle; comb(ex_fire), with
    /// AHEAD = 0 comb(offers, take), too.
    pub iss: Option<PassControl>,
    /// The pass in EX; registered.
    pub ex: Option<PassControl>,
}

/// Passes that are still to be issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Issuing {
    /// Control of the next pass.
    control: PassControl,
    /// Number of passes - 1.
    last_pass: u16,
}

/// The instruction whose passes are being issued, and the pass in EX.
#[derive(Clone, Debug)]
pub struct PassIssue {
    issuing: Option<Issuing>,
    ex: Option<PassControl>,
    /// AHEAD > 0: an instruction is taken a cycle before its first pass goes.
    registered: bool,
    subwarps: u32,
}

impl PassIssue {
    /// The unit of `config`, after reset.
    pub fn new(config: &Config) -> Self {
        PassIssue {
            issuing: None,
            ex: None,
            registered: config.path.ahead > 0,
            subwarps: config.subwarps(),
        }
    }

    /// The pass in EX.
    pub fn ex(&self) -> Option<PassControl> {
        self.ex
    }

    /// An instruction may be taken in this cycle.
    pub fn room(&self, ex_fire: bool) -> bool {
        let ex_free = self.ex_free(ex_fire);
        match (self.registered, &self.issuing) {
            (false, issuing) => ex_free && issuing.is_none(),
            (true, None) => true,
            (true, Some(issuing)) => ex_free && issuing.control.last,
        }
    }

    /// Warps whose offer does not count in this cycle.
    pub fn busy(&self, picked: Option<usize>) -> WarpMask {
        if !self.registered {
            return 0;
        }
        let mut busy = picked.map_or(0, warp_bit);
        if let Some(Issuing { control, .. }) = &self.issuing
            && (control.pass == 0 || control.kind == kind::RELSSP)
        {
            busy |= warp_bit(control.warp.into());
        }
        busy
    }

    /// The outputs of this cycle.
    #[inline(always)]
    pub fn eval(&self, inputs: &PassIssueInputs) -> PassIssueOutputs {
        let taken = inputs.take.map(|warp| self.taken(inputs.offers, warp));
        let waiting = self.issuing.map(|i| i.control);
        let at_once = taken.filter(|_| !self.registered).map(|t| t.control);
        let ex_free = self.ex_free(inputs.ex_fire);
        PassIssueOutputs {
            room: self.room(inputs.ex_fire),
            busy: self.busy(inputs.picked),
            taken,
            iss: waiting.or(at_once).filter(|_| ex_free),
            ex: self.ex,
        }
    }

    /// The clock edge, with the outputs of this cycle.
    #[inline(always)]
    pub fn commit(&mut self, inputs: &PassIssueInputs, outputs: &PassIssueOutputs) {
        if inputs.rst {
            (self.issuing, self.ex) = (None, None);
            return;
        }
        let first = outputs.taken.as_ref().map(Issuing::first);
        self.issuing = match (outputs.iss, self.issuing.or(first)) {
            (Some(_), Some(issued)) if self.registered => first.or(issued.next()),
            (Some(_), Some(issued)) => issued.next(),
            (_, issuing) => issuing,
        };
        if outputs.iss.is_some() || inputs.ex_fire {
            self.ex = outputs.iss;
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &PassIssueInputs) -> PassIssueOutputs {
        let outputs = self.eval(inputs);
        self.commit(inputs, &outputs);
        outputs
    }

    fn ex_free(&self, ex_fire: bool) -> bool {
        self.ex.is_none() || ex_fire
    }

    /// The offer of `warp` at its issue.
    fn taken(&self, offers: &Offers, warp: usize) -> TakenOffer {
        let offer = offers.at(warp);
        let last_pass = (kind::passes(offer.kind, offer.words, self.subwarps) - 1) as u16;
        let control = PassControl {
            warp: warp as u8,
            kind: offer.kind,
            tag: offer.tag,
            pc: offer.pc,
            pass: 0,
            last: last_pass == 0,
        };
        TakenOffer { control, last_pass }
    }
}

impl Issuing {
    fn first(taken: &TakenOffer) -> Self {
        Issuing {
            control: taken.control,
            last_pass: taken.last_pass,
        }
    }

    /// Behind the present pass, if there is one more.
    fn next(self) -> Option<Self> {
        let pass = self.control.pass + 1;
        (pass <= self.last_pass).then_some(Issuing {
            control: PassControl {
                pass,
                last: pass == self.last_pass,
                ..self.control
            },
            ..self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kind::{ALU, LOAD, Offer, RELSSP};

    fn offers() -> Offers {
        let mut offers = Offers::none(4);
        let kinds = [(LOAD, 1), (ALU, 0), (RELSSP, 0), (LOAD, 0)];
        for (warp, (kind, words)) in kinds.into_iter().enumerate() {
            let offer = Offer {
                kind,
                words,
                pc: 10 + warp as u16,
                ..Offer::default()
            };
            offers.set(warp, Some(offer));
        }
        offers
    }

    fn unit(ahead: u32) -> PassIssue {
        let mut config = Config::preset("fermi").unwrap();
        config.path.ahead = ahead;
        PassIssue::new(&config)
    }

    fn cycle(unit: &mut PassIssue, take: Option<usize>, ex_fire: bool) -> PassIssueOutputs {
        unit.step(&PassIssueInputs {
            rst: false,
            offers: &offers(),
            take,
            picked: None,
            ex_fire,
        })
    }

    fn pass(issue: Option<PassControl>) -> Option<(u8, u16, bool)> {
        issue.map(|c| (c.warp, c.pass, c.last))
    }

    #[test]
    fn at_once_the_first_pass_goes_with_the_offer() {
        let mut unit = unit(0);
        let out = cycle(&mut unit, Some(0), false);
        assert_eq!((out.room, pass(out.iss)), (true, Some((0, 0, false))));
        let taken = out.taken.unwrap();
        assert_eq!((taken.last_pass, taken.control.pc), (1, 10));
        let held = cycle(&mut unit, None, false);
        assert_eq!((held.room, held.iss, held.busy), (false, None, 0));
        assert_eq!(pass(held.ex), Some((0, 0, false)));
        let second = cycle(&mut unit, None, true);
        assert_eq!((second.room, pass(second.iss)), (false, Some((0, 1, true))));
        let next = cycle(&mut unit, Some(1), true);
        assert_eq!((next.room, pass(next.iss)), (true, Some((1, 0, true))));
        assert_eq!(pass(next.ex), Some((0, 1, true)));
        assert_eq!(cycle(&mut unit, None, true).iss, None);
        assert_eq!(unit.ex(), None);
    }

    #[test]
    fn ahead_a_register_is_between_and_instructions_follow_each_other() {
        let mut unit = unit(3);
        assert_eq!(cycle(&mut unit, Some(0), false).iss, None);
        assert_eq!(unit.busy(Some(3)), 0b1001);
        let first = cycle(&mut unit, None, false);
        assert_eq!((first.room, pass(first.iss)), (false, Some((0, 0, false))));
        assert_eq!(unit.busy(None), 0, "its first pass has gone");
        assert!(!cycle(&mut unit, None, false).room);
        let last = cycle(&mut unit, Some(2), true);
        assert_eq!((last.room, pass(last.iss)), (true, Some((0, 1, true))));
        assert_eq!(unit.busy(None), 0b0100);
        let release = cycle(&mut unit, None, true);
        assert_eq!(pass(release.iss), Some((2, 0, true)));
        assert_eq!(unit.busy(None), 0, "in EX");
        assert!(cycle(&mut unit, None, true).room);
        assert_eq!((unit.busy(None), unit.ex()), (0, None));
    }
}
