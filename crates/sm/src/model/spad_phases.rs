//! `spad_phases`: wide accesses in phases (microarchitecture/phases.md).

use super::lanes::{LaneMask, MAX_LANES};
use super::spad_scratchpad::{ResponseControl, op};
use super::spad_stream::{StreamAnswer, StreamRequest};
use super::spad_window::WindowOperation;
use crate::config::Config;
use spadkit_mapping::trace::Wide;
use std::collections::VecDeque;

/// Words of a lane, at most.
pub const MAX_WORDS: usize = 4;

/// Byte enables of a whole word of 32 bits.
const ALL_BYTES: u8 = 0xf;

/// An access of 4, 8 or 16 bytes a lane.
#[derive(Clone, Debug)]
pub struct WideRequest {
    /// Operation ([`op`]); ignored if the access is atomic.
    pub op: u8,
    /// The atomic operation, of one word a lane, if it is one.
    pub atomic: Option<WindowOperation>,
    /// log2 of the words of a lane; 3 as 2.
    pub size: u8,
    /// Active lanes.
    pub mask: LaneMask,
    /// Word address of each lane's first word.
    pub addr: [u16; MAX_LANES],
    /// Store data, four words a lane.
    pub data: Vec<[u64; MAX_WORDS]>,
    /// Byte enables of each lane, of a store of one word.
    pub be: [u8; MAX_LANES],
    /// Comes back with the answer.
    pub tag: u64,
}

/// The answer to a wide request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WideAnswer {
    /// Everything but the data; the degree is the sum over the phases.
    pub control: ResponseControl<u64>,
    /// Words of the lanes.
    pub data: Vec<[u64; MAX_WORDS]>,
}

/// A word of an access: the lane that transfers it in its phase, and the lanes that asked for it.
#[derive(Clone, Debug)]
struct Word {
    slot: usize,
    /// The entry of the list.
    entry: usize,
    lanes: Vec<usize>,
    /// Number of the word among the words of those lanes.
    number: usize,
}

/// An access that waits for answers.
#[derive(Clone, Debug)]
struct Waiting {
    mask: LaneMask,
    one_word: bool,
    /// The words of each phase that is not answered.
    phases: VecDeque<Vec<Word>>,
    /// Some phase reported an error.
    failed: bool,
    degree: u32,
    data: Vec<[u64; MAX_WORDS]>,
}

/// The phases of a wide access that have not gone, and the accesses that wait for answers.
/// An access is answered when the answers of all its phases have come, in order.
#[derive(Clone, Debug)]
pub struct Phases {
    lanes: usize,
    wide: Wide,
    /// Accesses after the oldest, at most.
    depth: usize,
    /// Phases to go of the access that was taken last.
    left: VecDeque<StreamRequest>,
    /// The oldest access that is not answered, and those after it.
    oldest: Option<Waiting>,
    waiting: VecDeque<Waiting>,
}

impl Phases {
    /// The unit of `config` after reset.
    pub fn new(config: &Config) -> Self {
        Phases {
            lanes: config.lanes as usize,
            wide: config.wide,
            depth: config.parameters().PHQ,
            left: VecDeque::new(),
            oldest: None,
            waiting: VecDeque::new(),
        }
    }

    /// The phase that is offered; registered.
    pub fn phase(&self) -> Option<&StreamRequest> {
        self.left.front()
    }

    /// Whether an access is taken in this cycle.
    pub fn req_ready(&self, mem_ready: bool) -> bool {
        self.waiting.len() < self.depth && self.has_sent(mem_ready)
    }

    /// Whether no phase of the access that was taken last is left after this cycle.
    fn has_sent(&self, mem_ready: bool) -> bool {
        self.left.is_empty() || (self.left.len() == 1 && mem_ready)
    }

    /// Whether an access is not taken in this cycle because too many wait for the oldest.
    pub fn queue_stops(&self, mem_ready: bool) -> bool {
        self.waiting.len() == self.depth && self.has_sent(mem_ready)
    }

    /// Whether the answer of a phase is taken in this cycle.
    pub fn ans_ready(&self, rsp_ready: bool) -> bool {
        let oldest = self.oldest.as_ref();
        oldest.is_some_and(|access| access.phases.len() > 1 || rsp_ready)
    }

    /// The answer that is offered where `answer` is that of the oldest phase.
    pub fn answer(&self, answer: Option<&StreamAnswer>) -> Option<WideAnswer> {
        let answer = answer?;
        let oldest = self.oldest.as_ref();
        let mut access = oldest.filter(|access| access.phases.len() == 1)?.clone();
        access.add(answer);
        let success = if access.one_word {
            answer.control.success
        } else {
            0
        };
        Some(WideAnswer {
            control: ResponseControl {
                mask: access.mask,
                success,
                error: access.failed,
                degree: access.degree,
                ..answer.control
            },
            data: access.data,
        })
    }

    /// No access is inside; registered.
    pub fn idle(&self) -> bool {
        self.oldest.is_none() && self.waiting.is_empty()
    }

