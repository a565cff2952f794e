//! The state of one `mbarrier` object, as the PTX ISA defines it: a phase
//! completes when no arrival is pending and all expected bytes have come.

use std::collections::{BTreeMap, HashMap};

/// Largest count of arrivals, and of bytes that are still to come.
pub const MOST: u32 = (1 << 20) - 1;

/// Bits of the pending count in the state that an arrival returns. The layout
/// is this kit's: the PTX ISA keeps it open.
const PENDING_BITS: u32 = 20;

/// A barrier that was initialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BarrierObject {
    /// Arrivals of each phase.
    expected: u32,
    /// Arrivals that the current phase still waits for.
    pending: u32,
    /// Bytes that it still waits for; below zero where they came before
    /// somebody expected them.
    bytes: i64,
    /// The current phase, counted from 0.
    phase: u64,
}

/// The effects of an arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Threads that arrive.
    pub count: u32,
    /// Bytes that are expected first.
    pub bytes: u32,
    /// Later phases wait for this many arrivals less.
    pub drops: bool,
    /// The operation must not complete the phase.
    pub stays: bool,
}

/// The phase that somebody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The phase of a state that an arrival returned.
    State(u64),
    /// The current phase or the one before it, whichever has this parity.
    Parity(u64),
}

impl BarrierObject {
    /// Whether somebody has arrived in the current phase, or bytes are expected in it.
    pub fn has_begun(&self) -> bool {
        self.pending < self.expected || self.bytes != 0
    }

    /// A barrier whose phases take `count` arrivals.
    pub fn new(count: u32) -> Result<Self, String> {
        if (1..=MOST).contains(&count) {
            Ok(BarrierObject {
                expected: count,
                pending: count,
                bytes: 0,
                phase: 0,
            })
        } else {
            Err(format!("a count of {count}: expected 1 to {MOST}"))
        }
    }

    /// The current phase.
    pub fn phase(&self) -> u64 {
        self.phase
    }

    /// Expects more bytes.
    pub fn expect(&mut self, bytes: u32) -> Result<(), String> {
        self.add(i64::from(bytes))
    }

    /// Takes bytes that have come; returns whether that completes the phase.
    pub fn complete(&mut self, bytes: u32) -> Result<bool, String> {
        self.add(-i64::from(bytes))?;
        Ok(self.advance())
    }

    /// Arrives: the state before, and whether that completes the phase.
    pub fn arrive(&mut self, arrival: Arrival) -> Result<(u64, bool), String> {
        let before = self.state();
        let Arrival { count, bytes, .. } = arrival;
        if count == 0 || count > self.pending {
            return Err(format!(
                "{count} arrivals where phase {} waits for {} of {}",
                self.phase, self.pending, self.expected
            ));
        }
        self.add(i64::from(bytes))?;
        self.pending -= count;
        if arrival.drops {
            self.expected -= count;
        }
        let completes = self.advance();
        if completes && arrival.stays {
            Err("an arrival with .noComplete completes the phase".to_owned())
        } else {
            Ok((before, completes))
        }
    }

    /// The current phase takes this many arrivals more.
    pub fn join(&mut self, count: u32) {
        self.pending = self.pending.saturating_add(count);
    }

    /// Whether the phase is complete; an error where that cannot be told.
    pub fn is_complete(&self, awaited: Awaited) -> Result<bool, String> {
        let phase = match awaited {
            Awaited::Parity(parity) => return Ok(self.phase & 1 != parity & 1),
            Awaited::State(state) => state >> PENDING_BITS,
        };
        match self.phase.checked_sub(phase) {
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            _ => Err(format!(
                "the state is of phase {phase}, and the barrier is in phase {}: only that one and \
                 the one before it can be waited for",
                self.phase
            )),
        }
    }

    /// A relative clause on what the current phase still waits for, or has too much of.
    pub fn missing(&self) -> String {
        let arrivals = format!("which lacks {} of {} arrivals", self.pending, self.expected);
        match (self.bytes, self.pending) {
            (0, _) => arrivals,
            (1.., _) => format!("{arrivals} and {} bytes", self.bytes),
            (_, 0) => self.excess(),
            _ => format!("{arrivals}, and {}", self.excess()),
        }
    }

    fn excess(&self) -> String {
        let bytes = -self.bytes;
        format!("where {bytes} bytes more have arrived than were expected")
    }

    /// The state that an arrival returns.
    fn state(&self) -> u64 {
        self.phase << PENDING_BITS | u64::from(self.pending)
    }

    fn add(&mut self, bytes: i64) -> Result<(), String> {
        let sum = self.bytes + bytes;
        if sum.unsigned_abs() <= u64::from(MOST) {
            self.bytes = sum;
            Ok(())
        } else {
            Err(format!(
                "{sum} bytes to come in phase {}: the count holds -{MOST} to {MOST}",
                self.phase
            ))
        }
    }

    fn advance(&mut self) -> bool {
        let done = self.pending == 0 && self.bytes == 0;
        if done {
            self.phase += 1;
            self.pending = self.expected;
        }
        done
    }
}

/// `mbarrier.pending_count`: of a state.
pub fn pending_count(state: u64) -> u64 {
    state & u64::from(MOST)
}

