//! The scratchpad behind a request/grant/valid port per lane, with the hash of
//! the lanes.

use crate::bus::{Bus, count_inside};
use crate::expr::{any, assign, choose, copies, equals, gated, wire};
use crate::hashed_lanes::HashedLanes;
use crate::machine::Machine;
use crate::module::{Module, Port, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use rust_hdl::core::ast::VerilogStatement;
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

/// The parts of a batch: its reads, its writes, and what lies beyond the
/// capacity. What there is none of takes no cycle.
fn part() -> Vec<VerilogStatement> {
    let inside = || wire("head_req") & !wire("beyond");
    let left = |lanes: &str, did: &str| any(lanes) & !wire(did);
    let first = |loads: &str, stores: &str| {
        let loads = (wire("loads_left"), wire(loads));
        [loads, (wire("stores_left"), wire(stores))]
    };
    let alone = !wire("stores_left") & !wire("errors_left");
    let not_both = !(wire("stores_left") & wire("errors_left"));
    vec![
        assign("loads", inside() & wire("head_wen")),
        assign("stores", inside() & !wire("head_wen")),
        assign("loads_left", left("loads", "did_loads")),
        assign("stores_left", left("stores", "did_stores")),
        assign("errors_left", any("beyond")),
        choose("part", first("loads", "stores"), "beyond"),
        choose("part_op", first("OP_LOAD", "OP_STORE"), "OP_UNSUPPORTED"),
        choose("last", [(wire("loads_left"), alone)], not_both),
    ]
}

/// Whether the part goes, and what of the batch has gone then.
fn progress() -> Vec<VerilogStatement> {
    let more = || !wire("last");
    let stores = wire("stores_left") & !wire("loads_left");
    vec![
        assign("goes", wire("head_valid") & wire("sp_req_ready")),
        assign("head_done", wire("last") & wire("sp_req_ready")),
        assign(
            "did_loads_next",
            more() & (wire("did_loads") | wire("loads_left")),
        ),
        assign("did_stores_next", more() & (wire("did_stores") | stores)),
    ]
}

/// What the lanes see, a cycle behind the scratchpad, and the number of
/// accesses in there.
fn answers(p: &Params) -> Vec<VerilogStatement> {
    vec![
        assign("tcdm_gnt", copies(p.L, "batch_ready")),
        assign("tcdm_r_valid", "answered"),
        assign("tcdm_r_rdata", "words"),
        assign("tcdm_r_opc", "failed"),
        assign("failed_next", gated(p.L, "sp_resp_mask", "sp_resp_error")),
        count_inside("goes", "sp_resp_valid"),
        assign(
            "idle",
            !wire("head_valid") & equals("count", 4, 0) & !any("answered"),
        ),
    ]
}

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
        paper: "microarchitecture/bus.md".into(),
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
    let shell = signals(shell, p)
        .logic("part", part())
        .logic("progress", progress())
        .logic("answers", answers(p));
    let module = shell.emit_with("spad_tcdm.v.tera", p, &extra)?;
    Ok(bus.modules.into_iter().chain([module]).collect())
}

/// The registers and wires of the template that the logic reads or drives.
fn signals(shell: Shell, p: &Params) -> Shell {
    shell
        .signals(&[("batch_ready", 1), ("head_valid", 1), ("head_done", 1)])
        .signals(&[("head_req", p.L), ("head_wen", p.L), ("beyond", p.L)])
        .signals(&[("did_loads", 1), ("did_stores", 1), ("sp_req_ready", 1)])
        .signals(&[("sp_resp_valid", 1), ("sp_resp_mask", p.L)])
        .signals(&[("sp_resp_error", 1), ("answered", p.L)])
        .signals(&[("words", p.L * p.D), ("failed", p.L), ("count", 4)])
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
