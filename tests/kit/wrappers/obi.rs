//! The wrappers of `spad_tcdm` with masters that were written from the other
//! specifications: the Open Bus Interface 1.6 without `rready`, and PULP's TCDM
//! with either meaning of `wen`. Each master keeps its side of the rules, a
//! monitor looks at the other side, and a memory says what a read has to return.

use super::missing;
use super::rtl::{Dice, LANES, Memory, Rtl, inside, machine, wrapped_tcdm};
use spadkit::rtl::SourceFile;
use spadkit::units::{Layout, PortSlot};
use std::collections::VecDeque;

/// Bits of `aid` and `rid`, of `id` and `r_id`.
const ID: usize = 5;

/// How a lane is spoken to. `TcdmWrites` is the TCDM whose `wen` is 1 for a write.
#[derive(Clone, Copy, PartialEq)]
enum Bus {
    Obi,
    Tcdm,
    TcdmWrites,
}

/// A transfer in the address phase.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Transfer {
    write: bool,
    word: u64,
    data: u64,
    be: u64,
    id: u64,
    /// Address bits that the memory does not look at.
    rest: u64,
}

/// What a lane sees in a cycle.
struct Seen {
    gnt: bool,
    valid: bool,
    data: u64,
    error: bool,
    id: u64,
}

impl Bus {
    /// The fields of a request with their widths, the first in the high bits.
    fn request(self, asked: Option<&Transfer>) -> Vec<(usize, u64)> {
        let valid = u64::from(asked.is_some());
        let t = asked.copied().unwrap_or(Transfer {
            write: false,
            word: 0,
            data: 0,
            be: 0,
            id: 0,
            rest: 0,
        });
        let write = u64::from(t.write);
        match self {
            // req, addr, we, be, wdata, aid: a byte address.
            Bus::Obi => {
                let addr = t.rest << 11 & 0xffff_ffff | t.word << 2 | t.rest >> 30;
                vec![
                    (1, valid),
                    (32, addr),
                    (1, write),
                    (4, t.be),
                    (32, t.data),
                    (ID, t.id),
                ]
            }
            // req, add, wen, wdata, be, id: a word address.
            Bus::Tcdm | Bus::TcdmWrites => {
                let wen = if self == Bus::Tcdm { 1 - write } else { write };
                vec![
                    (1, valid),
                    (9, t.word),
                    (1, wen),
                    (32, t.data),
                    (4, t.be),
                    (ID, t.id),
                ]
            }
        }
    }

    fn request_bits(self) -> usize {
        self.request(None).iter().map(|(width, _)| width).sum()
    }

    /// gnt, rvalid, rdata, err, rid in both.
    fn seen(bits: u128) -> Seen {
        let at = |from: usize, width: u32| (bits >> from) as u64 & ((1u64 << width) - 1);
        Seen {
            id: at(0, ID as u32),
            error: at(ID, 1) == 1,
            data: at(ID + 1, 32),
            valid: at(ID + 33, 1) == 1,
            gnt: at(ID + 34, 1) == 1,
        }
    }
}

const ANSWER_BITS: usize = ID + 35;

/// The wrapper under Verilator.
fn wrapped(bus: Bus, request_register: bool) -> Rtl {
    let mut config = machine(2, 0);
    config.path.tcdm.id_bits = ID as u32;
    config.path.tcdm.request_register = request_register;
    let mut files = wrapped_tcdm(&config);
    let top = match bus {
        Bus::Obi => "spad_obi_sv",
        Bus::Tcdm => "spad_tcdm_sv",
        Bus::TcdmWrites => {
            let text = "module around import spad_pkg::*; (input logic clk, rst,\n    \
                        input tcdm_req_t [LANES-1:0] req, output tcdm_rsp_t [LANES-1:0] rsp,\n    \
                        output logic idle);\n    \
                        spad_tcdm_sv #(.WEN_IS_WRITE(1'b1)) it (.*);\nendmodule\n";
            files.push(SourceFile::plain("around.sv".into(), text.into()));
            "around"
        }
    };
    let slot = |name: &str, width: usize, offset| PortSlot {
        name: name.into(),
        width,
        offset,
        words: width.div_ceil(32),
    };
    let (request, answer) = (LANES * bus.request_bits(), LANES * ANSWER_BITS);
    let layout = Layout {
        inputs: vec![slot("rst", 1, 0), slot("req", request, 1)],
        outputs: vec![slot("rsp", answer, 0), slot("idle", 1, answer.div_ceil(32))],
        input_words: 1 + request.div_ceil(32),
        output_words: answer.div_ceil(32) + 1,
        clocked: true,
    };
    Rtl::of(top, &files, layout)
}

