//! Shadow memory of global memory: the accesses of the block that runs and of those before
//! it. Between blocks only [words](super::clock) order them.
//!
//! A place has its last write, its last read, and a list of what may still race with
//! something that these do not race with. Blocks that have shown nothing to others since an
//! access look alike to all: one of them stays.

pub use super::cell::Reach;
use super::cell::{Cell, Kind};
use super::clock::Order;
use super::mark::Mark;
use super::sights::Sights;
use super::touch::{Hit, Touch};
use std::collections::HashMap;

/// Words of a page.
const PAGE: u64 = 256;
/// Pages that are kept.
const PAGES: usize = 1 << 16;
/// Bytes of global memory whose accesses are kept.
pub const MOST_BYTES: u64 = PAGES as u64 * 4 * PAGE;
/// The places of 1,024 bytes.
#[derive(Debug)]
struct Page {
    /// A place is a byte; else a word.
    bytes: bool,
    cells: Vec<Cell>,
}

impl Page {
    fn new() -> Self {
        Page {
            bytes: false,
            cells: vec![Cell::default(); PAGE as usize],
        }
    }

    /// Bytes of a place, as a power of two.
    fn shift(&self) -> u32 {
        if self.bytes { 0 } else { 2 }
    }

    /// Places are bytes from now on.
    #[cold]
    fn refine(&mut self) {
        self.bytes = true;
        let each = |c: &Cell| [0, 1, 2, 3].map(|n| c.byte(n));
        self.cells = self.cells.iter().flat_map(each).collect();
    }
}

/// Bytes of a line, the unit of `discard`.
pub const LINE: u64 = 128;

/// The lines of bytes, and which bytes of each.
pub fn lines(address: u64, bytes: u32) -> impl Iterator<Item = (u64, u128)> {
    let end = address + u64::from(bytes);
    let of = move |line: u64| {
        let start = address.max(LINE * line) - LINE * line;
        let count = end.min(LINE * (line + 1)) - LINE * line - start;
        (line, u128::MAX >> (LINE - count) << start)
    };
    (address / LINE..end.div_ceil(LINE)).map(of)
}

/// Accesses to global memory so far.
#[derive(Debug, Default)]
pub struct GlobalRaces {
    pages: Vec<Page>,
    /// By page number, its index in `pages`.
    numbers: HashMap<u64, usize>,
    /// The page that was asked for last: lanes mostly share one.
    last: Option<(u64, usize)>,
    /// By the moment of an agent's access, the thread that began it.
    begun: HashMap<u32, u32>,
    sights: Sights,
    /// The bytes of lines of 128 that were discarded, and not written since.
    discarded: HashMap<u64, u128>,
    pub hits: Vec<Hit>,
}

