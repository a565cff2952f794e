//! Formulas of the elastic paper.

use super::{Formula, Inputs, numbers};
use crate::reproduce::point::Numbers;
use spadkit_base::error::Result;
use spadkit_mapping::trace::ConflictProfile;
use spadkit_sm::config::Config;
use spadkit_sm::model::{
    LaneMask, NO_OPERANDS, Offer, Offers, Operands, PathConfig, SmPath, SmPathInputs,
    SmPathOutputs, kind,
};

pub(super) const FORMULAS: &[Formula] = &[
    ("elastic.bound", bound),
    ("elastic.parallelism", parallelism),
    ("elastic.bandwidth", bandwidth),
    ("elastic.machine", machine),
    ("elastic.schedule", schedule),
    ("elastic.distance", distance),
];

/// The theoretic speed-up of section 6.2: what is left of the time if no access
/// takes more than a pass. `intensity` is a share in percent, `degree` the mean
/// number of passes. Their product is the part of the bandwidth that section
/// 3.1 (Eq. 2, Table 1) says is needed.
fn bound(inputs: &Inputs) -> Result<Numbers> {
    let intensity = inputs.number("intensity")? / 100.0;
    let degree = inputs.number("degree")?;
    Ok(numbers([
        ("speed-up", 1.0 + intensity * (degree - 1.0)),
        ("demand", intensity * degree),
    ]))
}

/// Eq. 1: threads that hide a pipeline of `stages`, on the machine's lanes.
fn parallelism(inputs: &Inputs) -> Result<Numbers> {
    let lanes = f64::from(inputs.machine()?.lanes);
    Ok(numbers([("threads", inputs.number("stages")? * lanes)]))
}

/// Section 6.4: the bandwidth that a kernel needs if each of the `lanes` of all
/// cores executes an instruction a cycle, in percent of the peak. `bytes` are
/// those of global memory, `instructions` those of threads (Table 5).
fn bandwidth(inputs: &Inputs) -> Result<Numbers> {
    let cycles = inputs.number("instructions")? / inputs.number("lanes")?;
    let gigabytes = inputs.number("bytes")? / cycles * inputs.number("clock_ghz")?;
    let required = 100.0 * gigabytes / inputs.number("peak")?;
    Ok(numbers([("required", required)]))
}

/// Table 4's core, and Tables 2 and 3 on it: the paper's formulas, compared
/// with the bits of the RTL.
fn machine(inputs: &Inputs) -> Result<Numbers> {
    let config = inputs.machine()?;
    let p = config.parameters();
    let size = |n: usize| n as f64;
    let lines = 2 * p.SETS;
    let history = lines * (p.EX + p.PCW - p.SETW);
    // Tags a second time, for updates; valid bits and the way to be replaced.
    let history_rtl = history + lines * (p.PCW - p.SETW) + lines + p.SETS;
    Ok(numbers([
        ("stages", f64::from(config.pipeline_stages())),
        ("memory stages", size(p.M)),
        ("lanes", size(p.L)),
        ("banks", size(p.B)),
        ("threads a warp", size(p.WS)),
        ("threads", size(p.W * p.WS)),
        ("blocks", size(p.T)),
        ("registers", f64::from(config.sm.registers)),
        ("KiB", size(4 << config.geometry.addr_bits()) / 1024.0),
        ("NONMEM depth", size(p.NQ)),
        ("PREMEM depth", size(p.PQ)),
        ("queue latches", size((p.NQ + p.PQ) * p.L)),
        (
            "queue bits in the RTL",
            size(p.NQ * (p.NMW + 1) + p.PQ * p.PREW + p.PQW),
        ),
        ("inputs of the writeback MUX", size(p.NQ + 3)),
        ("inputs of the memory MUX", size(p.PQ + 1)),
        ("logic of the writeback MUX", size(p.NQ + 2)),
        ("logic of the memory MUX", size(p.PQ)),
        ("history bytes", size(history) / 8.0),
        ("history bytes in the RTL", size(history_rtl) / 8.0),
        ("degree bits", size(p.EX)),
        ("gates of the mask", size(2 * p.W)),
    ]))
}

/// Sections 3.2 and 4.1: the conflict degree of an access of lanes to `addresses` on
/// `banks`, and the cycles until a memory warp may follow it (Eq. 3).
fn distance(inputs: &Inputs) -> Result<Numbers> {
    let (banks, ports) = (inputs.number("banks")?, inputs.number("ports")?);
    let lanes: Vec<Option<u32>> = inputs
        .word("addresses")?
        .split_whitespace()
        .map(|address| address.parse().ok())
        .collect();
    let profile = ConflictProfile::of_accesses(std::iter::once(&lanes[..]), lanes.len() as u32);
    let degree = profile.count(|word| word % banks as u32).max_degree;
    Ok(numbers([
        ("degree", f64::from(degree)),
        ("distance", (f64::from(degree) / ports).ceil()),
    ]))
}

