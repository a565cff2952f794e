//! The whole scratchpad path of an SM, from the issue port to the writeback port.

use crate::expr::{assign, choose, is, wire};
use crate::machine::Machine;
use crate::module::{Module, Port, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::{
    spad_access_unit, spad_conflict_predictor, spad_eligibility, spad_hash_stage,
    spad_issue_select, spad_memory_entry, spad_memory_exit, spad_nonmem_queue, spad_pass_issue,
    spad_release_register, spad_relssp, spad_scratchpad, spad_writeback_mux,
};
use rust_hdl::core::ast::VerilogStatement;
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    /// Names of the ports that write the configuration registers of the hash.
    writes: Vec<String>,
}

/// Where the pass in EX goes, and whether it does.
fn leaving() -> Vec<VerilogStatement> {
    let other = is("ex_kind", "KIND_ALU") | is("ex_kind", "KIND_RELSSP");
    let ready = [(wire("ex_mem"), wire("mem_ready"))];
    vec![
        assign("ex_mem", is("cfg_pipeline", "PIPELINE_UNIFIED") | !other),
        choose("ex_ready", ready, "nm_ready"),
        assign("ex_fire", wire("ex_valid") & wire("ex_ready")),
        assign("ex_hold", wire("ex_valid") & !wire("ex_ready")),
    ]
}

/// Why the pass in EX is held.
fn stall() -> Vec<VerilogStatement> {
    let cases = [
        (!wire("ex_hold"), wire("STALL_NONE")),
        (!wire("ex_mem"), wire("STALL_WRITEBACK")),
        (wire("seq_busy"), wire("STALL_LOCK_RETRY")),
        (wire("blocked"), wire("STALL_WRITEBACK")),
    ];
    vec![choose("stall", cases, "STALL_BANK_CONFLICT")]
}

/// The parts of the path, each behind what it instantiates, but for the hash.
fn parts(p: &Params) -> Result<Vec<Vec<Module>>> {
    let mut parts = vec![
        spad_eligibility::emit_unit(p)?,
        spad_issue_select::emit_unit(p)?,
        spad_pass_issue::emit_unit(p)?,
        spad_relssp::emit_unit(p)?,
        spad_access_unit::emit_unit(p)?,
        spad_conflict_predictor::emit_unit(p)?,
        spad_memory_entry::emit_unit(p)?,
        spad_scratchpad::emit_unit(p)?,
        spad_memory_exit::emit_unit(p)?,
        spad_nonmem_queue::emit_unit(p)?,
        spad_writeback_mux::emit_unit(p)?,
    ];
    if p.AHEAD > 0 {
        parts.push(spad_release_register::emit_unit(p)?);
    }
    Ok(parts)
}

/// Emits `spad_sm_path` behind its parts.
pub(crate) fn emit_unit(p: &Params, machine: &Machine) -> Result<Vec<Module>> {
    let hash = spad_hash_stage::emit_unit(p, machine)?;
    let extra = Extra {
        writes: hash.writes.iter().map(|port| port.name.clone()).collect(),
    };
    let shell = ports(p, &hash.writes);
    let mut parts = parts(p)?;
    parts.push(hash.modules);
    let module = shell
        .signals(&[
            ("ex_valid", 1),
            ("ex_kind", 4),
            ("ex_fire", 1),
            ("ex_hold", 1),
        ])
        .signals(&[
            ("mem_ready", 1),
            ("nm_ready", 1),
            ("seq_busy", 1),
            ("blocked", 1),
        ])
        .logic("leaving", leaving())
        .logic("stall", stall())
        .instantiates_last(&parts)
        .emit_with("spad_sm_path.v.tera", p, &extra)?;
    Ok(parts.into_iter().flatten().chain([module]).collect())
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_sm_path".into(),
        summary: "the scratchpad path of an SM: scheduler, access control, hash, PREMEM queue, \
                  scratchpad with locks, atomics, NONMEM queue, writeback port, conflict \
                  prediction. Kinds: 0 ALU, 1 load, 2 store, 3 load and lock, 4 store and \
                  unlock, 5 atomic, 6 off-chip access, 7 relssp."
            .into(),
        parameters: p.text(&[
            "n", "m", "L", "D", "WS", "W", "T", "ROWS", "LOCKS", "LKG", "M", "AHEAD", "H", "NQ",
            "PQ", "SETS", "LR", "LU", "LWR", "LB",
        ]),
        timing: "issued in cycle s, a memory pass of degree d is written back in s+1+H+d+M, \
                 another one in s+2 (elastic) if nothing is in the way"
            .into(),
        paper: "microarchitecture/sm-path.md; all five papers".into(),
        latency_cycles: 2 + (p.M + p.H) as u32,
    }
}

