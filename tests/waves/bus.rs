//! The scratchpad behind a valid/ready port.

use crate::wave::{Value, Wave};
use spadkit::config::Config;
use spadkit::model::spad_scratchpad::op;
use spadkit::model::{Stream, StreamInputs, StreamRequest};

const NAMES: [&str; 3] = ["A", "B", "C"];

/// A load of lanes that are `stride` words apart.
fn load(tag: usize, stride: usize) -> StreamRequest {
    StreamRequest {
        op: op::LOAD,
        mask: 0xff,
        addr: std::array::from_fn(|lane| (lane * stride % 512) as u16),
        data: [0; 64],
        be: [0; 64],
        tag: tag as u64,
    }
}

pub fn stream() -> Wave {
    let mut wave = Wave::new(
        "spad_stream, 8 lanes and banks, MS = 4: loads A, B (stride 2, degree 2), C; the answer waits in cycle 9",
    );
    let mut unit = Stream::new(&Config::preset("small").unwrap());
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
            rst: false,
            hash_wr: None,
            row_wr: None,
            lock_hash: 0,
            request,
            rsp_ready,
        });
        next += usize::from(ready && offered);
    }
    wave
}