/// W_i of Figs 2 and 3.
const CONFLICTING: usize = 4;
/// The last instruction.
const LAST: usize = 10;
/// Cycles from the fetch of an instruction to its issue.
const FETCH_TO_ISSUE: i64 = 1;

/// Figs 2 and 3 on the golden model of the path: W0 to W3 load without a
/// conflict, W_i = W4 with degree 2, `memory` more load without one, the others
/// compute. If a warp takes several passes, each of them is a W_k (section 4.3), and
/// W_i is the first pass of W4. Cycles count from the fetch of W_i. What does not
/// happen has no number.
fn schedule(inputs: &Inputs) -> Result<Numbers> {
    let config = inputs.machine()?;
    let passes = config.subwarps() as usize;
    let mut path = Schedule::new(config, inputs.number("memory").unwrap_or(0.0) as usize);
    let (mut written, mut held, mut queued) = (Vec::new(), Vec::new(), Vec::new());
    for cycle in 0..40 {
        let out = path.step();
        // W_k is issued in cycle k.
        let since = cycle - (CONFLICTING * passes) as i64 + FETCH_TO_ISSUE;
        if out.ex_hold {
            held.push(since);
        }
        if out.pre_count > 0 {
            queued.push(since);
        }
        let place = |warp: usize, pass: u16| warp * passes + usize::from(pass);
        written.extend(out.wb.map(|wb| (place(wb.warp, wb.pass), since)));
    }
    let of = |k: usize| written.iter().find(|w| w.0 == k).map(|w| w.1 as f64);
    let ends: Vec<i64> = written.iter().map(|w| w.1).collect();
    let all = ends.first().copied().unwrap_or(0)..ends.last().copied().unwrap_or(0);
    let bubbles: Vec<i64> = all.filter(|c| !ends.contains(c)).collect();
    let mut found = numbers([
        ("bubbles", bubbles.len() as f64),
        ("stalled cycles", held.len() as f64),
    ]);
    let mut set = |key: &str, value: Option<f64>| {
        found.values.extend(value.map(|v| (key.to_owned(), v)));
    };
    set("bubble", bubbles.first().map(|&c| c as f64));
    // Fetch repeats in the cycle after EX could not go on.
    set("stall", held.first().map(|&c| (c + 1) as f64));
    set("queued", queued.first().map(|&c| c as f64));
    for after in 0..=LAST - CONFLICTING {
        set(
            &format!("writeback of W+{after}"),
            of(CONFLICTING * passes + after),
        );
    }
    Ok(found)
}

/// One instruction per warp in front of the path.
struct Schedule {
    path: SmPath,
    cfg: PathConfig,
    offers: Offers,
    /// The warp and the pass in EX.
    ex: Option<(usize, u16)>,
    lanes: LaneMask,
    /// Word addresses of an access: one word per bank, and of W_i two in one.
    free: [u16; 64],
    conflicting: [u16; 64],
}

impl Schedule {
    fn new(config: &Config, memory: usize) -> Self {
        let free = std::array::from_fn(|lane| lane as u16);
        let mut conflicting = free;
        conflicting[0] = 1 + (1 << config.geometry.bank_bits());
        let mut offers = Offers::none(config.path.warps as usize);
        for warp in 0..=LAST {
            let load = warp <= CONFLICTING + memory;
            let kind = if load { kind::LOAD } else { kind::ALU };
            offers.set(
                warp,
                Some(Offer {
                    kind,
                    ..Offer::default()
                }),
            );
        }
        Schedule {
            path: SmPath::new(config),
            cfg: PathConfig::of(config),
            offers,
            ex: None,
            lanes: LaneMask::MAX >> (LaneMask::BITS - config.lanes),
            free,
            conflicting,
        }
    }

    fn step(&mut self) -> SmPathOutputs {
        let op = self.ex.map_or(NO_OPERANDS, |pass| Operands {
            mask: self.lanes,
            addr: if pass == (CONFLICTING, 0) {
                &self.conflicting
            } else {
                &self.free
            },
            data: &[0; 64],
            be: &[0xf; 64],
            aop: 0,
        });
        let inputs = SmPathInputs::undisturbed(self.cfg, &self.offers, op);
        let out = self.path.step(&inputs);
        match out.iss {
            Some(issue) => {
                self.offers.set(issue.warp, None);
                self.ex = Some((issue.warp, issue.pass));
            }
            None if !out.ex_hold => self.ex = None,
            None => {}
        }
        out
    }
}
