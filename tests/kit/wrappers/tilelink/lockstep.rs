//! `spad_tilelink_lane` in lockstep with its golden model, for widths and depths that
//! the wrapper's own test does not have, and with faults.

use super::slots;
use crate::common::tools::missing;
use crate::wrappers::rtl::{Dice, Rtl, text, wrapped_tcdm};
use spadkit::config::Config;
use spadkit::model::{TileLinkInputs, TileLinkLane, TileLinkMessage, TileLinkOutputs};
use spadkit::mutate::Mutants;
use spadkit::rtl::SourceFile;
use spadkit::tool::{Cache, Toolbox};
use spadkit::units::Layout;
use std::collections::VecDeque;
use std::path::Path;

/// The parameters of a device, and the widths of its machine.
#[derive(Clone, Copy, Debug)]
struct Shape {
    word_bits: usize,
    source_bits: usize,
    depth: usize,
}

const ADDR_BITS: usize = 9;

/// Depths that are a power of two and others, sources of one bit and of many.
const SHAPES: [Shape; 6] = [
    of(32, 8, 4),
    of(64, 45, 4),
    of(32, 3, 1),
    of(64, 1, 2),
    of(32, 4, 3),
    of(64, 9, 13),
];

const fn of(word_bits: usize, source_bits: usize, depth: usize) -> Shape {
    Shape {
        word_bits,
        source_bits,
        depth,
    }
}

impl Shape {
    fn inputs(self) -> Vec<(&'static str, usize)> {
        vec![
            ("rst", 1),
            ("a_valid", 1),
            ("a_opcode", 3),
            ("a_size", 2),
            ("a_source", self.source_bits),
            ("a_address", 32),
            ("a_mask", self.word_bits / 8),
            ("a_data", self.word_bits),
            ("a_corrupt", 1),
            ("d_ready", 1),
            ("tcdm_gnt", 1),
            ("tcdm_r_valid", 1),
            ("tcdm_r_rdata", self.word_bits),
            ("tcdm_r_opc", 1),
        ]
    }

    fn outputs(self) -> Vec<(&'static str, usize)> {
        vec![
            ("a_ready", 1),
            ("d_valid", 1),
            ("d_opcode", 3),
            ("d_size", 2),
            ("d_source", self.source_bits),
            ("d_denied", 1),
            ("d_data", self.word_bits),
            ("d_corrupt", 1),
            ("tcdm_req", 1),
            ("tcdm_add", ADDR_BITS),
            ("tcdm_wen", 1),
            ("tcdm_wdata", self.word_bits),
            ("tcdm_be", self.word_bits / 8),
            ("idle", 1),
        ]
    }

    fn layout(self, select_bits: usize) -> Layout {
        let mut inputs = self.inputs();
        if select_bits > 0 {
            inputs.push(("spad_mutant", select_bits));
        }
        let (inputs, input_words) = slots(&inputs);
        let (outputs, output_words) = slots(&self.outputs());
        Layout {
            inputs,
            outputs,
            input_words,
            output_words,
            clocked: true,
        }
    }

    /// A module `device` that is the lane with these parameters, and the lane.
    fn files(self) -> [SourceFile; 2] {
        let wider = format!("lanes = 4\nword_bits = {}\n", self.word_bits);
        let machine = text(2, 0).replace("lanes = 4\n", &wider);
        let config = Config::from_toml(&machine, Path::new("test.toml")).unwrap();
        let files = wrapped_tcdm(&config).into_iter();
        let mut lane = files.filter(|f| f.name == "spad_tilelink_lane.sv");
        let port = |dir: &str, (name, width): &(&str, usize)| {
            format!("{dir} logic [{}:0] {name}", width - 1)
        };
        let inputs = self.inputs();
        let ports = inputs.iter().map(|p| port("input", p));
        let outputs = self.outputs();
        let ports = ports.chain(outputs.iter().map(|p| port("output", p)));
        let ports: Vec<String> = ports.collect();
        let (source_bits, depth) = (self.source_bits, self.depth);
        let around = format!(
            "module device(input logic clk, {});\n\
             spad_tilelink_lane #(.SOURCE_BITS({source_bits}), .DEPTH({depth})) lane(.*);\n\
             endmodule\n",
            ports.join(", ")
        );
        let around = SourceFile::plain("device.sv".into(), around);
        [around, lane.next().unwrap()]
    }
}