    /// The clock edge.
    pub fn commit(
        &mut self,
        rst: bool,
        request: Option<&WideRequest>,
        mem_ready: bool,
        answer: Option<&StreamAnswer>,
        rsp_ready: bool,
    ) {
        if rst {
            self.left.clear();
            self.oldest = None;
            self.waiting.clear();
            return;
        }
        let takes = self.req_ready(mem_ready);
        let answered = answer.filter(|_| self.ans_ready(rsp_ready));
        if mem_ready {
            self.left.pop_front();
        }
        if let (Some(answer), Some(access)) = (answered, &mut self.oldest) {
            access.add(answer);
            access.phases.pop_front();
        }
        if self
            .oldest
            .as_ref()
            .is_none_or(|access| access.phases.is_empty())
        {
            self.oldest = self.waiting.pop_front();
        }
        if let Some(request) = request.filter(|_| takes) {
            self.take(request);
        }
    }

    fn take(&mut self, request: &WideRequest) {
        let words = words_of(request);
        let phases = self.phases_of(request, words);
        let requests = phases.iter().map(|phase| phase_of(request, words, phase));
        self.left = requests.collect();
        self.waiting.push_back(Waiting {
            mask: request.mask,
            one_word: words == 1,
            phases: phases.into(),
            failed: false,
            degree: 0,
            data: vec![[0; MAX_WORDS]; self.lanes],
        });
    }

    /// The lanes that are served as one: each alone, or in pairs.
    fn groups(&self, request: &WideRequest, words: usize) -> Vec<Vec<usize>> {
        let active = |lane: usize| request.mask >> lane & 1 == 1;
        let agree = |distance: usize| {
            let differ = |lane: usize| {
                let other = lane ^ distance;
                active(lane) && active(other) && request.addr[lane] != request.addr[other]
            };
            !(0..self.lanes).any(differ)
        };
        let merges = self.wide == Wide::PhasesMerged && request.op == op::LOAD && words > 1;
        let distance = [1, 2].into_iter().find(|d| merges && agree(*d));
        let Some(distance) = distance else {
            return (0..self.lanes).map(|lane| vec![lane]).collect();
        };
        let lower = (0..self.lanes).filter(|lane| lane & distance == 0);
        lower.map(|lane| vec![lane, lane ^ distance]).collect()
    }

    /// The words of each phase with an active lane; of the first, where no lane is.
    fn phases_of(&self, request: &WideRequest, words: usize) -> Vec<Vec<Word>> {
        let groups = self.groups(request, words);
        let size = self.lanes / words;
        let phase = |entries: &[(usize, Vec<usize>)]| -> Vec<Word> {
            let words_of = |(entry, lanes): &(usize, Vec<usize>)| {
                let (entry, lanes) = (*entry, lanes.clone());
                (0..words).map(move |number| Word {
                    slot: entry % size * words + number,
                    entry,
                    lanes: lanes.clone(),
                    number,
                })
            };
            entries.iter().flat_map(words_of).collect()
        };
        let entries: Vec<(usize, Vec<usize>)> = groups.into_iter().enumerate().collect();
        let all: Vec<Vec<Word>> = entries.chunks(size).map(phase).collect();
        let is_active = |phase: &&Vec<Word>| phase.iter().any(|word| word.is_active(request.mask));
        let some: Vec<Vec<Word>> = all.iter().filter(is_active).cloned().collect();
        if some.is_empty() {
            all.into_iter().take(1).collect()
        } else {
            some
        }
    }
}

impl Word {
    /// A lane that it is of is active.
    fn is_active(&self, mask: LaneMask) -> bool {
        self.lanes.iter().any(|lane| mask >> lane & 1 == 1)
    }
}

impl Waiting {
    /// Adds what the next phase is answered with.
    fn add(&mut self, answer: &StreamAnswer) {
        self.failed |= answer.control.error;
        self.degree += answer.control.degree;
        for word in &self.phases[0] {
            let active = |lane: &&usize| self.mask >> **lane & 1 == 1;
            for &lane in word.lanes.iter().filter(active) {
                self.data[lane][word.number] = answer.data[word.slot];
            }
        }
    }
}

/// Words of a lane.
fn words_of(request: &WideRequest) -> usize {
    let wide = request.atomic.is_none() && [op::LOAD, op::STORE].contains(&request.op);
    match request.size {
        0 => 1,
        _ if !wide => 1,
        1 => 2,
        _ => 4,
    }
}

/// A phase as the memory sees it.
fn phase_of(request: &WideRequest, words: usize, phase: &[Word]) -> StreamRequest {
    let mut lanes = StreamRequest {
        op: request.op,
        atomic: request.atomic,
        mask: 0,
        addr: [0; MAX_LANES],
        data: [0; MAX_LANES],
        be: if words > 1 {
            [ALL_BYTES; MAX_LANES]
        } else {
            request.be
        },
        tag: request.tag,
    };
    for word in phase {
        let active = |lane: &&usize| request.mask >> **lane & 1 == 1;
        // A pair without an active lane has the address of its upper one.
        let lane = *word
            .lanes
            .iter()
            .find(active)
            .or(word.lanes.last())
            .unwrap_or(&0);
        let aligned = request.addr[lane] & !(words as u16 - 1);
        lanes.mask |= u64::from(word.is_active(request.mask)) << word.slot;
        lanes.addr[word.slot] = aligned | word.number as u16;
        lanes.data[word.slot] = request.data[word.entry][word.number];
    }
    lanes
}
