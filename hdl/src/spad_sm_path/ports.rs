//! The ports of the path: name, direction, width, meaning.

use crate::codes::kind;
use crate::params::Params;
use crate::payload::{Outcome, Passing};
use crate::ports::ports;
use crate::signal::{Operand, Signal, code};

ports! {
    /// The settings, which are static while anything is in flight.
    Settings(s) {
        kernel_clear: input(1, "kernel launch: forget the conflict history"),
        cfg_pipeline: input(
            2,
            "0 unified, 1 split, 2 and 3 elastic; cfg_* are static while anything is in flight"
        ),
        cfg_barrel: input(
            2,
            "0 strict, 1 relaxed, 2 and 3 relaxed with in-order commit per warp, but for atomics"
        ),
        cfg_policy: input(2, "scheduler: 0 round-robin, 1 and 2 owner first, 3 lowest slot"),
        cfg_aware: input(1, "bank-conflict-aware scheduling"),
        cfg_violate: input(1, "masked warps go when nothing else can"),
        cfg_lock_hash: input(2, "0 none, 1 XOR, 2 ADD"),
        cfg_sharing: input(1, "scratchpad sharing is on"),
        cfg_limit: input(s.n, "first word of the shared part, block-relative"),
    }
}

ports! {
    /// The others, after those that write the registers of the hash.
    Io(s) {
        // Blocks that start, threads that exit.
        launch_valid: input(1, "a block starts"),
        launch_block: input(s.TW, "its slot"),
        launch_shared: input(1, "it runs in sharing mode"),
        launch_wmask: input(s.W, "its warps"),
        launch_last: input(s.WS, "threads of the highest of them; the others are full"),
        exit_valid: input(1, "threads exit"),
        exit_warp: input(s.WW, "their warp"),
        exit_mask: input(s.WS, "the threads"),

        // The offers of the warps, the issued instruction, and its operands.
        off_valid: input(
            s.W,
            "the warp offers an instruction; one after its atomic does not wait for it"
        ),
        off_kind: input(s.W * 4, "its kind, 4 bits per warp"),
        off_words: input(s.W * 2, "words per lane of loads and stores: 0 one, 1 two, 2 four"),
        off_tag: input(s.W * s.TG, "destination tag, TG bits per warp"),
        off_pc: input(s.W * s.PCW, "program counter, PCW bits per warp"),
        off_hi: input(s.W * s.n, "highest block-relative word address, n bits per warp"),
        iss_valid: output(1, "a pass enters EX at the end of this cycle"),
        iss_warp: output(s.WW, "its warp"),
        iss_pass: output(s.PW, "its number; 0 takes the warp's offer"),
        iss_last: output(1, "it is the instruction's last"),
        ex_hold: output(1, "the pass in EX stays there"),
        op_mask: input(s.L, "active lanes of the pass in EX"),
        op_addr: input(s.L * s.n, "word address, n bits per lane"),
        op_data: input(s.L * s.D, "data, D bits per lane"),
        op_be: input(s.L * s.DB, "byte enables of a store, DB bits per lane"),
        op_aop: input(4, "operation of an atomic"),

        // Data from off-chip.
        icn_valid: input(1, "data from off-chip is offered"),
        icn_warp: input(s.WW, "its warp"),
        icn_tag: input(s.TG, "destination tag"),
        icn_pass: input(s.PW, "pass"),
        icn_last: input(1, "last pass"),
        icn_mask: input(s.L, "lanes"),
        icn_data: input(s.L * s.D, "data, D bits per lane"),
        icn_ready: output(1, "it is taken"),

        // The writeback port.
        wb_valid: output(1, "a result is written back"),
        wb_src: output(2, "0 off-chip, 1 memory path, 2 other path"),
        wb_warp: output(s.WW, "its warp"),
        wb_tag: output(s.TG, "destination tag"),
        wb_kind: output(4, "kind of the instruction"),
        wb_pass: output(s.PW, "pass"),
        wb_last: output(1, "last pass"),
        wb_mask: output(s.L, "lanes"),
        wb_data: output(s.L * s.D, "data, D bits per lane"),
        wb_success: output(s.L, "lanes that took their lock"),
        wb_error: output(1, "unsupported, or beyond the capacity"),
        wb_degree: output(s.DG, "conflict degree; of an atomic, that of its first read"),
        wb_ready: input(1, "the register file takes it"),

        // Observable state of the path.
        wait_sh: output(s.W, "the warp waits for the shared scratchpad"),
        viol: output(s.W, "the warp's block has released the region that it asks for"),
        locked: output(s.T / 2, "per pair: the shared part is held"),
        owner: output(s.T / 2, "per pair: 0 slot 2p, 1 slot 2p+1"),
        rel_done: output(s.T, "every active thread of the block has released"),
        live: output(s.T, "the block has an active thread"),
        unlock: output(s.T, "rel_done rises"),
        stall: output(2, "EX held: 1 bank conflict, 2 writeback conflict, 3 lock retry"),
        masked: output(1, "some ready warp is held back by the mask"),
        seq_state: output(3, "state of the retry sequencer"),
        occ: output(s.M + s.H + 2, "occupied stages from bit 0: EX, hash, MEM0 and on, WB"),
        nm_valid: output(s.NQ, "occupied stages of the NONMEM queue"),
        pre_count: output(s.PQW, "entries of the PREMEM queue"),
    }
}

impl Io {
    /// The returns from off-chip, with these data.
    pub(super) fn off_chip(&self, data: Signal) -> Passing<Operand> {
        Passing::<Operand> {
            warp: self.icn_warp.into(),
            tag: self.icn_tag.into(),
            kind: code(&kind::FIELD, kind::GLOBAL).into(),
            pass: self.icn_pass.into(),
            last: self.icn_last.into(),
            mask: self.icn_mask.into(),
            data: data.into(),
        }
    }

    /// The result at the writeback port.
    pub(super) fn outcome(&self) -> Outcome {
        Outcome {
            warp: self.wb_warp,
            tag: self.wb_tag,
            kind: self.wb_kind,
            pass: self.wb_pass,
            last: self.wb_last,
            mask: self.wb_mask,
            data: self.wb_data,
            success: self.wb_success,
            error: self.wb_error,
            degree: self.wb_degree,
        }
    }
}

/// The inputs that an output depends on in the same cycle: none where the
/// issue is decided ahead.
pub(super) fn depends_on(output: &str, p: &Params) -> Vec<&'static str> {
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
