//! `spad_window`: the banks behind a window of accesses
//! (microarchitecture/bus.md).

use super::lanes::{LaneMask, MAX_LANES, copy_active, lanes_of};
use super::spad_scratchpad::{ResponseControl, op};
use crate::config::Config;
use std::collections::VecDeque;

/// An access with the places of its words.
#[derive(Clone, Debug)]
pub struct WindowRequest<'a> {
    /// Operation ([`op`]).
    pub op: u8,
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
    pub tag: u64,
}

/// A word of an access that waits for its bank.
#[derive(Clone, Debug)]
struct Word {
    bank: usize,
    row: usize,
    /// The lanes on it, with what each stores and the bits of its bytes.
    lanes: Vec<(usize, u64, u64)>,
}

/// An access in the window.
#[derive(Clone, Debug)]
struct Slot {
    control: ResponseControl<u64>,
    /// Words that wait, in the order of their lowest lanes.
    waits: Vec<Word>,
    /// Words read, or the data of a pass.
    data: [u64; MAX_LANES],
}

/// The unit.
#[derive(Clone, Debug)]
pub struct Window {
    size: usize,
    lanes: usize,
    /// Oldest first.
    slots: VecDeque<Slot>,
    /// Per bank, its rows.
    memory: Vec<Vec<u64>>,
    word_mask: u64,
}

impl Window {
    /// The window of `config` after reset, all words zero.
    pub fn new(config: &Config) -> Self {
        let banks = config.geometry.banks();
        Window {
            size: config.path.stream.window as usize,
            lanes: config.lanes as usize,
            slots: VecDeque::new(),
            memory: vec![vec![0; config.capacity_words as usize / banks]; banks],
            word_mask: u64::MAX >> (64 - config.word_bits),
        }
    }

    /// Whether an access is taken in this cycle.
    pub fn req_ready(&self, resp_ready: bool) -> bool {
        self.slots.len() < self.size || self.leaves(resp_ready)
    }

    /// The response but for its data; registered.
    pub fn response(&self) -> ResponseControl<u64> {
        let done = self.done();
        done.map_or(ResponseControl::default(), |slot| slot.control)
    }

    /// Writes the response's data over `out`, one word per lane.
    pub fn response_data(&self, out: &mut [u64]) {
        out[..self.lanes].fill(0);
        if let Some(slot) = self.done() {
            let c = &slot.control;
            if matches!(c.op, op::PASS | op::LOAD) && !c.error {
                copy_active(c.mask, &slot.data, out, self.lanes);
            }
        }
    }

    /// The clock edge.
    pub fn commit(&mut self, rst: bool, request: Option<WindowRequest>, resp_ready: bool) {
        if rst {
            self.slots.clear();
            return;
        }
        let taken = request.filter(|_| self.req_ready(resp_ready));
        let leaves = self.leaves(resp_ready);
        self.serve();
        if leaves {
            self.slots.pop_front();
        }
        if let Some(request) = taken {
            let slot = self.slot(&request);
            self.slots.push_back(slot);
        }
    }

    /// The oldest access, if none of its words waits.
    fn done(&self) -> Option<&Slot> {
        self.slots.front().filter(|slot| slot.waits.is_empty())
    }

    fn leaves(&self, resp_ready: bool) -> bool {
        resp_ready && self.done().is_some()
    }

    /// Every bank serves the first word that waits for it.
    fn serve(&mut self) {
        let mut free = vec![true; self.memory.len()];
        for slot in &mut self.slots {
            // A bank serves the oldest access that wants it, one word a cycle.
            let wanted: Vec<usize> = slot.waits.iter().map(|word| word.bank).collect();
            let mut served = false;
            let (control, data, memory) = (&slot.control, &mut slot.data, &mut self.memory);
            slot.waits.retain(|word| {
                if !std::mem::take(&mut free[word.bank]) {
                    return true;
                }
                served = true;
                let stored = &mut memory[word.bank][word.row];
                for &(lane, value, bits) in word.lanes.iter().rev() {
                    // Where several store a byte, the lowest lane does it last.
                    if control.op == op::STORE {
                        *stored = (*stored & !bits) | (value & bits);
                    } else {
                        data[lane] = *stored;
                    }
                }
                false
            });
            slot.control.degree += u32::from(served);
            wanted.into_iter().for_each(|bank| free[bank] = false);
        }
    }

    /// The access as it enters the window.
    fn slot(&self, request: &WindowRequest) -> Slot {
        let accesses = matches!(request.op, op::LOAD | op::STORE);
        let rows = self.memory[0].len();
        let beyond = |lane: usize| usize::from(request.row[lane]) >= rows;
        let error = match request.op {
            op::PASS => false,
            op::LOAD | op::STORE => lanes_of(request.mask).any(beyond),
            _ => true,
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
            waits: Vec::new(),
            data: [0; MAX_LANES],
        };
        slot.data[..self.lanes].copy_from_slice(&request.data[..self.lanes]);
        if !accesses || error {
            return slot;
        }
        for lane in lanes_of(request.mask) {
            let place = (
                usize::from(request.bank[lane]),
                usize::from(request.row[lane]),
            );
            let bits = bits_of(request.be[lane]) & self.word_mask;
            let stores = (lane, request.data[lane], bits);
            match slot.waits.iter_mut().find(|w| (w.bank, w.row) == place) {
                Some(word) => word.lanes.push(stores),
                None => slot.waits.push(Word {
                    bank: place.0,
                    row: place.1,
                    lanes: vec![stores],
                }),
            }
        }
        slot
    }
}

/// The bits of the bytes that are enabled.
fn bits_of(be: u8) -> u64 {
    let byte = |k: u32| (u64::from(be) >> k & 1) * (0xff << (8 * k));
    (0..8).map(byte).sum()
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
        let ready = window.req_ready(true);
        let request = WindowRequest {
            op,
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

    /// All lanes of an access are in one bank, those of the next in another. An
    /// access has its slot for the eight cycles of its conflicts and for that of its
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