/// An agent and a memory that keep the rules, and nothing more.
struct Neighbours {
    shape: Shape,
    dice: Dice,
    /// Of messages that are inside.
    sources: VecDeque<u64>,
    /// Granted requests that the memory has not answered.
    granted: usize,
    busy: u64,
    takes: u64,
    grants: u64,
}

impl Neighbours {
    fn new(shape: Shape, seed: u64) -> Self {
        Neighbours {
            shape,
            dice: Dice::new(seed),
            sources: VecDeque::new(),
            granted: 0,
            busy: 8,
            takes: 8,
            grants: 8,
        }
    }

    /// A source that no message inside has, if one is found.
    fn source(&mut self) -> Option<u64> {
        let source = self.dice.bits(self.shape.source_bits as u32);
        Some(source).filter(|source| !self.sources.contains(source))
    }

    fn message(&mut self) -> Option<TileLinkMessage> {
        let source = self.source()?;
        let word_bytes = self.shape.word_bits as u32 / 8;
        let dice = &mut self.dice;
        let opcode = [4, 0, 1, 1, dice.bits(3) as u8][dice.below(5) as usize];
        let size = dice.bits(2) as u8;
        let mut address = dice.bits(32) as u32;
        if dice.below(4) > 0 {
            address = address >> size << size;
        }
        let offset = address % word_bytes;
        let active = u64::MAX >> (64 - (1 << size)) << offset;
        let mask = match dice.below(8) {
            0 => dice.bits(word_bytes),
            1 => active ^ 1 << dice.below(8),
            _ if opcode == 1 => active & dice.bits(word_bytes),
            _ => active,
        };
        Some(TileLinkMessage {
            opcode,
            size,
            source,
            address,
            mask: (mask & (u64::MAX >> (64 - word_bytes))) as u8,
            data: dice.bits(self.shape.word_bits as u32),
            corrupt: dice.below(8) == 0,
        })
    }

    fn inputs(&mut self, cycle: u64) -> TileLinkInputs {
        if cycle.is_multiple_of(64) {
            self.busy = [0, 1, 4, 8, 8][self.dice.below(5) as usize];
            self.takes = [0, 1, 4, 8, 8][self.dice.below(5) as usize];
            self.grants = [1, 4, 8, 8][self.dice.below(4) as usize];
        }
        let offers = self.dice.chance(self.busy);
        let answers = self.granted > 0 && self.dice.below(4) > 0;
        TileLinkInputs {
            rst: self.dice.below(512) == 0,
            message: if offers { self.message() } else { None },
            d_ready: self.dice.chance(self.takes),
            grant: self.dice.chance(self.grants),
            memory: answers.then(|| {
                let word = self.dice.bits(self.shape.word_bits as u32);
                (word, self.dice.below(4) == 0)
            }),
        }
    }

    /// What has happened in the cycle.
    fn follow(&mut self, inputs: &TileLinkInputs, outputs: &TileLinkOutputs) {
        if inputs.rst {
            self.sources.clear();
            self.granted = 0;
            return;
        }
        self.granted += usize::from(inputs.grant && outputs.request.is_some());
        self.granted -= usize::from(inputs.memory.is_some());
        if outputs.answer.is_some() && inputs.d_ready {
            self.sources.pop_front();
        }
        let taken = inputs.message.filter(|_| outputs.a_ready);
        self.sources.extend(taken.map(|message| message.source));
    }
}

/// Drives the inputs; what goes with a valid of 0 is anything.
fn drive(rtl: &mut Rtl, inputs: &TileLinkInputs, dice: &mut Dice) {
    let message = inputs.message.unwrap_or_else(|| TileLinkMessage {
        opcode: dice.bits(3) as u8,
        address: dice.bits(32) as u32,
        mask: dice.bits(4) as u8,
        ..TileLinkMessage::default()
    });
    let (word, fails) = inputs.memory.unwrap_or((dice.bits(32), dice.chance(4)));
    let values = [
        ("rst", u64::from(inputs.rst)),
        ("a_valid", u64::from(inputs.message.is_some())),
        ("a_opcode", message.opcode.into()),
        ("a_size", message.size.into()),
        ("a_source", message.source),
        ("a_address", message.address.into()),
        ("a_mask", message.mask.into()),
        ("a_data", message.data),
        ("a_corrupt", message.corrupt.into()),
        ("d_ready", inputs.d_ready.into()),
        ("tcdm_gnt", inputs.grant.into()),
        ("tcdm_r_valid", inputs.memory.is_some().into()),
        ("tcdm_r_rdata", word),
        ("tcdm_r_opc", fails.into()),
    ];
    for (name, value) in values {
        rtl.set(name, value);
    }
}

