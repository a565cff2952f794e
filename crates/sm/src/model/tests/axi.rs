//! `spad_axi` in front of `spad_tcdm` (microarchitecture/axi.md).

use crate::config::Config;
use crate::model::spad_axi::{burst, resp};
use crate::model::{
    Axi, AxiBurst, AxiData, AxiInputs, AxiRead, AxiWords, AxiWritten, LaneRequests, Tcdm,
    TcdmInputs, TcdmRequests,
};
use std::collections::VecDeque;
use std::path::Path;

/// The port instead of lane 0, the other lanes without requests; 768 of 1024 words.
struct System {
    lanes: usize,
    port: Axi,
    memory: Tcdm,
    cycle: u32,
    aw: VecDeque<AxiBurst>,
    w: VecDeque<AxiData>,
    ar: VecDeque<AxiBurst>,
    b_ready: bool,
    r_ready: bool,
    /// With the cycles in which they came.
    requests: Vec<(u32, LaneRequests)>,
    written: Vec<(u32, AxiWritten)>,
    read: Vec<(u32, AxiRead)>,
}

fn system() -> System {
    system_of(1)
}

/// The port instead of this many lanes.
fn system_of(lanes: usize) -> System {
    let text = format!(
        "base = 'small'\n[geometry]\ncapacity_words = 768\n[hash]\npath = 'mod'\n\
         [axi]\naddr_bits = 16\nlanes = {lanes}\n"
    );
    let config = Config::from_toml(&text, Path::new("t.toml")).unwrap();
    System {
        lanes,
        port: Axi::new(&config),
        memory: Tcdm::new(&config),
        cycle: 0,
        aw: VecDeque::new(),
        w: VecDeque::new(),
        ar: VecDeque::new(),
        b_ready: true,
        r_ready: true,
        requests: Vec::new(),
        written: Vec::new(),
        read: Vec::new(),
    }
}

impl System {
    fn cycle(&mut self) {
        let out = self.port.eval();
        let answers = self.memory.answers();
        let of_lane = |lane: usize| {
            let answered = answers.valid >> lane & 1 == 1;
            answered.then(|| (answers.data[lane], answers.failed >> lane & 1 == 1))
        };
        let answers = std::array::from_fn(of_lane);
        let mut requests = TcdmRequests::NONE;
        if let Some(request) = out.request {
            requests.req = request.waiting.into();
            requests.wen = if request.reads { 0xff } else { 0 };
            let bytes = 4 * self.lanes;
            for lane in 0..self.lanes {
                requests.addr[lane] = (request.add as usize + lane) as u16;
                requests.data[lane] = request.data[lane];
                requests.be[lane] = (request.be >> (4 * lane)) as u8 & 0xf;
            }
            assert!(bytes == 64 || request.be >> bytes == 0);
        }
        let (granted, _) = self.memory.step(&TcdmInputs {
            rst: false,
            hash_wr: None,
            row_wr: None,
            requests,
        });
        self.port.commit(&AxiInputs {
            rst: false,
            aw: self.aw.front().copied(),
            w: self.w.front().copied(),
            ar: self.ar.front().copied(),
            b_ready: self.b_ready,
            r_ready: self.r_ready,
            grant: granted as u8,
            answers,
        });
        if out.aw_ready {
            self.aw.pop_front();
        }
        if out.w_ready {
            self.w.pop_front();
        }
        if out.ar_ready {
            self.ar.pop_front();
        }
        let now = self.cycle;
        let new = out.request.filter(|of| of.waiting & !(granted as u8) == 0);
        let new = new.map(|request| (now, request));
        self.requests.extend(new);
        self.written
            .extend(out.b.filter(|_| self.b_ready).map(|b| (now, b)));
        self.read
            .extend(out.r.filter(|_| self.r_ready).map(|r| (now, r)));
        self.cycle += 1;
    }

    fn cycles(&mut self, count: u32) {
        (0..count).for_each(|_| self.cycle());
    }

    /// Offers a write burst whose beats are these.
    fn write(&mut self, of: AxiBurst, beats: &[(u64, u8)]) {
        self.aw.push_back(of);
        for (i, &(data, strobe)) in beats.iter().enumerate() {
            let last = i + 1 == beats.len();
            let mut words = AxiWords::default();
            words[0] = data;
            self.w.push_back(AxiData {
                data: words,
                strobe: strobe.into(),
                last,
            });
        }
    }

