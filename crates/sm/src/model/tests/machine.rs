//! Warps with short programs on the path, obeying the operand rule of
//! microarchitecture/sm-path.md.

use crate::config::Config;
use crate::model::spad_sm_path::kind;
use crate::model::{
    Exit, IcnData, NO_OPERANDS, Offer, Offers, Operands, PathConfig, PathLaunch, SmPath,
    SmPathInputs, SmPathOutputs, Writeback,
};
use std::collections::VecDeque;

/// What comes from off-chip.
const FAR_DATA: [u64; 64] = [77; 64];

/// One instruction: what is offered, and the operands of its threads.
#[derive(Clone)]
pub struct Instruction {
    pub offer: Offer,
    pub mask: u64,
    /// Word address of each thread.
    pub addr: Vec<u16>,
    pub data: Vec<u64>,
    pub be: u8,
    pub aop: u8,
}

/// An instruction of up to 64 threads.
pub fn instruction(kind: u8, addr: impl Fn(u16) -> u16) -> Instruction {
    Instruction {
        offer: Offer {
            kind,
            ..Offer::default()
        },
        mask: u64::MAX,
        addr: (0..64).map(addr).collect(),
        data: (0..64).collect(),
        be: 0xf,
        aop: 0,
    }
}

/// A load whose highest block-relative word address is `hi`.
pub fn load_up_to(hi: u16) -> Instruction {
    let mut load = instruction(kind::LOAD, move |i| hi - i.min(hi));
    load.offer.hi = hi;
    load
}

/// Threads 0..degree on bank 0, the others each on a bank of their own.
pub fn conflicting(kind: u8, degree: u16, banks: u16) -> Instruction {
    instruction(kind, move |i| {
        if i % banks < degree {
            (i % banks) * banks
        } else {
            i % banks
        }
    })
}

/// A result that was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    pub cycle: usize,
    pub wb: Writeback,
    pub data: Vec<u64>,
}

/// What a cycle looked like.
pub struct Seen {
    pub out: SmPathOutputs,
    /// Warp and pass in EX.
    pub ex: Option<(usize, u16)>,
}

pub struct Machine {
    pub path: SmPath,
    pub config: Config,
    pub cfg: PathConfig,
    pub programs: Vec<VecDeque<Instruction>>,
    pub cycle: usize,
    pub done: Vec<Done>,
    pub launch: Option<PathLaunch>,
    pub exit: Option<Exit>,
    pub wb_ready: bool,
    /// Data for warp 0 waits at the off-chip port.
    pub icn: bool,
    offers: Offers,
    /// The instruction whose passes are being issued, and its pass in EX.
    current: Option<(usize, Instruction)>,
    ex: Option<(usize, Instruction, u16)>,
    /// Instructions as they were issued: cycle, warp, instruction.
    pub issued: Vec<(usize, usize, Instruction)>,
}

impl Machine {
    /// Blocks 0 and 1 share; warp slots 0 and 1; words from 100 on are shared.
    pub fn sharing_pair(text: &str) -> Self {
        let mut machine = Machine::new(text);
        machine.cfg.sharing = true;
        machine.cfg.limit = 100;
        for block in 0..2 {
            machine.launch = Some(PathLaunch {
                block,
                shared: true,
                warps: 1 << block,
                last: u64::from(u32::MAX),
            });
            machine.step();
        }
        machine
    }

    pub fn new(text: &str) -> Self {
        let config = Config::of_figures(text);
        let warps = config.path.warps as usize;
        Machine {
            path: SmPath::new(&config),
            cfg: PathConfig::of(&config),
            programs: vec![VecDeque::new(); warps],
            cycle: 0,
            done: Vec::new(),
            launch: None,
            exit: None,
            wb_ready: true,
            icn: false,
            offers: Offers::none(warps),
            current: None,
            ex: None,
            issued: Vec::new(),
            config,
        }
    }

    pub fn program(&mut self, warp: usize, instructions: impl IntoIterator<Item = Instruction>) {
        self.programs[warp].extend(instructions);
    }

    /// One cycle with the launch, exit and readiness that are set.
    pub fn step(&mut self) -> Seen {
        for warp in 0..self.programs.len() {
            let next = self.programs[warp].front().map(|i| i.offer);
            if self.offers.get(warp) != next {
                self.offers.set(warp, next);
            }
        }
        let lanes = self.config.lanes as usize;
        let (mut addr, mut be) = (vec![0; 64], vec![0; 64]);
        let mut data = vec![0; 64];
        let mut op = NO_OPERANDS;
        if let Some((_, i, pass)) = &self.ex {
            let words = match i.offer.kind {
                kind::LOAD | kind::STORE => [1, 2, 4, 1][usize::from(i.offer.words)],
                _ => 1,
            };
            let (sub, word) = (usize::from(*pass) / words, *pass as usize % words);
            for lane in 0..lanes {
                let thread = sub * lanes + lane;
                addr[lane] = i.addr[thread] + word as u16;
                data[lane] = i.data[thread] + 1000 * word as u64;
                be[lane] = i.be;
            }
            let all = u64::MAX >> (64 - lanes);
            op = Operands {
                mask: i.mask >> (sub * lanes) & all,
                addr: &addr,
                data: &data,
                be: &be,
                aop: i.aop,
            };
        }
        let out = self.path.step(&SmPathInputs {
            launch: self.launch.take(),
            exit: self.exit.take(),
            icn: self.icn.then_some(IcnData {
                warp: 0,
                tag: 0,
                pass: 0,
                last: true,
                mask: 1,
                data: &FAR_DATA,
            }),
            wb_ready: self.wb_ready,
            ..SmPathInputs::undisturbed(self.cfg, &self.offers, op)
        });
        let seen = Seen {
            out,
            ex: self.ex.as_ref().map(|(warp, _, pass)| (*warp, *pass)),
        };
        if let (Some(wb), true) = (out.wb, self.wb_ready) {
            self.done.push(Done {
                cycle: self.cycle,
                wb,
                data: self.path.wb_data().unwrap().to_vec(),
            });
        }
        if let Some(issue) = out.iss {
            if issue.pass == 0 {
                let i = self.programs[issue.warp].pop_front().unwrap();
                self.issued.push((self.cycle, issue.warp, i.clone()));
                self.current = Some((issue.warp, i));
            }
            let (warp, i) = self.current.clone().unwrap();
            assert_eq!(warp, issue.warp);
            self.ex = Some((warp, i, issue.pass));
        } else if !out.ex_hold {
            self.ex = None;
        }
        self.cycle += 1;
        seen
    }

    /// Runs until nothing is in flight.
    pub fn drain(&mut self, limit: usize) {
        for _ in 0..limit {
            let out = self.step().out;
            let empty = out.occ == 0 && out.nm_valid == 0 && out.pre_count == 0;
            let idle = out.iss.is_none() && out.seq_state as u8 == 0;
            if empty && idle && self.programs.iter().all(VecDeque::is_empty) {
                return;
            }
        }
        panic!("something is still in flight after {limit} cycles");
    }
}
