//! Asynchronous copies that nobody has waited for yet.

/// A copy on its way.
#[derive(Clone, Copy, Debug)]
struct Flight {
    /// Groups that its thread had committed before.
    group: u32,
    address: u64,
    bytes: u32,
    pc: u32,
    /// The phase of an `mbarrier` that it arrives at.
    arrives: Option<u64>,
}

/// The copies of a block's threads into shared memory.
#[derive(Debug, Default)]
pub struct Flights {
    /// Of each byte: thread plus one and instruction of the copy that will
    /// write it; 0 for none.
    bytes: Vec<(u32, u32)>,
    threads: Vec<(u32, Vec<Flight>)>,
    any: bool,
}

impl Flights {
    pub fn new(bytes: u64, threads: u32) -> Self {
        Flights {
            bytes: vec![(0, 0); bytes as usize],
            threads: vec![(0, Vec::new()); threads as usize],
            any: false,
        }
    }

    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.any) {
            self.bytes.fill((0, 0));
            self.threads.iter_mut().for_each(|t| t.1.clear());
        }
        self.threads.iter_mut().for_each(|t| t.0 = 0);
    }

    /// A thread begins a copy.
    pub fn begin(&mut self, thread: u32, address: u64, bytes: u32, pc: u32) {
        self.add(thread, address, bytes, pc, None);
    }

    /// A thread begins a copy that arrives at a phase of an `mbarrier`.
    pub fn begin_at(&mut self, thread: u32, address: u64, bytes: u32, pc: u32, phase: u64) {
        self.add(thread, address, bytes, pc, Some(phase));
    }

    fn add(&mut self, thread: u32, address: u64, bytes: u32, pc: u32, arrives: Option<u64>) {
        let (group, flights) = &mut self.threads[thread as usize];
        let group = *group;
        if let Some(place) = range(&mut self.bytes, address, bytes) {
            place.fill((thread + 1, pc));
            self.any = true;
            flights.push(Flight {
                group,
                address,
                bytes,
                pc,
                arrives,
            });
        }
    }

    /// What the thread has begun so far is a group.
    pub fn commit(&mut self, thread: u32) {
        self.threads[thread as usize].0 += 1;
    }

    /// A thread waits until its last `left` groups at most are on their way;
    /// without a number for everything.
    pub fn wait(&mut self, thread: u32, left: Option<u32>) {
        let (groups, flights) = &mut self.threads[thread as usize];
        let until = left.map_or(u32::MAX, |left| groups.saturating_sub(left));
        flights.retain(|flight| {
            let waits = flight.group < until && flight.arrives.is_none();
            if waits {
                land(&mut self.bytes, thread, flight);
            }
            !waits
        });
    }

    /// What the thread has begun so far arrives at a phase of an `mbarrier`.
    pub fn bind(&mut self, thread: u32, phase: u64) {
        let (_, flights) = &mut self.threads[thread as usize];
        let free = flights.iter_mut().filter(|f| f.arrives.is_none());
        free.for_each(|flight| flight.arrives = Some(phase));
    }

    /// Somebody has waited for a phase of an `mbarrier`.
    pub fn landed(&mut self, phase: u64) {
        if !self.any {
            return;
        }
        for (thread, (_, flights)) in self.threads.iter_mut().enumerate() {
            flights.retain(|flight| {
                let lands = flight.arrives == Some(phase);
                if lands {
                    land(&mut self.bytes, thread as u32, flight);
                }
                !lands
            });
        }
    }

    /// Thread and instruction of the copy that will write a byte.
    pub fn at(&self, byte: u64) -> Option<(u32, u32)> {
        let (thread, pc) = *self.bytes.get(byte as usize)?;
        (self.any && thread != 0).then(|| (thread - 1, pc))
    }
}

/// The bytes of a copy have come.
fn land(bytes: &mut [(u32, u32)], thread: u32, flight: &Flight) {
    let own = (thread + 1, flight.pc);
    let place = range(bytes, flight.address, flight.bytes);
    for byte in place.into_iter().flatten().filter(|b| **b == own) {
        byte.0 = 0;
    }
}

fn range(all: &mut [(u32, u32)], address: u64, bytes: u32) -> Option<&mut [(u32, u32)]> {
    let start = usize::try_from(address).ok()?;
    all.get_mut(start..start.checked_add(bytes as usize)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_there_when_its_group_has_been_waited_for() {
        let mut flights = Flights::new(64, 32);
        flights.begin(3, 0, 16, 7);
        flights.commit(3);
        flights.begin(3, 16, 16, 8);
        flights.commit(3);
        flights.wait(3, Some(1));
        assert_eq!((flights.at(15), flights.at(16)), (None, Some((3, 8))));
        flights.begin(3, 32, 4, 9);
        flights.wait(3, Some(0));
        assert_eq!((flights.at(31), flights.at(32)), (None, Some((3, 9))));
        flights.wait(3, None);
        assert_eq!(flights.at(32), None);
        flights.begin(3, 62, 4, 9);
        assert_eq!(flights.at(63), None);
    }
}
