//! Queues before and parallel to the memory stages, and the exit.

use crate::waves::wave::{Value, Wave};
use spadkit::model::{
    NonmemInputs, NonmemQueue, PrememInputs, PrememQueue, Source, WritebackInputs, WritebackMux,
};

/// An entry by its name.
fn named(entry: Option<&'static str>) -> Value {
    entry.unwrap_or("").into()
}

/// Offers each of `entries` until it is taken.
struct Sender(&'static [&'static str]);

impl Sender {
    fn offer(&self) -> Option<&'static str> {
        self.0.first().copied()
    }

    fn taken(&mut self, taken: bool) {
        if taken {
            self.0 = &self.0[usize::from(!self.0.is_empty())..];
        }
    }
}

pub fn premem_queue() -> Wave {
    let mut wave =
        Wave::new("spad_premem_queue, depth 3: bypass, then MEM0 is busy for five cycles");
    let mut queue = PrememQueue::new(3);
    let mut sender = Sender(&["A", "B", "C", "D", "E", "F"]);
    for cycle in 1..=11 {
        let inputs = PrememInputs {
            rst: false,
            cfg_on: true,
            input: sender.offer(),
            out_ready: !(2..=6).contains(&cycle),
        };
        let out = queue.step(&inputs);
        sender.taken(out.in_ready);
        wave.cycle();
        wave.input("in_valid", inputs.input.is_some());
        wave.input("in_data", named(inputs.input));
        wave.output("in_ready", out.in_ready);
        wave.output("count", out.count as u64);
        wave.output("out_valid", out.output.is_some());
        wave.output("out_data", named(out.output));
        wave.input("out_ready", inputs.out_ready);
    }
    wave
}

pub fn nonmem_queue() -> Wave {
    let mut wave =
        Wave::new("spad_nonmem_queue, NQ = 4, elastic: entries pass while the exit is free");
    let mut queue = NonmemQueue::new(4);
    let mut sender = Sender(&["A", "B", "C", "D", "E"]);
    for cycle in 1..=11 {
        let inputs = NonmemInputs {
            rst: false,
            cfg_elastic: true,
            input: sender.offer().filter(|_| cycle != 4),
            out_ready: cycle == 1 || cycle > 6,
        };
        let out = queue.step(&inputs);
        sender.taken(out.in_ready && inputs.input.is_some());
        wave.cycle();
        wave.input("in_valid", inputs.input.is_some());
        wave.input("in_data", named(inputs.input));
        wave.output("in_ready", out.in_ready);
        for stage in 0..4 {
            wave.output(
                &format!("stage_valid[{stage}]"),
                out.stage_valid >> stage & 1 == 1,
            );
        }
        wave.output("out_valid", out.output.is_some());
        wave.output("out_data", named(out.output));
        wave.input("out_ready", inputs.out_ready);
    }
    wave
}

pub fn writeback_mux() -> Wave {
    let mut wave = Wave::new(
        "spad_writeback_mux, AHEAD = 0: off-chip, then MEM, then NONMEM; two results wait",
    );
    let mut mux = WritebackMux::new(0);
    let mut icn = Sender(&["i0"]);
    let mut mem = Sender(&["m0", "m1"]);
    let mut nm = Sender(&["n0", "n1"]);
    for cycle in 1..=10 {
        let inputs = WritebackInputs {
            rst: false,
            icn: icn.offer().filter(|_| cycle > 1),
            mem: mem.offer(),
            nm: nm.offer(),
            wb_ready: !(3..=4).contains(&cycle),
        };
        let out = mux.step(&inputs);
        icn.taken(out.icn_ready && inputs.icn.is_some());
        mem.taken(out.mem_ready);
        nm.taken(out.nm_ready);
        wave.cycle();
        wave.input("icn_data", named(inputs.icn));
        wave.output("icn_ready", out.icn_ready);
        wave.input("mem_data", named(inputs.mem));
        wave.output("mem_ready", out.mem_ready);
        wave.input("nm_data", named(inputs.nm));
        wave.output("nm_ready", out.nm_ready);
        wave.output("wb_valid", out.wb.is_some());
        let source = out.wb.map(|(source, _)| match source {
            Source::Icn => "icn",
            Source::Mem => "mem",
            Source::Nonmem => "nonmem",
        });
        wave.output("wb_src", named(source));
        wave.output("wb_data", named(out.wb.map(|(_, data)| data)));
        wave.input("wb_ready", inputs.wb_ready);
    }
    wave
}