fn ports(p: &Params, writes: &[Port]) -> Shell {
    let shell = configuration_ports(Shell::new(doc(p)).clocked(), p, writes);
    let shell = launch_ports(shell, p);
    let shell = issue_ports(shell, p);
    let shell = result_ports(shell, p);
    status_ports(shell, p).outputs_depend_on(|output| depends_on(output, p))
}

/// The inputs that an output depends on in the same cycle: none where the
/// issue is decided ahead.
fn depends_on(output: &str, p: &Params) -> Vec<&'static str> {
    const EXITS: [&str; 3] = ["exit_valid", "exit_warp", "exit_mask"];
    // Off-chip data take the writeback port from what is in EX, and a release
    // in EX shows when it leaves.
    const RELEASE: [&str; 2] = ["icn_valid", "op_mask"];
    const OFFERS: [&str; 3] = ["off_valid", "off_kind", "off_hi"];
    let lists: &[&[&str]] = match output {
        _ if p.AHEAD > 0 => &[],
        "iss_last" => &[&EXITS, &RELEASE, &OFFERS, &["off_words"]],
        "iss_valid" | "iss_warp" | "iss_pass" | "masked" | "wait_sh" | "viol" => {
            &[&EXITS, &RELEASE, &OFFERS]
        }
        "locked" | "owner" | "rel_done" | "unlock" => &[&EXITS, &RELEASE],
        "live" => &[&EXITS],
        "ex_hold" | "stall" => &[&["icn_valid"]],
        _ => &[],
    };
    lists.concat()
}

fn configuration_ports(shell: Shell, p: &Params, writes: &[Port]) -> Shell {
    let shell = shell
        .input(
            "kernel_clear",
            1,
            "kernel launch: forget the conflict history",
        )
        .input(
            "cfg_pipeline",
            2,
            "0 unified, 1 split, 2 and 3 elastic; cfg_* are static while anything is in flight",
        )
        .input(
            "cfg_barrel",
            2,
            "0 strict, 1 relaxed, 2 and 3 relaxed with in-order commit per warp, but for atomics",
        )
        .input(
            "cfg_policy",
            2,
            "scheduler: 0 round-robin, 1 and 2 owner first, 3 lowest slot",
        )
        .input("cfg_aware", 1, "bank-conflict-aware scheduling")
        .input("cfg_violate", 1, "masked warps go when nothing else can")
        .input("cfg_lock_hash", 2, "0 none, 1 XOR, 2 ADD")
        .input("cfg_sharing", 1, "scratchpad sharing is on")
        .input(
            "cfg_limit",
            p.n,
            "first word of the shared part, block-relative",
        );
    writes.iter().fold(shell, |shell, port| {
        shell.input(&port.name, port.width, &port.doc)
    })
}

fn launch_ports(shell: Shell, p: &Params) -> Shell {
    shell
        .input("launch_valid", 1, "a block starts")
        .input("launch_block", p.TW, "its slot")
        .input("launch_shared", 1, "it runs in sharing mode")
        .input("launch_wmask", p.W, "its warps")
        .input(
            "launch_last",
            p.WS,
            "threads of the highest of them; the others are full",
        )
        .input("exit_valid", 1, "threads exit")
        .input("exit_warp", p.WW, "their warp")
        .input("exit_mask", p.WS, "the threads")
}

