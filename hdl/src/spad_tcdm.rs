//! The scratchpad behind a request/grant/valid port per lane, with the hash of
//! the lanes.

use crate::bus::Bus;
use crate::hashed_lanes::HashedLanes;
use crate::machine::Machine;
use crate::module::{Module, Port, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use serde::Serialize;

#[derive(Serialize)]
struct Extra<'a> {
    lanes: &'a HashedLanes,
    /// Outputs of the scratchpad that nothing reads.
    silent: &'a [Port],
    /// There are row numbers without a row.
    holes: bool,
}

/// Outputs of the scratchpad that matter.
const READ: [&str; 5] = [
    "req_ready",
    "resp_valid",
    "resp_mask",
    "resp_data",
    "resp_error",
];

/// Emits `spad_tcdm` behind its parts.
pub(crate) fn emit_unit(p: &Params, machine: &Machine) -> Result<Vec<Module>> {
    let bus = Bus::new(p, machine, false, &READ)?;
    let doc = UnitDoc {
        name: "spad_tcdm".into(),
        summary: "the scratchpad behind a request/grant/valid port per lane. The lanes that ask \
                  in one cycle are granted together; their reads are one access, their writes \
                  another one behind it. Answers come in the order of a lane's requests. No input \
                  has a combinational path to an output."
            .into(),
        parameters: p.text(&["n", "m", "L", "D", "ROWS", "MS"]),
        timing: "granted in cycle t, lanes of one kind and degree d are answered in \
                 t+1+MS+max(1, d) if nothing is in the way; one access per cycle at d <= 1"
            .into(),
        paper: "docs/microarchitecture.md, section 18a.3".into(),
        latency_cycles: 2 + p.MS as u32,
    };
    let shell = lane_ports(bus.lanes.write_ports(Shell::new(doc).clocked()), p);
    let extra = Extra {
        lanes: &bus.lanes,
        silent: &bus.silent,
        holes: p.ROWS != 1 << p.R,
    };
    // Everything comes from registers.
    let shell = bus.instances(shell.outputs_depend_on(|_| Vec::new()));
    let module = shell.emit_with("spad_tcdm.v.tera", p, &extra)?;
    Ok(bus.modules.into_iter().chain([module]).collect())
}

fn lane_ports(shell: Shell, p: &Params) -> Shell {
    let gnt = "a lane that asks is taken at the end of this cycle; the same for all lanes";
    let be = "byte enables of a write, BE bits per lane";
    let r_valid = "the lane's oldest request is answered; there is no ready";
    let r_opc = "the address is beyond the capacity: nothing was accessed";
    shell
        .input("tcdm_req", p.L, "the lane asks")
        .output("tcdm_gnt", p.L, gnt)
        .input("tcdm_add", p.L * p.n, "word address, n bits per lane")
        .input("tcdm_wen", p.L, "1 read, 0 write")
        .input("tcdm_wdata", p.L * p.D, "data, D bits per lane")
        .input("tcdm_be", p.L * p.BE, be)
        .output("tcdm_r_valid", p.L, r_valid)
        .output("tcdm_r_rdata", p.L * p.D, "the word read; else 0")
        .output("tcdm_r_opc", p.L, r_opc)
        .output("idle", 1, "nothing is inside")
}
