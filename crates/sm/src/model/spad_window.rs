//! `spad_window`: the banks behind a window of accesses
//! (microarchitecture/bus.md).

mod reservations;

use super::lanes::{LaneMask, MAX_LANES, copy_active, lanes_of};
use super::spad_atomic_bank::{AtomicBank, BankOperation, Unwritten, amo};
use super::spad_scratchpad::{ResponseControl, op};
use crate::config::Config;
use reservations::Reservations;
use std::collections::VecDeque;

/// The atomic operation of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowOperation {
    /// Code of the operation ([`amo`]).
    pub code: u8,
    /// The expected value of each lane's compare-and-swap.
    pub expected: [u64; MAX_LANES],
    /// The warp of its reservations.
    pub warp: u8,
}

/// An access with bank and row of its words.
#[derive(Clone, Debug)]
pub struct WindowRequest<'a, T = u64> {
    /// Operation ([`op`]); ignored if the access is atomic.
    pub op: u8,
    /// The atomic operation, if it is one.
    pub atomic: Option<&'a WindowOperation>,
    /// Active lanes.
    pub mask: LaneMask,
    /// Bank of each lane.
    pub bank: &'a [u8],
    /// Row of each lane.
    pub row: &'a [u16],
    /// Data of each lane.
    pub data: &'a [u64],
    /// Byte enables of each lane.
    pub be: &'a [u8],
    /// Comes back with the response.
    pub tag: T,
}

/// A word of an access that waits for its bank.
#[derive(Clone, Debug)]
struct Word {
    bank: usize,
    row: usize,
    lanes: Vec<OnWord>,
}

/// A lane on a word.
#[derive(Clone, Debug)]
struct OnWord {
    lane: usize,
    /// The word to store, or the operand.
    data: u64,
    /// Bytes that it enables.
    be: u8,
    /// The expected value of its compare-and-swap.
    expected: u64,
}

impl Word {
    /// The bank's answer; it performs the access at once.
    fn access(&self, slot: &SlotKind, bank: &mut AtomicBank, reserves: &mut Reservations) -> u64 {
        let place = (self.bank, self.row);
        let first = &self.lanes[0];
        let (operation, data) = match *slot {
            SlotKind::Load => (BankOperation::Read, 0),
            SlotKind::Store => {
                // If several lanes store a byte, the lowest lane stores last.
                for on in self.lanes.iter().rev() {
                    bank.access(self.row, BankOperation::Write { be: on.be }, on.data);
                }
                reserves.end(place);
                return 0;
            }
            SlotKind::Atomic { code, warp } => {
                let reserved = match code {
                    amo::LR => {
                        reserves.load(first.lane, warp, place);
                        false
                    }
                    amo::SC => reserves.conditional(first.lane, warp, place),
                    _ => false,
                };
                let count = self.lanes.len() as u64;
                let operand = match code {
                    amo::COUNT => count,
                    _ => first.data,
                };
                let operation = BankOperation::Atomic {
                    code,
                    expected: first.expected,
                    reserved,
                };
                (operation, operand)
            }
        };
        let answer = bank.access(self.row, operation, data);
        if answer.written {
            reserves.end(place);
        }
        answer.word
    }
}

/// An operation makes reservations, or looks for them.
fn reserves(code: u8) -> bool {
    [amo::LR, amo::SC].contains(&code)
}

/// The operation of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotKind {
    Load,
    Store,
    Atomic { code: u8, warp: u8 },
}

impl SlotKind {
    /// The kind of a request; `None` for a pass or an unknown operation.
    fn of<T>(request: &WindowRequest<T>) -> Option<Self> {
        match (request.atomic, request.op) {
            (Some(operation), _) if operation.code <= amo::COUNT => Some(SlotKind::Atomic {
                code: operation.code,
                warp: operation.warp,
            }),
            (Some(_), _) => None,
            (None, op::LOAD) => Some(SlotKind::Load),
            (None, op::STORE) => Some(SlotKind::Store),
            _ => None,
        }
    }

