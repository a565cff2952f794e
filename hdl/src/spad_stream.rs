//! The scratchpad behind one warp-wide valid/ready port, with the hash of the
//! lanes.

use crate::bus::{Bus, count_inside};
use crate::expr::{assign, equals, wire};
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
    /// Bits of the tag.
    tag: usize,
}

/// Outputs of the scratchpad that come out.
const READ: [&str; 9] = [
    "req_ready",
    "resp_valid",
    "resp_op",
    "resp_mask",
    "resp_tag",
    "resp_data",
    "resp_success",
    "resp_error",
    "resp_degree",
];

/// The number of accesses inside.
fn inside() -> Vec<VerilogStatement> {
    vec![
        assign("enters", wire("req_valid") & wire("req_ready")),
        assign("leaves", wire("rsp_valid") & wire("rsp_ready")),
        count_inside("enters", "leaves"),
        assign("idle", equals("count", 4, 0)),
    ]
}

/// Emits `spad_stream` behind its parts.
pub(crate) fn emit_unit(p: &Params, machine: &Machine) -> Result<Vec<Module>> {
    let bus = Bus::new(p, machine, true, &READ)?;
    let tag = p.WW + p.TG;
    let doc = UnitDoc {
        name: "spad_stream".into(),
        summary: "the scratchpad behind one warp-wide valid/ready port in and one out: word \
                  addresses are hashed here, every access is answered once, in order. No input \
                  has a combinational path to an output. Operations: 0 pass, 1 load, 2 store, \
                  3 load and lock, 4 store and unlock; others are answered with an error."
            .into(),
        parameters: format!(
            "{}, STG = {tag}",
            p.text(&["n", "m", "L", "D", "ROWS", "LOCKS", "LKG", "MS"])
        ),
        timing: "taken in cycle t, an access of degree d is answered in t+1+MS+max(1, d) (with \
                 locks LKG * max(1, d)) if nothing is in the way; one access per cycle at d <= 1"
            .into(),
        paper: "microarchitecture/bus.md; hash paper, section 4".into(),
        latency_cycles: 2 + p.MS as u32,
    };
    let shell = bus.lanes.write_ports(Shell::new(doc).clocked()).input(
        "cfg_lock_hash",
        2,
        "0 none, 1 XOR, 2 ADD; it and the hash change only while idle",
    );
    let shell = answer_ports(request_ports(shell, p, tag), p, tag);
    let shell = shell.output("idle", 1, "no access is inside");
    // Everything comes from registers.
    let shell = bus
        .instances(shell.outputs_depend_on(|_| Vec::new()))
        .signals(&[("count", 4)])
        .logic("inside", inside());
    let extra = Extra {
        lanes: &bus.lanes,
        silent: &bus.silent,
        tag,
    };
    let module = shell.emit_with("spad_stream.v.tera", p, &extra)?;
    Ok(bus.modules.into_iter().chain([module]).collect())
}

fn request_ports(shell: Shell, p: &Params, tag: usize) -> Shell {
    let be = "byte enables of a store, BE bits per lane";
    shell
        .input("req_valid", 1, "an access is offered")
        .output("req_ready", 1, "it is taken at the end of this cycle")
        .input("req_op", 3, "operation")
        .input("req_mask", p.L, "active lanes")
        .input("req_addr", p.L * p.n, "word address, n bits per lane")
        .input("req_data", p.L * p.D, "data, D bits per lane")
        .input("req_be", p.L * p.BE, be)
        .input("req_tag", tag, "comes back with the answer")
}

fn answer_ports(shell: Shell, p: &Params, tag: usize) -> Shell {
    let data = "words read, or the data of a pass, D bits per lane; else 0";
    let error = "unsupported operation, or a row beyond the capacity: nothing was accessed";
    shell
        .output("rsp_valid", 1, "an answer is offered; the rest is 0 if not")
        .input("rsp_ready", 1, "it is taken")
        .output("rsp_op", 3, "operation of the access")
        .output("rsp_mask", p.L, "its active lanes")
        .output("rsp_tag", tag, "its tag")
        .output("rsp_data", p.L * p.D, data)
        .output("rsp_success", p.L, "lanes that took their lock")
        .output("rsp_error", 1, error)
        .output("rsp_degree", p.DG, "conflict degree")
}