/// The objects of a block.
#[derive(Default)]
pub struct Mbarriers {
    pub objects: BTreeMap<u64, BarrierObject>,
    /// The last phase, counted from 1, that a thread has waited for.
    pub waited: HashMap<(u64, u32), u64>,
    /// By object, the last thread that has invalidated it.
    pub ended: HashMap<u64, u32>,
    /// Number of times that waiting paths were resumed since anything has changed.
    pub idle: u32,
}

impl Mbarriers {
    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        self.objects.clear();
        self.waited.clear();
        self.ended.clear();
        self.idle = 0;
    }

    /// Something has changed.
    pub fn progress(&mut self) {
        self.idle = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition again, as a list of what happened in the phase.
    #[derive(Default)]
    struct Model {
        members: Vec<bool>,
        expected: Vec<u32>,
        came: Vec<u32>,
        phases: Vec<usize>,
    }

    impl Model {
        fn settle(&mut self) -> bool {
            let bytes = self.expected.iter().sum::<u32>() == self.came.iter().sum::<u32>();
            let done = bytes && self.members.iter().all(|arrived| *arrived);
            if done {
                self.phases.push(self.members.len());
                self.members.fill(false);
                self.expected.clear();
                self.came.clear();
            }
            done
        }

        fn waiting(&self) -> usize {
            self.members.iter().filter(|arrived| !**arrived).count()
        }

        fn arrive(&mut self, arrival: Arrival) -> bool {
            if arrival.bytes > 0 {
                self.expected.push(arrival.bytes);
            }
            for _ in 0..arrival.count {
                let at = self.members.iter().position(|arrived| !arrived);
                let at = at.expect("the caller asks for no more than there are");
                if arrival.drops {
                    self.members.remove(at);
                } else {
                    self.members[at] = true
                }
            }
            self.settle()
        }
    }

    #[test]
    fn random_sequences_do_what_the_definition_says() {
        let mut seed = 7u64;
        let mut below = |n: u32| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(99);
            (seed >> 33) as u32 % n
        };
        let mut completed = 0;
        for _ in 0..1500 {
            let count = 1 + below(8);
            let mut object = BarrierObject::new(count).unwrap();
            let mut model = Model {
                members: vec![false; count as usize],
                ..Model::default()
            };
            for _ in 0..80 {
                let phase = model.phases.len() as u64;
                let left = model.waiting() as u32;
                match below(4) {
                    0 => {
                        let bytes = below(100);
                        model.expected.push(bytes);
                        object.expect(bytes).unwrap();
                    }
                    1 => {
                        let due: u32 = model.expected.iter().sum::<u32>()
                            - model
                                .came
                                .iter()
                                .sum::<u32>()
                                .min(model.expected.iter().sum());
                        model.came.push(due);
                        let done = model.settle();
                        assert_eq!(object.complete(due), Ok(done));
                        completed += u32::from(done);
                    }
                    _ if left == 0 => {
                        let one = Arrival {
                            count: 1,
                            ..Arrival::default()
                        };
                        assert!(object.arrive(one).is_err());
                        break;
                    }
                    kind => {
                        // The last member stays, or nobody is left to arrive.
                        let drops = kind == 3 && below(4) == 0 && model.members.len() > 4;
                        let arrival = Arrival {
                            count: if drops { 1 } else { 1 + below(left) },
                            bytes: below(2) * below(50),
                            drops,
                            stays: false,
                        };
                        let done = model.arrive(arrival);
                        let (state, completes) = object.arrive(arrival).unwrap();
                        assert_eq!((completes, pending_count(state)), (done, left.into()));
                        let complete = object.is_complete(Awaited::State(state));
                        assert_eq!(complete, Ok(done));
                        completed += u32::from(done);
                    }
                }
                let now = model.phases.len() as u64;
                assert!(now - phase <= 1);
                assert_eq!(object.phase(), now);
                for parity in 0..2 {
                    let complete = object.is_complete(Awaited::Parity(parity));
                    assert_eq!(complete, Ok(now % 2 != parity));
                }
            }
        }
        assert!(completed > 1000, "{completed}");
    }

    #[test]
    fn misuse_is_an_error() {
        assert!(BarrierObject::new(0).is_err() && BarrierObject::new(MOST + 1).is_err());
        let mut object = BarrierObject::new(2).unwrap();
        let arrival = |count| Arrival {
            count,
            ..Arrival::default()
        };
        assert!(object.arrive(arrival(3)).unwrap_err().contains("2 of 2"));
        let stays = Arrival {
            stays: true,
            ..arrival(2)
        };
        assert!(object.arrive(stays).unwrap_err().contains("noComplete"));
        let mut object = BarrierObject::new(2).unwrap();
        object.expect(MOST).unwrap();
        assert!(object.expect(1).unwrap_err().contains("bytes to come"));
        let (first, _) = object.arrive(arrival(2)).unwrap();
        assert_eq!(object.is_complete(Awaited::State(first)), Ok(false));
        assert_eq!(object.complete(MOST), Ok(true));
        assert!(object.arrive(arrival(2)).unwrap().1);
        let stale = object.is_complete(Awaited::State(first)).unwrap_err();
        assert!(stale.contains("phase 0") && stale.contains("phase 2"));
    }
}
