//! `spad_axi`: an AXI4 port that replaces a lane (microarchitecture/axi.md).
//!
//! The address of a beat is computed from its number and the start of the burst,
//! as AXI defines it; the hardware goes from one beat to the next.

use super::spad_skid::Skid;
use crate::config::Config;
use std::collections::VecDeque;

/// The kinds of bursts.
pub mod burst {
    /// Each beat at the same address.
    pub const FIXED: u8 = 0;
    /// Consecutive addresses.
    pub const INCR: u8 = 1;
    /// Consecutive addresses, within a block of as many bytes as the burst has.
    pub const WRAP: u8 = 2;
}

/// The answers.
pub mod resp {
    /// Done.
    pub const OKAY: u8 = 0;
    /// No such burst, no such row, or a wrong WLAST.
    pub const SLVERR: u8 = 2;
    /// No such address.
    pub const DECERR: u8 = 3;
}

/// The most lanes that the port can replace.
pub const MAX_AXI_LANES: usize = 8;

/// A word of each lane; 0 of those that there are not.
pub type AxiWords = [u64; MAX_AXI_LANES];

/// Bursts do not leave the 4 KB that they begin in.
const PAGE: u64 = 1 << 12;

/// A burst at AW or AR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AxiBurst {
    /// Identifier.
    pub id: u16,
    /// Address of the first byte.
    pub addr: u64,
    /// Beats - 1.
    pub len: u8,
    /// Log2 of the bytes of a beat.
    pub size: u8,
    /// Kind of the burst ([`burst`]).
    pub kind: u8,
}

/// A beat at W.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AxiData {
    /// The data, the word of the first lane first.
    pub data: AxiWords,
    /// The bytes that are written.
    pub strobe: u64,
    /// The last beat of its burst.
    pub last: bool,
}

/// An answer at B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxiWritten {
    /// Identifier of the burst.
    pub id: u16,
    /// [`resp`].
    pub resp: u8,
}

/// An answer at R.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxiRead {
    /// Identifier of the burst.
    pub id: u16,
    /// The words.
    pub data: AxiWords,
    /// [`resp`].
    pub resp: u8,
    /// The last beat of the burst.
    pub last: bool,
}

/// The requests of a beat to the memory, one of each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneRequests {
    /// The lanes that have not been granted, a bit for each.
    pub waiting: u8,
    /// Word address of the first lane; those of the others follow.
    pub add: u32,
    /// Whether the requests read.
    pub reads: bool,
    /// The data to write; 0 for a read.
    pub data: AxiWords,
    /// The bytes that they write; all of a read.
    pub be: u64,
}

/// Inputs of one cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct AxiInputs {
    /// Reset.
    pub rst: bool,
    /// The offers at AW, W and AR.
    pub aw: Option<AxiBurst>,
    /// The offer at W.
    pub w: Option<AxiData>,
    /// The offer at AR.
    pub ar: Option<AxiBurst>,
    /// An answer at B would be taken.
    pub b_ready: bool,
    /// An answer at R would be taken.
    pub r_ready: bool,
    /// The lanes that the memory grants, a bit for each.
    pub grant: u8,
    /// The memory's answer to each lane: the word, and whether nothing was accessed.
    pub answers: [Option<(u64, bool)>; MAX_AXI_LANES],
}

/// Outputs of one cycle: of the state alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxiOutputs {
    /// A burst would be taken at AW.
    pub aw_ready: bool,
    /// Data would be taken at W.
    pub w_ready: bool,
    /// A burst would be taken at AR.
    pub ar_ready: bool,
    /// The answer at B.
    pub b: Option<AxiWritten>,
    /// The answer at R.
    pub r: Option<AxiRead>,
    /// The requests to the memory.
    pub request: Option<LaneRequests>,
    /// Nothing is inside.
    pub idle: bool,
}

/// The widths that limit a burst.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Lanes.
    lanes: usize,
    /// Bytes of a word.
    word_bytes: u64,
    /// Word-address bits.
    word_addr_bits: u32,
}

impl Shape {
    /// Bytes of the data.
    fn bytes(self) -> u64 {
        self.word_bytes * self.lanes as u64
    }

    /// A bit for each lane.
    fn all(self) -> u8 {
        u8::MAX >> (MAX_AXI_LANES - self.lanes)
    }

    /// Whether AXI has such a burst, on data of this width.
    fn is_legal(self, of: &AxiBurst) -> bool {
        let bytes = 1u64 << of.size;
        let wraps = of.kind == burst::WRAP;
        let wrap_fits = matches!(of.len, 1 | 3 | 7 | 15) && of.addr.is_multiple_of(bytes);
        of.kind <= burst::WRAP && bytes <= self.bytes() && (!wraps || wrap_fits)
    }

