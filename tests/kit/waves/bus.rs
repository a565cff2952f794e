//! Beside the path: the scratchpad behind a bus, and the counters.

use crate::waves::wave::{Value, Wave};
use spadkit::config::Config;
use spadkit::model::spad_scratchpad::{ResponseControl, op};
use spadkit::model::{
    CounterInputs, Counters, Phases, Stream, StreamAnswer, StreamInputs, StreamRequest, Tcdm,
    TcdmInputs, TcdmRequests, WideRequest,
};
use spadkit_hdl::codes::counter;
use std::collections::VecDeque;
use std::path::Path;

const NAMES: [&str; 3] = ["A", "B", "C"];

/// A load of lanes that are `stride` words apart.
fn load(tag: usize, stride: usize) -> StreamRequest {
    StreamRequest {
        op: op::LOAD,
        atomic: None,
        mask: 0xff,
        addr: std::array::from_fn(|lane| (lane * stride % 512) as u16),
        data: [0; 64],
        be: [0; 64],
        tag: tag as u64,
    }
}

pub fn stream() -> Wave {
    let mut wave = Wave::new(
        "spad_stream, 8 lanes and banks, SMS = 4: loads A, B (stride 2, degree 2), C; the answer waits in cycle 9",
    );
    let mut machine = Config::preset("small").unwrap();
    machine.path.stream.mem_stages = 4;
    let mut unit = Stream::new(&machine);
    let strides = [1, 2, 1];
    let mut next = 0;
    for cycle in 1..=12 {
        let request = strides.get(next).map(|stride| load(next, *stride));
        let offered = request.is_some();
        let rsp_ready = cycle != 9;
        let answer = unit.answer().map(|answer| answer.control);
        let ready = unit.req_ready();
        wave.cycle();
        wave.input("req_valid", offered);
        wave.input("req_tag", if offered { NAMES[next] } else { "" });
        wave.output("req_ready", ready);
        wave.output("rsp_valid", answer.is_some());
        wave.output(
            "rsp_tag",
            answer.map_or("", |answer| NAMES[answer.tag as usize]),
        );
        let degree = answer.map(|answer| u64::from(answer.degree));
        wave.output("rsp_degree", degree.map_or("".into(), Value::from));
        wave.input("rsp_ready", rsp_ready);
        wave.output("idle", unit.idle());
        unit.commit(StreamInputs {
            rsp_ready,
            ..StreamInputs::offering(request)
        });
        next += usize::from(ready && offered);
    }
    wave
}

/// Lanes 0 to 3 read one word while lanes 4 to 7 write others; then all read
/// words of one bank.
pub fn tcdm() -> Wave {
    let mut wave = Wave::new("spad_tcdm, 8 lanes: accesses of five banks, then of one");
    let text = "base = 'small'\n[hash]\npath = 'mod'\n";
    let config = Config::from_toml(text, Path::new("wave.toml")).unwrap();
    let mut unit = Tcdm::new(&config);
    let apart = |lane: usize| if lane < 4 { 0 } else { lane as u16 };
    let together = |lane: usize| 8 * lane as u16;
    let mut left = 0;
    for cycle in 1..=11 {
        if [1, 3].contains(&cycle) {
            left = 0xff;
        }
        let requests = TcdmRequests {
            req: left,
            wen: if cycle < 3 { 0x0f } else { 0xff },
            addr: std::array::from_fn(|lane| match cycle {
                ..3 => apart(lane),
                _ => together(lane % 8),
            }),
            data: [9; 64],
            be: [0xf; 64],
            ..TcdmRequests::NONE
        };
        let granted = unit.grants(&requests);
        let answers = *unit.answers();
        let lanes = |mask: u64| -> Value {
            match mask {
                0 => "".into(),
                mask => format!("0x{mask:02x}").into(),
            }
        };
        wave.cycle();
        wave.input("tcdm_req", lanes(left));
        wave.output("tcdm_gnt", lanes(granted));
        wave.output("tcdm_r_valid", lanes(answers.valid));
        wave.output("idle", unit.idle());
        left &= !granted;
        unit.commit(&TcdmInputs {
            rst: false,
            hash_wr: None,
            row_wr: None,
            requests,
        });
    }
    wave
}