/// The outputs that the model does not leave open, by name.
fn expected(outputs: &TileLinkOutputs) -> Vec<(&'static str, u64)> {
    let mut values = vec![
        ("a_ready", u64::from(outputs.a_ready)),
        ("d_valid", outputs.answer.is_some().into()),
        ("tcdm_req", outputs.request.is_some().into()),
        ("idle", outputs.idle.into()),
    ];
    if let Some(answer) = outputs.answer {
        values.extend([
            ("d_opcode", u64::from(answer.opcode)),
            ("d_size", answer.size.into()),
            ("d_source", answer.source),
            ("d_denied", answer.denied.into()),
            ("d_data", answer.data),
            ("d_corrupt", answer.corrupt.into()),
        ]);
    }
    if let Some(request) = outputs.request {
        values.extend([
            ("tcdm_add", u64::from(request.add)),
            ("tcdm_wen", request.reads.into()),
            ("tcdm_wdata", request.data),
            ("tcdm_be", request.be.into()),
        ]);
    }
    values
}

/// The first difference between the device and its model, and what was seen: answers
/// given, answers denied, and cycles in which it was full.
fn lockstep(rtl: &mut Rtl, shape: Shape, cycles: u64) -> Result<[u64; 3], String> {
    let word_bytes = shape.word_bits as u32 / 8;
    let mut model = TileLinkLane::new(ADDR_BITS as u32, word_bytes, shape.depth);
    let mut neighbours = Neighbours::new(shape, 3);
    let mut rest = Dice::new(4);
    let mut seen = [0; 3];
    for cycle in 0..cycles {
        let mut inputs = neighbours.inputs(cycle);
        inputs.rst |= cycle == 0; // what ran before does not matter
        drive(rtl, &inputs, &mut rest);
        rtl.clocked().map_err(|error| error.to_string())?;
        let outputs = model.step(&inputs);
        neighbours.follow(&inputs, &outputs);
        if cycle == 0 {
            continue;
        }
        for (name, value) in expected(&outputs) {
            let got = rtl.get(name);
            if got != value {
                return Err(format!(
                    "cycle {cycle}, {name}: {got:x}, and {value:x} in the model"
                ));
            }
        }
        let answer = outputs.answer.filter(|_| inputs.d_ready);
        seen[0] += u64::from(answer.is_some());
        seen[1] += u64::from(answer.is_some_and(|answer| answer.denied));
        seen[2] += u64::from(neighbours.sources.len() == shape.depth);
    }
    Ok(seen)
}

#[test]
fn a_tilelink_lane_is_its_model_in_every_cycle() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for shape in SHAPES {
        let mut rtl = Rtl::of("device", &shape.files(), shape.layout(0));
        let seen = lockstep(&mut rtl, shape, 20_000);
        let [answers, denied, full] = seen.unwrap_or_else(|said| panic!("{shape:?}: {said}"));
        assert!(answers > 1500, "{shape:?}: {answers} answers");
        assert!(denied > 200 && denied < answers, "{shape:?}: {denied}");
        // Two sources for two messages, or many messages: seldom full.
        assert!(full > 50, "{shape:?}: full in {full} cycles");
    }
}

/// Faults of Yosys all over the device: each one shows, except those that
/// change nothing.
#[test]
fn the_lockstep_of_a_tilelink_lane_notices_faults() {
    if missing(&["verilator", "c++", "yosys"]) {
        return;
    }
    let shape = SHAPES[0];
    let (tools, cache) = (Toolbox::new(), Cache::user().unwrap());
    let mutants = Mutants::inject("device", &shape.files(), 100, &tools, &cache).unwrap();
    let layout = shape.layout(mutants.select_bits());
    let mut rtl = Rtl::of("device", &[mutants.verilog()], layout);
    let mut survivors = Vec::new();
    for mutant in mutants.list() {
        rtl.set("spad_mutant", mutant.number.into());
        if lockstep(&mut rtl, shape, 20_000).is_ok()
            && !mutants.is_equivalent(mutant, &tools).unwrap()
        {
            survivors.push(mutant);
        }
    }
    rtl.set("spad_mutant", 0);
    lockstep(&mut rtl, shape, 20_000).unwrap();
    assert!(survivors.is_empty(), "{survivors:#?}");
}
