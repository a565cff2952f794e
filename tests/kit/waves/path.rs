//! The path as a whole: the elastic paper's Figs 2 and 3, and the stages of the
//! issue.

use crate::waves::wave::{Value, Wave};
use spadkit::config::Config;
use spadkit::model::{
    NO_OPERANDS, Offer, Offers, Operands, PathConfig, SmPath, SmPathInputs, SmPathOutputs, kind,
};
use std::path::Path;

/// A path, and what its operand rule asks of the environment.
struct Machine {
    path: SmPath,
    cfg: PathConfig,
    offers: Offers,
    /// Instructions that each warp still has to offer.
    programs: Vec<Vec<u8>>,
    /// The warp whose pass is in EX.
    ex: Option<usize>,
    /// Word addresses of each warp's access.
    addresses: Vec<[u16; 64]>,
}

impl Machine {
    fn new(stages: &str, pipeline: u8, programs: Vec<Vec<u8>>) -> Self {
        let text = format!("[hash]\npath = \"mod\"\n[path]\n{stages}\n");
        let config = Config::from_toml(&text, Path::new("scene.toml")).unwrap();
        Machine {
            path: SmPath::new(&config),
            cfg: PathConfig {
                pipeline,
                ..PathConfig::of(&config)
            },
            offers: Offers::none(config.path.warps as usize),
            addresses: vec![std::array::from_fn(|lane| lane as u16); programs.len()],
            programs,
            ex: None,
        }
    }

    /// One cycle; the warp that was in EX, and the outputs.
    fn step(&mut self) -> (Option<usize>, SmPathOutputs) {
        for (warp, program) in self.programs.iter().enumerate() {
            let offer = program.first().map(|kind| Offer {
                kind: *kind,
                ..Offer::default()
            });
            if self.offers.get(warp) != offer {
                self.offers.set(warp, offer);
            }
        }
        let ex = self.ex;
        let op = ex.map_or(NO_OPERANDS, |warp| Operands {
            mask: 0xffff_ffff,
            addr: &self.addresses[warp],
            data: &[0; 64],
            be: &[0xf; 64],
            aop: 0,
        });
        let inputs = SmPathInputs::undisturbed(self.cfg, &self.offers, op);
        let out = self.path.step(&inputs);
        match out.iss {
            Some(issue) => {
                self.programs[issue.warp].remove(0);
                self.ex = Some(issue.warp);
            }
            None if !out.ex_hold => self.ex = None,
            None => {}
        }
        (ex, out)
    }
}

fn warp(number: Option<usize>) -> Value {
    number.map_or("".into(), |warp| format!("w{warp}").into())
}

fn stall(code: u8) -> &'static str {
    match code {
        0 => "",
        1 => "bank",
        2 => "wb",
        _ => panic!("stall {code}"),
    }
}

/// w0 to w3 load without a conflict, w4 with degree 2; the others compute.
fn figure(title: &str, pipeline: u8) -> Wave {
    let mut wave = Wave::new(title);
    let programs = (0..9).map(|warp| match warp {
        0..=4 => vec![kind::LOAD],
        _ => vec![kind::ALU],
    });
    let mut machine = Machine::new("mem_stages = 2\nahead = 0", pipeline, programs.collect());
    machine.addresses[4][0] = 33;
    for _ in 0..12 {
        let (ex, out) = machine.step();
        wave.cycle();
        wave.output("iss_warp", warp(out.iss.map(|issue| issue.warp)));
        wave.output("warp in EX", warp(ex));
        wave.output("ex_hold", out.ex_hold);
        wave.output("stall", stall(out.stall));
        for (bit, stage) in [(1, "MEM0"), (2, "MEM1")] {
            wave.output(&format!("occ[{bit}] ({stage})"), out.occ >> bit & 1 == 1);
        }
        for stage in 0..2 {
            let name = format!("nm_valid[{stage}]");
            wave.output(&name, out.nm_valid >> stage & 1 == 1);
        }
        wave.output("wb_warp", warp(out.wb.map(|wb| wb.warp)));
    }
    wave
}

pub fn unified() -> Wave {
    figure(
        "spad_sm_path, unified, M = 2: w4 has a conflict and everything waits",
        0,
    )
}

pub fn split() -> Wave {
    figure(
        "spad_sm_path, split, M = 2: w4 and w5 meet at the writeback port",
        1,
    )
}

pub fn elastic() -> Wave {
    figure(
        "spad_sm_path, elastic, M = 2: w5 takes the free slot, nothing waits",
        2,
    )
}

pub fn issue() -> Wave {
    let mut wave =
        Wave::new("spad_sm_path, AHEAD = 3: three warps with three ALU instructions each");
    let programs = vec![vec![kind::ALU; 3]; 3];
    let mut machine = Machine::new("mem_stages = 4\nahead = 3", 2, programs);
    for _ in 0..16 {
        let offers: Vec<bool> = machine.programs.iter().map(|p| !p.is_empty()).collect();
        let (ex, out) = machine.step();
        wave.cycle();
        for (warp, offers) in offers.iter().enumerate() {
            wave.input(&format!("off_valid[{warp}]"), *offers);
        }
        wave.output("iss_valid", out.iss.is_some());
        wave.output("iss_warp", warp(out.iss.map(|issue| issue.warp)));
        wave.output("warp in EX", warp(ex));
        wave.output("wb_warp", warp(out.wb.map(|wb| wb.warp)));
    }
    wave
}