    /// Lanes on one word are served together.
    fn joins(&self) -> bool {
        match self {
            SlotKind::Load | SlotKind::Store => true,
            SlotKind::Atomic { code, .. } => *code == amo::COUNT,
        }
    }

    /// Whether the operation makes reservations, or looks for them.
    fn reserves(&self) -> bool {
        match self {
            SlotKind::Load | SlotKind::Store => false,
            SlotKind::Atomic { code, .. } => reserves(*code),
        }
    }
}

/// An access in the window.
#[derive(Clone, Debug)]
struct Slot<T> {
    control: ResponseControl<T>,
    /// The operation on its words; `None` if it accesses nothing.
    kind: Option<SlotKind>,
    /// Whether the access makes reservations, or looks for them.
    reserves: bool,
    /// Whether it is a store, also one that is refused.
    store: bool,
    /// Whether the answer has the words of its lanes.
    shows: bool,
    /// Words that wait, in the order of their lowest lanes.
    waits: Vec<Word>,
    /// Words read, or the data of a pass.
    data: [u64; MAX_LANES],
}

/// The accesses in the window, oldest first, and the banks. In every cycle each bank serves a
/// group of lanes of the oldest access that waits for it.
#[derive(Clone, Debug)]
pub struct Window<T = u64> {
    size: usize,
    lanes: usize,
    /// Oldest first.
    slots: VecDeque<Slot<T>>,
    memory: Vec<AtomicBank>,
    atomics: bool,
    reservations: Reservations,
    /// Accesses that a reset undoes, with atomic operations.
    unwritten: Unwritten,
}

impl<T: Copy + Default> Window<T> {
    /// The window of `spad_stream` after reset, all words zero.
    pub fn new(config: &Config) -> Self {
        let options = &config.path.stream;
        Self::of(config, options.window, options.atomics)
    }

    /// A window of this many accesses, with or without atomic operations in the banks.
    pub fn of(config: &Config, accesses: u32, atomics: bool) -> Self {
        let banks = config.geometry.banks();
        Window {
            size: accesses as usize,
            lanes: config.lanes as usize,
            slots: VecDeque::new(),
            memory: vec![
                AtomicBank::new(config.capacity_words as usize / banks, config.word_bits);
                banks
            ],
            atomics,
            reservations: Reservations::new(if atomics { config.lanes as usize } else { 0 }),
            unwritten: Unwritten::default(),
        }
    }

    /// The window with a reset that is asynchronous or not.
    pub fn reset_at_any_time(mut self, asynchronous: bool) -> Self {
        self.unwritten = Unwritten::new(asynchronous);
        self
    }

    /// Whether an access is accepted in this cycle; `atomic` is the operation of the
    /// offered access, if it is atomic.
    pub fn req_ready(&self, atomic: Option<&WindowOperation>, resp_ready: bool) -> bool {
        let one_inside = || self.slots.iter().any(|slot| slot.reserves);
        let waits = atomic.is_some_and(|operation| reserves(operation.code)) && one_inside();
        (self.slots.len() < self.size || self.leaves(resp_ready)) && !waits
    }

    /// The response but for its data; registered.
    pub fn response(&self) -> ResponseControl<T> {
        let done = self.done();
        done.map_or(ResponseControl::default(), |slot| slot.control)
    }

    /// Whether the response is that of a store.
    pub(crate) fn answers_store(&self) -> bool {
        self.done().is_some_and(|slot| slot.store)
    }

    /// Writes the response's data over `out`, one word per lane.
    pub fn response_data(&self, out: &mut [u64]) {
        out[..self.lanes].fill(0);
        if let Some(slot) = self.done().filter(|slot| slot.shows) {
            copy_active(slot.control.mask, &slot.data, out, self.lanes);
        }
    }

