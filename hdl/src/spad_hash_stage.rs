//! From the operands in EX to banks, rows and locks of the lanes.

use crate::hashed_lanes::HashedLanes;
use crate::machine::Machine;
use crate::module::{Module, Port, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    lanes: HashedLanes,
}

/// The unit behind its parts, and the ports that write its configuration.
pub(crate) struct HashStage {
    pub modules: Vec<Module>,
    pub writes: Vec<Port>,
}

/// Emits `spad_hash_stage`.
pub(crate) fn emit_unit(p: &Params, machine: &Machine) -> Result<HashStage> {
    let (lanes, groups) = HashedLanes::new(p, machine, true, ("hx", "out"))?;
    let doc = UnitDoc {
        name: "spad_hash_stage".into(),
        summary: "bank, row and lock of every lane's address, with the registers that configure \
                  the hash; with H = 1 in a pipeline stage of its own."
            .into(),
        parameters: p.text(&["n", "m", "L", "D", "R", "LK", "H"]),
        timing: match p.H {
            0 => "combinational; cfg_* and the configuration are static while a kernel runs",
            _ => "one cycle; cfg_* and the configuration are static while a kernel runs",
        }
        .into(),
        paper: "hash paper, section 4; microarchitecture/hash-stage.md".into(),
        latency_cycles: p.H as u32,
    };
    let no_clock = p.H == 0 && !lanes.has_registers();
    let mut shell = lanes
        .write_ports(Shell::new(doc).clocked())
        .unused(no_clock, "clk", "nothing is stored here")
        .unused(no_clock, "rst", "nothing is stored here")
        .input("cfg_lock_hash", 2, "0 none, 1 XOR, 2 ADD");
    shell = output_ports(input_ports(shell, p), p);
    let writes = lanes.writes();
    let module = shell.instantiates_last(&groups).emit_with(
        "spad_hash_stage.v.tera",
        p,
        &Extra { lanes },
    )?;
    Ok(HashStage {
        modules: groups.into_iter().flatten().chain([module]).collect(),
        writes,
    })
}

fn input_ports(shell: Shell, p: &Params) -> Shell {
    shell
        .input("in_valid", 1, "a pass is offered")
        .output("in_ready", 1, "it is taken at the end of this cycle")
        .input(
            "in_ctl",
            p.CTL,
            "its control: last, pass, pc, tag, kind, warp, from the top",
        )
        .input("in_mask", p.L, "active lanes")
        .input("in_addr", p.L * p.n, "word address, n bits per lane")
        .input("in_data", p.L * p.D, "data, D bits per lane")
        .input("in_be", p.L * p.BE, "byte enables, BE bits per lane")
        .input("in_aop", 4, "operation of an atomic")
}

fn output_ports(shell: Shell, p: &Params) -> Shell {
    let shell = shell
        .output("out_valid", 1, "a pass is offered")
        .input("out_ready", 1, "it is taken")
        .output("out_ctl", p.CTL, "its control")
        .output("out_mask", p.L, "active lanes")
        .output("out_bank", p.L * p.m, "bank, m bits per lane")
        .output("out_row", p.L * p.R, "row, R bits per lane")
        .output("out_lock", p.L * p.LK, "lock, LK bits per lane")
        .output("out_data", p.L * p.D, "data, D bits per lane")
        .output("out_be", p.L * p.BE, "byte enables, BE bits per lane")
        .output("out_aop", 4, "operation of an atomic");
    match p.H {
        0 => shell.output(
            "hx_valid",
            1,
            "a pass is in the hash stage: never, with H = 0",
        ),
        _ => shell.register("hx_valid", 1, "a pass is in the hash stage"),
    }
}