    /// The byte address of beat `k`.
    fn beat(of: &AxiBurst, k: u64) -> u64 {
        let bytes = 1u64 << of.size;
        let aligned = of.addr / bytes * bytes;
        let addr = match of.kind {
            burst::FIXED => of.addr,
            burst::WRAP => {
                let all = bytes * (u64::from(of.len) + 1);
                let base = of.addr / all * all;
                base + (of.addr - base + k * bytes) % all
            }
            _ if k == 0 => of.addr,
            _ => aligned.wrapping_add(k * bytes),
        };
        of.addr / PAGE * PAGE + addr % PAGE
    }

    /// The first word of beat `k`, and its answer if it is refused; then the word is 0.
    fn access(self, of: &AxiBurst, k: u64) -> (u32, u8) {
        let word = Self::beat(of, k) / self.bytes() * self.lanes as u64;
        let refused = if !self.is_legal(of) {
            resp::SLVERR
        } else if word >> self.word_addr_bits != 0 {
            resp::DECERR
        } else {
            resp::OKAY
        };
        let word = if refused == resp::OKAY { word } else { 0 };
        (word as u32, refused)
    }
}

/// The bursts of one channel: those that wait, and the one in progress.
#[derive(Clone, Debug)]
struct Bursts {
    waiting: Skid<AxiBurst>,
    /// The current burst, and the number of its next beat.
    current: Option<(AxiBurst, u8)>,
}

impl Bursts {
    fn new() -> Self {
        Bursts {
            waiting: Skid::new(),
            current: None,
        }
    }

    fn is_empty(&self) -> bool {
        self.current.is_none() && self.waiting.output().is_none()
    }

    /// The clock edge: what is offered, and whether the next beat is picked.
    fn commit(&mut self, offered: Option<AxiBurst>, picked: bool) {
        let ends = match &mut self.current {
            None => true,
            Some((of, beat)) if picked => {
                let last = *beat == of.len;
                *beat = beat.wrapping_add(1);
                last
            }
            Some(_) => false,
        };
        if ends {
            self.current = self.waiting.output().map(|of| (*of, 0));
        }
        self.waiting.commit(offered, ends);
    }
}

/// A request that is not answered.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    writes: bool,
    last: bool,
    id: u16,
    code: u8,
}

/// The port.
#[derive(Clone, Debug)]
pub struct Axi {
    shape: Shape,
    depth: usize,
    write: Bursts,
    read: Bursts,
    data: Skid<AxiData>,
    request: Option<LaneRequests>,
    /// Answers that wait for those of the other lanes, if there are several.
    arrived: [VecDeque<(u64, bool)>; MAX_AXI_LANES],
    order: VecDeque<InFlight>,
    read_answers: VecDeque<AxiRead>,
    write_answers: VecDeque<AxiWritten>,
    /// A write was picked last.
    wrote_last: bool,
    /// The answers so far of the beats of the write that is being answered.
    failed: u8,
}

impl Axi {
    /// The port of a machine that has one.
    pub fn new(config: &Config) -> Self {
        let p = config.parameters();
        let shape = Shape {
            lanes: p.XL,
            word_bytes: p.DB as u64,
            word_addr_bits: p.n as u32,
        };
        Axi::empty(shape, p.XQ)
    }

    fn empty(shape: Shape, depth: usize) -> Self {
        Axi {
            shape,
            depth,
            write: Bursts::new(),
            read: Bursts::new(),
            data: Skid::new(),
            request: None,
            arrived: Default::default(),
            order: VecDeque::new(),
            read_answers: VecDeque::new(),
            write_answers: VecDeque::new(),
            wrote_last: false,
            failed: resp::OKAY,
        }
    }