    /// The answer of one write.
    fn written(&mut self, of: AxiBurst, beats: &[(u64, u8)]) -> u8 {
        self.write(of, beats);
        self.cycles(beats.len() as u32 + 10);
        let (_, answer) = self.written.pop().unwrap();
        assert_eq!((answer.id, self.written.len()), (of.id, 0));
        answer.resp
    }

    /// The word at a byte address.
    fn word(&mut self, addr: u64) -> (u64, u8) {
        self.ar.push_back(incr(addr, 1));
        self.cycles(8);
        let (_, read) = self.read.pop().unwrap();
        assert!(read.last && self.read.is_empty());
        (read.data[0], read.resp)
    }

    /// The words that the beats of a read access.
    fn words(&mut self, of: AxiBurst) -> Vec<u32> {
        self.requests.clear();
        self.ar.push_back(of);
        self.cycles(u32::from(of.len) + 10);
        assert_eq!(self.read.len(), usize::from(of.len) + 1);
        self.read.clear();
        let requests = self.requests.drain(..);
        requests.map(|(_, request)| request.add).collect()
    }
}

/// Beats of a word each from `addr` on.
fn incr(addr: u64, beats: u8) -> AxiBurst {
    AxiBurst {
        id: 5,
        addr,
        len: beats - 1,
        size: 2,
        kind: burst::INCR,
    }
}

#[test]
fn a_read_answers_five_cycles_later_and_beats_follow_each_other() {
    let mut system = system();
    system.ar.push_back(incr(0, 16));
    system.ar.push_back(incr(64, 1));
    system.ar.push_back(incr(128, 1));
    system.cycles(30);
    let requests: Vec<u32> = system.requests.iter().map(|(cycle, _)| *cycle).collect();
    assert_eq!(requests, (3..21).collect::<Vec<u32>>());
    let read: Vec<u32> = system.read.iter().map(|(cycle, _)| *cycle).collect();
    assert_eq!(read, (5..23).collect::<Vec<u32>>());
    let last = system.read.iter().map(|(_, read)| read.last);
    assert_eq!(last.filter(|last| *last).count(), 3);
    assert!(system.port.eval().idle);
}

/// The addresses of AXI's own formulas, in words.
#[test]
fn beats_are_where_axi_says() {
    let mut system = system();
    let kind = |kind, addr, beats: u8, size| AxiBurst {
        addr,
        len: beats - 1,
        size,
        kind,
        id: 0,
    };
    for (of, words) in [
        (kind(burst::INCR, 0x10, 3, 2), vec![4, 5, 6]),
        (kind(burst::INCR, 0x13, 3, 2), vec![4, 5, 6]),
        (kind(burst::INCR, 0x12, 5, 0), vec![4, 4, 5, 5, 5]),
        (kind(burst::INCR, 0x13, 4, 1), vec![4, 5, 5, 6]),
        (kind(burst::FIXED, 0x13, 3, 2), vec![4, 4, 4]),
        (kind(burst::WRAP, 0x18, 4, 2), vec![6, 7, 4, 5]),
        (kind(burst::WRAP, 0x1c, 2, 2), vec![7, 6]),
        (kind(burst::WRAP, 0x1e, 8, 1), vec![7, 4, 4, 5, 5, 6, 6, 7]),
        (kind(burst::WRAP, 0x21, 2, 0), vec![8, 8]),
    ] {
        assert_eq!(system.words(of), words, "{of:?}");
    }
}

#[test]
fn a_write_is_there_when_it_is_answered() {
    let mut system = system();
    let beats: Vec<(u64, u8)> = (0..4).map(|i| (0x1111_1111 * (i + 1), 0xf)).collect();
    assert_eq!(system.written(incr(0x100, 4), &beats), resp::OKAY);
    assert_eq!(system.word(0x108), (0x3333_3333, resp::OKAY));
    // Some bytes, at the end of a word and at the beginning of the next.
    let bytes = AxiBurst {
        size: 0,
        ..incr(0x103, 2)
    };
    let beats = [(0xaa00_0000, 0b1000), (0xbb, 0b0001)];
    assert_eq!(system.written(bytes, &beats), resp::OKAY);
    assert_eq!(system.word(0x100).0, 0xaa11_1111);
    assert_eq!(system.word(0x104).0, 0x2222_22bb);
}