impl GlobalRaces {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.pages.clear();
        self.numbers.clear();
        self.last = None;
        self.begun.clear();
        self.sights.clear();
        self.discarded.clear();
    }

    /// The index of a page, which is created if it is new; `None` if there is no room.
    #[inline(always)]
    fn page(&mut self, number: u64) -> Option<usize> {
        if let Some((last, at)) = self.last
            && last == number
        {
            return Some(at);
        }
        let at = match self.numbers.get(&number) {
            Some(&at) => at,
            None if self.pages.len() >= PAGES => return None,
            None => {
                self.pages.push(Page::new());
                self.numbers.insert(number, self.pages.len() - 1);
                self.pages.len() - 1
            }
        };
        self.last = Some((number, at));
        Some(at)
    }

    /// The thread that made an earlier access; for an agent's access, the one that began
    /// it.
    pub fn thread_of(&self, hit: &Hit) -> u32 {
        let own = 32 * u32::from(hit.earlier.warp) + hit.unseen.trailing_zeros();
        self.begun.get(&hit.earlier.moment).copied().unwrap_or(own)
    }

    /// Remembered writes to bytes, with the offset from the address.
    pub fn written(&self, address: u64, bytes: u32) -> Vec<(u32, Mark)> {
        let end = address + u64::from(bytes);
        let mut all = Vec::new();
        for number in address / (4 * PAGE)..=(end - 1) / (4 * PAGE) {
            let Some(&at) = self.numbers.get(&number) else {
                continue;
            };
            let (page, start) = (&self.pages[at], 4 * PAGE * number);
            let first = address.saturating_sub(start) >> page.shift();
            let stop = (end - start).min(4 * PAGE).div_ceil(1 << page.shift());
            for place in first..stop {
                let offset = (start + (place << page.shift())).saturating_sub(address);
                let marks = page.cells[place as usize].writes();
                all.extend(marks.map(|mark| (offset as u32, mark)));
            }
        }
        all
    }

    /// Forgets who has written to bytes, which are whole words.
    pub fn forget_writes(&mut self, address: u64, bytes: u64) {
        for at in (address..address + bytes).step_by(4) {
            let Some(&number) = self.numbers.get(&(at / (4 * PAGE))) else {
                continue;
            };
            let page = &mut self.pages[number];
            let (shift, first) = (page.shift(), at % (4 * PAGE));
            let places = (first >> shift) as usize..((first + 4) >> shift) as usize;
            for cell in &mut page.cells[places] {
                cell.write = Mark::default();
                cell.list.retain(|(kind, _)| *kind != Kind::Write);
            }
        }
    }

    /// Bytes have no value any more.
    pub fn discard(&mut self, address: u64, bytes: u32) {
        for (line, mask) in lines(address, bytes) {
            *self.discarded.entry(line).or_default() |= mask;
        }
    }

    /// An access, which reads or writes: the first byte from its address on that was
    /// discarded and is read.
    #[inline(always)]
    pub fn use_discarded(&mut self, reach: &Reach, (reads, writes): (bool, bool)) -> Option<u64> {
        if self.discarded.is_empty() {
            return None;
        }
        let mut first = None;
        for (line, mask) in lines(reach.address, reach.bytes) {
            let Some(gone) = self.discarded.get_mut(&line) else {
                continue;
            };
            if reads && first.is_none() && *gone & mask != 0 {
                let byte = LINE * line + u64::from((*gone & mask).trailing_zeros());
                first = Some(byte - reach.address);
            }
            if writes {
                *gone &= !mask;
            }
        }
        first
    }

    /// Lanes access bytes: what they race with is in `hits`, with the offset
    /// from the address as place. An error if there is no room to remember it.
    pub fn touch(&mut self, order: &Order, reach: Reach, touch: &Touch) -> Result<(), ()> {
        if reach.agent.is_some() {
            let thread = 32 * touch.warp + touch.lanes.trailing_zeros();
            self.begun.insert(touch.moment, thread);
        }
        let end = reach.address + u64::from(reach.bytes);
        let sees = Sights::counts(touch);
        let mut at = reach.address;
        while at < end {
            let number = at / (4 * PAGE);
            let stop = end.min(4 * PAGE * (number + 1));
            let page = self.page(number).ok_or(())?;
            let page = &mut self.pages[page];
            if !page.bytes && (at | stop) & 3 != 0 {
                page.refine();
            }
            let (shift, start) = (page.shift(), at - 4 * PAGE * number);
            let (first, count) = ((start >> shift) as usize, ((stop - at) >> shift) as usize);
            for (n, cell) in (0..).zip(&mut page.cells[first..first + count]) {
                let place = (at - reach.address) as u32 + (n << shift);
                let new = touch.mark_at(place, 1 << shift);
                let before = self.hits.len();
                cell.touch(order, (place, reach.fixed), (touch, &new), &mut self.hits);
                let address = reach.address + u64::from(place);
                if self.hits.len() > before && !reach.fixed {
                    let hits = (&mut self.hits, before);
                    self.sights.settle(order, hits, address, touch);
                }
                if sees && let Some(written) = cell.written(touch) {
                    self.sights.note(order, address, touch, written);
                }
                if !touch.passing {
                    cell.note(order, &reach, (touch, new));
                }
            }
            at = stop;
        }
        Ok(())
    }
}