fn drive(rtl: &mut Rtl, bus: Bus, asked: &[Option<Transfer>; LANES]) {
    // Bit by bit: a lane is wider than a number.
    let mut bits = Vec::new();
    for transfer in asked {
        let fields = bus.request(transfer.as_ref());
        for (width, value) in fields.into_iter().rev() {
            bits.extend((0..width).map(|i| value >> i & 1));
        }
    }
    rtl.set_lanes("req", 1, &bits);
}

fn look(rtl: &Rtl) -> Vec<Seen> {
    let bits = rtl.get_lanes("rsp", 1);
    let lane = |bits: &[u64]| {
        let bits = bits.iter().rev();
        Bus::seen(bits.fold(0, |all, bit| all << 1 | u128::from(*bit)))
    };
    bits.chunks(ANSWER_BITS).map(lane).collect()
}

/// A lane's master: what it asks, and what it waits for, with the cycle of each
/// grant and what the answer has to be, once that is known.
#[derive(Default)]
struct Master {
    asked: Option<Transfer>,
    waits: VecDeque<(Transfer, u64)>,
    answers: u64,
}

/// The transfers of one cycle that a memory serves: reads see the words from
/// before; of two writes to a byte the lowest lane's stays.
fn serve(served: &[(usize, Transfer)], memory: &mut Memory) {
    let (mut mask, mut addr, mut data, mut be) = (0, [0; LANES], [0; LANES], [0; LANES]);
    for (lane, t) in served.iter().filter(|(_, t)| t.write && inside(t.word)) {
        mask |= 1 << lane;
        (addr[*lane], data[*lane], be[*lane]) = (t.word, t.data, t.be);
    }
    memory.store(mask, &addr, &data, &be);
}

/// Random transfers of every lane on its own.
fn traffic(bus: Bus, request_register: bool, cycles: u64) {
    let mut rtl = wrapped(bus, request_register);
    let mut dice = Dice::new(7);
    let mut memory = Memory::default();
    let mut masters: [Master; LANES] = Default::default();
    let (mut busy, mut errors) = (8, 0);
    for cycle in 0..cycles {
        if cycle % 64 == 0 {
            busy = [0, 1, 4, 8, 8][dice.below(5) as usize];
        }
        let words = dice.addresses();
        for (master, word) in masters.iter_mut().zip(words) {
            let begins = dice.chance(busy) && cycle + 64 < cycles;
            if master.asked.is_none() && begins {
                master.asked = Some(Transfer {
                    write: dice.chance(4),
                    word,
                    data: dice.bits(32),
                    be: dice.bits(4),
                    id: dice.bits(ID as u32),
                    rest: dice.bits(32),
                });
            }
        }
        drive(
            &mut rtl,
            bus,
            &std::array::from_fn(|lane| masters[lane].asked),
        );
        rtl.clock();
        let quiet = masters.iter().all(|m| m.waits.is_empty());
        assert_eq!(rtl.get("idle") == 1, quiet, "cycle {cycle}");
        // The order of the answers is that of the accesses.
        let mut served = Vec::new();
        for (lane, (master, seen)) in masters.iter_mut().zip(look(&rtl)).enumerate() {
            if seen.valid {
                let (t, granted) = master.waits.pop_front().expect("an answer to nobody");
                assert!(granted < cycle, "lane {lane} in cycle {cycle}");
                let fails = !inside(t.word);
                let reads = !t.write && !fails;
                let word = if reads { memory.word(t.word) } else { 0 };
                let expected = (word, fails, t.id);
                assert_eq!(
                    (seen.data, seen.error, seen.id),
                    expected,
                    "{lane}, {cycle}"
                );
                served.push((lane, t));
                master.answers += 1;
                errors += u64::from(fails);
            }
            if let Some(t) = master.asked.filter(|_| seen.gnt) {
                master.waits.push_back((t, cycle));
                master.asked = None;
            }
        }
        serve(&served, &mut memory);
    }
    for master in &masters {
        assert!(master.asked.is_none() && master.waits.is_empty());
        assert!(master.answers > cycles / 8, "{} answers", master.answers);
    }
    assert!(errors > 0);
}

#[test]
fn obi_masters_are_answered_once_in_order_with_their_words() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for request_register in [false, true] {
        traffic(Bus::Obi, request_register, 20_000);
    }
}

#[test]
fn a_tcdm_takes_either_meaning_of_wen() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for bus in [Bus::Tcdm, Bus::TcdmWrites] {
        traffic(bus, false, 5_000);
    }
}
