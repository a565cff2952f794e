//! `spad_tilelink_sv` with agents that were written from the TileLink
//! specification 1.8.1, chapters 4 and 7. They send messages of every kind, some of
//! which TL-UL does not have, withdraw some, and let answers wait. A monitor looks
//! at channel D, and a board says which bytes a read may return.

use super::missing;
use super::public::public_master;
use super::rtl::{Dice, LANES, Rtl, machine, wrapped_tcdm};
use super::rules::tripped;
use spadkit::config::Config;
use spadkit::units::{Layout, PortSlot};
use std::process::Command;

mod agent;
mod board;
mod lockstep;

use agent::{Agent, Answer, REQUEST, RESPONSE, SOURCE};
use board::Board;

/// Messages that a lane has inside at most.
const DEPTH: usize = 4;

fn options(registered: bool) -> Config {
    let mut config = machine(2, 0);
    let tcdm = &mut config.path.tcdm;
    (tcdm.request_register, tcdm.response_register) = (registered, registered);
    config
}

/// Ports of these widths, and the words that they take.
fn slots(ports: &[(&str, usize)]) -> (Vec<PortSlot>, usize) {
    let mut offset = 0;
    let mut slots = Vec::new();
    for (name, width) in ports {
        let words = width.div_ceil(32);
        slots.push(PortSlot {
            name: (*name).into(),
            width: *width,
            offset,
            words,
        });
        offset += words;
    }
    (slots, offset)
}

/// The wrapper under Verilator.
fn wrapped(config: &Config) -> Rtl {
    let (inputs, input_words) = slots(&[
        ("rst", 1),
        ("req", LANES * REQUEST),
        ("a_source", LANES * SOURCE),
    ]);
    let (outputs, output_words) = slots(&[
        ("rsp", LANES * RESPONSE),
        ("d_source", LANES * SOURCE),
        ("idle", 1),
    ]);
    let layout = Layout {
        inputs,
        outputs,
        input_words,
        output_words,
        clocked: true,
    };
    Rtl::of("spad_tilelink_sv", &wrapped_tcdm(config), layout)
}

/// Drives the agents' requests.
fn drive(rtl: &mut Rtl, agents: &[Agent; LANES]) {
    let bits: Vec<u64> = agents.iter().flat_map(Agent::request).collect();
    rtl.set_lanes("req", 1, &bits);
    let sources: Vec<u64> = agents.iter().map(Agent::source).collect();
    rtl.set_lanes("a_source", SOURCE, &sources);
}

/// What the lanes' devices say.
fn look(rtl: &Rtl) -> Vec<Answer> {
    let bits = rtl.get_lanes("rsp", 1);
    let sources = rtl.get_lanes("d_source", SOURCE);
    let lanes = bits.chunks(RESPONSE).zip(sources);
    lanes
        .map(|(bits, source)| Answer::of(bits, source))
        .collect()
}

/// Random messages of every lane on its own.
fn traffic(registered: bool, cycles: u64) {
    let mut rtl = wrapped(&options(registered));
    let mut dice = Dice::new(11);
    let mut board = Board::default();
    let mut agents: [Agent; LANES] = std::array::from_fn(Agent::new);
    let (mut busy, mut takes) = (8, 8);
    for cycle in 0..cycles {
        if cycle % 64 == 0 {
            busy = [0, 1, 4, 8, 8][dice.below(5) as usize];
            takes = [1, 4, 8][dice.below(3) as usize];
        }
        let last = cycle + 256 >= cycles;
        for agent in &mut agents {
            agent.begin(&mut dice, if last { 0 } else { busy });
            agent.ready = last || dice.chance(takes);
        }
        drive(&mut rtl, &agents);
        rtl.clock();
        let quiet = agents.iter().all(|a| a.waits.is_empty());
        assert_eq!(rtl.get("idle") == 1, quiet, "cycle {cycle}");
        for (agent, answer) in agents.iter_mut().zip(look(&rtl)) {
            agent.sees(answer, cycle, &mut board);
        }
    }
    for agent in &agents {
        assert!(agent.waits.is_empty(), "not answered: {:?}", agent.waits);
        agent.has_seen_everything(cycles);
    }
    assert!(board.overlapping > 0, "no read beside a write");
}

#[test]
fn tilelink_agents_are_answered_once_with_their_words() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for registered in [false, true] {
        traffic(registered, 20_000);
    }
}