    /// The clock edge.
    pub fn commit(&mut self, rst: bool, request: Option<WindowRequest<T>>, resp_ready: bool) {
        if rst {
            self.unwritten.reset(&mut self.memory);
            self.slots.clear();
            self.reservations.clear();
            return;
        }
        let taken = request.filter(|request| self.req_ready(request.atomic, resp_ready));
        let leaves = self.leaves(resp_ready);
        self.serve();
        self.reservations.tick();
        if leaves {
            self.slots.pop_front();
        }
        if let Some(request) = taken {
            let slot = self.slot(&request);
            self.slots.push_back(slot);
        }
    }

    /// The tag of the oldest access.
    pub(crate) fn oldest(&self) -> Option<&T> {
        self.slots.front().map(|slot| &slot.control.tag)
    }

    /// The word in `row` of `bank`.
    pub(crate) fn word_at(&self, bank: usize, row: usize) -> u64 {
        self.memory[bank].word(row)
    }

    /// Initial contents: `word` in `row` of `bank`.
    pub(crate) fn preload(&mut self, bank: usize, row: usize, word: u64) {
        self.memory[bank].restore(row, word);
    }

    /// The oldest access, if none of its words waits.
    fn done(&self) -> Option<&Slot<T>> {
        self.slots.front().filter(|slot| slot.waits.is_empty())
    }

    fn leaves(&self, resp_ready: bool) -> bool {
        resp_ready && self.done().is_some()
    }

    /// Every bank serves the first word that waits for it.
    fn serve(&mut self) {
        self.unwritten.next_cycle();
        let mut free = vec![true; self.memory.len()];
        for slot in &mut self.slots {
            let Some(kind) = &slot.kind else { continue };
            // A bank serves the oldest access that wants it, one word a cycle.
            let wanted: Vec<usize> = slot.waits.iter().map(|word| word.bank).collect();
            let mut served = false;
            let (data, memory) = (&mut slot.data, &mut self.memory);
            let (unwritten, reservations) = (&mut self.unwritten, &mut self.reservations);
            slot.waits.retain(|word| {
                if !std::mem::take(&mut free[word.bank]) {
                    return true;
                }
                served = true;
                let bank = &mut memory[word.bank];
                if self.atomics {
                    unwritten.begin(word.bank, word.row, bank.word(word.row));
                }
                let answer = word.access(kind, bank, reservations);
                if *kind != SlotKind::Store {
                    word.lanes.iter().for_each(|on| data[on.lane] = answer);
                }
                false
            });
            slot.control.degree += u32::from(served);
            wanted.into_iter().for_each(|bank| free[bank] = false);
        }
    }

    /// The access as it enters the window.
    fn slot(&self, request: &WindowRequest<T>) -> Slot<T> {
        let kind = SlotKind::of(request);
        let rows = self.memory[0].rows();
        let beyond = |lane: usize| usize::from(request.row[lane]) >= rows;
        let passes = request.atomic.is_none() && request.op == op::PASS;
        let error = match kind {
            Some(_) => lanes_of(request.mask).any(beyond),
            None => !passes,
        };
        let mut slot = Slot {
            control: ResponseControl {
                valid: true,
                op: request.op,
                mask: request.mask,
                tag: request.tag,
                success: 0,
                error,
                degree: 0,
            },
            kind: kind.filter(|_| !error),
            reserves: kind.is_some_and(|kind| kind.reserves()),
            store: request.atomic.is_none() && request.op == op::STORE,
            shows: !error && kind != Some(SlotKind::Store),
            waits: Vec::new(),
            data: [0; MAX_LANES],
        };
        slot.data[..self.lanes].copy_from_slice(&request.data[..self.lanes]);
        if let Some(kind) = slot.kind {
            slot.waits = words(request, kind.joins());
        }
        slot
    }
}