pub fn counters() -> Wave {
    let mut wave = Wave::new("spad_counters: two passes are issued; PASSES is read, then cleared");
    let mut unit = Counters::default();
    for cycle in 1..=9 {
        let inputs = CounterInputs {
            clear: cycle == 7,
            iss_valid: [2, 3].contains(&cycle),
            rd_index: counter::PASSES,
            ..CounterInputs::default()
        };
        let count = unit.step(&inputs);
        wave.cycle();
        wave.input("clear", inputs.clear);
        wave.input("iss_valid", inputs.iss_valid);
        wave.input("rd_index", "PASSES");
        wave.output("rd_count", u64::from(count));
    }
    wave
}

/// Loads of 16 bytes a lane, the second with equal pairs of lanes, then one of a word;
/// the memory answers a phase two cycles later.
pub fn phases() -> Wave {
    let mut wave = Wave::new(
        "spad_phases, 8 lanes, PHM = 1: load A of 16 bytes a lane, B with lanes in pairs, C of a word",
    );
    let text = "base = 'small'\n[geometry]\nwarp_size = 8\nwide = 'phases-merged'\n";
    let config = Config::from_toml(text, Path::new("wave.toml")).unwrap();
    let mut unit = Phases::new(&config);
    let mut memory: VecDeque<Option<StreamAnswer>> = [None, None].into();
    let mut next = 0;
    for _ in 1..=12 {
        let request = (next < 3).then(|| wide_load(next));
        let answer = memory.pop_front().flatten();
        let (phase, shown) = (unit.phase().cloned(), unit.answer(answer.as_ref()));
        let taken = request.is_some() && unit.req_ready(true);
        wave.cycle();
        wave.input("req_valid", request.is_some());
        let name = |tag: u64| NAMES[tag as usize];
        wave.input("req_tag", request.as_ref().map_or("", |r| name(r.tag)));
        wave.output("req_ready", unit.req_ready(true));
        wave.output("mem_valid", phase.is_some());
        wave.output("mem_tag", phase.as_ref().map_or("", |r| name(r.tag)));
        let first = phase.as_ref().map(|r| u64::from(r.addr[0]));
        wave.output("mem_addr, lane 0", first.map_or("".into(), Value::from));
        wave.input("ans_valid", answer.is_some());
        wave.output("rsp_valid", shown.is_some());
        wave.output(
            "rsp_tag",
            shown.as_ref().map_or("", |a| name(a.control.tag)),
        );
        let degree = shown.as_ref().map(|a| u64::from(a.control.degree));
        wave.output("rsp_degree", degree.map_or("".into(), Value::from));
        memory.push_back(phase.as_ref().map(answered));
        unit.commit(false, request.as_ref(), true, answer.as_ref(), true);
        next += usize::from(taken);
    }
    wave
}

/// Access A, B or C of that scene.
fn wide_load(number: usize) -> WideRequest {
    let place = |lane: usize| match number {
        0 => 4 * lane,
        1 => 4 * (lane / 2),
        _ => lane,
    };
    WideRequest {
        op: op::LOAD,
        atomic: None,
        size: [2, 2, 0][number],
        mask: 0xff,
        addr: std::array::from_fn(|lane| place(lane % 8) as u16),
        data: vec![[0; 4]; 8],
        be: [0; 64],
        tag: number as u64,
    }
}

/// The answer of a phase without conflicts.
fn answered(phase: &StreamRequest) -> StreamAnswer {
    StreamAnswer {
        control: ResponseControl {
            valid: true,
            op: phase.op,
            mask: phase.mask,
            tag: phase.tag,
            success: 0,
            error: false,
            degree: 1,
        },
        data: [0; 64],
    }
}