/// microarchitecture/bus.md: the latency, a message per cycle, and DEPTH messages
/// inside while no answer is taken.
#[test]
fn a_tilelink_lane_takes_a_message_a_cycle_and_holds_answers() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let mut rtl = wrapped(&options(false));
    let mut agents: [Agent; LANES] = std::array::from_fn(Agent::new);
    let mut board = Board::default();
    let count = 40;
    let mut last = 0;
    for cycle in 0..count + 10 {
        if cycle < count {
            agents[0].get(cycle % 64, cycle);
        }
        agents[0].ready = true;
        drive(&mut rtl, &agents);
        rtl.clock();
        let answer = look(&rtl).swap_remove(0);
        assert!(answer.a_ready, "cycle {cycle}");
        assert_eq!(
            answer.valid,
            (3..count + 3).contains(&cycle),
            "cycle {cycle}"
        );
        last = if answer.valid { cycle } else { last };
        agents[0].sees(answer, cycle, &mut board);
    }
    assert_eq!(last, count + 2);
    agents[0].ready = false;
    let mut taken = 0;
    for cycle in 100..120 {
        agents[0].get(1, cycle);
        drive(&mut rtl, &agents);
        rtl.clock();
        let answer = look(&rtl).swap_remove(0);
        taken += usize::from(answer.a_ready);
        agents[0].sees(answer, cycle, &mut board);
    }
    assert_eq!(taken, DEPTH);
}

/// An agent that uses a source twice gets an error.
#[test]
fn a_source_that_is_used_twice_is_noticed() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let mut rtl = wrapped(&options(false));
    let mut agents: [Agent; LANES] = std::array::from_fn(Agent::new);
    for cycle in 0..2 {
        agents[2].get(5, 9);
        agents[2].ready = false;
        drive(&mut rtl, &agents);
        if cycle == 0 {
            rtl.clock();
        }
    }
    let error = rtl.clocked().unwrap_err().to_string();
    assert_eq!(
        tripped(&wrapped_tcdm(&options(false)), &error),
        "source_free"
    );
}

/// What Yosys says of the device of a lane, in the circuit with its properties.
fn proved(lane: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lane.sv"), lane).unwrap();
    let circuit = include_str!("../../../testbenches/tilelink/lane.sv");
    std::fs::write(folder.path().join("circuit.sv"), circuit).unwrap();
    let script = "read_verilog -sv lane.sv; read_verilog -sv -formal circuit.sv; \
                  hierarchy -check -top circuit; proc; memory -nordff; flatten; opt; \
                  check -assert; sat -tempinduct -set-assumes -prove-asserts -maxsteps 2 -verify";
    let output = Command::new("yosys")
        .args(["-q", "-p", script])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&text).into_owned())
}

/// Faults of the device: text, and its replacement.
const FAULTS: [(&str, &str); 4] = [
    (
        "tcdm_req <= asks | (tcdm_req & ~tcdm_gnt);",
        "tcdm_req <= asks;",
    ),
    ("inside_q != FULL & ", ""),
    ("first_q + answered_q[INDEX_BITS-1:0]", "first_q"),
    (
        "(a_address[2:0] & low) != 0",
        "(a_address[1:0] & low[1:0]) == 3",
    ),
];

/// The device of a lane is plain enough for Yosys, which proves that it neither
/// loses messages nor makes up answers, and notices faults.
#[test]
#[ignore = "part of make campaign"]
fn yosys_proves_what_a_tilelink_lane_promises() {
    if missing(&["yosys"]) {
        return;
    }
    let files = wrapped_tcdm(&options(false));
    let lane = files.iter().find(|f| f.name == "spad_tilelink_lane.sv");
    let text = &lane.unwrap().text;
    proved(text).unwrap();
    for (part, other) in FAULTS {
        assert_eq!(text.matches(part).count(), 1, "{part}");
        let said = proved(&text.replace(part, other)).unwrap_err();
        assert!(said.contains("proof did fail"), "{part}: {said}");
    }
}

/// A few of its messages; `make campaign-tilelink` has many.
#[test]
fn the_devices_answer_the_agents_of_cocotb_tilelink() {
    if missing(&["iverilog", "vvp"]) {
        return;
    }
    public_master("tilelink", "import cocotb, cocotb_TileLink", "20", 1);
}