/// The words of an access; each lane has its own unless those on one word join.
fn words<T>(request: &WindowRequest<T>, joins: bool) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for lane in lanes_of(request.mask) {
        let bank = usize::from(request.bank[lane]);
        let row = usize::from(request.row[lane]);
        let atomic = request.atomic;
        let on = OnWord {
            lane,
            data: request.data[lane],
            be: request.be[lane],
            expected: atomic.map_or(0, |operation| operation.expected[lane]),
        };
        let same = |word: &&mut Word| joins && (word.bank, word.row) == (bank, row);
        match words.iter_mut().find(same) {
            Some(word) => word.lanes.push(on),
            None => words.push(Word {
                bank,
                row,
                lanes: vec![on],
            }),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn window(size: u32) -> Window {
        let text = format!("base = 'small'\n[stream]\nwindow = {size}\n");
        Window::new(&Config::from_toml(&text, Path::new("t.toml")).unwrap())
    }

    /// An access of all lanes to these words; plain interleaving.
    fn access(window: &mut Window, op: u8, addr: impl Fn(u16) -> u16, data: u64, tag: u64) -> bool {
        let words: Vec<u16> = (0..8).map(addr).collect();
        let bank: Vec<u8> = words.iter().map(|word| (word % 8) as u8).collect();
        let row: Vec<u16> = words.iter().map(|word| word / 8).collect();
        let ready = window.req_ready(None, true);
        let request = WindowRequest {
            op,
            atomic: None,
            mask: 0xff,
            bank: &bank,
            row: &row,
            data: &[data; 8],
            be: &[0xf; 8],
            tag,
        };
        window.commit(false, Some(request), true);
        ready
    }

    /// Cycles until `count` accesses have been answered, of which the k-th goes to
    /// the words `addr(lane, k)`.
    fn cycles(size: u32, op: u8, count: u16, addr: impl Fn(u16, u16) -> u16) -> u32 {
        let mut window = window(size);
        let (mut next, mut answered, mut cycles) = (0, 0, 0);
        while answered < count {
            answered += u16::from(window.response().valid);
            if next < count {
                let k = next;
                next += u16::from(access(&mut window, op, |lane| addr(lane, k), 0, 0));
            } else {
                window.commit(false, None, true);
            }
            cycles += 1;
        }
        cycles
    }

    /// All lanes of an access address one bank, those of the next another. An access
    /// occupies its slot for the eight cycles of its conflicts and the cycle of its
    /// answer.
    #[test]
    fn conflicts_in_different_banks_overlap() {
        let apart = |lane: u16, k: u16| (8 * lane + k) % 1024;
        for size in [2, 4, 8] {
            let expected = 64 / size * 9;
            let cycles = cycles(size, op::STORE, 64, apart);
            assert!(
                (expected..expected + 16).contains(&cycles),
                "{size}: {cycles}"
            );
        }
        let one_bank = |lane: u16, k: u16| (8 * lane + 64 * k) % 1024;
        assert!(cycles(8, op::LOAD, 64, one_bank) >= 64 * 8);
        assert_eq!(
            cycles(2, op::LOAD, 64, |lane, _| lane),
            64 + 2,
            "no conflicts"
        );
    }

    #[test]
    fn accesses_of_one_word_keep_their_order_behind_a_conflict() {
        let mut window = window(4);
        // Eight words of bank 0, the last of them word 56; then two accesses of it.
        access(&mut window, op::STORE, |lane| 8 * lane, 1, 10);
        access(&mut window, op::LOAD, |_| 56, 0, 11);
        access(&mut window, op::STORE, |_| 56, 2, 12);
        access(&mut window, op::LOAD, |_| 56, 0, 13);
        let mut answers = Vec::new();
        for _ in 0..20 {
            if window.response().valid {
                let mut data = [0; MAX_LANES];
                window.response_data(&mut data);
                answers.push((window.response().tag, data[0]));
            }
            window.commit(false, None, true);
        }
        assert_eq!(answers, [(10, 0), (11, 1), (12, 0), (13, 2)]);
    }
}