fn issue_ports(shell: Shell, p: &Params) -> Shell {
    shell
        .input(
            "off_valid",
            p.W,
            "the warp offers an instruction; one behind its atomic does not wait for it",
        )
        .input("off_kind", p.W * 4, "its kind, 4 bits per warp")
        .input(
            "off_words",
            p.W * 2,
            "words per lane of loads and stores: 0 one, 1 two, 2 four",
        )
        .input("off_tag", p.W * p.TG, "destination tag, TG bits per warp")
        .input("off_pc", p.W * p.PCW, "program counter, PCW bits per warp")
        .input(
            "off_hi",
            p.W * p.n,
            "highest block-relative word address, n bits per warp",
        )
        .output("iss_valid", 1, "a pass enters EXE at the end of this cycle")
        .output("iss_warp", p.WW, "its warp")
        .output("iss_pass", p.PW, "its number; 0 takes the warp's offer")
        .output("iss_last", 1, "it is the instruction's last")
        .output("ex_hold", 1, "the pass in EXE stays there")
        .input("op_mask", p.L, "active lanes of the pass in EXE")
        .input("op_addr", p.L * p.n, "word address, n bits per lane")
        .input("op_data", p.L * p.D, "data, D bits per lane")
        .input(
            "op_be",
            p.L * p.BE,
            "byte enables of a store, BE bits per lane",
        )
        .input("op_aop", 4, "operation of an atomic")
}

fn result_ports(shell: Shell, p: &Params) -> Shell {
    shell
        .input("icn_valid", 1, "data from off-chip is offered")
        .input("icn_warp", p.WW, "its warp")
        .input("icn_tag", p.TG, "destination tag")
        .input("icn_pass", p.PW, "pass")
        .input("icn_last", 1, "last pass")
        .input("icn_mask", p.L, "lanes")
        .input("icn_data", p.L * p.D, "data, D bits per lane")
        .output("icn_ready", 1, "it is taken")
        .output("wb_valid", 1, "a result is written back")
        .output("wb_src", 2, "0 off-chip, 1 memory path, 2 other path")
        .output("wb_warp", p.WW, "its warp")
        .output("wb_tag", p.TG, "destination tag")
        .output("wb_kind", 4, "kind of the instruction")
        .output("wb_pass", p.PW, "pass")
        .output("wb_last", 1, "last pass")
        .output("wb_mask", p.L, "lanes")
        .output("wb_data", p.L * p.D, "data, D bits per lane")
        .output("wb_success", p.L, "lanes that took their lock")
        .output("wb_error", 1, "unsupported, or beyond the capacity")
        .output(
            "wb_degree",
            p.DG,
            "conflict degree; of an atomic, that of its first read",
        )
        .input("wb_ready", 1, "the register file takes it")
}

fn status_ports(shell: Shell, p: &Params) -> Shell {
    shell
        .output("wait_sh", p.W, "the warp waits for the shared scratchpad")
        .output(
            "viol",
            p.W,
            "the warp's block has released the region that it asks for",
        )
        .output("locked", p.T / 2, "per pair: the shared part is held")
        .output("owner", p.T / 2, "per pair: 0 slot 2p, 1 slot 2p+1")
        .output(
            "rel_done",
            p.T,
            "every active thread of the block has released",
        )
        .output("live", p.T, "the block has an active thread")
        .output("unlock", p.T, "rel_done rises")
        .output(
            "stall",
            2,
            "EXE held: 1 bank conflict, 2 writeback conflict, 3 lock retry",
        )
        .output("masked", 1, "some ready warp is held back by the mask")
        .output("seq_state", 3, "state of the retry sequencer")
        .output(
            "occ",
            p.M + p.H + 2,
            "occupied stages from bit 0: EXE, hash, MEM0 and on, WB",
        )
        .output("nm_valid", p.NQ, "occupied stages of the NONMEM queue")
        .output("pre_count", p.PQW, "entries of the PREMEM queue")
}
