//! What stands in front of MEM0: the PREMEM queue, and the atomic operations
//! that share the scratchpad's request port with it.

use crate::expr::{assign, choose, copies, is, note, one, wire, zero};
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::{spad_kind_operation, spad_premem_queue, spad_retry_sequencer};
use rust_hdl::core::ast::VerilogStatement;

/// The fields of a request.
const REQUEST: [&str; 7] = ["op", "mask", "bank", "row", "lock", "data", "tag"];

/// When an ATOMIC is in flight: one at a time, until the last answer of its
/// last pass has gone.
fn atomics() -> Vec<VerilogStatement> {
    let cases = [(wire("take_atomic"), one()), (wire("atomic_ends"), zero())];
    vec![
        assign("seq_done", is("seq_state", "SEQ_DONE")),
        assign(
            "atomic_ends",
            wire("seq_done") & wire("req_ready") & wire("seq_last"),
        ),
        choose("atom_infl_next", cases, "atom_infl"),
    ]
}

/// Who makes the next request: the sequencer goes first, else the head of the
/// queue.
fn entry(p: &Params) -> Vec<VerilogStatement> {
    let own = |prefix: &str, field: &str| wire(&format!("{prefix}_{field}"));
    if p.LOCKS == 0 {
        let fields = ["valid", "be"].into_iter().chain(REQUEST);
        let mut logic = vec![
            assign("atom_infl", zero()),
            assign("seq_state", "SEQ_IDLE"),
            assign("seq_busy", zero()),
            assign("head_ready", "req_ready"),
        ];
        logic.extend(fields.map(|f| assign(&format!("req_{f}"), own("head", f))));
        return logic;
    }
    let field = |f| {
        let sequencer = match f {
            "tag" => wire("seq_req_tag"),
            f => own("seq", f),
        };
        choose(
            &format!("req_{f}"),
            [(wire("seq_valid"), sequencer)],
            own("head", f),
        )
    };
    let leaves = [(wire("head_atomic"), wire("aq_ready"))];
    let passes = wire("head_valid") & !wire("head_atomic");
    let mut logic = vec![
        assign("seq_busy", "seq_valid"),
        choose("head_leaves", leaves, "req_ready"),
        assign("head_ready", !wire("seq_valid") & wire("head_leaves")),
        assign("req_valid", wire("seq_valid") | passes),
    ];
    logic.extend(REQUEST.map(field));
    logic.extend([
        note("An atomic writes whole words."),
        assign("req_be", wire("head_be") | copies(p.L * p.BE, "seq_valid")),
    ]);
    logic
}

/// What the queue offers, and what the sequencer asks for.
fn signals(shell: Shell, p: &Params) -> Shell {
    let widths = [
        ("valid", 1),
        ("op", 3),
        ("mask", p.L),
        ("bank", p.L * p.m),
        ("row", p.L * p.R),
        ("lock", p.L * p.LK),
        ("data", p.L * p.D),
        ("tag", p.TGW),
    ];
    let of = |prefix: &str| widths.map(|(field, width)| (format!("{prefix}_{field}"), width));
    shell
        .signals(&of("head"))
        .signals(&of("seq"))
        .signals(&[("head_be", p.L * p.BE), ("head_ready", 1), ("aq_ready", 1)])
        .signals(&[("head_atomic", 1), ("seq_req_tag", p.TGW), ("seq_last", 1)])
}