    /// The outputs.
    pub fn eval(&self) -> AxiOutputs {
        let empty = self.write.is_empty() && self.read.is_empty() && self.data.output().is_none();
        let answered =
            self.order.is_empty() && self.read_answers.is_empty() && self.write_answers.is_empty();
        AxiOutputs {
            aw_ready: self.write.waiting.in_ready(),
            w_ready: self.data.in_ready(),
            ar_ready: self.read.waiting.in_ready(),
            b: self.write_answers.front().copied(),
            r: self.read_answers.front().copied(),
            request: self.request,
            idle: empty && answered,
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &AxiInputs) -> AxiOutputs {
        let outputs = self.eval();
        self.commit(inputs);
        outputs
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: &AxiInputs) {
        if inputs.rst {
            self.reset();
            return;
        }
        let [write, read] = self.picked(inputs.grant);
        let answered = self.answered(&inputs.answers);
        if let Some(request) = &mut self.request {
            request.waiting &= !inputs.grant;
        }
        self.request = self.request.filter(|request| request.waiting != 0);
        if write {
            self.pick_write();
        }
        if read {
            self.pick_read();
        }
        self.write.commit(inputs.aw, write);
        self.read.commit(inputs.ar, read);
        self.data.commit(inputs.w, write);
        if inputs.b_ready {
            self.write_answers.pop_front();
        }
        if inputs.r_ready {
            self.read_answers.pop_front();
        }
        if let Some((oldest, data, nothing)) = answered {
            self.take_answer(oldest, data, nothing);
        }
    }

    /// The oldest request and the answers of all lanes to it, once they have
    /// arrived. With one lane, the answer is returned at once; with several, answers
    /// wait here for a cycle at least.
    fn answered(&mut self, given: &[Option<(u64, bool)>]) -> Option<(InFlight, AxiWords, bool)> {
        let lanes = self.shape.lanes;
        let (mut data, mut nothing) = (AxiWords::default(), false);
        let mut add = |lane: usize, (word, failed)| {
            data[lane] = word;
            nothing |= failed;
        };
        let oldest = if lanes == 1 {
            given[0].and_then(|answer| {
                add(0, answer);
                self.order.pop_front()
            })
        } else {
            let all = self.arrived[..lanes].iter().all(|lane| !lane.is_empty());
            let oldest = all.then(|| self.order.pop_front()).flatten();
            let queues = self.arrived[..lanes].iter_mut().zip(given).enumerate();
            for (lane, (queue, new)) in queues {
                let full = queue.len() == self.depth;
                if oldest.is_some() {
                    queue.pop_front().into_iter().for_each(|a| add(lane, a));
                }
                queue.extend(new.filter(|_| !full));
            }
            oldest
        };
        oldest.map(|oldest| (oldest, data, nothing))
    }

    fn reset(&mut self) {
        *self = Axi::empty(self.shape, self.depth);
    }

    /// Whether a beat of a write is picked, and one of a read.
    fn picked(&self, grant: u8) -> [bool; 2] {
        let waiting = self.request.map_or(0, |request| request.waiting);
        let free = waiting & !grant == 0 && self.order.len() < self.depth;
        let of = |write| self.order.iter().filter(move |o| o.writes == write);
        let reads = of(false).count() + self.read_answers.len();
        let writes = of(true).filter(|o| o.last).count() + self.write_answers.len();
        let can_read = self.read.current.is_some() && reads < self.depth;
        let has_data = self.data.output().is_some();
        let can_write = self.write.current.is_some() && has_data && writes < self.depth;
        match (free, can_write, can_read) {
            (false, ..) => [false, false],
            (true, true, true) => [!self.wrote_last, self.wrote_last],
            (true, write, read) => [write, read],
        }
    }

    fn pick_write(&mut self) {
        let (Some((of, beat)), Some(data)) = (self.write.current, self.data.output()) else {
            return;
        };
        let (add, refused) = self.shape.access(&of, beat.into());
        let last = beat == of.len;
        let misplaced = if data.last == last { 0 } else { resp::SLVERR };
        self.request = Some(LaneRequests {
            waiting: self.shape.all(),
            add,
            reads: false,
            data: data.data,
            be: if refused == resp::OKAY {
                data.strobe
            } else {
                0
            },
        });
        self.order.push_back(InFlight {
            writes: true,
            last,
            id: of.id,
            code: refused | misplaced,
        });
        self.wrote_last = true;
    }

    fn pick_read(&mut self) {
        let Some((of, beat)) = self.read.current else {
            return;
        };
        let (add, refused) = self.shape.access(&of, beat.into());
        let reads = refused == resp::OKAY;
        let all = u64::MAX >> (64 - self.shape.bytes());
        self.request = Some(LaneRequests {
            waiting: self.shape.all(),
            add,
            reads,
            data: AxiWords::default(),
            be: if reads { all } else { 0 },
        });
        self.order.push_back(InFlight {
            writes: false,
            last: beat == of.len,
            id: of.id,
            code: refused,
        });
        self.wrote_last = false;
    }

    fn take_answer(&mut self, of: InFlight, data: AxiWords, nothing: bool) {
        let resp = of.code | if nothing { resp::SLVERR } else { 0 };
        if of.writes {
            let all = self.failed | resp;
            self.failed = if of.last { resp::OKAY } else { all };
            if of.last {
                let id = of.id;
                self.write_answers.push_back(AxiWritten { id, resp: all });
            }
            return;
        }
        self.read_answers.push_back(AxiRead {
            id: of.id,
            data: if resp == resp::OKAY {
                data
            } else {
                AxiWords::default()
            },
            resp,
            last: of.last,
        });
    }
}