#[test]
fn what_is_outside_is_refused_beat_by_beat() {
    let mut system = system();
    let all = |data| [(data, 0xf), (data, 0xf), (data, 0xf)];
    system.written(incr(0, 3), &all(7));
    // The last word of the capacity, then beyond it; behind the last address.
    let end = 768 * 4 - 4;
    assert_eq!(system.written(incr(end, 3), &all(9)), resp::SLVERR);
    assert_eq!(system.word(end), (9, resp::OKAY));
    assert_eq!(system.word(end + 4), (0, resp::SLVERR));
    assert_eq!(system.written(incr(0x1000, 3), &all(8)), resp::DECERR);
    assert_eq!(system.word(0x1004), (0, resp::DECERR));
    for wrong in [
        AxiBurst {
            kind: 3,
            ..incr(0, 3)
        },
        AxiBurst {
            size: 3,
            ..incr(0, 3)
        },
        AxiBurst {
            kind: burst::WRAP,
            ..incr(0, 3)
        },
    ] {
        assert_eq!(system.written(wrong, &all(6)), resp::SLVERR, "{wrong:?}");
    }
    assert_eq!(system.word(0), (7, resp::OKAY));
    // A burst that leaves its 4 KB continues at their beginning.
    assert_eq!(system.words(incr(0xff8, 3)), [0x3fe, 0x3ff, 0]);
}

#[test]
fn a_last_beat_in_the_wrong_place_is_an_error() {
    let mut system = system();
    let beats = [(1, 0xf), (2, 0xf)];
    system.write(incr(0, 2), &beats);
    system.w[0].last = true;
    system.cycles(12);
    assert_eq!(system.written.pop().unwrap().1.resp, resp::SLVERR);
    assert_eq!(system.word(4), (2, resp::OKAY), "the beats are counted");
    assert_eq!(system.written(incr(0, 2), &beats), resp::OKAY);
}

/// Neither side's answers hold the other side up.
#[test]
fn a_master_that_takes_no_answer_of_one_kind_gets_the_other() {
    let mut system = system();
    system.b_ready = false;
    for _ in 0..8 {
        system.write(incr(0, 1), &[(1, 0xf)]);
        system.ar.push_back(incr(0, 4));
    }
    system.cycles(80);
    assert_eq!(system.read.len(), 32);
    assert!(!system.aw.is_empty(), "four answers wait, and no more");
    system.b_ready = true;
    system.r_ready = false;
    system.ar.push_back(incr(0, 200));
    system.cycles(80);
    assert_eq!(system.written.len(), 8);
}

/// Four words a beat, in banks of their own: one beat per cycle.
#[test]
fn several_lanes_make_one_beat() {
    let mut system = system_of(4);
    let wide = |addr, len| AxiBurst {
        size: 4,
        len,
        ..incr(addr, 1)
    };
    for beat in 0..8 {
        let data = std::array::from_fn(|lane| if lane < 4 { 10 * beat + lane as u64 } else { 0 });
        let (strobe, last) = (0xffff, beat == 7);
        system.w.push_back(AxiData { data, strobe, last });
    }
    system.aw.push_back(wide(0x100, 7));
    system.cycles(20);
    assert_eq!(system.written.pop().unwrap().1.resp, resp::OKAY);
    let cycles: Vec<u32> = system.requests.iter().map(|(cycle, _)| *cycle).collect();
    assert_eq!(cycles, (3..11).collect::<Vec<u32>>());
    system.ar.push_back(wide(0x120, 1));
    // A narrow beat reads all words around its own.
    system.ar.push_back(incr(0x124, 1));
    system.cycles(20);
    let read: Vec<_> = system.read.iter().map(|(_, read)| read.data).collect();
    let words = |first| [first, first + 1, first + 2, first + 3, 0, 0, 0, 0];
    assert_eq!(read, [words(20), words(30), words(20)]);
    // The last words, then beyond the capacity.
    system.read.clear();
    system.ar.push_back(wide(768 * 4 - 16, 1));
    system.cycles(20);
    let resp: Vec<_> = system.read.iter().map(|(_, read)| read.resp).collect();
    assert_eq!(resp, [resp::OKAY, resp::SLVERR]);
}