/// Emits `spad_memory_entry` behind its parts.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let mut parts = vec![
        spad_premem_queue::emit_unit(p)?,
        vec![spad_kind_operation::emit_kernel()?],
    ];
    if p.LOCKS > 0 {
        parts.push(spad_retry_sequencer::emit_unit(p)?);
    }
    let doc = UnitDoc {
        name: "spad_memory_entry".into(),
        summary: "queues passes in front of the scratchpad and makes requests of them; atomics \
                  go to a queue of their own and its sequencer, which goes first."
            .into(),
        parameters: p.text(&["L", "D", "R", "LK", "PQ", "LOCKS", "TGW"]),
        timing: "a pass is requested in the cycle in which it comes if the queue is empty and \
                 the sequencer does not ask"
            .into(),
        paper: "elastic paper, section 4.1; atomics paper, section II; \
                microarchitecture/memory-entry.md"
            .into(),
        latency_cycles: 0,
    };
    let shell = Shell::new(doc)
        .clocked()
        .input("cfg_elastic", 1, "the PREMEM queue is in use")
        .input("take_atomic", 1, "an ATOMIC is taken in this cycle");
    let shell = request_ports(pass_ports(shell, p), p);
    let shell = waived(sequencer_ports(shell, p), p);
    let mut shell = signals(shell, p);
    if p.LOCKS > 0 {
        shell = shell.logic("atomics", atomics());
    }
    let module = shell
        .logic("entry", entry(p))
        .instantiates_last(&parts)
        .emit("spad_memory_entry.v.tera", p)?;
    Ok(parts.into_iter().flatten().chain([module]).collect())
}

fn pass_ports(shell: Shell, p: &Params) -> Shell {
    shell
        .input("in_valid", 1, "a pass is offered")
        .output("in_ready", 1, "it is taken at the end of this cycle")
        .input(
            "in_ctl",
            p.CTL,
            "its control: last, pass, pc, tag, kind, warp, from the top",
        )
        .input("in_mask", p.L, "active lanes")
        .input("in_bank", p.L * p.m, "bank, m bits per lane")
        .input("in_row", p.L * p.R, "row, R bits per lane")
        .input("in_lock", p.L * p.LK, "lock, LK bits per lane")
        .input("in_data", p.L * p.D, "data, D bits per lane")
        .input("in_be", p.L * p.BE, "byte enables, BE bits per lane")
        .input("in_aop", 4, "operation of an atomic")
}

fn request_ports(shell: Shell, p: &Params) -> Shell {
    let tag = "control, degree, error, source: 1 for what the sequencer waits for";
    shell
        .output("req_valid", 1, "a scratchpad request is offered")
        .input("req_ready", 1, "it is taken")
        .output("req_op", 3, "operation")
        .output("req_mask", p.L, "active lanes")
        .output("req_bank", p.L * p.m, "bank, m bits per lane")
        .output("req_row", p.L * p.R, "row, R bits per lane")
        .output("req_lock", p.L * p.LK, "lock, LK bits per lane")
        .output("req_data", p.L * p.D, "data, D bits per lane")
        .output("req_be", p.L * p.BE, "byte enables, BE bits per lane")
        .output("req_tag", p.TGW, tag)
}

fn sequencer_ports(shell: Shell, p: &Params) -> Shell {
    let atomic = "an ATOMIC is in flight";
    let shell = match p.LOCKS {
        0 => shell.output("atom_infl", 1, atomic),
        _ => shell.register("atom_infl", 1, atomic),
    };
    shell
        .input("sr_valid", 1, "response to a request of the sequencer")
        .input("sr_mask", p.L, "its lanes")
        .input("sr_data", p.L * p.D, "words read")
        .input("sr_success", p.L, "lanes that took their lock")
        .input("sr_error", 1, "error")
        .input("sr_degree", p.DG, "conflict degree")
        .output("seq_busy", 1, "the sequencer has the request port")
        .output("seq_state", 3, "state of the retry sequencer")
        .output("pre_count", p.PQW, "entries of the PREMEM queue")
}

/// Without locks there is no sequencer.
fn waived(shell: Shell, p: &Params) -> Shell {
    let atomics = [
        "take_atomic",
        "sr_valid",
        "sr_mask",
        "sr_data",
        "sr_success",
        "sr_error",
        "sr_degree",
    ];
    atomics.into_iter().fold(shell, |shell, name| {
        shell.unused(p.LOCKS == 0, name, "the machine has no locks")
    })
}
